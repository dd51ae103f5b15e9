"""Which memories a conversation was shown lately, so that others get their turn."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_MAX_SESSIONS = 256


class SurfacedMemories:
    """Ids shown, for each root session; the sessions unused longest are forgotten.

    Args:
        window: How many ids, the latest shown first, count as shown lately in a session.
    """

    def __init__(self, window: int) -> None:
        self._window = window
        self._sessions: OrderedDict[str, OrderedDict[str, None]] = OrderedDict()
        self._guard = threading.Lock()

    def of(self, root_session_id: str | None) -> frozenset[str]:
        """Ids shown lately in this conversation; a call without a session has none."""
        with self._guard:
            return frozenset(self._sessions.get(root_session_id or "", ()))

    def note(self, root_session_id: str | None, ids: Iterable[str]) -> None:
        """Remember what was just shown, best first."""
        if not root_session_id:
            return
        with self._guard:
            shown = self._sessions.setdefault(root_session_id, OrderedDict())
            self._sessions.move_to_end(root_session_id)
            for entry_id in ids:
                shown[entry_id] = None
                shown.move_to_end(entry_id)
            while len(shown) > self._window:
                shown.popitem(last=False)
            while len(self._sessions) > _MAX_SESSIONS:
                self._sessions.popitem(last=False)
