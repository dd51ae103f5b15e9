"""Give memory that is free back to the system."""

from __future__ import annotations

import sys


def give_back() -> None:
    """Return freed memory to the system, where its allocator keeps it otherwise.

    Sorting postings takes several times the memory of what comes of it. glibc keeps most of that in
    the process once it is freed: a third of the whole at 10 000 entries. Elsewhere nothing is done.
    """
    if sys.platform != "linux":
        return
    import ctypes  # noqa: PLC0415 - NumPy has imported it wherever this is called

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
