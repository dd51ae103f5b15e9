from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_data import golden

from wsmem.errors import UnreadableOutputError
from wsmem.operations.parsing import parse_output

OPERATIONS: list[dict[str, Any]] = [
    {"op": "add", "content": "前端构建用 ```pnpm build```，产物含 } 与 {。"},
    {"op": "add", "content": "Deploys run on Friday [sic].", "tags": ["deploy"]},
]
DOCUMENT = json.dumps({"version": 1, "operations": OPERATIONS}, ensure_ascii=False)
PRETTY = json.dumps({"version": 1, "operations": OPERATIONS}, ensure_ascii=False, indent=2)


def contents(answer: Any) -> list[str]:
    return [proposal.operation.content for proposal in parse_output(answer)]


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(DOCUMENT, id="plain"),
        pytest.param(f"```json\n{PRETTY}\n```", id="fence"),
        pytest.param(f"```\n{DOCUMENT}\n```\n", id="fence-without-language"),
        pytest.param(f"Here is what I found:\n\n{DOCUMENT}", id="prose-before"),
        pytest.param(f"{DOCUMENT}\n\nNothing else; see {{note}} and [1].", id="prose-after"),
        pytest.param(f'<think>either {{a}} or {{"b": 1}}</think>\n{DOCUMENT}', id="think"),
        pytest.param(f"<think>draft: {DOCUMENT}</think>{PRETTY}", id="draft-inside-think"),
        pytest.param(f"draft {DOCUMENT}</think>\n{DOCUMENT}", id="think-without-opening"),
        pytest.param(f"<thinking>a <think>b</think> {{c}}</thinking>{DOCUMENT}", id="nested-think"),
        pytest.param("\ufeff" + PRETTY.replace("\n", "\r\n"), id="bom-and-crlf"),
        pytest.param(json.dumps(OPERATIONS, ensure_ascii=False), id="bare-list"),
        pytest.param(f"```json\n{json.dumps(OPERATIONS)}\n```", id="bare-list-in-a-fence"),
        pytest.param(f"Sure [as asked]: {json.dumps(OPERATIONS)} Done.", id="bare-list-in-prose"),
        pytest.param(json.dumps({"memories": OPERATIONS}), id="memories"),
        pytest.param(f'I weigh {{"op": x}} first. {DOCUMENT}', id="pseudo-json-before"),
        pytest.param({"version": 1, "operations": OPERATIONS}, id="decoded"),
        pytest.param(OPERATIONS, id="decoded-list"),
    ],
)
def test_every_wrapping_gives_the_same_operations(answer: Any) -> None:
    assert contents(answer) == [operation["content"] for operation in OPERATIONS]


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("", id="empty"),
        pytest.param(" \n", id="blank"),
        pytest.param("\ufeff", id="only-a-bom"),
        pytest.param("没有值得记住的内容。", id="prose"),
        pytest.param(DOCUMENT[:-20], id="cut-in-a-string"),
        pytest.param(DOCUMENT[:-1], id="cut-before-the-last-brace"),
        pytest.param(DOCUMENT[:-1] + ",}", id="trailing-comma"),
        pytest.param(f"{DOCUMENT}\n{DOCUMENT}", id="two-documents"),
        pytest.param(f"{DOCUMENT} and also {json.dumps(OPERATIONS)}", id="a-document-and-a-list"),
        pytest.param(f"<think>{DOCUMENT}", id="reasoning-that-never-ends"),
        pytest.param(f"<think>{DOCUMENT}</think>", id="only-reasoning"),
        pytest.param('{"version": 2, "operations": []}', id="version-2"),
        pytest.param('{"version": true, "operations": []}', id="version-true"),
        pytest.param('{"operations": []}', id="no-version"),
        pytest.param('{"version": 1}', id="no-operations"),
        pytest.param('{"version": 1, "operations": {}}', id="operations-not-a-list"),
        pytest.param('"text"', id="a-string"),
        pytest.param("null", id="null"),
        pytest.param("NaN", id="not-json"),
        pytest.param('{"version": 1, "operations": [{"importance": NaN}]}', id="nan-inside"),
        pytest.param("see [1] and [note] or []", id="brackets-in-prose"),
        pytest.param(None, id="nothing"),
        pytest.param(42, id="a-number"),
        pytest.param("[" * 100_000, id="deep-nesting"),
        pytest.param('{"a":' * 50_000, id="deep-objects"),
        pytest.param("<think>" * 50_000, id="many-reasoning-marks"),
    ],
)
def test_anything_else_is_unreadable(answer: Any) -> None:
    with pytest.raises(UnreadableOutputError, match="pending"):
        parse_output(answer)


def test_an_older_list_reads_as_adds_whatever_its_items_call_themselves() -> None:
    (proposal,) = parse_output([{"op": "supersede", "targetId": "mem-1", "content": "一条事实"}])
    assert proposal.operation.op == "add"
    assert proposal.fault is None


@pytest.mark.parametrize(
    ("item", "fault"),
    [
        pytest.param("text", "not an object", id="text"),
        pytest.param(None, "not an object", id="null"),
        pytest.param(["add"], "not an object", id="list"),
        pytest.param({"op": "add"}, "content", id="no-content"),
        pytest.param({"op": "add", "content": 42}, "content", id="content-not-text"),
        pytest.param(
            {"op": "add", "content": "四个字符", "importance": "high"}, "importance", id="word"
        ),
        pytest.param(
            {"op": "add", "content": "四个字符", "importance": [3]}, "importance", id="list"
        ),
        pytest.param({"op": "add", "content": "四个字符", "targetScope": 3}, "scope", id="scope"),
    ],
)
def test_a_bad_item_is_at_fault_alone(item: Any, fault: str) -> None:
    good = {"op": "add", "content": "好的一条"}
    first, second = parse_output({"version": 1, "operations": [item, good]})
    assert fault in (first.fault or "")
    assert second.fault is None


def test_missing_and_null_fields_are_the_same() -> None:
    nulls = dict.fromkeys(
        ("op", "scope", "targetId", "targetScope", "oldQuote", "newQuote", "evidenceMessageIds",
         "type", "title", "description", "tags", "retrievalTerms", "importance"))  # fmt: skip
    with_nulls, without = parse_output([{**nulls, "content": "一条事实"}, {"content": "一条事实"}])
    assert with_nulls == without


def test_fields_of_the_wrong_kind_are_left_out_and_lists_lose_what_is_no_text() -> None:
    (proposal,) = parse_output(
        [{"content": "一条事实", "title": 7, "tags": "no", "retrievalTerms": [1, None, "ok"]}]
    )
    assert proposal.operation.title is None
    assert proposal.operation.tags == ()
    assert proposal.operation.retrieval_terms == ("ok",)


def test_an_unknown_operation_keeps_its_name() -> None:
    named, numbered = parse_output(
        {"version": 1, "operations": [{"op": "delete", "content": "x"}, {"op": 5, "content": "x"}]}
    )
    assert (named.operation.op, numbered.operation.op) == ("delete", "5")


@given(st.text())
def test_no_text_does_anything_but_parse_or_be_refused(answer: str) -> None:
    with contextlib.suppress(UnreadableOutputError):
        parse_output(answer)


@given(prose=st.text(alphabet=st.characters(exclude_characters='{[<"')), behind=st.booleans())
def test_plain_prose_around_a_document_changes_nothing(prose: str, *, behind: bool) -> None:
    answer = f"{DOCUMENT}{prose}" if behind else f"{prose}{DOCUMENT}"
    assert contents(answer) == [operation["content"] for operation in OPERATIONS]


DIFFERENT_FROM_THE_PLUGIN = {
    "bare-array-two": "a bare list is an accepted shape; the plugin cuts from the first brace on",
    "bare-array-one": "a bare list is an accepted shape; the plugin cuts from the first brace on",
    "bare-array-empty": "an answer that is an empty list says that nothing is worth keeping",
    "think-then-json": "braces inside a reasoning part do not spoil the answer behind it",
}
"""Recorded answers that we read and the plugin does not, and why."""


def test_recorded_answers_are_read_as_by_the_plugin_but_for_the_listed_ones() -> None:
    wrong = {}
    for case in golden("model_output.json")["cases"]:
        if "modelText" not in case["input"]:
            continue  # failures of the model call: the engine's tests have them
        name, expected = case["name"], case["expected"]
        try:
            found: list[str] | None = contents(case["input"]["modelText"])
        except UnreadableOutputError:
            found = None
        same = found == (None if expected["failed"] else expected["contents"])
        if same == (name in DIFFERENT_FROM_THE_PLUGIN):
            wrong[name] = found
    assert wrong == {}
