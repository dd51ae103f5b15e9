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

FUNCTION_LETTERS = frozenset("的了吗呢吧啊呀嘛哦嗯么是在我你您他她它们这那就都也还很和与及或而且")
"""Chinese letters that nearly always belong to the grammar."""

_OFTEN_FUNCTION = FUNCTION_LETTERS | frozenset(
    "什怎哪谁何请问想要能会可该不没有个些把被让给对从到为以于得着过一下多少几如因所但若则又再只才已"
    "帮看说做用里上样呗哈好麼嗎這們個為誰請問會沒給對從過幾說"
)
"""Letters that belong to the grammar when they stand beside another such letter."""


def is_function_pair(pair: str) -> bool:
    """Whether both letters of a Chinese pair belong to the grammar (什么, 我们, 可以)."""
    return pair[0] in _OFTEN_FUNCTION and pair[1] in _OFTEN_FUNCTION


def has_function_letter(pair: str) -> bool:
    """Whether one letter of a Chinese pair surely does: 的端 says little more than 端."""
    return pair[0] in FUNCTION_LETTERS or pair[1] in FUNCTION_LETTERS
