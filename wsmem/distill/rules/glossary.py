"""Everyday terms of software in Chinese and English, so that either finds a memory in the other."""

from __future__ import annotations

import re

_PAIRS = """
端口 port|数据库 database|缓存 cache|队列 queue|消息 message|部署 deploy|测试 test|单元测试 unit test|缩进 indentation
注释 comment|提交信息 commit message|分支 branch|合并 merge|日志 log|超时 timeout|重试 retry|接口 API|字段 field|索引 index
依赖 dependency|版本 version|发布 release|回滚 rollback|备份 backup|监控 monitoring|报警 alert|权限 permission|限流 rate limit
加密 encryption|登录 login|支付 payment|订单 order|退款 refund|发票 invoice|用户 user|租户 tenant|负责人 owner|时区 timezone
时间戳 timestamp|金额 amount|货币 currency|语言 language|回答 answer|解释 explanation|总结 summary|表情 emoji|命名 naming
格式 format|编码 encoding|压缩 compression|序列化 serialization|配置 configuration|环境变量 environment variable|生产 production
预发 staging|灰度 canary|集群 cluster|分片 shard|副本 replica|主键 primary key|迁移 migration|事务 transaction|锁 lock|幂等 idempotency
前端 frontend|后端 backend|客户端 client|服务端 server|网关 gateway|证书 certificate|域名 domain|镜像 image|容器 container
代码评审 code review|规范 convention|文档 documentation|脚本 script|定时任务 cron job|报表 report|导出 export|导入 import|搜索 search
分词 tokenizer|向量 vector|模型 model|训练 training|数据集 dataset|流水线 pipeline|存储 storage|上传 upload|下载 download
保留 retention|精度 precision|单位 unit|架构 architecture|框架 framework|库 library|包管理 package manager|类型 type
"""

_TERMS = tuple(
    tuple(pair.split(" ", 1)) for line in _PAIRS.split("\n") for pair in line.split("|") if pair
)


def translations(content: str) -> tuple[str, ...]:
    """Terms of the other language for those in `content`, in the order of the glossary."""
    lowered = content.lower()
    found: dict[str, None] = {}
    for chinese, english in _TERMS:
        has_english = re.search(rf"\b{re.escape(english.lower())}", lowered) is not None
        has_chinese = chinese in content
        if has_chinese and not has_english:
            found[english] = None
        elif has_english and not has_chinese and len(chinese) > 1:
            found[chinese] = None
    return tuple(found)
