"""`wsmem distill record`, `batch-export` and `batch-import`: answers of models, kept for replay."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wsmem.cli.output import count, note, say
from wsmem.cli.places import Yes, confirm
from wsmem.errors import InvalidInputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wsmem.distill.cassettes import Planned
    from wsmem.distill.model import Ask
    from wsmem.distill.recording import Estimate, OnProgress, RecordReport
    from wsmem.settings import Settings

DEFAULT = "careful@1"
"""The prompt where none is named; equal to `wsmem.distill.prompting.DEFAULT_PROMPT`."""

Datasets = Annotated[
    list[str],
    typer.Option(
        "--dataset", metavar="D", help="A set of cases: its name or its folder; repeatable."
    ),
]
PromptName = Annotated[
    str, typer.Option("--prompt", metavar="PROMPT", help="Id of a prompt, or a folder with one.")
]
ModelName = Annotated[str, typer.Option("--model", metavar="M", help="The model to ask.")]
BaseUrl = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", help="Endpoint. Default: the settings'."),
]
PromptLanguage = Annotated[
    str | None,
    typer.Option("--language", metavar="zh|en", help="Of the prompt. Default: the case's own."),
]
CassetteFile = Annotated[
    str, typer.Option("--cassette", metavar="FILE", help="The cassette; made when absent.")
]
Split = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Only the cases of train, dev or test. Default: all."),
]
MaxTokens = Annotated[
    int | None, typer.Option(metavar="N", help="Length limit in place of the prompt's own.")
]
ConversationBytes = Annotated[
    int | None,
    typer.Option(metavar="N", help="Most bytes of conversation shown, for small models."),
]


def record(
    *,
    dataset: Datasets,
    model: ModelName,
    cassette: CassetteFile,
    prompt: PromptName = DEFAULT,
    base_url: BaseUrl = None,
    language: PromptLanguage = None,
    split: Split = None,
    max_tokens: MaxTokens = None,
    conversation_bytes: ConversationBytes = None,
    concurrency: Annotated[int, typer.Option(min=1, max=64, help="Requests at a time.")] = 4,
    timeout: Annotated[float, typer.Option(help="Seconds for one answer, retries included.")] = 120,
    max_cost: Annotated[
        float | None, typer.Option(metavar="X", help="Stop before this much is spent.")
    ] = None,
    prices: Annotated[
        str | None, typer.Option(metavar="FILE", help="Prices in place of the shipped ones.")
    ] = None,
    plain: Annotated[bool, typer.Option("--plain", help="Do not hold the model to JSON.")] = False,
    yes: Yes = False,
) -> None:
    """Record what is missing; run again to go on where a run ended."""
    import asyncio  # noqa: PLC0415  only a command that runs needs it

    from wsmem.distill import recording as recorder  # noqa: PLC0415
    from wsmem.distill.cassettes import Cassette  # noqa: PLC0415
    from wsmem.distill.prices import load_prices  # noqa: PLC0415
    from wsmem.settings import load_settings  # noqa: PLC0415

    settings = with_model(load_settings(), model, base_url)
    ask = _client(settings, timeout, json_mode=not plain)
    planned = planned_for(
        dataset, prompt, model, language=language, split=split,
        max_tokens=max_tokens, conversation_bytes=conversation_bytes,
    )  # fmt: skip
    kept = Cassette(cassette)
    price = load_prices(prices).get(model)
    preview = recorder.estimate(planned, kept, price)
    note(_preview(preview, model, max_cost))
    if not preview.requests:
        say(f"nothing to record: {count(preview.recorded, 'answer')} on {cassette}")
        return
    confirm(f"Send {count(preview.requests, 'request')} to {model}?", yes=yes)
    with _progress(preview.requests) as advance:
        report = asyncio.run(
            recorder.record(
                planned, ask=ask, cassette=kept, concurrency=concurrency, price=price,
                max_cost=max_cost, on_progress=advance,
            )
        )  # fmt: skip
    _say_report(report, cassette)


def batch_export(
    *,
    dataset: Datasets,
    model: ModelName,
    out: Annotated[str, typer.Option(metavar="FILE", help="The Batch file to write.")],
    prompt: PromptName = DEFAULT,
    cassette: Annotated[
        str | None,
        typer.Option("--cassette", metavar="FILE", help="Leave out what is on this cassette."),
    ] = None,
    language: PromptLanguage = None,
    split: Split = None,
    max_tokens: MaxTokens = None,
    conversation_bytes: ConversationBytes = None,
) -> None:
    """Write requests as JSON lines."""
    from wsmem.distill.batch import batch_lines  # noqa: PLC0415
    from wsmem.distill.cassettes import Cassette  # noqa: PLC0415

    planned = planned_for(
        dataset, prompt, model, language=language, split=split,
        max_tokens=max_tokens, conversation_bytes=conversation_bytes,
    )  # fmt: skip
    if cassette is not None:
        planned = Cassette(cassette).missing(planned)
    text = "".join(f"{line}\n" for line in batch_lines(planned))
    try:
        Path(out).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidInputError(f"{out}: cannot be written ({error.strerror})") from None
    say(f"{count(len(planned), 'request')} in {out}")


def batch_import(
    *,
    dataset: Datasets,
    model: ModelName,
    cassette: CassetteFile,
    answers: Annotated[str, typer.Option(metavar="FILE", help="The output file of the batch.")],
    prompt: PromptName = DEFAULT,
    language: PromptLanguage = None,
    split: Split = None,
    max_tokens: MaxTokens = None,
    conversation_bytes: ConversationBytes = None,
) -> None:
    """Record the answers of a batch; give the same options as for its export."""
    from wsmem.distill.batch import import_batch  # noqa: PLC0415
    from wsmem.distill.cassettes import Cassette  # noqa: PLC0415
    from wsmem.distill.recording import utc_now  # noqa: PLC0415

    planned = planned_for(
        dataset, prompt, model, language=language, split=split,
        max_tokens=max_tokens, conversation_bytes=conversation_bytes,
    )  # fmt: skip
    report = import_batch(answers, planned, Cassette(cassette), at=utc_now())
    say(f"{count(report.recorded, 'answer')} recorded, {report.known} known, on {cassette}")
    for case, reason in report.failed:
        note(f"{case}: {reason}")
    if report.strangers:
        text = count(len(report.strangers), "answer")
        note(f"{text} to other requests: was the batch made with the same options?")
    if report.failed:
        raise InvalidInputError(f"{count(len(report.failed), 'case')} failed in the batch")


def planned_for(
    datasets: list[str],
    prompt: str,
    model: str,
    *,
    language: str | None,
    split: str | None,
    max_tokens: int | None,
    conversation_bytes: int | None,
) -> list[Planned]:
    """What a model is asked about every case of the sets.

    Raises:
        UnknownNameError: there is no such set, prompt or split.
        DatasetError: a set cannot be read.
    """
    from wsmem.distill.conversation import Bounds  # noqa: PLC0415
    from wsmem.distill.prompting import LANGUAGES, load_prompt  # noqa: PLC0415
    from wsmem.distill.recording import plan  # noqa: PLC0415
    from wsmem.evals.distillation.cases import SPLITS, load_case_set  # noqa: PLC0415
    from wsmem.evals.distillation.execution import request_of  # noqa: PLC0415

    if split is not None and split not in SPLITS:
        raise UnknownNameError("split", split, SPLITS)
    if language is not None and language not in LANGUAGES:
        raise UnknownNameError("language", language, LANGUAGES)
    cases = [
        (case.id, request_of(case))
        for name in datasets
        for case in load_case_set(_folder_of(name)).cases
        if split in (None, case.split)
    ]
    bounds = (
        Bounds() if conversation_bytes is None else Bounds(conversation_bytes=conversation_bytes)
    )
    parameters: dict[str, object] = {} if max_tokens is None else {"max_tokens": max_tokens}
    return plan(
        cases, load_prompt(prompt), model=model, parameters=parameters,
        bounds=bounds, language=language,
    )  # fmt: skip


def with_model(
    settings: Settings, model: str | None, base_url: str | None, *, none: str | None = None
) -> Settings:
    """Settings with the model and endpoint of the command line; `none` names no model at all."""
    from dataclasses import replace  # noqa: PLC0415

    if model is not None:
        settings = replace(settings, model=None if model == none else model)
    return settings if base_url is None else replace(settings, model_base_url=base_url)


def _folder_of(name: str) -> Path:
    """A set of cases by its name among our own, or by its path."""
    from wsmem.evals.catalogue import own_folder  # noqa: PLC0415
    from wsmem.evals.distillation.cases import is_case_set  # noqa: PLC0415

    folder = own_folder()
    for path in (folder / name, Path(name)):
        if is_case_set(path):
            return path
    known = [path.name for path in sorted(folder.glob("*")) if is_case_set(path)]
    raise UnknownNameError("set of cases", name, tuple(known), "or give a folder's path")


def _client(settings: Settings, timeout: float, *, json_mode: bool) -> Ask:
    from wsmem.distill.client import ChatClient  # noqa: PLC0415

    client = ChatClient(
        base_url=settings.model_base_url,
        key=settings.api_key(),
        deadline_s=timeout,
        json_mode=json_mode,
    )
    return client.complete


def _preview(preview: Estimate, model: str, max_cost: float | None) -> str:
    """What recording would take, in one line."""
    size = f"{count(preview.requests, 'request')} to {model}, {preview.request_bytes // 1000} kB"
    if preview.recorded:
        size += f", {preview.recorded} recorded already"
    if preview.most is None:
        return f"{size}; the price of {model} is unknown"
    cap = "" if max_cost is None else f", capped at {max_cost:g}"
    return f"{size}; at most {preview.most:.4f} {preview.currency}{cap}"


@contextmanager
def _progress(total: int) -> Iterator[OnProgress]:
    """A bar on standard error; off a terminal, a line for every case that went wrong."""
    from rich.console import Console  # noqa: PLC0415  slow to import
    from rich.progress import Progress  # noqa: PLC0415

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda item, problem: note(f"{item.case}: {problem}") if problem else None
        return
    with Progress(console=console) as bar:
        task = bar.add_task("recording", total=total)

        def advance(item: Planned, problem: str | None) -> None:
            if problem:
                bar.console.print(f"{item.case}: {problem}", markup=False, highlight=False)
            bar.advance(task)

        yield advance


def _say_report(report: RecordReport, cassette: str) -> None:
    """What was done.

    Raises:
        InvalidInputError: not everything is recorded now; what is stays.
    """
    cost = "unknown cost" if report.cost is None else f"{report.cost:.6f} {report.currency or ''}"
    tokens = f"{report.input_tokens} + {report.output_tokens} tokens"
    say(f"{count(report.recorded, 'answer')} recorded on {cassette}; {tokens}, {cost.strip()}")
    if report.unusable:
        note(f"{count(report.unusable, 'answer')} cut, filtered or empty: recorded as they are")
    if report.stopped:
        raise InvalidInputError(f"stopped: {report.stopped}")
    if report.failed:
        failed = count(len(report.failed), "case")
        raise InvalidInputError(f"{failed} could not be recorded; run again to try again")
