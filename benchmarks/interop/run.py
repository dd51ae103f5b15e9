"""One store, two programs: wsmem and the public plugin read, rank and write it alike.

    python benchmarks/interop/run.py [--plugin DIR] [--entries 60] [--queries 150] [--no-save]

Installs the published plugin with npm into a temporary folder (or takes the one installed in DIR)
and runs its engine in Node beside ours. A store is filled by each program: Chinese, English and
mixed entries in every status, a correction, a contradiction, a revision, fields neither program
knows, pending messages, an archived workspace, a conversation's own layer. Then each program
looks at both stores, ranks a few hundred questions over them, rewrites copies, and at last both
write into one store in turn. Everything compared must be the same, scores to 1e-9, entries that
nobody changed to the byte.

Prints a table and writes `benchmarks/results/interop-DATE.json`; exit status 1 on any difference.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.interop.checks import (
    Board,
    look_alike,
    rank_alike,
    rewrite_alike,
    session_stays_ours,
)
from benchmarks.interop.plugin import (
    PACKAGE,
    VERSION,
    InteropError,
    Plugin,
    core_of,
    install,
    node_version,
)
from benchmarks.interop.stores import Ours, Ticks, contents, fill_ours, fill_theirs, queries
from benchmarks.interop.turns import write_in_turn
from benchmarks.saving import circumstances, dated, save
from wsmem.records import STATUSES

if TYPE_CHECKING:
    from collections.abc import Iterator

SEED = 7


def compare(board: Board, core: Path, folder: Path, options: argparse.Namespace) -> None:
    """Make every check; `folder` is where stores may be made."""
    ticks = Ticks()
    for title, seed in (("ours", SEED), ("theirs", SEED + 1)):
        root = folder / title
        entries = contents(options.entries, seed)
        if title == "ours":
            with _ours(root, ticks) as ours:
                fill_ours(ours, entries)
        else:
            with Plugin(core, root, ticks) as plugin:
                fill_theirs(plugin, ticks, root, entries)
        rewrite_alike(board, title, root, core=core, ticks=ticks)
        # Fresh processes: what is compared is what stands in the files.
        with _ours(root, ticks) as ours, Plugin(core, root, ticks) as plugin:
            look_alike(board, title, ours, plugin, root, statuses=set(STATUSES))
            rank_alike(board, title, ours, plugin, queries(entries, options.queries, seed))
            if title == "ours":
                session_stays_ours(board, ours, plugin)
    shared = folder / "shared"
    with _ours(shared, ticks) as ours, Plugin(core, shared, ticks) as plugin:
        entries = contents(options.entries, SEED + 2)
        write_in_turn(board, ours, plugin, entries, core=core)
    with _ours(shared, ticks) as ours, Plugin(core, shared, ticks) as plugin:
        look_alike(board, "shared", ours, plugin, shared, statuses={"active", "deleted"})
        rank_alike(board, "shared", ours, plugin, queries(entries, options.queries, SEED + 2))


def main(arguments: list[str] | None = None) -> int:
    """Compare, print, keep the result."""
    parser = argparse.ArgumentParser(description="Compare wsmem with the public plugin.")
    parser.add_argument("--plugin", type=Path, help="a folder the plugin is installed in")
    parser.add_argument("--entries", type=int, default=60, help="entries of each store")
    parser.add_argument("--queries", type=int, default=150, help="questions to each scope")
    parser.add_argument("--no-save", action="store_true", help="write no result file")
    options = parser.parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="wsmem-interop-"))
    board = Board()
    try:
        node = node_version()
        core = core_of(options.plugin) if options.plugin else install(folder)
        compare(board, core, folder, options)
    except InteropError as error:
        print(f"interop: {error}", file=sys.stderr)
        return 2
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"wsmem {metadata.version('wsmem')} beside {PACKAGE} {VERSION} on Node {node}")
    print("\n".join(board.lines()))
    if not options.no_save:
        path = dated("interop")
        save(path, report(board, node, options))
        print(f"result: benchmarks/results/{path.name}")
    if board.failed:
        print(f"{len(board.failed)} of {len(board.checks)} checks failed", file=sys.stderr)
        return 1
    return 0


def report(board: Board, node: str, options: argparse.Namespace) -> dict[str, Any]:
    """What is kept of a comparison."""
    sizes = f"--entries {options.entries} --queries {options.queries}"
    return circumstances(f"python benchmarks/interop/run.py {sizes}") | {
        "seed": SEED,
        "versions": {"wsmem": metadata.version("wsmem"), PACKAGE: VERSION, "node": node},
        "checks": [
            {
                "name": check.name,
                "compared": check.compared,
                "different": len(check.differences),
                **({} if check.furthest is None else {"furthest_scores": check.furthest}),
                "differences": check.differences[:10],
            }
            for check in board.checks
        ],
    }


@contextmanager
def _ours(root: Path, ticks: Ticks) -> Iterator[Ours]:
    ours = Ours(root, ticks)
    try:
        yield ours
    finally:
        ours.memory.close()


if __name__ == "__main__":
    sys.exit(main())
