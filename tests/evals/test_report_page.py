from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest
from labelled_sets import document, query, write_set

from wsmem.errors import RunFolderError
from wsmem.evals.catalogue import find_datasets
from wsmem.evals.evaluate import evaluate
from wsmem.evals.plan import Plan
from wsmem.evals.report.page import _number, render, write_report
from wsmem.evals.run import Run, write_run

if TYPE_CHECKING:
    from pathlib import Path

ATTACK = '"><img src=x onerror=alert(1)>'
LINKS = {"href", "src", "srcset", "action", "data", "poster", "xlink:href", "background"}


class Page(HTMLParser):
    """Tags, attributes and text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.parts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.parts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.parts).split())


def run_of(
    tmp_path: Path,
    *,
    names: tuple[str, ...] = ("a", "b"),
    systems: tuple[str, ...] = ("wsmem:reference", "wsmem:default", "bm25", "dense"),
    measures: tuple[str, ...] = (),
    **files: Any,
) -> Run:
    for name in names:
        write_set(tmp_path / "sets" / name, **files)
    sources = find_datasets([tmp_path / "sets" / name for name in names]).values()
    plan = Plan.of(sources, systems=systems, measures=measures, jobs=1, worst=5)
    return write_run(evaluate(plan), tmp_path / "run")


def hard(**metadata: Any) -> dict[str, Any]:
    """A set in which the first profile puts a wrong entry first, and recalls one for nothing."""
    documents = [
        document("wrong", "kestrel kestrel exports", tags=["kestrel"], importance=3, **metadata),
        document("right", "who owns the billing service", **metadata),
    ]
    queries = [
        query("q1", "kestrel billing", kind="question"),
        query("q2", "kestrel exports of the moon", kind="none")
        | {"metadata": {"kind": "none", "answerable": False}},
    ]
    return {"documents": documents, "queries": queries, "labels": [("q1", "right", 2)]}


def test_the_page_asks_for_nothing_and_runs_nothing(tmp_path: Path) -> None:
    html = render(run_of(tmp_path, **hard()))
    page = Page(html)
    assert not {"script", "link", "iframe", "object", "embed", "base", "form"} & set(page.tags)
    linked = [value for _, name, value in page.attributes if name in LINKS]
    assert linked
    assert all(value.startswith("#") for value in linked)
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]
    assert not re.search(r"https?:|@import|url\((?!#)", html)
    (policy,) = [v for t, n, v in page.attributes if t == "meta" and n == "content" and "src" in v]
    assert policy.startswith("default-src 'none'")


def test_links_within_the_page_lead_somewhere(tmp_path: Path) -> None:
    page = Page(render(run_of(tmp_path, **hard())))
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    targets = {value[1:] for _, name, value in page.attributes if name == "href"}
    targets |= {
        found for _, _, value in page.attributes for found in re.findall(r"url\(#([^)]+)\)", value)
    }
    assert targets <= set(ids)


def test_texts_of_datasets_are_never_markup(tmp_path: Path) -> None:
    documents = [
        document("d1", f"kestrel kestrel {ATTACK}", importance=3) | {"title": ATTACK},
        document("d2", "who owns the billing service") | {"title": ATTACK},
    ]
    queries = [query("q1", f"kestrel billing {ATTACK}", kind=ATTACK, lang=ATTACK, slice=[ATTACK])]
    run = run_of(
        tmp_path,
        documents=documents,
        queries=queries,
        labels=[("q1", "d2", 1)],
        systems=("wsmem:reference", "wsmem:default"),
    )
    assert run.worst()
    html = render(run)
    page = Page(html)
    assert "img" not in page.tags
    assert ATTACK not in html
    assert ATTACK in page.text
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]


def test_names_and_reasons_are_escaped_too(tmp_path: Path) -> None:
    run_of(tmp_path, names=("a",), **hard())
    folder = tmp_path / "run"
    for name in ("manifest.json", "board.json", "slices.json", "worst.jsonl"):
        text = (folder / name).read_text(encoding="utf-8")
        changed = text.replace('"a"', json.dumps(ATTACK)).replace(
            '"wsmem:default"', json.dumps(f"wsmem:{ATTACK}")
        )
        changed = changed.replace("not installed", json.dumps(ATTACK)[1:-1])
        (folder / name).write_text(changed, encoding="utf-8")
    html = render(Run.load(folder))
    assert "img" not in Page(html).tags
    assert ATTACK not in html


def test_the_worst_queries_show_both_entries_and_what_told_them_apart(tmp_path: Path) -> None:
    run = run_of(tmp_path, names=("a",), systems=("wsmem:reference",), **hard())
    missed, false = run.worst()
    assert (missed["failure"], false["failure"]) == ("missed", "false-recall")
    assert [entry["entry"] for entry in missed["entries"]] == ["wrong", "right"]
    text = Page(render(run)).text
    assert "came first · rank 1 · not labelled relevant · score 26.5" in text
    assert "labelled relevant · rank 2 · grade 2 · score 15.5" in text
    # 26.5: tag 8, one long token 5, half of the tokens 6, importance 3 times 1.5, recency 3 ...
    assert "tag_equals 8 1 8 0 0 +8" in text
    # ... 15.5: the same without the tag, with importance 1.
    assert "importance 1.5 3 4.5 1 1.5 +3" in text
    assert "nothing answers this, and something was recalled" in text


def test_the_page_says_what_was_skipped_and_how_the_run_was_made(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    text = Page(render(run)).text
    (skipped,) = run.skipped
    assert f"dense all datasets {skipped['reason']}" in text
    assert run.manifest["machine"]["platform"] in text
    assert run.manifest["datasets"]["a"]["checksums"]["corpus.jsonl"] in text
    assert f"bm25s {run.manifest['packages']['bm25s']}" in text
    if run.manifest["commit"]:
        assert run.manifest["commit"] in text


def test_every_figure_of_the_board_stands_on_the_page_with_its_interval(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    text = Page(render(run)).text
    board = json.loads((run.path / "board.json").read_text(encoding="utf-8"))
    for row in board["rows"]:
        digits = 0 if row["measure"] == "Bytes@8" else 3
        assert f"{row['value']:,.{digits}f}" in text
        if row["low"] is not None:
            assert f"{row['low']:,.{digits}f}–{row['high']:,.{digits}f}" in text


def test_one_dataset_needs_no_mean(tmp_path: Path) -> None:
    text = Page(render(run_of(tmp_path, names=("only",)))).text
    assert "On only." in text
    assert "Means over the sets" not in text
    assert "by dataset" not in text


def test_chinese_names_and_queries_are_shown_as_they_are(tmp_path: Path) -> None:
    queries = [query("q1", "部署脚本放在哪", kind="提问", lang="zh")]
    run = run_of(tmp_path, names=("工作区",), queries=queries, labels=[("q1", "d4", 1)])
    text = Page(render(run)).text
    assert "部署脚本放在哪" in text
    assert "提问" in text
    assert "工作区" in text


@pytest.mark.parametrize(
    "measures",
    [
        pytest.param(("FalseRecall",), id="only-false-recall"),
        pytest.param(("Judged@10",), id="only-judged"),
        pytest.param(("Bytes@3",), id="only-bytes"),
        pytest.param(("P(rel=2)@5", "nDCG@10"), id="with-parameters"),
    ],
)
def test_any_choice_of_measures_makes_a_page(tmp_path: Path, measures: tuple[str, ...]) -> None:
    text = Page(render(run_of(tmp_path, measures=measures))).text
    assert all(measure in text for measure in measures)


def test_a_run_in_which_nothing_was_scored_says_so(tmp_path: Path) -> None:
    text = Page(render(run_of(tmp_path, systems=("dense",)))).text
    assert "Nothing was scored." in text
    assert "dense" in text


def test_measures_without_any_value_are_left_out(tmp_path: Path) -> None:
    queries = [query("q1", "部署脚本", kind="word")]
    run = run_of(tmp_path, names=("a",), queries=queries, labels=[("q1", "d1", 1)])
    assert run.board().query("measure == 'FalseRecall'")["value"].isna().all()
    page = Page(render(run))
    assert "False recall" not in page.text
    assert "nan" not in page.text.lower().split()


def test_a_set_without_groups_has_slices_by_size_only(tmp_path: Path) -> None:
    queries = [query("q1", "部署脚本"), query("q2", "billing exports")]
    run = run_of(tmp_path, names=("a",), queries=queries, labels=[("q1", "d1", 1), ("q2", "d2", 1)])
    text = Page(render(run)).text
    assert "nDCG@10 by scope size" in text
    assert "nDCG@10 by lang" not in text


def test_equal_runs_give_equal_pages(tmp_path: Path) -> None:
    run = run_of(tmp_path, **hard())
    assert render(run) == render(Run.load(run.path))


def test_the_page_goes_beside_the_run_or_where_it_is_wanted(tmp_path: Path) -> None:
    run = run_of(tmp_path, names=("a",))
    assert write_report(run) == run.path / "report.html"
    other = tmp_path / "deep" / "page.html"
    assert write_report(run, other) == other
    assert other.read_bytes() == (run.path / "report.html").read_bytes()
    with pytest.raises(RunFolderError, match="cannot be written"):
        write_report(run, tmp_path / "deep")


def test_a_run_of_a_newer_format_is_not_misread(tmp_path: Path) -> None:
    run = run_of(tmp_path, names=("a",))
    path = run.path / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(manifest | {"format": 2}), encoding="utf-8")
    with pytest.raises(RunFolderError, match=r"format 2, and this wsmem reads format 1; upgrade"):
        Run.load(run.path)


@pytest.mark.parametrize("key", ["machine", "seeds", "command"])
def test_a_run_that_lacks_something_is_named(tmp_path: Path, key: str) -> None:
    run = run_of(tmp_path, names=("a",))
    manifest = {name: value for name, value in run.manifest.items() if name != key}
    (run.path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(RunFolderError, match=f"does not hold what a run holds .*{key}"):
        render(Run.load(run.path))


@pytest.mark.parametrize("text", ["[]", "{}", '"run"', '{"settings": {}}'])
def test_a_manifest_that_is_none_is_named(tmp_path: Path, text: str) -> None:
    run = run_of(tmp_path, names=("a",))
    (run.path / "manifest.json").write_text(text, encoding="utf-8")
    with pytest.raises(RunFolderError, match=r"manifest\.json: does not hold what a run holds"):
        Run.load(run.path)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(None, "–", id="unknown"),
        pytest.param(0.0, "0", id="zero"),
        pytest.param(-0.0001, "0", id="no-negative-zero"),
        pytest.param(30.0, "30", id="whole"),
        pytest.param(-8.0, "−8", id="negative"),
        pytest.param(0.1234, "0.123", id="rounded"),
        pytest.param(100.0, "100", id="noughts-that-count"),
    ],
)
def test_numbers_are_printed_without_needless_noughts(value: float | None, expected: str) -> None:
    assert _number(value) == expected


def test_differences_carry_their_sign() -> None:
    assert [_number(value, signed=True) for value in (1.5, -1.5, 0.0)] == ["+1.5", "−1.5", "0"]
