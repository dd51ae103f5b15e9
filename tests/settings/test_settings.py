"""Settings come from four places, later ones win, and nothing wrong is passed over in silence."""

from __future__ import annotations

import dataclasses
import json
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from wsmem.errors import InvalidInputError, SettingsError
from wsmem.settings import (
    Settings,
    default_memory_dir,
    environment_name,
    load_settings,
    setting_names,
)

if TYPE_CHECKING:
    from pathlib import Path

PLUGIN_DEFAULTS = {
    # The public plugin's configuration, whose stores and habits are shared.
    "checkpointTurns": 10,
    "checkpointChars": 4000,
    "idleCheckpointMs": 300_000,
    "consolidateEvery": 5,
    "summaryMaxBytes": 3000,
    "recallMaxBytes": 5000,
    "recallLimit": 8,
    "checkpointMaxChars": 40_000,
    "keepSummaryVersions": 10,
    "surfacedPenalty": 8,
}


def write(path: Path, settings: dict[str, Any]) -> Path:
    path.write_text(json.dumps(settings), encoding="utf-8")
    return path


def empty(home: Path) -> dict[str, str]:
    """An environment that knows nothing but where the host's home is."""
    return {"DSH_HOME": str(home)}


def test_defaults_are_the_contracts_and_the_plugins(tmp_path: Path) -> None:
    settings = load_settings(env=empty(tmp_path))
    assert settings.memory_dir == f"{tmp_path}/workspace-memory"
    assert settings.deadline_ms == 250
    assert (settings.retry_initial_ms, settings.retry_max_ms) == (1_000, 30_000)
    assert (settings.candidate_limit, settings.candidate_max_bytes) == (20, 12_000)
    assert settings.seen_window >= 10_000
    assert settings.write_layer == settings.recall_boundary == "workspace"
    file = write(tmp_path / "plugin.json", {"memoryDir": "", "summarizeModel": "m"})
    assert load_settings(file=file, env=empty(tmp_path)) == dataclasses.replace(settings, model="m")
    file = write(tmp_path / "plugin.json", PLUGIN_DEFAULTS)
    assert load_settings(file=file, env=empty(tmp_path)) == settings


def test_arguments_win_over_environment_over_file_over_defaults(tmp_path: Path) -> None:
    file = write(tmp_path / "s.json", {"recallLimit": 2, "checkpoint_turns": 2, "language": "en"})
    env = {**empty(tmp_path), "WSMEM_RECALL_LIMIT": "3", "WSMEM_CHECKPOINT_TURNS": "3"}
    settings = load_settings(file=file, env=env, arguments={"recall_limit": 4, "language": None})
    assert (settings.recall_limit, settings.checkpoint_turns) == (4, 3)
    assert settings.language == "en"
    assert settings.deadline_ms == 250


@pytest.mark.parametrize("name", setting_names())
def test_every_setting_can_be_set_in_every_place(name: str, tmp_path: Path) -> None:
    odd: dict[str, Any] = {
        "memory_dir": str(tmp_path / "other"),
        "language": "en",
        "write_layer": "global",
        "recall_boundary": "session",
        "profile": "reference",
        "query_log": "on",
        "postings": "off",
        "model": "some-model",
        "model_base_url": "http://127.0.0.1:8080/v1",
        "model_api_key_env": "OTHER_KEY",
        "seen_window": 12_345,
        "candidate_limit": 7,
        "recall_limit": 7,
        "surfaced_penalty": 7.5,
    }
    value = odd.get(name, 1234)
    file = write(tmp_path / "s.json", {name: value})
    env = {**empty(tmp_path), environment_name(name): str(value)}
    for settings in (
        load_settings(file=file, env=empty(tmp_path)),
        load_settings(env=env),
        load_settings(env=empty(tmp_path), arguments={name: value}),
    ):
        assert getattr(settings, name) == value
        assert type(getattr(settings, name)) is type(value)


def test_the_fields_and_the_rules_are_the_same_names() -> None:
    assert [item.name for item in dataclasses.fields(Settings)] == list(setting_names())


def test_memory_dir_is_the_setting_or_under_the_hosts_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_memory_dir({}) == f"{tmp_path}/.dsh/workspace-memory"
    assert default_memory_dir({"DSH_HOME": ""}) == f"{tmp_path}/.dsh/workspace-memory"
    assert default_memory_dir({"DSH_HOME": "/h"}) == "/h/workspace-memory"
    assert load_settings(env={"WSMEM_MEMORY_DIR": "~/m"}).memory_dir == f"{tmp_path}/m"
    given = load_settings(env={}, arguments={"memory_dir": tmp_path / "x" / ".."})
    assert given.memory_dir == str(tmp_path)
    (tmp_path / "conf").mkdir()
    file = write(tmp_path / "conf" / "s.json", {"memory_dir": "store"})
    assert load_settings(file=file, env={}).memory_dir == f"{tmp_path}/conf/store"


def test_the_settings_file_is_found_by_variable_or_in_the_memory_directory(tmp_path: Path) -> None:
    store = tmp_path / "workspace-memory"
    store.mkdir()
    write(store / "settings.json", {"deadline_ms": 100})
    assert load_settings(env=empty(tmp_path)).deadline_ms == 100
    named = tmp_path / "named.toml"
    named.write_text("deadline_ms = 50\nmodel = '模型'\n", encoding="utf-8")
    settings = load_settings(env={**empty(tmp_path), "WSMEM_CONFIG": str(named)})
    assert (settings.deadline_ms, settings.model) == (50, "模型")
    (store / "settings.toml").write_text("", encoding="utf-8")
    with pytest.raises(SettingsError, match="keep one"):
        load_settings(env=empty(tmp_path))


def test_a_file_found_through_the_memory_directory_cannot_move_it(tmp_path: Path) -> None:
    (tmp_path / "workspace-memory").mkdir()
    write(tmp_path / "workspace-memory" / "settings.json", {"memoryDir": "/elsewhere"})
    with pytest.raises(SettingsError, match="memory_dir cannot be set in a file"):
        load_settings(env=empty(tmp_path))


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        pytest.param("checkpoint_turn", "checkpoint_turns", id="letter-missing"),
        pytest.param("recallLimits", "recall_limit", id="camel"),
        pytest.param("zzz", None, id="nothing-like-it"),
    ],
)
def test_an_unknown_name_is_an_error_with_the_nearest_known_one(
    key: str, meant: str | None, tmp_path: Path
) -> None:
    file = write(tmp_path / "s.json", {key: 1})
    for call in ({"file": file}, {"arguments": {key: 1}}):
        with pytest.raises(SettingsError) as caught:
            load_settings(env=empty(tmp_path), **call)
        assert caught.value.key == key
        assert caught.value.source == (str(file) if "file" in call else "arguments")
        assert "deadline_ms" in str(caught.value)
        assert (f"did you mean {meant}?" in str(caught.value)) == (meant is not None)


def test_an_unknown_variable_with_our_prefix_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"WSMEM_RECALL_LIMITS is no setting.*WSMEM_RECALL_LIM"):
        load_settings(env={**empty(tmp_path), "WSMEM_RECALL_LIMITS": "3"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("checkpoint_turns", "10", id="text-for-number"),
        pytest.param("checkpoint_turns", 0, id="too-small"),
        pytest.param("checkpoint_turns", True, id="truth-for-number"),
        pytest.param("checkpoint_turns", 2.5, id="fraction"),
        pytest.param("checkpoint_turns", None, id="null"),
        pytest.param("seen_window", 9_999, id="window-below-the-promise"),
        pytest.param("recall_limit", 51, id="too-large"),
        pytest.param("surfaced_penalty", float("nan"), id="not-a-number"),
        pytest.param("language", "fr", id="language"),
        pytest.param("language", ["zh"], id="list"),
        pytest.param("write_layer", "team", id="layer"),
        pytest.param("profile", "../x", id="profile-with-a-path"),
        pytest.param("model", "", id="empty-text"),
        pytest.param("model_base_url", "https://user:pw@host/v1", id="credentials-in-address"),
        pytest.param("model_base_url", "ftp://host", id="scheme"),
    ],
)
def test_a_value_of_the_wrong_kind_is_an_error_with_what_is_allowed(
    name: str, value: Any, tmp_path: Path
) -> None:
    file = tmp_path / "s.json"
    file.write_text(json.dumps({name: value}), encoding="utf-8")
    with pytest.raises(SettingsError, match="expected") as caught:
        load_settings(file=file, env=empty(tmp_path))
    assert (caught.value.source, caught.value.key) == (str(file), name)
    with pytest.raises(SettingsError, match="expected"):
        Settings(**{"memory_dir": "/m", name: value})


def test_a_bad_variable_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(env={**empty(tmp_path), "WSMEM_DEADLINE_MS": "soon"})
    assert str(caught.value) == (
        "environment variable WSMEM_DEADLINE_MS: deadline_ms cannot be 'soon': "
        "expected a whole number from 1 to 3600000"
    )
    assert isinstance(caught.value, InvalidInputError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_an_empty_variable_counts_as_not_given(tmp_path: Path) -> None:
    env = {**empty(tmp_path), "WSMEM_DEADLINE_MS": "", "WSMEM_MEMORY_DIR": "", "WSMEM_CONFIG": ""}
    assert load_settings(env=env) == load_settings(env=empty(tmp_path))


@pytest.mark.parametrize(
    ("given", "key"),
    [
        pytest.param({"write_layer": "session"}, "write_layer", id="writes-narrower-than-recall"),
        pytest.param({"recall_boundary": "global"}, "write_layer", id="boundary-wider"),
        pytest.param({"retry_initial_ms": 50_000}, "retry_max_ms", id="back-off-upside-down"),
    ],
)
def test_two_values_that_contradict_each_other_are_an_error(
    given: dict[str, Any], key: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(env=empty(tmp_path), arguments=given)
    assert caught.value.key == key
    wide = {"write_layer": "session", "recall_boundary": "session"}
    assert load_settings(env=empty(tmp_path), arguments=wide).write_layer == "session"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{", id="not-json"),
        pytest.param("[1]", id="a-list"),
        pytest.param('{"recallLimit": 1, "recall_limit": 1}', id="two-spellings"),
    ],
)
def test_a_settings_file_that_cannot_be_used_is_named(text: str, tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        load_settings(file=file, env=empty(tmp_path))
    assert caught.value.source == str(file)


def test_a_named_settings_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings(env={**empty(tmp_path), "WSMEM_CONFIG": str(tmp_path / "gone.json")})


def test_the_key_of_the_model_is_read_when_used_and_shown_nowhere(tmp_path: Path) -> None:
    env = {**empty(tmp_path), "WSMEM_API_KEY": "sk-abcdefghijklmnop", "WSMEM_MY_KEY": "sk-other"}
    named = load_settings(
        file=write(tmp_path / "s.json", {"model_api_key_env": "WSMEM_MY_KEY"}), env=env
    )
    assert named.api_key(env) == "sk-other"
    assert load_settings(env=dict(list(env.items())[:2])).api_key(env) == "sk-abcdefghijklmnop"
    assert named.api_key({}) is None
    assert "sk-" not in repr(named)


def test_a_key_given_as_the_name_of_its_variable_is_refused_without_repeating_it() -> None:
    with pytest.raises(SettingsError) as caught:
        Settings(memory_dir="/m", model_api_key_env="sk-aB3dE6gH9jK2mN5pQ8s")
    assert "aB3dE6" not in str(caught.value)


def test_settings_are_frozen_absolute_and_hashable() -> None:
    settings = Settings(memory_dir="/m")
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings.deadline_ms = 1  # type: ignore[misc]  # that is the point
    with pytest.raises(SettingsError, match="absolute"):
        Settings(memory_dir="relative")
    assert hash(settings) == hash(Settings(memory_dir="/m"))


def test_reading_settings_loads_nothing_heavy() -> None:
    script = (
        "import sys; from wsmem.settings import load_settings; load_settings(env={});"
        "print(*{'pydantic', 'tomllib', 'difflib', 'numpy'} & set(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""


def test_the_variable_of_the_harness_is_no_setting_and_no_error() -> None:
    assert load_settings(env={"WSMEM_DATASETS": "/srv/sets"}) == load_settings(env={})
