"""Short ways to write cases for distillers, answers to them, and judged trials."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from wsmem.engine.testing import FakeDistiller
from wsmem.evals.distillation.cases import Case
from wsmem.evals.distillation.execution import carry_out
from wsmem.evals.distillation.judging import Judgement, judge

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Line = dict[str, Any]

USER_SAID = "以后提交信息一律用英文写。"


def case_line(case_id: str = "c1", /, **fields: Any) -> Line:
    """One line of a file of cases; what is not given is a plain request to remember."""
    line: Line = {
        "_id": case_id,
        "language": "zh",
        "split": "dev",
        "slice": ["explicit-request"],
        "cwd": "/repo/app",
        "messages": [said(USER_SAID)],
        "existing": [],
        "expected": [],
        "forbidden": [],
        "questions": [],
    }
    return line | fields


def a_case(case_id: str = "c1", /, **fields: Any) -> Case:
    """A case, read as from a file."""
    return Case.model_validate_json(json.dumps(case_line(case_id, **fields)))


def said(text: str, message_id: str = "m1", role: str = "user") -> Line:
    return {"id": message_id, "role": role, "text": text}


def held(entry_id: str, content: str, **fields: Any) -> Line:
    """An entry that was there before."""
    entry: Line = {
        "id": entry_id,
        "scope": "workspace",
        "type": "fact",
        "title": "",
        "content": content,
        "tags": [],
        "importance": 1,
        "status": "active",
        "updatedAt": "2026-03-01T00:00:00Z",
    }
    return entry | fields


def wanted(op: str, reference: str, **fields: Any) -> Line:
    """An expected operation."""
    expected: Line = {"op": op, "scope": "workspace", "required": [], "reference": reference}
    return expected | fields


def given(op: str, content: str, **fields: Any) -> Line:
    """A proposed operation."""
    return {"op": op, "content": content, "evidenceMessageIds": ["m1"], **fields}


def answer(*operations: Line) -> Line:
    return {"version": 1, "operations": list(operations)}


def judged(case: Case, *operations: Line) -> Judgement:
    """A case after a distiller proposed these operations."""
    return judged_answer(case, answer(*operations))


def judged_answer(case: Case, reply: Any) -> Judgement:
    """A case after a distiller gave this answer, or raised it."""
    (trial,) = carry_out([case], FakeDistiller(reply)).done
    return judge(trial)


def write_cases(folder: Path, lines: Sequence[Line]) -> Path:
    """A set of cases in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (folder / "cases.jsonl").write_text(text, encoding="utf-8")
    return folder
