"""Ways to break the ranking on purpose, in its real functions, and to disturb it harmlessly."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from wsmem.evals.gate import running
from wsmem.evals.systems import wsmem as systems
from wsmem.retrieval import order, profile, stream
from wsmem.retrieval.index import Index
from wsmem.text import analysis, stemming

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    import pytest

    from wsmem.records import Match, MemoryEntry
    from wsmem.retrieval.profile import Profile


def everywhere(monkeypatch: pytest.MonkeyPatch, found: Any, instead: Any) -> None:
    """Put something in place of a function in every module of wsmem that has imported it."""
    places = [
        (module, name)
        for module in list(sys.modules.values())
        if getattr(module, "__name__", "").startswith("wsmem")
        for name, value in list(vars(module).items())
        if value is found
    ]
    assert places, f"{found} is used nowhere"
    for module, name in places:
        monkeypatch.setattr(module, name, instead)
    forget_terms()


def forget_terms() -> None:
    """What the analysis remembers was made by other functions."""
    for module in (analysis, stemming):
        for value in list(vars(module).values()):
            if hasattr(value, "cache_clear"):
                value.cache_clear()


# Tokenisers


def lose_every_other_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    """An off-by-one in the step: 部署脚本 gives 部署 and 脚本, but not 署脚."""
    _pair_by(monkeypatch, every_other_pair)


def every_other_pair(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(0, len(run), 2)]


def lose_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chinese letters stand alone, so that any text matches any other."""
    _pair_by(monkeypatch, list)


def _pair_by(monkeypatch: pytest.MonkeyPatch, pairs: Callable[[str], list[str]]) -> None:
    everywhere(monkeypatch, analysis.unspaced_terms, pairs)
    # Very many runs are paired elsewhere, all at once; here each goes through the function.
    monkeypatch.setattr(stream, "_FEW", sys.maxsize)


def lose_stems(monkeypatch: pytest.MonkeyPatch) -> None:
    """English words match in one form alone."""
    everywhere(monkeypatch, stemming.stemmed, str)


# Weights


def ship_edited(
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    name: str,
    change: Callable[[dict[str, Any]], object],
) -> Path:
    """Somebody edits the file of a shipped profile: here a copy, which ships in its place."""
    shutil.copytree(profile._SHIPPED, folder, dirs_exist_ok=True)
    path = folder / f"{name}.json"
    raw = json.loads(path.read_text(encoding="utf-8"))
    change(raw)
    path.write_text(json.dumps(raw), encoding="utf-8")
    monkeypatch.setattr(profile, "_SHIPPED", str(folder))
    return path


def halve(signal: str) -> Callable[[dict[str, Any]], object]:
    """An edit of a profile's file: one weight is half of what it was."""
    return lambda raw: raw["weights"].update({signal: raw["weights"][signal] / 2})


def change_weight(monkeypatch: pytest.MonkeyPatch, signal: str, factor: float) -> None:
    """Every profile that has the signal weighs it so many times as much."""

    # This may be one that changes another weight already.
    load: Callable[[str], Profile] = vars(systems)["load_profile"]

    def changed(name: str) -> Profile:
        found = load(name)
        weight = found.weights.get(signal, 0.0)
        return found.with_weights(**{signal: weight * factor})

    for module in (systems, running):
        monkeypatch.setattr(module, "load_profile", changed)


# Indexes


def never_update(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was indexed first is what is found for ever."""
    monkeypatch.setattr(Index, "updated", lambda self, *_args, **_kwargs: self)


def miss_last(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """The youngest entries never reach the index."""

    def without(entries: Sequence[MemoryEntry]) -> Iterable[MemoryEntry]:
        young = sorted(entries, key=lambda entry: (entry.updated_at or "", entry.id))[-count:]
        missed = {entry.id for entry in young}
        return [entry for entry in entries if entry.id not in missed]

    _update_with(monkeypatch, without)


def serve_superseded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries that were superseded stay in the index."""

    def as_before(entries: Sequence[MemoryEntry]) -> Iterable[MemoryEntry]:
        return [entry if entry.recallable else replace(entry, status="active") for entry in entries]

    _update_with(monkeypatch, as_before)


def _update_with(
    monkeypatch: pytest.MonkeyPatch,
    seen: Callable[[Sequence[MemoryEntry]], Iterable[MemoryEntry]],
) -> None:
    updated = Index.updated

    def broken(self: Index, entries: Iterable[MemoryEntry], *args: Any, **kwargs: Any) -> Index:
        return updated(self, seen(list(entries)), *args, **kwargs)

    monkeypatch.setattr(Index, "updated", broken)


# Harmless


def jitter_scores(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Sums made in another order: scores differ below the digits that count for ties."""
    random = np.random.default_rng(seed)
    in_order = order.in_order

    def jittered(matches: Sequence[Match], profile: Profile) -> list[Match]:
        moved = [
            replace(match, score=match.score + 1e-13 * float(random.uniform(-1, 1)))
            for match in matches
        ]
        return in_order(moved, profile)

    everywhere(monkeypatch, in_order, jittered)


def draw_ties(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Equal scores are listed in an order that is drawn."""
    random = np.random.default_rng(seed)
    in_order = order.in_order

    def drawn(matches: Sequence[Match], profile: Profile) -> list[Match]:
        ordered = in_order(matches, profile)
        places = random.permutation(len(ordered)).tolist()
        shuffled = [ordered[place] for place in places]
        return sorted(shuffled, key=lambda match: -round(match.score, order.TIE_DIGITS))

    everywhere(monkeypatch, in_order, drawn)
