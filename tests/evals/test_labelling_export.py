from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest
from labelling_kit import SHOP, all_pairs, files_under, key, run_session, shop_folder

from wsmem.errors import InvalidInputError
from wsmem.evals.checking import check_dataset
from wsmem.evals.labelling.export import export
from wsmem.evals.labelling.folder import open_folder
from wsmem.evals.labelling.pseudonyms import Pseudonyms
from wsmem.evals.reading import load_dataset

if TYPE_CHECKING:
    from pathlib import Path


def labelled(tmp_path: Path) -> Path:
    folder = shop_folder(tmp_path)
    run_session(folder, ["2"] * len(all_pairs(folder)))
    return folder.path


def test_an_export_holds_the_set_and_nothing_private(tmp_path: Path) -> None:
    report = export(labelled(tmp_path), tmp_path / "given")
    assert sorted(files_under(tmp_path / "given")) == [
        "card.json",
        "corpus.jsonl",
        "qrels",
        "qrels/test.tsv",
        "queries.jsonl",
    ]
    before, after = load_dataset(tmp_path / "mine"), load_dataset(tmp_path / "given")
    assert after.labels == before.labels
    assert report.labels == sum(map(len, before.labels.values()))
    assert [item for item in check_dataset(tmp_path / "given") if item.severity == "error"] == []
    assert stat.S_IMODE((tmp_path / "given" / "corpus.jsonl").stat().st_mode) == 0o644
    text = b"".join(content for content in files_under(tmp_path / "given").values() if content)
    assert b"/home/ida" not in text


def test_a_pseudonymised_export_names_nobody_and_scores_the_same(tmp_path: Path) -> None:
    source = labelled(tmp_path)
    report = export(source, tmp_path / "given", pseudonymise=True, licence="CC-BY-4.0")
    text = "".join(
        content.decode() for content in files_under(tmp_path / "given").values() if content
    )
    for name in ("ida", "shop01", "internal", key(SHOP), "/home"):
        assert name not in text
    assert "由 user1 维护" in text
    assert "scripts/deploy.sh on host1.example" in text
    given = load_dataset(tmp_path / "given")
    assert {document.scope for document in given.documents} == {"scope-1"}
    before = load_dataset(source)
    assert sorted(map(len, given.labels.values())) == sorted(map(len, before.labels.values()))
    assert set(given.labels) <= {query.id for query in given.queries}
    assert given.card is not None
    assert given.card.licence == "CC-BY-4.0"
    assert "stand-ins" in given.card.description
    assert report.stand_ins["user"] == 1


def test_stand_ins_stay_the_same_from_export_to_export(tmp_path: Path) -> None:
    source = labelled(tmp_path)
    export(source, tmp_path / "one", pseudonymise=True)
    kept = open_folder(source).settings.stand_ins
    assert kept["user"] == {"ida": "user1"}
    export(source, tmp_path / "two", pseudonymise=True, names=["Screening"])
    assert (
        files_under(tmp_path / "one")["corpus.jsonl"]
        == files_under(tmp_path / "two")["corpus.jsonl"]
    )


def test_nothing_is_exported_that_was_not_judged(tmp_path: Path) -> None:
    folder = shop_folder(tmp_path)
    with pytest.raises(InvalidInputError, match="nothing was judged yet"):
        export(folder.path, tmp_path / "given")
    with pytest.raises(InvalidInputError, match="only when pseudonyms are asked for"):
        export(folder.path, tmp_path / "given", names=["Acme"])
    assert not (tmp_path / "given").exists()


REPLACED = [
    pytest.param("write to Ida.Berg@acme.com.", "write to person1@example.com.", id="email"),
    pytest.param("ssh ida@db01 now", "ssh user1@host1 now", id="login"),
    pytest.param("https://git.acme.io/a/b", "https://host1.example/a/b", id="url"),
    pytest.param("db01.prod.internal:5432", "host1.example:5432", id="internal-host"),
    pytest.param("连接 10.0.3.7 的 5432", "连接 192.0.2.1 的 5432", id="address"),
    pytest.param("/home/ida/acme/x.py by ida", "/home/user1/folder1/x.py by user1", id="home"),
    pytest.param(r"C:\Users\bo\acme\x.txt", r"C:\Users\user1\folder1\x.txt", id="windows"),
    pytest.param("/srv/acme/deploy.sh", "/srv/folder1/deploy.sh", id="server-path"),
    pytest.param("~/acme/notes.md", "~/folder1/notes.md", id="tilde"),
    pytest.param("日志在/var/log/acme/，看一下", "日志在/var/log/folder1/，看一下", id="chinese"),
]  # fmt: skip

KEPT = [
    pytest.param("GET /orders/refunds?id=1", id="route"),
    pytest.param("settings.py, os.path.join, config.json, v1.2.3", id="names-in-code"),
    pytest.param("http://localhost:3080 and 127.0.0.1:3080", id="loopback"),
    pytest.param("/etc/config/app/run.log", id="folders-everywhere"),
    pytest.param("root@localhost", id="root"),
    pytest.param("@decorator and a@b", id="signs"),
]


@pytest.mark.parametrize(("text", "expected"), REPLACED)
def test_names_get_stand_ins(text: str, expected: str) -> None:
    names = Pseudonyms()
    names.learn(text)
    found = names.replace(text)
    assert found == (expected if "ssh" not in text else "ssh user1@host1.example now")


@pytest.mark.parametrize("text", KEPT[:-1])
def test_what_names_nobody_stays(text: str) -> None:
    names = Pseudonyms()
    names.learn(text)
    assert names.replace(text) == text


def test_the_same_name_is_the_same_everywhere_and_words_are_whole() -> None:
    names = Pseudonyms(names=["Acme"], directories=["/srv/acme-shop"])
    names.learn("/home/max/x")
    assert names.replace("ACME and acme's max, maximum, acme-shop") == (
        "name1 and name1's user1, maximum, folder1"
    )
    again = Pseudonyms(names.given, names=["Acme"], directories=["/srv/acme-shop"])
    assert again.replace("acme") == "name1"
    assert again.given == names.given


def test_replacing_twice_changes_nothing_more() -> None:
    names = Pseudonyms(names=["Acme"])
    text = "ida@acme.com on db01.acme.com at 10.1.2.3, /srv/acme/x.sh, https://acme.com/x"
    names.learn(text)
    once = names.replace(text)
    assert names.replace(once) == once
    assert "acme" not in once.casefold()


def test_addresses_never_become_those_of_a_machine() -> None:
    names = Pseudonyms()
    found = [names.replace(f"10.0.{n // 250}.{n % 250 + 1}") for n in range(800)]
    assert len(set(found)) == 800
    assert all(text.startswith(("192.0.2.", "198.51.100.", "203.0.113.", "240.")) for text in found)
