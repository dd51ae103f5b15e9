"""Random ids for entries and conflict groups."""

from __future__ import annotations

import os


class RandomIds:
    """Ids of 48 random bits, in the form the public plugin uses."""

    def entry_id(self) -> str:
        """A new memory id."""
        return f"mem-{os.urandom(6).hex()}"

    def group_id(self) -> str:
        """A new conflict group id."""
        return f"conflict-{os.urandom(6).hex()}"
