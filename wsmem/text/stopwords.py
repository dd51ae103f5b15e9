"""Words that say nothing about what a text is about, and how much each term may count for.

Function words of English and Chinese carry a question's grammar, not its subject. They stay in the
token stream, so that "not found" is still a pair, but match nothing on their own.
"""

from __future__ import annotations

ENGLISH = frozenset(
    """
    a about above after again against all also am an and any anybody anyone anything are aren as at
    be because been before being below between both but by can cannot could couldn did didn do does
    doesn doing don done down during each either else ever every few for from further get give go
    going got had hadn has hasn have haven having he hello help her here hers herself hey hi him
    himself his how however i if in into is isn it its itself just know let like ll may maybe me
    might mine more most much must my myself need no nor not now of off oh ok okay on once one only
    or other our ours ourselves out over own please quite rather re really same say shall she should
    shouldn so some somebody someone something such sure t s m ve tell than thank thanks that the
    their theirs them themselves then there these they thing things this those through to too under
    until up us use used using very want was wasn we well were weren what when where whether which
    while who whom whose why will with within without won would wouldn yeah yes yet you your yours
    yourself
    """.split()
)

_CHINESE_FUNCTION = frozenset("的了吗呢吧啊呀嘛哦嗯么是在我你您他她它们这那就都也还很和与及或而且吗")
"""Letters that nearly always belong to the grammar."""

_CHINESE_OFTEN_FUNCTION = _CHINESE_FUNCTION | frozenset(
    "什怎哪谁何请问想要能会可该不没有个些把被让给对从到为以于得着过一下多少几如因所但若则又再只才已吗帮"
    "看说做用里上样呗哈好點點麼嗎這們個為什"
)
"""Letters that belong to the grammar when they stand beside another such letter."""

_WEIGHT_OF_HALF_FUNCTION = 0.4


def term_weight(term: str) -> float:
    """How much a query term may count: 0 for a stop word, 1 for a word with a subject.

    A pair of Chinese letters is a stop word when both belong to the grammar (什么, 我们), and counts
    less than half when one surely does (的端 says little more than 端).
    """
    if term in ENGLISH:
        return 0.0
    if len(term) == 2 and term > "\u2e7f":
        functions = (term[0] in _CHINESE_FUNCTION) + (term[1] in _CHINESE_FUNCTION)
        if term[0] in _CHINESE_OFTEN_FUNCTION and term[1] in _CHINESE_OFTEN_FUNCTION:
            return 0.0
        return _WEIGHT_OF_HALF_FUNCTION if functions else 1.0
    return 0.0 if term in _CHINESE_FUNCTION else 1.0
