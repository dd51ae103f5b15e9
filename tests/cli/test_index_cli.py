"""`wsmem index`: postings by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from wsmem.cli import indexing
from wsmem.store import postings, postings_writing
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from command_line import CommandLine

SHOP = "/srv/shop"
FACTS = ("网关监听 8081 端口。", "The nightly backup keeps thirty days.", "订单超时设置为 30 秒。")


@pytest.fixture
def filled(wsmem: CommandLine, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.setattr(postings_writing, "SETTLED_S", -1.0)
    for fact in FACTS:
        wsmem.works("remember", fact, "--cwd", SHOP)
    return wsmem


def test_a_scope_that_is_named_gets_its_postings(filled: CommandLine) -> None:
    before = filled.works("recall", "网关端口", "--cwd", SHOP, "--json").json["text"]
    said = filled.works("index", "--cwd", SHOP)
    assert said.out.startswith(f"postings of {SHOP} (ws-")
    assert "written" in said.out
    assert "were good already" in filled.works("index", "--cwd", SHOP).out
    assert filled.works("recall", "网关端口", "--cwd", SHOP, "--json").json["text"] == before
    filled.works("remember", "quokka 网关", "--cwd", SHOP)
    assert "quokka" in filled.works("recall", "quokka", "--cwd", SHOP).out
    as_object = filled.works("index", "--cwd", SHOP, "--json").json["scopes"]
    assert [scope["outcome"] for scope in as_object] == ["written"]
    assert as_object[0]["size"] > 0


def test_without_a_scope_the_large_ones_do(
    filled: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert filled.works("index").out.startswith("no memory is large enough")
    monkeypatch.setattr(postings, "WORTHWHILE", 3)
    assert SHOP in filled.works("index").out


def test_what_cannot_be_written_is_said_and_fails(
    filled: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = filled("index", "--cwd", "/srv/nowhere")
    assert said.status == indexing.NOT_WRITTEN
    assert "there are no entries" in said.out
    monkeypatch.setattr(postings_writing, "SETTLED_S", 3_600.0)
    monkeypatch.setattr(indexing, "PATIENCE_S", 0.0)
    said = filled("index", "--cwd", SHOP)
    assert said.status == indexing.NOT_WRITTEN
    assert "being rewritten" in said.out


def test_postings_that_are_switched_off_are_not_used(
    filled: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WSMEM_POSTINGS", "off")
    assert "off" in filled.works("index", "--cwd", SHOP).err
    opened: list[object] = []
    monkeypatch.setattr(MemoryStore, "open_postings", lambda *asked: opened.append(asked))
    assert FACTS[0] in filled.works("recall", "网关端口", "--cwd", SHOP).out
    assert not opened
    monkeypatch.setenv("WSMEM_POSTINGS", "on")
    assert FACTS[0] in filled.works("recall", "网关端口", "--cwd", SHOP).out
    assert opened
