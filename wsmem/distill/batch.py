"""Exchange with the OpenAI Batch format: requests out as JSON lines, answers in as recordings."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wsmem.distill.cassettes import recording_of
from wsmem.distill.completion import canonical_json
from wsmem.distill.failures import CassetteError, DistillError
from wsmem.distill.quirks import read_completion

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from wsmem.distill.cassette_format import BatchLine
    from wsmem.distill.cassettes import Cassette, Planned

URL = "/v1/chat/completions"


@dataclass(slots=True, kw_only=True)
class ImportReport:
    """What came of the lines of a batch's output."""

    recorded: int = 0
    known: int = 0
    """Answers that were on the cassette already; they were left as they are."""
    failed: list[tuple[str, str]] = field(default_factory=list)
    """Cases whose line holds no completion, and why."""
    strangers: list[str] = field(default_factory=list)
    """Ids that belong to no planned request: another prompt, model or set of cases."""


def batch_lines(planned: Iterable[Planned], *, json_mode: bool = True) -> list[str]:
    """A request a line; the id is the request's key, so the answer finds its way back."""
    return [canonical_json(_as_line(item, json_mode=json_mode)) for item in planned]


def import_batch(
    path: str | os.PathLike[str],
    planned: Sequence[Planned],
    cassette: Cassette,
    *,
    at: str,
) -> ImportReport:
    """Take the answers of a batch's output file onto a cassette.

    Args:
        path: The output file, as it was downloaded.
        planned: What was exported, planned again from the same cases, prompt and model.
        cassette: Where the answers go.
        at: Time of recording, ISO 8601.

    Raises:
        CassetteError: a line is not of the Batch format; what came before it was taken over.
    """
    report = ImportReport()
    by_key = {item.request.key: item for item in planned}
    for line in _lines(Path(path)):
        item = by_key.get(line.custom_id)
        if item is None:
            report.strangers.append(line.custom_id)
        elif item.request in cassette:
            report.known += 1
        else:
            _take(item, line, cassette, report, at=at)
    return report


def _take(
    item: Planned, line: BatchLine, cassette: Cassette, report: ImportReport, *, at: str
) -> None:
    response = line.response
    if response is None or response.status_code != 200:
        status = f"status {response.status_code}" if response else "no response"
        report.failed.append((item.case, status))
        return
    try:
        model = item.request.model
        completion = read_completion(canonical_json(response.body), asked_model=model)
    except DistillError as error:
        report.failed.append((item.case, str(error)))
        return
    cassette.append(recording_of(item, completion, at=at))
    report.recorded += 1


def _as_line(item: Planned, *, json_mode: bool) -> dict[str, Any]:
    request = item.request
    body: dict[str, Any] = {
        "model": request.model,
        "messages": request.wire_messages,
        **request.parameters,
    }
    if json_mode:
        body["response_format"] = {"type": "json_object"}
    return {"custom_id": request.key, "method": "POST", "url": URL, "body": body}


def _lines(path: Path) -> Iterable[BatchLine]:
    from pydantic import ValidationError  # noqa: PLC0415  only where batches are read

    from wsmem.distill.cassette_format import BatchLine  # noqa: PLC0415

    try:
        content = path.read_bytes()
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        raise CassetteError(str(path), None, problem, "check the path") from None
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            yield BatchLine.model_validate_json(line)
        except ValidationError:
            remedy = "give the output file of a batch, one JSON object a line"
            raise CassetteError(str(path), number, "not a line of a batch", remedy) from None
