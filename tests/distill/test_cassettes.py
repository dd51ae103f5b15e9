"""Cassettes: what was recorded replays byte for byte, what was not is named."""

from __future__ import annotations

import asyncio
import json
import pickle
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wsmem.distill.batch import batch_lines, import_batch
from wsmem.distill.cassettes import Cassette, Planned, recording_of
from wsmem.distill.completion import ChatMessage, Completion, ModelRequest, Usage
from wsmem.distill.failures import (
    BudgetError,
    CassetteError,
    EndpointDownError,
    KeyRefusedError,
    MissingRecordingError,
)
from wsmem.distill.model import ModelDistiller
from wsmem.distill.prices import Price
from wsmem.distill.prompting import load_prompt
from wsmem.distill.recording import estimate, plan, record
from wsmem.operations.contract import DistillRequest
from wsmem.records import MemoryMessage

if TYPE_CHECKING:
    from pathlib import Path

AT = "2026-11-30T12:00:00Z"
ANSWER = '{"version": 1, "operations": []}'
PRICE = Price(
    model="m", currency="USD", input=1.0, cached=0.1, output=2.0, source="here", as_of="2026-01"
)


def planned(case: str, text: str = "你好", **changes: Any) -> Planned:
    fields: dict[str, Any] = {
        "prompt": "careful@1",
        "model": "m",
        "messages": (ChatMessage("system", "json"), ChatMessage("user", text)),
        "parameters": {"temperature": 0, "max_tokens": 100},
        **changes,
    }
    return Planned(case=case, request=ModelRequest(**fields))


def completion(text: str = ANSWER, **changes: Any) -> Completion:
    fields: dict[str, Any] = {
        "text": text,
        "finish_reason": "stop",
        "model": "m-2026",
        "usage": Usage(input_tokens=1_000, cached_tokens=200, output_tokens=50),
        "latency_ms": 321,
        "attempts": 2,
        "json_mode": True,
        **changes,
    }
    return Completion(**fields)


def kept(path: Path, *items: tuple[Planned, Completion]) -> Cassette:
    cassette = Cassette(path)
    for item, answer in items:
        cassette.append(recording_of(item, answer, at=AT))
    return cassette


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "model.jsonl"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(ANSWER, id="json"),
        pytest.param(" \r\n\t中文“引号” \\n \x00 \u2028 🀄 ", id="odd-characters"),
        pytest.param("", id="empty"),
        pytest.param("lone \ud83d surrogate", id="lone-surrogate"),
    ],
)
def test_a_recording_replays_byte_for_byte(path: Path, text: str) -> None:
    item = planned("case-1")
    if not text.isascii() and "\ud83d" in text:
        with pytest.raises(UnicodeEncodeError):
            kept(path, (item, completion(text)))
        return
    kept(path, (item, completion(text)))
    replayed = asyncio.run(Cassette(path).replay(item.request))
    assert replayed == completion(text)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_any_text_survives(text: str) -> None:
    # The line itself, without a file for every example.
    from wsmem.distill import cassettes  # noqa: PLC0415

    line = cassettes._as_line(recording_of(planned("c"), completion(text), at=AT))
    from wsmem.distill.cassette_format import CassetteLine  # noqa: PLC0415

    read = CassetteLine.model_validate_json(json.dumps(line))
    assert cassettes._as_recording(read).completion.text == text


def test_a_file_is_one_json_line_a_recording_in_the_order_they_came(path: Path) -> None:
    kept(path, (planned("a"), completion()), (planned("b", "别的"), completion()))
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["case"] for line in lines] == ["a", "b"]
    first = json.loads(lines[0])
    assert first["version"] == 1
    assert first["usage"] == {
        "inputTokens": 1_000, "cachedTokens": 200, "outputTokens": 50, "reasoningTokens": None,
    }  # fmt: skip
    assert first["latencyMs"] == 321
    assert first["parameters"] == {"temperature": 0, "max_tokens": 100}


def test_the_same_recording_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        kept(tmp_path / name, (planned("a"), completion()))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"prompt": "careful@2"}, id="prompt"),
        pytest.param({"model": "other"}, id="model"),
        pytest.param({"parameters": {"temperature": 1, "max_tokens": 100}}, id="parameter"),
        pytest.param({"messages": (ChatMessage("user", "json 你好"),)}, id="messages"),
    ],
)
def test_a_changed_request_is_not_answered_from_the_cassette(
    path: Path, changed: dict[str, Any]
) -> None:
    cassette = kept(path, (planned("a"), completion()))
    with pytest.raises(MissingRecordingError):
        asyncio.run(cassette.replay(planned("a", **changed).request))


def test_every_case_that_needs_recording_is_named(path: Path) -> None:
    cassette = kept(path, (planned("b", "2"), completion()))
    wanted = [planned(name, text) for name, text in (("a", "1"), ("b", "2"), ("c", "3"))]
    assert [item.case for item in cassette.missing(wanted)] == ["a", "c"]
    with pytest.raises(
        MissingRecordingError, match=r"for 2 case\(s\): a, c; record them"
    ) as caught:
        cassette.require(wanted)
    assert caught.value.cases == ("a", "c")
    assert pickle.loads(pickle.dumps(caught.value)).cases == ("a", "c")


def test_a_later_recording_of_a_request_counts(path: Path) -> None:
    item = planned("a")
    kept(path, (item, completion("first")), (item, completion("second")))
    assert asyncio.run(Cassette(path).replay(item.request)).text == "second"


def test_a_line_cut_short_by_a_crash_is_not_there_and_gives_way(path: Path) -> None:
    kept(path, (planned("a"), completion()), (planned("b", "2"), completion()))
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    cassette = Cassette(path)
    assert [recording.case for recording in cassette] == ["a"]
    assert path.read_bytes() == whole[:-30]  # reading changes nothing
    cassette.append(recording_of(planned("b", "2"), completion(), at=AT))
    assert path.read_bytes() == whole


def test_a_last_line_without_its_end_is_kept(path: Path) -> None:
    kept(path, (planned("a"), completion()))
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    Cassette(path).append(recording_of(planned("b", "2"), completion(), at=AT))
    assert [recording.case for recording in Cassette(path)] == ["a", "b"]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("{", id="no-json"),
        pytest.param("[]", id="no-object"),
        pytest.param('{"version": 2}', id="newer-version"),
        pytest.param('{"version": 1, "key": "xyz"}', id="odd-key"),
    ],
)
def test_a_line_that_is_no_recording_is_named_and_left(path: Path, line: str) -> None:
    kept(path, (planned("a"), completion()))
    content = f"{line}\n".encode() + path.read_bytes()
    path.write_bytes(content)
    with pytest.raises(CassetteError, match=r":1: not a recording"):
        Cassette(path)
    assert path.read_bytes() == content


def test_a_cassette_that_must_exist_and_does_not_is_an_error(path: Path) -> None:
    with pytest.raises(CassetteError, match="no such cassette"):
        Cassette(path, must_exist=True)
    assert len(Cassette(path)) == 0


def test_a_cassette_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    cassette = Cassette(tmp_path / "folder" / "c.jsonl")
    (tmp_path / "folder").write_bytes(b"")
    with pytest.raises(CassetteError, match="cannot be written"):
        cassette.append(recording_of(planned("a"), completion(), at=AT))


def test_a_directory_is_no_cassette(tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match="cannot be read"):
        Cassette(tmp_path)


def test_a_distiller_runs_on_a_cassette_without_a_network(path: Path) -> None:
    said = MemoryMessage(id="m1", role="user", text="我们决定用 Kafka")
    request = DistillRequest(scope="ws", cwd="/p", reason="explicit", messages=(said,), existing=())
    prompt = load_prompt("concise@1")
    (item,) = plan([("case-1", request)], prompt, model="m")
    cassette = kept(path, (item, completion()))
    distiller = ModelDistiller(prompt, model="m", ask=cassette.replay)
    output = asyncio.run(distiller(request))
    assert output.answer == ANSWER
    other = ModelDistiller(load_prompt("careful@1"), model="m", ask=cassette.replay)
    with pytest.raises(MissingRecordingError, match="careful@1"):
        asyncio.run(other(request))


class Model:
    """Answers requests and remembers how many were under way at once."""

    def __init__(self, *failing: str, error: Exception | None = None) -> None:
        self.failing, self.error = failing, error
        self.asked: list[str] = []
        self.under_way = self.most_under_way = 0

    async def __call__(self, request: ModelRequest) -> Completion:
        text = request.messages[-1].content
        self.asked.append(text)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        await asyncio.sleep(0.005)
        self.under_way -= 1
        if text in self.failing:
            raise self.error or EndpointDownError("host", 503, 4)
        return completion(finish_reason="length" if text == "cut" else "stop")


def many(count: int) -> list[Planned]:
    return [planned(f"case-{number}", f"{number}") for number in range(count)]


def test_recording_asks_some_at_a_time_and_keeps_every_answer(path: Path) -> None:
    model = Model()
    report = asyncio.run(
        record(many(12), ask=model, cassette=Cassette(path), concurrency=3, price=PRICE)
    )
    assert model.most_under_way == 3
    assert (report.recorded, report.failed, report.stopped) == (12, [], None)
    assert report.cost == pytest.approx(12 * (800 * 1.0 + 200 * 0.1 + 50 * 2.0) / 1e6)
    assert (report.input_tokens, report.output_tokens) == (12_000, 600)
    assert len(Cassette(path)) == 12


def test_recording_goes_on_where_it_ended(path: Path) -> None:
    kept(path, *((item, completion()) for item in many(5)))
    model = Model()
    asyncio.run(record(many(8), ask=model, cassette=Cassette(path)))
    assert sorted(model.asked) == ["5", "6", "7"]


def test_a_case_that_fails_does_not_stop_the_others(path: Path) -> None:
    said: list[tuple[str, str | None]] = []
    report = asyncio.run(
        record(
            many(4),
            ask=Model("1"),
            cassette=Cassette(path),
            concurrency=1,
            on_progress=lambda item, problem: said.append((item.case, problem)),
        )
    )
    assert report.recorded == 3
    assert [case for case, _ in report.failed] == ["case-1"]
    assert [problem is None for _, problem in said] == [True, False, True, True]


def test_a_refused_key_ends_the_run(path: Path) -> None:
    model = Model("1", error=KeyRefusedError("host", 401, 1))
    report = asyncio.run(record(many(9), ask=model, cassette=Cassette(path), concurrency=1))
    assert model.asked == ["0", "1"]
    assert report.stopped is not None
    assert report.recorded == 1


def test_a_cut_answer_is_recorded_as_what_it_is(path: Path) -> None:
    item = planned("c", "cut")
    report = asyncio.run(record([item], ask=Model(), cassette=Cassette(path)))
    assert (report.recorded, report.unusable) == (1, 1)
    assert asyncio.run(Cassette(path).replay(item.request)).finish_reason == "length"


def test_the_cap_is_never_passed_however_many_are_under_way(path: Path) -> None:
    # At most: (8 bytes / 3) * 1 + 100 * 2 = 202.7 millionths; in fact 920 millionths are charged.
    model = Model()
    report = asyncio.run(
        record(
            many(50),
            ask=model,
            cassette=Cassette(path),
            concurrency=4,
            price=PRICE,
            max_cost=0.0021,
        )
    )
    assert report.stopped is not None
    assert "cap of 0.0021" in report.stopped
    assert len(model.asked) < 10
    assert report.recorded == len(Cassette(path)) == len(model.asked)


def test_a_cap_without_a_price_sends_nothing(path: Path) -> None:
    model = Model()
    with pytest.raises(BudgetError, match="the price of this model is unknown"):
        asyncio.run(record(many(2), ask=model, cassette=Cassette(path), max_cost=1.0))
    assert model.asked == []


def test_the_estimate_counts_only_what_is_missing(path: Path) -> None:
    cassette = kept(path, (many(3)[0], completion()))
    preview = estimate(many(3), cassette, PRICE)
    assert (preview.requests, preview.recorded, preview.request_bytes) == (2, 1, 10)
    assert preview.most == pytest.approx(2 * (5 / 3 * 1.0 + 100 * 2.0) / 1e6)
    assert estimate(many(3), cassette, None).most is None


def test_a_batch_line_is_a_request_of_the_batch_format() -> None:
    item = planned("a")
    (line,) = batch_lines([item])
    assert json.loads(line) == {
        "custom_id": item.request.key,
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {
            "model": "m",
            "messages": [
                {"role": "system", "content": "json"},
                {"role": "user", "content": "你好"},
            ],
            "temperature": 0,
            "max_tokens": 100,
            "response_format": {"type": "json_object"},
        },
    }


def test_answers_of_a_batch_become_recordings(tmp_path: Path, path: Path) -> None:
    items = many(5)
    body = {
        "model": "m-2026",
        "choices": [{"finish_reason": "stop", "message": {"content": ANSWER}}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 3},
    }
    keys = [item.request.key for item in items]
    lines: list[dict[str, Any]] = [
        {"id": "r0", "custom_id": keys[2], "response": {"status_code": 200, "body": body}},
        {"id": "r1", "custom_id": keys[0], "response": {"status_code": 200, "body": body}},
        {"id": "r2", "custom_id": keys[1], "response": {"status_code": 429, "body": {}}},
        {"id": "r3", "custom_id": keys[3], "response": None, "error": {"code": "expired"}},
        {"id": "r4", "custom_id": keys[4], "response": {"status_code": 200, "body": {}}},
        {"id": "r5", "custom_id": "stranger", "response": {"status_code": 200, "body": body}},
    ]
    output = tmp_path / "output.jsonl"
    output.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    report = import_batch(output, items, Cassette(path), at=AT)
    assert report.recorded == 2
    assert [case for case, _ in report.failed] == ["case-1", "case-3", "case-4"]
    assert report.strangers == ["stranger"]
    replayed = asyncio.run(Cassette(path).replay(items[0].request))
    assert replayed.text == ANSWER
    assert replayed.usage.input_tokens == 9
    assert import_batch(output, items, Cassette(path), at=AT).known == 2


def test_a_line_that_is_not_of_a_batch_is_named(tmp_path: Path, path: Path) -> None:
    output = tmp_path / "output.jsonl"
    output.write_text('{"hello": 1}\n', encoding="utf-8")
    with pytest.raises(CassetteError, match=":1: not a line of a batch"):
        import_batch(output, many(1), Cassette(path), at=AT)
    with pytest.raises(CassetteError, match="cannot be read"):
        import_batch(tmp_path / "absent", many(1), Cassette(path), at=AT)
