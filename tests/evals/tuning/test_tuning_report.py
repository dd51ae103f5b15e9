from __future__ import annotations

import html
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from labelled_sets import write_set

from wsmem.cli.main import main
from wsmem.errors import RunFolderError
from wsmem.evals.catalogue import Source
from wsmem.evals.tuning import kept
from wsmem.evals.tuning.frames import (
    ablation_frame,
    gains_frame,
    peers_frame,
    verdicts_frame,
    weights_frame,
)
from wsmem.evals.tuning.kept import keep, kept_study
from wsmem.evals.tuning.page import render
from wsmem.evals.tuning.plots import (
    ablation_chart,
    gain_chart,
    learning_chart,
    sampler_chart,
    weights_chart,
)
from wsmem.evals.tuning.search import Search
from wsmem.evals.tuning.space import Space
from wsmem.evals.tuning.tuner import Tuning, tune
from wsmem.retrieval.profile import load_profile

if TYPE_CHECKING:
    from wsmem.evals.tuning.run import TuningRun

SIGNALS = ("length_saturation", "title", "recency")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> TuningRun:
    """A study of two small sets, one with a name that must be escaped."""
    folder = tmp_path_factory.mktemp("report")
    names = ("one<b>", "two")
    sources = [Source(name=name, path=write_set(folder / name)) for name in names]
    return tune(
        Tuning(
            sources=tuple(sources),
            space=Space.of(load_profile("default"), signals=SIGNALS),
            out=folder / "run",
            search=Search(trials=6),
            variants=("bm25:lucene,k1=1.2,b=0.75",),
            jobs=1,
        )
    )


def test_the_page_has_every_part_and_escapes_names(run: TuningRun) -> None:
    page = render(run)
    parts = ("gains-validation", "peers", "weights", "ablation", "learning", "samplers")
    for part in (*parts, "abstention"):
        assert f'id="{part}"' in page
    assert html.escape("one<b>") in page
    assert "one<b>" not in page
    assert page.count("<svg") == 6
    assert "http" not in page.split("<body>")[1].replace("http-equiv", "")


def test_a_fit_alone_is_reported_without_the_parts_it_lacks(run: TuningRun) -> None:
    fit = [row for row in run.results["searches"] if row["name"] == "fit"]
    bare = replace(
        run, results={**run.results, "searches": fit, "gains": [], "curve": [], "figures": []}
    )
    page = render(bare)
    assert 'id="weights"' in page
    assert 'id="learning"' not in page
    assert "gains-validation" not in page


def test_report_writes_the_page_of_either_kind_of_run(
    run: TuningRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "page.html"
    assert main(["report", str(run.path), "--out", str(out)]) == 0
    assert capsys.readouterr().out.strip() == str(out)
    assert "Tuned weights" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "draw", [gain_chart, weights_chart, ablation_chart, learning_chart, sampler_chart]
)
def test_charts_draw_themselves_the_same_each_time(run: TuningRun, draw: type) -> None:
    chart = draw(run)
    assert chart.png().startswith(b"\x89PNG")
    assert chart.svg() == draw(run).svg()
    assert str(chart) in repr(chart)


def test_frames_hold_what_the_run_holds(run: TuningRun) -> None:
    assert list(weights_frame(run).index) == [*SIGNALS, "evidence_share", "evidence_cap"]
    assert set(ablation_frame(run).index) == set(SIGNALS)
    assert {"one<b>", "two", "mean"} == set(gains_frame(run).index)
    assert {"default", "wsmem:reference"} < set(verdicts_frame(run).index)
    systems = peers_frame(run)
    assert {"held-out", "tuned", "default", "bm25:lucene,k1=1.2,b=0.75"} <= set(systems.index)
    assert list(systems["ndcg"]) == sorted(systems["ndcg"], reverse=True)


def test_what_is_kept_of_a_study_is_small_and_names_no_place(
    run: TuningRun, tmp_path: Path
) -> None:
    small = keep(run, tmp_path / "kept", command=["wsmem", "tune"])
    assert small.results == run.results
    assert small.profile == run.profile
    assert small.manifest["command"] == ["wsmem", "tune"]
    text = "".join(path.read_text(encoding="utf-8") for path in small.path.iterdir())
    assert str(tmp_path.parent) not in text
    assert str(Path.home()) not in text
    assert keep(run, tmp_path / "kept", command=["again"]).manifest["command"] == ["again"]


def test_without_a_checkout_there_is_no_kept_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "FOLDER", tmp_path / "none")
    with pytest.raises(RunFolderError, match="tune_default"):
        kept_study()
