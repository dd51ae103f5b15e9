"""Keep the figures of an evaluation as dated data, without the run behind them.

    wsmem eval --data DIR --json | python benchmarks/save_board.py benchmarks/results/NAME.json

For sets whose texts may not be shipped: figures may. Values are rounded to four decimals.
"""

from __future__ import annotations

import json
import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.saving import circumstances

COMMAND = "wsmem eval --data DIR --json | python benchmarks/save_board.py FILE"


def main(arguments: list[str]) -> int:
    """Read one JSON board from standard input, write it with date, versions and machine."""
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    board = json.load(sys.stdin)
    for row in board["rows"]:
        for name in ("value", "low", "high"):
            if row[name] is not None:
                row[name] = round(row[name], 4)
    packages = ("wsmem", "ir_measures", "bm25s", "numpy", "scipy")
    saved = {
        **circumstances(COMMAND),
        "versions": {name: metadata.version(name) for name in packages},
        "rows": board["rows"],
        "skipped": board["skipped"],
    }
    lines = ",\n".join(f"  {json.dumps(row)}" for row in saved.pop("rows"))
    head = json.dumps(saved, indent=1).removesuffix("\n}")
    Path(arguments[0]).write_text(f'{head},\n "rows": [\n{lines}\n ]\n}}\n', encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
