"""Write the generated parts of README.md and docs/, or check that they are what is committed.

    python benchmarks/docs.py [--check]

Generated are the command reference, the tables of signals, gains and thresholds, and the board of
the README (from the saved figures in benchmarks/results/, which are measured by hand and dated).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import typer
from typer.testing import CliRunner

from wsmem.cli.app import application
from wsmem.cli.recall import parser as recall_parser
from wsmem.evals.tuning.assess import TUNED
from wsmem.evals.tuning.kept import kept_study
from wsmem.evals.tuning.tables import abstention_rows
from wsmem.retrieval.profile import load_profile
from wsmem.retrieval.signals import SIGNALS

ROOT = Path(__file__).resolve().parents[1]
BOARD = ROOT / "benchmarks" / "results" / "public-sets.json"
PROFILES = ("default", "reference")
"""Those whose weights differ; `strict` has the weights of `default`."""
SHIPPED_AS = {TUNED: "default"}
FALSE_RECALL_STEPS = (0.1, 0.2, 0.3)
"""Between the two shipped thresholds, the best that recalls no more than this in vain is shown."""
HELDBACK = ROOT / "benchmarks" / "results" / "heldback-recall.json"
PLAIN = {"COLUMNS": "88", "TERM": "dumb", "NO_COLOR": "1"}
MEASURES = ("nDCG@10", "RR@10", "R@5", "Success@1", "FalseRecall")


def main(arguments: list[str]) -> int:
    """Write what is stale, or with `--check` only name it; 1 if something was to be named."""
    check = arguments == ["--check"]
    stale = [path for path, text in generated().items() if _read(path) != text]
    for path in stale:
        if not check:
            path.write_text(generated()[path], encoding="utf-8")
        print(f"{path.relative_to(ROOT)}: {'stale; run: make docs' if check else 'written'}")
    return int(check and bool(stale))


def generated() -> dict[Path, str]:
    """Every page with generated parts, as it must read."""
    ranking, readme = ROOT / "docs" / "ranking.md", ROOT / "README.md"
    measuring = ROOT / "docs" / "measuring.md"
    study = kept_study()
    measured = with_part(_read(measuring), "gains", gain_table(study.results["gains"]))
    measured = with_part(measured, "heldback", board_table(json.loads(_read(HELDBACK))))
    measured = with_part(measured, "abstention", abstention_table(abstention_rows(study)))
    return {
        ROOT / "docs" / "cli.md": command_reference(),
        measuring: measured,
        ranking: with_part(_read(ranking), "signals", signal_table()),
        readme: with_part(_read(readme), "board", board_table(json.loads(_read(BOARD)))),
    }


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def with_part(page: str, name: str, part: str) -> str:
    """The page with everything between `<!-- name -->` and `<!-- /name -->` replaced."""
    before, _, rest = page.partition(f"<!-- {name} -->\n")
    _, _, after = rest.partition(f"<!-- /{name} -->")
    if not rest or not after:
        raise SystemExit(f"a page has no place for {name!r}: it needs <!-- {name} --> marks")
    return f"{before}<!-- {name} -->\n{part}<!-- /{name} -->{after}"


def signal_table() -> str:
    """Signals with their meaning and the weight each shipped profile gives them."""
    profiles = [load_profile(name) for name in PROFILES]
    head = ["signal", "what an entry earns", *(f"`{profile.name}`" for profile in profiles)]
    rows = [
        [
            f"`{signal.name}`",
            signal.meaning,
            *(f"{profile.weights.get(signal.name, 0):g}" for profile in profiles),
        ]
        for signal in SIGNALS
    ]
    return markdown_table(head, rows)


def gain_table(gains: list[dict[str, Any]]) -> str:
    """What held-out weights gain on average, and on how many sets they are better or worse."""
    held_out = [row for row in gains if row["part"] == "validation"]
    means = [row for row in held_out if row["dataset"] == "mean" and row["over"] != "default"]
    rows = []
    for mean in means:
        verdicts = [
            row["verdict"]
            for row in held_out
            if row["over"] == mean["over"] and row["dataset"] != "mean"
        ]
        rows.append(
            [
                f"`{mean['over']}`",
                f"{mean['first']:.3f}",
                f"{mean['second']:.3f}",
                f"{mean['difference']:+.3f} [{mean['low']:+.3f}, {mean['high']:+.3f}]",
                mean["verdict"],
                " / ".join(
                    str(verdicts.count(name)) for name in ("better", "inconclusive", "worse")
                ),
            ]
        )
    head = ["over", "its mean", "held-out mean", "gain, 95 %", "verdict", "sets better / ? / worse"]
    return markdown_table(head, rows)


def abstention_table(thresholds: list[dict[str, Any]]) -> str:
    """What each kind of sets gives under a few thresholds, the strictest first."""
    shown = [row for row in thresholds if row["profile"]]
    for most in FALSE_RECALL_STEPS:
        fitting = [row for row in thresholds if _chosen_on(row)["false_recall"] <= most]
        shown += fitting[-1:]  # of the front, the last has the greatest nDCG
    shown = [row for row in thresholds if row in shown]
    rows = []
    for row in shown:
        name = f"`{SHIPPED_AS.get(row['profile'], row['profile'])}`, " if row["profile"] else ""
        cells = [f"{name}{row['evidence_share']:g} of {row['evidence_cap']:g}"]
        for point in row["by"].values():
            recalled = f"{point['recalled']} of {point['nothing']}"
            cells += [f"{point['ndcg']:.3f}", f"{point['false_recall']:.3f} ({recalled})"]
        rows.append(cells)
    kinds = list(shown[0]["by"])
    head = [
        "threshold",
        *(f"{figure}, {kind}" for kind in kinds for figure in ("nDCG@10", "FalseRecall")),
    ]
    return markdown_table(head, rows)


def _chosen_on(row: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = row["by"]["chosen on"]
    return found


def board_table(saved: dict[str, Any]) -> str:
    """Means over the saved sets: a row a system, a column a measure, with intervals."""
    measures = [name for name in MEASURES if any(r["measure"] == name for r in saved["rows"])]
    means = {
        (row["system"], row["measure"]): row for row in saved["rows"] if row["dataset"] == "mean"
    }
    systems = list(dict.fromkeys(system for system, _ in means))
    rows = [
        [f"`{system}`", *(cell(means.get((system, measure))) for measure in measures)]
        for system in systems
    ]
    return markdown_table(["", *measures], rows) + f"\nMeasured {saved['measured']}.\n"


def cell(row: dict[str, Any] | None) -> str:
    """A mean with its interval."""
    if row is None or row["value"] is None:
        return ""
    return f"{row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"


def markdown_table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table; numbers stand right."""
    rule = [
        "---",
        *("---" if column and not column[0].isdigit() else "--:" for column in rows[0][1:]),
    ]
    lines = [head, rule, *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def command_reference() -> str:
    """Every command with its help, as the program prints it."""
    sections = ["# Command line\n", "Generated from the program's own help.\n"]
    sections.append(section("wsmem recall", recall_parser().format_help()))
    for name in command_names(typer.main.get_command(application())):
        result = CliRunner().invoke(application(), [*name.split(), "--help"], env=PLAIN)
        if result.exit_code:
            raise SystemExit(f"wsmem {name} --help failed: {result.output}")
        sections.append(
            section(f"wsmem {name}", result.output.replace("Usage: root ", "Usage: wsmem "))
        )
    return "\n".join(sections)


def command_names(command: Any, name: str = "") -> list[str]:
    """Full names of all commands below one; a group gives those below it."""
    below = getattr(command, "commands", None)
    if below is None:
        return [name]
    return [
        leaf for child in below for leaf in command_names(below[child], f"{name} {child}".strip())
    ]


def section(name: str, text: str) -> str:
    """One command."""
    body = "\n".join(line.rstrip() for line in text.strip().splitlines())
    return f"## {name}\n\n```text\n{body}\n```\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
