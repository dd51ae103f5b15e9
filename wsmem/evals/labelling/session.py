"""The conversation with a labeller: one pair at a time, blind, resumable, with undo.

Knows no terminal: lines come from one function and go to another.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wsmem.evals.labelling.judgements import PairKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from wsmem.evals.dataset import Document
    from wsmem.evals.labelling.folder import LabellingFolder
    from wsmem.evals.labelling.judgements import Ledger

HELP = (
    "2  it answers the query: with this entry alone one could reply",
    "1  it helps: part of an answer, or background one would want beside it",
    "0  it does not help, however many words it shares",
    "s  skip: asked again at the end of the next session",
    "u  undo the last judgement or skip, also one of an earlier session",
    "q  quit; everything so far is kept",
)
_PROMPT = "grade 2, 1 or 0 (s skip, u undo, q quit, ? help): "
_LONGEST = 1200
"""Characters of an entry that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReport:
    """How a session went."""

    judged: int
    """Judgements of this session that were not taken back."""
    skipped: int
    """Pairs put off, in this session or before, that wait."""
    left: int
    """Pairs not judged yet, those put off included."""


def work_list(
    folder: LabellingFolder, ledger: Ledger, *, share: float = 1.0, only: Iterable[PairKey] = ()
) -> list[PairKey]:
    """What a labeller has to judge: query by query, what was put off before at the end.

    Args:
        folder: The pool.
        ledger: What he has judged so far.
        share: Part of the queries, the same sample for everybody; for a second labeller.
        only: These pairs and no others, judged before or not.
    """
    chosen = list(only)
    if not chosen:
        names = [query for query, documents in folder.pool.items() if documents]
        wanted = min(len(names), max(1, round(share * len(names))))
        sample = set(random.Random(folder.settings.seed).sample(names, wanted))
        chosen = [
            PairKey(query, document)
            for query in names
            if query in sample
            for document in folder.pool[query]
        ]
    open_ = [pair for pair in chosen if pair not in ledger.grades]
    put_off = [pair for pair in ledger.skipped if pair in set(open_)]
    return [pair for pair in open_ if pair not in set(put_off)] + put_off


class Session:
    """Walks a labeller through his pairs."""

    def __init__(
        self,
        folder: LabellingFolder,
        ledger: Ledger,
        pairs: Sequence[PairKey],
        *,
        ask: Callable[[str], str | None],
        show: Callable[[str], None],
    ) -> None:
        """Prepare a session.

        Args:
            folder: Where queries and entries are.
            ledger: Where judgements go.
            pairs: What to judge, in order.
            ask: Shows a prompt and returns the line typed; `None` when there will be no more.
            show: Shows one line.
        """
        self._folder, self._ledger, self._ask, self._show = folder, ledger, ask, show
        self._queue = deque(pairs)
        self._total = len(pairs)
        self._put_off: list[PairKey] = []
        self._documents = {document.id: document for document in folder.dataset.documents}
        self._query: str | None = None
        """The one shown last, so that it is not repeated for each of its entries."""

    def run(self) -> SessionReport:
        """Ask until everything is judged or put off, or the labeller stops."""
        before = len(self._ledger.grades)
        going = True
        while going and self._queue:
            self._present(self._queue[0])
            going = self._answer()
        return SessionReport(
            judged=len(self._ledger.grades) - before,
            skipped=len(self._ledger.skipped),
            left=len(self._queue) + len(self._put_off),
        )

    def _answer(self) -> bool:
        """Take one answer that can be used; whether to go on."""
        while True:
            line = self._ask(_PROMPT)
            said = "q" if line is None else line.strip().lower()
            pair = self._queue[0]
            if said in {"0", "1", "2"}:
                self._ledger.record(pair, int(said))
                self._queue.popleft()
                return True
            if said == "s":
                self._ledger.skip(pair)
                self._put_off.append(self._queue.popleft())
                return True
            if said == "u":
                if self._undo():
                    return True
                self._show("there is nothing to undo")
            elif said in {"q", "quit"}:
                return False
            elif said in {"?", "h", "help"}:
                for text in HELP:
                    self._show(text)
            else:
                self._show(f"{said!r} is no answer; ? shows what there is")

    def _undo(self) -> bool:
        """Go back to the last pair that was judged or put off."""
        pair = self._ledger.undo()
        if pair is None:
            return False
        if pair in self._put_off:
            self._put_off.remove(pair)
        if pair in self._queue:
            self._queue.remove(pair)
        self._queue.appendleft(pair)
        self._total = max(self._total, len(self._queue) + len(self._put_off))
        self._query = None
        self._show("taken back:")
        return True

    def _present(self, pair: PairKey) -> None:
        query = self._folder.queries[pair.query]
        if self._query != pair.query:
            self._query = pair.query
            where = self._where(query.scope)
            self._show("")
            self._show(f"=== query {pair.query}{where}")
            self._show(f"    {query.text}")
        done = self._total - len(self._queue) - len(self._put_off)
        left = sum(other.query == pair.query for other in self._queue)
        self._show("")
        whole = f"{done} of {self._total} done ({_share(done, self._total)})"
        self._show(f"--- {left} left for this query, {whole}")
        for line in entry_lines(self._documents[pair.document]):
            self._show(line)

    def _where(self, scope: str | None) -> str:
        if scope is None:
            return ""
        return f" in {self._folder.settings.scopes.get(scope) or scope}"


def entry_lines(document: Document) -> list[str]:
    """An entry as a labeller sees it: what it says and when; nothing of who found it."""
    meta = document.metadata
    text = document.text if len(document.text) <= _LONGEST else document.text[:_LONGEST] + " …"
    lines = [document.title] if document.title and document.title not in document.text else []
    lines += text.splitlines() or [""]
    facts = [
        str(meta[name]) for name in ("type", "status", "layer") if meta.get(name) not in (None, "")
    ]
    date = next((meta[name] for name in ("updatedAt", "date", "createdAt") if meta.get(name)), None)
    facts += [str(date)[:10]] if date else []
    for name in ("tags", "retrievalTerms"):
        if isinstance(meta.get(name), list) and meta[name]:
            facts.append(", ".join(map(str, meta[name])))
    return (
        [*(f"    {line}" for line in lines), f"    [{' | '.join(facts)}]"]
        if facts
        else [f"    {line}" for line in lines]
    )


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "100%"
