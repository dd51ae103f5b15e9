"""The calls that touch files: what is absent, what is not a file, and fsyncs made at once."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import pytest

from wsmem.store.fs import FileSystem, make_directories, remove_tree

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_absent_is_an_answer(tmp_path: Path) -> None:
    fs = FileSystem()
    (tmp_path / "file").write_text("x")
    for path in (f"{tmp_path}/none", f"{tmp_path}/none/x", f"{tmp_path}/file/x"):
        assert fs.read(path) is None
        assert fs.stamp(path) is None
        assert fs.names(path) == []
        fs.unlink(f"{tmp_path}/none")
    fs.remove_directory(f"{tmp_path}/none")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_in_place_of_a_file_is_refused_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        FileSystem().read(f"{tmp_path}/pipe")


def test_a_new_file_must_be_new(tmp_path: Path) -> None:
    fs = FileSystem()
    fs.close(fs.create(f"{tmp_path}/a"))
    with pytest.raises(FileExistsError):
        fs.create(f"{tmp_path}/a")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileExistsError):
        fs.create(f"{tmp_path}/link")


class Recording(FileSystem):
    """Remembers what was synced, and by which threads at once."""

    def __init__(self, failing: int | None = None) -> None:
        self.synced: list[object] = []
        self.failing = failing
        self.everybody = threading.Barrier(3, timeout=10)

    def sync(self, fd: int) -> None:
        self.everybody.wait()  # passes only if all three are under way together
        if fd == self.failing:
            raise OSError(5, "no luck")
        self.synced.append(fd)

    def sync_directory(self, path: str) -> None:
        self.everybody.wait()
        self.synced.append(path)


def test_files_and_directories_are_synced_at_once() -> None:
    fs = Recording()
    fs.sync_all([3, 4], ["/d"])
    assert sorted(map(str, fs.synced)) == ["/d", "3", "4"]
    fs.sync_all([], [])


def test_one_failing_fsync_fails_them_all_after_all_ended() -> None:
    fs = Recording(failing=4)
    with pytest.raises(OSError, match="no luck"):
        fs.sync_all([3, 4], ["/d"])
    assert sorted(map(str, fs.synced)) == ["/d", "3"]


def test_without_threads_they_are_synced_one_after_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    fs = FileSystem()
    files = [fs.create(f"{tmp_path}/{name}") for name in "abc"]
    fs.sync_all(files, [str(tmp_path)])
    for fd in files:
        fs.close(fd)


def test_directories_above_the_root_are_left_as_they_are(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    root = home / "new" / "memory"
    make_directories(FileSystem(), f"{root}/global/checkpoints", top=str(root))
    assert oct(home.stat().st_mode & 0o777) == "0o755"
    for made in (home / "new", root, root / "global", root / "global/checkpoints"):
        assert oct(made.stat().st_mode & 0o777) == "0o700"


def test_removing_a_tree_leaves_what_links_in_it_point_to(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "x").write_text("kept")
    (tmp_path / "tree" / "inner").mkdir(parents=True)
    (tmp_path / "tree" / "inner" / "y").write_text("gone")
    (tmp_path / "tree" / "link").symlink_to(precious)
    remove_tree(FileSystem(), f"{tmp_path}/tree")
    remove_tree(FileSystem(), f"{tmp_path}/tree")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["precious"]
    assert (precious / "x").read_text() == "kept"
