from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from labelled_sets import write_set

from wsmem.cli.main import main
from wsmem.evals.latency.bench import TABLES
from wsmem.evals.latency.run import FIGURES, LatencyRun
from wsmem.evals.run_folder import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SMALL = ("--entries", "20", "--each", "1", "--cold", "1", "--state", "warm", "--peer", "bm25")

Says = tuple[int, str, str]


@pytest.fixture
def wsmem(capsys: pytest.CaptureFixture[str]) -> Callable[..., Says]:
    def call(*arguments: str) -> Says:
        capsys.readouterr()
        status = main(list(arguments))
        said = capsys.readouterr()
        return status, said.out, said.err

    return call


def test_a_measurement_is_printed_kept_and_made_into_a_page(
    wsmem: Callable[..., Says], tmp_path: Path
) -> None:
    labelled = write_set(tmp_path / "small")
    quality = ("--dataset", str(labelled), "--padded", "30", "--cut", "1000", "--asked", "2")
    folder = tmp_path / "run"
    status, out, err = wsmem("bench", "latency", *SMALL, *quality, "--out", str(folder))
    assert status == 0
    assert "20 entries: milliseconds of a recall, and those whole in 250 ms" in out
    assert "wsmem ranking" in out
    assert "nDCG@10" in out
    assert f"run kept in {folder}" in err
    assert {path.name for path in folder.iterdir()} == {MANIFEST, FIGURES}
    status, out, _ = wsmem("bench", "report", str(folder))
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert (status, out.strip()) == (0, str(folder / "report.html"))
    assert page.count("<svg") == 6
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "interrupted" not in page


def test_json_has_every_table_and_no_run_is_kept_unless_asked_for(
    wsmem: Callable[..., Says],
) -> None:
    status, out, err = wsmem("bench", "latency", *SMALL, "--dataset", "none", "--json")
    told: dict[str, Any] = json.loads(out)
    assert status == 0
    assert told.keys() == {"plan", *TABLES}
    assert {row["system"] for row in told["rows"]} == {"wsmem", "wsmem ranking", "bm25"}
    assert "run not kept; --out DIR keeps it" in err


def test_a_peer_that_cannot_run_is_named_with_its_reason(wsmem: Callable[..., Says]) -> None:
    few = ("--entries", "20", "--each", "1", "--state", "warm", "--dataset", "none")
    status, out, err = wsmem("bench", "latency", *few, "--peer", "plugin", "--plugin", "/nowhere")
    assert status == 0
    assert "plugin" not in out
    assert "not measured at 20 entries: plugin: " in err


def test_an_unfinished_run_says_so_on_its_page(wsmem: Callable[..., Says], tmp_path: Path) -> None:
    folder = tmp_path / "run"
    wsmem("bench", "latency", *SMALL, "--dataset", "none", "--out", str(folder))
    path = folder / MANIFEST
    unfinished = path.read_text(encoding="utf-8").replace('"complete": true', '"complete": false')
    path.write_text(unfinished, encoding="utf-8")
    assert not LatencyRun.load(folder).complete
    wsmem("bench", "report", str(folder), "--out", str(tmp_path / "page.html"))
    assert "was interrupted" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(("latency", "--entries", "3"), "too small to be timed", id="tiny-store"),
        pytest.param(("latency", "--state", "hot"), "no state named 'hot'", id="unknown-state"),
        pytest.param(("latency", "--peer", "lucene"), "no peer named", id="unknown-peer"),
        pytest.param(("latency", "--dataset", "nope"), "no dataset named", id="unknown-set"),
        pytest.param(("latency", "--deadline", "0"), "above 0", id="no-deadline"),
        pytest.param(("report", "/nowhere"), "holds no manifest", id="no-run"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(
    wsmem: Callable[..., Says], arguments: tuple[str, ...], said: str
) -> None:
    status, out, err = wsmem("bench", *arguments)
    assert (status, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1


def test_a_folder_with_other_things_is_refused_before_anything_is_measured(
    wsmem: Callable[..., Says], tmp_path: Path
) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    status, _, err = wsmem("bench", "latency", "--out", str(tmp_path))
    assert status == 2
    assert "holds something other than such a run" in err
