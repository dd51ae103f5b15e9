"""The public plugin as a process of its own: installed into a folder, driven through a pipe."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from types import TracebackType

    from benchmarks.interop.stores import Ticks

PACKAGE = "@flowingspring/dsh-workspace-memory"
VERSION = "0.2.15"
SCRIPT = Path(__file__).with_name("plugin.mjs")
_INSTALL = ("install", "--no-audit", "--no-fund", "--ignore-scripts", "--legacy-peer-deps")


class InteropError(Exception):
    """The comparison could not be carried out."""


def install(folder: Path) -> Path:
    """Install the plugin with npm, without its peers and scripts; the path of its engine."""
    npm = shutil.which("npm")
    if npm is None:
        raise InteropError("npm is not on PATH; install Node, or name an installed plugin")
    (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    done = subprocess.run(
        [npm, *_INSTALL, f"{PACKAGE}@{VERSION}"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise InteropError(f"npm could not install {PACKAGE}@{VERSION}:\n{done.stderr.strip()}")
    return core_of(folder)


def core_of(folder: Path) -> Path:
    """The plugin's engine in a folder it was installed into."""
    package = folder / "node_modules" / PACKAGE
    core = package / "lib" / "core.js"
    if not core.is_file():
        raise InteropError(f"{folder} holds no {PACKAGE}")
    found = json.loads((package / "package.json").read_text(encoding="utf-8"))["version"]
    if found != VERSION:
        raise InteropError(f"{folder} holds {PACKAGE} {found}, compared is {VERSION}")
    return core


def node_version() -> str:
    """The version of the Node that runs the plugin."""
    if shutil.which("node") is None:
        raise InteropError("node is not on PATH")
    done = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


class Plugin:
    """The plugin over one store, alive until the block ends."""

    def __init__(self, core: Path, root: Path, ticks: Ticks) -> None:
        self._ticks = ticks
        process = subprocess.Popen(
            ["node", str(SCRIPT), str(core), str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        if process.stdin is None or process.stdout is None:
            raise InteropError("there is no pipe to the plugin")
        self._process, self._requests, self._answers = process, process.stdin, process.stdout

    def __call__(self, call: str, **arguments: Any) -> Any:
        """Make one call, at the common time."""
        request = {"call": call, "at": self._ticks(), "input": arguments}
        self._requests.write(json.dumps(request) + "\n")
        self._requests.flush()
        line = self._answers.readline()
        if not line:
            raise InteropError(f"the plugin ended during {call!r}")
        answer = json.loads(line)
        if "error" in answer:
            raise InteropError(f"the plugin failed at {call!r}: {answer['error']}")
        return answer["value"]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._requests.close()
        self._answers.close()
        self._process.wait(timeout=30)
