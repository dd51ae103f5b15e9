from __future__ import annotations

import numpy as np
import pytest

from wsmem.errors import UnknownNameError
from wsmem.evals.systems.bm25 import METHODS, Bm25System, is_variant, variant_name
from wsmem.evals.systems.registry import check_system, make_system
from wsmem.evals.tuning.peers import VARIANTS
from wsmem.records import MemoryEntry

ENTRIES = tuple(
    MemoryEntry(id=name, content=text, updated_at="2025-12-01T00:00:00.000Z")
    for name, text in (
        ("a", "deploy deploy deploy script and many other words about nothing in particular"),
        ("b", "deploy key"),
        ("c", "部署脚本在凌晨运行"),
        ("d", "kestrel exports bills"),
        ("e", "nightly backup keeps snapshots"),
    )
)


def found(name: str, query: str) -> list[str]:
    return make_system(name).prepare(ENTRIES, now=0).search(query, limit=10)


@pytest.mark.parametrize("method", METHODS)
def test_every_variant_finds_the_entries_that_hold_a_term_and_no_others(method: str) -> None:
    name = variant_name(method, k1=1.2, b=0.75)
    assert set(found(name, "deploy 部署脚本 kestrel")) == {"a", "b", "c", "d"}
    assert found(name, "volcano") == []


def test_parameters_matter() -> None:
    assert found("bm25:lucene,k1=1.2,b=0", "deploy")[0] == "a"
    assert found("bm25:lucene,k1=1.2,b=1", "deploy")[0] == "b"


def test_the_plain_name_is_the_variant_of_its_parameters() -> None:
    assert make_system("bm25").settings == make_system("bm25:lucene,k1=1.2,b=0.75").settings
    assert Bm25System.of("bm25:atire").settings["k1"] == 1.2


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_are_known_by_their_names(name: str) -> None:
    check_system(name)
    assert is_variant(name)
    assert make_system(name).name == name


@pytest.mark.parametrize(
    "name",
    ["bm25:", "bm25:magic", "bm25:lucene,b=1.5", "bm25:lucene,k1=x", "bm25:lucene,b=0.5,k1=1"],
)
def test_other_names_are_refused(name: str) -> None:
    assert not is_variant(name)
    with pytest.raises(UnknownNameError):
        check_system(name)
    with pytest.raises(UnknownNameError, match="atire"):
        Bm25System.of(name)


def test_scores_follow_the_published_formula() -> None:
    """BM25 with Lucene's rarity, k1 1.2 and b 0.75, worked out by hand for one term."""
    prepared = Bm25System().prepare(ENTRIES[1:4], now=0)
    index = prepared.index
    (token,) = index.get_tokens_ids(["kestrel"])
    scores = index.get_scores_from_ids([token])
    lengths = np.array([2, 8, 3])
    rarity = np.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    norm = 1.2 * (1 - 0.75 + 0.75 * lengths[2] / lengths.mean())
    at = prepared.ids.index("d")
    assert scores[at] == pytest.approx(rarity / (1 + norm), rel=0.02)
