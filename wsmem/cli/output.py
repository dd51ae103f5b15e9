"""Print results so that any terminal, pipe or script can take them."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from wsmem.store.jsontext import json_text

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# What would steer a terminal, or turn the reading direction round, in texts that strangers wrote.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def say(*lines: str) -> None:
    """Print lines on standard output; control characters in them are shown, not obeyed.

    Flushes, so that a reader who has gone is noticed here and not at the exit of the interpreter.
    """
    text = _CONTROLS.sub(_shown, "".join(f"{line}\n" for line in lines))
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
    sys.stdout.flush()


def note(text: str) -> None:
    """Print one line on standard error, beside the result."""
    print(_CONTROLS.sub(_shown, text), file=sys.stderr)


def say_json(value: Any) -> None:
    """Print one JSON object; in ASCII where the output cannot take its letters."""
    text = json_text(value)
    encoding = sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = json.dumps(json.loads(text), indent=2)
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def as_json(record: DataclassInstance) -> dict[str, Any]:
    """A flat record with the names of its fields in camelCase."""
    return {_camel(field.name): getattr(record, field.name) for field in fields(record)}


def count(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: `1 entry`, `2 entries`."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def excerpt(text: str, limit: int = 100) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _shown(control: re.Match[str]) -> str:
    return ascii(control[0])[1:-1]
