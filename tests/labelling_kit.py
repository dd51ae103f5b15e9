"""A store and a labelling folder to test with, and a labeller who types what he is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wsmem.evals.labelling.folder import LabellingFolder, open_folder
from wsmem.evals.labelling.judgements import PairKey
from wsmem.evals.labelling.pooling import Pooling
from wsmem.evals.labelling.session import Session, SessionReport, work_list
from wsmem.evals.labelling.sources import from_store
from wsmem.records import MemoryEntry, MemoryMessage, MemoryState
from wsmem.scopes import workspace_scope
from wsmem.store.checkpoints import render_checkpoint
from wsmem.store.layout import GLOBAL
from wsmem.store.store import MemoryStore
from wsmem.store.wording import CHINESE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

NOW = 1_790_000_000_000
SHOP, CLINIC = "/home/ida/shop", "/srv/clinic"
TOKEN = "ghp_" + "a1B2" * 9
"""A made-up credential of a shape that is always redacted."""

_ENTRIES = {
    SHOP: [
        ("mem-a", "Deploys go through scripts/deploy.sh on shop01.prod.internal", "active"),
        ("mem-b", "数据库端口是 5432，由 ida 维护", "active"),
        ("mem-c", "数据库端口是 3306", "superseded"),
        ("mem-d", "Forgotten: the old staging password", "deleted"),
        ("mem-e", f"The build bot signs in with {TOKEN}", "active"),
    ],
    CLINIC: [("mem-f", "Screening results are kept for ten years", "active")],
}


def entry(identifier: str, content: str, status: str = "active") -> MemoryEntry:
    return MemoryEntry(
        id=identifier,
        content=content,
        title=content[:12],
        status=status,
        created_at="2026-08-01T00:00:00.000Z",
        updated_at="2026-08-02T00:00:00.000Z",
    )


def said(identifier: str, text: str, *, assistant: bool = False) -> MemoryMessage:
    return MemoryMessage(id=identifier, role="assistant" if assistant else "user", text=text)


def write_store(root: Path) -> MemoryStore:
    """Two workspaces, global memory, messages that wait and a checkpoint in Chinese words."""
    store = MemoryStore(root, clock=lambda: NOW)
    shop, clinic = workspace_scope(SHOP), workspace_scope(CLINIC)
    stage = render_checkpoint(
        at_ms=NOW,
        reason="idle",
        messages=[
            said("m1", "怎么部署？\n## 不是标题\n第二行"),
            said("m2", "用脚本。", assistant=True),
            said("m3", "Screening results are kept for ten years"),
        ],
        audit=[],
        counts={"added": 0},
        wording=CHINESE,
    )
    pending = (
        said("m4", "which port does the database use"),
        said("m5", "which port does the database use?"),
        said("m6", f"is {TOKEN} still valid"),
        said("m7", "Noted.", assistant=True),
        said("m8", "x" * 700),
    )
    with store.transaction(shop, clinic, GLOBAL) as transaction:
        for scope, cwd in ((shop, SHOP), (clinic, CLINIC)):
            transaction.set_entries(scope, [entry(*row) for row in _ENTRIES[cwd]])
        transaction.set_entries(GLOBAL, [entry("mem-g", "Answers are short, command first")])
        transaction.set_state(shop, MemoryState(pending_messages=pending))
        transaction.add_checkpoint(shop, stage)
    return store


def key(cwd: str) -> str:
    return workspace_scope(cwd).key


def files_under(root: Path) -> dict[str, bytes | None]:
    """Everything below a folder, directories included."""
    return {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() else None
        for path in sorted(root.rglob("*"))
    }


def shop_folder(tmp_path: Path, **pooling: int) -> LabellingFolder:
    """A labelling folder of the shop, with lexical systems."""
    if not (tmp_path / "memory").is_dir():
        write_store(tmp_path / "memory")
    from_store(
        tmp_path / "memory",
        tmp_path / "mine",
        scopes=[SHOP],
        pooling=Pooling(systems=("wsmem:default", "bm25"), **pooling),
    )
    return open_folder(tmp_path / "mine")


def run_session(
    folder: LabellingFolder, answers: Iterable[str], *, judge: str = "ida", share: float = 1.0
) -> tuple[SessionReport, list[str]]:
    """A session with typed answers; input ends after the last of them."""
    lines: list[str] = []
    typed = iter(answers)
    ledger = folder.ledger(judge)
    session = Session(
        folder,
        ledger,
        work_list(folder, ledger, share=share),
        ask=lambda _prompt: next(typed, None),
        show=lines.append,
    )
    return session.run(), lines


def all_pairs(folder: LabellingFolder) -> list[PairKey]:
    return [PairKey(query, name) for query, names in folder.pool.items() for name in names]
