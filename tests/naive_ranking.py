"""The ranking written the plainest way: every entry analysed again at every query.

Slow and obvious on purpose. The index and the scan must give the same rankings; the benchmark
measures how much faster they do.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from wsmem.records import Match
from wsmem.retrieval.fields import TAG, TERM, TITLE, changed_ms, haystack, searched_fields
from wsmem.retrieval.order import in_order
from wsmem.text.analysis import analyze_query, fold, is_unspaced, run_terms, runs, unspaced_terms
from wsmem.text.lexical import lexical_tokens
from wsmem.text.normalize import normalize_text
from wsmem.text.utf16 import utf16_length

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from wsmem.records import MemoryEntry
    from wsmem.retrieval.profile import Profile

Signals = dict[str, float]


def naive_rank(
    entries: Sequence[MemoryEntry],
    query: str,
    profile: Profile,
    *,
    now: int,
    limit: int | None = 8,
    surfaced: Collection[str] = (),
) -> list[Match]:
    recallable = [entry for entry in entries if entry.recallable]
    earn = naive_terms if profile.matching == "terms" else naive_substrings
    matches = []
    for entry, matched, signals in earn(recallable, query, profile):
        changed = changed_ms(entry)
        days = math.inf if changed is None else max(0.0, now - changed) / 86_400_000
        signals["importance"] = min(3.0, max(0.0, entry.importance))
        signals["recency"] = max(0.0, 3.0 - math.log2(1.0 + days))
        signals["surfaced"] = float(entry.id in surfaced)
        score = sum(weight * signals[name] for name, weight in profile.weights.items())
        matches.append(Match(entry=entry, score=score, matched=matched))
    return in_order(matches, profile)[:limit]


def naive_substrings(
    entries: Sequence[MemoryEntry], query: str, profile: Profile
) -> list[tuple[MemoryEntry, int, Signals]]:
    del profile
    normalized, tokens = normalize_text(query), lexical_tokens(query)
    found = []
    for entry in entries:
        text = normalize_text(haystack(entry))
        own = set(lexical_tokens(haystack(entry)))
        matched = [token for token in tokens if token in text or token in own]
        if not matched:
            continue
        terms = [term for raw in entry.retrieval_terms if (term := normalize_text(raw))]
        long = sum(utf16_length(token) >= 4 for token in matched)
        signals = {
            "phrase": float(normalized in text),
            "title_phrase": float(normalized in normalize_text(entry.title)),
            "tag_equals": float(sum(normalize_text(tag) in tokens for tag in entry.tags)),
            "term_overlaps": float(
                sum(
                    term in normalized or bool(set(lexical_tokens(term)) & set(tokens))
                    for term in terms
                )
            ),
            "long_tokens": float(long),
            "short_tokens": float(len(matched) - long),
            "token_share": len(matched) / len(tokens),
        }
        found.append((entry, len(matched), signals))
    return found


class Analyzed(NamedTuple):
    counts: Counter[str]
    fields: dict[str, int]
    pairs: set[tuple[str, str]]
    letters: set[str]
    length: int


def analyzed(entry: MemoryEntry) -> Analyzed:
    counts: Counter[str] = Counter()
    fields: dict[str, int] = {}
    pairs: set[tuple[str, str]] = set()
    letters: set[str] = set()
    length = 0
    for bit, text in zip(*searched_fields(entry), strict=True):
        folded = fold(text)
        length += len(folded.encode("utf-8", "surrogatepass"))
        stream: list[str] = []
        for run in runs(folded):
            if is_unspaced(run):
                stream.extend(unspaced_terms(run))
                letters.update(run)
                continue
            parts, whole = run_terms(run)
            stream.extend(parts)
            if whole is not None:
                counts[whole] += 1
                fields[whole] = fields.get(whole, 0) | bit
        counts.update(stream)
        pairs.update(pairwise(stream))
        for term in stream:
            fields[term] = fields.get(term, 0) | bit
    return Analyzed(counts, fields, pairs, letters, length)


def naive_terms(
    entries: Sequence[MemoryEntry], text: str, profile: Profile
) -> list[tuple[MemoryEntry, int, Signals]]:
    query = analyze_query(text)
    texts = [analyzed(entry) for entry in entries]
    if not query.terms or not texts:
        return []

    def count(entry: Analyzed, term: str) -> int:
        lone = len(term) == 1 and is_unspaced(term)
        return int(term in entry.letters) if lone else entry.counts[term]

    def mass_of(weight: float, df: int) -> float:
        df = max(df, 1)
        return weight * math.log(1 + (len(texts) - df + 0.5) / (df + 0.5))

    mass = {
        term.text: mass_of(term.weight, sum(count(entry, term.text) > 0 for entry in texts))
        for term in query.terms
    }
    letters = {
        letter: mass_of(1.0, sum(letter in entry.letters for entry in texts))
        for letter in query.letters
    }
    role = {term.text: term.role for term in query.terms}
    proving = {term: 0.0 if role[term] == "function" else mass[term] for term in mass}
    decisive = "subject" if "subject" in role.values() else "lone"
    needed = profile.evidence_share * min(
        sum(proving.values()), profile.evidence_cap * mass_of(1.0, 1)
    )
    total = sum(mass.values())
    weights = sum(term.weight for term in query.terms)
    pair_mass = {pair: mass.get(pair[0], 0.0) + mass.get(pair[1], 0.0) for pair in query.pairs}
    average = sum(entry.length for entry in texts) / len(texts)
    found = []
    for entry, read in zip(entries, texts, strict=True):
        held = {term: tf for term in mass if (tf := count(read, term))}
        if not any(role[term] == decisive for term in held):
            continue
        if sum(proving[term] for term in held) < needed - 1e-12:
            continue
        k1 = 1.5 * (0.1 + 0.9 * read.length / average)
        fields = {
            term: 0 if len(term) == 1 and is_unspaced(term) else read.fields[term] for term in held
        }
        signals = {
            "coverage": sum(mass[term] for term in held) / total,
            "word_coverage": sum(t.weight for t in query.terms if t.text in held) / weights,
            "saturation": sum(mass[t] * tf / (tf + 1.5) for t, tf in held.items()) / total,
            "length_saturation": sum(mass[t] * tf / (tf + k1) for t, tf in held.items()) / total,
            "letters": sum(m / (1 + k1) for letter, m in letters.items() if letter in read.letters)
            / (sum(letters.values()) or 1.0),
            "title": sum(mass[t] for t in held if fields[t] & TITLE) / total,
            "tags": sum(mass[t] for t in held if fields[t] & TAG) / total,
            "retrieval_terms": sum(mass[t] for t in held if fields[t] & TERM) / total,
            "pairs": sum(m for pair, m in pair_mass.items() if pair in read.pairs)
            / (sum(pair_mass.values()) or 1.0),
        }
        found.append((entry, len(held), signals))
    return found
