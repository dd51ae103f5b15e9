"""Every exception wsmem raises on purpose, under one base; nothing here does any work."""

from __future__ import annotations


class WsmemError(Exception):
    """Base of all errors raised on purpose; its text says what happened and what to do."""


class InvalidInputError(WsmemError, ValueError):
    """A caller handed over a value that cannot be used; nothing was changed."""


class MissingExtraError(WsmemError, ImportError):
    """An optional library is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(package, extra)  # args rebuild the error when unpickled
        self.package, self.extra = package, extra

    def __str__(self) -> str:
        return f"{self.package} is not installed; run: pip install 'wsmem[{self.extra}]'"
