"""Which earlier summaries of a scope are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wsmem.store.layout import HISTORY_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable


def names_to_drop(names: Iterable[str], *, adding: str, keep: int) -> tuple[bool, tuple[str, ...]]:
    """Whether the summary `adding` is kept at all, and which of the kept `names` then go.

    The newest `keep` stay, by file name, which begins with the time. Files with other names were
    put there by somebody and are left alone.
    """
    ours = [name for name in names if HISTORY_NAME.match(name)]
    newest = sorted([*ours, adding], key=_age)[-keep:] if keep > 0 else []
    return adding in newest, tuple(name for name in ours if name not in newest)


def _age(name: str) -> tuple[int, str]:
    """Order by time, then name: equal to name order as long as times have one length."""
    return int(name.partition("-")[0]), name
