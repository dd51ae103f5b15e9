"""LongMemEval: 500 questions, each about a haystack of dated chat sessions of its own.

`longmemeval_oracle.json`, `longmemeval_s*.json` and `longmemeval_m*.json` are lists of questions,
each with `haystack_sessions`, `haystack_session_ids`, `haystack_dates` and `answer_session_ids`;
turns that hold evidence carry `has_answer`. Files are read question by question (M has 2.7 GB).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import TYPE_CHECKING

from wsmem.evals.importers.items import Option, Passage, PublicSource, Question, one_file
from wsmem.evals.importers.json_files import read_items

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wsmem.evals.importers.items import Item, Request
    from wsmem.evals.importers.json_files import Node

_WEEKDAY = re.compile(r"\s*\([A-Za-z]+\)")
_MOMENTS = ("%Y/%m/%d %H:%M", "%Y/%m/%d")
_ABSTENTION = "_abs"

SESSION, TURN = "session", "turn"
USER, ALL = "user", "all"
QUESTION, POOLED = "question", "pooled"


def read(request: Request) -> Iterator[Item]:
    """Each question after the passages of its haystack."""
    haystacks = _Haystacks(
        level=request.options["level"],
        all_roles=request.options["roles"] == ALL,
        pooled=request.options["store"] == POOLED,
    )
    for entry in read_items(one_file(request)):
        name = entry.member("question_id").word()
        passages, labels = haystacks.take(entry, name)
        yield from passages
        abstention = name.endswith(_ABSTENTION)
        if not abstention and not labels:
            request.left_out["questions without a marked passage (see the option roles)"] += 1
            continue
        asked = entry.maybe("question_date")
        answer = entry.maybe("answer")
        yield Question(
            id=name,
            text=entry.member("question").text(),
            labels={} if abstention else labels,
            scope=None if haystacks.pooled else name,
            date=None if asked is None else _date(asked),
            kind="abstention" if abstention else entry.member("question_type").word(),
            metadata={"answer": None if answer is None else answer.word()},
        )


@dataclass(slots=True)
class _Haystacks:
    """Sessions made into passages; one store of all of them when pooled."""

    level: str
    all_roles: bool
    pooled: bool
    _known: dict[str, bytes] = field(default_factory=dict)
    """A digest of each passage of the pooled store."""

    def take(self, entry: Node, question: str) -> tuple[list[Passage], dict[str, int]]:
        """The new passages of a haystack, and which of its passages hold evidence."""
        sessions = entry.member("haystack_sessions").elements()
        names = [node.word() for node in entry.member("haystack_session_ids").elements()]
        dates = entry.member("haystack_dates").elements()
        if not len(sessions) == len(names) == len(dates):
            raise entry.fault("haystack_sessions, _session_ids and _dates differ in length")
        answers = {node.word() for node in entry.member("answer_session_ids").elements()}
        passages: dict[str, Passage] = {}
        labels: dict[str, int] = {}
        for session, name, date in zip(sessions, names, dates, strict=True):
            scope = None if self.pooled else question
            prefix = "" if self.pooled else f"{question}/"
            when = _date(date)
            for suffix, text, relevant in self._parts(session, answering=name in answers):
                identifier = self._identifier(f"{prefix}{name}{suffix}", text)
                if relevant:
                    labels[identifier] = 1
                passages[identifier] = Passage(
                    id=identifier,
                    text=text,
                    scope=scope,
                    date=when,
                    metadata={"session": name},
                )
        return [p for p in passages.values() if self._is_new(p)], labels

    def _parts(self, session: Node, *, answering: bool) -> Iterator[tuple[str, str, bool]]:
        """Suffix of the id, text, and whether it is evidence, as the benchmark has it.

        A session counts when it is an answer session and, where only what the user said is
        searched, one of the user's turns in it is marked.
        """
        turns = [
            (number, turn.member("role").word(), turn.member("content").text(), _marked(turn))
            for number, turn in enumerate(session.elements(), start=1)
        ]
        heard = [turn for turn in turns if self.all_roles or turn[1] == USER]
        if self.level == TURN:
            for number, _, text, marked in heard:
                yield f"_{number}", text, answering and marked is True
            return
        if not heard:
            return
        marks = [marked for _, _, _, marked in heard]
        relevant = answering and (self.all_roles or True in marks or set(marks) <= {None})
        texts = [f"{role}: {text}" if self.all_roles else text for _, role, text, _ in heard]
        yield "", "\n".join(texts), relevant

    def _identifier(self, name: str, text: str) -> str:
        """The id of a passage; one of another text under the same id gets another."""
        if not self.pooled:
            return name
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        identifier, count = name, 1
        while self._known.get(identifier, digest) != digest:
            count += 1
            identifier = f"{name}~{count}"
        return identifier

    def _is_new(self, passage: Passage) -> bool:
        if not self.pooled:
            return True
        if passage.id in self._known:
            return False
        text = passage.text.encode("utf-8", "surrogatepass")
        self._known[passage.id] = blake2b(text, digest_size=16).digest()
        return True


def _marked(turn: Node) -> bool | None:
    mark = turn.maybe("has_answer")
    if mark is None:
        return None
    if not isinstance(mark.value, bool):
        raise mark.fault("true or false is needed")
    return mark.value


def _date(value: Node) -> str:
    text = _WEEKDAY.sub("", value.text()).strip()
    for form in _MOMENTS:
        try:
            return datetime.strptime(text, form).isoformat()  # noqa: DTZ007  the source knows no zone
        except ValueError:
            continue
    raise value.fault(f"{value.text()!r} is not a moment such as 2023/05/30 (Tue) 23:40")


SOURCE = PublicSource(
    name="longmemeval",
    title="LongMemEval: long-term memory of chat assistants",
    files="longmemeval_oracle.json, longmemeval_s*.json or longmemeval_m*.json of the authors",
    licence="MIT",
    source="https://github.com/xiaowu0162/LongMemEval and the data linked there",
    authors=("Di Wu et al. (ICLR 2025)",),
    description=(
        "Questions about a user's chat history. A passage is a session or a turn; a question "
        "searches its own haystack, or one store of all haystacks. Abstention questions have no "
        "answer: nothing should be recalled."
    ),
    intended_use=(
        "Finding the evidence sessions or turns. With roles=user and store=question this is the "
        "benchmark's own retrieval setting."
    ),
    limits=(
        "The oracle file holds evidence sessions only, so its own haystacks are trivial: use it "
        "pooled. Pooling mixes the histories of different users. The benchmark skips abstention "
        "questions. With roles=user, what only the assistant said cannot be found."
    ),
    read=read,
    options={
        "level": Option(help="what a passage is", choices=(SESSION, TURN), default=SESSION),
        "roles": Option(help="whose turns are searched", choices=(USER, ALL), default=USER),
        "store": Option(
            help="what a question searches: its own haystack, or all in one",
            choices=(QUESTION, POOLED),
            default=QUESTION,
        ),
    },
    measures=(
        "nDCG@10, and the benchmark's own: RecallAny@5 (recall_any), RecallAll@5 (recall_all), "
        "nDCGAny@10 (ndcg_any, which discounts from the second rank by log2 of the rank)"
    ),
)
