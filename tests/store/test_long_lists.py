from __future__ import annotations

import json

import pytest

from wsmem.store.jsontext import json_bytes, parse_json, parse_list

ENTRIES = [
    {"id": f"mem-{n}", "content": "一段内容\n  },\n  {" * 30, "revisions": [{"content": "旧"}]}
    for n in range(6_000)
]
LONG = json_bytes(ENTRIES).decode()
"""Several parts long, with the text of a seam inside every entry."""


def told(parse: object, text: str) -> object:
    assert callable(parse)
    try:
        return parse(text)
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(LONG, id="as-written"),
        pytest.param(LONG[:-5], id="cut"),
        pytest.param(LONG + "x", id="more-behind"),
        pytest.param(LONG.replace('"mem-100"', "NaN"), id="no-json-inside"),
        pytest.param(json.dumps(ENTRIES), id="on-one-line"),
        pytest.param(f'{{"memories": {LONG}}}', id="inside-an-object"),
        pytest.param(LONG.replace("[\n", "[\n\n\n", 1), id="blank-lines"),
        pytest.param(LONG.replace("\n  },\n  {", "\n  },,\n  {", 1), id="doubled-comma"),
    ],
)
def test_a_list_parsed_in_parts_is_the_list_parsed_whole(text: str) -> None:
    assert len(text) > 3 << 20
    assert told(parse_list, text) == told(parse_json, text)
