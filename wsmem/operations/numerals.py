"""Numbers as people write them in a sentence: digits, Chinese numerals, English words, units."""

from __future__ import annotations

import re
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Quantity(NamedTuple):
    """One number of a text."""

    value: str
    """Whole numbers without leading zeros or separators; dotted ones (versions) as written."""
    unit: str | None
    """A known unit in its canonical spelling, `None` when none follows."""
    context: str = ""
    """The word, or the letter of Chinese, that the number stands behind."""


_DIGITS = {"零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "兩": 2, "三": 3, "四": 4, "五": 5, "六": 6,
           "七": 7, "八": 8, "九": 9}  # fmt: skip
_TENS = {"十": 10, "百": 100, "千": 1000}
_MYRIADS = {"万": 10_000, "萬": 10_000, "亿": 100_000_000, "億": 100_000_000}

# Words in which a numeral counts nothing; days of the week are names.
_NOT_COUNTING = re.compile(
    "统一|一致|一起|一样|一般|一直|一律|唯一|万一|一些|一定|一下|一旦|一边|一方面|进一步|一切|一并|一来|同一|"
    "之一|第三方|三方库|千万|百分比|十分|九成九|四处|一一|五花八门|万能|零散|"
    "周[一二三四五六]|星期[一二三四五六]|礼拜[一二三四五六]"
)
_CHINESE = re.compile("(?:百分之)?[零〇一二两兩三四五六七八九十百千万萬亿億]+")

# Without "one", which is a pronoun more often than a number.
_ENGLISH = {
    "zero": "0", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "thirteen": "13",
    "fourteen": "14", "fifteen": "15", "sixteen": "16", "seventeen": "17", "eighteen": "18",
    "nineteen": "19", "twenty": "20", "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60",
    "seventy": "70", "eighty": "80", "ninety": "90", "hundred": "100", "thousand": "1000",
    "million": "1000000", "half": "0.5", "once": "1x", "twice": "2x", "thrice": "3x",
}  # fmt: skip

_UNITS = {
    "ms": "ms", "msec": "ms", "millisecond": "ms", "milliseconds": "ms", "毫秒": "ms",
    "us": "us", "微秒": "us", "ns": "ns", "纳秒": "ns",
    "s": "s", "sec": "s", "secs": "s", "second": "s", "seconds": "s", "秒": "s", "秒钟": "s",
    "m": "min", "min": "min", "mins": "min", "minute": "min", "minutes": "min", "分钟": "min",
    "h": "h", "hr": "h", "hrs": "h", "hour": "h", "hours": "h", "小时": "h", "个小时": "h",
    "d": "d", "day": "d", "days": "d", "天": "d", "日": "day-of-month", "号": "ordinal",
    "w": "week", "week": "week", "weeks": "week", "周": "week", "星期": "week",
    "month": "month", "months": "month", "个月": "month", "月": "month-of-year",
    "y": "y", "year": "y", "years": "y", "年": "y",
    "b": "B", "byte": "B", "bytes": "B", "字节": "B",
    "kb": "KB", "kib": "KiB", "mb": "MB", "mib": "MiB", "gb": "GB", "gib": "GiB", "tb": "TB",
    "k": "K", "g": "G", "兆": "M",
    "%": "%", "percent": "%", "个百分点": "pp",
    "px": "px", "em": "em", "rem": "rem", "pt": "pt", "mm": "mm", "cm": "cm", "km": "km",
    "米": "metre", "公里": "km", "fps": "fps", "qps": "qps", "rps": "rps", "hz": "Hz", "khz": "kHz",
    "mbps": "Mbps", "gbps": "Gbps", "元": "CNY", "usd": "USD", "美元": "USD", "人": "people",
    "次": "times", "times": "times", "点": "o'clock", "am": "am", "pm": "pm", "倍": "fold",
    "个": None, "台": None, "条": None, "位": None, "项": None, "行": None, "份": None, "名": None,
}  # fmt: skip
_UNIT = re.compile(
    r"\s?("
    + "|".join(
        re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True) if not unit.isascii()
    )
    + r"|%|[A-Za-z]+)"
)
_ARABIC = re.compile(r"(?<![A-Za-z0-9_.])[0-9]+(?:[.,:/-][0-9]+)*(?![0-9])")
_MAX_QUANTITIES = 256
"""Numbers looked at in one text, so that a table of them costs no quadratic comparison."""
_THOUSANDS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+")
_BEFORE = re.compile(r"([A-Za-z]+|[^\W\d_])[\s:=#(]*$")
_REACH = 24
"""How far back the word before a number is looked for."""
_WORD = re.compile(r"(?<![A-Za-z])[A-Za-z]+(?![A-Za-z])")


def quantities(text: str) -> list[Quantity]:
    """The numbers of a text (NFKC), by kind, then position; 三百 and 300 are the same."""
    return list(islice(chain(_arabic(text), _chinese(text), _english(text)), _MAX_QUANTITIES))


def is_measure(word: str) -> bool:
    """Whether a Latin word is a unit, with or without its number: `GB`, `8GB`, `30s`."""
    return word.lstrip("0123456789.").lower() in _UNITS


def chinese_value(numeral: str) -> int:
    """Value of a run of Chinese numerals: 三百零五 is 305, 二〇二六 is 2026, 十二 is 12."""
    if not any(char in _TENS or char in _MYRIADS for char in numeral):
        return int("".join(str(_DIGITS[char]) for char in numeral))
    total = section = digit = 0
    for char in numeral:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif char in _TENS:
            section += (digit or 1) * _TENS[char]
            digit = 0
        else:
            counted = section + digit
            if char in "亿億":
                total = (total + counted or 1) * _MYRIADS[char]
            else:
                total += (counted or 1) * _MYRIADS[char]
            section = digit = 0
    return total + section + digit


def _arabic(text: str) -> Iterator[Quantity]:
    for found in _ARABIC.finditer(text):
        number = found[0]
        if _THOUSANDS.fullmatch(number):
            number = number.replace(",", "")
        value, unit = number.lstrip("0") or "0", _unit_at(text, found.end())
        yield Quantity(value, unit, _context(text, found.start()))


def _chinese(text: str) -> Iterator[Quantity]:
    for found in _CHINESE.finditer(_NOT_COUNTING.sub("　", text)):
        numeral = found[0]
        percent = numeral.startswith("百分之") and len(numeral) > 3
        numeral = numeral[3:] if percent else numeral
        unit = "%" if percent else _unit_at(found.string, found.end())
        if numeral == "一" and unit is None:
            continue  # an article
        context = _context(found.string, found.start())
        yield Quantity(str(chinese_value(numeral)), unit, context)


def _english(text: str) -> Iterator[Quantity]:
    for found in _WORD.finditer(text):
        value = _ENGLISH.get(found[0].lower())
        if value is not None:
            unit = _unit_at(text, found.end())
            yield Quantity(value, unit, _context(text, found.start()))


def _context(text: str, at: int) -> str:
    found = _BEFORE.search(text[max(0, at - _REACH) : at])
    return found[1].lower() if found else ""


def _unit_at(text: str, at: int) -> str | None:
    found = _UNIT.match(text, at)
    return _UNITS.get(found[1] if found[1] == "%" else found[1].lower()) if found else None
