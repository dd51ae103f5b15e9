"""What is compared with what: one system's figures, and the queries that two have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wsmem.errors import DatasetError, InvalidInputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wsmem.evals.results import DatasetResult, QueryFacts
    from wsmem.evals.run import Run

    Scores = Mapping[str, float | None]
    """Of one query, by measure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """One system's figures, query by query, by set."""

    name: str
    facts: Mapping[str, Mapping[str, QueryFacts]]
    scores: Mapping[str, Mapping[str, Scores]]
    checksums: Mapping[str, Mapping[str, str]]
    """Of each set's files."""

    @classmethod
    def of_run(cls, run: Run, system: str | None = None) -> Contestant:
        """From a saved run.

        Raises:
            UnknownNameError: the run has no such system, or several and none was named; or it does
                not keep the system's single queries.
        """
        kept = tuple(
            name
            for name in run.systems
            if any(name in run.manifest["files"][dataset]["results"] for dataset in run.datasets)
        )
        hint = f"with single queries in {run.path}; write {run.path}::NAME"
        system = the_one("system", system, kept, hint)
        having = [name for name in run.datasets if system in run.manifest["files"][name]["results"]]
        return cls(
            name=system,
            facts={name: run.facts(name) for name in having},
            scores={name: run.scores(name, system) for name in having},
            checksums={name: run.manifest["datasets"][name]["checksums"] for name in having},
        )

    @classmethod
    def of_results(cls, results: Iterable[DatasetResult], system: str) -> Contestant:
        """From results that were not saved."""
        found = [
            (result, each) for result in results for each in result.systems if each.system == system
        ]
        return cls(
            name=system,
            facts={result.name: {fact.id: fact for fact in result.facts} for result, _ in found},
            scores={
                result.name: {query: answer.scores for query, answer in each.queries.items()}
                for result, each in found
            },
            checksums={result.name: result.checksums for result, _ in found},
        )

    @property
    def queries(self) -> set[tuple[str, str]]:
        """All its queries, with their sets."""
        return {(name, query) for name, queries in self.scores.items() for query in queries}

    def measures(self, shared: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
        """Names of the measures of these queries; those of one set all have the same."""
        firsts = (self.scores[name][queries[0]] for name, queries in shared.items() if queries)
        return tuple(dict.fromkeys(measure for scores in firsts for measure in scores))


def in_common(first: Contestant, second: Contestant) -> dict[str, list[str]]:
    """The queries that both have, by set, in the first one's order.

    Raises:
        DatasetError: a set of one name has other texts or labels in the other.
        InvalidInputError: there is none.
    """
    for name in first.checksums:
        if name in second.checksums and first.checksums[name] != second.checksums[name]:
            problem = "its files differ between the two runs"
            raise DatasetError(name, None, problem, "evaluate both on the same files")
    found = {
        name: [query for query in queries if query in second.scores[name]]
        for name, queries in first.scores.items()
        if name in second.scores
    }
    shared = {name: queries for name, queries in found.items() if queries}
    if not shared:
        raise nothing_in_common(first.name, second.name, "query")
    return shared


def the_one(what: str, name: str | None, names: Sequence[str], hint: str) -> str:
    """The name that was given, or the only one there is.

    Raises:
        UnknownNameError: there is no such name, or several and none was given.
    """
    if name is None and len(names) == 1:
        return names[0]
    if name is None or name not in names:
        raise UnknownNameError(what, name or "?", tuple(names), hint)
    return name


def nothing_in_common(first: str, second: str, noun: str) -> InvalidInputError:
    """The error of two that cannot be compared."""
    problem = f"{first} and {second} have no {noun} in common"
    return InvalidInputError(f"{problem}; evaluate both on the same sets and split")
