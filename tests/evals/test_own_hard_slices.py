"""Promises about the slices that are hard on purpose, checked on the files of the labelled sets."""

from __future__ import annotations

import pytest
from own_sets import NAMES, OwnSet, Row, body, own, shared_words

PARALLEL = NAMES[:2]


@pytest.fixture(params=NAMES)
def labelled(request: pytest.FixtureRequest) -> OwnSet:
    return own(request.param)


def _everything(entry: Row) -> str:
    """All that a lexical system can search."""
    meta = entry["metadata"]
    words = (*meta["tags"], *meta["retrievalTerms"], meta.get("description", ""))
    return "\n".join((body(entry), *words))


def _traditional(text: str) -> bool:
    """Whether a text has characters that the character set of simplified Chinese lacks.

    Two of them: a lone one may be a rare character that both scripts use.
    """
    return (
        sum(
            "\u4e00" <= char <= "\u9fff" and not char.encode("gb2312", "ignore")
            for char in set(text)
        )
        >= 2
    )


def _graded(labelled: OwnSet, query: Row, grade: int) -> list[Row]:
    judged = labelled.splits[labelled.split_of(query)][query["_id"]]
    return [labelled.entries[entry] for entry, found in judged if found == grade]


# Few words in common, or the wrong ones


def test_without_overlap_no_word_leads_to_an_answer(labelled: OwnSet) -> None:
    for query in labelled.sliced("no-overlap"):
        for entry in labelled.answers(query):
            assert shared_words(query["text"], _everything(entry)) == set(), query["_id"]


@pytest.mark.parametrize("name", PARALLEL)
def test_a_misleading_question_shares_more_words_with_a_wrong_entry(name: str) -> None:
    labelled = own(name)
    for query in labelled.sliced("misleading"):
        shared = {
            entry["_id"]: len(shared_words(query["text"], _everything(entry)))
            for entry in labelled.neighbours(query)
            if entry["metadata"]["status"] != "superseded"
        }
        helpful = labelled.grades[query["_id"]]
        wrong = max(count for entry, count in shared.items() if entry not in helpful)
        assert wrong > max(shared[entry["_id"]] for entry in labelled.answers(query))


@pytest.mark.parametrize("name", PARALLEL)
def test_description_questions_are_about_the_description(name: str) -> None:
    labelled = own(name)
    for query in labelled.sliced("description"):
        for entry in labelled.answers(query):
            description = entry["metadata"]["description"]
            in_it = shared_words(query["text"], description)
            assert in_it - shared_words(query["text"], body(entry)), query["_id"]


def test_traditional_questions_and_answers_are_in_different_scripts() -> None:
    for name in ("workspace-zh", "workspace-mixed"):
        labelled = own(name)
        asked = {query["_id"] for query in labelled.sliced("traditional")}
        for query in labelled.queries.values():
            typed = _traditional(query["text"])
            written = [_traditional(body(entry)) for entry in labelled.answers(query)]
            if query["_id"] in asked:
                assert written == [not typed] * len(written), query["_id"]
            else:
                assert not typed, query["_id"]


# What is not in the words


@pytest.mark.parametrize("name", PARALLEL)
def test_in_recency_something_older_that_still_stands_does_not_answer(name: str) -> None:
    labelled = own(name)
    for query in labelled.sliced("recency"):
        oldest = min(entry["metadata"]["updatedAt"] for entry in labelled.answers(query))
        outdated = [
            entry
            for entry in _graded(labelled, query, 0)
            if entry["metadata"]["status"] == "active"
            and entry["metadata"]["updatedAt"] < oldest
            and any(
                set(entry["metadata"]["tags"]) & set(answer["metadata"]["tags"])
                for answer in labelled.answers(query)
            )
        ]
        assert outdated, query["_id"]


@pytest.mark.parametrize("name", PARALLEL)
def test_in_importance_what_answers_matters_more_than_what_helps(name: str) -> None:
    labelled = own(name)
    for query in labelled.sliced("importance"):
        least = min(entry["metadata"]["importance"] for entry in labelled.answers(query))
        helps = [entry["metadata"]["importance"] for entry in _graded(labelled, query, 1)]
        assert helps, query["_id"]
        assert max(helps) < least, query["_id"]


def test_what_was_surfaced_only_helps(labelled: OwnSet) -> None:
    for query in labelled.sliced("surfaced"):
        shown = query["metadata"]["surfaced"]
        assert shown, query["_id"]
        assert {labelled.grades[query["_id"]].get(entry) for entry in shown} == {1}


# Scopes


def test_decoys_are_live_entries_of_other_workspaces(labelled: OwnSet) -> None:
    assert all(query["metadata"].get("decoys") for query in labelled.sliced("decoy"))
    for query in labelled.queries.values():
        for decoy in query["metadata"].get("decoys", ()):
            entry = labelled.entries[decoy]
            assert entry["metadata"]["scope"] != query["metadata"]["scope"]
            assert entry["metadata"]["status"] != "superseded"


@pytest.mark.parametrize("name", PARALLEL)
def test_decoys_share_words_with_the_question(name: str) -> None:
    labelled = own(name)
    for query in labelled.queries.values():
        for decoy in query["metadata"].get("decoys", ()):
            assert shared_words(query["text"], _everything(labelled.entries[decoy])), query["_id"]


def test_global_questions_are_answered_by_a_global_entry(labelled: OwnSet) -> None:
    for query in labelled.sliced("global"):
        assert any(entry["metadata"].get("layer") for entry in labelled.answers(query))


def test_a_global_entry_is_the_same_in_every_workspace_of_one_split(labelled: OwnSet) -> None:
    homes = {
        query["metadata"]["scope"]: labelled.split_of(query) for query in labelled.queries.values()
    }
    copies: dict[tuple[str, str], set[str]] = {}
    for entry in labelled.entries.values():
        if entry["metadata"].get("layer") == "global":
            text = (entry["title"], entry["text"])
            copies.setdefault(text, set()).add(entry["metadata"]["scope"])
    assert copies
    for scopes in copies.values():
        assert len(scopes) >= 2
        assert len({homes[scope] for scope in scopes}) == 1
