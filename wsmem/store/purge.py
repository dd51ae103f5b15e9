"""Erase one entry: its record, and its words wherever else the store keeps them.

What is erased: the record with its revisions; links to it; its words in the summaries, the summary
history, the checkpoint files, messages still pending, wsmem's own file, originals set aside, in
every scope and in the archive; derived files. All of it is one commit. Other *entries* that say the
same are reported, not touched: they are facts of their own, to be purged by their own ids.

The blocks a file system no longer uses, backups and other programs' copies are beyond reach.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from wsmem.store.changes import ScopeChange
from wsmem.store.erasing import Words
from wsmem.store.fs import remove_tree
from wsmem.store.layout import CHECKPOINTS, EXTRA, HISTORY, SET_ASIDE, STATE, SUMMARY
from wsmem.store.listing import archived_keys, live_keys
from wsmem.store.plan import CommitPlan
from wsmem.store.settling import locked, write_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from wsmem.records import MemoryEntry, MemoryState
    from wsmem.store.access import StoreAccess
    from wsmem.store.layout import ScopeLike
    from wsmem.store.snapshot import ScopeSnapshot

    Summarise = Callable[[Sequence[MemoryEntry]], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeReport:
    """What a purge did."""

    entry_id: str
    found: bool
    """Whether there was such an entry; if not, nothing was changed."""
    rewritten: tuple[str, ...] = ()
    """Files rewritten, by path under the memory root."""
    unlinked: tuple[str, ...] = ()
    """Ids of entries that lost a link to it, or a revision in its words."""
    also_in: tuple[tuple[str, str], ...] = ()
    """Scope and id of other entries that hold the same words."""
    left: tuple[str, ...] = ()
    """Directories of derived files that could not be removed; whoever purges must remove them."""


def purge_entry(
    access: StoreAccess, scope: ScopeLike, entry_id: str, *, summarise: Summarise | None
) -> PurgeReport:
    """See `MemoryStore.purge_entry`."""
    if access.read(scope.key).entry(entry_id) is None:
        return PurgeReport(entry_id=entry_id, found=False)
    keys = sorted({scope.key, *live_keys(access), *archived_keys(access)})
    with locked(access, keys):
        entry = access.read(scope.key).entry(entry_id)
        if entry is None:
            return PurgeReport(entry_id=entry_id, found=False)
        purge = _Purge(access, scope.key, entry)
        try:
            for key in live_keys(access):
                purge.plan_live(key, summarise if key == scope.key else None)
            for key in archived_keys(access):
                purge.plan_archived(key)
            for key in keys:  # before and after: a reader may derive anew in between
                remove_tree(access.fs, access.layout.cache(key))
            purge.commit()
        except OSError as error:
            raise write_error("purging", access, error) from error
        left = tuple(path for key in keys for path in _drop_cache(access, key))
        return purge.report(left)


def _drop_cache(access: StoreAccess, key: str) -> list[str]:
    """Remove the files derived from a scope; what the system would not let go of."""
    try:
        remove_tree(access.fs, access.layout.cache(key))
    except OSError:
        return [access.layout.cache(key)]
    return []


class _Purge:
    """One purge under way, over all scopes, whose locks are held."""

    def __init__(self, access: StoreAccess, home: str, entry: MemoryEntry) -> None:
        self._access, self._home, self._entry = access, home, entry
        self._words = Words.of(entry)
        self._plan = CommitPlan(access)
        self._read: dict[str, ScopeSnapshot] = {}
        self._unlinked: list[str] = []
        self._also_in: list[tuple[str, str]] = []

    def plan_live(self, key: str, summarise: Summarise | None) -> None:
        """Plan what changes in one live scope."""
        before = self._read[key] = self._access.read(key)
        entries = tuple(self._entries_without_it(key, before))
        change = ScopeChange(key=key, cwd=before.cwd, entries=entries, keep=None)
        change.state = self._state(before.state)
        change.extra = self._words.cut_json(dict(before.extra))
        summary = summarise(entries) if summarise else self._words.cut(before.summary)
        if summary != before.summary:
            change.summary = summary
        change.rewritten = self._files_with_it(self._access.layout.scope(key))
        self._plan.add(change, before)

    def plan_archived(self, key: str) -> None:
        """Plan what changes in one archived scope; its entries are only looked at."""
        directory = self._access.layout.archived(key)
        self._note(key, self._access.read_archived(key).entries)
        files = self._files_with_it(directory, SUMMARY, STATE, EXTRA)
        for path, data in files.items():
            self._plan.add_file(key, f"{directory}/{path}", data)

    def commit(self) -> None:
        """Carry the plan through."""
        self._plan.carry_through(self._read)

    def report(self, left: tuple[str, ...]) -> PurgeReport:
        """What was done, once it is."""
        root = f"{self._access.layout.root}/"
        return PurgeReport(
            entry_id=self._entry.id,
            found=True,
            rewritten=tuple(sorted(path.removeprefix(root) for path in self._plan.targets)),
            unlinked=tuple(self._unlinked),
            also_in=tuple(self._also_in),
            left=left,
        )

    def _entries_without_it(self, key: str, before: ScopeSnapshot) -> list[MemoryEntry]:
        gone = self._entry.id
        others = [e for e in before.entries if key != self._home or e.id != gone]
        self._note(key, others)
        return [self._without_links(entry) for entry in others]

    def _without_links(self, entry: MemoryEntry) -> MemoryEntry:
        changes: dict[str, Any] = {}
        for name in ("supersedes", "superseded_by"):
            links = getattr(entry, name)
            if self._entry.id in links:
                changes[name] = tuple(link for link in links if link != self._entry.id)
        revisions = tuple(r for r in entry.revisions if not self._says_it(r.content))
        if len(revisions) != len(entry.revisions):
            changes["revisions"] = revisions
        if not changes:
            return entry
        self._unlinked.append(entry.id)
        return entry.with_changes(**changes)

    def _note(self, key: str, entries: Iterable[MemoryEntry]) -> None:
        self._also_in += [
            (key, entry.id)
            for entry in entries
            if self._says_it(entry.content) or self._says_it(entry.description)
        ]

    def _says_it(self, text: str) -> bool:
        return self._words.cut(text) != text

    def _state(self, state: MemoryState) -> MemoryState:
        pending = tuple(
            replace(
                message,
                text=self._words.cut(message.text),
                stored=self._words.cut_json(dict(message.stored)),
            )
            for message in state.pending_messages
        )
        return replace(state, pending_messages=pending)

    def _files_with_it(self, directory: str, *names: str) -> dict[str, bytes]:
        """Files beside the current ones that hold the words, as they are to be, by path."""
        folders = (CHECKPOINTS, HISTORY, SET_ASIDE)
        kept = [f"{f}/{n}" for f in folders for n in self._access.fs.names(f"{directory}/{f}")]
        files = {}
        for path in (*names, *kept):
            if found := self._access.fs.read(f"{directory}/{path}"):
                data = self._words.cut_bytes(found[0])
                if data != found[0]:
                    files[path] = data
        return files
