"""`wsmem gate` and `wsmem compare` as a person and as a program meet them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import broken_ranking
import pytest
from broken_ranking import halve, ship_edited
from labelled_sets import document, query, write_set

from wsmem.cli import gating
from wsmem.cli.gate_printing import _CHANGED_PROFILE, language_of
from wsmem.cli.main import main
from wsmem.cli.sets import ALPHA as TOLD_ALPHA
from wsmem.errors import UnknownNameError
from wsmem.evals.comparison import ALPHA
from wsmem.evals.gate import checking, updating, work
from wsmem.evals.gate.record import read_record
from wsmem.retrieval.profile import load_profile

if TYPE_CHECKING:
    from pathlib import Path

WORDS = (
    *(
        "部署脚本",
        "备份策略",
        "计费导出",
        "内核参数",
        "游标分页",
        "账本对账",
        "套接字池",
        "数据包头",
    ),
    *("分支保护", "组件注册", "线程上限", "金丝雀组", "镜像仓库", "限流阈值", "日志轮转"),
)


class Said:
    """What a command printed and how it ended."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.status, self.out, self.err = 0, "", ""

    def __call__(self, *arguments: str) -> Said:
        self._capsys.readouterr()
        self.status = main(arguments)
        self.out, self.err = self._capsys.readouterr()
        return self

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found


@pytest.fixture
def wsmem(capsys: pytest.CaptureFixture[str]) -> Said:
    return Said(capsys)


@pytest.fixture(autouse=True)
def sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A set of our own, small, and counted work on a small store."""
    folder = write_set(
        tmp_path / "own" / "small",
        documents=[document(f"d{n}", f"关于{word}的约定") for n, word in enumerate(WORDS)],
        queries=[query(f"q{n}", word[1:3], lang="zh") for n, word in enumerate(WORDS)],
        labels=[(f"q{n}", f"d{n}", 2) for n in range(len(WORDS))],
    )
    monkeypatch.setenv("WSMEM_DATASETS", str(tmp_path / "own"))
    monkeypatch.delenv("DATA", raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.delenv("LC_MESSAGES", raising=False)
    for module in (checking, updating):
        monkeypatch.setattr(module, "OWN", ("small",))
    # The store that is counted on is a small one here.
    monkeypatch.setattr(work.count_work, "__kwdefaults__", {"entries": 20, "seed": 6})
    return folder


@pytest.fixture
def baseline(tmp_path: Path, wsmem: Said) -> str:
    path = str(tmp_path / "baselines" / "ranking.json")
    assert wsmem("gate", "--only", "ranking", "--baseline", path, "--update").status == 0
    return path


def test_an_unchanged_ranking_is_green(wsmem: Said, baseline: str) -> None:
    said = wsmem("gate", "--only", "ranking", "--baseline", baseline)
    assert (said.status, said.err) == (0, "")
    assert said.out.splitlines()[-2:] == ["  no answer changed", "gate: green"]


def test_a_loss_is_red_and_shown_with_its_queries(
    wsmem: Said, baseline: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken_ranking.lose_every_other_pair(monkeypatch)
    said = wsmem("gate", "--only", "ranking", "--baseline", baseline, "--show", "1")
    assert said.status == 1
    assert "worse, surely and by more than the margin:" in said.out
    assert "texts become other terms: those of sample, small" in said.out
    assert "“署脚”" in said.out
    assert "wanted: d0  关于部署脚本的约定" in said.out
    assert "was first: d0" in said.out
    assert "now first: nothing" in said.out
    assert said.out.splitlines()[-1] == "gate: red"
    chinese = wsmem("gate", "--only", "ranking", "--baseline", baseline, "--language", "zh")
    assert chinese.status == 1
    assert chinese.out.splitlines()[-1] == "门禁：未通过"
    assert "现第一: 无" in chinese.out
    found = wsmem("gate", "--only", "ranking", "--baseline", baseline, "--json")
    assert found.status == 1
    ranking = found.json["ranking"]
    assert (found.json["passed"], ranking["passed"]) == (False, False)
    assert ranking["losses"][0]["dataset"] == "small"
    assert ranking["losses"][0]["verdict"] == "worse"
    assert ranking["losses"][0]["low"] <= ranking["losses"][0]["difference"]
    assert {item["query"] for item in ranking["worse"]} == {f"q{n}" for n in range(len(WORDS))}
    refused = wsmem("gate", "--only", "ranking", "--baseline", baseline, "--update")
    assert refused.status == 1
    assert "left as it is" in refused.err
    taken = wsmem("gate", "--only", "ranking", "--baseline", baseline, "--update", "--accept-lower")
    assert taken.status == 0
    assert "accepted: wsmem:default@grown: nDCG@10 on small" in taken.err
    assert wsmem("gate", "--only", "ranking", "--baseline", baseline).status == 0


def test_a_changed_weight_that_costs_nothing_is_red_for_want_of_evidence(
    wsmem: Said, baseline: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ship_edited(monkeypatch, tmp_path / "profiles", "default", halve("length_saturation"))
    weight = load_profile("default").weights["length_saturation"]
    change = f"length_saturation {2 * weight:g} -> {weight:g}"
    said = wsmem("gate", "--only", "ranking", "--baseline", baseline)
    assert (said.status, said.err) == (gating.UNPROVEN, "")
    assert said.out.splitlines()[3:] == [
        "what ships is not what the committed evidence is about:",
        f"  the weights of default changed: {change}",
        f"  default says that a study found it, and the committed study did not: {change}",
        "  nothing of wsmem:default@grown got measurably worse (nDCG@10 +0.000 [+0.000, +0.000])",
        f"  {_CHANGED_PROFILE}",
        "  run benchmarks/tune_default.py --ship, or let its provenance say where it comes from",
        "gate: red, for want of evidence (status 3)",
    ]
    chinese = wsmem("gate", "--only", "ranking", "--baseline", baseline, "--language", "zh")
    assert f"default 的权重有变：{change}" in chinese.out
    assert chinese.out.splitlines()[-1] == "门禁：未通过，缺少证据（状态码 3）"
    found = wsmem("gate", "--only", "ranking", "--baseline", baseline, "--json")
    assert (found.status, found.json["status"], found.json["passed"]) == (3, 3, False)
    assert found.json["ranking"]["departures"][0] == {
        "kind": "weights",
        "subject": "default",
        "changes": [change],
    }


def test_an_update_accepts_a_changed_weight_and_no_false_claim(
    wsmem: Said, baseline: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    arguments = ("gate", "--only", "ranking", "--baseline", baseline)
    path = ship_edited(monkeypatch, tmp_path / "profiles", "default", halve("tags"))
    said = wsmem(*arguments, "--update")
    assert said.status == gating.UNPROVEN
    assert "accepted: the weights of default changed: tags " in said.err
    assert "the gate stays red: default says that a study found it" in said.err
    assert "ranking.json: written" in said.out
    again = wsmem(*arguments)
    assert again.status == gating.UNPROVEN
    assert "the weights of default changed" not in again.out
    raw = json.loads(path.read_text(encoding="utf-8"))
    raw["provenance"] = {"origin": "tags halved by hand, because a user asked"}
    path.write_text(json.dumps(raw), encoding="utf-8")
    assert wsmem(*arguments).status == 0
    assert wsmem(*arguments, "--update").status == 0


def test_a_loss_is_a_loss_also_where_evidence_is_wanting(
    wsmem: Said, baseline: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def weigh_nothing(raw: dict[str, Any]) -> None:
        raw["evidence_share"], raw["evidence_cap"] = 1.0, 100.0

    ship_edited(monkeypatch, tmp_path / "profiles", "default", weigh_nothing)
    broken_ranking.lose_every_other_pair(monkeypatch)
    said = wsmem("gate", "--only", "ranking", "--baseline", baseline, "--show", "0")
    assert said.status == gating.LOST
    assert "what counts as a match for default changed: evidence_cap 1 -> 100" in said.out
    assert "wsmem:default@grown got worse, see above (nDCG@10 -" in said.out
    assert said.out.splitlines()[-1] == "gate: red"


def test_a_candidate_is_tried_without_being_shipped(
    wsmem: Said, baseline: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    arguments = ("gate", "--baseline", baseline, "--profile")
    with monkeypatch.context() as patch:
        harmless = ship_edited(patch, tmp_path / "harmless", "default", halve("tags"))
    said = wsmem(*arguments, str(harmless))
    assert (said.status, said.err) == (0, "")
    assert "  since then: the weights of default changed: tags " in said.out
    assert said.out.splitlines()[-1] == "gate: green"  # and no work was counted
    broken_ranking.lose_every_other_pair(monkeypatch)
    said = wsmem(*arguments, str(harmless))
    assert said.status == gating.LOST
    assert said.out.splitlines()[-1] == "gate: red"
    said = wsmem(*arguments, str(tmp_path / "no.json"))
    assert (said.status, said.out) == (2, "")
    assert "not found" in said.err


def test_a_set_that_changed_is_refused_with_what_to_do(
    wsmem: Said, baseline: str, sets: Path
) -> None:
    with (sets / "queries.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(query("q99", "新的")) + "\n")
    said = wsmem("gate", "--only", "ranking", "--baseline", baseline)
    assert (said.status, said.out) == (2, "")
    assert "queries.jsonl differ; restore them" in said.err
    assert "wsmem gate --update --accept-lower" in said.err


def test_work_is_judged_beside_the_ranking(wsmem: Said, baseline: str) -> None:
    missing = wsmem("gate", "--only", "work", "--baseline", baseline)
    assert missing.status == 2
    assert "work.json: there is no such baseline" in missing.err
    assert wsmem("gate", "--only", "work", "--baseline", baseline, "--update").status == 0
    said = wsmem("gate", "--baseline", baseline)
    assert said.status == 0
    assert "work: 21 counts on the fixed store within what is allowed" in said.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param(["--only", "speed"], "there are: ranking, work", id="part"),
        pytest.param(["--accept-lower"], "nothing is updated", id="accept-without-update"),
        pytest.param(["--profile", "a.json", "--update"], "updates nothing", id="try-and-update"),
        pytest.param(
            ["--profile", "a.json", "--only", "work"], "counts no work", id="try-and-count"
        ),
        pytest.param(["--baseline", "nowhere.json"], "no such baseline", id="baseline"),
        pytest.param(["--language", "fr"], "there are: en, zh", id="language"),
    ],
)
def test_what_cannot_be_judged_ends_with_two(wsmem: Said, arguments: list[str], told: str) -> None:
    said = wsmem("gate", *arguments)
    assert (said.status, said.out) == (2, "")
    assert told in said.err


def test_the_language_is_that_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert language_of(None) == "zh"
    monkeypatch.setenv("LC_ALL", "en_GB.UTF-8")
    assert language_of(None) == "en"
    assert language_of("zh") == "zh"
    with pytest.raises(UnknownNameError):
        language_of("fr")


# Comparing


@pytest.fixture
def run(tmp_path: Path, wsmem: Said) -> str:
    folder = str(tmp_path / "run")
    systems = [word for name in ("bm25", "fts5:trigram") for word in ("--system", name)]
    assert wsmem("eval", "--dataset", "small", *systems, "--out", folder).status == 0
    return folder


def test_two_systems_of_a_run_are_compared(wsmem: Said, run: str) -> None:
    """A trigram index finds no word of two Chinese letters."""
    said = wsmem("compare", run, "--systems", "fts5:trigram", "bm25", "--measure", "nDCG@10")
    assert said.status == 0
    assert said.out.splitlines()[:3] == [
        "A  fts5:trigram",
        "B  bm25",
        "15 shared queries, 0 left out",
    ]
    assert "better" in said.out
    found = wsmem("compare", f"{run}::bm25", f"{run}::fts5:trigram", "--json").json
    row = next(row for row in found["rows"] if row["measure"] == "nDCG@10")
    assert (row["dataset"], row["verdict"], row["n"]) == ("small", "worse", 15)
    assert row["adjusted"] <= ALPHA
    assert row["low"] <= row["difference"] <= row["high"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param([], "no system named '?'", id="no-system"),
        pytest.param(["--systems", "bm25", "nope"], "there are: bm25, fts5", id="system"),
        pytest.param(["--by", "moon"], "there are: all, dataset, slice", id="by"),
        pytest.param(["--unit", "moon"], "there are: auto, scope, answer, query", id="unit"),
    ],
)
def test_what_cannot_be_compared_is_said(
    wsmem: Said, run: str, arguments: list[str], told: str
) -> None:
    said = wsmem("compare", run, *arguments)
    assert (said.status, said.out) == (2, "")
    assert told in said.err


def test_the_alpha_of_the_command_line_is_that_of_the_statistics() -> None:
    assert TOLD_ALPHA == ALPHA


def test_the_baseline_names_what_made_it(baseline: str, tmp_path: Path) -> None:
    raw = json.loads((tmp_path / "baselines" / "ranking.json").read_text(encoding="utf-8"))
    assert raw["made"]["by"] == "wsmem gate --update"
    assert read_record(tmp_path / "baselines" / "ranking.json").measures == (
        "nDCG@10",
        "FalseRecall",
    )
    assert baseline.endswith("ranking.json")
