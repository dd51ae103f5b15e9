from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wsmem.errors import InvalidInputError, UnknownNameError
from wsmem.evals.measures import DEFAULT_MEASURES, Measure, score

Rankings = dict[str, list[str]]
Labels = dict[str, dict[str, int]]

XYZ = {"q": {"x": 1, "y": 1, "z": 1}}


def mean(measure: str, rankings: Rankings, labels: Labels) -> float | None:
    parsed = Measure.parse(measure)
    return score(rankings, labels, [parsed]).mean(parsed)


VALUES = [
    pytest.param("R@5", ["n", "x"], 0.3333, id="recall-divides-by-all-relevant"),
    pytest.param("RR@5", ["n", "x"], 0.5, id="reciprocal-rank"),
    pytest.param("nDCG@5", ["n", "x"], 0.2961, id="the-ideal-has-all-three"),
    pytest.param("R@3", ["x", "x", "y"], 0.6667, id="a-repeated-document-recalls-once"),
    pytest.param("P@3", ["x", "x", "y"], 0.6667, id="a-repeated-document-fills-one-place"),
    pytest.param("nDCG@3", ["x", "x", "y"], 0.7654, id="a-repeated-document-gains-once"),
    pytest.param("P@5", ["x"], 0.2, id="precision-divides-by-the-cutoff"),
    pytest.param("Success@1", ["n", "x"], 0.0, id="success-looks-at-the-first"),
    pytest.param("Judged@10", ["n", "x"], 0.5, id="judged-divides-by-what-was-returned"),
    pytest.param("RR", ["n"] * 3 + ["x"], 0.5, id="no-cutoff-reads-to-the-end"),
]


@pytest.mark.parametrize(("measure", "ranking", "expected"), VALUES)
def test_measures_have_the_stated_values(measure: str, ranking: list[str], expected: float) -> None:
    assert mean(measure, {"q": ranking}, XYZ) == pytest.approx(expected, abs=5e-5)


def test_grades_weigh_in_ndcg() -> None:
    labels = {"q": {"x": 2, "y": 1}}
    best, swapped = 2 + 1 / 1.58496, 1 + 2 / 1.58496
    assert mean("nDCG@5", {"q": ["y", "x"]}, labels) == pytest.approx(swapped / best, abs=1e-5)


def test_ties_are_never_left_to_the_library() -> None:
    # pytrec_eval lists equal scores by document name, the larger first.
    assert mean("RR@10", {"q": ["a", "z"]}, {"q": {"a": 1}}) == 1.0
    assert mean("RR@10", {"q": ["z", "a"]}, {"q": {"z": 1}}) == 1.0


@pytest.mark.parametrize("run", [{"q1": ["x"]}, {"q1": ["x"], "q2": []}], ids=["absent", "empty"])
def test_an_unanswered_query_counts_as_zero_and_is_counted(run: Rankings) -> None:
    labels = {"q1": {"x": 1}, "q2": {"y": 1}}
    measures = [Measure.parse(text) for text in DEFAULT_MEASURES[:6]]
    scores = score(run, labels, measures)
    assert [scores.mean(measure) for measure in measures] == [0.5, 0.5, 0.5, 0.5, 0.1, 0.5]
    assert scores.unanswered == ("q2",)


def test_a_query_of_the_run_without_judgements_is_left_out_and_counted() -> None:
    measure = Measure.parse("RR@10")
    scores = score({"q": ["x"], "stray": ["x"], "zero": ["x"]}, XYZ | {"zero": {"x": 0}}, [measure])
    assert scores.mean(measure) == 1.0
    assert scores.left_out == ("stray", "zero")


def test_nothing_to_score_is_no_value_not_zero() -> None:
    scores = score({}, {}, [Measure.parse("nDCG@10")])
    assert scores.mean(Measure.parse("nDCG@10")) is None
    assert scores.values == {}


def test_false_recall_is_about_queries_that_should_recall_nothing() -> None:
    false_recall, answered = Measure.parse("FalseRecall"), Measure.parse("Answered")
    scores = score(
        {"q": ["x"], "n1": ["x"], "n2": []},
        {"q": {"x": 1}},
        [false_recall, answered],
        nothing=["n1", "n2", "n3"],
    )
    assert scores.mean(false_recall) == pytest.approx(1 / 3)
    assert scores.mean(answered) == 1.0
    assert scores.values["q"][false_recall] is None
    assert scores.values["n1"][answered] is None


def test_bytes_counts_what_would_be_injected_for_every_query() -> None:
    measure = Measure.parse("Bytes@2")
    sizes = {"a": 100, "b": 10, "c": 1}
    scores = score(
        {"q": ["a", "a", "b", "c"], "n": ["c"]},
        {"q": {"a": 1}},
        [measure],
        nothing=["n"],
        sizes=sizes,
    )
    assert scores.mean(measure) == (110 + 1) / 2


def test_bytes_that_were_really_injected_count_instead() -> None:
    measure = Measure.parse("Bytes@8")
    scores = score(
        {"q": ["a"], "n": ["a"]},
        {"q": {"a": 1}},
        [measure],
        nothing=["n"],
        sizes={"a": 100},
        injected={"q": 260},
    )
    assert scores.column(measure) == [260.0, 100.0]


CANONICAL = [
    pytest.param("nDCG@10", "nDCG@10", id="itself"),
    pytest.param(" MRR@10 ", "RR@10", id="another-name"),
    pytest.param("P(rel=2)@5", "P(rel=2)@5", id="parameter"),
    pytest.param("P(rel=1)@5", "P@5", id="the-default-is-not-printed"),
    pytest.param("Bytes", "Bytes@8", id="our-default-is-printed"),
]


@pytest.mark.parametrize(("text", "canonical"), CANONICAL)
def test_a_measure_prints_as_its_usual_name(text: str, canonical: str) -> None:
    assert str(Measure.parse(text)) == canonical


@given(
    st.sampled_from(["nDCG", "RR", "R", "Success", "P", "AP", "Judged", "Bytes"]),
    st.integers(min_value=1, max_value=1000),
)
def test_a_printed_measure_parses_back_to_an_equal_one(name: str, cutoff: int) -> None:
    measure = Measure.parse(f"{name}@{cutoff}")
    assert Measure.parse(str(measure)) == measure
    assert hash(Measure.parse(str(measure))) == hash(measure)


@pytest.mark.parametrize("text", ["nope", "nDCG@0", "nDCG@-1", "nDCG@x", "ERR@10", "", "R@5(a)"])
def test_an_unknown_measure_says_what_there_is(text: str) -> None:
    with pytest.raises(UnknownNameError, match="nDCG, RR, R, Success, P"):
        Measure.parse(text)


WRONG = [
    pytest.param("R", "R needs its cutoff", id="needs-a-cutoff"),
    pytest.param("nDCG(colour=1)@10", "no parameter 'colour'; there are: cutoff", id="unknown"),
    pytest.param("P(rel='a')@5", "rel cannot be 'a'", id="wrong-type"),
    pytest.param("P(rel=)@5", "measure parameter 'rel='", id="no-value"),
    pytest.param("FalseRecall@3", "FalseRecall has no cutoff", id="cutoff-too-many"),
]


@pytest.mark.parametrize(("text", "said"), WRONG)
def test_impossible_parameters_are_named(text: str, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said.replace("(", r"\(")):
        Measure.parse(text)


@given(st.permutations([f"d{n}" for n in range(12)]), st.sets(st.sampled_from("abcdefghijkl")))
def test_reading_only_to_the_deepest_cutoff_changes_nothing(
    ranking: list[str], relevant: set[str]
) -> None:
    labels = {"q": {f"d{ord(letter) - ord('a')}": 1 for letter in relevant}}
    shallow = [Measure.parse(text) for text in ("nDCG@5", "RR@3", "R@5", "Judged@4")]
    deep = [*shallow, Measure.parse("AP")]
    alone, together = (score({"q": ranking}, labels, some) for some in (shallow, deep))
    assert [alone.mean(measure) for measure in shallow] == [
        together.mean(measure) for measure in shallow
    ]


def by_definition(measure: str, ranking: list[str], grades: dict[str, int], k: int) -> float:
    """The textbook formulas, over a ranking without repeats."""
    top = ranking[:k]
    hits = [rank for rank, doc in enumerate(top, start=1) if grades.get(doc, 0) > 0]
    relevant = sum(grade > 0 for grade in grades.values())
    if measure == "P":
        return len(hits) / k
    if measure == "R":
        return len(hits) / relevant
    if measure == "RR":
        return 1 / hits[0] if hits else 0.0
    if measure == "Success":
        return float(bool(hits))
    ideal = sorted(grades.values(), reverse=True)[:k]
    gained = [grades.get(doc, 0) for doc in top]
    dcg, best = (
        sum(grade / math.log2(rank + 1) for rank, grade in enumerate(gains, start=1))
        for gains in (gained, ideal)
    )
    return dcg / best


@given(
    ranking=st.lists(st.sampled_from("abcdefghij"), max_size=10, unique=True),
    grades=st.dictionaries(st.sampled_from("abcdefghijkl"), st.integers(0, 3), min_size=1).filter(
        lambda grades: any(grades.values())
    ),
    k=st.integers(1, 12),
)
@pytest.mark.parametrize("measure", ["nDCG", "RR", "R", "P", "Success"])
def test_the_library_agrees_with_the_definitions(
    measure: str, ranking: list[str], grades: dict[str, int], k: int
) -> None:
    expected = by_definition(measure, ranking, grades, k)
    assert mean(f"{measure}@{k}", {"q": ranking}, {"q": grades}) == pytest.approx(expected)
