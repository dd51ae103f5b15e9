from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from imported_sets import write_json
from labelled_sets import document, query, write_set
from labelling_kit import SHOP, files_under, write_store

from wsmem.cli.main import main
from wsmem.evals.labelling.folder import open_folder
from wsmem.evals.reading import load_dataset

if TYPE_CHECKING:
    from pathlib import Path


class Said:
    """What a command printed and how it ended."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.status, self.out, self.err = 0, "", ""

    def __call__(self, *arguments: str | Path) -> Said:
        self._capsys.readouterr()
        self.status = main([str(argument) for argument in arguments])
        self.out, self.err = self._capsys.readouterr()
        return self

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def wsmem(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Said:
    monkeypatch.setenv("WSMEM_DATASETS", str(write_set(tmp_path / "own" / "tiny").parent))
    monkeypatch.delenv("DATA", raising=False)
    return Said(capsys)


LOCOMO = [
    {
        "sample_id": "c1",
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [{"speaker": "Ida", "dia_id": "D1:1", "text": "I keep bees."}],
        },
        "qa": [{"question": "What does Ida keep?", "evidence": ["D1:1"], "category": 4}],
    }
]


def test_a_public_set_is_imported_checked_and_listed(wsmem: Said, tmp_path: Path) -> None:
    file = write_json(tmp_path / "locomo10.json", LOCOMO)
    said = wsmem("datasets", "import", "locomo", file, "--out", tmp_path / "sets" / "bees")
    assert (said.status, said.out) == (
        0,
        f"{tmp_path}/sets/bees: 1 document, 1 query (0 without an answer), 1 label\n",
    )
    assert "RecallAll@5" in said.err
    assert wsmem("datasets", "check", tmp_path / "sets" / "bees").out == "bees: no problems\n"
    found = wsmem("datasets", "list", "--data", tmp_path / "sets", "--json").json["datasets"]
    assert [row["name"] for row in found] == ["tiny", "bees"]
    assert found[1]["licence"] == "CC-BY-NC-4.0"


def test_options_and_their_choices_are_listed_and_checked(wsmem: Said, tmp_path: Path) -> None:
    assert (
        "option level: what a passage is; one of turns, observations, sessions"
        in wsmem("datasets", "sources").out
    )
    names = [source["name"] for source in wsmem("datasets", "sources", "--json").json["sources"]]
    assert {"locomo", "longmemeval", "perltqa", "memdaily", "halumem", "beir"} <= set(names)
    file = write_json(tmp_path / "locomo10.json", LOCOMO)
    start = ("datasets", "import", "locomo", file, "--out", tmp_path / "bees", "--option")
    assert "no level named 'word'" in wsmem(*start, "level=word").err
    assert "write NAME=VALUE" in wsmem(*start, "level").err
    assert wsmem(*start, "level=sessions", "--json").json["labels"] == 1


FAILURES = [
    pytest.param(["datasets", "import", "nope", "x", "--out", "y"], "no source named", id="source"),
    pytest.param(["datasets", "import", "beir", "x", "--out", "y"], "no such file", id="file"),
    pytest.param(
        ["datasets", "from-store", "--memory-dir", "none", "--out", "y"],
        "there is no such folder",
        id="store",
    ),
    pytest.param(["datasets", "export", "none", "--out", "y"], "cannot be labelled in", id="none"),
    pytest.param(["label", "none"], "cannot be labelled in", id="label"),
    pytest.param(["label", "none", "--share", "0"], "--share is above 0", id="share"),
    pytest.param(["label", "x", "--status", "--settle"], "exclude each other", id="both"),
]


@pytest.mark.parametrize(("arguments", "problem"), FAILURES)
def test_what_cannot_be_done_is_said_in_one_line(
    wsmem: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], problem: str
) -> None:
    monkeypatch.chdir(tmp_path)
    before = files_under(tmp_path)
    said = wsmem(*arguments)
    assert (said.status, said.out) == (2, "")
    assert problem in said.err
    assert said.err.count("\n") == 1
    assert files_under(tmp_path) == before


def test_warnings_pass_unless_they_are_to_count(wsmem: Said, tmp_path: Path) -> None:
    folder = write_set(
        tmp_path / "twice",
        documents=[document("d1", "a")],
        queries=[query("q1", "the same"), query("q2", "The same!")],
        labels=[("q1", "d1", 1), ("q2", "d1", 1)],
    )
    said = wsmem("datasets", "check", folder)
    assert said.status == 0
    assert said.out.startswith(f"warning: {folder}/queries.jsonl:2: query 'q2' repeats 'q1'")
    assert said.out.endswith("twice: 1 warning\n")
    assert wsmem("datasets", "check", folder, "--strict").status == 1
    (row,) = wsmem("datasets", "check", folder, "--json").json["datasets"]["twice"]
    assert (row["severity"], row["kind"], row["line"]) == ("warning", "near-duplicate", 2)


def test_a_store_is_labelled_from_end_to_end(
    wsmem: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_store(tmp_path / "memory")
    before = files_under(tmp_path / "memory")
    mine, given = tmp_path / "mine", tmp_path / "given"
    asked = tmp_path / "asked.txt"
    asked.write_text("how do we deploy\nwho owns 5432\n", encoding="utf-8")
    said = wsmem(
        "datasets", "from-store", "--memory-dir", tmp_path / "memory", "--out", mine,
        "--scope", SHOP, "--queries", asked, "--no-messages", "--system", "bm25",
        "--system", "wsmem:default", "--json",
    )  # fmt: skip
    assert (said.json["queries"], said.json["origins"]) == (2, {"typed": 2})
    pairs = said.json["pairs"]
    assert pairs
    for judge, grade in (("ida", "2"), ("bo", "1")):
        answers = iter([*[grade] * (pairs - 1), "0"])
        monkeypatch.setattr("builtins.input", lambda _prompt, answers=answers: next(answers))
        assert wsmem("label", mine, "--judge", judge).status == 0
    agreement = wsmem("label", mine, "--agreement", "--json").json["agreement"]
    assert agreement[0]["judges"] == ["bo", "ida"]
    assert agreement[0]["rows"][0]["pairs"] == pairs
    monkeypatch.setattr("builtins.input", lambda _prompt: "2")
    assert wsmem("label", mine, "--settle").status == 0
    assert wsmem("label", mine, "--settle").out.startswith("\n0 judgements")
    status = wsmem("label", mine, "--status", "--json").json
    assert (status["labels"], status["disputed"]) == (pairs, 0)
    assert {row["system"] for row in status["systems"]} == {"bm25", "wsmem:default"}
    assert all(row["judged"] == 1 for row in status["systems"])
    assert "Judged@10" in wsmem("label", mine, "--status").out
    said = wsmem("datasets", "export", mine, "--out", given, "--pseudonymise")
    assert (said.status, said.out.count("\n")) == (0, 1)
    assert "read it before you give it away" in said.err
    assert wsmem("datasets", "check", given).status == 0
    assert len(load_dataset(given).queries) == 2
    scored = wsmem("eval", "--dataset", given, "--system", "bm25", "--jobs", "1", "--json").json
    assert scored["skipped"] == []
    assert files_under(tmp_path / "memory") == before


def test_queries_can_be_typed(wsmem: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import io  # noqa: PLC0415  stands for a terminal here only

    write_store(tmp_path / "memory")
    monkeypatch.setattr(sys, "stdin", io.StringIO("deploy\n\nport\n"))
    said = wsmem(
        "datasets", "from-store", "--memory-dir", tmp_path / "memory", "--out", tmp_path / "mine",
        "--scope", SHOP, "--typed", "--no-messages", "--system", "bm25",
    )  # fmt: skip
    assert "2 queries (2 typed)" in said.out


def test_a_set_is_labelled_again_to_measure_agreement(
    wsmem: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = tmp_path / "again"
    said = wsmem("datasets", "pool", "tiny", "--out", again, "--system", "bm25")
    assert said.status == 0
    monkeypatch.setattr("builtins.input", lambda _prompt: "2")
    assert wsmem("label", again, "--judge", "bo").status == 0
    shown = wsmem("label", again, "--agreement").out
    assert shown.startswith("bo and published, Cohen's kappa")
    assert "lang:zh" in shown
    assert "is not a labeller's name here" in wsmem("label", again, "--judge", "published").err


def test_two_sessions_of_one_labeller_do_not_mix(wsmem: Said, tmp_path: Path) -> None:
    from filelock import FileLock  # noqa: PLC0415  slow to import

    wsmem("datasets", "pool", "tiny", "--out", tmp_path / "again", "--system", "bm25")
    with FileLock(tmp_path / "again" / "judgements" / "me.lock"):
        said = wsmem("label", tmp_path / "again")
    assert said.status == 2
    assert "me is labelling here in another session" in said.err


def test_a_person_labels_in_a_terminal_is_interrupted_and_goes_on(
    wsmem: Said, tmp_path: Path
) -> None:
    wsmem("datasets", "pool", "tiny", "--out", tmp_path / "again", "--system", "bm25")
    folder = open_folder(tmp_path / "again")
    pairs = sum(map(len, folder.pool.values()))
    first = _in_terminal(
        ["label", str(folder.path), "--judge", "ida"], [b"2\n", b"u\n", b"1\n", INTERRUPT]
    )
    assert "taken back:" in first
    assert f"1 judgement in this session, {pairs - 1} left" in first
    second = _in_terminal(["label", str(folder.path), "--judge", "ida"], [b"0\n"] * (pairs - 1))
    assert f"{pairs - 1} judgement" in second
    assert "disputed: no label until" in second
    assert sorted(folder.ledger("ida").grades.values()) == [*[0] * (pairs - 1), 1]


INTERRUPT = b"\x03"
_ON_ITS_OWN_TERMINAL = """
import fcntl, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that the interrupt key interrupts,
signal.signal(signal.SIGINT, signal.default_int_handler)  # also below a job in the background
from wsmem.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def _in_terminal(arguments: list[str], keys: list[bytes]) -> str:
    """Run the command on a terminal of its own and press keys whenever it asks."""
    master, slave = pty.openpty()
    command = [sys.executable, "-c", _ON_ITS_OWN_TERMINAL, *arguments]
    with subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
    ) as process:
        os.close(slave)
        shown, waiting, pressed, end = b"", list(keys), b"", time.monotonic() + 60
        while time.monotonic() < end:
            ready, _, _ = select.select([master], [], [], 1.0)
            if ready:
                try:
                    shown += os.read(master, 65536)
                except OSError:  # the other side was closed
                    break
            elif pressed == INTERRUPT:
                # Pressed between the question and the wait for an answer, it has no effect:
                # Python looks for signals again only when the wait ends.
                os.write(master, INTERRUPT)
            if waiting and shown.rstrip(b" ").endswith(b"help):"):
                pressed = waiting.pop(0)
                os.write(master, pressed)
                shown += b"\n"  # what was asked is answered
        else:
            process.kill()
            raise AssertionError(shown.decode())
        status = process.wait(timeout=30)
    os.close(master)
    assert status == 0, shown.decode()
    return shown.decode()
