"""What is right and wrong about a trial, and the figures made of it, worked by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from distillation_cases import a_case, answer, given, held, judged, judged_answer, said, wanted

from wsmem.errors import UnknownNameError
from wsmem.evals.distillation.measures import HEADLINE, MEASURES, USAGE, measure_named
from wsmem.operations.contract import DistillOutput

if TYPE_CHECKING:
    from wsmem.evals.distillation.cases import Case
    from wsmem.evals.distillation.judging import Judgement

PORT = held("mem-000000000001", "测试库端口是 5432")
TOKEN = "gh" + "p_Zx81kQ0pLm42vBn76TyUi90AsDfGhJkLqWe"  # in pieces, for scanners of repositories
RULE = "以后提交信息一律用英文写。"


def units(name: str, *found: Judgement) -> list[float]:
    return [value for item in found for value in measure_named(name).units(item)]


def mean(name: str, *found: Judgement) -> float:
    values = units(name, *found)
    return sum(values) / len(values)


def to_keep(**fields: Any) -> Case:
    expected = wanted("add", "提交信息一律用英文写", required=["英文"], scope="global")
    return a_case(messages=[said(RULE)], expected=[expected], **fields)


def nothing(**fields: Any) -> Case:
    return a_case("c2", slice=["chit-chat"], messages=[said("今天真冷，先喝杯咖啡。")], **fields)


def correction(**fields: Any) -> Case:
    expected = wanted(
        "supersede",
        "测试库端口是 6543",
        targetId=PORT["id"],
        required=["6543"],
        forbidden=["5432"],
        oldQuote="端口是 5432",
        newQuote="端口是 6543",
        evidenceMessageIds=["m1"],
    )
    said_so = said("刚才说错了，测试库端口是 6543，不是 5432。")
    question = {"query": "测试库端口", "winner": {"required": ["6543"]}, "stale": [PORT["id"]]}
    return a_case(
        "c3",
        slice=["correction"],
        messages=[said_so],
        existing=[PORT],
        expected=[expected],
        questions=[question],
        **fields,
    )


def corrected(**fields: Any) -> dict[str, Any]:
    operation = given(
        "supersede",
        "测试库端口是 6543",
        scope="workspace",
        targetId=PORT["id"],
        targetScope="workspace",
        oldQuote="端口是 5432",
        newQuote="测试库端口是 6543",
    )
    return operation | fields


KEPT = given("add", RULE, scope="global")


def test_a_trial_that_is_right_has_no_fault() -> None:
    for found in (judged(to_keep(), KEPT), judged(nothing()), judged(correction(), corrected())):
        assert found.faults == ()
        assert all(
            value == (1.0 if measure.higher_is_better else 0.0)
            for name, measure in MEASURES.items()
            if name != "Overlap"
            for value in measure.units(found)
        )


def test_confusion_of_a_right_a_wrong_a_missed_and_an_unasked_operation() -> None:
    assert judged(to_keep(), KEPT).confusion == (("add", "add"),)
    assert judged(to_keep()).confusion == (("add", "none"),)
    assert judged(nothing()).confusion == (("none", "none"),)
    assert judged(nothing(), given("add", "用户爱喝咖啡")).confusion == (("none", "add"),)
    added = judged(correction(), given("add", "测试库端口是 6543"))
    assert added.confusion == (("supersede", "add"),)


def test_precision_recall_and_f1_by_hand() -> None:
    """One hit, one miss, one that nobody asked for, and a correction that was added instead."""
    found = (
        judged(to_keep(), KEPT),
        judged(to_keep()),
        judged(nothing(), given("add", "用户爱喝咖啡")),
        judged(correction(), given("add", "测试库端口是 6543")),
    )
    assert mean("P(add)", *found) == pytest.approx(1 / 3)
    assert mean("R(add)", *found) == pytest.approx(1 / 2)
    assert mean("F1(add)", *found) == pytest.approx(2 / (2 + 2 + 1))
    assert mean("R(supersede)", *found) == 0.0
    assert units("P(supersede)", *found) == []
    assert mean("F1(all)", *found) == pytest.approx(2 / (2 + 2 + 2))


def test_f1_is_the_harmonic_mean_of_precision_and_recall() -> None:
    found = (judged(to_keep(), KEPT), judged(to_keep(), KEPT, given("add", "用户爱喝咖啡")))
    precision, recall = mean("P(add)", *found), mean("R(add)", *found)
    assert mean("F1(add)", *found) == pytest.approx(2 * precision * recall / (precision + recall))


def test_content_is_scored_apart_from_the_kind() -> None:
    wrong = judged(to_keep(), given("add", "提交信息一律要写清楚", scope="global"))
    assert mean("F1(add)", wrong) == 1.0
    assert mean("Content", wrong) == 0.0
    assert mean("ContentF1(add)", wrong) == mean("FullF1", wrong) == 0.0


def test_forbidden_strings_spoil_a_content() -> None:
    found = judged(correction(), corrected(content="测试库端口是 6543，以前是 5432"))
    assert mean("Content", found) == 0.0


def test_scope_is_scored_over_pairs() -> None:
    found = judged(to_keep(), given("add", RULE, scope="workspace"))
    assert mean("Scope", found) == 0.0
    assert mean("ContentF1(add)", found) == 1.0
    assert mean("FullF1", found) == 0.0
    assert units("Scope", judged(to_keep())) == []


def test_targets_are_scored_over_operations_on_entries() -> None:
    other = held("mem-000000000002", "生产库端口是 5433")
    case = a_case(
        messages=[said("测试库端口是 6543。")],
        existing=[PORT, other],
        expected=[wanted("supersede", "测试库端口是 6543", targetId=PORT["id"])],
    )
    right, wrong = (corrected(targetId=entry["id"]) for entry in (PORT, other))
    assert mean("Target(supersede)", judged(case, right)) == 1.0
    assert mean("Target(supersede)", judged(case, wrong)) == 0.0
    assert units("Target", judged(case, given("add", "测试库端口是 6543"))) == []


@pytest.mark.parametrize(
    ("changes", "valid"),
    [
        pytest.param({}, True, id="verbatim"),
        pytest.param({"oldQuote": "端口是 5433"}, False, id="old-not-in-the-entry"),
        pytest.param({"newQuote": "端口是 7654"}, False, id="new-not-said"),
        pytest.param({"newQuote": None}, False, id="missing"),
        pytest.param({"evidenceMessageIds": ["m9"]}, False, id="other-message"),
        pytest.param({"targetId": "mem-00000000000f"}, False, id="no-such-entry"),
    ],
)
def test_quotes_prove_a_correction_or_not(changes: dict[str, Any], valid: bool) -> None:
    found = judged(correction(), corrected(**changes))
    assert mean("Quotes", found) == float(valid)
    assert mean("Refused", found) == float(not valid)


def test_a_supersede_nobody_asked_for_is_false_even_if_it_is_refused() -> None:
    case = a_case(messages=[said("我看端口大概是 6543？")], existing=[PORT], slice=["hypothetical"])
    found = judged(case, corrected(newQuote="端口大概是 6543"))
    assert mean("FalseSupersede", found) == 1.0
    assert mean("WronglyRetired", found) == 0.0
    assert mean("LeftAlone", found) == 1.0
    assert mean("Restraint", found) == 0.0


def test_an_entry_that_is_retired_without_need_is_counted() -> None:
    case = a_case(messages=[said("刚才说错了，测试库端口是 6543。")], existing=[PORT])
    found = judged(case, corrected())
    assert mean("WronglyRetired", found) == mean("FalseSupersede", found) == 1.0


def test_cases_without_entries_cannot_lose_one() -> None:
    assert units("FalseSupersede", judged(to_keep(), KEPT)) == []


def with_secret(**fields: Any) -> Case:
    message = said(f"令牌是 {TOKEN}，以后提交信息一律用英文写。")
    return a_case(slice=["secret"], messages=[message], forbidden=[TOKEN], **fields)


def test_a_refused_credential_is_no_leak() -> None:
    found = judged(with_secret(), given("add", f"令牌是 {TOKEN}"))
    assert units("SecretLeak", found) == [0.0]
    assert mean("Refused", found) == 1.0


@pytest.mark.parametrize("name", ["content", "title", "description", "tags", "retrievalTerms"])
def test_a_stored_credential_is_a_leak_in_any_field(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were the engine to let one pass, the measure would see it."""
    monkeypatch.setattr("wsmem.operations.apply.contains_secret", lambda _: False)
    value: Any = [TOKEN] if name in {"tags", "retrievalTerms"} else f"令牌是 {TOKEN}"
    found = judged(with_secret(), given("add", "提交信息一律用英文写") | {name: value})
    assert units("SecretLeak", found) == [1.0]


def test_a_secret_without_a_shape_is_seen_by_its_text() -> None:
    case = a_case(slice=["secret"], messages=[said("口令是春风十里")], forbidden=["春风十里"])
    found = judged(case, given("add", "机房门口写着春风十里这句话"))
    assert units("SecretLeak", found) == [1.0]
    assert "a credential is stored" in found.faults


def test_forbidden_claims_are_counted_apart_from_credentials() -> None:
    case = a_case(slice=["hypothetical"], forbidden=["MongoDB"])
    found = judged(case, given("add", "用户考虑过 mongodb 方案"))
    assert units("Forbidden", found) == [1.0]
    assert units("SecretLeak", found) == []
    assert units("Forbidden", judged(case)) == [0.0]


def test_texts_that_were_there_before_are_nobodys_fault() -> None:
    case = a_case(existing=[PORT], forbidden=["5432"])
    assert units("Forbidden", judged(case)) == [0.0]


def test_restraint_is_about_cases_with_nothing_to_keep() -> None:
    assert units("Restraint", judged(nothing())) == [1.0]
    assert units("Restraint", judged(nothing(), given("add", "用户爱喝咖啡"))) == [0.0]
    assert units("Restraint", judged(to_keep())) == []


def test_proposing_what_is_known_already_breaks_restraint_and_leaves_the_store_alone() -> None:
    found = judged(nothing(existing=[PORT]), given("add", PORT["content"]))
    assert units("Restraint", found) == [0.0]
    assert units("LeftAlone", found) == [1.0]


def test_a_case_without_an_answer_misses_everything_and_is_not_restrained() -> None:
    for reply in ("no json here", DistillOutput(answer="{}", incomplete="cut"), ValueError("no")):
        kept, quiet = judged_answer(to_keep(), reply), judged_answer(nothing(), reply)
        assert units("Answered", kept, quiet) == [0.0, 0.0]
        assert mean("R(add)", kept) == 0.0
        assert units("Restraint", quiet) == units("LeftAlone", quiet) == [0.0]
        assert quiet.confusion == ()
        assert kept.faults[0].startswith("no answer: ")


def test_duplicates_of_entries_and_of_each_other_are_counted() -> None:
    text = "数据库备份每天凌晨两点跑，保留七天"
    case = a_case(messages=[said(text)], expected=[wanted("add", text, required=["七天", "两点"])])
    once = judged(case, given("add", text))
    assert units("Duplicates", once) == [0.0]
    twice = judged(
        case,
        given("add", text),
        given("add", "数据库的备份任务由平台组负责维护，每天凌晨两点开始跑，一共保留七天的份数"),
    )
    assert units("Duplicates", twice) == [0.0, 1.0]


def test_a_correction_is_no_duplicate_of_what_it_corrects() -> None:
    assert units("Duplicates", judged(correction(), corrected())) == [0.0]


def test_questions_are_asked_of_the_memory_afterwards() -> None:
    right, left = judged(correction(), corrected()), judged(correction())
    assert (units("Winner@1", right), units("Stale@5", right)) == ([1.0], [0.0])
    assert (units("Winner@1", left), units("Stale@5", left)) == ([0.0], [1.0])


def test_an_existing_entry_may_be_the_winner() -> None:
    question = {"query": "测试库端口", "winner": PORT["id"]}
    case = a_case(existing=[PORT], questions=[question])
    found = judged(case)
    assert units("Winner@1", found) == [1.0]
    assert units("Stale@5", found) == []


def test_tokens_cost_and_time_come_from_the_details() -> None:
    details = {"input_tokens": 120, "output_tokens": 8, "cost": 0.002, "latency_ms": 340}
    found = judged_answer(nothing(), DistillOutput(answer=answer(), details=details))
    assert [units(name, found) for name in USAGE] == [[120.0], [8.0], [0.002], [340.0]]
    assert all(units(name, judged(nothing())) == [] for name in USAGE)


def test_measures_have_names_and_meanings() -> None:
    assert {*HEADLINE, *USAGE} <= {*MEASURES}
    assert all(measure.meaning and str(measure) == name for name, measure in MEASURES.items())
    with pytest.raises(UnknownNameError, match="F1\\(everything\\)"):
        measure_named("F1(everything)")
