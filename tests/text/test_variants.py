from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wsmem.records import MemoryEntry
from wsmem.retrieval.index import Index
from wsmem.retrieval.profile import load_profile
from wsmem.retrieval.ranking import rank
from wsmem.retrieval.scan import scan
from wsmem.text.analysis import terms
from wsmem.text.variants import simplified

LETTERS = st.characters(codec="utf-8") | st.sampled_from("資料庫資料庫以後網關监听発見學會発")


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        pytest.param("資料庫的備份在凌晨兩點", "资料库的备份在凌晨两点", id="sentence"),
        pytest.param("這個網關監聽 8081 端口 🎉", "这个网关监听 8081 端口 🎉", id="among others"),
        pytest.param("頭髮與發現", "头发与发现", id="two letters, one form"),
        pytest.param("以後對於特徵", "以后对于特征", id="letters that GB 2312 has, too"),
        pytest.param("数据库在凌晨备份", "数据库在凌晨备份", id="simplified already"),
        pytest.param("乾坤与著名", "乾坤与著名", id="letters with a use of their own"),
        pytest.param("価格を発見する", "価格を発见する", id="shared with Japanese"),
        pytest.param(r"C:\u8cc7\u6599", r"C:\u8cc7\u6599", id="looks like the codec's escapes"),
        pytest.param("a\ud800資", "a\ud800资", id="half a surrogate pair"),
    ],
)
def test_traditional_letters_become_simplified(text: str, plain: str) -> None:
    assert simplified(text) == plain
    assert simplified(text * 20) == plain * 20  # long texts take another way


def test_many_different_letters_are_replaced_as_few_are() -> None:
    text = (
        "資料庫備份兩點這個網關監聽頭髮發現對徵學會檔體臺預設閘絡雲嗎們為麼"
        "裡時間問題說話讀寫車馬魚鳥龍門見貝頁風飛"
    )
    assert simplified(text) == "".join(map(simplified, text))
    assert len({*text} - {*simplified(text)}) > 50


@given(st.text(LETTERS))
def test_letters_stay_as_many_and_a_second_time_changes_nothing(text: str) -> None:
    once = simplified(text)
    assert len(once) == len(text)
    assert simplified(once) == once


@pytest.mark.parametrize(
    ("question", "content"),
    [
        pytest.param("資料庫備份幾點開始", "数据按计划走：资料库备份凌晨两点开始。", id="asked so"),
        pytest.param("资料库备份几点开始", "資料庫備份凌晨兩點開始。", id="stored so"),
    ],
)
def test_a_question_in_one_script_finds_text_in_the_other(question: str, content: str) -> None:
    wanted = MemoryEntry.from_stored({"id": "wanted", "content": content, "status": "active"})
    other = MemoryEntry.from_stored(
        {"id": "other", "content": "网关监听端口。", "status": "active"}
    )
    profile = load_profile("default")
    ranked = rank(Index.build([other, wanted]), question, profile, now=0)
    assert [match.entry.id for match in ranked] == ["wanted"]
    scanned = scan([other, wanted], question, profile, now=0)
    assert [match.entry.id for match in scanned] == ["wanted"]
    assert set(terms(question)) & set(terms(content))
