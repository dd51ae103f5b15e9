"""When a recall's entries get an index, and when scanning them is cheaper."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wsmem.engine.corpora import Corpora, changed_places
from wsmem.records import MemoryEntry
from wsmem.retrieval.index import Index
from wsmem.retrieval.profile import load_profile
from wsmem.retrieval.ranking import rank
from wsmem.scopes import GLOBAL, Scope, session_scope, workspace_scope
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from wsmem.store.snapshot import ScopeSnapshot


class AtOnce:
    """A background that does what it is given before it returns."""

    def submit(self, work: Callable[[], None]) -> None:
        work()


@pytest.mark.parametrize(
    ("entries", "scanned"),
    [
        pytest.param(40, 17, id="a-small-memory-is-scanned-until-an-index-has-paid"),
        pytest.param(501, 2, id="a-larger-one-is-indexed-when-it-is-asked-again"),
    ],
)
def test_how_many_recalls_scan_before_there_is_an_index(
    tmp_path: Path, entries: int, scanned: int
) -> None:
    store, scope = MemoryStore(tmp_path / "memory"), workspace_scope("/srv/corpora")
    with store.transaction(scope) as transaction:
        transaction.set_entries(
            scope, [MemoryEntry(id=str(at), content=f"fact {at}") for at in range(entries)]
        )
    corpora = Corpora(AtOnce())  # type: ignore[arg-type]  # nothing but `submit` is called
    found = [corpora.of([store.read_scope(scope)]).index is None for _ in range(scanned + 3)]
    assert found == [True] * scanned + [False] * 3


class Edit(NamedTuple):
    """One change to the entries of a scope, by this process or another."""

    kind: str
    at: int
    by: int
    scope: int


EDITS = st.builds(
    Edit,
    kind=st.sampled_from(["add", "revise", "retire", "remove", "swap", "rewrite"]),
    at=st.integers(0, 30),
    by=st.integers(0, 1),
    scope=st.integers(0, 2),
)
SCOPES: tuple[Scope, ...] = (
    GLOBAL,
    workspace_scope("/srv/corpora"),
    session_scope("s-1"),
)


def edited(entries: Sequence[MemoryEntry], edit: Edit, step: int) -> list[MemoryEntry]:
    """The entries after an edit."""
    new = MemoryEntry(id=f"n{step}", content=f"kafka 队列 {step}")
    if edit.kind == "add" or not entries:
        return [*entries, new]
    at = edit.at % len(entries)
    before, entry, after = entries[:at], entries[at], entries[at + 1 :]
    middle = {
        "revise": [replace(entry, content=f"{entry.content} 修订 {step}")],
        "retire": [replace(entry, status="superseded")],
        "remove": [],
        "swap": [new],
    }
    if edit.kind == "rewrite":
        return [replace(each, content=f"{each.content} v{step}") for each in entries]
    return [*before, *middle[edit.kind], *after]


class Shared:
    """One memory and two processes that change it, the first of which keeps an index."""

    def __init__(self, root: Path) -> None:
        self.stores = [MemoryStore(root), MemoryStore(root)]
        self.corpora = Corpora(AtOnce())  # type: ignore[arg-type]  # nothing but `submit` is called
        self._steps = 0
        for number, scope in enumerate(SCOPES):
            facts = [
                MemoryEntry(id=f"{number}-{at}", content=f"fact {at} 第{at}号") for at in range(12)
            ]
            self.write(scope, facts, by=1)
        self.corpora.warm(self.snapshots(2))

    def snapshots(self, count: int = 3) -> list[ScopeSnapshot]:
        return [self.stores[0].read_scope(scope) for scope in SCOPES[:count]]

    def write(self, scope: Scope, entries: Sequence[MemoryEntry], *, by: int) -> None:
        with self.stores[by].transaction(scope) as transaction:
            transaction.set_entries(scope, entries)

    def edit(self, edit: Edit) -> None:
        self._steps += 1
        scope = SCOPES[edit.scope]
        entries = self.stores[edit.by].read_scope(scope).entries
        self.write(scope, edited(entries, edit, self._steps), by=edit.by)


@settings(max_examples=40, deadline=None)
@given(edits=st.lists(st.tuples(EDITS, st.booleans()), min_size=1, max_size=12))
def test_after_any_edits_the_index_answers_as_one_built_anew(
    edits: list[tuple[Edit, bool]],
) -> None:
    with TemporaryDirectory() as root:
        shared = Shared(Path(root) / "memory")
        for edit, asked in edits:
            shared.edit(edit)
            if asked:
                shared.corpora.of(shared.snapshots())
        shared.corpora.warm(shared.snapshots())
        corpus = shared.corpora.of(shared.snapshots())
        assert corpus.index is not None
        assert corpus.index.given == corpus.entries
        fresh = Index.build(corpus.entries)
        for query in ("kafka 队列", "fact 7", "第3号 修订", "v1"):
            for name in ("default", "reference"):
                profile = load_profile(name)
                assert rank(corpus.index, query, profile, now=0, limit=None) == rank(
                    fresh, query, profile, now=0, limit=None
                )


@pytest.mark.parametrize("scope", [0, 1, 2], ids=["global", "workspace", "session"])
@pytest.mark.parametrize("by", [0, 1], ids=["this-process", "another"])
@pytest.mark.parametrize("kind", ["add", "revise", "retire", "remove", "swap", "rewrite"])
def test_nobody_compares_entries_to_find_what_a_commit_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, by: int, scope: int
) -> None:
    shared = Shared(tmp_path / "memory")
    before = shared.corpora.of(shared.snapshots()).index
    named: list[list[int]] = []
    update = Index.updated

    def spy(
        index: Index, entries: Iterable[MemoryEntry], *, changed: Iterable[int] | None = None
    ) -> Index:
        assert changed is not None
        named.append(list(changed))
        return update(index, entries, changed=named[-1])

    monkeypatch.setattr(Index, "updated", spy)
    monkeypatch.setattr(Index, "differing", lambda *_: pytest.fail("entries were compared"))
    for at in (3, 5):
        shared.edit(Edit(kind, at, by, scope))
    corpus = shared.corpora.of(shared.snapshots())
    assert corpus.index is not None
    assert corpus.index is not before
    assert corpus.index.given == corpus.entries
    assert len(named) == 1
    if kind in {"revise", "retire", "swap"}:
        assert sorted(named[0]) == [12 * scope + 3, 12 * scope + 5]


def test_versions_too_far_apart_are_compared(tmp_path: Path) -> None:
    shared = Shared(tmp_path / "memory")
    versions = [each.entry_set.version for each in shared.snapshots()]
    for at in range(8):
        shared.edit(Edit("revise", at, 0, 1))
        shared.snapshots()
    sets = [each.entry_set for each in shared.snapshots()]
    assert changed_places(versions, sets) == list(range(12, 20))
    shared.edit(Edit("revise", 8, 0, 1))
    assert changed_places(versions, [each.entry_set for each in shared.snapshots()]) is None


def test_a_place_that_was_gone_in_between_counts_as_changed(tmp_path: Path) -> None:
    shared = Shared(tmp_path / "memory")
    versions = [each.entry_set.version for each in shared.snapshots()]
    shared.edit(Edit("remove", 11, 0, 2))
    shared.snapshots()
    shared.edit(Edit("add", 0, 0, 2))
    assert changed_places(versions, [each.entry_set for each in shared.snapshots()]) == [35]
