"""Kill writers a thousand times and fail file-system calls a few thousand more; lose nothing.

    python benchmarks/crash/run.py [--kills 1000] [--power-cuts 4] [--folder DIR] [--seed 7]

Real processes write two scopes at a time and acknowledge every commit on a pipe; they are killed
with SIGKILL at random moments, alone and eight at once. Then everything a store does is done with
every one of its file-system calls failing in turn: disk full, input/output error, torn write, the
process gone before, after or in the middle of the call, and the power gone with whatever had not
been fsynced. After each, the store must hold the old or the new state whole, everything that was
acknowledged, and, after one more write, no leftovers.

Prints a table, writes `benchmarks/results/crash-DATE.json`; exit status 1 if anything was lost.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
from store_crashing import Tally, kill_writers
from store_failing import SCENARIOS, fail_calls, fault_plans

from benchmarks.saving import circumstances, dated, save
from wsmem.evals.manifest import commit
from wsmem.store.faults import FaultyFileSystem
from wsmem.store.fs import FileSystem

_COLUMNS = ("crashes", "acknowledged", "lost", "unreadable", "uncleared")
_HEADINGS = ("cases", "acknowledged", "lost", "unreadable", "left over")


@dataclass
class Row:
    """One line of the table."""

    kind: str
    what: str
    seconds: float = 0.0
    tally: Tally = field(default_factory=Tally)


def killed(folder: Path, kills: int, seed: int) -> list[Row]:
    """SIGKILL at random moments: with real fsyncs, alone and among eight, and without, for pace."""
    plans = (
        ("1 writer", 1, FileSystem(), kills // 2),
        ("8 writers", 8, FileSystem(), kills // 4),
        ("8 writers, no fsync", 8, FaultyFileSystem(), kills - kills // 2 - kills // 4),
    )
    rows = []
    for number, (what, writers, fs, count) in enumerate(plans):
        began = time.perf_counter()
        tally = kill_writers(
            folder / f"kills-{number}", kills=count, writers=writers, seed=seed + number, fs=fs
        )
        rows.append(Row("kill -9", what, time.perf_counter() - began, tally))
        show(rows[-1])
    return rows


def failed(folder: Path, power_cuts: int, seed: int) -> list[Row]:
    """Every call of every scenario, with every kind of fault."""
    rows = []
    for scenario in SCENARIOS:
        for name, fault, code, cuts in fault_plans(power_cuts=power_cuts):
            began = time.perf_counter()
            place = folder / "faults"
            place.mkdir(exist_ok=True)
            tally = fail_calls(place, scenario, fault=fault, code=code, power_cuts=cuts, seed=seed)
            rows.append(Row(name, scenario.name, time.perf_counter() - began, tally))
            show(rows[-1])
    return rows


def show(row: Row) -> None:
    figures = "".join(f"{getattr(row.tally, column):>13}" for column in _COLUMNS)
    print(f"{row.kind:20}{row.what:22}{figures}{row.seconds:9.1f} s", flush=True)
    for note in row.tally.notes:
        print(f"    {note}")


def total(kind: str, rows: list[Row]) -> Row:
    """The sum of some rows."""
    tally = Tally()
    for row in rows:
        for column in (*_COLUMNS, "survived"):
            setattr(tally, column, getattr(tally, column) + getattr(row.tally, column))
    return Row(kind, "all", sum(row.seconds for row in rows), tally)


def main() -> int:
    """Run everything, print, save, and say by the exit status whether anything was lost."""
    parser = argparse.ArgumentParser(description="Crash the store; nothing may be lost.")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--power-cuts", type=int, default=4, help="power cuts at every call")
    parser.add_argument("--folder", type=Path, help="where to make the stores (a real disk)")
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    logging.getLogger("wsmem").setLevel(logging.CRITICAL)  # every fault is reported in the table
    print(f"{'':42}{''.join(f'{name:>13}' for name in _HEADINGS)}")
    with tempfile.TemporaryDirectory(prefix="wsmem-crash-", dir=given.folder) as name:
        kills = killed(Path(name), given.kills, given.seed)
        faults = failed(Path(name), given.power_cuts, given.seed)
    sums = [total("kills", kills), total("faults", faults)]
    print()
    for row in sums:
        show(row)
    for row in (*kills, *faults):
        row.seconds = round(row.seconds, 1)
    path = dated("crash")
    figures = {"totals": list(map(asdict, sums)), "rows": list(map(asdict, [*kills, *faults]))}
    save(path, circumstances() | {"commit": commit(), "seed": given.seed} | figures)
    print(f"\nbenchmarks/results/{path.name}")
    return 0 if all(row.tally.clean for row in sums) else 1


if __name__ == "__main__":
    sys.exit(main())
