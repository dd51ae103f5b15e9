"""Measures of benchmarks whose answers rest on evidence: all of it, some of it, and their nDCG.

`R@k` is the share of the evidence among the first k. LongMemEval reports by its side whether any
piece of it is there (`RecallAny@k`, the field's `Success@k`), whether all of it is (`RecallAll@k`),
and an nDCG of its own (`nDCGAny@k`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

RECALL_ANY, RECALL_ALL, NDCG_ANY = "RecallAny", "RecallAll", "nDCGAny"
EVIDENCE = (RECALL_ANY, RECALL_ALL, NDCG_ANY)
EVIDENCE_SHARES = frozenset({RECALL_ANY, RECALL_ALL})
"""Those that are 0 or 1 for every query."""


def evidence_value(name: str, ranked: Sequence[str], relevant: Collection[str], *, k: int) -> float:
    """The value of one of `EVIDENCE` for one query.

    Grades count as relevant or not. Fewer than `k` places cannot hold more than `k` pieces of
    evidence, so `RecallAll@k` is 0 for such a query, as in the benchmark.

    Args:
        name: Which measure.
        ranked: Distinct documents, best first.
        relevant: The evidence; at least one.
        k: How many ranks count.
    """
    found = [document in relevant for document in ranked[:k]]
    if name == RECALL_ANY:
        return float(any(found))
    if name == RECALL_ALL:
        return float(sum(found) == len(relevant))
    return _gain(found) / _gain([True] * min(k, len(relevant)))


def _gain(found: Sequence[bool]) -> float:
    """Järvelin and Kekäläinen's first form: ranks 1 and 2 count whole, later ones by log2(rank)."""
    return sum(
        1.0 if rank == 1 else 1.0 / math.log2(rank)
        for rank, hit in enumerate(found, start=1)
        if hit
    )
