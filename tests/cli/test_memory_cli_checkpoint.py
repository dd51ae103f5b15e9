from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from misbehaving_server import ok, serving

from wsmem.distill import choosing
from wsmem.engine.testing import DistillerError, EchoDistiller, FakeDistiller

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import CommandLine

SHOP = "/srv/shop"
MESSAGES = [
    {"id": "m1", "role": "user", "text": "部署改用 docker compose"},
    {"id": "m2", "role": "assistant", "text": "Deploys now go through docker compose."},
]


def lines(*messages: Any) -> str:
    return "".join(json.dumps(message, ensure_ascii=False) + "\n" for message in messages)


@pytest.fixture
def distiller(monkeypatch: pytest.MonkeyPatch) -> FakeDistiller:
    """Adds what it hears, in place of whatever the settings name."""
    fake = EchoDistiller()
    use(fake, monkeypatch)
    return fake


def use(fake: FakeDistiller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "configured_distiller", lambda _: fake)


def test_messages_are_buffered_until_their_stage_is_ready(
    wsmem: CommandLine, distiller: FakeDistiller, tmp_path: Path
) -> None:
    file = tmp_path / "messages.jsonl"
    file.write_text("\ufeff" + lines(MESSAGES[0]) + "\n\n" + lines(MESSAGES[1]), encoding="utf-8")
    said = wsmem.works(
        *("checkpoint", "--cwd", SHOP, "--reason", "segment-end", "--messages", str(file))
    )
    assert said.out.startswith(f"buffered in {SHOP} (ws-")
    assert said.out.endswith("not distilled yet: 2 of 2 messages new, 2 waiting\n")
    assert not distiller.requests
    status = wsmem.works("status", "--cwd", SHOP, "--json").json
    assert status["pending"] == 2
    assert status["nextStageAt"] is not None


def test_a_forced_stage_is_distilled_at_once(wsmem: CommandLine, distiller: FakeDistiller) -> None:
    command = ("checkpoint", "--cwd", SHOP, "--reason", "explicit", "--force")
    said = wsmem.works(*command, "--messages", "-", stdin=lines(*MESSAGES))
    assert said.out.startswith(f"distilled in {SHOP}")
    assert said.out.endswith(": 2 added (2 of 2 messages new, 0 waiting)\n")
    assert [message.id for message in distiller.requests[0].messages] == ["m1", "m2"]
    assert "docker compose" in wsmem.works("recall", "部署 compose", "--cwd", SHOP).out


def test_messages_handed_over_twice_are_not_distilled_twice(
    wsmem: CommandLine, distiller: FakeDistiller
) -> None:
    command = ("checkpoint", "--cwd", SHOP, "--reason", "task-end", "--messages", "-")
    wsmem.works(*command, stdin=lines(*MESSAGES))
    said = wsmem.works(*command, "--force", stdin=lines(*MESSAGES))
    assert said.out.startswith("nothing to do in ")
    assert said.out.endswith(": 0 of 2 messages new, 0 waiting\n")
    assert len(distiller.requests) == 1


@pytest.mark.usefixtures("distiller")
def test_what_waits_is_distilled_without_new_messages(wsmem: CommandLine) -> None:
    command = ("checkpoint", "--cwd", SHOP, "--reason", "segment-end")
    wsmem.works(*command, "--messages", "-", stdin=lines(*MESSAGES))
    result = wsmem.works(*command, "--force", "--json").json
    assert result == {
        "status": "committed",
        "scope": result["scope"],
        "accepted": 0,
        "pending": 0,
        "added": 2,
        "updated": 0,
        "superseded": 0,
        "conflicts": 0,
        "ignored": 0,
        "error": None,
    }


def test_what_is_too_large_for_one_stage_goes_through_several(
    wsmem: CommandLine, distiller: FakeDistiller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WSMEM_CHECKPOINT_MAX_CHARS", "30")
    three = [
        {"id": f"m{n}", "role": "user", "text": f"fact {word} is on the record"}
        for n, word in enumerate(("alpha", "beta", "gamma"))
    ]
    command = ("checkpoint", "--cwd", SHOP, "--reason", "explicit", "--force", "--messages", "-")
    said = wsmem.works(*command, stdin=lines(*three))
    assert said.out.endswith("(3 of 3 messages new, 0 waiting)\n")
    assert len(distiller.requests) >= 3


def test_a_stage_that_fails_keeps_its_messages_and_says_why(
    wsmem: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = FakeDistiller(DistillerError("the model is out of order"))
    use(failing, monkeypatch)
    command = ("checkpoint", "--cwd", SHOP, "--reason", "explicit", "--force")
    said = wsmem.fails(*command, "--messages", "-", stdin=lines(*MESSAGES))
    assert said.err == ("wsmem: checkpoint failed: the model is out of order; 2 messages wait\n")
    status = wsmem.works("status", "--cwd", SHOP, "--json").json
    assert (status["pending"], status["failures"]) == (2, 1)
    assert status["lastError"] == "the model is out of order"
    assert "the model is out of order" in wsmem.works("status", "--cwd", SHOP).out
    again = wsmem(*command, "--json")
    assert (again.status, again.json["status"], again.json["pending"]) == (2, "failed", 2)


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        pytest.param("{'id': 1}", "not valid JSON", id="no-json"),
        pytest.param('["m9"]', 'expected an object {"id", "role", "text"}', id="no-object"),
        pytest.param(lines({"id": "m9", "role": "user"}), '"text" is missing', id="no-text"),
        pytest.param(
            lines({"id": 9, "role": "user", "text": "x"}), '"id" is not a text', id="number"
        ),
        pytest.param(lines({"id": " ", "role": "user", "text": "x"}), '"id" is empty', id="blank"),
        pytest.param(
            lines({"id": "m9", "role": "tool", "text": "x"}),
            '"role" is none of user, assistant',
            id="role",
        ),
        pytest.param("[" * 100_000, "nested too deeply", id="deep"),
    ],
)
def test_one_bad_line_is_named_and_no_message_is_taken(
    wsmem: CommandLine, tmp_path: Path, bad: str, problem: str
) -> None:
    file = tmp_path / "messages.jsonl"
    file.write_text(lines(MESSAGES[0]) + "\n" + bad, encoding="utf-8")
    command = ("checkpoint", "--cwd", SHOP, "--reason", "explicit", "--messages", str(file))
    said = wsmem.fails(*command)
    assert f"{file}:3: {problem}" in said.err
    assert "nothing of it was taken" in said.err
    assert wsmem.works("status", "--cwd", SHOP, "--json").json["pending"] == 0


def test_bytes_that_are_no_text_are_named_by_line(wsmem: CommandLine) -> None:
    command = ("checkpoint", "--cwd", SHOP, "--reason", "explicit", "--messages", "-")
    said = wsmem.fails(*command, stdin=lines(*MESSAGES).encode() + b'{"id": "\xff\xfe"}\n')
    assert "standard input:3: byte 8 of the line is not UTF-8" in said.err


def test_what_a_checkpoint_cannot_work_with_is_an_error(wsmem: CommandLine) -> None:
    command = ("checkpoint", "--cwd", SHOP)
    assert "Missing option" in wsmem(*command).err
    assert "there are: segment-end" in wsmem.fails(*command, "--reason", "bored").err
    assert "say which memory" in wsmem.fails("checkpoint", "--reason", "explicit").err
    missing = wsmem.fails(*command, "--reason", "explicit", "--messages", "/no/such.jsonl")
    assert "/no/such.jsonl: cannot be read (No such file or directory)" in missing.err
    assert not wsmem.root.exists()


def test_an_archived_workspace_takes_no_messages(
    wsmem: CommandLine, distiller: FakeDistiller
) -> None:
    wsmem.works("remember", "订单服务使用 PostgreSQL", "--cwd", SHOP)
    wsmem.works("archive", "--cwd", SHOP)
    command = ("checkpoint", "--cwd", SHOP, "--reason", "explicit", "--force", "--messages", "-")
    assert "is archived" in wsmem.fails(*command, stdin=lines(*MESSAGES)).err
    assert not distiller.requests


def test_the_model_of_the_settings_distils(
    wsmem: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = {"version": 1, "operations": [{"op": "add", "content": "部署改用 docker compose"}]}
    with serving(ok(json.dumps(answer))) as server:
        monkeypatch.setenv("WSMEM_MODEL", "some-model")
        monkeypatch.setenv("WSMEM_MODEL_BASE_URL", server.url)
        command = ("checkpoint", "--cwd", SHOP, "--reason", "explicit", "--force")
        said = wsmem.works(*command, "--messages", "-", stdin=lines(*MESSAGES))
    assert ": 1 added" in said.out
    assert server.seen[0].body["model"] == "some-model"


def test_without_a_model_the_built_in_rules_distil(wsmem: CommandLine) -> None:
    message = {"id": "m1", "role": "user", "text": "记住：部署一律用 docker compose，不要用 k8s。"}
    command = ("checkpoint", "--cwd", SHOP, "--reason", "explicit", "--force", "--messages", "-")
    assert ": 1 added" in wsmem.works(*command, stdin=lines(message)).out
