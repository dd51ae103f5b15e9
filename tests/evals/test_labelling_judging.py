from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled_sets import write_set
from labelling_kit import all_pairs, run_session, shop_folder

from wsmem.errors import DatasetError, InputFileError, InvalidInputError
from wsmem.evals.checking import check_dataset
from wsmem.evals.labelling.folder import PUBLISHED, SETTLED, LabellingFolder, open_folder
from wsmem.evals.labelling.judgements import Ledger, PairKey, ledger_path
from wsmem.evals.labelling.pooling import Pooling
from wsmem.evals.labelling.relabelling import from_dataset
from wsmem.evals.labelling.session import work_list
from wsmem.evals.labelling.settling import compile_labels, verdicts
from wsmem.evals.labelling.thinness import thinness
from wsmem.evals.reading import load_dataset

if TYPE_CHECKING:
    from pathlib import Path

X, Y = PairKey("q1", "x"), PairKey("q1", "y")


def tiny(tmp_path: Path) -> LabellingFolder:
    """The small set, pooled again, with nobody's labels."""
    source = load_dataset(write_set(tmp_path / "tiny"))
    from_dataset(source, tmp_path / "again", pooling=Pooling(systems=("bm25", "fts5:trigram")))
    (tmp_path / "again" / "judgements" / f"{PUBLISHED}.jsonl").unlink()
    return open_folder(tmp_path / "again")


def test_judgements_are_on_disk_at_once_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "judgements" / "ida.jsonl"
    ledger = Ledger(path)
    ledger.record(X, 2)
    ledger.skip(Y)
    again = Ledger(path)
    assert (dict(again.grades), again.skipped, again.judge) == ({X: 2}, (Y,), "ida")
    assert [set(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()] == [
        {"query", "document", "grade", "at"},
        {"query", "document", "skip", "at"},
    ]


def test_undo_takes_back_one_step_also_of_an_earlier_session(tmp_path: Path) -> None:
    path = tmp_path / "ida.jsonl"
    first = Ledger(path)
    first.record(X, 2)
    first.record(X, 0)
    first.skip(Y)
    later = Ledger(path)
    assert [later.undo(), dict(later.grades)] == [Y, {X: 0}]
    assert [later.undo(), dict(later.grades)] == [X, {X: 2}]
    assert [Ledger(path).undo(), later.undo(), later.undo()] == [X, X, None]


@given(steps=st.lists(st.sampled_from(["0", "1", "2", "s", "u"]), max_size=25))
def test_a_file_that_is_read_again_says_the_same(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    path = tmp_path_factory.mktemp("ledger") / "ida.jsonl"
    ledger = Ledger(path)
    for place, step in enumerate(steps):
        pair = PairKey("q", f"d{place % 4}")
        if step == "u":
            ledger.undo()
        elif step == "s":
            ledger.skip(pair)
        else:
            ledger.record(pair, int(step))
    again = Ledger(path)
    assert (dict(again.grades), again.skipped) == (dict(ledger.grades), ledger.skipped)


def test_a_line_cut_short_by_a_crash_costs_that_line_only(tmp_path: Path) -> None:
    path = tmp_path / "ida.jsonl"
    Ledger(path).record(X, 1)
    with path.open("ab") as file:
        file.write(b'{"query": "q1", "docum')
    Ledger(path).record(Y, 2)
    assert dict(Ledger(path).grades) == {X: 1, Y: 2}


BROKEN = [
    pytest.param('{"query": "q", "document": "d", "grade": 5}', "grade 5", id="grade"),
    pytest.param('{"query": "q", "document": "d", "grade": true}', "grade True", id="truth"),
    pytest.param('{"query": "q"}', "'query' and 'document'", id="document"),
    pytest.param("[1]", "an object is needed", id="list"),
    pytest.param("{x}", "not JSON", id="json"),
]


@pytest.mark.parametrize(("line", "problem"), BROKEN)
def test_a_whole_line_that_makes_no_sense_is_an_error(
    tmp_path: Path, line: str, problem: str
) -> None:
    path = tmp_path / "ida.jsonl"
    path.write_text(f"\n{line}\n", encoding="utf-8")
    with pytest.raises(InputFileError, match=r"ida\.jsonl:2: ") as caught:
        Ledger(path)
    assert problem in str(caught.value)


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "x" * 41])
def test_a_labeller_has_a_name_that_is_no_path(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInputError, match="cannot name a labeller"):
        ledger_path(tmp_path, name)


def test_a_session_goes_on_where_the_last_one_stopped(tmp_path: Path) -> None:
    folder = tiny(tmp_path)
    pairs = all_pairs(folder)
    report, _ = run_session(folder, ["2", "0"])
    assert (report.judged, report.left) == (2, len(pairs) - 2)
    assert work_list(folder, folder.ledger("ida")) == pairs[2:]
    report, lines = run_session(folder, ["1"] * len(pairs))
    assert (report.judged, report.left) == (len(pairs) - 2, 0)
    assert not any("=== query q1 " in line for line in lines)
    assert run_session(folder, ["2"]) == (type(report)(judged=0, skipped=0, left=0), [])


def test_what_was_put_off_comes_at_the_end_of_the_next_session(tmp_path: Path) -> None:
    folder = tiny(tmp_path)
    pairs = all_pairs(folder)
    report, _ = run_session(folder, ["s", "2", "q"])
    assert (report.judged, report.skipped, report.left) == (1, 1, len(pairs) - 1)
    assert work_list(folder, folder.ledger("ida")) == [*pairs[2:], pairs[0]]


def test_undo_goes_back_to_the_pair_and_asks_again(tmp_path: Path) -> None:
    folder = tiny(tmp_path)
    first, second = all_pairs(folder)[:2]
    report, lines = run_session(folder, ["2", "s", "u", "u", "0", "1"])
    assert dict(folder.ledger("ida").grades) == {first: 0, second: 1}
    assert report.judged == 2
    assert lines.count("taken back:") == 2
    report, lines = run_session(folder, ["u", "u", "u", "q"])
    assert (report.judged, report.left) == (-2, len(all_pairs(folder)))
    assert "there is nothing to undo" in lines


def test_a_session_says_nothing_about_systems_scores_or_other_labellers(tmp_path: Path) -> None:
    folder = shop_folder(tmp_path)
    run_session(folder, ["2"] * 20, judge="bo")
    _, lines = run_session(folder, ["?", "nonsense", *["0"] * 20])
    text = "\n".join(lines)
    assert "'nonsense' is no answer" in text
    assert "it answers the query" in text
    assert "is [REDACTED] still valid" in text
    assert "in /home/ida/shop" in text
    for hidden in ("bm25", "wsmem:", "score", "bo", "rank"):
        assert hidden not in text.split()
    assert "100%" not in text
    assert "0 of " in text


def test_every_labeller_gets_the_same_share(tmp_path: Path) -> None:
    folder = tiny(tmp_path)
    mine = work_list(folder, folder.ledger("ida"), share=0.5)
    assert mine == work_list(folder, folder.ledger("bo"), share=0.5)
    assert len({pair.query for pair in mine}) == 2


def test_labels_are_what_all_say_and_disputes_wait_for_a_word(tmp_path: Path) -> None:
    folder = tiny(tmp_path)
    pairs = all_pairs(folder)
    for judge, grades in {"ida": (2, 0, 1), "bo": (2, 1, 1)}.items():
        ledger = folder.ledger(judge)
        for pair, grade in zip(pairs, grades, strict=False):
            ledger.record(pair, grade)
    assert verdicts(folder).disputed == (pairs[1],)
    compiled = compile_labels(folder)
    assert (compiled.labels, compiled.disputed) == (2, 1)
    folder.ledger(SETTLED).record(pairs[1], 0)
    assert compile_labels(folder).disputed == 0
    labels = load_dataset(folder.path).labels
    assert [labels[pair.query][pair.document] for pair in pairs[:3]] == [2, 0, 1]


def test_a_pool_without_anything_relevant_marks_its_query_as_unanswerable(tmp_path: Path) -> None:
    folder = tiny(tmp_path)
    ledger = folder.ledger("ida")
    for pair in all_pairs(folder):
        ledger.record(pair, 0 if pair.query == "q2" else 2)
    compiled = compile_labels(folder)
    assert (compiled.judged, compiled.unfinished) == (compiled.pairs, 0)
    found = {query.id: query.answerable for query in load_dataset(folder.path).queries}
    assert found == {"q1": True, "q2": False, "q3": True, "q4": False}
    assert [item for item in check_dataset(folder.path) if item.severity == "error"] == []
    ledger.record(next(pair for pair in all_pairs(folder) if pair.query == "q2"), 1)
    compile_labels(open_folder(folder.path))
    again = load_dataset(folder.path)
    assert [query.answerable for query in again.queries] == [True, True, True, False]


def test_compiling_again_writes_the_same_files(tmp_path: Path) -> None:
    folder = tiny(tmp_path)
    run_session(folder, ["2", "0", "1"])
    compile_labels(folder)
    before = {path: path.read_bytes() for path in folder.path.rglob("*") if path.is_file()}
    compile_labels(open_folder(folder.path))
    after = {path: path.read_bytes() for path in folder.path.rglob("*") if path.is_file()}
    assert after == before


def test_the_card_tells_how_it_was_labelled(tmp_path: Path) -> None:
    folder = tiny(tmp_path)
    for judge in ("ida", "bo"):
        run_session(folder, ["2", "0", "1"], judge=judge)
    compile_labels(folder)
    card = load_dataset(folder.path).card
    assert card is not None
    assert card.labelling is not None
    assert "blind to who returned what, by 2 labellers: 3 pairs have a grade" in card.labelling
    assert card.agreement is not None
    assert "judged by bo and ida, Cohen's kappa 1.00" in card.agreement


def test_thin_labels_are_visible(tmp_path: Path) -> None:
    folder = tiny(tmp_path)
    pairs = all_pairs(folder)
    ledger = folder.ledger("ida")
    for pair in pairs:
        if pair.query == "q1":
            ledger.record(pair, 2 if pair.document == "d1" else 0)
    compile_labels(folder)
    (row,) = thinness(folder.path, systems=["bm25"])
    ranked = {query: names for query, names in folder.pool.items() if names}
    assert row.queries == 1
    assert row.bpref == 1.0
    assert row.judged == pytest.approx(1 / len(ranked))
    assert row.unjudged is not None
    assert 0 < row.unjudged < 1


def test_a_folder_without_a_pool_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="wsmem datasets pool"):
        open_folder(write_set(tmp_path / "tiny"))


def test_a_pool_that_does_not_fit_its_set_is_refused(tmp_path: Path) -> None:
    folder = tiny(tmp_path)
    with (folder.path / "pool.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"query": "q1", "documents": ["d9"]}\n')
    with pytest.raises(InputFileError, match=r"pool\.jsonl:5: 'd9' is not in the set"):
        open_folder(folder.path)
