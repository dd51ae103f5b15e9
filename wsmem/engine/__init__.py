"""Recall, checkpoint, remember, forget, purge over one store.

    async with WorkspaceMemoryEngine(settings, distiller=distiller) as engine:
        context = await engine.recall(RecallInput(query="数据库", cwd="/srv/shop"))
        context.text                      # what a host injects, framed, within its budget
        await engine.checkpoint(CheckpointInput(reason="segment-end", cwd=..., messages=...))
        await engine.remember(RememberInput(content="...", cwd=...))

`recall` and `checkpoint` never raise: a recall says in `degraded` what is missing, a checkpoint in
`status` and `error` what happened. `remember`, `forget` and `purge` raise errors of
`wsmem.errors` that say what was not done and what to do. Scripts and notebooks use `SyncMemory`
(`wsmem.engine.sync`), processes that answer one question `recall_once` (`wsmem.engine.once`), hosts
the protocol `WorkspaceMemory` (`wsmem.engine.protocol`) and, in their tests, the fakes of
`wsmem.engine.testing`.

| module | what it holds |
|---|---|
| `protocol` | the seam: `recall` and `checkpoint` |
| `memory` | `WorkspaceMemoryEngine`, the engine |
| `sync`, `once` | the same without `await`; one recall in a process of its own |
| `testing` | a distiller, a memory and a clock for tests |
| `locating` | where a request reads and writes |
| `recalling`, `corpora`, `rendering`, `surfaced` | one recall: read, rank, redact, render |
| `policy`, `staging`, `claims` | when a stage is ready, what it takes, who works on it |
| `running`, `stages`, `distilling`, `applying`, `timers` | a stage from buffer to commit |
| `keeping` | remember, forget, purge |
| `chains` | successors that lead nowhere |
| `inspecting`, `redacting`, `reports` | status and contents of a scope; answers |
| `registry` | workspaces that disappear go to the archive |
| `workers`, `identifiers` | threads; random ids |
"""
