"""Two systems on the same queries: which is better by set, by group of queries, and over all sets.

Queries that share something are compared as one unit. That is their workspace where a set has many.
A set of a few workspaces could then never say anything (four of them can be swapped in sixteen
ways), so there queries with the same best answer in a workspace are the unit, and what is found is
about these workspaces, not about workspaces in general.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from wsmem.errors import UnknownNameError
from wsmem.evals.comparison import ALPHA, Pairing, Side, compare
from wsmem.evals.contestants import in_common
from wsmem.evals.measures import FALSE_RECALL, Measure
from wsmem.evals.resampling import least_p
from wsmem.evals.results import MEAN
from wsmem.evals.slices import DIMENSIONS, bucket_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wsmem.evals.comparison import Comparison
    from wsmem.evals.contestants import Contestant, Scores
    from wsmem.evals.results import QueryFacts

    Groups = dict[tuple[str, str], list[int]]
    """Places of queries, by dimension and group."""

By = Literal["all", "dataset", "slice"]
"""What is compared: the mean over sets alone, each set besides, or every group of queries too."""
Unit = Literal["auto", "scope", "answer", "query"]
UNITS: dict[str, Unit] = {name: name for name in get_args(Unit)}
GROUPINGS: dict[str, By] = {name: name for name in get_args(By)}

HEADLINE = ("nDCG@10", FALSE_RECALL)
"""What is compared unless something else is asked for."""
TOGETHER = 10
"""`auto` swaps whole workspaces where as many comparisons as this could all find something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What one comparison is about."""

    system: str
    dataset: str
    """`mean`: all sets, each counting the same."""
    dimension: str
    """What queries were grouped by; empty for all of them."""
    slice: str
    measure: str

    @property
    def text(self) -> str:
        """As one line, unlike any other subject's."""
        group = f" {self.dimension}={self.slice}" if self.dimension else ""
        return f"{self.dataset}{group} {self.measure} {self.system}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """Two systems compared."""

    first: str
    second: str
    queries: int
    """Shared ones."""
    left_out: int
    """Queries that only one side has."""
    units: Mapping[str, Unit]
    """What was swapped as one, by set."""
    rows: tuple[tuple[Subject, Comparison], ...]

    def to_json(self) -> dict[str, Any]:
        """As printed."""
        return {
            "first": self.first,
            "second": self.second,
            "queries": self.queries,
            "left_out": self.left_out,
            "units": dict(self.units),
            "rows": [row_json(subject, found) for subject, found in self.rows],
        }


def row_json(subject: Subject, found: Comparison) -> dict[str, Any]:
    """One comparison with what it is about."""
    about = {
        "dataset": subject.dataset,
        "dimension": subject.dimension or None,
        "slice": subject.slice or None,
        "measure": subject.measure,
    }
    return about | found.to_json()


def contest(
    first: Contestant,
    second: Contestant,
    *,
    measures: Sequence[str] = HEADLINE,
    by: By = "dataset",
    unit: Unit = "auto",
    alpha: float = ALPHA,
    margin: float = 0.0,
    seed: int = 0,
) -> Contest:
    """Compare two systems on the queries both have; all comparisons are corrected together.

    Args:
        first: The one to beat.
        second: The one that is judged.
        measures: Names of measures that both have.
        by: What is compared. More comparisons find less each.
        unit: What is swapped as one; `auto` decides for each set by its number of workspaces.
        alpha: Chance of any false verdict among them.
        margin: Differences up to this are no verdict.
        seed: Of the sampled swaps and the intervals.

    Raises:
        InvalidInputError: the two share no query.
        DatasetError: a set of one name has other texts or labels in the other.
        UnknownNameError: a side lacks a measure.
    """
    shared = in_common(first, second)
    for measure in measures:
        for side in (first, second):
            if measure not in (known := side.measures(shared)):
                raise UnknownNameError("measure", measure, known, "in both runs")
    facts = {name: [first.facts[name][query] for query in shared[name]] for name in shared}
    units = {name: unit_of(facts[name], unit, alpha=alpha) for name in shared}
    found = pairings(first, second, facts, measures=measures, by=by, units=units, margin=margin)
    compared = compare([pairing for _, pairing in found], alpha=alpha, seed=seed)
    return Contest(
        first=first.name,
        second=second.name,
        queries=sum(map(len, shared.values())),
        left_out=len(first.queries ^ second.queries),
        units=units,
        rows=tuple(zip((subject for subject, _ in found), compared, strict=True)),
    )


def pairings(
    first: Contestant,
    second: Contestant,
    facts: Mapping[str, Sequence[QueryFacts]],
    *,
    measures: Sequence[str],
    by: By,
    units: Mapping[str, Unit],
    margin: float | Mapping[str, float] = 0.0,
) -> list[tuple[Subject, Pairing]]:
    """Everything there is to compare about two systems, the mean over sets first.

    A group that holds the very queries of another one, or of the whole set, is not listed twice.

    Args:
        first: The one to beat.
        second: The one that is judged; it lends its name.
        facts: The queries of each set that both have.
        measures: Which figures.
        by: Down to which groups.
        units: Of each set, as `unit_of` gives them.
        margin: For all, or by measure.
    """
    columns = [
        _Column(name, facts[name], first.scores[name], second.scores[name], units[name])
        for name in facts
    ]
    found = []
    for text in measures:
        measure = Measure.parse(text)
        allowed = margin if isinstance(margin, float | int) else margin.get(text, 0.0)
        seen = set()
        for dataset, dimension, group, members in _groups(columns, by):
            scored = {column: column.scored(text, places) for column, places in members.items()}
            scored = {column: places for column, places in scored.items() if places}
            key = tuple((column.name, *places) for column, places in scored.items())
            if not key or key in seen or (dataset == MEAN and len(scored) < 2):
                continue
            seen.add(key)
            subject = Subject(
                system=second.name, dataset=dataset, dimension=dimension, slice=group, measure=text
            )
            found.append((subject, _pairing(subject, measure, scored, allowed)))
    return found


def unit_of(facts: Sequence[QueryFacts], unit: Unit, *, alpha: float = ALPHA) -> Unit:
    """What `auto` means for these queries; anything else means itself."""
    if unit != "auto":
        return unit
    scopes = {fact.scope for fact in facts}
    enough = None not in scopes and least_p(len(scopes)) <= alpha / TOGETHER
    return "scope" if enough else "answer"


class _Column:
    """One set under both systems."""

    def __init__(
        self,
        name: str,
        facts: Sequence[QueryFacts],
        first: Mapping[str, Scores],
        second: Mapping[str, Scores],
        unit: Unit,
    ) -> None:
        self.name = name
        self.facts = facts
        self._sides = first, second
        self.clusters = [_cluster(name, fact, unit) for fact in facts]

    def scored(self, measure: str, places: Iterable[int]) -> list[int]:
        """Those of some queries that both systems have a value for."""
        return [place for place in places if None not in self.values(measure, place)]

    def values(self, measure: str, place: int) -> tuple[float | None, float | None]:
        """What both systems got for a query."""
        query = self.facts[place].id
        first, second = self._sides
        return first[query].get(measure), second[query].get(measure)

    def groups(self) -> Groups:
        """Places of the queries of each group, in natural order."""
        found: Groups = {}
        for place, fact in enumerate(self.facts):
            for dimension, names in fact.slices.items():
                for name in names:
                    found.setdefault((dimension, name), []).append(place)
        return found


def _groups(
    columns: Sequence[_Column], by: By
) -> list[tuple[str, str, str, dict[_Column, Sequence[int]]]]:
    """Set, dimension, group and members of everything to compare; whole sets come first."""
    whole: dict[_Column, Sequence[int]] = {column: range(len(column.facts)) for column in columns}
    single = len(columns) == 1
    found = [] if single else [(MEAN, "", "", whole)]
    if by != "all" or single:
        found += [(column.name, "", "", {column: whole[column]}) for column in columns]
    if by != "slice":
        return found
    sliced = {column: column.groups() for column in columns}
    names = {key for groups in sliced.values() for key in groups}
    order = sorted(names, key=lambda key: (DIMENSIONS.index(key[0]), bucket_order(key[1])))
    for key in order:
        having: dict[_Column, Sequence[int]] = {
            column: groups[key] for column, groups in sliced.items() if key in groups
        }
        if not single:
            found.append((MEAN, *key, having))
        found += [(column.name, *key, {column: places}) for column, places in having.items()]
    return found


def _pairing(
    subject: Subject, measure: Measure, members: Mapping[_Column, Sequence[int]], margin: float
) -> Pairing:
    """A mean over the queries of one set, or over sets that count the same each."""
    first, second, weights, clusters = [], [], [], []
    for column, places in members.items():
        weight = 1.0 if len(members) == 1 else 1.0 / len(places)
        for place in places:
            one, other = column.values(subject.measure, place)
            first.append((one or 0.0) * weight)
            second.append((other or 0.0) * weight)
            weights.append(weight)
            clusters.append(column.clusters[place])
    return Pairing(
        name=subject.text,
        first=Side(sums=tuple(first), weights=tuple(weights)),
        second=Side(sums=tuple(second), weights=tuple(weights)),
        clusters=tuple(clusters),
        higher_is_better=measure.higher_is_better,
        margin=margin,
    )


def _cluster(dataset: str, fact: QueryFacts, unit: Unit) -> str | None:
    """What a query shares with others, as a name; `None` where it stands alone."""
    if unit == "query" or (unit == "scope" and fact.scope is None):
        return None
    if unit == "scope":
        return f"{dataset}/{fact.scope}"
    if not fact.relevant:
        return None
    best = min(fact.relevant, key=lambda entry: (-fact.relevant[entry], entry))
    return f"{dataset}/{fact.scope}/{best}"
