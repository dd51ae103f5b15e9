"""MemDaily and MemBench: short trajectories of messages, each with the question asked at its end.

Both hold trajectories `{tid, message_list, QA}` (or `question_list`) whose `target_step_id` names
the messages that answer; they differ in how messages are written and how deep the lists lie:

* MemDaily: a list a file (`01_simple_events.json`), or `memdaily.json` by kind and subject;
  messages `{mid, message, time, place}`.
* MemBench, `ThirdAgent*`: the same; `FirstAgent*`: sessions of `{sid, user_message,
  assistant_message}` with targets `[sid, session]`; `data2test`: plain texts or `{user, agent}`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from wsmem.evals.importers.items import Passage, PublicSource, Question
from wsmem.evals.importers.json_files import read_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wsmem.evals.importers.items import Item, Request
    from wsmem.evals.importers.json_files import Node

# "2024年04月01日 周一 08:30", "'2024-10-01 08:00' Tuesday"
_MOMENT = re.compile(r"(\d{4})\D(\d{1,2})\D(\d{1,2})\D+?(\d{1,2}):(\d{2})")
# MemBench writes the time into plain texts: "(place: Boston, MA; time: '2024-10-01 08:00' Monday)"
_WRITTEN_IN = re.compile(r"time:?\s*'([^']*)'")
_FILE = re.compile(r"(?:\d+_)?(?P<kind>.+?)_(?P<subject>[A-Za-z]+)\Z")
_FAILED = ("[ERRORQ]", "[ERRORA]")
_SPEAKERS = (("user", "user_message"), ("assistant", "agent", "assistant_message"))


@dataclass(frozen=True, slots=True)
class _Step:
    """One message and the names a target may call it by."""

    text: str
    date: str | None
    number: int
    """Its `mid` or `sid`, else its place among all messages."""
    session: int
    """0 where there are no sessions."""


def read(request: Request) -> Iterator[Item]:
    """The messages of each trajectory, then its questions."""
    used: set[str] = set()
    for path in request.files:
        stem = path.name.removesuffix(".gz").removesuffix(".json")
        for kind, subject, trajectory in _trajectories(read_json(path), stem):
            name = _new_name(f"{kind}-{subject}-{trajectory.member('tid').word()}", stem, used)
            used.add(name)
            yield from _trajectory(trajectory, name, kind, subject, request)


def _new_name(name: str, stem: str, used: set[str]) -> str:
    """The trajectory's name; of two files or lists that count alike, the later gets another."""
    free, number = name, 1
    if free in used:
        free = name = f"{stem}-{name}"
    while free in used:
        number += 1
        free = f"{name}~{number}"
    return free


def _trajectories(node: Node, stem: str) -> Iterator[tuple[str, str, Node]]:
    """Kind, subject and trajectory; keys above the list are the kind and the subject."""
    if isinstance(node.value, list):
        form = _FILE.match(stem)
        kind, subject = (form["kind"], form["subject"]) if form else (stem, "all")
        yield from ((kind, subject, trajectory) for trajectory in node.elements())
        return
    for kind, inner in node.members().items():
        if isinstance(inner.value, list):
            yield from ((stem, kind, trajectory) for trajectory in inner.elements())
        elif inner.value is not None:
            for subject, group in inner.members().items():
                if group.value is not None:
                    yield from ((kind, subject, trajectory) for trajectory in group.elements())


def _trajectory(
    trajectory: Node, name: str, kind: str, subject: str, request: Request
) -> Iterator[Item]:
    steps = _steps(trajectory.member("message_list"))
    questions = _questions(trajectory)
    if questions and all(_failed(question) for question in questions):
        request.left_out["trajectories that the source marks as failed"] += 1
        return
    names = [f"{name}/{position}" for position in range(len(steps))]
    for identifier, step in zip(names, steps, strict=True):
        yield Passage(id=identifier, text=step.text, scope=name, date=step.date)
    for question in questions:
        if _failed(question):
            request.left_out["questions that the source marks as failed"] += 1
            continue
        targets = question.maybe("target_step_id")
        wanted = [] if targets is None else _targets(targets)
        found = [_place(target, steps) for target in wanted]
        request.left_out["targets that are no message"] += found.count(None)
        labels = {names[place]: 1 for place in found if place is not None}
        if not labels:
            request.left_out["questions without a target"] += 1
            continue
        asked, number = question.maybe("time"), question.maybe("qid")
        yield Question(
            id=f"{name}/q{'0' if number is None else number.word()}",
            text=question.member("question").text(),
            labels=labels,
            scope=name,
            date=None if asked is None else _date(asked.word()),
            kind=kind,
            metadata={"subject": subject, "answer": _answer(question)},
        )


def _questions(trajectory: Node) -> list[Node]:
    for key in ("question_list", "QA"):
        found = trajectory.maybe(key)
        if found is not None:
            return found.elements() if isinstance(found.value, list) else [found]
    raise trajectory.fault("'question_list' or 'QA' is missing")


def _steps(messages: Node) -> list[_Step]:
    steps: list[_Step] = []
    for session, node in enumerate(messages.elements()):
        nested = isinstance(node.value, list)
        for message in node.elements() if nested else [node]:
            steps.append(_step(message, len(steps), session if nested else 0))
    return steps


def _step(message: Node, place: int, session: int) -> _Step:
    if isinstance(message.value, str):
        written = _WRITTEN_IN.search(message.value)
        return _Step(message.value, written and _date(written[1]), place, session)
    number = message.maybe("mid") or message.maybe("sid")
    said, when = message.maybe("message"), message.maybe("time")
    text = said.text() if said is not None else _spoken(message)
    written = _WRITTEN_IN.search(text)
    stamp = when.word() if when is not None else (written[1] if written else "")
    return _Step(text, _date(stamp), place if number is None else _number(number), session)


def _spoken(message: Node) -> str:
    """A pair of utterances as one text, as the benchmark counts them."""
    parts = []
    for role, *keys in _SPEAKERS:
        for key in (role, *keys):
            if (said := message.maybe(key)) is not None:
                parts.append(f"{role}: {said.text()}")
                break
    if not parts:
        raise message.fault("'message', or what user and agent said, is missing")
    return "\n".join(parts)


def _targets(node: Node) -> list[Node]:
    """A single target, a list of them, or a list of `[number, session]`."""
    return node.elements() if isinstance(node.value, list) else [node]


def _place(target: Node, steps: list[_Step]) -> int | None:
    """Which message is meant; `None` when there is none such.

    Numbers count over the whole trajectory; where they start anew in each session, the second
    part of a target says which.
    """
    parts = target.elements() if isinstance(target.value, list) else [target]
    if not parts or parts[0].value is None or not str(parts[0].value).strip():
        return None
    number = _number(parts[0])
    found = [place for place, step in enumerate(steps) if step.number == number]
    if len(found) > 1 and len(parts) > 1:
        session = _number(parts[1])
        found = [place for place in found if steps[place].session == session]
    return found[0] if found else None


def _number(node: Node) -> int:
    text = node.word().strip()
    if not text.lstrip("-").isdigit():
        raise node.fault(f"a whole number is needed, not {text!r}")
    return int(text)


def _failed(question: Node) -> bool:
    return any(question.value.get(key) in _FAILED for key in ("question", "answer"))


def _answer(question: Node) -> str | None:
    answer = question.maybe("answer")
    if answer is None or isinstance(answer.value, (list, dict)):
        return None
    return answer.word()


def _date(text: str) -> str | None:
    found = _MOMENT.search(text)
    if found is None:
        return None
    try:
        return datetime(*map(int, found.groups())).isoformat()  # type: ignore[arg-type]  # noqa: DTZ001  five numbers; the source knows no zone
    except ValueError:
        return None


_DESCRIPTION = (
    "Messages to a personal assistant, and a question over them. A trajectory, the messages "
    "before one question, is a scope; a passage is a message, relevant when the source names it "
    "as a target."
)

MEMDAILY = PublicSource(
    name="memdaily",
    title="MemDaily: daily-life messages in Chinese",
    files="messages_and_QAs/*.json or memdaily.json of github.com/nuster1128/MemSim",
    licence="none stated",
    source="https://github.com/nuster1128/MemSim, data_generation/final_dataset",
    authors=("Zeyu Zhang et al. (MemSim, 2024)",),
    description=_DESCRIPTION,
    intended_use="Chinese recall of single messages and of several (comparative, aggregative).",
    limits=(
        "Scopes hold a few to a few dozen messages: look at the first ranks and at RecallAll. The "
        "same invented people appear in several trajectories, so never pool the scopes. No "
        "licence is stated: use it for evaluation on one's own machine."
    ),
    read=read,
)

MEMBENCH = PublicSource(
    name="membench",
    title="MemBench: memory of agents that take part or watch",
    files="FirstAgent*.json and ThirdAgent*.json of github.com/import-myself/Membench",
    licence="none stated",
    source="https://github.com/import-myself/Membench and the data linked there",
    authors=("Haoran Tan et al. (ACL 2025)",),
    description=_DESCRIPTION + " What user and agent said in one step is one passage.",
    intended_use="Recall of what was said to an agent (FirstAgent) or before it (ThirdAgent).",
    limits=(
        "Questions are multiple choice; the choices are not part of the query. Reflective "
        "questions (highlevel) have many targets: look at RecallAll and R. Never pool the scopes."
    ),
    read=read,
)
