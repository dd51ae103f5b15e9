"""Cases of the public sets for distillers, told in our form; nothing is checked or read here.

A public case has `messages`, `existing` memories, `gold` of the kinds add, update and conflict, and
`forbidden` points that must not become memories.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_KINDS = {"add": "add", "update": "supersede", "conflict": "flag-conflict"}


def is_public_form(row: Mapping[str, Any]) -> bool:
    """Whether a line is a case of the public form."""
    return "gold" in row


def public_case(row: Mapping[str, Any]) -> dict[str, Any]:
    """A case of the public form as a line of ours.

    An update becomes a supersede, for which a revise is as good; one that replaces nothing we were
    given becomes an add. Their gold has no strings that must occur: content can only be compared
    with the reference. All cases are of the split `test` and of the scope `workspace`; slices are
    the kinds of their gold, or `nothing`.

    Raises:
        KeyError: a field is missing.
        TypeError: a field has another shape than it should.
    """
    messages = [
        {"id": f"m{number}", "role": message["role"], "text": message["content"]}
        for number, message in enumerate(row["messages"], start=1)
        if message["content"].strip()
    ]
    gold = row["gold"]
    return {
        "_id": row["_id"],
        "language": row["lang"],
        "split": "test",
        "slice": sorted({item["kind"] for item in gold}) or ["nothing"],
        "cwd": f"/imported/{row['scope']}",
        "messages": messages,
        "existing": [_entry(item, row["date_end"]) for item in row["existing"]],
        "expected": [_expected(item) for item in gold],
        "forbidden": [item["text"] for item in row["forbidden"]],
        "questions": [],
    }


def _entry(item: Mapping[str, Any], default_date: str) -> dict[str, Any]:
    date = item.get("date") or default_date
    return {
        "id": item["id"],
        "scope": "workspace",
        "type": "fact",
        "title": "",
        "content": item["text"],
        "tags": [],
        "importance": 1,
        "status": "active",
        "updatedAt": date,
    }


def _expected(item: Mapping[str, Any]) -> dict[str, Any]:
    replaced = list(item.get("supersedes") or ())
    op = _KINDS[item["kind"]] if replaced else "add"
    return {
        "op": op,
        "accept": ["supersede", "revise"] if op == "supersede" else [],
        "scope": "workspace",
        "targetId": replaced[0] if replaced else None,
        "alsoTargetIds": replaced[1:],
        "required": [],
        "reference": item["text"],
    }
