from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import CommandLine

SHOP, OTHER = "/srv/shop", "/srv/other"
FACT = "订单服务使用 PostgreSQL 16，端口 5432"


# remember


def test_a_memory_is_kept_with_all_its_fields_and_found_again(wsmem: CommandLine) -> None:
    options = [
        *("--type", "decision", "--title", "数据库", "--description", "订单库", "--tag", "DB"),
        *("--tag", "postgres", "--term", "database", "--importance", "3"),
    ]
    said = wsmem.works("remember", FACT, "--cwd", SHOP, *options)
    assert said.out.startswith(f"remembered {said.entry_id} in {SHOP} (ws-")
    assert said.out.count("\n") == 1
    (entry,) = wsmem.works("show", "--cwd", SHOP, "--json").json["entries"]
    kept = {name: entry[name] for name in ("id", "type", "title", "description", "content")}
    assert kept == {
        "id": said.entry_id,
        "type": "decision",
        "title": "数据库",
        "description": "订单库",
        "content": FACT,
    }
    assert (entry["tags"], entry["retrievalTerms"]) == (["db", "postgres"], ["database"])
    assert entry["importance"] == 3
    recalled = wsmem.works("recall", "database", "--cwd", SHOP, "--json").json
    assert [match["id"] for match in recalled["matches"]] == [said.entry_id]


def test_remembering_the_same_again_says_that_nothing_was_changed(wsmem: CommandLine) -> None:
    first = wsmem.works("remember", FACT, "--cwd", SHOP)
    before = wsmem.files()
    again = wsmem.works("remember", FACT, "--cwd", SHOP)
    assert again.out.startswith(f"nothing was changed: {first.entry_id}")
    assert wsmem.files() == before
    as_object = wsmem.works("remember", FACT, "--cwd", SHOP, "--json").json
    assert (as_object["entryId"], as_object["added"], as_object["ignored"]) == (
        first.entry_id,
        0,
        1,
    )


def test_a_longer_wording_updates_the_memory_that_nearly_says_it(wsmem: CommandLine) -> None:
    first = wsmem.works("remember", "Deploy with docker compose on the build host", "--cwd", SHOP)
    longer = "We deploy with docker compose on the build host"
    said = wsmem.works("remember", longer, "--cwd", SHOP)
    assert said.out.startswith(f"updated {first.entry_id}")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param([FACT], "say which memory", id="no-place"),
        pytest.param([FACT, "--cwd", ""], "names no workspace", id="empty-cwd"),
        pytest.param([FACT, "--cwd", "/"], "names no workspace", id="root-is-global"),
        pytest.param([FACT, "--cwd", SHOP, "--global"], "exclude each other", id="two-places"),
        pytest.param([FACT, "--global", "--type", "rumour"], "there are: preference", id="type"),
        pytest.param(["登录密码是 Kx7pQ2vL9z", "--global"], "not remembered", id="credential"),
        pytest.param(["ok", "--global"], "not remembered", id="says-nothing"),
    ],
)
def test_what_cannot_be_remembered_is_refused_and_leaves_nothing(
    wsmem: CommandLine, arguments: list[str], message: str
) -> None:
    said = wsmem.fails("remember", *arguments)
    assert message in said.err
    assert "Kx7pQ2vL9z" not in said.err
    assert [name for name in wsmem.files() if name.endswith("memory_entries.json")] == []


def test_a_relative_directory_is_taken_from_where_it_was_typed(
    wsmem: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "shop" / "src"
    project.mkdir(parents=True)
    monkeypatch.chdir(project)
    wsmem.works("remember", FACT, "--cwd", "..")
    assert FACT in wsmem.works("show", "--cwd", str(tmp_path / "shop")).out
    monkeypatch.chdir(tmp_path)
    assert FACT in wsmem.works("show", "--cwd", "./shop").out


def test_the_present_directory_alone_means_nothing(
    wsmem: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wsmem.works("remember", FACT, "--cwd", ".")
    assert wsmem.works("show", "--json").json["scope"] == "global"
    assert wsmem.works("status", "--json").json["scope"] == "global"
    wsmem.fails("forget", "mem-000000000000")


def test_a_memory_of_one_conversation_is_seen_by_that_session_alone(wsmem: CommandLine) -> None:
    said = wsmem.works("remember", FACT, "--cwd", SHOP, "--session", "s-1")
    assert "session-" in said.out
    assert wsmem.works("show", "--cwd", SHOP, "--json").json["entries"] == []
    assert "not found" not in wsmem.fails("forget", said.entry_id, "--cwd", SHOP).err
    wsmem.works("forget", said.entry_id, "--cwd", SHOP, "--session", "s-1")


# forget and purge


def test_forgetting_takes_a_memory_out_of_recall_and_keeps_its_record(wsmem: CommandLine) -> None:
    entry_id = wsmem.works("remember", FACT, "--cwd", SHOP).entry_id
    said = wsmem.works("forget", entry_id, "--cwd", SHOP)
    assert said.out.startswith(f"forgot {entry_id} in {SHOP}")
    assert wsmem.works("recall", "PostgreSQL", "--cwd", SHOP, "--json").json["matches"] == []
    assert f"{entry_id}  deleted" in wsmem.works("show", "--cwd", SHOP).out


def test_a_global_memory_is_forgotten_from_a_workspace_that_shows_it(wsmem: CommandLine) -> None:
    entry_id = wsmem.works("remember", FACT, "--global").entry_id
    assert "in the global memory" in wsmem.works("forget", entry_id, "--cwd", SHOP).out


@pytest.mark.parametrize("command", [["forget"], ["purge"], ["purge", "--yes"]])
def test_every_way_an_id_can_be_wrong_has_a_message_of_its_own(
    wsmem: CommandLine, command: list[str]
) -> None:
    kept = wsmem.works("remember", FACT, "--cwd", SHOP).entry_id
    before = wsmem.files()
    wrong = {
        kept[:8]: f"is shortened; give a whole id ({kept})",
        "mem-ffffffffffff": "no entry 'mem-ffffffffffff'",
        " ": "is not a whole memory id",
    }
    for entry_id, message in wrong.items():
        assert message in wsmem.fails(*command, entry_id, "--cwd", SHOP).err
    assert "in another workspace" in wsmem.fails(*command, kept, "--cwd", OTHER).err
    assert wsmem.files() == before


def test_forgetting_twice_is_an_error(wsmem: CommandLine) -> None:
    entry_id = wsmem.works("remember", FACT, "--cwd", SHOP).entry_id
    wsmem.works("forget", entry_id, "--cwd", SHOP)
    assert "already deleted" in wsmem.fails("forget", entry_id, "--cwd", SHOP).err


def test_purging_removes_the_text_from_every_file_and_names_them(wsmem: CommandLine) -> None:
    entry_id = wsmem.works("remember", FACT, "--cwd", SHOP).entry_id
    wsmem.works("remember", "前端使用 pnpm 安装依赖", "--cwd", SHOP)
    wsmem.works("forget", entry_id, "--cwd", SHOP)
    said = wsmem.works("purge", entry_id, "--cwd", SHOP, "--yes")
    assert said.out.startswith(f"purged {entry_id}\n  rewritten: ")
    assert "memory_entries.json" in said.out
    assert "summary_history/" in said.out
    assert not [name for name, data in wsmem.files().items() if FACT.encode() in data]
    assert "no entry" in wsmem.fails("purge", entry_id, "--cwd", SHOP, "--yes").err


def test_purging_asks_first_and_shows_what_would_go(wsmem: CommandLine) -> None:
    entry_id = wsmem.works("remember", FACT, "--cwd", SHOP).entry_id
    before = wsmem.files()
    for answer, message in {"n\n": "not confirmed", "": "nobody is there to confirm it"}.items():
        said = wsmem.fails("purge", entry_id, "--cwd", SHOP, stdin=answer)
        assert FACT in said.err
        assert message in said.err
    assert wsmem.files() == before
    assert wsmem.works("purge", entry_id, "--cwd", SHOP, stdin="y\n").out.startswith("purged")


def test_a_purge_in_json_lists_what_it_did(wsmem: CommandLine) -> None:
    entry_id = wsmem.works("remember", FACT, "--cwd", SHOP).entry_id
    copy = wsmem.works("remember", FACT, "--global").entry_id
    report = wsmem.works("purge", entry_id, "--cwd", SHOP, "--yes", "--json").json
    assert (report["entryId"], report["found"], report["left"]) == (entry_id, True, [])
    assert report["alsoIn"] == [["global", copy]]


# scopes, show, status


def test_looking_never_makes_a_store(wsmem: CommandLine) -> None:
    for command in (["scopes"], ["show", "--cwd", SHOP], ["status", "--cwd", SHOP], ["scopes"]):
        wsmem.works(*command)
    assert not wsmem.root.exists()


def test_scopes_lists_keys_whole_with_their_directories(wsmem: CommandLine) -> None:
    wsmem.works("remember", FACT, "--cwd", SHOP)
    wsmem.works("remember", FACT, "--cwd", "/srv/商店")
    listed = wsmem.works("scopes", "--json").json["scopes"]
    assert [scope["cwd"] for scope in listed] == ["", SHOP, "/srv/商店"]
    assert [scope["entryCount"] for scope in listed] == [0, 1, 1]
    text = wsmem.works("scopes").out
    assert all(scope["key"] in text and scope["cwd"] in text for scope in listed)


def test_a_scope_is_shown_by_its_key(wsmem: CommandLine) -> None:
    wsmem.works("remember", FACT, "--cwd", SHOP)
    key = wsmem.works("scopes", "--json").json["scopes"][1]["key"]
    assert wsmem.works("show", "--key", key).out == wsmem.works("show", "--cwd", SHOP).out
    unknown = "ws-00000000000000000000"
    assert f"no scope has the key {unknown}" in wsmem.fails("show", "--key", unknown).err
    assert "is not a scope key" in wsmem.fails("show", "--key", "../../etc").err
    assert "leave out" in wsmem.fails("show", "--key", key, "--global").err


def test_another_workspace_is_never_shown(wsmem: CommandLine) -> None:
    wsmem.works("remember", "哨兵 sentinel-7731 只属于另一个项目", "--cwd", OTHER)
    wsmem.works("remember", FACT, "--cwd", SHOP)
    looks = (
        ["show", "--cwd", SHOP],
        ["show"],
        ["status", "--cwd", SHOP, "--json"],
        ["recall", "sentinel-7731", "--cwd", SHOP],
        ["export", "--cwd", SHOP],
        ["export"],
    )
    for look in looks:
        assert "7731" not in wsmem.works(*look).out


def test_what_is_shown_holds_no_credential_whatever_is_stored(wsmem: CommandLine) -> None:
    wsmem.works("remember", FACT, "--cwd", SHOP)
    path = next(wsmem.root.glob("scopes/*/memory_entries.json"))
    (entry,) = json.loads(path.read_text(encoding="utf-8"))
    old = {"content": "密码：Kx7pQ2vL9z", "title": "t", "description": "d", "at": "2026"}
    entry |= {"content": "连接密码：Kx7pQ2vL9z，端口 5432", "revisions": [old]}
    path.write_text(json.dumps([entry]), encoding="utf-8")
    for look in (["show", "--cwd", SHOP], ["show", "--cwd", SHOP, "--json"]):
        said = wsmem.works(*look).out
        assert "Kx7pQ2vL9z" not in said
        assert "端口 5432" in said


def test_control_characters_in_a_memory_are_shown_and_not_obeyed(wsmem: CommandLine) -> None:
    wsmem.works("remember", "Logs are red \x1b[31mand \u202edesrever", "--cwd", SHOP)
    said = wsmem.works("show", "--cwd", SHOP).out
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert r"red \x1b[31mand \u202edesrever" in said


def test_status_tells_how_a_scope_stands(wsmem: CommandLine) -> None:
    wsmem.works("remember", FACT, "--cwd", SHOP)
    found = wsmem.works("status", "--cwd", SHOP, "--json").json
    assert found["entries"] == {"active": 1, "conflict": 0, "superseded": 0, "deleted": 0}
    assert (found["pending"], found["lastCheckpointAt"], found["lastError"]) == (0, None, None)
    lines = wsmem.works("status", "--cwd", SHOP).out.splitlines()
    assert lines[1].split(maxsplit=1) == [
        "entries",
        "1 active, 0 conflict, 0 superseded, 0 deleted",
    ]
    assert lines[2].split(maxsplit=1) == ["waiting", "0 messages"]


# archive


def test_a_workspace_goes_to_the_archive_and_comes_back(wsmem: CommandLine) -> None:
    wsmem.works("remember", FACT, "--cwd", SHOP)
    before = wsmem.works("show", "--cwd", SHOP).out
    assert wsmem.works("archive", "--cwd", SHOP).out == f"archived {_name(before)}: 1 entry\n"
    assert wsmem.works("recall", "PostgreSQL", "--cwd", SHOP, "--json").json["matches"] == []
    assert SHOP not in wsmem.works("scopes").out
    (archived,) = wsmem.works("scopes", "--archived", "--json").json["scopes"]
    assert archived["cwd"] == SHOP
    assert FACT in wsmem.works("show", "--key", archived["key"], "--archived").out
    assert "is archived" in wsmem.fails("remember", FACT, "--cwd", SHOP).err
    assert "in the archive already" in wsmem.fails("archive", "--cwd", SHOP).err
    assert wsmem.works("restore", "--key", archived["key"]).out.startswith("restored")
    assert wsmem.works("show", "--cwd", SHOP).out == before


def test_what_cannot_be_moved_is_an_error(wsmem: CommandLine) -> None:
    assert "has no memory" in wsmem.fails("archive", "--cwd", SHOP).err
    assert "is not in the archive" in wsmem.fails("restore", "--cwd", SHOP).err
    assert "is not in the archive" in wsmem.fails("purge-archived", "--cwd", SHOP, "--yes").err
    assert "is not in the archive" in wsmem.fails("show", "--cwd", SHOP, "--archived").err
    assert "only a workspace" in wsmem.fails("archive", "--key", "global").err
    for command in ("archive", "restore", "purge-archived"):
        assert "name one workspace" in wsmem.fails(command).err
        assert "name one workspace" in wsmem.fails(command, "--cwd", SHOP, "--key", "global").err
    assert wsmem.works("scopes", "--archived").out == "nothing is archived\n"


def test_restoring_over_new_memory_is_refused(wsmem: CommandLine) -> None:
    wsmem.works("remember", FACT, "--cwd", SHOP)
    wsmem.works("archive", "--cwd", SHOP)
    aside = wsmem.root / "archived"
    aside.rename(wsmem.root / "aside")
    wsmem.works("remember", "前端使用 pnpm 安装依赖", "--cwd", SHOP)
    (wsmem.root / "aside").rename(aside)
    assert "new memory in use" in wsmem.fails("restore", "--cwd", SHOP).err
    assert "has memory of" in wsmem.fails("archive", "--cwd", SHOP).err


def test_purging_the_archive_asks_and_leaves_nothing(wsmem: CommandLine) -> None:
    wsmem.works("remember", FACT, "--cwd", SHOP)
    wsmem.works("archive", "--cwd", SHOP)
    assert "not confirmed" in wsmem.fails("purge-archived", "--cwd", SHOP, stdin="\n").err
    said = wsmem.works("purge-archived", "--cwd", SHOP, stdin="yes\n")
    assert said.out.startswith(f"purged {SHOP} (ws-")
    assert not [name for name, data in wsmem.files().items() if FACT.encode() in data]
    wsmem.works("remember", FACT, "--cwd", SHOP)


# as a process


def _name(shown: str) -> str:
    return shown.splitlines()[0]


def _process(root: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "wsmem.cli.main", *arguments, "--memory-dir", str(root)],
        capture_output=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_a_terminal_without_chinese_still_gets_every_answer(wsmem: CommandLine) -> None:
    plain = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    added = _process(wsmem.root, "remember", FACT, "--cwd", "/srv/商店", **plain)
    assert (added.returncode, added.stderr) == (0, b"")
    assert rb"in /srv/\u5546\u5e97 (ws-" in added.stdout
    shown = _process(wsmem.root, "show", "--cwd", "/srv/商店", "--json", **plain)
    assert json.loads(shown.stdout.decode("ascii"))["entries"][0]["content"] == FACT
    exported = _process(wsmem.root, "export", "--cwd", "/srv/商店", **plain)
    assert FACT in exported.stdout.decode("utf-8")


def test_a_reader_that_stops_early_ends_the_command_without_a_trace(wsmem: CommandLine) -> None:
    for number in range(3):
        wsmem.works("remember", f"第 {number} 条：" + f"内容-{number} " * 4000, "--cwd", SHOP)
    command = [sys.executable, "-m", "wsmem.cli.main", "show", "--cwd", SHOP]
    process = subprocess.Popen(
        [*command, "--memory-dir", str(wsmem.root)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline().startswith(SHOP.encode())
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=30) != 120  # what an interpreter says that failed at its exit
