from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wsmem.errors import InputFileError
from wsmem.evals.importers import json_files
from wsmem.evals.importers.json_files import read_items, read_json, read_lines

if TYPE_CHECKING:
    from pathlib import Path

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)


@given(
    values=st.lists(VALUES, max_size=6), chunk=st.integers(1, 40), indent=st.sampled_from([0, None])
)
def test_an_array_is_read_the_same_in_chunks_of_any_size(
    tmp_path_factory: pytest.TempPathFactory, values: list[Any], chunk: int, indent: int | None
) -> None:
    path = tmp_path_factory.mktemp("json") / "array.json"
    text = json.dumps(values, ensure_ascii=False, indent=indent)
    path.write_bytes(text.encode("utf-8", "replace"))
    expected = json.loads(path.read_text(encoding="utf-8"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_files, "_CHUNK", chunk)
        assert [node.value for node in read_items(path)] == expected


def test_compressed_files_and_byte_order_marks_are_no_matter(tmp_path: Path) -> None:
    packed = tmp_path / "a.jsonl.gz"
    packed.write_bytes(gzip.compress('\ufeff{"a": "字"}\n\n{"a": 2}\r\n'.encode()))
    assert [(node.line, node.value["a"]) for node in read_lines(packed)] == [(1, "字"), (3, 2)]
    assert [node.line for node in read_items(packed)] == [1, 3]


FAULTS = [
    pytest.param(
        "a.json", b'[{"a": 1},\n {"a": }]', "a.json:2: not JSON (Expecting value", id="in"
    ),
    pytest.param(
        "a.json", b'[{"a": 1}\n{"a": 2}]', "a.json:2: not JSON (, or ] is needed", id="no"
    ),
    pytest.param("a.json", b'[{"a": 1},\n', "a.json:2: not JSON (Expecting value", id="cut"),
    pytest.param("a.json", b'[{"a": "x', "not JSON (Unterminated string", id="open-text"),
    pytest.param("a.json", b'{"a": 1}', "a.json:1: not JSON ([ is needed", id="no-array"),
    pytest.param("a.json", b'["\xff\xfe"]', "not UTF-8", id="not-utf-8"),
    pytest.param("a.jsonl", b'{"a": 1}\n{"a"\n', "a.jsonl:2: not JSON", id="line"),
    pytest.param("a.json.gz", b"plain", "cannot be read", id="not-compressed"),
]


@pytest.mark.parametrize(("name", "content", "problem"), FAULTS)
def test_what_is_not_json_is_refused_with_its_line(
    tmp_path: Path, name: str, content: bytes, problem: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputFileError) as caught:
        list(read_items(path))
    assert problem in str(caught.value)


def test_a_whole_file_that_is_not_json_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a": 1,\n\n"b" 2}', encoding="utf-8")
    with pytest.raises(InputFileError, match=r"a\.json:3: not JSON"):
        read_json(path)
    with pytest.raises(InputFileError, match="cannot be read"):
        read_json(tmp_path / "none.json")
