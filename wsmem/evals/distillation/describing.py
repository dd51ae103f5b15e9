"""What sets of cases for distillers hold, as data frames; nothing is distilled."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, get_args

from wsmem.evals.describing import frame_of
from wsmem.evals.distillation.cases import SPLITS
from wsmem.records import OperationKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from wsmem.evals.distillation.cases import CaseSet


def case_sets_frame(sets: Mapping[str, CaseSet]) -> pd.DataFrame:
    """One row a set and split: cases, those with nothing to keep, and expected operations by kind.

    Kinds that no set expects have no column.
    """
    kinds = _expected(sets)
    rows: list[dict[str, Any]] = []
    for name, found in sets.items():
        for split in SPLITS:
            cases = found.of_split(split)
            wanted = Counter(operation.op for case in cases for operation in case.expected)
            rows.append(
                {
                    "dataset": name,
                    "split": split,
                    "cases": len(cases),
                    "nothing to keep": sum(not case.expected for case in cases),
                    "messages": sum(len(case.messages) for case in cases),
                    **{kind: wanted[kind] for kind in kinds},
                }
            )
    return frame_of(rows, ["dataset", "split"])


def case_slices_frame(sets: Mapping[str, CaseSet]) -> pd.DataFrame:
    """One row a slice, one column a set: cases in `train / dev / test`."""
    names = sorted(
        {name for found in sets.values() for case in found.cases for name in case.slices}
    )
    rows = [
        {"slice": name}
        | {
            column: " / ".join(
                str(sum(name in case.slices for case in found.of_split(split))) for split in SPLITS
            )
            for column, found in sets.items()
        }
        for name in names
    ]
    return frame_of(rows, "slice")


def _expected(sets: Mapping[str, CaseSet]) -> list[OperationKind]:
    found = {op.op for one in sets.values() for case in one.cases for op in case.expected}
    return [kind for kind in get_args(OperationKind) if kind in found]
