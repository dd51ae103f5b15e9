"""Which searches a tuning study makes, and for what.

- `fit`: on all sets, which gives the profile.
- `fold:GROUP`: without one group of sets, to be scored on them. Sets that share texts are a group.
- `without:SIGNAL`: on all sets without a signal, the rest searched again: what it is worth.
- `curve:N:DRAW`: on N groups drawn at random, to see whether more data would help.
- `sampler:NAME:SEED`: on all sets by each sampler with as many trials, to see which earns its keep.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, get_args

from wsmem.evals.tuning.search import SAMPLERS, Storage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from wsmem.evals.tuning.study import Unit

Step = Literal["folds", "ablation", "curve", "samplers", "peers", "abstention"]
STEPS: tuple[Step, ...] = get_args(Step)
"""What a study does besides the fit."""

FIT, FOLD, WITHOUT, CURVE, SAMPLER = "fit", "fold", "without", "curve", "sampler"
CURVE_DRAWS = 5
CURVE_SIZES = (1, 2, 4, 8, 16, 32)
SAMPLER_SEEDS = 3


def groups(sets: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Sets by group, in the order of the first of each: names that begin alike up to a hyphen.

    `madial-zh` and `madial-en` are translations of one another, `locomo-turns` and
    `locomo-observations` share their questions: neither is unseen after tuning on the other. Where
    that leaves a single group, nothing could be left out, and every set is a group of its own.
    """
    names = tuple(sets)
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(name.split("-", 1)[0], []).append(name)
    if len(found) == 1:
        return {name: (name,) for name in names}
    return {name: tuple(members) for name, members in found.items()}


def group_by_set(sets: Iterable[str]) -> dict[str, str]:
    """The group of each set."""
    return {name: group for group, members in groups(sets).items() for name in members}


def units(
    base: Unit,
    *,
    steps: Sequence[Step],
    data: str = "",
    storage: str | None = None,
    shared: bool = False,
) -> list[Unit]:
    """Every search of a study, longest first where that is known.

    Args:
        base: The fit.
        steps: What to do besides.
        data: Stands for the content of the duels' file.
        storage: Where trials are kept; `None` keeps them in memory.
        shared: Whether other commands work on the same searches in there.
    """
    parts = groups(base.sets)
    found = [base]
    if "folds" in steps and len(parts) > 1:
        found += _folds(base, parts)
    if "ablation" in steps and len(base.space.signals) > 1:
        found += _ablation(base)
    if "curve" in steps:
        found += _curve(base, parts)
    if "samplers" in steps:
        found += _samplers(base)
    if storage is None:
        return found
    return [
        replace(unit, storage=Storage(place=storage, study=unit.study(data, shared=shared)))
        for unit in found
    ]


def _folds(base: Unit, parts: Mapping[str, tuple[str, ...]]) -> Iterator[Unit]:
    """A search without each group."""
    for group, members in parts.items():
        sets = tuple(name for name in base.sets if name not in members)
        yield replace(base, name=f"{FOLD}:{group}", sets=sets)


def _ablation(base: Unit) -> Iterator[Unit]:
    """A search without each signal; without the anchor only where another has a weight to keep."""
    weighed = {*base.space.start.weights} & {*base.space.signals}
    for signal in base.space.signals:
        if signal != base.space.anchor or weighed - {signal}:
            yield replace(base, name=f"{WITHOUT}:{signal}", space=base.space.without(signal))


def _curve(base: Unit, parts: Mapping[str, tuple[str, ...]]) -> Iterator[Unit]:
    """Searches on growing numbers of groups; each draw grows by adding to itself."""
    names = sorted(parts)
    for draw in range(CURVE_DRAWS):
        shuffled = random.Random(f"{base.search.seed}/{draw}").sample(names, len(names))
        for size in CURVE_SIZES:
            if size >= len(names):
                break
            kept = {member for name in shuffled[:size] for member in parts[name]}
            sets = tuple(name for name in base.sets if name in kept)
            yield replace(base, name=f"{CURVE}:{size}:{draw}", sets=sets)


def _samplers(base: Unit) -> Iterator[Unit]:
    """A search by each sampler, from several seeds."""
    for sampler in SAMPLERS:
        for seed in range(base.search.seed, base.search.seed + SAMPLER_SEEDS):
            search = replace(base.search, sampler=sampler, seed=seed)
            yield replace(base, name=f"{SAMPLER}:{sampler}:{seed}", search=search)
