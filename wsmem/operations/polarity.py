"""Which side a text takes: negations, and sides of opposites such as enable and disable."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# Pairs of opposites, English and Chinese words of one side after the other.
_OPPOSITES = (
    (r"\benabl\w*|启用|开启|打开|启动", r"\bdisabl\w*|停用|禁用|关闭|关掉|停止"),
    (
        r"\ballow\w*|\bpermit\w*|允许|准许|可以|放行",
        r"\bforbid\w*|\bden(?:y|ies|ied)\b|\bblock\w*|\bprohibit\w*|禁止|严禁|拒绝|拦截",
    ),
    (r"\balways\b|总是|始终|必须|务必|一定要", r"\bnever\b|从不|绝不|切勿|不必|无需"),
    (r"\btrue\b", r"\bfalse\b"),
    (r"\bon\b", r"\boff\b"),
    (r"\byes\b", r"\bno\b"),
    (r"\bwith\b", r"\bwithout\b"),
    (r"\bbefore\b|之前|以前|前置", r"\bafter\b|之后|以后|后置"),
    (r"\bsync\b|\bsynchronous\w*|同步", r"\basync\b|\basynchronous\w*|异步"),
    (r"\bpublic\b|公开|公网|公有", r"\bprivate\b|私有|内网|私密"),
    (
        r"\bincreas\w*|\braise[sd]?\b|增加|提高|上调|调大|升级",
        r"\bdecreas\w*|\breduc\w*|\blower\w*|减少|降低|下调|调小|降级",
    ),
    (r"\bmax\w*|最大|上限|至多|最多", r"\bmin\b|\bminim\w*|最小|下限|至少|最少"),
    (
        r"\bprimary\b|\bmaster\b|\bleader\b|主库|主节点",
        r"\breplica\b|\bslave\b|\bfollower\b|从库|从节点|备库",
    ),
    (r"\breads?\b|\breading\b|读取|只读", r"\bwrit(?:e|es|ing)\b|写入|只写"),
    (r"\bclient\b|客户端|前端", r"\bserver\b|服务端|后端"),
    (
        r"\bprod(?:uction)?\b|生产|线上",
        r"\bstag(?:e|ing)\b|\btest(?:ing)?\b|\bdev\b|测试|预发|开发环境",
    ),
    (r"\bmorning\b|\bam\b|上午|早上|凌晨", r"\bevening\b|\bnight\b|\bpm\b|下午|晚上|夜里|夜间"),
    (r"\bleft\b|左", r"\bright\b|右"),
    (r"\basc(?:ending)?\b|升序", r"\bdesc(?:ending)?\b|降序"),
    (r"\binclud\w*|包含|包括", r"\bexclud\w*|排除|不含"),
    (r"\bsuccess\w*|\bsucceed\w*|成功", r"\bfail\w*|失败"),
    (
        r"\blikes?\b|\bprefer\w*|喜欢|偏好|倾向",
        r"\bdislik\w*|\bhates?\b|\bavoid\w*|讨厌|反感|避免",
    ),
)
_POLES = tuple(
    re.compile(rf"(?P<left>{left})|(?P<right>{right})", re.IGNORECASE) for left, right in _OPPOSITES
)
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nor|neither|cannot|without|unless|except)\b|n't\b|\bnon-|\bunlike\b|"
    r"不|没|無|无|未|非|勿|别(?!名|处|人)|莫|否",
    re.IGNORECASE,
)
# Words that hold a negating letter and deny nothing.
_NEUTRAL = re.compile(
    "不同|不仅|不但|不过|不断|不管|不论|无论|非常|除非|否则|是否|未来|别名|特别|类别|级别|区别|分别|差别|"
    "个别|识别|无线|无锡|不久"
)


def polarity(text: str) -> frozenset[tuple[str, int]]:
    """Negations of a text and the sides it takes, with how often each occurs."""
    return frozenset(Counter(_sides(text)).items())


def _sides(text: str) -> Iterator[str]:
    for number, pole in enumerate(_POLES):
        for found in pole.finditer(text):
            yield f"{number}{'+' if found['left'] is not None else '-'}"
    for _ in _NEGATION.finditer(_NEUTRAL.sub(" ", text)):
        yield "not"
