"""Every setting of wsmem in one frozen value, and the one function that merges its sources.

Weakest first: the defaults below, a settings file, the environment, arguments. A name nobody knows
or a value of the wrong kind is an error that says where it stands, never ignored. A name is written
`checkpoint_turns` in files and arguments, or `checkpointTurns` as in the public plugin's
configuration, and `WSMEM_CHECKPOINT_TURNS` in the environment.
"""

# ruff: noqa: PTH100, PTH111, PTH113, PTH117, PTH118, PTH120, PTH123
# Every recall reads its settings, and pathlib would be the dearest import of this module.
from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, get_args

from wsmem.errors import SettingsError
from wsmem.records import Layer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Language = Literal["zh", "en"]

ENV_PREFIX = "WSMEM_"
CONFIG_VARIABLE = "WSMEM_CONFIG"
"""Names the settings file; a file named here must exist."""

_NO_SETTINGS = frozenset({CONFIG_VARIABLE, "WSMEM_DATASETS"})
"""Variables with our prefix that other parts read: where settings are, and where datasets are."""

FILE_NAMES = ("settings.json", "settings.toml")
"""Looked for in the memory directory when no settings file is named."""

_ALIASES = {"summarizeModel": "model"}
"""Names of the public plugin's configuration that are not simply the same word in camelCase."""

_BREADTH: dict[str, int] = {"session": 0, "workspace": 1, "global": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How one wsmem behaves. Constructing it checks every value.

    Raises:
        SettingsError: a value is of the wrong kind, out of range, or contradicts another.
    """

    memory_dir: str
    """Root of the store, absolute."""

    checkpoint_turns: int = 10
    """User turns in the buffer that make a stage ready."""
    checkpoint_chars: int = 4_000
    """Characters (UTF-16 units) in the buffer that make a stage ready."""
    idle_checkpoint_ms: int = 300_000
    """Quiet time after which what is buffered is distilled."""
    checkpoint_max_chars: int = 40_000
    """Most characters one stage hands to the distiller; the rest waits for the next stage."""
    consolidate_every: int = 5
    """Commits after which summaries are rebuilt even when nothing seems to have changed."""
    retry_initial_ms: int = 1_000
    """Wait before a failed stage is tried again; doubles with every failure."""
    retry_max_ms: int = 30_000
    """Longest wait between two tries."""
    seen_window: int = 10_000
    """Message ids of a scope that are remembered, so that a replay is not distilled again."""

    candidate_limit: int = 20
    """Most existing entries shown to the distiller."""
    candidate_max_bytes: int = 12_000
    """Most UTF-8 bytes of existing entries shown to the distiller."""

    summary_max_bytes: int = 3_000
    """Most UTF-8 bytes of one `memory_summary.md`."""
    keep_summary_versions: int = 10
    """Earlier summaries kept in the history of a scope."""

    recall_limit: int = 8
    """Most entries of an answer, where the caller says nothing."""
    recall_max_bytes: int = 5_000
    """Most UTF-8 bytes of an answer with its frame, where the caller says nothing."""
    deadline_ms: int = 250
    """Time after which a recall answers with what it has."""
    surfaced_penalty: float = 8.0
    """Score an entry loses when it was shown in this session recently."""
    surfaced_window: int = 64
    """How many entries, the latest shown first, count as shown recently in a session."""
    query_log: Literal["off", "on"] = "off"
    """Whether queries are kept in the store, for a labelled set of one's own."""
    profile: str = "default"
    """Weight profile that ranks."""
    postings: Literal["off", "on"] = "on"
    """Whether the words of a large memory are kept in a file of their own, by which a process that
    answers one question finds them without reading the memory."""

    language: Language = "zh"
    """Language of headings, labels and the frame around injected memory."""
    write_layer: Layer = "workspace"
    """Layer of automatic writes that name none; not narrower than `recall_boundary`."""
    recall_boundary: Layer = "workspace"
    """Narrowest layer whose members must all find what was written automatically."""
    registry_sync_ms: int = 30_000
    """How often the registry is asked which workspaces still exist."""

    model: str | None = None
    """Model that distils; without one the built-in rules do."""
    model_base_url: str | None = None
    """Endpoint that speaks the OpenAI protocol; `None` is the client library's own."""
    model_api_key_env: str = "WSMEM_API_KEY"
    """Environment variable that holds the key of the model; the key itself is never a setting."""
    model_timeout_ms: int = 60_000
    """Time a model gets for one stage before the stage counts as failed."""

    def __post_init__(self) -> None:
        for item in fields(self):
            _check(item.name, getattr(self, item.name), "Settings")
        if not os.path.isabs(self.memory_dir):
            raise SettingsError("Settings", "memory_dir", "is not an absolute path")
        if self.retry_max_ms < self.retry_initial_ms:
            raise SettingsError(
                "Settings", "retry_max_ms", f"is below retry_initial_ms ({self.retry_initial_ms})"
            )
        if _BREADTH[self.write_layer] < _BREADTH[self.recall_boundary]:
            raise SettingsError(
                "Settings",
                "write_layer",
                f"{self.write_layer} is narrower than recall_boundary ({self.recall_boundary}): "
                "what is written automatically would not be found by all who share that layer",
            )

    def api_key(self, env: Mapping[str, str] | None = None) -> str | None:
        """The key of the model from the environment, read at the moment of use; never stored."""
        return (os.environ if env is None else env).get(self.model_api_key_env) or None


def load_settings(
    *,
    file: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    arguments: Mapping[str, Any] | None = None,
) -> Settings:
    """Merge defaults, settings file, environment and arguments; later ones win.

    The file is `file`, else the one `WSMEM_CONFIG` names, else `settings.json` or `settings.toml`
    in the memory directory, where one of them exists. Relative directories are taken from the
    settings file's own folder, else from the present directory; `~` is the user's home.

    Args:
        file: JSON or TOML, told apart by its ending.
        env: The environment; `None` is the process's own.
        arguments: Settings by name; a value of `None` counts as not given.

    Raises:
        SettingsError: an unknown name or a bad value, with its source and what is allowed; or the
            settings file cannot be read.
    """
    env = os.environ if env is None else env
    given = dict(_named("arguments", arguments or {}))
    given = {name: value for name, value in given.items() if value is not None}
    if isinstance(given.get("memory_dir"), os.PathLike):
        given["memory_dir"] = os.fspath(given["memory_dir"])
    for name, value in given.items():
        _check(name, value, "arguments")

    root = given.get("memory_dir") or env.get(environment_name("memory_dir"))
    named = os.fspath(file) if file is not None else env.get(CONFIG_VARIABLE) or None
    path = _absolute(named) if named else _file_in(_absolute(root or default_memory_dir(env)))
    from_file = _from_file(path) if path else {}
    if not named and "memory_dir" in from_file:
        problem = "cannot be set in a file that was found through the memory directory"
        raise SettingsError(str(path), "memory_dir", problem)

    from_env = _from_environment(env, {**from_file, **given})
    default = {"memory_dir": default_memory_dir(env)}
    merged: dict[str, Any] = {**default, **from_file, **from_env, **given}
    merged["memory_dir"] = _absolute(merged["memory_dir"])
    try:
        return Settings(**merged)
    except SettingsError as error:  # every value is fine by itself, so two of them disagree
        sources = {"arguments": given, "environment": from_env, str(path): from_file}
        where = next((s for s, values in sources.items() if error.key in values), error.source)
        raise SettingsError(where, error.key, error.problem) from None


def default_memory_dir(env: Mapping[str, str] | None = None) -> str:
    """Where the store is when nobody says: `$DSH_HOME/workspace-memory`, as the plugin does."""
    return f"{dsh_home(env)}/workspace-memory"


def dsh_home(env: Mapping[str, str] | None = None) -> str:
    """Home of the agent host: `$DSH_HOME`, else `~/.dsh`."""
    return (os.environ if env is None else env).get("DSH_HOME") or os.path.expanduser("~/.dsh")


def setting_names() -> tuple[str, ...]:
    """All settings by name, in the order of their declaration."""
    return tuple(_RULES)


def environment_name(name: str) -> str:
    """The environment variable of a setting."""
    return ENV_PREFIX + name.upper()


@dataclass(frozen=True, slots=True)
class _Rule:
    """What values a setting takes, and how an error says so."""

    kind: Literal["whole", "number", "choice", "text"]
    expected: str
    low: float = 0
    high: float = 0
    options: tuple[str, ...] = ()
    pattern: str = ""
    """What the whole text must match; any text but the empty one without it."""
    optional: bool = False


def _whole(low: int, high: int) -> _Rule:
    return _Rule("whole", f"a whole number from {low} to {high}", low=low, high=high)


def _choice(options: tuple[str, ...]) -> _Rule:
    return _Rule("choice", f"one of {', '.join(options)}", options=options)


_ONE_DAY_MS = 86_400_000
_TIMER_MS = 2_147_483_647  # the longest delay the public plugin's timers take
_RULES: dict[str, _Rule] = {
    "memory_dir": _Rule("text", "a directory"),
    "checkpoint_turns": _whole(1, 10_000),
    "checkpoint_chars": _whole(1, 10_000_000),
    "idle_checkpoint_ms": _whole(1, _TIMER_MS),
    "checkpoint_max_chars": _whole(1, 10_000_000),
    "consolidate_every": _whole(1, 1_000_000),
    "retry_initial_ms": _whole(1, _ONE_DAY_MS),
    "retry_max_ms": _whole(1, _ONE_DAY_MS),
    "seen_window": _whole(10_000, 10_000_000),
    "candidate_limit": _whole(0, 1_000),
    "candidate_max_bytes": _whole(0, 10_000_000),
    "summary_max_bytes": _whole(0, 10_000_000),
    "keep_summary_versions": _whole(0, 100_000),
    "recall_limit": _whole(1, 50),
    "recall_max_bytes": _whole(0, 1_000_000_000_000),
    "deadline_ms": _whole(1, 3_600_000),
    "surfaced_penalty": _Rule("number", "a number from 0 to 1000", low=0, high=1_000),
    "surfaced_window": _whole(0, 100_000),
    "query_log": _choice(("off", "on")),
    "profile": _Rule(
        "text",
        "the name of a weight profile, or the .json file of one",
        pattern=r"[A-Za-z0-9][\w.-]*|.*\.json",
    ),
    "postings": _choice(("off", "on")),
    "language": _choice(get_args(Language)),
    "write_layer": _choice(get_args(Layer)),
    "recall_boundary": _choice(get_args(Layer)),
    "registry_sync_ms": _whole(1, _ONE_DAY_MS),
    "model": _Rule("text", "the name of a model", optional=True),
    "model_base_url": _Rule(
        "text",
        "an http(s) address without user name and password",
        pattern=r"https?://[^\s/?#@]+(?:[/?#]\S*)?",
        optional=True,
    ),
    "model_api_key_env": _Rule(
        "text",
        "the name of an environment variable, not the key itself",
        # Names in one case only: a key pasted here by mistake mixes cases and digits.
        pattern=r"[A-Z_][A-Z0-9_]{0,99}|[a-z_][a-z_]{0,99}",
    ),
    "model_timeout_ms": _whole(1, 3_600_000),
}


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


_CAMEL = {_camel(name): name for name in _RULES} | _ALIASES


def _from_environment(env: Mapping[str, str], others: Mapping[str, Any]) -> dict[str, Any]:
    """Settings among the variables; an empty one counts as not given.

    The variable that holds the key of the model may carry our prefix without being a setting; it is
    named by any of the sources, `others` being the rest of them.
    """
    key_env = "model_api_key_env"
    keys = {_default(key_env), others.get(key_env), env.get(environment_name(key_env))}
    found: dict[str, Any] = {}
    for variable in sorted(env):
        if not variable.startswith(ENV_PREFIX) or variable in _NO_SETTINGS | keys:
            continue
        name = variable[len(ENV_PREFIX) :].lower()
        if name not in _RULES or variable != variable.upper():
            raise _unknown("environment", variable, [environment_name(n) for n in _RULES])
        if env[variable]:
            source = f"environment variable {variable}"
            found[name] = _check(name, _parsed(name, env[variable]), source)
    return found


def _from_file(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as handle:
            raw = handle.read().decode("utf-8-sig")
        if path.endswith(".toml"):
            import tomllib  # noqa: PLC0415  6 ms that only owners of a TOML file pay

            parsed: object = tomllib.loads(raw)
        else:
            parsed = json.loads(raw)
    except OSError as error:
        raise SettingsError(path, None, f"cannot be read ({error.strerror})") from None
    except ValueError as error:  # bad UTF-8, JSON and TOML alike
        raise SettingsError(path, None, f"is not valid: {error}") from None
    if not isinstance(parsed, dict):
        raise SettingsError(path, None, "holds no object of settings")
    found = {n: v for n, v in _named(path, parsed) if not (v is None and _RULES[n].optional)}
    for name, value in list(found.items()):
        if name == "memory_dir" and value == "":
            del found[name]  # the plugin's way of saying "the default"
        else:
            _check(name, value, path)
    if "memory_dir" in found:
        found["memory_dir"] = _absolute(found["memory_dir"], os.path.dirname(path))
    return found


def _named(source: str, given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Pairs of setting and value; either spelling of a name, but not both at once."""
    seen: dict[str, str] = {}
    for key, value in given.items():
        name = key if key in _RULES else _CAMEL.get(key)
        if name is None:
            raise _unknown(source, str(key), list(_RULES))
        if name in seen:
            raise SettingsError(source, key, f"is the same setting as {seen[name]}; keep one")
        seen[name] = key
        yield name, value


def _parsed(name: str, text: str) -> Any:
    """A value out of the environment, where everything is text; unreadable numbers stay text."""
    kind = _RULES[name].kind
    try:
        return int(text) if kind == "whole" else float(text) if kind == "number" else text
    except ValueError:
        return text


def _check(name: str, value: Any, source: str) -> Any:
    """`value` if the setting takes it; the error shows it only where it cannot be a secret."""
    rule = _RULES[name]
    if value is None and rule.optional:
        return value
    if rule.kind in ("whole", "number"):
        kinds = int if rule.kind == "whole" else (int, float)
        fits = isinstance(value, kinds) and not isinstance(value, bool)
        if fits and rule.low <= value <= rule.high:
            return value
    elif rule.kind == "choice":
        if value in rule.options:
            return value
    elif isinstance(value, str) and (re.fullmatch(rule.pattern, value) if rule.pattern else value):
        return value
    shown = f"cannot be {value!r}" if rule.kind != "text" else "has a value that cannot be used"
    raise SettingsError(source, name, f"{shown}: expected {rule.expected}")


def _unknown(source: str, key: str, known: list[str]) -> SettingsError:
    import difflib  # noqa: PLC0415  only an error needs it

    near = difflib.get_close_matches(key, known, n=1, cutoff=0.6)
    meant = f"did you mean {near[0]}? " if near else ""
    return SettingsError(source, key, f"is no setting; {meant}there are: {', '.join(known)}")


def _default(name: str) -> Any:
    return next(item.default for item in fields(Settings) if item.name == name)


def _file_in(directory: str) -> str | None:
    """The settings file of a memory directory; `None` without one."""
    found = [path for path in (f"{directory}/{n}" for n in FILE_NAMES) if os.path.isfile(path)]
    if len(found) > 1:
        raise SettingsError(directory, None, f"holds {' and '.join(FILE_NAMES)}; keep one")
    return found[0] if found else None


def _absolute(path: str, base: str = "") -> str:
    return os.path.abspath(os.path.join(base, os.path.expanduser(path)))
