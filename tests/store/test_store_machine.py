"""Any interleaving of commits, crashes, refusals, foreign writes and moves keeps the promises.

After every step, a long-lived store object and a fresh one both agree with a model in memory; ids
are unique, files are strict UTF-8 JSON, and what was acknowledged is there.
"""

from __future__ import annotations

import errno
import json
import shutil
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from store_kit import OTHER, PROJECT, SESSION, fact, leftovers, write_entries

from wsmem.errors import StoreWriteError
from wsmem.store.codec import entry_to_stored
from wsmem.store.faults import Fault, FaultyFileSystem, SimulatedCrash
from wsmem.store.layout import GLOBAL, ScopeRef
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from wsmem.store.fs import FileSystem
    from wsmem.store.transaction import Transaction

SCOPES = (PROJECT, OTHER, GLOBAL, SESSION)
WORKSPACES = (PROJECT, OTHER)


@dataclass(frozen=True)
class Held:
    """What one scope should hold."""

    ids: tuple[str, ...] = ()
    version: int = 0
    summary: str = ""


@dataclass(frozen=True)
class Model:
    live: dict[str, Held] = field(default_factory=dict)
    archived: dict[str, Held] = field(default_factory=dict)

    def with_live(self, **changed: Held) -> Model:
        return replace(self, live=self.live | changed)


def held(store: MemoryStore, scope: ScopeRef) -> Held | None:
    snapshot = store.read_scope(scope)
    if not snapshot.exists:
        return None
    assert snapshot.problems == ()
    ids = tuple(entry.id for entry in snapshot.entries)
    return Held(ids, snapshot.state.version, snapshot.summary)


def found(store: MemoryStore) -> Model:
    live = {scope.key: what for scope in SCOPES if (what := held(store, scope))}
    archived = {}
    for scope in WORKSPACES:
        snapshot = store.read_archived(scope.key)
        if snapshot.exists:
            ids = tuple(entry.id for entry in snapshot.entries)
            archived[scope.key] = Held(ids, snapshot.state.version, snapshot.summary)
    return Model(live, archived)


faults = st.builds(
    Fault,
    st.integers(1, 110),
    st.sampled_from(["error", "torn", "crash", "crash-after", "torn-crash"]),
    st.sampled_from([errno.ENOSPC, errno.EIO]),
)
some_scopes = st.lists(st.sampled_from(SCOPES), min_size=1, max_size=3, unique=True)


class StoreMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp(prefix="store-machine-")
        self.root = Path(self.folder) / "memory"
        self.store = self.open()
        self.model = Model()
        self.number = 0

    def open(self, fs: FileSystem | None = None) -> MemoryStore:
        return MemoryStore(self.root, fs=fs or FaultyFileSystem(), lock_timeout=1)

    def teardown(self) -> None:
        self.store.recover()
        assert leftovers(self.root) == []
        shutil.rmtree(self.folder)

    def commit(self, store: MemoryStore, scopes: list[ScopeRef], *, summary: bool) -> Model:
        """Add a fact to each scope; the model that follows."""
        self.number += 1
        added = f"m{self.number}"
        now = {s.key: self.model.live.get(s.key, Held()) for s in scopes}
        text = f"# {added}\n"

        def change(tx: Transaction) -> None:
            for scope in scopes:
                before = tx.snapshot(scope)
                tx.set_entries(scope, [*before.entries, fact(added)])
                tx.set_state(scope, replace(before.state, version=before.state.version + 1))
                if summary:
                    tx.set_summary(scope, text, keep=2)
                    tx.add_checkpoint(scope, "audit")

        self.after = self.model.with_live(
            **{
                key: Held((*was.ids, added), was.version + 1, text if summary else was.summary)
                for key, was in now.items()
            }
        )
        store.update(scopes, change)
        return self.after

    @rule(scopes=some_scopes, summary=st.booleans())
    def write(self, scopes: list[ScopeRef], summary: bool) -> None:
        self.model = self.commit(self.store, scopes, summary=summary)

    @rule(scopes=some_scopes, fault=faults)
    def write_with_a_fault(self, scopes: list[ScopeRef], fault: Fault) -> None:
        before = self.model
        allowed = "either"
        try:
            self.commit(self.open(FaultyFileSystem(fault)), scopes, summary=True)
            allowed = "after"
        except StoreWriteError as error:
            allowed = "before" if error.outcome == "unchanged" else "either"
        except SimulatedCrash:
            pass
        choices = {"before": [before], "after": [self.after], "either": [before, self.after]}
        now = found(self.open())
        assert ignoring_empty(now) in map(ignoring_empty, choices[allowed])
        self.model = now

    @rule()
    def reopen(self) -> None:
        self.store = self.open()

    @rule()
    def recover(self) -> None:
        self.store.recover()
        assert leftovers(self.root) == []

    @precondition(lambda self: self.model.live)
    @rule(data=st.data())
    def another_program_writes(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.model.live)))
        directory = Path(self.store.layout.scope(key))
        file = directory / "memory_entries.json"
        with self.store.lock(ScopeRef(key)):  # so that no committed change is still on its way
            records = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
        self.number += 1
        record = entry_to_stored(fact(f"x{self.number}")) | {"odd": [1]}
        write_entries(file, [*records, record])
        was = self.model.live[key]
        self.model = self.model.with_live(**{key: replace(was, ids=(*was.ids, f"x{self.number}"))})

    @rule(scope=st.sampled_from(WORKSPACES))
    def archive(self, scope: ScopeRef) -> None:
        outcome = self.store.archive(scope.key)
        live, archived = dict(self.model.live), dict(self.model.archived)
        if outcome == "moved":
            archived[scope.key] = live.pop(scope.key, Held())
        elif outcome == "occupied":
            assert scope.key in archived
        else:
            assert scope.key not in live
        self.model = Model(live, archived)

    @rule(scope=st.sampled_from(WORKSPACES))
    def restore(self, scope: ScopeRef) -> None:
        outcome = self.store.restore(scope.key)
        live, archived = dict(self.model.live), dict(self.model.archived)
        if outcome == "moved":
            live[scope.key] = archived.pop(scope.key, Held())
        elif outcome == "occupied":
            assert scope.key in live
        else:
            assert scope.key not in archived
        self.model = Model(live, archived)

    @rule(scope=st.sampled_from(WORKSPACES))
    def purge_archived(self, scope: ScopeRef) -> None:
        self.store.purge_archived(scope.key)
        archived = {k: v for k, v in self.model.archived.items() if k != scope.key}
        self.model = replace(self.model, archived=archived)

    @precondition(lambda self: any(was.ids for was in self.model.live.values()))
    @rule(data=st.data())
    def purge_entry(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from([k for k, was in self.model.live.items() if was.ids]))
        was = self.model.live[key]
        gone = data.draw(st.sampled_from(was.ids))
        assert self.store.purge_entry(ScopeRef(key), gone, summarise=lambda _: "# purged\n").found
        kept = tuple(entry_id for entry_id in was.ids if entry_id != gone)
        changed = replace(was, ids=kept, summary="# purged\n")
        self.model = self.model.with_live(**{key: changed})

    @invariant()
    def everybody_agrees_with_the_model(self) -> None:
        expected = ignoring_empty(self.model)
        assert ignoring_empty(found(self.store)) == expected
        assert ignoring_empty(found(self.open())) == expected

    @invariant()
    def files_are_strict_and_ids_unique(self) -> None:
        for file in self.root.rglob("memory_entries.json"):
            records = json.loads(file.read_bytes().decode("utf-8", "strict"))
            ids = [record["id"] for record in records]
            assert len(ids) == len(set(ids))


def ignoring_empty(model: Model) -> tuple[dict[str, Held], dict[str, Held]]:
    """A scope that was only begun is as good as none."""
    parts = (model.live, model.archived)
    live, archived = ({k: v for k, v in part.items() if v != Held()} for part in parts)
    return live, archived


StoreMachine.TestCase.settings = settings(
    max_examples=30,
    stateful_step_count=20,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TestStoreMachine = StoreMachine.TestCase
