"""Measures as values that print and parse, and scoring rankings with them.

Ranked measures are the field's (ir_measures computes them); three of our own say what matters when
memory is injected into a prompt: `FalseRecall`, `Answered` and `Bytes@k`. The last counts titles
and contents of the first k entries, without any frame; of a system that renders what a host is
given (`@host`), it counts all of that, frame and summary included.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from wsmem.errors import InvalidInputError, MissingExtraError, UnknownNameError
from wsmem.evals.evidence import EVIDENCE, EVIDENCE_SHARES, evidence_value

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from types import ModuleType

FALSE_RECALL, ANSWERED, BYTES = "FalseRecall", "Answered", "Bytes"
INJECTED = 8
"""How many entries a host is given by default, hence what `Bytes` counts unless told otherwise."""

Population = Literal["judged", "nothing", "all"]
"""Which queries a measure is a mean over: those with a relevant document, those that should recall
nothing, or both."""

_OWN: dict[str, Population] = {FALSE_RECALL: "nothing", ANSWERED: "judged", BYTES: "all"}
_OWN |= dict.fromkeys(EVIDENCE, "judged")
_SHARES = frozenset({FALSE_RECALL, ANSWERED, "Success"}) | EVIDENCE_SHARES
_LOWER_IS_BETTER = frozenset({FALSE_RECALL, BYTES})
_FORM = re.compile(r"(?P<name>[^\W\d]\w*)(\((?P<params>[^()]*)\))?(@(?P<cutoff>[1-9]\d*))?")
_OFFERED = ("nDCG", "RR", "R", "Success", "P", "AP", "Judged", "Rprec", "Bpref", "infAP")
_OFFERED_SETS = ("SetP", "SetR", "SetF", "SetAP")


@dataclass(frozen=True, slots=True, order=True)
class Measure:
    """A measure whose name is its definition: equal, hashed, ordered and stored as that text.

    Build one with `Measure.parse`.
    """

    text: str
    """As printed: `nDCG@10`, `P(rel=2)@5`, `FalseRecall`."""
    name: str = field(compare=False)
    cutoff: int | None = field(compare=False)
    reads_on: bool = field(compare=False, repr=False, default=True)
    """Whether ranks below the cutoff, or all ranks where there is none, can change the value."""

    def __str__(self) -> str:
        return self.text

    @property
    def population(self) -> Population:
        """Which queries it is a mean over."""
        return _OWN.get(self.name, "judged")

    @property
    def is_share(self) -> bool:
        """Whether every query scores 0 or 1, so that the mean is a share of the queries."""
        return self.name in _SHARES

    @property
    def bounded(self) -> bool:
        """Whether values lie between 0 and 1."""
        return self.name != BYTES

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger mean is the better one."""
        return self.name not in _LOWER_IS_BETTER

    @classmethod
    def parse(cls, text: str) -> Measure:
        """Read a measure from its name; other spellings become the usual one (`MRR@10` → `RR@10`).

        Raises:
            UnknownNameError: there is no such measure.
            InvalidInputError: it exists, but not with these parameters.
        """
        form = _FORM.fullmatch(text.strip())
        cutoff = int(form["cutoff"]) if form and form["cutoff"] else None
        if form and form["name"] in _OWN and not form["params"]:
            return _own(form["name"], cutoff)
        measure = _library_measure(text)
        reads_on = cutoff is None or bool(measure.params.get("judged_only"))
        return cls(str(measure), measure.NAME, cutoff, reads_on)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """What rankings are worth, query by query."""

    values: Mapping[str, Mapping[Measure, float | None]]
    """By query, judged ones first; `None` where a measure is not about that query."""
    unanswered: tuple[str, ...]
    """Judged queries that were answered with nothing: they count as zero."""
    left_out: tuple[str, ...]
    """Queries of the run that nobody judged: they count nowhere."""

    def column(self, measure: Measure) -> list[float | None]:
        """The measure's value for every query of `values`, in its order."""
        return [row.get(measure) for row in self.values.values()]

    def mean(self, measure: Measure) -> float | None:
        """The mean over the measure's queries; `None` when there is none."""
        known = [value for value in self.column(measure) if value is not None]
        return sum(known) / len(known) if known else None


def score(
    rankings: Mapping[str, Sequence[str]],
    labels: Mapping[str, Mapping[str, int]],
    measures: Sequence[Measure],
    *,
    nothing: Collection[str] = (),
    sizes: Mapping[str, int] | None = None,
    injected: Mapping[str, int] | None = None,
) -> Scores:
    """Score rankings by query id.

    A document that is repeated in a ranking counts where it stands first. Judged queries that the
    run lacks, or answers with nothing, score zero. A document without a label is not relevant;
    `Judged@k` says how many of those there were.

    Args:
        rankings: Document ids, best first.
        labels: Grades by query and document; a query is judged when one of them is above 0.
        measures: What to compute.
        nothing: Queries for which nothing should be recalled.
        sizes: Bytes of each document's text, needed by `Bytes` only.
        injected: Bytes a host was really given, by query, for `Bytes` to tell instead of the sum of
            the first texts.
    """
    relevant = {query: dict(docs) for query, docs in labels.items() if _any_relevant(docs)}
    expected = dict.fromkeys((*relevant, *nothing))
    runs = {query: list(dict.fromkeys(rankings.get(query, ()))) for query in expected}
    ranked = _library_values(runs, relevant, [m for m in measures if m.name not in _OWN])
    values: dict[str, dict[Measure, float | None]] = {}
    for query, run in runs.items():
        row = values[query] = {}
        for measure in measures:
            if measure.name in EVIDENCE:
                row[measure] = _evidence(measure, run, relevant.get(query, {}))
            elif measure.name in _OWN:
                row[measure] = _own_value(measure, run, judged=query in relevant, sizes=sizes)
                if measure.name == BYTES and injected and query in injected:
                    row[measure] = float(injected[query])
            else:
                row[measure] = ranked[query][measure.text] if query in relevant else None
    return Scores(
        values=values,
        unanswered=tuple(query for query in relevant if not runs[query]),
        left_out=tuple(query for query in rankings if query not in expected),
    )


def _any_relevant(grades: Mapping[str, int]) -> bool:
    return any(grade > 0 for grade in grades.values())


def _evidence(measure: Measure, run: Sequence[str], grades: Mapping[str, int]) -> float | None:
    relevant = {document for document, grade in grades.items() if grade > 0}
    if not relevant or measure.cutoff is None:
        return None
    return evidence_value(measure.name, run, relevant, k=measure.cutoff)


def _own(name: str, cutoff: int | None) -> Measure:
    if name == BYTES:
        cutoff = cutoff or INJECTED
        return Measure(f"{BYTES}@{cutoff}", name, cutoff, reads_on=False)
    if name in EVIDENCE:
        if cutoff is None:
            raise InvalidInputError(f"{name} needs its cutoff, as in {name}@10")
        return Measure(f"{name}@{cutoff}", name, cutoff, reads_on=False)
    if cutoff is not None:
        raise InvalidInputError(f"{name} has no cutoff: write {name}")
    return Measure(name, name, None, reads_on=False)


def _own_value(
    measure: Measure, run: Sequence[str], *, judged: bool, sizes: Mapping[str, int] | None
) -> float | None:
    if measure.name == BYTES:
        if sizes is None:
            raise InvalidInputError(f"{measure} needs the sizes of the documents")
        return float(sum(sizes[document] for document in run[: measure.cutoff]))
    if judged != (measure.population == "judged"):
        return None
    return float(bool(run))


def _library_values(
    runs: Mapping[str, Sequence[str]],
    labels: Mapping[str, Mapping[str, int]],
    measures: Sequence[Measure],
) -> dict[str, dict[str, float]]:
    """Per-query values by ir_measures, for every judged query.

    pytrec_eval breaks ties by document name, so each rank gets a score of its own; queries it was
    given no document for are left out by it, so every value starts from zero.
    """
    values = {query: {measure.text: 0.0 for measure in measures} for query in labels}
    depth: int | None = None
    if not any(measure.reads_on for measure in measures):
        depth = max((measure.cutoff or 0 for measure in measures), default=0)
    run = {
        query: {doc: float(-rank) for rank, doc in enumerate(runs[query][:depth])}
        for query in labels
        if runs[query]
    }
    if not measures or not run:
        return values
    parsed = [_library_measure(measure.text) for measure in measures]
    for metric in _provider().iter_calc(parsed, labels, run):
        values[metric.query_id][str(metric.measure)] = float(metric.value)
    return values


def _library() -> ModuleType:
    try:
        import ir_measures  # noqa: PLC0415  heavy, and an extra
    except ImportError as error:
        raise MissingExtraError("ir_measures", "eval") from error
    return ir_measures


def _provider() -> Any:
    """The library's calculators that need nothing but Python packages.

    Its default chain falls back on a Perl script and on packages that are not installed.
    """
    library = _library()
    chosen = [library.pytrec_eval, library.judged, library.msmarco]
    return library.providers.FallbackProvider(chosen)


def _library_measure(text: str) -> Any:
    """Build a measure of the library, checked here because it checks by `assert`, and late."""
    form, registry = _FORM.fullmatch(text.strip()), _library().measures.registry
    measure = registry.get(form["name"]) if form else None
    if form is None or measure is None or measure.NAME not in (*_OFFERED, *_OFFERED_SETS):
        known = (*_OFFERED, *_OFFERED_SETS, *_OWN)
        raise UnknownNameError("measure", text, known, "with @k for a cutoff, as in nDCG@10")
    given = _parameters(form["params"] or "")
    if form["cutoff"]:
        given[measure.AT_PARAM] = int(form["cutoff"])
    for parameter, value in given.items():
        info = measure.SUPPORTED_PARAMS.get(parameter)
        if info is None:
            offered = ", ".join(measure.SUPPORTED_PARAMS) or "none"
            raise InvalidInputError(f"{text} has no parameter {parameter!r}; there are: {offered}")
        if not info.validate(value):
            raise InvalidInputError(f"{text}: {parameter} cannot be {value!r}")
    for parameter, info in measure.SUPPORTED_PARAMS.items():
        if info.required and parameter not in given:
            raise InvalidInputError(f"{text} needs its {parameter}, as in {text}@10")
    built = measure(**given)
    if not _provider().supports(built):
        raise InvalidInputError(f"{text} cannot be computed with these parameters")
    return built


def _parameters(text: str) -> dict[str, Any]:
    """Read `rel=2,judged_only=True`; values are Python literals."""
    given: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = part.partition("=")
        try:
            given[name.strip()] = ast.literal_eval(value.strip())
        except (ValueError, SyntaxError) as error:
            raise InvalidInputError(f"measure parameter {part!r}: {error}") from error
        if not equals:
            raise InvalidInputError(f"measure parameter {part!r}: write name=value")
    return given


DEFAULT_MEASURES = (
    "nDCG@10",
    "RR@10",
    "R@5",
    "Success@1",
    "P@5",
    "Judged@10",
    FALSE_RECALL,
    ANSWERED,
    f"{BYTES}@{INJECTED}",
)
