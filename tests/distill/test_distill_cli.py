"""`wsmem distill …` from the outside, against a server on loopback."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from misbehaving_server import error, ok, serving

from wsmem.cli.main import main
from wsmem.distill.cassettes import Cassette

if TYPE_CHECKING:
    from pathlib import Path

KEY = "sk-cli-9Zq81Lm44Xv02Hn7"
ANSWER = json.dumps(
    {
        "version": 1,
        "operations": [{"op": "add", "scope": "workspace", "content": "队列用 Kafka"}],
    },
    ensure_ascii=False,
)


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty home, one set of cases, a key."""
    monkeypatch.setenv("WSMEM_MEMORY_DIR", str(tmp_path / "memory"))
    monkeypatch.setenv("WSMEM_DATASETS", str(tmp_path / "datasets"))
    monkeypatch.setenv("WSMEM_API_KEY", KEY)
    folder = tmp_path / "datasets" / "distill-tiny"
    folder.mkdir(parents=True)
    rows = [case(number, "test" if number == 3 else "train") for number in range(1, 4)]
    lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    (folder / "cases.jsonl").write_text(lines, encoding="utf-8")


def case(number: int, split: str) -> dict[str, Any]:
    return {
        "_id": f"tiny-{number}",
        "language": "zh",
        "split": split,
        "slice": ["decision"],
        "cwd": "/repo/tiny",
        "messages": [{"id": "m1", "role": "user", "text": f"第 {number} 件事：我们决定用 Kafka"}],
        "existing": [],
        "expected": [],
    }


@pytest.fixture
def talk(tmp_path: Path) -> str:
    file = tmp_path / "talk.jsonl"
    said = {"id": "m1", "role": "user", "text": "刚才说错了，接口超时是 60 秒"}
    file.write_text(json.dumps(said, ensure_ascii=False) + "\n", encoding="utf-8")
    return str(file)


def record(server_url: str, cassette: Path, *more: str) -> int:
    return main(
        [
            "distill", "record", "--dataset", "distill-tiny", "--model", "deepseek-chat",
            "--prompt", "concise@1", "--base-url", server_url, "--cassette", str(cassette),
            "--yes", *more,
        ]
    )  # fmt: skip


def test_the_prompts_are_listed_with_their_changes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["distill", "prompts"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in ("careful@1", "concise@1", "few-shot@1", "First version"))


def test_a_prompt_is_shown_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["distill", "prompts", "concise", "--language", "zh"]) == 0
    assert "只回答一个 json 对象" in capsys.readouterr().out
    assert main(["distill", "prompts", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["prompts"]
    assert {"zh", "en"} == set(listed[0]["languages"])


def test_a_conversation_runs_through_the_rules(
    talk: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = tmp_path / "memory_entries.json"
    entry = {"id": "mem-1", "content": "接口超时是 30 秒"}
    known.write_text(json.dumps({"version": 1, "entries": [entry]}), encoding="utf-8")
    assert main(["distill", "run", "--messages", talk, "--existing", str(known)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("supersede mem-1  [workspace, fact]  接口超时是 60 秒")
    assert not (tmp_path / "memory").exists()


def test_a_conversation_runs_through_a_model(talk: str, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(ok(ANSWER)) as server:
        arguments = ["--model", "deepseek-chat", "--base-url", server.url, "--json"]
        assert main(["distill", "run", "--messages", talk, *arguments]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["answer"] == json.loads(ANSWER)
    assert shown["details"]["prompt"] == "careful@1"
    assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_failing_model_is_one_line_on_standard_error(
    talk: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(error(401, f"bad key {KEY}")) as server:
        arguments = ["--model", "m", "--base-url", server.url]
        assert main(["distill", "run", "--messages", talk, *arguments]) == 2
    said = capsys.readouterr()
    assert "the key is missing or refused" in said.err
    assert KEY[:8] not in said.err + said.out


def test_recording_asks_for_every_case_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cassette = tmp_path / "c.jsonl"
    with serving(ok(ANSWER)) as server:
        assert record(server.url, cassette) == 0
        said = capsys.readouterr()
        assert record(server.url, cassette) == 0
        again = capsys.readouterr()
    assert len(server.seen) == 3
    assert {recording.case for recording in Cassette(cassette)} == {"tiny-1", "tiny-2", "tiny-3"}
    assert "3 requests to deepseek-chat" in said.err
    assert "at most" in said.err
    assert "3 answers recorded" in said.out
    assert "nothing to record: 3 answers" in again.out
    assert KEY not in cassette.read_text(encoding="utf-8")


def test_only_one_split_is_recorded_when_asked(tmp_path: Path) -> None:
    with serving(ok(ANSWER)) as server:
        assert record(server.url, tmp_path / "c.jsonl", "--split", "train") == 0
    assert len(server.seen) == 2


def test_a_run_that_fails_in_part_goes_on_later(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cassette = tmp_path / "c.jsonl"
    with serving(ok(ANSWER), error(400, "no"), ok(ANSWER)) as server:
        assert record(server.url, cassette, "--concurrency", "1") == 2
        assert "1 case could not be recorded; run again" in capsys.readouterr().err
        assert record(server.url, cassette) == 0
    assert len(Cassette(cassette)) == 3


def test_a_cap_stops_before_it_is_passed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(ok(ANSWER)) as server:
        assert record(server.url, tmp_path / "c.jsonl", "--max-cost", "0.0000001") == 2
    assert server.seen == []
    assert "pass the cap" in capsys.readouterr().err


def test_without_an_answer_to_the_question_nothing_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import io  # noqa: PLC0415

    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    with serving(ok(ANSWER)) as server:
        arguments = ["--model", "m", "--base-url", server.url, "--cassette", str(tmp_path / "c")]
        assert main(["distill", "record", "--dataset", "distill-tiny", *arguments]) == 2
    assert server.seen == []
    assert "not confirmed" in capsys.readouterr().err


def test_an_unknown_set_lists_those_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--model", "m", "--cassette", str(tmp_path / "c"), "--yes"]
    assert main(["distill", "record", "--dataset", "absent", *arguments]) == 2
    assert "distill-tiny" in capsys.readouterr().err


def test_a_batch_goes_out_and_its_answers_come_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, answers, cassette = (tmp_path / name for name in ("batch", "answers", "c.jsonl"))
    common = ["--dataset", "distill-tiny", "--model", "m", "--prompt", "concise@1"]
    assert main(["distill", "batch-export", *common, "--out", str(out)]) == 0
    requests = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    body = {"choices": [{"finish_reason": "stop", "message": {"content": ANSWER}}]}
    lines = [
        {"custom_id": request["custom_id"], "response": {"status_code": 200, "body": body}}
        for request in requests
    ]
    answers.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    given = [*common, "--answers", str(answers), "--cassette", str(cassette)]
    assert main(["distill", "batch-import", *given]) == 0
    assert "3 answers recorded" in capsys.readouterr().out
    export = [*common, "--out", str(out), "--cassette", str(cassette)]
    assert main(["distill", "batch-export", *export]) == 0
    assert out.read_text(encoding="utf-8") == ""


def test_the_default_prompt_of_the_commands_is_that_of_the_package() -> None:
    from wsmem.cli.recording import DEFAULT  # noqa: PLC0415
    from wsmem.distill.prompting import DEFAULT_PROMPT  # noqa: PLC0415

    assert DEFAULT == DEFAULT_PROMPT
