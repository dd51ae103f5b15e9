"""One directory has one key and two directories have two, on every system and in every spelling."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_data import golden

from wsmem.errors import RelativePathError
from wsmem.scopes import (
    GLOBAL,
    candidate_keys,
    normalize_cwd,
    same_directory,
    scope_key,
    session_scope,
    workspace_scope,
)

if TYPE_CHECKING:
    from pathlib import Path

BACKSLASH = "on POSIX a back slash is a letter: two directories never share a key"
WINDOWS_FORM = "a path with a drive is absolute wherever it is read, as on Windows itself"
DIFFERENCES = {
    # name: (our normalised path, reason)
    "posix-host/linux/backslash-inside": ("/srv\\proj-a", BACKSLASH),
    "posix-host/linux/backslash-trailing": ("/srv/proj-a\\", BACKSLASH),
    "posix-host/linux/slash-backslash-trailing": ("/srv/proj-a/\\", BACKSLASH),
    "posix-host/linux/backslash-dotdot": ("/srv\\..\\other", BACKSLASH),
    "posix-host/linux/backslash-only": ("/tmp/\\", BACKSLASH),
    "posix-host/linux/windows-style": ("c:/users/dev/desktop/1", WINDOWS_FORM),
    "posix-host/linux/drive-forward": ("c:/users/dev", WINDOWS_FORM),
    "posix-host/win32/backslash-drive": ("d:/work/project", WINDOWS_FORM),
    "posix-host/win32/forward-drive": ("d:/srv/project", WINDOWS_FORM),
    "win32-host/win32/long-path-prefix": (
        "c:/work/proj",
        "the prefix changes the length limit, not the directory; its recorded key is an alias",
    ),
}


def test_keys_are_the_recorded_ones_or_differ_for_a_stated_reason() -> None:
    cases = golden("paths.json")["cases"]
    for case in cases:
        given_, expected = case["input"], case["expected"]
        ours = normalize_cwd(
            given_["cwd"], platform=given_["platform"], base=given_.get("processCwd")
        )
        if case["name"] in DIFFERENCES:
            assert ours == DIFFERENCES[case["name"]][0], case["name"]
            assert ours != expected["normalized"], f"{case['name']} does not differ any more"
        else:
            assert (ours, scope_key(ours)) == (expected["normalized"], expected["key"])
            if "storeScope" in expected:
                assert scope_key(ours) == expected["storeScope"]["key"]
    assert DIFFERENCES.keys() <= {case["name"] for case in cases}


def test_a_key_is_the_same_in_every_process_and_version() -> None:
    assert scope_key("/w/a/web") == "ws-e889fde5ab3c3703cbf1"
    script = "from wsmem.scopes import candidate_keys; print(*candidate_keys('/w/a/web/'))"
    ran = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.split() == ["ws-e889fde5ab3c3703cbf1"]


@pytest.mark.parametrize(
    "spelling",
    [
        pytest.param("/w/a/web", id="plain"),
        pytest.param("/w/a/web/", id="trailing-slash"),
        pytest.param("/w/a/web///", id="trailing-slashes"),
        pytest.param("/w/a/./web", id="dot"),
        pytest.param("/w/a/x/../web", id="dot-dot"),
        pytest.param("//w/a/web", id="leading-double-slash"),
        pytest.param("///w//a/web/.", id="doubled"),
        pytest.param("/../w/a/web", id="above-root"),
    ],
)
def test_one_directory_has_one_key_however_it_is_spelled(spelling: str) -> None:
    assert candidate_keys(spelling, platform="linux") == (scope_key("/w/a/web"),)


def test_a_relative_path_needs_to_be_told_what_it_is_relative_to() -> None:
    assert candidate_keys("web", base="/w/a", platform="linux") == (scope_key("/w/a/web"),)
    for relative in ("web", "./web", "..", "~/web", " /w", "file:///w/a/web"):
        with pytest.raises(RelativePathError, match="absolute") as caught:
            workspace_scope(relative, platform="linux")
        again = pickle.loads(pickle.dumps(caught.value))
        assert (again.path, str(again)) == (relative, str(caught.value))
    with pytest.raises(RelativePathError):
        workspace_scope("web", base="also/relative", platform="linux")


def test_same_last_part_is_not_the_same_directory() -> None:
    assert candidate_keys("/w/a/web", platform="linux") != candidate_keys(
        "/w/b/web", platform="linux"
    )


@pytest.mark.parametrize(
    "spelling",
    [
        pytest.param("C:\\Proj", id="plain"),
        pytest.param("c:\\proj\\", id="lower-trailing"),
        pytest.param("/c:/proj", id="leading-slash"),
        pytest.param("C:/PROJ/./x/..", id="forward-dots"),
        pytest.param("C:\\\\Proj", id="doubled"),
    ],
)
def test_a_windows_directory_has_one_key(spelling: str) -> None:
    assert candidate_keys(spelling, platform="win32") == (scope_key("c:/proj"),)


def test_a_windows_path_is_one_on_every_system_but_case_counts_on_posix() -> None:
    assert candidate_keys("C:\\Proj", platform="linux") == (scope_key("c:/proj"),)
    assert candidate_keys("\\\\Server\\Share", platform="linux") == (scope_key("//server/share"),)
    assert candidate_keys("/Proj", platform="linux") != candidate_keys("/proj", platform="linux")
    with pytest.raises(RelativePathError):
        workspace_scope("C:", platform="win32")
    with pytest.raises(RelativePathError):
        workspace_scope("C:proj", platform="win32")


def test_a_long_path_prefix_is_taken_off_and_its_recorded_key_kept_as_alias() -> None:
    keys = candidate_keys("\\\\?\\C:\\Work\\Proj", platform="win32")
    assert keys == (scope_key("c:/work/proj"), "ws-4fba66ff5932e524ea95")
    assert normalize_cwd("\\\\?\\UNC\\Server\\Share\\Dir", platform="win32") == "//server/share/dir"


@pytest.mark.parametrize("nothing", [None, "", "  ", "\t\n", "\ufeff", "/", "//", "/x/.."])
def test_no_directory_is_the_global_scope(nothing: str | None) -> None:
    assert workspace_scope(nothing, platform="linux") == GLOBAL


parts = st.text(st.characters(blacklist_characters="/\0"), min_size=1, max_size=8)
paths = st.lists(parts.filter(lambda part: part not in (".", "..")), min_size=1, max_size=4)


@given(paths, paths)
def test_two_posix_directories_never_share_a_key(left: list[str], right: list[str]) -> None:
    a, b = ("/" + "/".join(each) for each in (left, right))
    same = scope_key(normalize_cwd(a, platform="linux")) == scope_key(
        normalize_cwd(b, platform="linux")
    )
    assert same == (left == right)


@given(paths, st.lists(st.sampled_from(["", ".", "x/.."]), max_size=4))
def test_normalising_ignores_detours_and_settles(path: list[str], detours: list[str]) -> None:
    plain = "/" + "/".join(path)
    winding = "/".join([plain, *detours, ""])
    assert normalize_cwd(winding, platform="linux") == plain
    assert normalize_cwd(plain, platform="linux") == plain


def test_a_link_and_its_target_are_one_directory(tmp_path: Path) -> None:
    real = tmp_path.resolve() / "real"
    real.mkdir()
    link = tmp_path.resolve() / "link"
    link.symlink_to(real)
    canonical, plugins = candidate_keys(str(link))
    assert canonical == scope_key(str(real))
    assert plugins == scope_key(str(link)), "where the plugin, which follows no links, has it"
    assert candidate_keys(str(real)) == (canonical,)
    assert workspace_scope(str(link)).cwd == str(real)


def test_a_directory_under_a_link_keeps_its_key_when_it_is_made(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    later = tmp_path / "link" / "later"
    before = candidate_keys(str(later))
    later.mkdir()
    assert candidate_keys(str(later)) == before


def test_a_store_under_a_spelling_nobody_mentions_is_found(tmp_path: Path) -> None:
    real, other = tmp_path.resolve() / "real", tmp_path.resolve() / "other"
    real.mkdir()
    other.mkdir()
    link = tmp_path.resolve() / "link"
    link.symlink_to(real)
    stores = [
        ("global", ""),
        (scope_key(str(other)), str(other)),
        (scope_key(str(link)), str(link)),
        ("ws-00000000000000000000", "not/absolute"),
    ]
    assert list(same_directory(workspace_scope(str(real)), stores)) == [scope_key(str(link))]


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param("/w/\0x", id="nul"),
        pytest.param("/w/\udcff", id="not-unicode"),
        pytest.param("/w/" + "a" * 5000, id="too-long"),
        pytest.param("/w/a\nb", id="newline"),
    ],
)
def test_a_path_the_system_cannot_have_still_has_a_key_of_its_own(odd: str) -> None:
    (key,) = candidate_keys(odd)
    assert key.startswith("ws-")
    assert len(key) == 23


def test_a_ring_of_links_ends(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert candidate_keys(str(tmp_path / "a" / "x"))


def test_a_session_id_is_never_part_of_a_path() -> None:
    scope = session_scope("../../etc")
    assert scope.layer == "session"
    assert scope.key.removeprefix("session-").isalnum()
    assert len(scope.key) == len("session-") + 20
    assert scope.key != session_scope("../../etc ").key
