"""Function words of English and Chinese: they carry a question's grammar, not its subject.

They count a little, because short texts are also alike in their grammar, but they are no evidence
that a text is about what was asked.
"""

from __future__ import annotations

ENGLISH = frozenset(
    """
    a about above after again against all also am an and any anybody anyone anything are aren as
    at be because been before being below between both but by can cannot could couldn did didn do
    does doesn doing don done down during each either else ever every few for from further get
    give go going got had hadn has hasn have haven having he hello help her here hers herself hey
    hi him himself his how however i if in into is isn it its itself just know later let like ll
    lot m may maybe me might more most much must my myself need no nor not now of off oh ok okay
    on once one only or other our ours ourselves out over own please quite rather re really s same
    say shall she should shouldn so some somebody someone something such sure t tell than thank
    thanks that the their theirs them themselves then there these they thing things this those
    through to too under until up us use used using ve very want was wasn we well were weren what
    when where whether which while who whom whose why will with within without won would wouldn
    yeah yes yet you your yours yourself
    """.split()
)

GENERIC = frozenset(
    """
    abl actual agre alway anoth around ask away back bad best better big bit came certain
    choos chose chosen come correct current day decid decis differ earli exact exampl fast
    feel felt find fine first found gave given good great happen hard high hour idea import
    keep kind known larg late littl long look low made make mani matter mean mention mind
    minut month most name new next nice normal number often old part peopl person place
    point possibl probabl put question quick real recent rememb remind right said second see
    seem seen set short show small soon sort start still take talk think time today told
    tomorrow took tonight tri turn usual way week went whole wonder work write written wrong
    yesterday
    之前 之后 之间 以前 以后 以来 昨天 今天 明天 后天 现在 目前 当时 时候 时间 最近 上次 下次
    这次 那次 每次 每天 每周 多久 几点 几天 几次 一次 一种 一点 一直 一起 一般 一共 一定 第一
    第二 最后 最大 已经 开始 继续 正在 然后 其他 其中 其实 同时 部分 方面 方式 情况 事情 东西
    问题 主要 重要 非常 完全 比较 不同 任何 各种 许多 有关 关于 知道 觉得 认为 需要 应该 必须
    能够 希望 表示 成为 作为 进行 发生 发现 出现 出来 告诉 记得 大家 是否 实际 超过 回头 那段
    这段 叫做 写的 来的 么时 按你 就按 哪家 哪位 哪天 哪条 决定
    """.split()
)
"""Words without a subject of their own, English ones as their stems: they prove a match only where
nothing better was asked. "How old is Snowball" is not answered by whatever else is old."""

FUNCTION_LETTERS = frozenset("的了吗呢吧啊呀嘛哦嗯么是在我你您他她它们这那就都也还很和与及或而且")
"""Chinese letters that nearly always belong to the grammar."""

OFTEN_FUNCTION = FUNCTION_LETTERS | frozenset(
    "什怎哪谁何请问想要能会可该不没有个些把被让给对从到为以于得着过一下多少几如因所但若则又再只才已"
    "帮看说做用里上样呗哈好"
)
"""Letters that belong to the grammar when they stand beside another such letter (什么, 我们, 可以);
beside any other, only those of `FUNCTION_LETTERS` surely do: 的端 says little more than 端."""


def is_function_pair(pair: str) -> bool:
    """Whether both letters of a Chinese pair belong to the grammar (什么, 我们, 可以)."""
    return pair[0] in OFTEN_FUNCTION and pair[1] in OFTEN_FUNCTION


def has_function_letter(pair: str) -> bool:
    """Whether one letter of a Chinese pair surely does: 的端 says little more than 端."""
    return pair[0] in FUNCTION_LETTERS or pair[1] in FUNCTION_LETTERS
