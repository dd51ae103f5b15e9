"""The words that a sentence and an entry can share, and the qualifiers that keep them apart."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from wsmem.distill.rules.lexicon import pattern
from wsmem.text.normalize import nfkc
from wsmem.text.scripts import cjk_run
from wsmem.text.stemming import stem
from wsmem.text.stopwords import ENGLISH, FUNCTION_LETTERS, has_function_letter

if TYPE_CHECKING:
    from collections.abc import Iterator

_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9_.+#@/-]*")
_PLAIN = re.compile(r"[a-z]+")
_JOINT = re.compile(r"[_./@#]|[a-z][A-Z]|[A-Za-z][0-9]|[0-9][A-Za-z]")

_OF_CHANGE = frozenset(
    """
    actually correction correct wrong update updated change changed move moved switch switched
    migrate migrated replace replaced rename renamed upgrade upgraded raise raised lower lowered
    longer anymore instead rather earlier outdated stale old new said told meant mistake sorry
    please note remember decided decision mixed backwards today yesterday last week month quarter
    """.split()
)
_OF_CHANGE_ZH = re.compile(
    r"刚才|之前|上次|前面|说错|讲错|写错|记错|搞错|弄错|搞混|说反|更正一?下?|纠正一?下?|订正|口误|其实|实际上|应该是|不是|而是|现在|已经|"
    r"改成|改为|改到|改用|改回|换成|换为|换到|换用|升到|升级到|升级|降到|降级|迁移到|迁移|迁到|切换到|切换|切到|挪到|搬到|搬去|转给|交给|"
    r"调到|调成|调整为|调整|不再|取消|停用|废弃|下线|作废|过时|旧的|更新|变成|变了|原来|原先|上周|上个月|昨天|今年|以后|今后|往后|记一下|记住|对了"
)


def subject_words(text: str) -> frozenset[str]:
    """What a text is about: stems of English words, identifiers, pairs of CJK letters.

    Function words, numbers and the vocabulary of correcting itself are left out.
    """
    return frozenset(_words(_OF_CHANGE_ZH.sub(" ", nfkc(text))))


def unknown_words(subject: str, content: str) -> list[str]:
    """Words of a claim's subject that an entry does not know and that are not vague: with any of
    them the two are about different things.

    Latin words are compared by their stems. Of CJK text, what no pair of letters shared with the
    entry covers is unknown from two letters on.
    """
    subject, content = nfkc(subject), nfkc(content)
    known = {*_words(content), *(word.lower() for word in _LATIN.findall(content))}
    left = _OF_CHANGE_ZH.sub(" ", pattern("vague_subject").sub(" ", subject))
    unknown = [
        word
        for word in _words(left)
        if word.isascii() and word not in known and not (len(word) == 1 and word.isalpha())
    ]
    pairs = {
        first + second for run in cjk_run().findall(content) for first, second in pairwise(run)
    }
    for run in cjk_run().findall(left):
        covered = [False] * len(run)
        for at, pair in enumerate(map("".join, pairwise(run))):
            if pair in pairs:
                covered[at] = covered[at + 1] = True
        bare = "".join(" " if c or letter in FUNCTION_LETTERS else letter
                       for letter, c in zip(run, covered, strict=True))  # fmt: skip
        unknown += [piece for piece in bare.split() if len(piece) > 1]
    return unknown


def names_in(text: str) -> frozenset[str]:
    """Latin words of a text that are names rather than English: any of them beside CJK, else those
    with a joint, a digit or a capital that does not merely begin the sentence.
    """
    folded = nfkc(text).strip()
    beside_cjk = cjk_run().search(folded) is not None
    return frozenset(
        word.lower()
        for found in _LATIN.finditer(folded)
        if (word := found[0].rstrip("._/-"))
        and word.lower() not in ENGLISH
        and (beside_cjk or _JOINT.search(word) or _has_capital(word, inside=found.start() > 0))
    )


def _has_capital(word: str, *, inside: bool) -> bool:
    return any(map(str.isupper, word if inside else word[1:]))


def identifiers_in(text: str) -> frozenset[str]:
    """Names of code: with an underscore, a dot, a slash, a digit or a capital inside."""
    return frozenset(
        word.lower()
        for found in _LATIN.finditer(nfkc(text))
        if _JOINT.search(word := found[0].rstrip("._/-"))
    )


def _words(text: str) -> Iterator[str]:
    for found in _LATIN.finditer(text):
        word = found[0].rstrip("._/-+").lower()
        if not word or word in ENGLISH or word in _OF_CHANGE:
            continue
        yield stem(word) if _PLAIN.fullmatch(word) else word
    for run in cjk_run().findall(text):
        yield from (
            first + second
            for first, second in pairwise(run)
            if not has_function_letter(first + second)
        )


_QUALIFIERS: tuple[tuple[str, ...], ...] = (
    (r"生产|线上|\bprod(?:uction)?\b", r"预发|\bstag(?:e|ing)\b|\buat\b",
     r"测试(?=环境|库|服|机|集群|的)|\btest(?: env\w*| db| database| cluster)\b", r"开发环境|\bdev\b",
     r"本地|\blocal(?:ly|host)?\b", r"灰度|\bcanary\b"),
    (r"每?小时|\bhourly\b", r"每天|每日|天级|日报|\b(?:daily|nightly)\b", r"每周|周报|\bweekly\b",
     r"每月|月报|\bmonthly\b", r"每年|年报|\b(?:yearly|annual\w*)\b"),
    (r"安卓|\bandroid\b", r"\bios\b|苹果", r"鸿蒙|\bharmony\w*\b", r"小程序",
     r"\bmac(?:os)?\b", r"\bwindows\b", r"\blinux\b"),
    (r"前端|\bfront-?end\b", r"后端|服务端|\bback-?end\b", r"移动端|客户端|\bmobile\b|\bclient\b"),
    (r"主库|主节点|\bprimary\b|\bleader\b", r"从库|只读库|副本|\breplicas?\b|\bfollower\b"),
    (r"读(?:取|请求|接口|超时)|\breads?\b", r"写(?:入|请求|接口|超时)|\bwrites?\b"),
    (r"连接超时|\bconnect(?:ion)? timeout\b", r"读超时|读取超时|\bread timeout\b"),
    (r"入站|上行|上传|\buploads?\b|\binbound\b", r"出站|下行|下载|\bdownloads?\b|\boutbound\b"),
    (r"内网|内部|\binternal\b", r"外网|公网|外部|\b(?:external|public)\b"),
    (r"单元测试|单测|\bunit tests?\b", r"集成测试|\bintegration tests?\b", r"端到端|\be2e\b"),
    (r"\bv1\b", r"\bv2\b", r"\bv3\b", r"\bv4\b"),
    (r"会话|\bsessions?\b", r"缓存|\bcach\w+\b"),
    (r"日志|\blogs?\b", r"指标|\bmetrics?\b", r"链路|\btraces?\b"),
    (r"主(?:题|干)|\bmain\b", r"\bdevelop\b", r"\brelease\b", r"\bhotfix\w*\b|热修"),
    (r"备份|\bbackups?\b", r"归档|\barchiv\w+\b"),
    (r"订单|\borders?\b", r"支付|\bpayments?\b", r"退款|\brefunds?\b", r"库存|\b(?:inventory|stock)\b",
     r"用户中心|\busers?\b", r"商品|\bproducts?\b", r"搜索|\bsearch\b", r"推荐|\brecommend\w*\b",
     r"对账|\breconciliation\b", r"发票|\binvoic\w+\b", r"优惠券|\bcoupons?\b", r"物流|\bshipping\b"),
)  # fmt: skip
_QUALIFIER_PATTERNS = tuple(
    tuple(re.compile(member, re.IGNORECASE) for member in group) for group in _QUALIFIERS
)


def qualified_apart(one: str, other: str, *, change: bool = False) -> bool:
    """Whether two texts speak of different members of a family: production and staging, daily and
    hourly, Android and iOS.

    Args:
        one: A sentence.
        other: What an entry says.
        change: The sentence names both the old and the new value, so that a member of the entry
            that also stands in the sentence is what changes, not what it is about.
    """
    one, other = nfkc(one), nfkc(other)
    for group in _QUALIFIER_PATTERNS:
        mine = {number for number, member in enumerate(group) if member.search(one)}
        theirs = {number for number, member in enumerate(group) if member.search(other)}
        if mine and theirs and not mine & theirs:
            return True
        if not change and mine and theirs and mine - theirs and theirs - mine:
            return True
    return False
