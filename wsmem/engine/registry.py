"""Move the memory of workspaces that a host unregistered to the archive. Synchronous.

A workspace counts as registered once it was in an answer of the registry, which is kept with the
scope, so that it is also noticed when it disappears while no engine runs. A registry that cannot be
read archives nothing, and neither does one in which a workspace never was: memory of directories
that are used without a registry is nobody's to move.
"""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

from wsmem.errors import StoreError
from wsmem.store.layout import SCOPE_KEY, ScopeRef, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wsmem.scopes import ScopeResolver
    from wsmem.store.heads import ScopeHead
    from wsmem.store.store import MemoryStore
    from wsmem.store.transaction import Transaction

MARK = "registered"
"""In what wsmem keeps beside a scope: the workspace was once in the registry."""

_log = logging.getLogger(__name__)


class RegistrySync:
    """Compares live scopes with the registry."""

    def __init__(self, store: MemoryStore, resolver: ScopeResolver) -> None:
        self._store = store
        self._resolver = resolver

    def step(self) -> tuple[str, ...]:
        """Note new registrations and archive what disappeared; keys of the scopes archived."""
        registered = self._resolver.registered_keys()
        if registered is None:
            return ()
        archived = []
        for key in self._live_workspaces():
            try:
                head = self._store.read_registration(ScopeRef(key))
                if key in registered:
                    self._mark(head)
                elif was_registered(head) and self._store.archive(key) == "moved":
                    archived.append(key)
                    _log.info("workspace %s is not registered any more: archived", head.cwd)
            except StoreError as error:
                _log.warning("scope %s was left where it is: %s", key, error)
        return tuple(archived)

    def _mark(self, head: ScopeHead) -> None:
        if head.extra.get(MARK) is True:
            return

        def change(transaction: Transaction) -> None:
            scope = ScopeRef(head.key, head.cwd)
            extra = transaction.snapshot(scope).extra
            transaction.set_extra(scope, {**extra, MARK: True})

        self._store.update([ScopeRef(head.key, head.cwd)], change)

    def _live_workspaces(self) -> Iterable[str]:
        try:
            names = sorted(os.listdir(self._store.layout.scopes))  # noqa: PTH208 - a path as text
        except OSError:
            return []
        return [name for name in names if SCOPE_KEY.match(name) and kind_of(name) == "workspace"]


def was_registered(head: ScopeHead) -> bool:
    """Whether the workspace was once in the registry, as far as its files tell."""
    return head.extra.get(MARK) is True or bool(head.descriptor.get("workspaceId"))
