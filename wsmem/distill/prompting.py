"""Prompts: load them from their folders, render them for one request."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wsmem.distill.completion import ChatMessage
from wsmem.distill.conversation import Bounds, shown_input
from wsmem.distill.failures import PromptError
from wsmem.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wsmem.distill.conversation import Shown
    from wsmem.operations.contract import DistillRequest

FOLDER = Path(__file__).parent / "prompts"
"""Where the shipped prompts are."""

DEFAULT_PROMPT = "careful@1"
LANGUAGES = ("zh", "en")

_ID = re.compile(r"[a-z][a-z0-9-]*@[1-9][0-9]*")
_SLOT = re.compile(r"\{\{(\w+)\}\}")
_REPAIR = "mend the file, or name another prompt (`wsmem distill prompts` lists them)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A prompt in one language."""

    system: str
    """Examples filled in."""
    user: str
    """Holds `{{input}}` once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One entry of a prompt's changelog."""

    id: str
    date: str
    changes: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One version of a prompt."""

    id: str
    """Name and version, `careful@1`."""
    description: Mapping[str, str]
    """By language."""
    changelog: tuple[Change, ...]
    """Oldest first; the last one is about this version."""
    parameters: Mapping[str, Any]
    """What is asked of the model with it: temperature and the like."""
    variants: Mapping[str, Variant]
    """By language."""

    def variant(self, language: str) -> Variant:
        """The prompt in `language`.

        Raises:
            PromptError: it has none.
        """
        if language not in self.variants:
            known = ", ".join(self.variants)
            raise PromptError(self.id, f"there is no variant in {language!r}", f"it has: {known}")
        return self.variants[language]

    def instructions(self, language: str) -> tuple[str, ...]:
        """All that the model is told beside the input, so that an echo of it is recognised."""
        variant = self.variant(language)
        return (variant.system, *_SLOT.sub("\n", variant.user).split("\n\n"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A prompt with an input in its place."""

    messages: tuple[ChatMessage, ...]
    shown: Shown


def render(
    prompt: Prompt,
    request: DistillRequest,
    *,
    bounds: Bounds | None = None,
    language: str | None = None,
) -> Rendered:
    """The messages that ask a model to distil `request`: one of the system, one of the user.

    Args:
        prompt: What to say.
        request: What to distil.
        bounds: How much of it to show.
        language: Of the prompt; the request's own when `None`. Memories are asked for in the
            language the user spoke, whatever this is.
    """
    language = language or request.language
    variant = prompt.variant(language)
    shown = shown_input(request, bounds or Bounds(), language=language)
    # One pass: an input that holds a slot's name is not filled again.
    user = _SLOT.sub(lambda _: shown.document, variant.user)
    messages = (ChatMessage("system", variant.system), ChatMessage("user", user))
    return Rendered(messages=messages, shown=shown)


def prompt_ids() -> tuple[str, ...]:
    """The shipped prompts, versions in order."""
    found = [path.name for path in FOLDER.iterdir() if _ID.fullmatch(path.name)]
    return tuple(sorted(found, key=_in_order))


def load_prompt(name: str) -> Prompt:
    """A prompt by id, by name (its newest version), or by the path of a folder.

    Raises:
        UnknownNameError: there is none of that name.
        PromptError: its files cannot be used.
    """
    ids = prompt_ids()
    if name in ids:
        return _read(FOLDER / name)
    versions = [identifier for identifier in ids if identifier.partition("@")[0] == name]
    if versions:
        return _read(FOLDER / versions[-1])
    folder = Path(name)
    if folder.is_dir():
        return _read(folder.resolve())
    hint = "or give the path of a folder with a prompt.json"
    raise UnknownNameError("prompt", name, ids, hint)


def _in_order(identifier: str) -> tuple[str, int]:
    name, _, version = identifier.partition("@")
    return name, int(version)


@lru_cache(maxsize=32)
def _read(folder: Path) -> Prompt:
    document = _json_file(folder, "prompt.json")
    identifier = document.get("id") if isinstance(document, dict) else None
    if not isinstance(identifier, str) or not _ID.fullmatch(identifier):
        problem = "prompt.json gives no id of the form name@version"
        raise PromptError(folder.name, problem, _REPAIR)
    if folder.parent == FOLDER and folder.name != identifier:
        raise PromptError(identifier, f"stands in the folder {folder.name}", _REPAIR)
    variants = {
        language: _variant(folder, identifier, language)
        for language in LANGUAGES
        if (folder / f"system.{language}.txt").exists()
    }
    if not variants:
        raise PromptError(identifier, "has no system.zh.txt and no system.en.txt", _REPAIR)
    parameters, description = document.get("parameters", {}), document.get("description", {})
    if not isinstance(parameters, dict) or not isinstance(description, dict):
        raise PromptError(identifier, "parameters and description must be objects", _REPAIR)
    return Prompt(
        id=identifier,
        description={key: str(value) for key, value in description.items()},
        changelog=_changelog(identifier, document.get("changelog")),
        parameters=parameters,
        variants=variants,
    )


def _variant(folder: Path, identifier: str, language: str) -> Variant:
    system = _text_file(folder, f"system.{language}.txt")
    user = _text_file(folder, f"user.{language}.txt")
    if _SLOT.findall(user) != ["input"]:
        raise PromptError(identifier, f"user.{language}.txt must hold {{{{input}}}} once", _REPAIR)
    slots = set(_SLOT.findall(system))
    if slots - {"examples"}:
        unknown = ", ".join(sorted(slots - {"examples"}))
        raise PromptError(
            identifier, f"system.{language}.txt has unknown slots: {unknown}", _REPAIR
        )
    if "json" not in system + user:
        # Endpoints refuse to be held to JSON by a request that does not speak of it.
        raise PromptError(identifier, f"the {language} variant lacks the word json", _REPAIR)
    if "examples" in slots:
        examples = _examples(folder, identifier, language)
        system = _SLOT.sub(lambda _: examples, system)
    return Variant(system=system, user=user)


def _examples(folder: Path, identifier: str, language: str) -> str:
    """Worked examples as text: an input, an arrow, its answer."""
    name = f"examples.{language}.json"
    items = _json_file(folder, name)
    blocks = []
    for item in items if isinstance(items, list) else [None]:
        if not isinstance(item, dict) or not {"input", "output"} <= item.keys():
            raise PromptError(
                identifier, f"{name} must list objects with input and output", _REPAIR
            )
        blocks.append(f"{_compact(item['input'])}\n=> {_compact(item['output'])}")
    return "\n\n".join(blocks)


def _changelog(identifier: str, raw: Any) -> tuple[Change, ...]:
    texts = ("id", "date", "changes")
    items = raw if isinstance(raw, list) else []
    if not items or not all(
        isinstance(item, dict) and all(isinstance(item.get(name), str) for name in texts)
        for item in items
    ):
        raise PromptError(identifier, "the changelog needs id, date and changes of each", _REPAIR)
    changes = tuple(Change(**{name: item[name] for name in texts}) for item in items)
    if changes[-1].id != identifier:
        raise PromptError(identifier, "the changelog does not end with this version", _REPAIR)
    return changes


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _json_file(folder: Path, name: str) -> Any:
    try:
        return json.loads(_text_file(folder, name))
    except ValueError as error:
        raise PromptError(folder.name, f"{name} is not JSON ({error})", _REPAIR) from None


def _text_file(folder: Path, name: str) -> str:
    try:
        return (folder / name).read_text(encoding="utf-8").strip()
    except OSError as error:
        problem = f"{name} cannot be read ({error.strerror})"
        raise PromptError(folder.name, problem, _REPAIR) from None
    except UnicodeDecodeError:
        raise PromptError(folder.name, f"{name} is not UTF-8", _REPAIR) from None
