"""Every exception wsmem raises on purpose, under one base; nothing here does any work."""

from __future__ import annotations


class WsmemError(Exception):
    """Base of all errors raised on purpose; its text says what happened and what to do."""


class InvalidInputError(WsmemError, ValueError):
    """A caller handed over a value that cannot be used; nothing was changed."""


class InputFileError(InvalidInputError):
    """A file handed over as input cannot be used; nothing of it was taken."""

    def __init__(self, path: str, line: int | None, problem: str) -> None:
        super().__init__(path, line, problem)  # args rebuild the error when unpickled
        self.path, self.line, self.problem = path, line, problem

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.problem}; nothing of it was taken"


class MissingExtraError(WsmemError, ImportError):
    """An optional library is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(package, extra)  # args rebuild the error when unpickled
        self.package, self.extra = package, extra

    def __str__(self) -> str:
        return f"{self.package} is not installed; run: pip install 'wsmem[{self.extra}]'"


class UnknownNameError(WsmemError, LookupError):
    """A name that was asked for does not exist; the message lists those that do."""

    def __init__(self, kind: str, name: str, known: tuple[str, ...], hint: str = "") -> None:
        super().__init__(kind, name, known, hint)  # args rebuild the error when unpickled
        self.kind, self.name, self.known, self.hint = kind, name, known, hint

    def __str__(self) -> str:
        known = ", ".join(self.known) or "none"
        hint = f"; {self.hint}" if self.hint else ""
        return f"no {self.kind} named {self.name!r}; there are: {known}{hint}"


class DatasetError(WsmemError, ValueError):
    """A dataset's files cannot be used as they are; nothing was scored on it."""

    def __init__(self, path: str, line: int | None, problem: str, remedy: str) -> None:
        super().__init__(path, line, problem, remedy)  # args rebuild the error when unpickled
        self.path, self.line, self.problem, self.remedy = path, line, problem, remedy

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.problem}; {self.remedy}"


class SystemUnavailableError(WsmemError, RuntimeError):
    """A system under test cannot run here; the evaluation goes on without it."""

    def __init__(self, system: str, reason: str) -> None:
        super().__init__(system, reason)  # args rebuild the error when unpickled
        self.system, self.reason = system, reason

    def __str__(self) -> str:
        return f"{self.system} cannot run here: {self.reason}"


class DegradedAnswerError(WsmemError):
    """A recall that was to be measured gave less than there is; it is not scored."""

    def __init__(self, query: str, reason: str) -> None:
        super().__init__(query, reason)  # args rebuild the error when unpickled
        self.query, self.reason = query, reason

    def __str__(self) -> str:
        shown = self.query if len(self.query) <= 60 else self.query[:59] + "…"
        return (
            f"the answer to {shown!r} is partial ({self.reason}); nothing of this system is "
            "scored here, evaluate again"
        )


class StrangeAnswerError(WsmemError):
    """A system answered with an entry that the query does not search; it is not scored."""

    def __init__(self, query_id: str, entry_id: str, scope: str | None) -> None:
        super().__init__(query_id, entry_id, scope)  # args rebuild the error when unpickled
        self.query_id, self.entry_id, self.scope = query_id, entry_id, scope

    def __str__(self) -> str:
        where = "the corpus" if self.scope is None else f"scope {self.scope!r}"
        return (
            f"query {self.query_id!r} was answered with {self.entry_id!r}, which is not in "
            f"{where}; nothing of this system is scored here, it mixes workspaces or makes up ids"
        )


class RunFolderError(WsmemError, ValueError):
    """A run folder cannot be written or read; what is on disk was left as it is."""

    def __init__(self, path: str, problem: str, remedy: str) -> None:
        super().__init__(path, problem, remedy)  # args rebuild the error when unpickled
        self.path, self.problem, self.remedy = path, problem, remedy

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}; {self.remedy}"


class LostUnitError(WsmemError, RuntimeError):
    """A unit of work ended its process every time it was tried; the other units went on."""

    def __init__(self, unit: str, attempts: int, reason: str) -> None:
        super().__init__(unit, attempts, reason)  # args rebuild the error when unpickled
        self.unit, self.attempts, self.reason = unit, attempts, reason

    def __str__(self) -> str:
        return (
            f"{self.unit}: its process ended without a result, {self.attempts} times "
            f"({self.reason}); memory may be short: try fewer processes, or this part alone"
        )


class ClusterError(WsmemError, RuntimeError):
    """A cluster cannot be used as it is; none of the work was begun on it."""

    def __init__(self, cluster: str, problem: str, remedy: str) -> None:
        super().__init__(cluster, problem, remedy)  # args rebuild the error when unpickled
        self.cluster, self.problem, self.remedy = cluster, problem, remedy

    def __str__(self) -> str:
        return f"cluster {self.cluster}: {self.problem}; {self.remedy}"


class StoreError(WsmemError):
    """The memory files could not be read or written as asked."""

    retryable = False
    """Whether the same call may succeed when it is simply made again."""


class LockTimeoutError(StoreError, TimeoutError):
    """Another writer held a scope for too long; nothing was changed and trying again is safe."""

    retryable = True

    def __init__(self, scope: str, waited_s: float, holder: str = "another writer") -> None:
        super().__init__(scope, waited_s, holder)  # args rebuild the error when unpickled
        self.scope, self.waited_s, self.holder = scope, waited_s, holder

    def __str__(self) -> str:
        return (
            f"{self.scope}: {self.holder} held the lock for {self.waited_s:.1f} s; "
            "nothing was changed, try again"
        )


class LockOrderError(StoreError, RuntimeError):
    """Code asked for locks in an order that can deadlock: a defect, not a busy store."""

    def __init__(self, wanted: str, held: str) -> None:
        super().__init__(wanted, held)  # args rebuild the error when unpickled
        self.wanted, self.held = wanted, held

    def __str__(self) -> str:
        return (
            f"{self.wanted} cannot be locked while {self.held} is held; nothing was changed. "
            "Lock workspace, then global, then session, best in one transaction"
        )


class StaleSnapshotError(StoreError):
    """Another program rewrote a file between reading and committing; nothing was changed."""

    retryable = True

    def __init__(self, scope: str) -> None:
        super().__init__(scope)  # args rebuild the error when unpickled
        self.scope = scope

    def __str__(self) -> str:
        return (
            f"{self.scope}: the files changed while a change to them was being prepared; "
            "nothing was written, read the scope again and retry"
        )


class StoreVersionError(StoreError):
    """The store was written by a newer wsmem; nothing has been changed."""

    def __init__(self, path: str, found: str, supported: int) -> None:
        super().__init__(path, found, supported)  # args rebuild the error when unpickled
        self.path, self.found, self.supported = path, found, supported

    def __str__(self) -> str:
        return (
            f"{self.path}: format {self.found}, newest this wsmem writes is {self.supported}; "
            "nothing was changed, upgrade wsmem"
        )


class DamagedFileError(StoreError):
    """A file that must be understood before anything is written cannot be; nothing was changed."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)  # args rebuild the error when unpickled
        self.path, self.reason = path, reason

    def __str__(self) -> str:
        return (
            f"{self.path}: {self.reason}; nothing was changed. Move the file away to go on "
            "without it, or restore it from a backup"
        )


class UnreadableFileError(StoreError):
    """The operating system refused to read a file; it is not taken for an empty one."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)  # args rebuild the error when unpickled
        self.path, self.reason = path, reason

    def __str__(self) -> str:
        return f"{self.path}: cannot be read ({self.reason}); check its permissions and the disk"


class StoreWriteError(StoreError):
    """The operating system refused a write."""

    def __init__(self, step: str, path: str, reason: str, outcome: str = "unchanged") -> None:
        super().__init__(step, path, reason, outcome)  # args rebuild the error when unpickled
        self.step, self.path, self.reason = step, path, reason
        self.outcome = outcome
        """`unchanged`, or `unknown`: the new state is visible but may not survive a power cut."""

    def __str__(self) -> str:
        advice = (
            "nothing was changed, make room or check the disk and try again"
            if self.outcome == "unchanged"
            else "the change may not survive a power cut: read the scope again before retrying"
        )
        return f"{self.path}: {self.step} failed ({self.reason}); {advice}"


class UnreadableOutputError(WsmemError, ValueError):
    """A distiller answered something that holds no operations; nothing was applied."""

    def __init__(self, found: str) -> None:
        super().__init__(found)  # args rebuild the error when unpickled
        self.found = found

    def __str__(self) -> str:
        return f"the distiller's answer is unreadable ({self.found}); the messages stay pending"


class RefusedMemoryError(WsmemError, ValueError):
    """A memory that was to be kept may not be; nothing was stored, and its text is not repeated."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"not remembered: {self.reason}"


class MemoryIdError(WsmemError, LookupError):
    """An id does not name an entry that can be changed; nothing was changed."""

    def __init__(self, entry_id: str, scope: str) -> None:
        super().__init__(entry_id, scope)
        self.entry_id, self.scope = entry_id, scope

    def __str__(self) -> str:
        return f"no usable entry {self.entry_id!r} in scope {self.scope}"


class InvalidIdError(MemoryIdError):
    """A text that cannot be a whole id."""

    def __str__(self) -> str:
        return f"{self.entry_id!r} is not a whole memory id; give the id exactly as recall shows it"


class ShortIdError(InvalidIdError):
    """The beginning of one or more ids where a whole one is needed."""

    def __init__(self, entry_id: str, scope: str, candidates: tuple[str, ...]) -> None:
        super().__init__(entry_id, scope)
        self.args = (entry_id, scope, candidates)
        self.candidates = candidates

    def __str__(self) -> str:
        found = ", ".join(self.candidates[:5]) + (", …" if len(self.candidates) > 5 else "")
        kind = "ambiguous" if len(self.candidates) > 1 else "shortened"
        return f"{self.entry_id!r} is {kind}; give a whole id ({found})"


class EntryNotFoundError(MemoryIdError):
    """No entry has this id."""

    def __str__(self) -> str:
        return f"no entry {self.entry_id!r} in scope {self.scope}; recall shows the ids that exist"


class AlreadyDeletedError(MemoryIdError):
    """The entry was forgotten before."""

    def __str__(self) -> str:
        return f"entry {self.entry_id!r} of scope {self.scope} is already deleted"


class OtherWorkspaceError(MemoryIdError):
    """The entry belongs to another workspace than the one named."""

    def __str__(self) -> str:
        return (
            f"entry {self.entry_id!r} is not in scope {self.scope} but in another workspace; "
            "name that workspace to change it"
        )


class EngineClosedError(WsmemError, RuntimeError):
    """The engine was closed; open a new one."""

    def __str__(self) -> str:
        return "this engine is closed; open a new one"


class SettingsError(InvalidInputError):
    """A setting cannot be used; nothing was started."""

    def __init__(self, source: str, key: str | None, problem: str) -> None:
        super().__init__(source, key, problem)  # args rebuild the error when unpickled
        self.source, self.key, self.problem = source, key, problem

    def __str__(self) -> str:
        return f"{self.source}: {f'{self.key} ' if self.key else ''}{self.problem}"


class RelativePathError(InvalidInputError):
    """A workspace was named by a relative path and nothing says relative to what."""

    def __init__(self, path: str) -> None:
        super().__init__(path)  # args rebuild the error when unpickled
        self.path = path

    def __str__(self) -> str:
        return (
            f"{self.path!r} is a relative path; nothing was read or written, because a process's "
            "own directory is not taken for a workspace. Give an absolute path"
        )


class ArchivedScopeError(WsmemError):
    """A workspace is in the archive: it is not recalled, and nothing was written to it."""

    def __init__(self, scope: str, cwd: str) -> None:
        super().__init__(scope, cwd)  # args rebuild the error when unpickled
        self.scope, self.cwd = scope, cwd

    def __str__(self) -> str:
        return (
            f"the memory of {self.cwd or self.scope} is archived; nothing was changed. "
            "Restore it to use it again, or purge it to begin anew"
        )


class SessionLookupError(WsmemError, LookupError):
    """The host could not say which workspace a session belongs to; nothing was written."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)  # args rebuild the error when unpickled
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.problem}; nothing was written. Give the workspace's directory, or try again"
