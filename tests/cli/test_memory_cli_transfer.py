from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING, Any

import pytest
from command_line import CommandLine

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SHOP, OTHER = "/srv/shop", "/srv/other"


@pytest.fixture
def second(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> CommandLine:
    """A command line over another store."""
    return CommandLine(tmp_path / "second", capsys, monkeypatch)


@pytest.fixture
def backup(wsmem: CommandLine, tmp_path: Path) -> Path:
    """A document of a workspace and of global memory."""
    wsmem.works("remember", "订单服务使用 PostgreSQL 16", "--cwd", SHOP)
    wsmem.works("remember", "The build needs Node 22", "--cwd", SHOP)
    wsmem.works("remember", "用户喜欢简短的回答", "--global")
    file = tmp_path / "backup.json"
    said = wsmem.works("export", "--all", "--out", str(file))
    assert (said.out, said.err) == ("", f"exported 3 entries of 2 scopes to {file}\n")
    return file


def edited(file: Path, change: Callable[[Any], object]) -> str:
    """The document with a change, as text."""
    document = json.loads(file.read_text(encoding="utf-8"))
    change(document)
    return json.dumps(document, ensure_ascii=False)


def test_a_store_is_carried_over_whole_and_only_once(
    wsmem: CommandLine, second: CommandLine, backup: Path
) -> None:
    said = second.works("import", str(backup))
    assert said.out.splitlines()[0] == "the global memory: 1 added, 0 there already, 0 refused"
    assert said.out.splitlines()[1].endswith("): 2 added, 0 there already, 0 refused")
    for place in (["--global"], ["--cwd", SHOP]):
        first = wsmem.works("show", *place, "--json").json
        assert second.works("show", *place, "--json").json["entries"] == first["entries"]
    before = second.files()
    assert "2 there already" in second.works("import", str(backup)).out
    assert second.files() == before


def test_an_export_is_for_its_owner_alone_and_replaced_in_one_step(
    wsmem: CommandLine, backup: Path
) -> None:
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    before = backup.read_bytes()
    wsmem.works("export", "--global", "--out", str(backup))
    assert backup.read_bytes() != before
    assert [path.name for path in backup.parent.iterdir() if path.name.startswith(".")] == []
    missing = backup.parent / "nowhere" / "backup.json"
    assert "writing failed" in wsmem.fails("export", "--out", str(missing)).err


def test_an_export_through_a_link_leaves_the_link(
    wsmem: CommandLine, backup: Path, tmp_path: Path
) -> None:
    link = tmp_path / "latest.json"
    link.symlink_to(backup)
    wsmem.works("export", "--global", "--out", str(link))
    assert link.is_symlink()
    assert len(json.loads(backup.read_text(encoding="utf-8"))["scopes"]) == 1


def test_what_is_printed_can_be_piped_into_the_other_store(
    wsmem: CommandLine, second: CommandLine, backup: Path
) -> None:
    document = wsmem.works("export", "--cwd", SHOP).out
    del backup
    said = second.works("import", "-", stdin=document)
    assert said.out.endswith(": 2 added, 0 there already, 0 refused\n")


def test_the_global_memory_is_exported_when_nothing_is_named(
    wsmem: CommandLine, backup: Path
) -> None:
    del backup
    (scope,) = wsmem.works("export").json["scopes"]
    assert scope["layer"] == "global"
    assert "leave out" in wsmem.fails("export", "--all", "--cwd", SHOP).err
    assert "no memory of /srv/none" in wsmem.fails("export", "--cwd", "/srv/none").err


def test_redacted_credentials_are_counted(wsmem: CommandLine) -> None:
    wsmem.works("remember", "订单服务使用 PostgreSQL 16", "--cwd", SHOP)
    path = next(wsmem.root.glob("scopes/*/memory_entries.json"))
    text = path.read_text(encoding="utf-8").replace("PostgreSQL 16", "密码：Kx7pQ2vL9z")
    path.write_text(text, encoding="utf-8")
    said = wsmem.works("export", "--cwd", SHOP)
    assert "Kx7pQ2vL9z" not in said.out
    assert said.err == "exported 1 entry of 1 scope\nredacted credentials in 3 texts\n"


def test_a_dry_run_says_what_would_happen(second: CommandLine, backup: Path) -> None:
    said = second.works("import", str(backup), "--dry-run")
    assert "1 would be added, 0 there already, 0 refused" in said.out
    assert not second.root.exists()
    report = second.works("import", str(backup), "--dry-run", "--json").json
    assert report["dryRun"] is True
    assert [len(scope["added"]) for scope in report["scopes"]] == [1, 2]


def test_refused_entries_are_listed_and_the_rest_is_imported(
    wsmem: CommandLine, second: CommandLine, backup: Path
) -> None:
    second.works("import", str(backup))

    def change(document: Any) -> None:
        first, other = document["scopes"][1]["entries"]
        first["content"] = "订单服务使用 MySQL 8"
        document["scopes"][1]["entries"] += [
            {**other, "id": "mem-aaaaaaaaaaaa", "content": "登录密码：Kx7pQ2vL9z"},
            {**other, "id": "mem-bbbbbbbbbbbb", "content": "缓存使用 Redis 7"},
        ]

    text = edited(backup, change)
    said = second("import", "-", stdin=text)
    assert said.status == 2
    assert said.err == "wsmem: 2 entries of - could not be imported\n"
    assert ": 1 added, 1 there already, 2 refused\n" in said.out
    assert "refused mem-aaaaaaaaaaaa: it holds a credential\n" in said.out
    assert "another entry with this id, and it is not the same\n" in said.out
    assert "MySQL" not in said.out
    assert "Kx7pQ2vL9z" not in said.out
    shown = second.works("show", "--cwd", SHOP).out
    assert "PostgreSQL 16" in shown
    assert "Redis 7" in shown
    report = second("import", "-", "--json", stdin=text).json
    refused = report["scopes"][1]["refused"]
    assert [sorted(refusal) for refusal in refused] == [["entryId", "reason"]] * 2
    del wsmem


def test_a_workspace_can_be_imported_as_another(
    wsmem: CommandLine, second: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wsmem.works("remember", "订单服务使用 PostgreSQL 16", "--cwd", SHOP)
    document = wsmem.works("export", "--cwd", SHOP).out
    moved = tmp_path / "moved"
    moved.mkdir()
    monkeypatch.chdir(tmp_path)
    second.works("import", "-", "--cwd", "moved", stdin=document)
    assert "PostgreSQL 16" in second.works("show", "--cwd", str(moved)).out
    assert second.works("show", "--cwd", SHOP, "--json").json["entries"] == []


def test_a_file_of_another_kind_is_refused(second: CommandLine, backup: Path) -> None:
    newer = edited(backup, lambda document: document.update(version=2))
    assert "upgrade wsmem" in second.fails("import", "-", stdin=newer).err
    assert "is not valid JSON" in second.fails("import", "-", stdin="{").err
    assert "cannot be read" in second.fails("import", "/no/such.json").err
    twice = edited(backup, lambda document: document["scopes"].append(document["scopes"][0]))
    assert "holds 3 scopes" in second.fails("import", "-", "--cwd", OTHER, stdin=twice).err
    nothing = edited(backup, lambda document: document.update(scopes=[]))
    assert "holds no scopes" in second.works("import", "-", stdin=nothing).out
    assert not second.root.exists()


def test_a_scope_that_cannot_be_written_is_named(
    wsmem: CommandLine, second: CommandLine, backup: Path
) -> None:
    second.works("remember", "前端使用 pnpm 安装依赖", "--cwd", SHOP)
    second.works("archive", "--cwd", SHOP)
    said = second("import", str(backup))
    assert said.status == 2
    assert "1 scope of " in said.err
    assert "the global memory: 1 added" in said.out
    assert f"{SHOP} (ws-" in said.out
    assert "nothing was imported: the memory of /srv/shop is archived" in said.out
    del wsmem
