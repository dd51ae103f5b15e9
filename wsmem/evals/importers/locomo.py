"""LoCoMo: ten very long conversations of two people, with questions and the turns that answer.

`locomo10.json` is a list of conversations: `sample_id`, `conversation` (`session_1`,
`session_1_date_time`, ...), `observation` and `qa`. A corrected key is a file of the same form.
"""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from wsmem.errors import InputFileError
from wsmem.evals.importers.items import Option, Passage, PublicSource, Question, one_file
from wsmem.evals.importers.json_files import read_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wsmem.evals.importers.items import Item, Request
    from wsmem.evals.importers.json_files import Node

_KINDS = {"1": "multi-hop", "2": "temporal", "3": "open-domain", "4": "single-hop"}
_ADVERSARIAL = "5"
_SESSION = re.compile(r"session_(\d+)\Z")
_OBSERVED = re.compile(r"session_(\d+)_observation\Z")
# As found in the file: "D1:3", "D8:6; D9:17", "D:11:26", "D30:05", "D9:1 D4:4 D4:6".
_TURN = re.compile(r"D:?\s*(\d+)\s*:\s*(\d+)")
_MOMENT = "%I:%M %p on %d %B, %Y"

TURNS, OBSERVATIONS, SESSIONS = "turns", "observations", "sessions"


def read(request: Request) -> Iterator[Item]:
    """Passages and questions, conversation by conversation."""
    level = request.options["level"]
    samples = read_json(one_file(request)).elements()
    key = _key(request.options["key"])
    for sample in samples:
        name = sample.member("sample_id").word()
        passages, turns_of = [], {}
        for passage, turns in _passages(sample, name, level):
            passages.append(passage)
            turns_of[passage.id] = turns
        yield from passages
        corrected = None if key is None else key.get(name)
        if key is not None and corrected is None:
            raise sample.fault(f"the corrected key has no conversation {name!r}")
        yield from _questions(sample, corrected, name, turns_of, request)


def _key(path: str) -> dict[str, Node] | None:
    if not path:
        return None
    if not Path(path).is_file():
        raise InputFileError(path, None, "there is no such file")
    samples = read_json(Path(path)).elements()
    return {sample.member("sample_id").word(): sample for sample in samples}


def _passages(sample: Node, name: str, level: str) -> Iterator[tuple[Passage, frozenset[str]]]:
    """Passages with the turns they stand for."""
    conversation = sample.member("conversation")
    dates = {number: _date(conversation, number) for number, _ in _sessions(conversation)}
    if level == OBSERVATIONS:
        yield from _observations(sample, name, dates)
        return
    for number, session in _sessions(conversation):
        said: list[str] = []
        turns: list[str] = []
        for turn in session.elements():
            text, identifier = _said(turn), _turn_id(turn.member("dia_id"))
            said.append(text)
            turns.append(identifier)
            if level == TURNS:
                yield (
                    Passage(
                        id=f"{name}/{identifier}",
                        text=text,
                        scope=name,
                        date=dates[number],
                        metadata={"session": number, "speaker": turn.member("speaker").word()},
                    ),
                    frozenset([identifier]),
                )
        if level == SESSIONS and said:
            passage = Passage(
                id=f"{name}/S{number}",
                text="\n".join(said),
                scope=name,
                date=dates[number],
                metadata={"session": number},
            )
            yield passage, frozenset(turns)


def _observations(
    sample: Node, name: str, dates: dict[int, str | None]
) -> Iterator[tuple[Passage, frozenset[str]]]:
    for key, session in sample.member("observation").members().items():
        form = _OBSERVED.match(key)
        if form is None:
            continue
        number, count = int(form[1]), 0
        for speaker, facts in session.members().items():
            for fact in facts.elements():
                text, evidence = _pair(fact)
                count += 1
                passage = Passage(
                    id=f"{name}/S{number}-{count}",
                    text=text.text(),
                    scope=name,
                    date=dates.get(number),
                    metadata={"session": number, "speaker": speaker},
                )
                yield passage, frozenset(_turns(evidence))


def _pair(fact: Node) -> tuple[Node, Node]:
    parts = fact.elements()
    if len(parts) < 2:
        raise fact.fault("a fact and its evidence are needed")
    return parts[0], parts[1]


def _questions(
    sample: Node,
    corrected: Node | None,
    name: str,
    turns_of: dict[str, frozenset[str]],
    request: Request,
) -> Iterator[Question]:
    """The questions, with the answers and evidence of the corrected key where there is one."""
    original = {_text(row): row for row in sample.member("qa").elements()}
    rows = (sample if corrected is None else corrected).member("qa").elements()
    if corrected is not None:
        kept = {_text(row) for row in rows}
        request.left_out["questions that the corrected key has not"] += len(set(original) - kept)
    for position, row in enumerate(rows):
        wanted = {turn for part in _evidence(row) for turn in _turns(part)}
        labels = {passage: 1 for passage, turns in turns_of.items() if turns & wanted}
        if not wanted:
            request.left_out["questions without evidence"] += 1
            continue
        if not labels:
            request.left_out["questions whose evidence has no passage"] += 1
            continue
        category = row.member("category").word()
        before = original.get(_text(row))
        changed = corrected is not None and (
            before is None or {t for part in _evidence(before) for t in _turns(part)} != wanted
        )
        answer = row.maybe("answer") or row.maybe("adversarial_answer")
        yield Question(
            id=f"{name}/q{position:03d}",
            text=_text(row),
            labels=labels,
            scope=name,
            kind="adversarial" if category == _ADVERSARIAL else _KINDS.get(category, category),
            metadata={
                "answer": None if answer is None else answer.word(),
                "corrected": True if changed else None,
            },
        )


def _text(row: Node) -> str:
    return row.member("question").text().strip()


def _evidence(row: Node) -> list[Node]:
    evidence = row.maybe("evidence")
    return [] if evidence is None else evidence.elements()


def _sessions(conversation: Node) -> Iterator[tuple[int, Node]]:
    for key, value in conversation.members().items():
        if form := _SESSION.match(key):
            yield int(form[1]), value


def _said(turn: Node) -> str:
    """`Speaker: text`, with what a shared picture shows in brackets."""
    caption = turn.maybe("blip_caption")
    shown = "" if caption is None else f" [shares {caption.text()}]"
    return f"{turn.member('speaker').word()}: {turn.member('text').text()}{shown}"


def _turn_id(value: Node) -> str:
    found = _turns(value)
    if len(found) != 1:
        raise value.fault("one turn such as D1:3 is needed")
    return found[0]


def _turns(value: Node) -> list[str]:
    """The turns that a text or a list of texts names, slips of the pen mended."""
    if isinstance(value.value, list):
        return [turn for part in value.elements() for turn in _turns(part)]
    return [f"D{int(session)}:{int(turn)}" for session, turn in _TURN.findall(value.word())]


def _date(conversation: Node, number: int) -> str | None:
    found = conversation.maybe(f"session_{number}_date_time")
    if found is None:
        return None
    try:
        return datetime.strptime(found.text().strip(), _MOMENT).isoformat()  # noqa: DTZ007  the source knows no zone
    except ValueError as error:
        raise found.fault(
            f"{found.text()!r} is not a moment such as 1:56 pm on 8 May, 2023"
        ) from error


SOURCE = PublicSource(
    name="locomo",
    title="LoCoMo: questions about very long conversations",
    files="locomo10.json of github.com/snap-research/locomo",
    licence="CC-BY-NC-4.0",
    source="https://github.com/snap-research/locomo, data/locomo10.json",
    authors=("Adyasha Maharana et al. (Snap Research, ACL 2024)",),
    description=(
        "Ten conversations of two people over many sessions; each is a scope. A passage is a turn, "
        "an observation (a fact that the authors had generated from a session), or a session; it "
        "is relevant when one of its turns is in the question's evidence."
    ),
    intended_use=(
        "Finding the turns that answer a question in one's own long conversation. Report the "
        "adversarial questions apart: they ask about what was never said, and their evidence is "
        "the turn they twist."
    ),
    limits=(
        "Conversations were written by a model. Some evidence lists are incomplete or wrong; "
        "corrected keys are in circulation (option key). Relevance of observations and sessions "
        "is derived from that of turns."
    ),
    read=read,
    options={
        "level": Option(
            help="what a passage is", choices=(TURNS, OBSERVATIONS, SESSIONS), default=TURNS
        ),
        "key": Option(help="a corrected file of the same form: its questions and evidence count"),
    },
)
