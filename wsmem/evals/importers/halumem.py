"""HaluMem: users' atomic memory points over many sessions, with questions about them.

A line of the `.jsonl` is a user: `uuid` and `sessions`, each with `memory_points` and `questions`,
whose `evidence` quotes points word by word.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from wsmem.evals.importers.items import Option, Passage, PublicSource, Question
from wsmem.evals.importers.json_files import read_items

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wsmem.evals.importers.items import Item, Request
    from wsmem.evals.importers.json_files import Node

_MOMENT = "%b %d, %Y, %H:%M:%S"
_INTERFERENCE = "interference"
LEAVE_OUT, KEEP = "leave-out", "keep"


def read(request: Request) -> Iterator[Item]:
    """The points of a user, then the questions about them."""
    for path in request.files:
        for line in read_items(path):
            user = _User(line.member("uuid").word(), request)
            yield from user.items(line.member("sessions").elements())


@dataclass(slots=True)
class _User:
    name: str
    request: Request
    points: dict[str, list[str]] = field(default_factory=dict)
    """Passages by their text."""

    def items(self, sessions: list[Node]) -> Iterator[Item]:
        keep = self.request.options[_INTERFERENCE] == KEEP
        for number, session in enumerate(sessions):
            for place, point in enumerate(_list(session, "memory_points")):
                passage = self._passage(point, number, place)
                interferes = passage.metadata["source"] == _INTERFERENCE
                if not interferes:
                    self.points.setdefault(passage.text, []).append(passage.id)
                elif not keep:
                    self.request.left_out["interference points"] += 1
                    continue
                yield passage
        for number, session in enumerate(sessions):
            for place, question in enumerate(_list(session, "questions")):
                if (found := self._question(question, number, place)) is not None:
                    yield found

    def _passage(self, point: Node, session: int, place: int) -> Passage:
        kind, source = point.maybe("memory_type"), point.maybe("memory_source")
        stamp = point.maybe("timestamp")
        replaced = [old.text().strip() for old in _list(point, "original_memories")]
        supersedes = [name for old in replaced for name in self.points.get(old, ())]
        return Passage(
            id=f"{self.name}/{session}-{place}",
            text=point.member("memory_content").text().strip(),
            scope=self.name,
            date=None if stamp is None else _date(stamp),
            metadata={
                "session": session,
                "memoryType": None if kind is None else kind.word(),
                "source": None if source is None else source.word(),
                "supersedes": supersedes or None,
            },
        )

    def _question(self, question: Node, session: int, place: int) -> Question | None:
        quoted = [item.member("memory_content") for item in _list(question, "evidence")]
        evidence = [item.text().strip() for item in quoted]
        labels = {name: 1 for text in evidence for name in self.points.get(text, ())}
        missing = sum(text not in self.points for text in evidence)
        self.request.left_out["pieces of evidence that quote no point"] += missing
        if evidence and not labels:
            self.request.left_out["questions whose evidence quotes no point"] += 1
            return None
        kind, answer = question.maybe("question_type"), question.maybe("answer")
        return Question(
            id=f"{self.name}/{session}-q{place}",
            text=question.member("question").text(),
            labels=labels,
            scope=self.name,
            kind=None if kind is None else _kind(kind.word()),
            metadata={"session": session, "answer": None if answer is None else answer.word()},
        )


def _kind(words: str) -> str:
    return words.lower().replace(" & ", "-").replace(" ", "-")


def _list(node: Node, key: str) -> list[Node]:
    found = node.maybe(key)
    return [] if found is None else found.elements()


def _date(value: Node) -> str:
    try:
        return datetime.strptime(value.text().strip(), _MOMENT).isoformat()  # noqa: DTZ007  the source knows no zone
    except ValueError as error:
        problem = f"{value.text()!r} is not a moment such as Sep 04, 2025, 09:05:32"
        raise value.fault(problem) from error


SOURCE = PublicSource(
    name="halumem",
    title="HaluMem: questions about a user's memory points",
    files="HaluMem-Medium.jsonl or HaluMem-Long.jsonl of the authors, or slices of them",
    licence="CC-BY-NC-ND-4.0",
    source="https://github.com/MemTensor/HaluMem and the data linked there",
    authors=("Ding Chen et al. (MemTensor, 2025)",),
    description=(
        "A passage is a memory point of a user (persona, event, relationship); a user is a scope. "
        "A point is relevant when the question's evidence quotes it, all copies of it counting. "
        "Questions without evidence (memory boundary) have no answer."
    ),
    intended_use="Recall from a store of atomic facts with updates. For use on one's own machine.",
    limits=(
        "The licence allows no sharing of what is made from the data: keep this set to yourself. "
        "A question may have been asked before later points existed (metadata.session); the "
        "search sees all of them, the outdated included. Many points nearly repeat each other and "
        "only the quoted ones count. Written by a model."
    ),
    read=read,
    options={
        _INTERFERENCE: Option(
            help="points that a memory should not hold",
            choices=(LEAVE_OUT, KEEP),
            default=LEAVE_OUT,
        )
    },
)
