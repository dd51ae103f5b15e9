"""Files: layout, atomic commits, locks, snapshots, archive, history.

A `MemoryStore` (`wsmem.store.store`) is one memory root on disk, used by any number of threads and
processes at once, the public plugin among them. Everything is synchronous and safe to call from
worker threads (`asyncio.to_thread`); nothing here knows what a memory means.

Reading never writes, never creates a directory and never waits for a lock:

    store = MemoryStore(root)
    snapshot = store.read_scope(scope)      # any object with `.key` and `.cwd`, e.g. GLOBAL
    snapshot.entries, snapshot.state, snapshot.summary, snapshot.extra, snapshot.problems
    index = snapshot.derive("index", build) # cached exactly as long as these entries are current

A snapshot is immutable and always one committed state, even while a writer is half-way through or
died there. It is cached in the process and checked against the files (inode, size, mtime) on every
call, so a write by any process is seen by the next `read_scope`. `build(entries, prior)` also gets
the value last derived and the entries it was derived from (or `None`), for incremental updates;
entries that did not change are the same objects in both. Never alter `prior.value` in place.

Writing goes through one transaction over one or more scopes. It takes the locks (workspaces, then
global, then sessions), rolls forward what a dead writer had committed, and reads afresh:

    with store.transaction(workspace, GLOBAL) as tx:
        before = tx.snapshot(workspace)
        tx.set_entries(workspace, [*before.entries, entry])
        tx.set_state(workspace, state)
        tx.set_extra(workspace, {"lastError": None})
        tx.set_summary(workspace, render_summary(...), keep=20)   # the old one goes to history
        tx.add_checkpoint(workspace, render_checkpoint(...))
    # on leaving: everything is on disk, fsynced, in all scopes, or (exception) nothing is

`store.update([workspace, GLOBAL], change)` is the same with a retry when another program rewrote a
file in between (`StaleSnapshotError`); prefer it. Never wait for a model inside a transaction.
`store.lock(scope)` holds a scope over several transactions; locks are re-entrant in one thread.

Errors (`wsmem.errors`): `LockTimeoutError` and `StaleSnapshotError` are `retryable`;
`StoreWriteError` says whether anything changed; `StoreVersionError` means a newer wsmem wrote here
and nothing is ever rewritten; `UnreadableFileError` means the system refused to read (never taken
for an empty scope). A *damaged* file does not stop anyone: it reads as far as it can be read,
`snapshot.problems` says what is missing, and its original is kept under `set-aside/` in the scope
when it is first rewritten.

| module | what it holds |
|---|---|
| `store` | `MemoryStore`: the way in |
| `snapshot` | `ScopeSnapshot`, `EntrySet`, `Prior`; reading one committed state |
| `transaction`, `changes`, `plan` | collecting a change; its bytes; its files, committed as one |
| `journal`, `settling`, `locks` | the commit point; finishing and clearing up; one lock per scope |
| `fs`, `faults` | every call that touches a file; the same with faults injected, for tests |
| `codec`, `scope_codec` | the shared formats: of entries, and of the files beside them |
| `jsontext`, `salvage` | their JSON text; broken files |
| `layout`, `access` | directories, names, keys, lock order; what all parts share |
| `heads`, `postings`, `postings_writing` | scopes whose entries stay unread; the file for it |
| `summary`, `checkpoints`, `wording`, `history` | the Markdown files and their words |
| `archive`, `listing` | whole scopes: moved, removed, counted |
| `purge`, `erasing` | one entry erased from everything |
"""
