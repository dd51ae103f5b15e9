"""PerLTQA: characters' profiles, relationships, events and dialogues, with questions about them.

Two files: the memories (`perltmem*.json`: an object by character, or a list) and the questions
(`perltqa*.json`: a list of `{character: {profile, social_relationship, events, dialogues}}`), whose
`Reference Memory` names the memory that answers.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wsmem.errors import InvalidInputError
from wsmem.evals.importers.items import Passage, PublicSource, Question
from wsmem.evals.importers.json_files import Node, read_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wsmem.evals.importers.items import Item, Request

_PROFILE, _PORTRAIT = "profile", "profile_description"
_RELATIONS, _EVENTS, _DIALOGUES = "social_relationship", "events", "dialogues"
_SECTIONS = (_PROFILE, _RELATIONS, _EVENTS, _DIALOGUES)
_NAMES = ("Protagonist", "主角", "姓名", "名字")
_CONTENTS, _SUMMARIES = ("content", "Content", "内容"), ("summary", "Summary", "摘要", "概要")
_BOOKKEEPING = frozenset(
    {"Characters", "Creation Time", "Last Accessed Time", "人物", "创建时间", "最后访问时间"}
)
_NAMESPACE = re.compile(r"\d+_")


@dataclass(slots=True)
class _Character:
    """A character's memories: their passages by section and the source's own key."""

    name: str
    keys: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))

    def passage(self, section: str, key: str, text: str, title: str = "") -> Passage:
        """A passage, remembered under its key."""
        identifier = f"{self.name}/{section}/{key}"
        self.keys[section][key] = identifier
        return Passage(
            id=identifier,
            text=text,
            title=title,
            scope=self.name,
            metadata={"section": section},
        )

    def find(self, section: str, key: str) -> str | None:
        """The passage a reference means.

        Some references were numbered for another character: where a key is unknown, the one
        memory of the section that has the same key after its first number is meant.
        """
        known = self.keys[section]
        if key in known:
            return known[key]
        rest = _NAMESPACE.sub("", key, count=1)
        same = [name for other, name in known.items() if _NAMESPACE.sub("", other, 1) == rest]
        return same[0] if len(same) == 1 and rest != key else None


def read(request: Request) -> Iterator[Item]:
    """All memories, then the questions of characters whose memories are known."""
    memories, questions = _two_files(request)
    characters: dict[str, _Character] = {}
    for name, memory in _characters(memories):
        character = characters[name] = _Character(name)
        yield from _memories(memory, character)
    for group in questions.elements():
        for name, sections in group.members().items():
            if name not in characters:
                request.left_out["characters without memories"] += 1
                continue
            yield from _questions(sections, characters[name], request)


def _two_files(request: Request) -> tuple[Node, Node]:
    """The memories and the questions, in whichever order they were given."""
    if len(request.files) != 2:
        raise InvalidInputError(
            "perltqa needs two files, the memories (perltmem*.json) and the questions "
            "(perltqa*.json); nothing was imported"
        )
    nodes = [read_json(path) for path in request.files]
    is_memories = [_is_memories(node) for node in nodes]
    if is_memories == [True, False]:
        return nodes[0], nodes[1]
    if is_memories == [False, True]:
        return nodes[1], nodes[0]
    which = "both hold" if all(is_memories) else "neither of the two holds"
    raise nodes[0].fault(f"{which} memories, with a profile for each character")


def _is_memories(node: Node) -> bool:
    value = node.value
    inside = value if isinstance(value, list) else value.values() if _is_object(value) else ()
    return any(_is_object(item) and _is_object(item.get(_PROFILE)) for item in inside)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _characters(memories: Node) -> Iterator[tuple[str, Node]]:
    if _is_object(memories.value):
        yield from memories.members().items()
        return
    for memory in memories.elements():
        profile = memory.member(_PROFILE)
        names = [found for key in _NAMES if (found := profile.maybe(key)) is not None]
        if not names:
            raise profile.fault(f"the character has no name ({' or '.join(_NAMES)})")
        yield names[0].word(), memory


def _memories(memory: Node, character: _Character) -> Iterator[Passage]:
    for key, value in memory.member(_PROFILE).members().items():
        if value.value not in (None, "", []):
            yield character.passage(_PROFILE, key, f"{key}: {_flat(value.value)}")
    portrait = memory.maybe(_PORTRAIT)
    if portrait is not None:
        yield character.passage(_PORTRAIT, _PORTRAIT, portrait.text())
    for key, relation in _entries(memory, _RELATIONS):
        yield character.passage(_RELATIONS, key, _statement(relation))
    for key, event in _entries(memory, _EVENTS):
        yield character.passage(_EVENTS, key, _statement(event), _first(event, _SUMMARIES))
    for key, dialogue in _entries(memory, _DIALOGUES):
        yield character.passage(_DIALOGUES, key, _conversation(dialogue))


def _entries(memory: Node, section: str) -> list[tuple[str, Node]]:
    """A section's memories by key; some files hold it as the text of a Python object."""
    found = memory.maybe(section)
    if found is None:
        return []
    if isinstance(found.value, str):
        found = Node(found.file, _literal(found), found.place)
    return list(found.members().items())


def _literal(node: Node) -> Any:
    try:
        return ast.literal_eval(node.value)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise node.fault("an object is needed, and the text is not one either") from error


def _statement(memory: Node) -> str:
    """The content where there is one; everything that is said otherwise."""
    if isinstance(memory.value, str):
        return memory.text()
    if content := _first(memory, _CONTENTS):
        return content
    said = {key: value for key, value in memory.members().items() if key not in _BOOKKEEPING}
    return "\n".join(f"{key}: {_flat(value.value)}" for key, value in said.items() if value.value)


def _first(memory: Node, keys: tuple[str, ...]) -> str:
    if not _is_object(memory.value):
        return ""
    return next((found.text() for key in keys if (found := memory.maybe(key)) is not None), "")


def _conversation(dialogue: Node) -> str:
    """All turns of a dialogue, with the moments it goes on at."""
    contents = dialogue.member("contents")
    if isinstance(contents.value, list):
        return "\n".join(_flat(turn) for turn in contents.value)
    turns: list[str] = []
    for moment, said in contents.members().items():
        turns.append(moment)
        turns += [_flat(turn.value) for turn in said.elements()]
    return "\n".join(turns)


def _questions(sections: Node, character: _Character, request: Request) -> Iterator[Question]:
    for section in _SECTIONS:
        found = sections.maybe(section) or sections.maybe(section.replace("_", " "))
        rows = [] if found is None else list(_rows(found))
        for position, row in enumerate(rows):
            reference = row.maybe("Reference Memory")
            keys = [] if reference is None else _references(reference)
            targets = [character.find(section, key) for key in keys]
            request.left_out["references to no memory"] += targets.count(None)
            labels = {target: 1 for target in targets if target is not None}
            if not labels:
                request.left_out["questions without a memory"] += 1
                continue
            answer = row.maybe("Answer")
            yield Question(
                id=f"{character.name}/{section}/q{position}",
                text=row.member("Question").text(),
                labels=labels,
                scope=character.name,
                kind=section,
                metadata={"answer": None if answer is None else answer.word()},
            )


def _rows(node: Node) -> Iterator[Node]:
    """The questions of a section: a list of them, or of objects with lists of them by key."""
    if isinstance(node.value, list):
        for element in node.elements():
            yield from _rows(element)
        return
    if "Question" in node.members():
        yield node
        return
    for inner in node.members().values():
        yield from _rows(inner)


def _references(node: Node) -> list[str]:
    """Keys of memories: a list, one key, or a list written as text (`['4_0_0#8']`)."""
    value = node.value
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = _literal(node)
    values = value if isinstance(value, list) else [value]
    return [str(item).strip() for item in values]


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_flat(inner)}" for key, inner in value.items())
    return ", ".join(map(_flat, value)) if isinstance(value, list) else str(value)


SOURCE = PublicSource(
    name="perltqa",
    title="PerLTQA: personal long-term memory of invented characters",
    files="perltmem*.json and perltqa*.json of github.com/Elvin-Yiming-Du/PerLTQA",
    licence="see LICENSE.txt of the repository",
    source="https://github.com/Elvin-Yiming-Du/PerLTQA, Dataset/",
    authors=("Yiming Du et al. (SIGHAN 2024)",),
    description=(
        "A passage is a line of a character's profile, a relationship, an event or a dialogue; a "
        "character is a scope. A passage is relevant when the question's reference names it."
    ),
    intended_use="Recall over mixed kinds of memory: short facts beside long dialogues.",
    limits=(
        "One memory a question is named, though an event and the dialogue about it often both "
        "answer: unlabelled is not wrong here. References that were numbered for another "
        "character are matched by the rest of their key where that is unique. Written by a model."
    ),
    read=read,
)
