"""`wsmem recall`: one question to memory, answered with the standard library alone.

Hosts run it at prompts, so it starts without Typer, NumPy or anything else that takes long to
import; `--explain` alone is allowed to be slow.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from wsmem.engine.once import recall_once
from wsmem.records import MemoryContext, RecallInput
from wsmem.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wsmem.records import MemoryMatch
    from wsmem.settings import Settings

DEGRADED = 1
"""Exit status when memory could be read only in part, or not at all."""


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    options = argparse.ArgumentParser(
        prog="wsmem recall",
        description="Ask memory what it knows. Without --cwd only the global memory is asked: "
        "the working directory of this process is never taken for a workspace.",
        allow_abbrev=False,
        # With a width of its own it does not import shutil to ask the terminal.
        formatter_class=partial(argparse.HelpFormatter, width=88),
    )
    options.add_argument("query", metavar="QUERY", help="what is asked, in any language")
    where = options.add_mutually_exclusive_group()
    where.add_argument(
        "--cwd", metavar="DIR", help="the workspace; a relative path is taken from here"
    )
    where.add_argument("--global", dest="everywhere", action="store_true", help="no workspace")
    options.add_argument("--memory-dir", metavar="DIR", help="where memory is kept")
    options.add_argument("--profile", metavar="NAME", help="ranking weights: a name or a file")
    options.add_argument("--limit", type=int, metavar="N", help="at most so many memories")
    options.add_argument("--max-bytes", type=int, metavar="N", help="budget of the whole context")
    shape = options.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="print one JSON object")
    shape.add_argument("--context", action="store_true", help="print what a host would inject")
    shape.add_argument("--explain", action="store_true", help="print the signals of every score")
    return options


def main(arguments: Sequence[str]) -> int:
    """Answer one query; `arguments` start with the command's own name."""
    given = parser().parse_args(list(arguments[1:]))
    settings = load_settings(
        arguments={
            name: value
            for name, value in (("memory_dir", given.memory_dir), ("profile", given.profile))
            if value is not None
        }
    )
    request = RecallInput(
        query=given.query,
        # A relative directory was typed here, so it is taken from here.
        cwd=os.path.join(os.getcwd(), given.cwd) if given.cwd else None,  # noqa: PTH109, PTH118
        limit=given.limit,
        max_bytes=given.max_bytes,
    )
    context = recall_once(settings, request)
    if given.json:
        print(json.dumps(as_json(context), ensure_ascii=False))
    elif given.context:
        print(context.text, end="" if not context.text else "\n")
    else:
        show(context)
        if given.explain:
            explain(settings, request, context)
    if context.degraded:
        print(f"wsmem: the answer is not whole: {context.degraded}", file=sys.stderr)
        return DEGRADED
    return 0


def as_json(context: MemoryContext) -> dict[str, Any]:
    """The answer as JSON holds it, in the camelCase of the files."""
    return {
        "scope": context.scope,
        "summary": context.summary,
        "matches": [_match_json(match) for match in context.matches],
        "text": context.text,
        "degraded": context.degraded,
    }


def _match_json(match: MemoryMatch) -> dict[str, Any]:
    return {
        "id": match.id,
        "scope": match.scope,
        "type": match.type,
        "title": match.title,
        "description": match.description,
        "content": match.content,
        "tags": list(match.tags),
        "importance": match.importance if match.importance == match.importance else None,
        "score": round(match.score, 9),
        "status": match.status,
        "conflictWith": list(match.conflict_with),
        "updatedAt": match.updated_at,
    }


def show(context: MemoryContext) -> None:
    """Print the matches for a reader, ids whole so that they can be used."""
    if not context.matches:
        print("nothing found")
    for match in context.matches:
        title = "" if match.content.startswith(match.title) else f"{match.title}: "
        rivals = f"  (contradicts {', '.join(match.conflict_with)})" if match.conflict_with else ""
        head = f"{match.id}  {match.score:.3f}  [{match.scope}/{match.type}]"
        print(f"{head}  {title}{match.content}{rivals}")


def explain(settings: Settings, request: RecallInput, context: MemoryContext) -> None:
    """Print what every signal gave to each entry shown."""
    from wsmem.engine.once import explain_once  # noqa: PLC0415  NumPy

    shown = {match.id for match in context.matches}
    for row in explain_once(settings, request).rows:
        if row.entry.id in shown:
            print(f"\n{row.entry.id}  {row.score:.3f}")
            for name, part in row.parts.items():
                if part.value:
                    product = f"{part.value:8.3f} x {part.weight:6.2f}"
                    print(f"  {name:18} {product} = {part.contribution:8.3f}")
