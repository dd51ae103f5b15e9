"""What the gate and a comparison say to people, in Chinese or English."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, NamedTuple

from wsmem.cli.output import note, say
from wsmem.cli.tables import chance, number, print_table
from wsmem.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wsmem.evals.comparing import Contest, Subject
    from wsmem.evals.comparison import Comparison
    from wsmem.evals.gate.evidence import Departure, Kind
    from wsmem.evals.gate.judging import RankingVerdict
    from wsmem.evals.gate.updating import Update
    from wsmem.evals.gate.work_baseline import WorkVerdict
    from wsmem.evals.gate.worse import ShownEntry, Worse

Language = Literal["en", "zh"]

SHOWN = 10
"""Queries that are shown unless more are asked for."""


class _Words(NamedTuple):
    compared: str
    changed: str
    lost: str
    gained: str
    unsure: str
    nothing: str
    queries: str
    wanted: str
    first_before: str
    first_now: str
    none: str
    should_be_nothing: str
    work_grown: str
    work_same: str
    table: tuple[str, ...]
    work_table: tuple[str, ...]
    departures: dict[Kind, str]
    unproven: str
    not_worse: str
    is_worse: str
    remedies: dict[Kind, str]
    green: str
    red: str
    red_unproven: str
    all_queries: str


_CHANGED_PROFILE = (
    "a changed profile needs its evidence: tune again, or try it with --profile; then "
    "wsmem gate --update"
)
_CHANGED_PROFILE_ZH = "改动配置需要证据：重新调优，或先用 --profile 试评；然后 wsmem gate --update"
_WORDS: dict[Language, _Words] = {
    "en": _Words(
        compared="ranking: {} answers compared with {}",
        changed="  since then: {}",
        lost="worse, surely and by more than the margin:",
        gained="better, surely and by more than the margin:",
        unsure="  {} answers changed for the worse and {} for the better: neither sure nor large",
        nothing="  no answer changed",
        queries="what got worse ({} of {} answers):",
        wanted="wanted",
        first_before="was first",
        first_now="now first",
        none="nothing",
        should_be_nothing="nothing should be recalled",
        work_grown="work: recalls on the fixed store do more than is allowed:",
        work_same="work: {} counts on the fixed store within what is allowed",
        table=("dataset", "group", "measure", "system", "queries", "units", "before", "now",
               "change", "95 %", "p (Holm)", "would see"),
        work_table=("state", "counted", "recalls", "before", "now", "allowed"),
        departures={
            "weights": "the weights of {} changed: {}",
            "rule": "what counts as a match for {} changed: {}",
            "terms": "texts become other terms: those of {}",
            "study": "{} says that a study found it, and the committed study did not: {}",
        },
        unproven="what ships is not what the committed evidence is about:",
        not_worse="nothing of {} got measurably worse",
        is_worse="{} got worse, see above",
        remedies={
            "weights": _CHANGED_PROFILE,
            "rule": _CHANGED_PROFILE,
            "terms": "other terms need evidence as well: tune again if weights should follow, then "
            "wsmem gate --update",
            "study": "run benchmarks/tune_default.py --ship, or let its provenance say where it "
            "comes from",
        },
        green="gate: green",
        red="gate: red",
        red_unproven="gate: red, for want of evidence (status 3)",
        all_queries="all",
    ),
    "zh": _Words(
        compared="排序：{} 个答案已与 {} 比较",
        changed="  此后变化：{}",
        lost="确实变差且超出允许幅度：",
        gained="确实变好且超出允许幅度：",
        unsure="  {} 个答案变差、{} 个变好：既不显著也不够大",
        nothing="  没有答案变化",
        queries="变差的查询（{} / {} 个答案）：",
        wanted="应为",
        first_before="原第一",
        first_now="现第一",
        none="无",
        should_be_nothing="不应召回任何内容",
        work_grown="工作量：固定库上的召回超出允许值：",
        work_same="工作量：固定库上的 {} 项计数均在允许范围内",
        table=("数据集", "分组", "指标", "系统", "查询", "单位", "之前", "现在", "变化", "95 %",
               "p (Holm)", "可见差"),
        work_table=("状态", "计数", "召回数", "之前", "现在", "允许"),
        departures={
            "weights": "{} 的权重有变：{}",
            "rule": "{} 的匹配规则有变：{}",
            "terms": "文本切出的词项有变：{}",
            "study": "{} 自称由调优得出，但仓库中的调优结果并非如此：{}",
        },
        unproven="现有配置与仓库中的证据不符：",
        not_worse="{} 没有可测出的变差",
        is_worse="{} 变差，见上",
        remedies={
            "weights": _CHANGED_PROFILE_ZH,
            "rule": _CHANGED_PROFILE_ZH,
            "terms": "词项变化同样需要证据：如需权重跟进请重新调优，然后 wsmem gate --update",
            "study": "运行 benchmarks/tune_default.py --ship，或在 provenance 中写明权重来源",
        },
        green="门禁：通过",
        red="门禁：未通过",
        red_unproven="门禁：未通过，缺少证据（状态码 3）",
        all_queries="全部",
    ),
}  # fmt: skip


def language_of(name: str | None) -> Language:
    """The language that was asked for, else that of the terminal: Chinese or English."""
    if name is None:
        spoken = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG")
        return "zh" if (spoken or "").lower().startswith("zh") else "en"
    for known in _WORDS:
        if name == known:
            return known
    raise UnknownNameError("language", name, tuple(_WORDS))


def print_ranking(
    found: RankingVerdict, baseline: str, language: Language, *, shown: int = SHOWN
) -> None:
    """What ranking lost and gained, and the queries behind a loss."""
    words = _WORDS[language]
    say(words.compared.format(found.compared, baseline))
    if not found.bound:
        say(*(words.changed.format(_departure(item, words)) for item in found.departures))
    if found.losses:
        say("", words.lost)
        _print_rows(found.losses, words)
        _print_worse(found.worse, words, shown)
    if found.gains:
        say("", words.gained)
        _print_rows(found.gains, words)
    if not found.losses and not found.gains:
        changed = found.better + len(found.worse)
        unsure = words.unsure.format(len(found.worse), found.better)
        say(unsure if changed else words.nothing)


def print_work(found: WorkVerdict, language: Language) -> None:
    """What recalls touch more than before."""
    words = _WORDS[language]
    if found.passed:
        say(words.work_same.format(sum(row.compared for row in found.rows)))
    else:
        say("", words.work_grown)
        rows = (
            (row.state, row.counted, str(row.recalls), str(row.before), str(row.after),
             f"{row.before * (1 + row.margin):.0f}")
            for row in found.grown
        )  # fmt: skip
        print_table(words.work_table, rows, left=range(2))
    say(*(words.changed.format(change) for change in found.changes))


def print_evidence(found: RankingVerdict, language: Language) -> None:
    """What ships without evidence, what became of the figures, and what to do."""
    words = _WORDS[language]
    say("", words.unproven, *(f"  {_departure(item, words)}" for item in found.unproven))
    lost = {about.system for about, _ in found.losses}
    figures: dict[str, list[str]] = {}
    for about, row in found.departed:
        interval = f" [{row.low:+.3f}, {row.high:+.3f}]" if row.low is not None else ""
        told = f"{about.measure} {number(row.difference, signed=True)}{interval}"
        figures.setdefault(about.system, []).append(told)
    for system, parts in figures.items():
        said = words.is_worse if system in lost else words.not_worse
        say(f"  {said.format(system)} ({', '.join(parts)})")
    say(*(f"  {text}" for text in dict.fromkeys(words.remedies[i.kind] for i in found.unproven)))


def print_end(language: Language, *, lost: bool, unproven: bool) -> None:
    """The verdict in a few words."""
    words = _WORDS[language]
    say(words.red if lost else words.red_unproven if unproven else words.green)


def print_update(name: str, found: Update, claims: Iterable[Departure] = ()) -> None:
    """What an update accepted, or why it wrote nothing; and claims that no update can make true."""
    words = _WORDS["en"]
    for line in found.lower:
        note(f"{'accepted' if found.written else 'lower'}: {line}")
    for item in found.departures:
        note(f"{'accepted' if found.written else 'changed'}: {_departure(item, words)}")
    if found.written:
        say(f"{name}: written; commit it to make it count")
    else:
        note(f"{name}: left as it is, because that would lower it; --accept-lower writes it")
    for claim in claims:
        note(f"the gate stays red: {_departure(claim, words)}; {words.remedies[claim.kind]}")


def _print_rows(rows: Iterable[tuple[Subject, Comparison]], words: _Words) -> None:
    print_table(words.table, (_cells(*row, words) for row in rows), left=range(4))


def _cells(subject: Subject, row: Comparison, words: _Words) -> tuple[str, ...]:
    known = row.low is not None and row.high is not None
    return (
        subject.dataset,
        f"{subject.dimension}: {subject.slice}" if subject.dimension else words.all_queries,
        subject.measure,
        subject.system,
        str(row.n),
        str(row.clusters),
        number(row.first),
        number(row.second),
        number(row.difference, signed=True),
        f"{row.low:+.3f} {row.high:+.3f}" if known else "–",
        chance(row.adjusted),
        number(row.detectable),
    )


def _print_worse(worse: Sequence[Worse], words: _Words, shown: int) -> None:
    say("", words.queries.format(min(shown, len(worse)), len(worse)))
    for item in worse[:shown]:
        say(
            f"  {item.dataset} {item.query}  {item.system}  "
            f"{item.measure} {item.before:.3f} -> {item.after:.3f}",
            f"    “{item.text}”",
        )
        wanted = words.should_be_nothing if item.wanted is None else _entry(item.wanted, words)
        say(
            f"    {words.wanted}: {wanted}",
            f"    {words.first_before}: {_entry(item.first_before, words)}",
            f"    {words.first_now}: {_entry(item.first_now, words)}",
        )


def _departure(item: Departure, words: _Words) -> str:
    return words.departures[item.kind].format(item.subject, ", ".join(item.changes))


def _entry(entry: ShownEntry | None, words: _Words) -> str:
    return words.none if entry is None else f"{entry.id}  {entry.text}"


def print_contest(found: Contest, alpha: float) -> None:
    """Two systems compared, a line a set and group."""
    say(f"A  {found.first}", f"B  {found.second}")
    say(f"{found.queries} shared queries, {found.left_out} left out", "")
    columns = (
        "dataset", "group", "measure", "B is", "A", "B", "B - A", "95 %", "p (Holm)", "effect",
        "would see", "queries", "units", "better", "worse",
    )  # fmt: skip
    rows = (
        (
            subject.dataset,
            f"{subject.dimension}: {subject.slice}" if subject.dimension else "all",
            subject.measure,
            row.verdict,
            number(row.first),
            number(row.second),
            number(row.difference, signed=True),
            "–" if row.low is None or row.high is None else f"{row.low:+.3f} {row.high:+.3f}",
            chance(row.adjusted),
            number(row.effect, digits=2, signed=True),
            number(row.detectable),
            str(row.n),
            str(row.clusters),
            str(row.better),
            str(row.worse),
        )
        for subject, row in found.rows
    )
    print_table(columns, rows, left=range(4))
    said = {
        "scope": "workspaces",
        "answer": "queries with one best answer; it is about these workspaces alone",
        "query": "single queries",
        "auto": "",
    }
    units = {name: said[unit] for name, unit in found.units.items()}
    note(
        f"verdicts: paired randomisation, at most {alpha:g} chance of any false one; 'would see' "
        "is the smallest difference that 80 % of such comparisons would find"
    )
    for unit in dict.fromkeys(units.values()):
        sets = ", ".join(name for name, its in units.items() if its == unit)
        note(f"swapped as one on {sets}: {unit}")
