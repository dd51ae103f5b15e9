"""One case for a person: what was said and held, what was expected, proposed, and came of it.

Made of what run folders hold; pages and the command line draw it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_MARKS = (("kind", "kind"), ("target", "target"), ("scope", "scope"), ("content", "content"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One expected operation."""

    heading: str
    """Kind, scope, target."""
    text: str
    required: tuple[str, ...]
    """What the content has to hold; alternatives are joined by a bar."""
    forbidden: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """One proposed operation and what became of it."""

    number: int
    """From 1, as faults name it."""
    heading: str
    text: str
    quotes: tuple[str, ...]
    """What it says is no longer so, and what is so now."""
    effect: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """An expectation beside the proposal that answers it; one of them may be missing."""

    wanted: Wanted | None
    given: Given | None
    right: bool
    verdict: str
    """What about the pair is wrong, or that it is right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """A case as one distiller handled it."""

    case: str
    distiller: str
    slices: tuple[str, ...]
    scope: str
    note: str
    messages: tuple[tuple[str, str, str], ...]
    """Id, role and text."""
    existing: tuple[tuple[str, str, str], ...]
    """Id, type with scope, and text."""
    lines: tuple[Line, ...]
    faults: tuple[str, ...]
    failure: str | None
    answers: tuple[tuple[str, str, str], ...]
    """Question, what should come first, and how that went."""

    def __str__(self) -> str:
        """The case as plain text, without its conversation."""
        parts = [f"{self.case}, {', '.join(self.slices)}: {'; '.join(self.faults) or 'right'}"]
        for line in self.lines:
            wanted, given = line.wanted, line.given
            parts += [
                "  expected  "
                + ("nothing" if wanted is None else f"{wanted.heading}: {wanted.text}"),
                "  proposed  " + ("nothing" if given is None else f"{given.heading}: {given.text}"),
            ]
            if given is not None:
                parts.append(f"  became    {given.effect}: {given.reason}")
        return "\n".join(parts)

    @property
    def right(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults

    @classmethod
    def of(
        cls, case: Mapping[str, Any], result: Mapping[str, Any], *, distiller: str
    ) -> SideBySide:
        """From a stored case and what a distiller made of it."""
        return cls(
            case=case["id"],
            distiller=distiller,
            slices=tuple(case["slices"]),
            scope=case["scope"],
            note=case["note"],
            messages=tuple((m["id"], m["role"], m["text"]) for m in case["messages"]),
            existing=tuple(map(_held, case["existing"])),
            lines=tuple(_lines(case, result)),
            faults=tuple(result["faults"]),
            failure=result["failure"],
            answers=tuple(map(_answer, result["answers"])),
        )


def _held(entry: Mapping[str, Any]) -> tuple[str, str, str]:
    title = f"{entry['title']}: " if entry["title"] else ""
    return entry["id"], f"{entry['type']}, {entry['scope']}", f"{title}{entry['content']}"


def _lines(case: Mapping[str, Any], result: Mapping[str, Any]) -> list[Line]:
    """Expectations in their order with their answers, then what nothing asked for."""
    lines: list[Line] = []
    shown: set[int] = set()
    for number, expected in enumerate(case["expected"]):
        pairs = [pair for pair in result["pairs"] if pair["expected"] == number]
        for pair in pairs:
            wrong = [name for key, name in _MARKS if not pair[key]]
            shown.add(pair["proposed"])
            lines.append(
                Line(
                    wanted=_wanted(expected),
                    given=_given(result, pair["proposed"]),
                    right=not wrong,
                    verdict=f"wrong {', '.join(wrong)}" if wrong else "right",
                )
            )
        if not pairs:
            lines.append(Line(wanted=_wanted(expected), given=None, right=False, verdict="missed"))
    for number in range(len(result["proposed"])):
        if number not in shown:
            given = _given(result, number)
            lines.append(Line(wanted=None, given=given, right=False, verdict="not asked for"))
    return lines


def _wanted(expected: Mapping[str, Any]) -> Wanted:
    targets = " or ".join(expected["targets"])
    heading = f"{' or '.join(expected['accept'])} · {expected['scope']}"
    return Wanted(
        heading=f"{heading} · {targets}" if targets else heading,
        text=expected["reference"],
        required=tuple(" | ".join(options) for options in expected["required"]),
        forbidden=tuple(expected["forbidden"]),
    )


def _given(result: Mapping[str, Any], number: int) -> Given:
    proposed, record = result["proposed"][number], result["audit"][number]
    parts = [proposed.get("op", "?"), proposed.get("scope"), proposed.get("targetId")]
    quotes = (("no longer", proposed.get("oldQuote")), ("now", proposed.get("newQuote")))
    return Given(
        number=number + 1,
        heading=" · ".join(part for part in parts if part),
        text=proposed.get("content", ""),
        quotes=tuple(f"{name}: {text}" for name, text in quotes if text),
        effect=record["effect"],
        reason=record["reason"],
    )


def _answer(answer: Mapping[str, Any]) -> tuple[str, str, str]:
    said = "right" if answer["winner"] else "another entry comes first, or none"
    if answer["stale"]:
        said += "; an outdated one is among the first five"
    return answer["query"], ", ".join(answer["wanted"]), said
