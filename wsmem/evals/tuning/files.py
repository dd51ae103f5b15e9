"""The folder in which the candidates of sets and their duels are kept from study to study.

A file's name tells its content: the set's files, the signals, and the code that decides both.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from wsmem.evals.card import checksums
from wsmem.evals.tuning.cached import CachedSet
from wsmem.evals.tuning.candidates import read_set
from wsmem.evals.tuning.duels import ARRAYS, PLAIN, Duels, make_duels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from wsmem.evals.catalogue import Source

FORMAT = 1
_ROOT = Path(__file__).resolve().parents[2]
_DECIDING = ("text", "retrieval", "records.py", "evals/entries.py", "evals/reading.py",
             *(f"evals/tuning/{name}.py" for name in ("cached", "candidates", "duels", "files")),
             )  # fmt: skip
"""Source files and folders that decide what is cached; a change of any makes the cache anew."""


@lru_cache(maxsize=1)
def fingerprint() -> str:
    """Hash of the source code that decides what is cached."""
    found = hashlib.sha256()
    for name in _DECIDING:
        place = _ROOT / name
        files = sorted(place.rglob("*.py")) if place.is_dir() else [place]
        for path in files:
            found.update(path.relative_to(_ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheKey:
    """Everything that decides what a cached set holds."""

    name: str
    split: str | None
    checksums: Mapping[str, str]
    signals: tuple[str, ...]
    limit: int | None

    @classmethod
    def of(
        cls, source: Source, *, split: str | None, signals: Sequence[str], limit: int | None
    ) -> CacheKey:
        """The key of a set as its files are now."""
        return cls(
            name=source.name,
            split=split,
            checksums=checksums(source.path),
            signals=tuple(signals),
            limit=limit,
        )

    def stem(self, **more: object) -> str:
        """A file name that is the same only for the same content, without its suffix."""
        said = asdict(self) | {"format": FORMAT, "code": fingerprint()} | more
        digest = hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()
        return f"{self.name}-{self.split or 'only'}-{digest[:16]}"


def cached_set(
    source: Source,
    *,
    split: str | None,
    signals: Sequence[str],
    cache: Path,
    limit: int | None = None,
) -> CachedSet:
    """A set from the cache folder, computed and put there if it is not in it yet."""
    key = CacheKey.of(source, split=split, signals=signals, limit=limit)
    path = cache / f"{key.stem()}.npz"
    stored = load_arrays(path)
    if stored is None:
        found = read_set(source, split=split, signals=signals, limit=limit)
        save_arrays(path, *_arrays_of(found))
        return found
    return _from_arrays(*stored)


_META = ("name", "split", "checksums", "signals", "queries", "scopes")
_COLUMN = "column:"


def _arrays_of(found: CachedSet) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    meta = {name: getattr(found, name) for name in _META}
    arrays = {
        name: getattr(found, name)
        for name in CachedSet.__dataclass_fields__
        if name not in (*_META, "columns")
    }
    return meta, arrays | {_COLUMN + name: column for name, column in found.columns.items()}


def _from_arrays(meta: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> CachedSet:
    columns = {
        name.removeprefix(_COLUMN): arrays.pop(name)
        for name in list(arrays)
        if name.startswith(_COLUMN)
    }
    lists = {name: tuple(meta[name]) for name in ("signals", "queries", "scopes")}
    fields: dict[str, Any] = meta | lists | arrays
    return CachedSet(**fields, columns=columns)


def save_arrays(
    path: Path, meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]
) -> None:
    """Write arrays with a few plain values; whole or not at all, whoever else writes the same."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = np.frombuffer(json.dumps(meta, default=dict).encode(), dtype=np.uint8)
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with partial.open("wb") as file:
            np.savez(file, meta=text, **arrays)  # type: ignore[arg-type]  # NumPy's stub knows no names
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def load_arrays(path: Path) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]] | None:
    """What `save_arrays` wrote; `None` where there is no such file, or none that can be read."""
    try:
        # Opened here, because NumPy leaves a file open that turns out to be no archive.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        meta: dict[str, Any] = json.loads(arrays.pop("meta").tobytes())
    except (OSError, ValueError, EOFError, KeyError, BadZipFile):
        return None
    return meta, arrays


def cached_duels(
    source: Source,
    signs: Mapping[str, int],
    *,
    split: str | None,
    signals: Sequence[str],
    cache: Path,
    k: int = 10,
    limit: int | None = None,
) -> Duels:
    """The duels of a set from the cache folder, made and put there if they are not in it yet."""
    key = CacheKey.of(source, split=split, signals=signals, limit=limit)
    path = cache / f"{key.stem(duels=dict(signs), k=k)}-duels.npz"
    stored = load_duels(path)
    if stored is None:
        found = cached_set(source, split=split, signals=signals, cache=cache, limit=limit)
        stored = make_duels(found, signs, k=k)
        save_duels(stored, path)
    return stored


def save_duels(duels: Duels, path: Path) -> None:
    """Write duels to a file."""
    meta = {name: getattr(duels, name) for name in PLAIN}
    save_arrays(path, meta, {name: getattr(duels, name) for name in ARRAYS})


def load_duels(path: Path) -> Duels | None:
    """Read them again; `None` where there is no such file, or none that can be read."""
    stored = load_arrays(path)
    if stored is None:
        return None
    meta, arrays = stored
    lists = {name: tuple(meta[name]) for name in ("sets", "signals")}
    fields: dict[str, Any] = arrays | lists
    return Duels(**fields, k=meta["k"])
