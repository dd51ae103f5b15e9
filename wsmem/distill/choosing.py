"""Which distiller a configuration means: the model of the settings, else the built-in rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wsmem.distill.prompting import DEFAULT_PROMPT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wsmem.operations.contract import Distiller
    from wsmem.settings import Settings

_SHARE_OF_DEADLINE = 0.95
"""Of a stage's time that a call may take, so that it fails by itself and can say why."""


def configured_distiller(
    settings: Settings, *, prompt: str = DEFAULT_PROMPT, env: Mapping[str, str] | None = None
) -> Distiller:
    """The distiller for `settings`; without a model, the rules, which need no network.

    Args:
        settings: Model, address, time limit and the name of the variable that holds the key.
        prompt: Id of a shipped prompt or a folder with one.
        env: The environment; `None` is the process's own.

    Raises:
        InvalidInputError: the address or the key cannot be used.
        UnknownNameError: there is no such prompt.
        PromptError: its files cannot be used.
    """
    if settings.model is None:
        from wsmem.distill.rules.distiller import RuleDistiller  # noqa: PLC0415  compiles patterns

        return RuleDistiller()
    from wsmem.distill.client import ChatClient  # noqa: PLC0415  only where a model is asked
    from wsmem.distill.model import ModelDistiller  # noqa: PLC0415
    from wsmem.distill.prices import load_prices  # noqa: PLC0415
    from wsmem.distill.prompting import load_prompt  # noqa: PLC0415

    client = ChatClient(
        base_url=settings.model_base_url,
        key=settings.api_key(env),
        deadline_s=settings.model_timeout_ms / 1000 * _SHARE_OF_DEADLINE,
    )
    return ModelDistiller(
        load_prompt(prompt), model=settings.model, ask=client.complete, prices=load_prices()
    )
