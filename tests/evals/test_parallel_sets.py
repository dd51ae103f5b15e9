"""Promises about comparing two languages pair by pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from labelled_sets import document, query, write_lines

from wsmem.evals.catalogue import Source
from wsmem.evals.describing import read_sets
from wsmem.evals.evaluate import evaluate
from wsmem.evals.parallel import (
    ALL,
    WORKSPACE,
    Pair,
    difference,
    parallel_chart,
    parallel_frame,
    parallel_groups,
    parallel_pairs,
)
from wsmem.evals.plan import Plan
from wsmem.evals.run import write_run

if TYPE_CHECKING:
    from pathlib import Path

SYSTEM, MEASURE = "wsmem:default", "nDCG@10"


def pair(name: str, first: float, second: float, *, scope: str = "shop", kind: str = "x") -> Pair:
    return Pair(
        first=f"zh-{name}",
        second=f"en-{name}",
        first_value=first,
        second_value=second,
        groups={WORKSPACE: (scope,), "kind": (kind,)},
    )


PAIRS = (
    pair("1", 0.5, 1.0),
    pair("2", 1.0, 1.0, kind="y"),
    pair("3", 0.25, 0.75, scope="farm"),
    pair("4", 1.0, 0.0, scope="farm"),
)


def test_groups_hold_their_pairs_and_all_comes_last() -> None:
    groups = parallel_groups(PAIRS, "kind")
    assert {name: len(found) for name, found in groups.items()} == {"x": 3, "y": 1, ALL: 4}
    assert list(parallel_groups(PAIRS, "kind", least=2)) == ["x", ALL]


def test_a_difference_is_second_minus_first_with_an_interval_over_workspaces() -> None:
    found = difference(PAIRS)
    assert found.value == pytest.approx(0.0)
    assert found.groups == 2
    # Two workspaces drawn twice: their means are 0.25 and -0.25.
    assert (found.low, found.high) == pytest.approx((-0.25, 0.25))


def test_within_one_workspace_queries_are_drawn() -> None:
    assert difference(PAIRS[:2]).groups == 2


def test_nothing_to_compare_has_no_difference() -> None:
    assert difference([]).value is None
    (row,) = parallel_frame({ALL: []}, names=("zh", "en")).to_dict("records")
    assert (row["difference"], row["95 %"], row["zh"]) == ("–", "–", "–")


def test_the_table_says_both_means_and_who_was_ahead_how_often() -> None:
    frame = parallel_frame(parallel_groups(PAIRS, WORKSPACE), names=("zh", "en"))
    _, shop, every = frame.reset_index().to_dict("records")
    assert list(frame.index) == ["farm", "shop", ALL]
    assert (shop["zh"], shop["en"], shop["difference"]) == ("0.750", "1.000", "+0.250")
    assert [every[name] for name in ("zh better", "equal", "en better")] == [1, 1, 2]


def test_the_chart_has_a_line_a_group_with_its_interval() -> None:
    groups = parallel_groups(PAIRS, WORKSPACE)
    chart = parallel_chart(groups, measure="nDCG@10, en − zh", by="workspace", system=SYSTEM)
    assert [line.name for line in chart.lines] == ["farm", "shop", ALL]
    assert chart.lines[-1].cells[SYSTEM].low == pytest.approx(-0.25)
    assert str(chart) == "nDCG@10, en − zh by workspace: 3 lines, 1 system"
    assert chart.png().startswith(b"\x89PNG")


def write(folder: Path, documents: list[str], queries: list[tuple[str, str]]) -> None:
    (folder / "qrels").mkdir(parents=True)
    name = folder.name
    lines = [document(f"{name}-d{n}", text, scope="s") for n, text in enumerate(documents)]
    write_lines(folder / "corpus.jsonl", lines)
    asked = [
        query(f"{name}-q{n}", text, scope="s", parallel=twin)
        for n, (text, twin) in enumerate(queries)
    ]
    write_lines(folder / "queries.jsonl", asked)
    labels = [f"{name}-q{n}\t{name}-d{n}\t2" for n in range(len(queries))]
    text = "\n".join(["query-id\tcorpus-id\tscore", *labels, ""])
    (folder / "qrels" / "test.tsv").write_text(text, encoding="utf-8")


def test_pairs_are_queries_that_name_each_other_and_were_scored_on_both_sides(
    tmp_path: Path,
) -> None:
    write(tmp_path / "zh", ["端口八十", "备份"], [("端口", "en-q0"), ("备份", "en-q9")])
    write(tmp_path / "en", ["port eighty"], [("harbour", "zh-q0")])
    sources = [Source(name=name, path=tmp_path / name) for name in ("zh", "en")]
    plan = Plan.of(sources, systems=[SYSTEM], measures=[MEASURE], jobs=1)
    run = write_run(evaluate(plan), tmp_path / "run")
    sets = read_sets([tmp_path / "zh", tmp_path / "en"])
    (found,) = parallel_pairs(run, sets["zh"], sets["en"], system=SYSTEM, measure=MEASURE)
    assert (found.first, found.second, found.scope) == ("zh-q0", "en-q0", "s")
    assert (found.first_value, found.second_value, found.difference) == (1.0, 0.0, -1.0)
