from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from wsmem.errors import InvalidInputError, UnknownNameError
from wsmem.evals.latency.figures import (
    ALL,
    Sample,
    Spread,
    bin_edge,
    cumulative,
    histogram,
    percentile,
    ratio_row,
    rows,
)
from wsmem.evals.latency.plan import LatencyPlan
from wsmem.evals.synthetic import labelled_queries, synthetic_entries
from wsmem.text.analysis import terms
from wsmem.text.scripts import is_cjk


def samples(*times: float) -> list[Sample]:
    return [Sample(query=number, ms=time) for number, time in enumerate(times)]


@pytest.mark.parametrize(
    ("times", "share", "expected"),
    [
        pytest.param([7.0], 0.95, 7.0, id="one-time-is-every-percentile"),
        pytest.param([4, 1, 3, 2], 0.5, 2.5, id="between-neighbours"),
        pytest.param(range(101), 0.95, 95.0, id="a-hundred-and-one"),
        pytest.param([1, 2], 0.95, 1.95, id="interpolated"),
    ],
)
def test_percentiles_are_interpolated_between_neighbours(
    times: list[float], share: float, expected: float
) -> None:
    assert percentile(times, share).value == pytest.approx(expected)


def test_the_interval_of_a_percentile_is_of_the_order_statistics_that_hold_it() -> None:
    """Of 100 times the k-th smallest lies below the true p95 with the chance that k or more do."""
    found = percentile(range(1, 101), 0.95)
    assert (found.low, found.high) == (90, 100)
    low, high = 90, 100
    assert binom.cdf(high - 1, 100, 0.95) - binom.cdf(low - 1, 100, 0.95) >= 0.95
    assert binom.cdf(high - 1, 100, 0.95) - binom.cdf(low, 100, 0.95) < 0.975


def test_few_times_leave_the_upper_bound_open() -> None:
    """Ten times all lie below the true p95 in 60 % of cases: no bound can be named."""
    found = percentile(range(10), 0.95)
    assert found.low is not None
    assert found.high is None


@pytest.mark.parametrize(
    ("late", "value", "low", "high"),
    [
        pytest.param(0, 1.0, 0.7225, 1.0, id="ten-of-ten"),
        pytest.param(2, 0.8, 0.4902, 0.9433, id="eight-of-ten"),
        pytest.param(10, 0.0, 0.0, 0.2775, id="none-of-ten"),
    ],
)
def test_the_share_in_time_has_wilsons_interval(
    late: int, value: float, low: float, high: float
) -> None:
    spread = Spread.of(samples(*[251.0] * late, *[1.0] * (10 - late)), deadline_ms=250)
    for share in (spread.whole_in_time, spread.in_time):
        found = (share.value, share.low, share.high)
        assert found == pytest.approx((value, low, high), abs=1e-4)


def test_an_answer_that_comes_just_at_the_deadline_is_in_time() -> None:
    spread = Spread.of(samples(250.0, 250.001), deadline_ms=250)
    assert spread.in_time.value == 0.5


def test_whole_partial_and_empty_answers_are_told_apart() -> None:
    found = [
        Sample(query=0, ms=10, outcome="whole"),
        Sample(query=1, ms=300, outcome="whole"),
        Sample(query=2, ms=230, outcome="partial"),
        Sample(query=3, ms=240, outcome="empty"),
    ]
    told = Spread.of(found, deadline_ms=250).to_json()
    assert (told["whole"], told["partial"], told["empty"], told["n"]) == (2, 1, 1, 4)
    assert (told["whole_in_time"], told["in_time"]) == (0.25, 0.75)
    assert (told["p50"], told["max"]) == (235.0, 300.0)


def test_rows_are_of_all_of_each_language_of_each_length_and_on_request_of_pairs() -> None:
    found = [
        Sample(query=0, ms=1, language="zh", length="short"),
        Sample(query=1, ms=3, language="zh", length="prompt"),
        Sample(query=2, ms=8, language="en", length="short"),
    ]
    told = {
        (row["language"], row["length"]): (row["n"], row["max"])
        for row in rows(found, deadline_ms=250, pairs=True)
    }
    single = {
        (ALL, ALL): (3, 8.0),
        ("zh", ALL): (2, 3.0),
        ("en", ALL): (1, 8.0),
        (ALL, "short"): (2, 8.0),
        (ALL, "prompt"): (1, 3.0),
    }
    pairs = {("zh", "short"): (1, 1.0), ("zh", "prompt"): (1, 3.0), ("en", "short"): (1, 8.0)}
    assert told == single | pairs
    few = rows(found, deadline_ms=250, pairs=False)
    assert {(row["language"], row["length"]) for row in few} == set(single)


def test_a_slow_peer_is_compared_on_the_queries_that_both_answered() -> None:
    ours = samples(1, 2, 4, 100)
    theirs = [Sample(query=0, ms=2), Sample(query=2, ms=16)]
    # p50 is 9 by 2.5, p95 is 15.3 by 3.85; the single ratios are 2 and 4.
    assert ratio_row(ours, theirs) == {"n": 2, "median": 3.0, "p50": 3.6, "p95": 3.974}
    assert ratio_row(ours, [Sample(query=9, ms=1)]) is None


def test_a_histogram_keeps_every_time_within_a_bin_of_a_twentieth_decade() -> None:
    times = [0.5, 1.0, 1.05, 9.9, 250.0]
    found = histogram(times)
    assert sum(found["counts"]) == len(times)
    assert bin_edge(found["first"]) <= 0.5 < bin_edge(found["first"] + 1)
    edges = cumulative(found)
    assert edges[-1][1] == 1.0
    for edge, share in edges:
        assert share == sum(time < edge for time in times) / len(times)
    assert edges[-1][0] / 250.0 < 1.123


def test_no_times_make_an_empty_histogram() -> None:
    assert histogram([]) == {"first": 0, "counts": []}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        pytest.param({"sizes": (5,)}, "a store of 5 entries is too small", id="tiny-store"),
        pytest.param({"each": 0}, "each is 1 or more", id="no-queries"),
        pytest.param({"deadline_ms": 0.0}, "deadline_ms is above 0", id="no-deadline"),
        pytest.param({"deadline_ms": math.nan}, "deadline_ms is above 0", id="not-a-number"),
        pytest.param({"cuts": (-1.0,)}, "0 or more", id="negative-cut"),
        pytest.param({"seed": -1}, "0 or more", id="negative-seed"),
    ],
)
def test_a_plan_refuses_numbers_that_cannot_be_meant(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        LatencyPlan(**wrong)  # type: ignore[arg-type]  # rows of wrong values


def test_a_plan_knows_its_states_and_peers() -> None:
    with pytest.raises(UnknownNameError, match="no state named 'hot'; there are: warm"):
        LatencyPlan(states=("hot",))  # type: ignore[arg-type]  # as from a command line
    with pytest.raises(UnknownNameError, match="no peer named 'lucene'; there are: bm25"):
        LatencyPlan(peers=("lucene",))


def test_queries_are_seeded_and_of_every_language_and_length() -> None:
    entries = synthetic_entries(40, seed=4)
    queries = labelled_queries(entries, each=3, seed=4)
    assert queries == labelled_queries(entries, each=3, seed=4)
    assert queries != labelled_queries(entries, each=3, seed=4, stream=2)
    groups = {(query.language, query.length) for query in queries}
    assert len(groups) == 9
    assert len(queries) == 27


def test_other_streams_give_other_texts_in_the_same_words() -> None:
    first, other = (synthetic_entries(9, seed=3, stream=stream) for stream in (0, 5))
    assert first == synthetic_entries(9, seed=3)
    assert not {entry.content for entry in first} & {entry.content for entry in other}


def test_a_query_is_in_its_language_and_as_long_as_it_is_said_to_be() -> None:
    for query in labelled_queries(synthetic_entries(100, seed=4), each=12, seed=4):
        chinese = any(is_cjk(letter) for letter in query.text)
        english = any(letter.isascii() and letter.isalpha() for letter in query.text)
        assert (chinese, english) in {
            "zh": {(True, False), (True, True)},  # an identifier may stand in Chinese text
            "en": {(False, True)},
            "mixed": {(True, True)},
        }[query.language], query
        count = len(terms(query.text))
        least, most = {"short": (1, 8), "question": (5, 30), "prompt": (60, 150)}[query.length]
        assert least <= count <= most, (count, query)


def test_percentiles_do_not_depend_on_the_order_of_times() -> None:
    times = np.random.default_rng(1).lognormal(size=60)
    assert percentile(times, 0.95) == percentile(np.sort(times)[::-1], 0.95)
