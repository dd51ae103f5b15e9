from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wsmem.operations.differences import relation
from wsmem.operations.numerals import Quantity, chinese_value, quantities


@pytest.mark.parametrize(
    ("new", "old"),
    [
        pytest.param("API 服务监听端口 8081", "API 服务监听端口 8080", id="port"),
        pytest.param("CI 使用 Node 20 运行单元测试", "CI 使用 Node 18 运行单元测试", id="version"),
        pytest.param("订单服务超时设置为 300 秒", "订单服务超时设置为 30 秒", id="zeros"),
        pytest.param("订单服务超时设置为 30 分钟", "订单服务超时设置为 30 秒", id="unit"),
        pytest.param("cache entries live 30ms", "cache entries live 30s", id="unit-english"),
        pytest.param("单机内存上限 8 GB", "单机内存上限 8 MB", id="unit-size"),
        pytest.param("重试间隔为三百毫秒", "重试间隔为三毫秒", id="chinese-numeral"),
        pytest.param("灰度比例百分之五", "灰度比例百分之五十", id="chinese-percent"),
        pytest.param("the cluster has five nodes", "the cluster has three nodes", id="number-word"),
        pytest.param("依赖锁定在 v3.10 版本", "依赖锁定在 v3.1 版本", id="dotted"),
        pytest.param("上线日期定在 2026-09-11", "上线日期定在 2026-09-01", id="date"),
        pytest.param("上线日期定在九月一日", "上线日期定在九月十一日", id="chinese-date"),
        pytest.param("每周三凌晨做全量备份", "每周四凌晨做全量备份", id="weekday"),
        pytest.param("deploys happen on Monday", "deploys happen on Friday", id="english-weekday"),
        pytest.param("网关地址是 10.0.0.12:3080", "网关地址是 10.0.0.21:3080", id="address"),
        pytest.param("call getUserId before saving", "call getUserName before saving", id="camel"),
        pytest.param("see src/cli.ts for the flags", "see src/core.ts for the flags", id="path"),
        pytest.param(
            "set MAX_RETRY in the env file", "set MAX_RETRIES in the env file", id="snake"
        ),
        pytest.param("主库使用 MySQL 存储订单", "主库使用 Redis 存储订单", id="product"),
        pytest.param("发布流程不需要人工审批", "发布流程需要人工审批", id="negation"),
        pytest.param("允许直接推送到主干", "禁止直接推送到主干", id="permission"),
        pytest.param("没有开启压缩", "开启压缩", id="without"),
        pytest.param("the flag is disabled in prod", "the flag is enabled in prod", id="disable"),
        pytest.param("tests never hit the network", "tests always hit the network", id="never"),
        pytest.param("do not squash commits", "do squash commits", id="not"),
        pytest.param("上午十点发布", "下午十点发布", id="half-of-day"),
        pytest.param("甲进程记下的第 3 件事", "乙进程记下的第 3 件事", id="stems"),
        pytest.param("线程 1 记下的第 2 件事", "线程 2 记下的第 1 件事", id="numbers-swapped"),
        pytest.param("process 0 keeps fact 1", "process 1 keeps fact 0", id="swapped-english"),
        pytest.param("process A keeps fact 3", "process B keeps fact 3", id="letters"),
        pytest.param("A keeps the first fact", "B keeps the first fact", id="letters-in-front"),
        pytest.param("worker a owns the queue", "worker b owns the queue", id="small-letters"),
        pytest.param("the first replica is in use", "the second replica is in use", id="ordinal"),
        pytest.param("用 Kafka 替换 RabbitMQ", "用 RabbitMQ 替换 Kafka", id="names-swapped"),
        pytest.param("worker one owns the queue", "worker two owns the queue", id="one-two"),
        pytest.param("the build uses npm", "the build uses pnpm", id="one-word"),
        pytest.param("kept by mcp number 3", "kept by cli number 3", id="one-word-of-many"),
        pytest.param("生产环境部署在上海机房", "生产环境部署在北京机房", id="place"),
        pytest.param("订单服务部署在东区机房", "订单服务部署在西区机房", id="side"),
    ],
)
def test_texts_that_differ_in_what_matters_are_two_statements(new: str, old: str) -> None:
    assert relation(new, old) == "different"
    assert relation(old, new) == "different"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        pytest.param("生产环境在新加坡机房！", "生产环境在新加坡机房。", id="punctuation"),
        pytest.param("ＡＰＩ　端口是８０８０", "API 端口是 8080", id="width"),
        pytest.param("超时三百秒", "超时 300 秒", id="numeral-spelling"),
        pytest.param("覆盖率百分之八十", "覆盖率 80%", id="percent-spelling"),
        pytest.param("重试三次", "重试 3 次", id="counted"),
        pytest.param("retry after 30 seconds", "retry after 30s", id="unit-spelling"),
        pytest.param("单机内存 8GB", "单机内存 8 GB", id="unit-without-a-blank"),
        pytest.param("上限 1,000 条", "上限 1000 条", id="thousands"),
        pytest.param("项目使用 PostgreSQL。", "项目使用 PostgreSQL 数据库。", id="shorter"),
        pytest.param("统一使用 pnpm", "一律使用 pnpm", id="numeral-in-a-word"),
        pytest.param("消息队列采用 Kafka", "消息队列使用 Kafka", id="synonym"),
        pytest.param(
            "端口 8080，超时 30 秒", "超时 30 秒，端口 8080", id="clauses-in-another-order"
        ),
        pytest.param("the build used pnpm", "the build uses pnpm", id="inflection"),
    ],
)
def test_another_spelling_is_the_same_statement(new: str, old: str) -> None:
    assert relation(new, old) == "same"


def test_a_text_with_more_particulars_extends_and_one_with_fewer_is_covered() -> None:
    short, long = "API 服务监听端口 8080", "API 服务监听端口 8080，超时 30 秒"
    assert relation(long, short) == "extends"
    assert relation(short, long) == "covered"


@given(st.text(max_size=200))
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert relation(text, text) == "same"


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_relation_is_consistent_in_both_directions(one: str, other: str) -> None:
    opposite = {"extends": "covered", "covered": "extends"}
    there = relation(one, other)
    assert relation(other, one) == opposite.get(there, there)


@pytest.mark.parametrize(
    ("numeral", "value"),
    [
        ("三", 3), ("十", 10), ("十二", 12), ("二十", 20), ("三百", 300), ("三百零五", 305),
        ("两千", 2000), ("一万", 10_000), ("三万五千", 35_000), ("一亿两千万", 120_000_000),
        ("一万亿", 10**12), ("二〇二六", 2026), ("百", 100), ("万", 10_000),
    ],
)  # fmt: skip
def test_chinese_numerals_have_their_value(numeral: str, value: int) -> None:
    assert chinese_value(numeral) == value


def test_numbers_carry_the_unit_that_follows() -> None:
    assert quantities("超时 30 秒，重试三次，共 1,024MB，2 sensors") == [
        Quantity("30", "s", "时"), Quantity("1024", "MB", "共"), Quantity("2", None),
        Quantity("3", "times", "试"),
    ]  # fmt: skip
