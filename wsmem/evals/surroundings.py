"""What two processes must have in common for the same unit of work to give the same figures."""

from __future__ import annotations

import hashlib
import platform
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wsmem.evals.manifest import package_versions, version

if TYPE_CHECKING:
    from collections.abc import Mapping

PACKAGE = Path(__file__).resolve().parents[1]
_SHIPPED = frozenset({".py", ".json", ".html", ".txt", ".mjs"})
"""What an installation has; in a checkout other files lie about, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The versions that figures may depend on."""

    wsmem: str
    code: str
    """`code_fingerprint` of the installed wsmem: a checkout keeps its version while it changes."""
    python: str
    """Major and minor; a patch release changes no figure."""
    packages: Mapping[str, str]
    """Of the packages that are installed, among those that can change a figure."""

    @classmethod
    def here(cls) -> Surroundings:
        """Those of this process."""
        return cls(
            wsmem=version(),
            code=code_fingerprint(),
            python=".".join(platform.python_version_tuple()[:2]),
            packages=package_versions(),
        )

    def to_json(self) -> dict[str, Any]:
        """As stored and hashed."""
        return asdict(self)

    def problem(self, other: Surroundings) -> tuple[str, str] | None:
        """What is wrong with another process, and what to install there; `None` if it will do.

        Every package that is here must be there: a system that fails for the lack of one would be
        missing from those sets only that happened to be worked on there.
        """
        if self.wsmem != other.wsmem:
            return f"has wsmem {other.wsmem}, not {self.wsmem}", f"install wsmem {self.wsmem} there"
        if self.code != other.code:
            problem = f"has other code of wsmem {self.wsmem} ({other.code[:12]})"
            return problem, f"install there the code that is here ({self.code[:12]})"
        if self.python != other.python:
            remedy = f"start it with Python {self.python}"
            return f"runs Python {other.python}, not {self.python}", remedy
        for name, wanted in self.packages.items():
            found = other.packages.get(name)
            if found != wanted:
                problem = f"has no {name}" if found is None else f"has {name} {found}, not {wanted}"
                return problem, f"pip install '{name}=={wanted}' there"
        return None


@cache
def code_fingerprint(folder: Path = PACKAGE) -> str:
    """SHA-256 of a package's sources and data files, as they lay there at the first call.

    Names and bytes count, places do not: a checkout and an installation of the same code have
    equal fingerprints.
    """
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.suffix in _SHIPPED):
        digest.update(f"{path.relative_to(folder).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
