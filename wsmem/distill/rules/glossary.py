"""Everyday terms of software in Chinese and English, so that either finds a memory in the other."""

from __future__ import annotations

import re

from wsmem.distill.rules.lexicon import lines


def translations(content: str) -> tuple[str, ...]:
    """Terms of the other language for those in `content`, in the order of the glossary."""
    lowered = content.lower()
    found: dict[str, None] = {}
    for chinese, english in (line.split(" ", 1) for line in lines("glossary")):
        has_english = re.search(rf"\b{re.escape(english.lower())}", lowered) is not None
        has_chinese = chinese in content
        if has_chinese and not has_english:
            found[english] = None
        elif has_english and not has_chinese and len(chinese) > 1:
            found[chinese] = None
    return tuple(found)
