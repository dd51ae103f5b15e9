"""Distillers by the names people give them: `rules`, or the recordings of a cassette."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from wsmem.distill.cassettes import Cassette
from wsmem.distill.completion import canonical_json
from wsmem.distill.conversation import Bounds
from wsmem.distill.failures import CassetteError
from wsmem.distill.model import ModelDistiller
from wsmem.distill.prices import load_prices
from wsmem.distill.prompting import load_prompt
from wsmem.distill.rules.distiller import NAME as RULES_NAME
from wsmem.distill.rules.distiller import RuleDistiller
from wsmem.errors import UnknownNameError
from wsmem.evals.card import checksum
from wsmem.evals.distillation.evaluation import NamedDistiller

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wsmem.distill.cassettes import Recording
    from wsmem.distill.prompting import Prompt

RULES, CASSETTE = "rules", "cassette:"
"""How a distiller is named: the built-in rules, or a prefix to the path of a cassette."""


def distillers_named(
    spec: str,
    *,
    prompt: str | None = None,
    model: str | None = None,
    language: str | None = None,
    conversation_bytes: int | None = None,
) -> tuple[NamedDistiller, ...]:
    """The distillers a name means: one, or one for each prompt and model of a cassette.

    Args:
        spec: `rules`, or `cassette:FILE`.
        prompt: Only the recordings of this prompt: its id, or a folder with it.
        model: Only those of this model.
        language: Of the prompt, where the recordings were made in another than the case's own.
        conversation_bytes: The bound the recordings were made with, where it was not the default.

    Raises:
        UnknownNameError: no such distiller, or the cassette has no such prompt or model.
        CassetteError: the cassette cannot be read, or is empty.
        PromptError: a prompt of the cassette cannot be read.
    """
    if spec == RULES:
        return (NamedDistiller(name=RULES_NAME, ask=RuleDistiller(), settings={"kind": RULES}),)
    if not spec.startswith(CASSETTE):
        raise UnknownNameError("distiller", spec, (RULES, f"{CASSETTE}FILE"))
    bounds = None
    if conversation_bytes is not None:
        bounds = Bounds(conversation_bytes=conversation_bytes)
    return _recorded(
        Path(spec.removeprefix(CASSETTE)), prompt, model, language=language, bounds=bounds
    )


def _recorded(
    path: Path,
    prompt: str | None,
    model: str | None,
    *,
    language: str | None,
    bounds: Bounds | None,
) -> tuple[NamedDistiller, ...]:
    cassette = Cassette(path, must_exist=True)
    if not len(cassette):
        remedy = "record some with `wsmem distill record`"
        raise CassetteError(str(path), None, "it holds no recording", remedy)
    wanted = None if prompt is None else load_prompt(prompt)
    groups = _groups(cassette)
    chosen = [
        found
        for found in groups.values()
        if (wanted is None or found.prompt == wanted.id) and (model is None or found.model == model)
    ]
    if not chosen:
        kind = (
            "model" if any(wanted and g.prompt == wanted.id for g in groups.values()) else "prompt"
        )
        known = dict.fromkeys(getattr(found, kind) for found in groups.values())
        asked = model if kind == "model" else prompt
        raise UnknownNameError(kind, asked or model or "?", tuple(known), f"on {path.name}")
    return tuple(
        _replaying(
            cassette,
            wanted or load_prompt(found.prompt),
            found,
            name=name,
            language=language,
            bounds=bounds,
        )
        for found, name in zip(chosen, _names(chosen), strict=True)
    )


def _groups(cassette: Iterable[Recording]) -> dict[tuple[str, str, str], Recording]:
    """One recording for each prompt, model and set of parameters, in order of appearance."""
    found: dict[tuple[str, str, str], Recording] = {}
    for recording in cassette:
        parameters = canonical_json(recording.parameters)
        found.setdefault((recording.prompt, recording.model, parameters), recording)
    return found


def _names(recordings: Sequence[Recording]) -> list[str]:
    """Prompt with model; parameters as well where they alone tell two apart."""
    names = [f"{recording.prompt} × {recording.model}" for recording in recordings]
    return [
        name if names.count(name) == 1 else f"{name} × {canonical_json(recording.parameters)}"
        for name, recording in zip(names, recordings, strict=True)
    ]


def _replaying(
    cassette: Cassette,
    prompt: Prompt,
    like: Recording,
    *,
    name: str,
    language: str | None,
    bounds: Bounds | None,
) -> NamedDistiller:
    """A distiller that answers from the recordings made like this one."""
    # What the recordings were made without, although the prompt asks for it, is not asked again.
    parameters: dict[str, Any] = dict.fromkeys(prompt.parameters) | like.parameters
    distiller = ModelDistiller(
        prompt,
        model=like.model,
        ask=cassette.replay,
        parameters=parameters,
        bounds=bounds,
        prices=load_prices(),
        language=language,
    )
    return NamedDistiller(
        name=name,
        ask=distiller,
        settings={
            "kind": "cassette",
            "prompt": prompt.id,
            "model": like.model,
            "parameters": like.parameters,
            "cassette": cassette.path.name,
            "checksum": checksum(cassette.path),
        },
    )
