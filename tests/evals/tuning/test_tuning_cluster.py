from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cluster_kit import Cluster
from labelled_sets import write_set

from wsmem.evals.catalogue import Source
from wsmem.evals.ledger import LEDGER, Ledger
from wsmem.evals.tuning.search import Search
from wsmem.evals.tuning.space import Space
from wsmem.evals.tuning.tuner import Tuning, tune
from wsmem.retrieval.profile import load_profile

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def small_study(folder: Path) -> Tuning:
    """A fit and one search for each of the three sets that is left out."""
    names = ("one", "two", "three")
    sources = [Source(name=name, path=write_set(folder / "sets" / name)) for name in names]
    return Tuning(
        sources=tuple(sources),
        space=Space.of(load_profile("default"), signals=["coverage", "title", "tags"]),
        out=folder / "alone",
        search=Search(trials=20),
        steps=("folds",),
        jobs=1,
    )


def test_a_study_on_a_cluster_finds_the_same_though_a_worker_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = small_study(tmp_path)
    alone = tune(study)
    place = tmp_path / "cluster"
    place.mkdir()
    with Cluster.start(place) as cluster:
        first, second = cluster.worker(), cluster.worker()
        recorded: list[str] = []
        record = Ledger.record

        def kill_after_the_first(ledger: Ledger, key: str, result: Any, *, unit: str = "") -> None:
            record(ledger, key, result, unit=unit)
            recorded.append(unit)
            if len(recorded) == 1:
                os.kill(first.pid, signal.SIGKILL)

        monkeypatch.setattr(Ledger, "record", kill_after_the_first)
        far = tune(replace(study, out=tmp_path / "far", cluster=cluster.address))
        assert first.wait() == -signal.SIGKILL
        assert second.poll() is None
    assert len(set(recorded)) == len(recorded) == len(alone.searches)
    assert far.searches == alone.searches
    assert far.results == alone.results
    weights = ("weights", "evidence_share")
    assert [far.profile[name] for name in weights] == [alone.profile[name] for name in weights]
    kept = [json.loads(line)["key"] for line in (far.path / LEDGER).read_text().splitlines()]
    assert len(kept) == len(set(kept))
