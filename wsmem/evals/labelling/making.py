"""What makes a labelling folder of a set, wherever the set comes from."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from wsmem.errors import InvalidInputError
from wsmem.evals.labelling.folder import (
    SETTINGS,
    LabellingSettings,
    write_card_of,
    write_file,
    write_pool,
)
from wsmem.evals.labelling.pooling import pooled, rank_all
from wsmem.evals.reading import load_dataset

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from wsmem.evals.card import Card
    from wsmem.evals.labelling.pooling import Pooling

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeReport:
    """What a labelling folder was made of."""

    folder: Path
    documents: int
    queries: int
    pairs: int
    """How many judgements the whole pool takes."""
    origins: Mapping[str, int]
    """Queries by where they come from."""
    passed_over: Mapping[str, int]
    """Candidates that are no queries, by reason."""
    skipped_systems: Mapping[str, str]


def settings_of(
    pooling: Pooling,
    *,
    split: str,
    scopes: Mapping[str, str] | None = None,
    unanswerable: tuple[str, ...] = (),
) -> LabellingSettings:
    """What a labelling folder tells of itself.

    Args:
        pooling: How its pool is made.
        split: Of its label file.
        scopes: Directories of its workspaces, by scope.
        unanswerable: Queries that are known to have no answer.
    """
    return LabellingSettings(
        seed=pooling.seed,
        depth=pooling.depth,
        systems=pooling.systems,
        split=split,
        scopes=dict(scopes or {}),
        unanswerable=unanswerable,
    )


def finish(
    folder: Path,
    settings: LabellingSettings,
    card: Card,
    pooling: Pooling,
    judged: Mapping[str, Iterable[str]] | None = None,
) -> tuple[int, dict[str, str]]:
    """Write pool, settings and card of a set that stands in a folder.

    Args:
        folder: The set's.
        settings: Without the systems, which are those that can run.
        card: Its checksums are not needed.
        pooling: Systems, depth and seed.
        judged: Documents to be judged beside those that are found, by query.

    Returns:
        How many pairs there are to judge, and the systems that could not run with the reasons.

    Raises:
        InvalidInputError: no system can run.
    """
    write_card_of(folder, card)
    dataset = load_dataset(folder, split=settings.split)
    rankings = rank_all(dataset, dataset.queries, pooling.systems, depth=pooling.depth)
    if not rankings.by_system:
        raise InvalidInputError("none of the systems can run here; nothing was made")
    pool = pooled(rankings, dataset.queries, seed=pooling.seed, further=judged or {})
    write_pool(folder, pool)
    used = settings.model_copy(update={"systems": tuple(rankings.by_system)})
    write_file(folder / SETTINGS, used.model_dump_json(indent=2) + "\n")
    return sum(map(len, pool.values())), dict(rankings.skipped)


def sample(items: Sequence[T], limit: int, *, seed: int) -> list[T]:
    """A seeded sample in the order of the whole."""
    if len(items) <= limit:
        return list(items)
    kept = sorted(random.Random(seed).sample(range(len(items)), limit))
    return [items[place] for place in kept]
