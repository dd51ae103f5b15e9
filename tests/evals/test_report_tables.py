from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from wsmem.errors import UnknownNameError
from wsmem.evals.run import Run
from wsmem.evals.tables import (
    board_lines,
    datasets_frame,
    lines_frame,
    overall_frame,
    overall_line,
    slice_lines,
    wins_frame,
    worst_frame,
)

if TYPE_CHECKING:
    from pathlib import Path

Figure = tuple[float | None, float | None, float | None]


def run_with(
    folder: Path,
    figures: dict[str, dict[str, Figure]],
    *,
    measure: str = "nDCG@10",
    slices: list[dict[str, Any]] | None = None,
) -> Run:
    """A run with the given figures by dataset and system; a dataset is scored on 10 queries."""
    systems = list(dict.fromkeys(name for found in figures.values() for name in found))
    rows = [
        {"dataset": dataset, "system": system, "measure": measure, "value": value, "low": low,
         "high": high, "n": 2 if dataset == "mean" else 10}
        for dataset, found in figures.items()
        for system, (value, low, high) in found.items()
    ]  # fmt: skip
    manifest = {
        "datasets": {name: {} for name in figures if name != "mean"},
        "systems": {name: {} for name in systems},
        "settings": {"systems": systems, "measures": [measure]},
        "files": {},
    }
    folder.mkdir(exist_ok=True)
    written = (
        ("manifest.json", manifest),
        ("board.json", {"rows": rows, "skipped": []}),
        ("slices.json", {"rows": slices or []}),
    )
    for name, value in written:
        (folder / name).write_text(json.dumps(value), encoding="utf-8")
    return Run.load(folder)


@pytest.mark.parametrize(
    ("measure", "figures", "expected"),
    [
        pytest.param(
            "nDCG@10",
            {"a": (0.9, 0.85, 0.95), "b": (0.7, 0.6, 0.8)},
            {"a": "best", "b": ""},
            id="apart",
        ),
        pytest.param(
            "nDCG@10",
            {"a": (0.9, 0.8, 0.95), "b": (0.7, 0.6, 0.8)},
            {"a": "level", "b": "level"},
            id="touching",
        ),
        pytest.param(
            "nDCG@10",
            {"a": (0.9, 0.85, 0.95), "b": (0.88, 0.82, 0.93), "c": (0.5, 0.4, 0.6)},
            {"a": "level", "b": "level", "c": ""},
            id="two-of-three",
        ),
        pytest.param(
            "FalseRecall",
            {"a": (0.9, 0.85, 0.95), "b": (0.1, 0.0, 0.2)},
            {"a": "", "b": "best"},
            id="less-is-better",
        ),
        pytest.param(
            "nDCG@10", {"a": (0.9, 0.8, 1.0), "b": (0.9, 0.8, 1.0)}, {"a": "", "b": ""}, id="alike"
        ),
        pytest.param(
            "nDCG@10",
            {"a": (0.9, None, None), "b": (0.7, None, None)},
            {"a": "level", "b": "level"},
            id="nothing-is-sure-without-intervals",
        ),
        pytest.param(
            "nDCG@10", {"a": (0.9, 0.8, 1.0), "b": (None, None, None)}, {"a": "", "b": ""},
            id="alone",
        ),
        pytest.param(
            "Judged@10",
            {"a": (0.9, 0.85, 0.95), "b": (0.7, 0.6, 0.8)},
            {"a": "", "b": ""},
            id="judged-is-no-merit",
        ),
    ],
)  # fmt: skip
def test_best_is_said_only_where_intervals_allow_it(
    tmp_path: Path, measure: str, figures: dict[str, Figure], expected: dict[str, str]
) -> None:
    run = run_with(tmp_path, {"set": figures}, measure=measure)
    (line,) = board_lines(run, measure)
    assert {system: cell.standing for system, cell in line.cells.items()} == expected


def test_the_mean_comes_last_and_counts_all_queries(tmp_path: Path) -> None:
    figures: dict[str, dict[str, Figure]] = {
        "one": {"a": (0.5, 0.4, 0.6)},
        "two": {"a": (0.7, 0.6, 0.8)},
        "mean": {"a": (0.6, 0.5, 0.7)},
    }
    run = run_with(tmp_path, figures)
    lines = board_lines(run, "nDCG@10")
    assert [(line.name, line.queries, line.sets, line.is_mean) for line in lines] == [
        ("one", 10, 1, False),
        ("two", 10, 1, False),
        ("mean", 20, 2, True),
    ]
    assert overall_line(run, "nDCG@10") == lines[-1]


def test_the_only_set_stands_for_all(tmp_path: Path) -> None:
    run = run_with(tmp_path, {"one": {"a": (0.5, 0.4, 0.6)}})
    line = overall_line(run, "nDCG@10")
    assert line is not None
    assert line.name == "one"
    assert overall_frame(run).loc["a", "nDCG@10"] == "0.500 [0.400–0.600]"


def test_what_was_not_scored_has_no_line(tmp_path: Path) -> None:
    run = run_with(tmp_path, {"one": {"a": (None, None, None)}})
    assert board_lines(run, "nDCG@10") == []
    assert overall_line(run, "nDCG@10") is None
    assert slice_lines(run, "lang", "nDCG@10") == []
    assert overall_frame(run).loc["a", "nDCG@10"] == "–"


def row(
    dataset: str, slice_: str, value: float | None, n: int, system: str = "a"
) -> dict[str, Any]:
    return {
        "dataset": dataset,
        "system": system,
        "dimension": "query length",
        "slice": slice_,
        "measure": "nDCG@10",
        "value": value,
        "low": value,
        "high": value,
        "n": n,
    }


def test_a_group_of_several_sets_shows_their_mean_and_all_their_queries(tmp_path: Path) -> None:
    slices = [
        row("one", "9-20", 0.4, 5),
        row("one", "0-8", 0.9, 3),
        row("two", "9-20", 0.8, 7),
        row("two", "201+", None, 0),
        row("mean", "9-20", 0.6, 2),
    ]
    figures: dict[str, dict[str, Figure]] = {
        "one": {"a": (0.5, 0.4, 0.6)},
        "two": {"a": (0.7, 0.6, 0.8)},
    }
    lines = slice_lines(run_with(tmp_path, figures, slices=slices), "query length", "nDCG@10")
    assert [(line.name, line.queries, line.sets, line.cells["a"].value) for line in lines] == [
        ("0-8", 3, 1, 0.9),
        ("9-20", 12, 2, 0.6),
    ]
    frame = lines_frame(lines, systems=["a", "missing"], name="length")
    assert frame.to_dict("records")[1] == {
        "queries": 12,
        "a": "0.600 [0.600–0.600]",
        "missing": "–",
    }


def test_a_system_that_lacks_a_set_has_no_figure_for_the_group(tmp_path: Path) -> None:
    slices = [
        row("one", "0-8", 0.4, 5),
        row("two", "0-8", 0.8, 5),
        row("one", "0-8", 0.9, 5, system="b"),
        row("mean", "0-8", 0.6, 2),
    ]
    figures: dict[str, dict[str, Figure]] = {
        "one": {"a": (0.5, 0.4, 0.6), "b": (0.5, 0.4, 0.6)},
        "two": {"a": (0.7, 0.6, 0.8)},
    }
    (line,) = slice_lines(run_with(tmp_path, figures, slices=slices), "query length", "nDCG@10")
    assert list(line.cells) == ["a"]


def test_bytes_are_whole_numbers(tmp_path: Path) -> None:
    run = run_with(tmp_path, {"one": {"a": (1234.4, 1200.0, 1300.2)}}, measure="Bytes@8")
    (line,) = board_lines(run, "Bytes@8")
    assert line.cells["a"].with_interval == "1,234 [1,200–1,300]"


def test_sets_and_worst_queries_are_frames(tmp_path: Path) -> None:
    run = run_with(tmp_path, {"one": {"a": (0.5, 0.4, 0.6)}})
    manifest = dict(run.manifest)
    manifest["datasets"] = {"one": {"documents": 4, "queries": 3, "judged": 2}}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    item = {"dataset": "one", "system": "a", "query": "q", "text": "部署", "value": 0.12345}
    lines = [
        item | {"failure": "missed", "slices": {"slice": ["typo", "word"]}},
        item | {"failure": "missed", "slices": {}, "system": "b"},
        item | {"failure": "false-recall", "slices": {}},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / "worst.jsonl").write_text(text, encoding="utf-8")
    run = Run.load(tmp_path)
    assert datasets_frame(run).to_dict("index") == {
        "one": {"documents": 4, "queries": 3, "with an answer": 2}
    }
    assert worst_frame(run, "a").to_dict("index") == {
        ("one", "q"): {"text": "部署", "slices": "typo, word", "value": 0.123}
    }
    assert worst_frame(run, "c").empty


def test_unknown_names_say_what_there_is(tmp_path: Path) -> None:
    run = run_with(tmp_path, {"one": {"a": (0.5, 0.4, 0.6)}})
    with pytest.raises(UnknownNameError, match="no measure named 'RR@10'; there are: nDCG@10"):
        board_lines(run, "RR@10")
    with pytest.raises(UnknownNameError, match="no dimension named 'size'; there are: lang"):
        slice_lines(run, "size", "nDCG@10")


def test_wins_are_counted_query_by_query(tmp_path: Path) -> None:
    run = run_with(tmp_path, {"one": {"a": (0.5, 0.4, 0.6), "b": (0.5, 0.4, 0.6)}})
    scores = {"a": (1.0, 0.5, 0.2, None), "b": (0.5, 0.5, 0.3, None)}
    manifest = dict(run.manifest)
    manifest["files"] = {
        "one": {"queries": "q.jsonl", "results": {s: f"{s}.jsonl" for s in scores}}
    }
    (tmp_path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (tmp_path / "queries").mkdir()
    (tmp_path / "results").mkdir()
    fact: dict[str, Any] = {
        "text": "",
        "scope": None,
        "answerable": True,
        "relevant": {},
        "slices": {},
    }
    lines = "".join(json.dumps({"id": f"q{n}"} | fact) + "\n" for n in range(4))
    (tmp_path / "queries" / "q.jsonl").write_text(lines, encoding="utf-8")
    for system, values in scores.items():
        lines = "".join(
            json.dumps({"query": f"q{n}", "ranked": [], "bytes": 0, "scores": {"nDCG@10": value}})
            + "\n"
            for n, value in enumerate(values)
        )
        (tmp_path / "results" / f"{system}.jsonl").write_text(lines, encoding="utf-8")
    frame = wins_frame(Run.load(tmp_path), "a", "b", "nDCG@10")
    assert frame.to_dict("index") == {"one": {"better": 1, "equal": 1, "worse": 1}}
