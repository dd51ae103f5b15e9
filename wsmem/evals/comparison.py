"""Whether one system is better than another on the same units: paired, corrected, three-way.

A unit is what was scored once for each of two systems: a query, a case. Units that share something
(queries of one workspace) form a cluster and are swapped and drawn together, because they are no
independent evidence. A unit holds a sum and a weight, so that means (weight 1) and ratios of sums
such as precision or F1 are compared alike.

- **Test.** Paired randomisation (Fisher; Smucker et al., 2007): if neither system were better, each
  cluster's two results might as well have been swapped. The p-value is the share of swaps whose
  difference is at least as large in size as the one seen, the seen one included, so it is never 0
  and a false alarm at level alpha happens in at most alpha of all cases, however values are spread.
  All swaps are tried where that is affordable, else a seeded sample of them.
- **Interval.** Bootstrap over clusters, beside the test: how large the difference may be.
- **Multiplicity.** Comparisons made together are corrected together by Holm's method: the chance of
  any false alarm among them is at most alpha. A comparison of few differing clusters cannot reach a
  small p-value whatever happens, hence no false alarm either, and is not counted among those that
  can (Tarone, 1990): many small groups do not hide what a large one shows.
- **Verdict.** `better` or `worse` needs a corrected p-value of at most alpha and a difference above
  the margin; everything else is `inconclusive`, never "equal". The smallest difference that would
  have been found says what an inconclusive comparison could not have seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from zlib import crc32

from wsmem.errors import InvalidInputError
from wsmem.evals.resampling import Table, least_p

if TYPE_CHECKING:
    from collections.abc import Sequence

ALPHA = 0.005
"""Chance of any false alarm among comparisons that are made together: half of the one in a hundred
that may be seen, so that a thousand A/A runs show no more than that, either."""
SWAPS = 199_999
"""Swaps sampled where not all can be tried and a few have not settled it: the smallest p-value is
then 5e-6, small enough for a thousand comparisons made together."""
RESAMPLES = 2_000
POWER = 0.8
"""How likely the smallest detectable difference would have been found."""

Verdict = Literal["better", "worse", "inconclusive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What one system got: a sum and a weight a unit, in the order of the units."""

    sums: tuple[float, ...]
    weights: tuple[float, ...]
    """0 where the unit says nothing about the system."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """Two systems on the same units, ready to be compared."""

    name: str
    """What is compared: a measure, with the set or group it is about."""
    first: Side
    second: Side
    """The one that is judged: `better` means that it beats the first."""
    clusters: tuple[str | None, ...] | None = None
    """Of each unit what it shares with others; `None` is a unit on its own."""
    higher_is_better: bool = True
    margin: float = 0.0
    """A difference of this size or less is never a verdict, however sure it is."""

    def __post_init__(self) -> None:
        sides = (self.first.sums, self.first.weights, self.second.sums, self.second.weights)
        lengths = {len(side) for side in sides}
        if self.clusters is not None:
            lengths.add(len(self.clusters))
        if len(lengths) != 1:
            found = ", ".join(map(str, sorted(lengths)))
            raise InvalidInputError(f"{self.name}: the two sides differ in length ({found})")
        if not all(math.isfinite(value) for side in sides for value in side):
            raise InvalidInputError(f"{self.name}: a value is not a finite number")
        if min((*self.first.weights, *self.second.weights), default=0.0) < 0:
            raise InvalidInputError(f"{self.name}: a weight is below 0")
        if not self.margin >= 0:
            raise InvalidInputError(f"{self.name}: a margin is 0 or more, not {self.margin}")

    @classmethod
    def of_values(
        cls,
        name: str,
        first: Sequence[float | None],
        second: Sequence[float | None],
        *,
        clusters: Sequence[str | None] | None = None,
        higher_is_better: bool = True,
        margin: float = 0.0,
    ) -> Pairing:
        """One value a unit; a unit that either side has no value for is left out of both."""
        if len(first) != len(second):
            raise InvalidInputError(f"{name}: {len(first)} values beside {len(second)}")
        known = [
            a is not None and b is not None and not (math.isnan(a) or math.isnan(b))
            for a, b in zip(first, second, strict=True)
        ]
        return cls(
            name=name,
            first=_side(first, known),
            second=_side(second, known),
            clusters=None if clusters is None else tuple(clusters),
            higher_is_better=higher_is_better,
            margin=margin,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What two systems' results say about which is better."""

    name: str
    first: float | None
    """The first system's figure; `None` where nothing could be scored."""
    second: float | None
    difference: float | None
    """Second minus first."""
    low: float | None
    high: float | None
    """95 % bootstrap interval of the difference; `None` for fewer than two clusters."""
    p_value: float | None
    """Of the randomisation test, two-sided, on its own; `None` where there is nothing to test."""
    adjusted: float | None
    """The p-value after Holm's correction over all comparisons made together."""
    effect: float | None
    """Standardised: the difference over the spread of the clusters' differences (Cohen's d_z);
    `None` where they do not differ."""
    detectable: float | None
    """Smallest true difference that would be found with a chance of 80 %, at alpha over the number
    of comparisons that counted; `None` where clusters are too few for any to be found, however
    large, or do not differ."""
    better: int
    """Clusters in which the second system got more of what is good."""
    equal: int
    worse: int
    n: int
    """Units with a weight on either side."""
    clusters: int
    """Independent draws among them."""
    verdict: Verdict

    def to_json(self) -> dict[str, Any]:
        """As printed and stored, but for the name: rounded, p-values to three digits."""
        rounded = {
            name: None if (value := getattr(self, name)) is None else round(value, 6)
            for name in ("first", "second", "difference", "low", "high", "effect", "detectable")
        }
        chances = {
            name: None if (value := getattr(self, name)) is None else float(f"{value:.3g}")
            for name in ("p_value", "adjusted")
        }
        counts = {
            name: getattr(self, name) for name in ("better", "equal", "worse", "n", "clusters")
        }
        return rounded | chances | counts | {"verdict": self.verdict}


def compare(
    pairings: Sequence[Pairing],
    *,
    alpha: float = ALPHA,
    margin: float = 0.0,
    swaps: int = SWAPS,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Comparison]:
    """Compare pairs of systems, all of one call corrected together.

    Args:
        pairings: What to compare; those with nothing to test do not count for the correction.
        alpha: Chance of any false alarm among them.
        margin: A margin for all; a pairing's own counts where it is larger.
        swaps: Most swaps tried in a test; where all 2^clusters are fewer, all are.
        resamples: Of the bootstrap of the differences; 0 gives no intervals.
        seed: Equal seeds give equal results; a pairing's draws depend on its name, not its place.

    Raises:
        InvalidInputError: alpha or margin is out of range.
    """
    if not 0 < alpha < 1:
        raise InvalidInputError(f"alpha is between 0 and 1, not {alpha}")
    if not margin >= 0:
        raise InvalidInputError(f"a margin is 0 or more, not {margin}")
    tables = [_table(pairing) for pairing in pairings]
    p_values = [
        table.p_value(swaps=swaps, seed=(seed, crc32(pairing.name.encode())))
        for pairing, table in zip(pairings, tables, strict=True)
    ]
    tested = [(p, t.least_p) for p, t in zip(p_values, tables, strict=True) if p is not None]
    corrected = iter(holm([p for p, _ in tested], [least for _, least in tested]))
    adjusted = [None if p is None else next(corrected) for p in p_values]
    together = _counted([least for _, least in tested], alpha)
    return [
        _comparison(
            pairing,
            table,
            p_value=p,
            adjusted=q,
            alpha=alpha,
            margin=max(margin, pairing.margin),
            together=together,
            interval=table.interval(
                resamples=resamples, seed=(seed, crc32(pairing.name.encode()), 1)
            ),
        )
        for pairing, table, p, q in zip(pairings, tables, p_values, adjusted, strict=True)
    ]


def holm(p_values: Sequence[float], least: Sequence[float] | None = None) -> list[float]:
    """P-values corrected by Holm's method, in the order given.

    The smallest is multiplied by how many there are, the next by one less, and so on; none is
    below a smaller one's correction, none above 1 (Holm, 1979).

    Args:
        p_values: Of tests made together.
        least: The smallest value that each test can have. A test that cannot have a value as small
            as the one being corrected adds nothing to the chance of seeing it by luck, and is not
            counted for it (Tarone, 1990; Westfall and Wolfinger, 1997).
    """
    count = len(p_values)
    reachable = [0.0] * count if least is None else least
    order = sorted(range(count), key=lambda at: p_values[at])
    found = [0.0] * count
    reached = 0.0
    for rank, place in enumerate(order):
        p = p_values[place]
        counted = sum(reachable[other] <= p for other in order[rank:])
        reached = max(reached, min(1.0, max(1, counted) * p))
        found[place] = reached
    return found


def _counted(least: Sequence[float], alpha: float) -> int:
    """How many tests share alpha: the fewest k such that at most k can reach alpha / k."""
    number = 1
    while sum(value <= alpha / number for value in least) > number:
        number += 1
    return number


def _side(values: Sequence[float | None], known: Sequence[bool]) -> Side:
    return Side(
        sums=tuple(
            value if keep and value is not None else 0.0
            for value, keep in zip(values, known, strict=True)
        ),
        weights=tuple(float(keep) for keep in known),
    )


def _table(pairing: Pairing) -> Table:
    first, second = pairing.first, pairing.second
    columns = (first.sums, first.weights, second.sums, second.weights)
    return Table.of(columns, pairing.clusters)


def _comparison(
    pairing: Pairing,
    table: Table,
    *,
    p_value: float | None,
    adjusted: float | None,
    alpha: float,
    margin: float,
    together: int,
    interval: tuple[float | None, float | None],
) -> Comparison:
    first, second = table.first, table.second
    difference = None if first is None or second is None else second - first
    spread = table.spread()
    better, equal, worse = table.wins(higher_is_better=pairing.higher_is_better)
    verdict: Verdict = "inconclusive"
    if difference is not None and adjusted is not None and adjusted <= alpha:
        good = difference if pairing.higher_is_better else -difference
        if abs(good) > margin:
            verdict = "better" if good > 0 else "worse"
    low, high = interval
    return Comparison(
        name=pairing.name,
        first=first,
        second=second,
        difference=difference,
        low=low,
        high=high,
        p_value=p_value,
        adjusted=adjusted,
        effect=None if not spread or difference is None else difference / spread,
        detectable=_detectable(spread, len(table), alpha / together),
        better=better,
        equal=equal,
        worse=worse,
        n=table.units,
        clusters=len(table),
        verdict=verdict,
    )


def _detectable(spread: float | None, clusters: int, alpha: float) -> float | None:
    """(t of 1 - alpha / 2 + t of the power) standard errors, by Student's law."""
    if not spread or least_p(clusters) > alpha:
        return None
    from scipy.stats import t  # noqa: PLC0415  heavy, and an extra

    freedom = clusters - 1
    quantiles = t.ppf(1 - alpha / 2, freedom) + t.ppf(POWER, freedom)
    return float(quantiles * spread / math.sqrt(clusters))
