"""The words of the Markdown files, and recognition of those other programs use.

Headings are ours, in Chinese or English by setting; what the public plugin wrote is recognised when
it is read, so that a recall shows one voice whoever wrote the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from wsmem.store.layout import ScopeKind

Language = Literal["zh", "en"]


class Wording(NamedTuple):
    """Everything wsmem itself says in a summary or a checkpoint file."""

    global_heading: str
    workspace_heading: str
    session_heading: str
    note: str
    """The line under the heading of a summary."""
    checkpoint: str
    """Begins the title of a checkpoint file, before its time."""
    reason: str
    conversation: str
    facts: str
    audit: str
    nothing: str
    """Stands where a list is empty."""
    invalid: str
    """Stands for an operation that has no text."""
    accepted: str
    refused: str
    result: str

    def heading(self, kind: ScopeKind) -> str:
        """The first line of a summary, without its mark."""
        return {
            "global": self.global_heading,
            "workspace": self.workspace_heading,
            "session": self.session_heading,
        }[kind]


ENGLISH = Wording(
    global_heading="About the user",
    workspace_heading="About this workspace",
    session_heading="About this conversation",
    note="Lasting facts for reference, kept by wsmem.",
    checkpoint="Memory stage",
    reason="Reason",
    conversation="Messages",
    facts="Proposed",
    audit="Decisions",
    nothing="(none)",
    invalid="(no usable text)",
    accepted="accepted",
    refused="refused",
    result="Result",
)

CHINESE = Wording(
    global_heading="关于用户",
    workspace_heading="关于本工作区",
    session_heading="关于本次会话",
    note="以下是供参考的长期事实，由 wsmem 维护。",
    checkpoint="记忆阶段",
    reason="原因",
    conversation="消息",
    facts="提议",
    audit="处理结果",
    nothing="（无）",
    invalid="（没有可用文本）",
    accepted="采纳",
    refused="拒绝",
    result="合计",
)

_LANGUAGES: dict[Language, Wording] = {"zh": CHINESE, "en": ENGLISH}

# Lines other programs put at the head of a summary: the plugin's now, and its older English ones.
_FOREIGN_HEADINGS: dict[str, ScopeKind] = {
    "# 全局记忆": "global",
    "# 项目记忆": "workspace",
    "# Global memory": "global",
    "# Workspace memory": "workspace",
}
_FOREIGN_NOTES = frozenset(
    {
        "由 dsh-workspace-memory 维护的长期事实。",
        "Durable reference facts maintained by dsh-workspace-memory.",
    }
)


def wording_of(language: Language) -> Wording:
    """The words of a language."""
    return _LANGUAGES[language]


def split_head(summary: str) -> tuple[ScopeKind | None, str]:
    """What a known heading says the summary is about, and the text after heading and note.

    A summary that begins otherwise is somebody's own text: `None`, and all of it.
    """
    lines = summary.splitlines(keepends=True)
    first = lines[0].strip() if lines else ""
    kind = _HEADINGS.get(first)
    if kind is None:
        return None, summary
    rest = 1
    while rest < len(lines) and (not lines[rest].strip() or lines[rest].strip() in _NOTES):
        rest += 1
    return kind, "".join(lines[rest:])


def with_wording(summary: str, wording: Wording) -> str:
    """The summary under our own heading, if it stands under a known one."""
    kind, body = split_head(summary)
    if kind is None:
        return summary
    head = f"# {wording.heading(kind)}\n\n{wording.note}\n"
    return f"{head}\n{body}" if body else head


def _own_headings() -> dict[str, ScopeKind]:
    kinds: tuple[ScopeKind, ...] = ("global", "workspace", "session")
    return {f"# {w.heading(kind)}": kind for w in _LANGUAGES.values() for kind in kinds}


_HEADINGS = _FOREIGN_HEADINGS | _own_headings()
_NOTES = _FOREIGN_NOTES | {wording.note for wording in _LANGUAGES.values()}
