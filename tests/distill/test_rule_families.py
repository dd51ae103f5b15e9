"""What the rules promise of decisions, wishes and answers known by how they are built."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wsmem.distill.rules import lexicon
from wsmem.distill.rules.distiller import propose
from wsmem.operations.contract import DistillRequest
from wsmem.records import MemoryEntry, MemoryMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

LEXICON = Path(lexicon.__file__).parent / "lexicon"
TOOLS = st.sampled_from(["Kafka", "Postgres", "Vite", "Redis", "Terraform", "gRPC", "pnpm"])
FACTS = {
    "Releases need two approvals": "three",
    "Logs are kept 30 days": "45 days",
    "The gateway listens on port 8080": "port 9090",
    "发布前必须通过冒烟测试": "集成测试",
    "日志保留 30 天": "45 天",
    "网关监听 8080 端口": "9090",
}


def heard(talk: Sequence[str], known: Sequence[str] = ()) -> list[dict[str, Any]]:
    """What the rules propose; the user speaks first, then both in turn."""
    messages = tuple(
        MemoryMessage(id=f"m{number}", role="assistant" if number % 2 else "user", text=text)
        for number, text in enumerate(talk)
    )
    existing = tuple(
        MemoryEntry(id=f"mem-{number}", content=text, scope="workspace")
        for number, text in enumerate(known)
    )
    return propose(
        DistillRequest(
            scope="ws-1", cwd="/p", reason="explicit", messages=messages, existing=existing
        )
    )


# Decisions without a word that says so


@pytest.mark.parametrize(
    ("text", "keeps"),
    [
        pytest.param("Jobs go through Celery, not cron: nobody notices when cron fails", True,
                     id="en-way-other-way-reason"),
        pytest.param("Jobs go through Celery", False, id="en-way-alone"),
        pytest.param("Should jobs go through Celery, not cron?", False, id="en-question"),
        pytest.param("They run jobs through Celery, cron was too brittle", False, id="en-others"),
        pytest.param("I moved jobs to Celery, cron was too brittle", False, id="en-account"),
        pytest.param("I think jobs should go through Celery, cron is brittle", False,
                     id="en-opinion"),
        pytest.param("异步任务走 Celery，不走 cron，cron 失败了没人知道", True,
                     id="zh-way-other-way-reason"),
        pytest.param("异步任务走 Celery", False, id="zh-way-alone"),
        pytest.param("异步任务要不要走 Celery，不走 cron？", False, id="zh-question"),
        pytest.param("他们的异步任务走 Celery，cron 太脆", False, id="zh-others"),
        pytest.param("我把异步任务改到 Celery 了，cron 太脆", False, id="zh-account"),
        pytest.param("我觉得异步任务走 Celery 比较好，cron 太脆", False, id="zh-opinion"),
    ],
)  # fmt: skip
def test_a_way_with_its_reason_is_a_decision_and_neither_alone_is(text: str, keeps: bool) -> None:
    assert [operation["type"] for operation in heard([text])] == ["decision"] * keeps


@given(taken=TOOLS, left=TOOLS)
def test_an_option_taken_for_a_reason_is_kept_with_its_question(taken: str, left: str) -> None:
    if taken == left:
        return
    for question, answer in (
        (f"{taken} or {left} for this?", f"{taken}, {left} is too heavy for us"),
        (f"这里用 {left} 还是 {taken}？", f"{taken} 吧，{left} 太重了"),
    ):
        (operation,) = heard([question, "Both would work.", answer])
        assert operation["type"] == "decision"
        assert taken.lower() in operation["content"].lower()
        assert operation["content"].lower().startswith(question[:4].strip().lower())


@pytest.mark.parametrize(
    ("proposal", "holds"),
    [
        pytest.param("I'd store the event id with a unique constraint.", "unique", id="en"),
        pytest.param("建议放对象存储，数据库只存 key。", "对象存储", id="zh"),
    ],
)
@pytest.mark.parametrize(
    ("answer", "adopts"),
    [
        pytest.param("sounds good, let's do that", True, id="en-adopts"),
        pytest.param("agreed", True, id="en-agreed"),
        pytest.param("ok", False, id="en-ok"),
        pytest.param("let me think", False, id="en-postpones"),
        pytest.param("好，就这么办", True, id="zh-adopts"),
        pytest.param("同意", True, id="zh-agreed"),
        pytest.param("好的", False, id="zh-ok"),
        pytest.param("我再想想", False, id="zh-postpones"),
    ],
)
def test_a_proposal_is_kept_in_the_words_it_was_made_in_when_it_is_adopted(
    proposal: str, holds: str, answer: str, adopts: bool
) -> None:
    operations = heard(["怎么做好 / how?", proposal, answer])
    assert len(operations) == adopts
    assert all(holds in operation["content"] for operation in operations)
    assert all(operation["evidenceMessageIds"] == ["m2"] for operation in operations)


@pytest.mark.parametrize(
    ("offer", "answer"),
    [
        pytest.param("I could list the slowest ones first?", "sounds good, do that", id="en"),
        pytest.param("I'd capture the traffic first.", "good, let's do that", id="en-first"),
        pytest.param("要不我先把慢的用例列个表？", "好，就这么办", id="zh"),
        pytest.param("建议先抓个包看看。", "行，就这么办", id="zh-first"),
    ],
)
def test_an_offer_to_do_a_job_is_no_proposal(offer: str, answer: str) -> None:
    assert heard(["why is it slow / 怎么这么慢", offer, answer]) == []


@pytest.mark.parametrize(
    ("talk", "holds"),
    [
        pytest.param(["how?", "Option 1: json files. Option 2: sync with Crowdin.",
                      "option 2 then, marketing can edit it"], "Crowdin", id="en"),
        pytest.param(["怎么管理文案", "方案一：放 json；方案二：用 Crowdin 同步。",
                      "那选方案二吧，运营可以自己改"], "Crowdin", id="zh"),
    ],
)  # fmt: skip
def test_an_option_named_by_its_number_is_written_out(talk: list[str], holds: str) -> None:
    (operation,) = heard(talk)
    assert holds in operation["content"]


# Wishes


@pytest.mark.parametrize(
    ("text", "keeps"),
    [
        pytest.param("I don't use a mouse, so give me the shortcuts", True, id="en-reason"),
        pytest.param("stop adding docstrings to private helpers", True, id="en-habit"),
        pytest.param("stop the container", False, id="en-task"),
        pytest.param("I like early returns", True, id="en-taste"),
        pytest.param("I like it, ship it", False, id="en-praise"),
        pytest.param("I like the flat white here", False, id="en-coffee"),
        pytest.param("我不用鼠标，操作步骤别写点哪里，写快捷键", True, id="zh-reason"),
        pytest.param("你写 SQL 的时候别用 select *", True, id="zh-habit"),
        pytest.param("这里别用 select *", False, id="zh-task"),
        pytest.param("我喜欢函数式的写法", True, id="zh-taste"),
        pytest.param("我喜欢这个方案，继续", False, id="zh-praise"),
        pytest.param("我喜欢肥一点的，食堂那个不错", False, id="zh-food"),
    ],
)
def test_a_lasting_wish_is_told_from_an_order_and_from_small_talk(text: str, keeps: bool) -> None:
    operations = heard([text])
    assert [operation["scope"] for operation in operations] == ["global"] * keeps


# Corrections and additions


@given(fact=st.sampled_from(sorted(FACTS)))
def test_a_fact_that_is_repeated_with_a_clause_more_is_never_retired(fact: str) -> None:
    chinese = re.search("[一-鿿]", fact) is not None
    more = "，记一下，周五除外" if chinese else ", note that, Fridays are an exception"
    kinds = {operation["op"] for operation in heard([f"{fact}{more}"], [fact])}
    assert kinds <= {"revise", "add"}


@pytest.mark.parametrize(
    ("held", "said"),
    [
        pytest.param("用户头像存 OSS，限制 2MB", "商品图片存 OSS，限制改成 5MB 了", id="zh-topic"),
        pytest.param("前端用 React 和 Redux", "前端用 React，构建工具换成 Vite 了", id="zh-part"),
        pytest.param("首页接口缓存 60 秒", "首页接口缓存 60 秒，详情页不是 60 秒", id="zh-not"),
        pytest.param("Logs are kept 30 days", "logs are kept 30 days, audit logs aren't 30 days",
                     id="en-not"),
        pytest.param("The frontend uses React", "the frontend uses React, state moved to Zustand",
                     id="en-part"),
    ],
)  # fmt: skip
def test_what_changes_beside_an_entry_does_not_retire_it(held: str, said: str) -> None:
    assert "supersede" not in {operation["op"] for operation in heard([said], [held])}


@pytest.mark.parametrize(
    ("held", "said"),
    [
        pytest.param("前端负责人是小刘", "前端负责人换成小孙了", id="zh-owner"),
        pytest.param("表名用单数", "你记反了，表名用复数", id="zh-predicate"),
        pytest.param("主机房在上海", "说错了，主机房在杭州", id="zh-place"),
        pytest.param("Liu leads the frontend", "Sun leads the frontend now", id="en-owner"),
        pytest.param("Table names are singular", "you have it backwards, table names are plural",
                     id="en-predicate"),
        pytest.param("code review needs one approval", "code review needs two approvals now",
                     id="en-number-word"),
    ],
)  # fmt: skip
def test_an_owner_a_predicate_or_a_place_is_replaced(held: str, said: str) -> None:
    other = "The team sits in Graz"
    (operation,) = heard([said], [other, held])
    assert (operation["op"], operation["targetId"]) == ("supersede", "mem-1")


@pytest.mark.parametrize("concept", sorted(path.stem for path in LEXICON.glob("*.txt")))
def test_every_concept_is_a_list_of_patterns_that_match_something(concept: str) -> None:
    assert lexicon.lines(concept)
    if concept not in {"glossary", "qualifiers"}:
        assert all(pattern.groups >= 0 for pattern in lexicon.patterns(concept))
