"""Which existing entry a correction is about: exactly one, with proof, or none."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wsmem.distill.rules.contrasts import (
    BARE_NUMBER,
    elsewhere,
    flips,
    other_identifier,
    other_owner,
    other_predicate,
    owner_of,
    same_kind_of_value,
)
from wsmem.distill.rules.corrections import old_phrases
from wsmem.distill.rules.lexicon import pattern, says
from wsmem.distill.rules.words import (
    names_in,
    qualified_apart,
    subject_words,
    unknown_words,
)
from wsmem.operations.evidence import MIN_QUOTE_WEIGHT, weight
from wsmem.text.normalize import nfkc, normalize_text
from wsmem.text.scripts import cjk_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wsmem.distill.rules.corrections import Correction
    from wsmem.records import MemoryEntry

_CLAUSE = re.compile(r"[，,。；;！!\n]|(?<=\s)[-—]+(?=\s)|\.(?=\s|$)| (?:and|which|but) (?=\w)")
_MARGIN = 1.4
"""How much better than the next one a target must be."""
_CONFLICT_SHARE = 0.3
"""Least share of a conflict's subject that its entry must hold."""
_CONFLICT_WORDS = 2
"""So many shared words are enough, whatever their share."""
_FLIP_SHARE = 0.5
"""Least share of a clause's words that a sentence repeats when only the polarity differs."""

_AIM = re.compile(r"\bfor\s", re.IGNORECASE)
_MARKS = re.compile(r"[，,；;：:。]|\s[—-]\s")
_NOWADAYS = re.compile(r"^\s*(?:现在|目前|如今|now,? )\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The entry that a correction replaces, and the words of it that are no longer right."""

    entry: MemoryEntry
    old_quote: str
    """Verbatim in the entry's content."""
    score: float


def find_target(correction: Correction, entries: Sequence[MemoryEntry]) -> Target | None:
    """The one entry a correction is about; `None` when there is none or the choice is not clear."""
    rarity = Counter(word for entry in entries for word in _words_of(entry))
    found = [
        candidate
        for entry in entries
        if entry.recallable and (candidate := _candidate(correction, entry, rarity)) is not None
    ]
    found.sort(key=lambda candidate: -candidate.score)
    if not found or (len(found) > 1 and found[0].score < _MARGIN * found[1].score):
        return None
    return found[0]


def _candidate(correction: Correction, entry: MemoryEntry, rarity: Counter[str]) -> Target | None:
    claim = correction.claim
    if correction.local and entry.scope == "global":
        return None
    # What the entry sets aside, too, is not what it says: "ids, not names" repeated is no change.
    aside = {normalize_text(phrase) for phrase in old_phrases(entry.content)}
    old = [
        phrase
        for phrase in correction.old
        if _holds(entry.content, phrase) and normalize_text(phrase) not in aside
    ]
    if qualified_apart(claim, entry.content, change=bool(old)):
        return None
    known = _words_of(entry)
    shared = subject_words(_without(claim, old)) & known
    score = sum(1 / rarity[word] for word in shared)
    if correction.disagrees:
        quote = _contested_clause(claim, entry, shared)
    elif old:
        quote = _named_clause(correction, entry, old)
        score += 2
    else:
        quote = _replaced_clause(correction, entry, shared)
    return Target(entry=entry, old_quote=quote, score=score) if quote else None


def _words_of(entry: MemoryEntry) -> frozenset[str]:
    return subject_words(_whole(entry))


def _whole(entry: MemoryEntry) -> str:
    return f"{entry.title} {entry.content} {' '.join(entry.tags)}"


def _holds(content: str, phrase: str) -> bool:
    """Whether an entry says what a phrase names: word for word, or by its name."""
    wanted = normalize_text(phrase)
    left = r"(?<![a-z0-9])" if wanted[:1].isascii() else ""
    right = r"(?![a-z0-9])" if wanted[-1:].isascii() else ""
    if re.search(f"{left}{re.escape(wanted)}{right}", normalize_text(content)):
        return len(wanted) > 1
    names = names_in(phrase)
    return bool(names) and names <= names_in(content)


def _without(text: str, phrases: Sequence[str]) -> str:
    for phrase in phrases:
        text = text.replace(phrase, " ")
    return text


def _named_clause(correction: Correction, entry: MemoryEntry, old: Sequence[str]) -> str | None:
    """The clause of an entry that holds what a correction names as no longer right."""
    subject = _subject(_without(correction.claim, old), entry)
    shared = subject_words(subject) & _words_of(entry)
    unknown = unknown_words(subject, _whole(entry))
    named = {*names_in(correction.claim)}.intersection(word for o in old for word in _latin(o))
    # A name may come in the place of a name; any other word that is not known is another subject.
    if shared and named:
        unknown = [word for word in unknown if word not in names_in(correction.claim)]
    if unknown or _changes_something_else(correction, entry, old):
        return None
    # "We moved from X to Y" needs no subject; "not X but Y" may be about anything.
    if not shared and not (correction.changed and named):
        return None
    clauses = [clause for clause in _clauses(entry.content) if any(_holds(clause, o) for o in old)]
    if not clauses:
        return entry.content.strip()
    return max(clauses, key=lambda clause: len(subject_words(clause) & shared))


def _replaced_clause(
    correction: Correction, entry: MemoryEntry, shared: frozenset[str]
) -> str | None:
    """The clause of an entry whose value a correction replaces without naming the old one."""
    if not (correction.said_wrong or correction.changed):
        return None
    claim, content = correction.claim, entry.content
    if correction.said_wrong:
        moved = [clause for clause in _clauses(content) if elsewhere(claim, clause)]
        if moved:
            return moved[0]
    subject = _subject(claim, entry)
    value = claim.replace(subject, " ", 1)
    if not subject_words(subject) & shared or unknown_words(subject, _whole(entry)):
        return None
    if other_identifier(subject, content) or _changes_something_else(correction, entry):
        return None
    clauses = [clause for clause in _clauses(content) if subject_words(clause) & shared]
    clauses.sort(key=lambda clause: -len(subject_words(clause) & shared))
    new_names = names_in(claim) - names_in(content)
    for clause in [*clauses, *(c for c in _clauses(content) if c not in clauses)]:
        if same_kind_of_value(value, clause, content, said_in=claim):
            return clause
    for clause in clauses:
        if other_owner(claim, clause) or (
            correction.said_wrong and other_predicate(claim, subject, clause)
        ):
            return clause
    for clause in clauses:
        repeated = subject_words(clause) & shared
        if flips(_closest_clause(claim, clause), clause) and len(repeated) >= _FLIP_SHARE * len(
            subject_words(clause)
        ):
            return clause
    for clause in clauses:
        if new_names and names_in(clause) - names_in(claim):
            return clause
    return None


def _closest_clause(claim: str, clause: str) -> str:
    """The part of a claim that is most about what a clause of an entry says."""
    words = subject_words(clause)
    return max(_MARKS.split(claim), key=lambda part: len(subject_words(part) & words))


def _changes_something_else(
    correction: Correction, entry: MemoryEntry, old: Sequence[str] = ()
) -> bool:
    """Whether what changes is a thing of its own, named beside what an entry is about.

    "Avatars are at most 2 MB, banners no longer": it is the banners that change.
    """
    whole = _whole(entry)
    clauses = [clause for clause in _MARKS.split(correction.claim) if clause.strip()]
    for number, clause in enumerate(clauses):
        if says("wrong", f"{clause}，"):
            continue  # it only announces that something changed
        if (owner := owner_of(entry.content)) and owner in _latin(clause):
            continue  # "Lena went to underwriting" tells why somebody else is in charge
        changes = any(phrase in clause for phrase in old) if old else says("changed", clause)
        ahead = number + 1 < len(clauses) and not (old or changes or correction.said_wrong)
        if (changes and number) or (ahead and _has_value(clause)):
            subject = _ahead_of_verb(_without(clause, old))
            if subject_words(subject) and unknown_words(subject, whole):
                return True
    return False


def _ahead_of_verb(clause: str) -> str:
    verb = pattern("claim_verb").search(clause)
    value = re.search(r"[A-Za-z0-9]", clause) if cjk_run().search(clause) else None
    end = verb or value
    return clause[: end.start()] if end is not None else ""


def _contested_clause(claim: str, entry: MemoryEntry, shared: frozenset[str]) -> str | None:
    """The clause of an entry that a reported other value speaks against."""
    few = len(shared) < min(_CONFLICT_WORDS, _CONFLICT_SHARE * len(subject_words(claim)))
    if few and (not shared or unknown_words(_subject(claim, entry), _whole(entry))):
        return None
    clauses = _clauses(entry.content)
    clauses.sort(key=lambda clause: -len(subject_words(clause) & shared))
    for clause in clauses:
        if same_kind_of_value(claim, clause, entry.content, both=True):
            return clause
        if names_in(claim) - names_in(entry.content) and names_in(clause):
            return clause
    return None


def _latin(phrase: str) -> list[str]:
    return re.findall(r"[a-z0-9][\w.+#/-]*", nfkc(phrase).lower())


def _subject(claim: str, entry: MemoryEntry) -> str:
    """What stands before the verb in the clause that is most about an entry."""
    if (owner := owner_of(claim)) and owner_of(entry.content) not in {None, owner}:
        claim = re.sub(re.escape(owner), " ", claim, count=1, flags=re.IGNORECASE)
    clauses = [clause for clause in _MARKS.split(claim) if clause.strip()]
    known = _words_of(entry)
    # What only leads up to the claim ("the box was reinstalled, …") holds no value.
    telling = [clause for clause in clauses if _has_value(clause)] or clauses
    if not any(subject_words(clause) & known for clause in telling):
        telling = clauses
    best = max(telling, key=lambda clause: len(subject_words(clause) & known), default="")
    best = _NOWADAYS.sub("", best)
    verbs = list(pattern("claim_verb").finditer(best))
    if not verbs:
        number = BARE_NUMBER.search(best)
        return best[: number.start()] if number else best
    before = best[: verbs[0].start()]
    # "We switched the frontend from webpack to Vite": the subject stands behind the first verb;
    # "Greta owns the payout service": behind the only one.
    between, behind = best[verbs[0].end() : verbs[-1].start()], best[verbs[-1].end() :]
    if subject_words(before):
        return before
    aimed = _AIM.search(behind)
    if aimed and not subject_words(between):
        return behind[aimed.end() :]  # "we use brotli for the assets"
    return behind if owner and not subject_words(between) else between


def _has_value(clause: str) -> bool:
    return says("claim_verb", clause) or bool(BARE_NUMBER.search(clause) or names_in(clause))


def _clauses(content: str) -> list[str]:
    """The clauses of an entry, verbatim, none of them too light to be a quote."""
    texts = [piece.strip() for piece in _CLAUSE.split(content) if piece.strip()]
    whole = content.strip()
    return list(
        dict.fromkeys(text if weight(text) >= MIN_QUOTE_WEIGHT else whole for text in texts)
    )
