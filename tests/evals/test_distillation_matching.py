"""Which proposal answers which expectation, worked by hand."""

from __future__ import annotations

import pytest
from distillation_cases import a_case, given, held, judged, said, wanted
from hypothesis import given as given_that
from hypothesis import settings
from hypothesis import strategies as st

from wsmem.evals.distillation.content import covers, first_held, holds, overlap, plain

PORT = held("mem-000000000001", "测试库端口是 5432")
HOST = held("mem-000000000002", "测试库主机是 db-test.internal")


# Content


@pytest.mark.parametrize(
    ("one", "other", "value"),
    [
        pytest.param("deploy at night", "deploy at night", 1.0, id="equal"),
        pytest.param("Deploys at night", "deploy the night", 1.0, id="stems-and-function-words"),
        pytest.param("ＡＰＩ 网关", "api 网关", 1.0, id="width-and-case"),
        pytest.param("deploy", "rollback", 0.0, id="disjoint"),
        pytest.param("deploy staging", "deploy production", 0.5, id="half"),
        pytest.param("部署", "部署脚本", 0.5, id="pairs-of-letters"),
        pytest.param("?", "?", 1.0, id="nothing-but-a-sign"),
        pytest.param("?", "!", 0.0, id="other-signs"),
    ],
)
def test_overlap_by_hand(one: str, other: str, value: float) -> None:
    assert overlap(one, other) == pytest.approx(value)


@given_that(st.text(), st.text())
def test_overlap_is_symmetric_and_a_share(one: str, other: str) -> None:
    assert overlap(one, other) == overlap(other, one)
    assert 0 <= overlap(one, other) <= 1
    assert overlap(one, one) == 1


def test_strings_are_looked_for_after_nfkc_and_in_lower_case() -> None:
    assert plain("ＰｏｓｔｇｒｅＳＱＬ") == "postgresql"
    assert holds("我们用 ＰｏｓｔｇｒｅＳＱＬ", "postgresql")
    assert holds("用中文", ("english", "中文"))
    assert not holds("用中文", ("english", "日文"))
    assert first_held(["A token: XYZ"], ["abc", "xyz"]) == "xyz"
    assert first_held(["a"], ["b"]) is None


def test_covering_asks_for_the_shorter_texts_terms() -> None:
    assert covers("deploy the staging cluster at night", "deploy staging") == 1.0
    assert covers("deploy", "deploy staging") == 0.5
    assert covers("deploy", "") == 0.0


# Pairing


def test_a_right_add_is_paired_whatever_else_is_proposed() -> None:
    case = a_case(
        expected=[wanted("add", "提交信息一律用英文写", required=["英文"], scope="global")]
    )
    found = judged(
        case,
        given("add", "今天天气不错，适合散步", scope="global"),
        given("add", "以后提交信息一律用英文写。", scope="global"),
    ).matching
    (pair,) = found.pairs
    assert (pair.expected, pair.proposed) == (0, 1)
    assert (pair.kind, pair.target, pair.scope, pair.content) == (True, True, True, True)
    assert (found.missed, found.extra) == ((), (0,))


def test_texts_about_something_else_are_no_pair() -> None:
    case = a_case(expected=[wanted("add", "提交信息一律用英文写", required=["英文"])])
    found = judged(case, given("add", "今天天气不错，适合散步")).matching
    assert (found.pairs, found.missed, found.extra) == ((), (0,), (0,))


def test_half_of_the_needed_strings_make_a_pair_in_another_language() -> None:
    expected = wanted("add", "测试用 pytest 的 parametrize 写", required=["pytest", "parametrize"])
    case = a_case(expected=[expected])
    (pair,) = judged(
        case, given("add", "Whoever writes new tests here should always follow the pytest style")
    ).matching.pairs
    assert pair.overlap < 0.2
    assert not pair.content


def test_an_operation_on_the_right_entry_is_paired_whatever_it_says() -> None:
    expected = wanted("supersede", "测试库端口是 6543", targetId=PORT["id"], required=["6543"])
    case = a_case(existing=[PORT], expected=[expected])
    operation = given("flag-conflict", "something else entirely", targetId=PORT["id"])
    (pair,) = judged(case, operation).matching.pairs
    assert (pair.kind, pair.target, pair.content) == (False, True, False)


def test_kinds_that_are_as_good_count_as_right() -> None:
    expected = wanted(
        "revise", "测试库端口是 5432，只读", accept=["revise", "add"], targetId=PORT["id"]
    )
    case = a_case(existing=[PORT], expected=[expected])
    (pair,) = judged(case, given("add", "测试库端口是 5432，只读")).matching.pairs
    assert (pair.kind, pair.target) == (True, True)


def test_targets_decide_between_equal_wordings() -> None:
    """Greedy pairing by wording would give each expectation the other's answer."""
    case = a_case(
        existing=[PORT, HOST],
        expected=[
            wanted("revise", "测试库换了新的地址", targetId=PORT["id"]),
            wanted("revise", "测试库换了新的地址了", targetId=HOST["id"]),
        ],
    )
    found = judged(
        case,
        given("revise", "测试库换了新的地址", targetId=HOST["id"]),
        given("revise", "测试库换了新的地址了", targetId=PORT["id"]),
    ).matching
    assert [(pair.expected, pair.proposed) for pair in found.pairs] == [(0, 1), (1, 0)]


def test_the_pairing_is_the_best_as_a_whole() -> None:
    """The first proposal fits both; only the second expectation has no other answer."""
    case = a_case(
        expected=[
            wanted("add", "deploy staging cluster nightly backups"),
            wanted("add", "deploy staging"),
        ]
    )
    found = judged(
        case, given("add", "deploy staging cluster"), given("add", "nightly backups cluster")
    ).matching
    assert [(pair.expected, pair.proposed) for pair in found.pairs] == [(0, 1), (1, 0)]


def test_one_statement_may_outdate_several_entries() -> None:
    expected = wanted(
        "supersede",
        "测试库搬到了 6543 端口的新机器",
        targetId=PORT["id"],
        alsoTargetIds=[HOST["id"]],
    )
    case = a_case(existing=[PORT, HOST], expected=[expected])
    operations = [
        given("supersede", "测试库搬到了新机器", targetId=entry["id"]) for entry in (PORT, HOST)
    ]
    found = judged(case, *operations)
    assert len(found.matching.pairs) == len(found.matching.also) == 1
    assert found.matching.extra == ()
    assert found.false_supersedes == ()


def test_saying_one_thing_twice_is_one_answer_and_one_too_many() -> None:
    case = a_case(expected=[wanted("add", "提交信息一律用英文写", required=["英文"])])
    operation = given("add", "提交信息一律用英文写")
    found = judged(case, operation, operation).matching
    assert (len(found.pairs), len(found.extra)) == (1, 1)


@pytest.mark.parametrize(
    "operation",
    [
        pytest.param({"op": "delete", "content": "提交信息一律用英文写"}, id="unknown-kind"),
        pytest.param({"op": "add"}, id="no-content"),
        pytest.param("提交信息一律用英文写", id="no-object"),
    ],
)
def test_what_cannot_be_read_takes_no_part(operation: dict[str, str]) -> None:
    case = a_case(expected=[wanted("add", "提交信息一律用英文写")])
    found = judged(case, operation).matching
    assert (found.pairs, found.missed, found.extra) == ((), (0,), ())


def test_layers_are_read_as_they_would_be_applied() -> None:
    expected = [wanted("add", "提交信息一律用英文写", scope="global")]
    operation = given("add", "提交信息一律用英文写", scope="workspace")
    (pair,) = judged(a_case(expected=expected), operation).matching.pairs
    assert not pair.scope
    # Outside any workspace everything is global, whatever is said.
    (pair,) = judged(a_case(expected=expected, cwd=None), operation).matching.pairs
    assert pair.scope


@settings(max_examples=40, deadline=None)
@given_that(st.permutations(range(4)))
def test_the_order_of_proposals_does_not_matter(order: list[int]) -> None:
    texts = ["部署用蓝绿", "测试用 pytest", "提交信息用英文", "日志保留 30 天"]
    case = a_case(
        messages=[said("、".join(texts))], expected=[wanted("add", text) for text in texts]
    )
    found = judged(case, *(given("add", texts[at]) for at in order)).matching
    assert [order[pair.proposed] for pair in found.pairs] == [0, 1, 2, 3]
