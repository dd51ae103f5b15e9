"""Why a query's entries rank as they do: every signal, weight and contribution, as a data frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wsmem.errors import UnknownNameError
from wsmem.evals.entries import pools, surfaced_ids
from wsmem.evals.extras import optional
from wsmem.retrieval.explain import explain
from wsmem.retrieval.index import Index

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from wsmem.evals.dataset import Dataset, Query
    from wsmem.retrieval.explain import Explanation
    from wsmem.retrieval.profile import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedQuery:
    """A query of a dataset with what each entry earned."""

    query: Query
    relevant: Mapping[str, int]
    """Grades of the relevant documents."""
    explanation: Explanation

    def frame(self, *, top: int | None = None) -> pd.DataFrame:
        """`explain_frame` with a column `grade`: 0 where an entry is not labelled relevant."""
        frame = explain_frame(self.explanation, top=top)
        grades = [self.relevant.get(entry, 0) for entry in frame["entry"]]
        frame.insert(4, "grade", grades)
        return frame

    def contributions(self, *, top: int) -> pd.DataFrame:
        """What each signal adds to the score of each of the first entries, one column an entry.

        A column is headed by rank, id and grade. Signals that add nothing to any of them are left
        out; the last row is the score. Rounded to three decimals.
        """
        frame = self.frame(top=top)
        heads = "#" + frame["rank"].astype(str) + " " + frame["entry"]
        frame["column"] = heads + " (grade " + frame["grade"].astype(str) + ")"
        wide = frame.pivot_table(
            index="signal", columns="column", values="contribution", sort=False, aggfunc="sum"
        )
        wide = wide[wide.ne(0).any(axis=1)]
        wide.loc["score"] = wide.sum()
        wide.columns.name = None
        return wide.round(3)

    def to_json(self, *, top: int | None = None) -> list[dict[str, Any]]:
        """The first entries with their signals, as JSON values."""
        return [
            {
                "rank": rank,
                "entry": row.entry.id,
                "grade": self.relevant.get(row.entry.id, 0),
                "score": finite(row.score),
                "matched": row.matched,
                "signals": [
                    {
                        "signal": name,
                        "value": finite(part.value),
                        "weight": finite(part.weight),
                        "contribution": finite(part.contribution),
                    }
                    for name, part in row.parts.items()
                ],
            }
            for rank, row in enumerate(self.explanation.rows[:top], start=1)
        ]


def explain_query(dataset: Dataset, query_id: str, profile: Profile) -> ExplainedQuery:
    """Explain a query as it is ranked in an evaluation: same entries, clock, shown lately.

    Raises:
        UnknownNameError: the dataset has no such query.
    """
    query = dataset.query(query_id)
    if query is None:
        some = tuple(query.id for query in dataset.queries[:5])
        hint = f"and {len(dataset.queries) - len(some)} more in {dataset.name}"
        raise UnknownNameError("query", query_id, some, hint)
    (pool,) = pools(dataset, [query])
    explanation = explain(
        Index.build(pool.entries),
        query.text,
        profile,
        now=pool.now,
        surfaced=surfaced_ids(query),
    )
    return ExplainedQuery(query=query, relevant=dataset.relevant(query_id), explanation=explanation)


def explain_frame(explanation: Explanation, *, top: int | None = None) -> pd.DataFrame:
    """One row an entry and signal, entries best first, signals in the profile's order.

    Columns: rank (from 1), entry (id), score, matched, signal, value, weight, contribution.
    """
    columns = ("rank", "entry", "score", "matched", "signal", "value", "weight", "contribution")
    rows = [
        (
            rank,
            row.entry.id,
            row.score,
            row.matched,
            name,
            part.value,
            part.weight,
            part.contribution,
        )
        for rank, row in enumerate(explanation.rows[:top], start=1)
        for name, part in row.parts.items()
    ]
    frame: pd.DataFrame = optional("pandas").DataFrame(rows, columns=list(columns))
    return frame


def finite(number: float) -> float | None:
    """A number for strict JSON: not a number, and infinity, are `None`."""
    return float(number) if abs(number) < float("inf") else None
