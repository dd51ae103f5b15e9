"""Recorded completions: one JSON line each, appended as they arrive, replayed byte for byte.

A completion belongs to the exact request it answered: prompt id, rendered messages, model and
parameters. Change any of them and the request has another key, so a replay says which cases need
recording instead of giving an answer to a question that was not asked.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wsmem.distill.completion import Completion, ModelRequest, Usage, canonical_json
from wsmem.distill.failures import CassetteError, MissingRecordingError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wsmem.distill.cassette_format import CassetteLine


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A case and what a model is asked about it."""

    case: str
    request: ModelRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One completion and the request it answers."""

    key: str
    case: str
    prompt: str
    model: str
    """As it was asked for."""
    parameters: dict[str, Any]
    completion: Completion
    recorded_at: str
    """ISO 8601, in UTC."""


class Cassette:
    """The recordings of one file; the last one of a key counts.

    Reading changes nothing. A line that a crash cut short at the end of the file is not there, and
    the next `append` removes it.

    Raises:
        CassetteError: the file cannot be read, or a whole line is not a recording.
    """

    def __init__(self, path: str | os.PathLike[str], *, must_exist: bool = False) -> None:
        self.path = Path(path)
        self._recordings: dict[str, Recording] = {}
        for recording in _read(self.path, must_exist=must_exist):
            self._recordings[recording.key] = recording

    def __len__(self) -> int:
        return len(self._recordings)

    def __iter__(self) -> Iterator[Recording]:
        return iter(self._recordings.values())

    def __contains__(self, request: ModelRequest) -> bool:
        return request.key in self._recordings

    def get(self, request: ModelRequest) -> Recording | None:
        """What answered exactly this request, if it was recorded."""
        return self._recordings.get(request.key)

    async def replay(self, request: ModelRequest) -> Completion:
        """The completion of exactly this request: an `Ask` for `ModelDistiller`.

        Raises:
            MissingRecordingError: there is none.
        """
        recording = self.get(request)
        if recording is None:
            keys = (request.key[:12],)
            raise MissingRecordingError(str(self.path), request.prompt, request.model, keys)
        return recording.completion

    def missing(self, planned: Iterable[Planned]) -> list[Planned]:
        """What has to be recorded, in order."""
        return [item for item in planned if item.request not in self]

    def require(self, planned: Iterable[Planned]) -> None:
        """Make sure that all of it can be replayed.

        Raises:
            MissingRecordingError: some cannot; it names every case.
        """
        lacking = self.missing(planned)
        if lacking:
            first = lacking[0].request
            cases = tuple(item.case for item in lacking)
            raise MissingRecordingError(str(self.path), first.prompt, first.model, cases)

    def append(self, recording: Recording) -> None:
        """Write one recording so that it is there as a whole or not at all, and on the disk.

        Raises:
            CassetteError: the file cannot be written.
        """
        line = f"{canonical_json(_as_line(recording))}\n".encode()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab+") as file:
                _repair_end(file)
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            problem = f"cannot be written ({error.strerror})"
            raise CassetteError(str(self.path), None, problem, "check the path") from None
        self._recordings[recording.key] = recording


def recording_of(planned: Planned, completion: Completion, *, at: str) -> Recording:
    """A recording of what answered a planned request."""
    request = planned.request
    return Recording(
        key=request.key,
        case=planned.case,
        prompt=request.prompt,
        model=request.model,
        parameters=dict(request.parameters),
        completion=completion,
        recorded_at=at,
    )


def _read(path: Path, *, must_exist: bool) -> Iterator[Recording]:
    from pydantic import ValidationError  # noqa: PLC0415  only where cassettes are read

    from wsmem.distill.cassette_format import CassetteLine  # noqa: PLC0415

    try:
        content = path.read_bytes()
    except FileNotFoundError:
        if must_exist:
            remedy = "record one with `wsmem distill record`"
            raise CassetteError(str(path), None, "there is no such cassette", remedy) from None
        return
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        raise CassetteError(str(path), None, problem, "check the path") from None
    lines = content.split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield _as_recording(CassetteLine.model_validate_json(line))
        except ValidationError as error:
            if number == len(lines):
                return  # cut short by a crash: it was never acknowledged
            fault = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, fault["loc"]))
            problem = f"not a recording ({where}: {fault['msg']})" if where else "not a recording"
            remedy = "remove the line and record its case again"
            raise CassetteError(str(path), number, problem, remedy) from None


def _repair_end(file: Any) -> None:
    """Make a file that a crash left in the middle of a line end with a whole one."""
    size = file.seek(0, os.SEEK_END)
    if not size:
        return
    file.seek(size - 1)
    if file.read(1) == b"\n":
        return
    file.seek(0)
    content = file.read()
    kept = content.rfind(b"\n") + 1
    if _is_whole(content[kept:]):
        file.write(b"\n")  # only its line end is missing
    else:
        file.truncate(kept)


def _is_whole(line: bytes) -> bool:
    from pydantic import ValidationError  # noqa: PLC0415

    from wsmem.distill.cassette_format import CassetteLine  # noqa: PLC0415

    try:
        CassetteLine.model_validate_json(line)
    except ValidationError:
        return False
    return True


def _as_recording(line: CassetteLine) -> Recording:
    usage = Usage(**line.usage.model_dump())
    completion = Completion(**line.completion.model_dump(), usage=usage, latency_ms=line.latency_ms)
    return Recording(
        key=line.key,
        case=line.case,
        prompt=line.prompt,
        model=line.model,
        parameters=line.parameters,
        completion=completion,
        recorded_at=line.recorded_at,
    )


def _as_line(recording: Recording) -> dict[str, Any]:
    completion = recording.completion
    return {
        "version": 1,
        "key": recording.key,
        "case": recording.case,
        "prompt": recording.prompt,
        "model": recording.model,
        "parameters": recording.parameters,
        "completion": {
            "text": completion.text,
            "finishReason": completion.finish_reason,
            "model": completion.model,
            "hasReasoning": completion.has_reasoning,
            "attempts": completion.attempts,
            "jsonMode": completion.json_mode,
        },
        "usage": {_camel(name): value for name, value in asdict(completion.usage).items()},
        "latencyMs": completion.latency_ms,
        "recordedAt": recording.recorded_at,
    }


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
