"""Which scopes a request reads and writes: by directory, by session, with a registry or without."""

from __future__ import annotations

from typing import NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wsmem.errors import RelativePathError
from wsmem.scopes import (
    GLOBAL,
    InMemoryRegistry,
    ScopeResolver,
    SessionInfo,
    Workspace,
    candidate_keys,
    session_scope,
    workspace_scope,
)

A, B = "/srv/proj-a", "/srv/proj-b"


class BrokenRegistry:
    """A host that is not there."""

    def session(self, session_id: str) -> NoReturn:
        raise OSError(f"no answer about {session_id}")

    def workspaces(self) -> NoReturn:
        raise TimeoutError


class WordlessRegistry(InMemoryRegistry):
    """A host that cannot say which workspaces there are."""

    def workspaces(self) -> None:  # type: ignore[override]  # the protocol allows it
        return None


def resolver(*sessions: SessionInfo) -> ScopeResolver:
    return ScopeResolver(InMemoryRegistry(sessions), platform="linux")


def test_a_session_resolves_to_its_directory_as_recorded() -> None:
    found = resolver(SessionInfo(id="s-1", cwd=A))
    assert found.resolve(session_id="s-1").main.key == "ws-8d26a3233b5832695aac"
    assert found.resolve(session_id="unknown").main == GLOBAL
    assert found.resolve(session_id="s-1", cwd="").main == GLOBAL, "an empty directory wins"
    assert found.resolve(session_id="s-1", cwd=B).main == workspace_scope(B)
    assert found.resolve().main == GLOBAL
    assert found.resolve(cwd=A).main.cwd == A


def test_a_relative_directory_is_refused_not_guessed() -> None:
    with pytest.raises(RelativePathError):
        resolver().resolve(cwd="proj-a")
    answer = resolver(SessionInfo(id="s", cwd="proj-a")).resolve(session_id="s")
    assert (answer.main, answer.problem) == (GLOBAL, "the session's directory is a relative path")


def test_a_recall_reads_global_workspace_and_its_own_conversation() -> None:
    answer = resolver(SessionInfo(id="s", cwd=A)).resolve(session_id="s")
    assert answer.scopes == (GLOBAL, workspace_scope(A), session_scope("s"))
    assert resolver().resolve().scopes == (GLOBAL,)
    assert resolver().resolve(cwd=A).scopes == (GLOBAL, workspace_scope(A))


def test_a_sub_agent_works_in_its_root_sessions_workspace_and_conversation() -> None:
    family = resolver(
        SessionInfo(id="root", cwd=A),
        SessionInfo(id="child", cwd=B, parent_id="root", is_subagent=True),
        SessionInfo(id="grandchild", parent_id="child", is_subagent=True),
    )
    for session in ("child", "grandchild"):
        answer = family.resolve(session_id=session)
        assert answer.main == workspace_scope(A)
        assert answer.session == session_scope("root")
        assert answer.root_session_id == "root"
        assert answer.is_subagent
    assert not family.resolve(session_id="root").is_subagent
    assert family.resolve(session_id="child", cwd=B).main == workspace_scope(B)


def test_a_sub_agent_of_a_session_without_directory_is_global() -> None:
    family = resolver(
        SessionInfo(id="root"), SessionInfo(id="c", cwd=B, parent_id="root", is_subagent=True)
    )
    assert family.resolve(session_id="c").main == GLOBAL


def test_a_sub_agent_of_an_unknown_session_falls_back_on_what_is_known() -> None:
    family = resolver(SessionInfo(id="c", cwd=B, parent_id="gone", is_subagent=True))
    answer = family.resolve(session_id="c")
    assert (answer.main, answer.root_session_id) == (workspace_scope(B), "gone")


def test_a_fork_the_user_opened_keeps_its_own_directory_and_shares_the_conversation() -> None:
    family = resolver(SessionInfo(id="root", cwd=A), SessionInfo(id="f", cwd=B, parent_id="root"))
    answer = family.resolve(session_id="f")
    assert (answer.main, answer.session) == (workspace_scope(B), session_scope("root"))


@given(st.dictionaries(st.sampled_from("abcdef"), st.sampled_from("abcdef"), min_size=1))
def test_parents_in_a_ring_end_and_agree_on_a_root(parents: dict[str, str]) -> None:
    family = resolver(
        *(
            SessionInfo(id=one, parent_id=parent, is_subagent=True)
            for one, parent in parents.items()
        )
    )
    for one, parent in parents.items():
        roots = {family.resolve(session_id=each).root_session_id for each in (one, parent)}
        assert len(roots) == 1


def test_without_a_registry_identity_is_the_path() -> None:
    for without in (ScopeResolver(platform="linux"), ScopeResolver(BrokenRegistry())):
        answer = without.resolve(cwd=A, session_id="s")
        assert (answer.main, answer.problem) == (workspace_scope(A), None)
        assert answer.session == session_scope("s")


def test_a_registry_that_fails_is_told_apart_from_an_unknown_session() -> None:
    failed = ScopeResolver(BrokenRegistry()).resolve(session_id="s")
    assert failed.problem == "the session registry failed: OSError"
    assert resolver().resolve(session_id="s").problem is None


def test_registered_workspaces_are_known_by_every_key_they_may_have() -> None:
    registry = InMemoryRegistry(workspaces=[Workspace(path=A, id="1", title="web")])
    registry.register(Workspace(path=f"{B}/", id="2", title="web"))
    registry.register(Workspace(path="not/absolute"))
    registry.register(Workspace(path="/"))
    found = ScopeResolver(registry, platform="linux")
    assert found.registered_keys() == frozenset({*candidate_keys(A), *candidate_keys(B)})
    registry.unregister(A)
    registry.register(Workspace(path=A, id="3", title="another title"))
    assert found.registered_keys() == frozenset({*candidate_keys(A), *candidate_keys(B)})
    registry.unregister(A)
    assert found.registered_keys() == frozenset(candidate_keys(B))


@pytest.mark.parametrize(
    "registry",
    [
        pytest.param(None, id="absent"),
        pytest.param(BrokenRegistry(), id="raises"),
        pytest.param(WordlessRegistry(), id="cannot-say"),
    ],
)
def test_a_registry_that_cannot_be_read_says_nothing_about_workspaces(
    registry: BrokenRegistry | WordlessRegistry | None,
) -> None:
    assert ScopeResolver(registry).registered_keys() is None
