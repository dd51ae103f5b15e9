"""How a report becomes one file: every text escaped, nothing fetched, errors in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from wsmem.errors import RunFolderError
from wsmem.evals.extras import optional

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

FILE = "report.html"
"""The name a report has in the folder of its run."""


class SavedRun(Protocol):
    """A run that was read from its folder."""

    @property
    def path(self) -> Path:
        """The folder."""


R = TypeVar("R", bound=SavedRun)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Generic[R]):
    """The page about one kind of run. Every text from a run is escaped, charts are drawn into it.

    Every template extends `base.html`, and is given one variable, `page`.
    """

    template: str
    """The name of its file in this package."""
    view: Callable[[R], object]
    """Gathers from a run what the template shows: its manifest, its command, and more."""
    filters: Mapping[str, Callable[..., object]] = field(default_factory=dict)
    """Further filters of the template."""

    def render(self, run: R) -> str:
        """The page as HTML.

        Raises:
            MissingExtraError: jinja2 is not installed.
            RunFolderError: the run lacks something that a run has.
        """
        jinja2 = optional("jinja2")
        environment = jinja2.Environment(
            loader=jinja2.PackageLoader("wsmem.evals"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.filters.update(self.filters)
        try:
            page: str = environment.get_template(self.template).render(page=self.view(run))
        except (KeyError, IndexError, jinja2.UndefinedError) as error:
            problem = f"does not hold what a run holds ({error})"
            remedy = "evaluate again into this folder"
            raise RunFolderError(str(run.path), problem, remedy) from error
        return page

    def write(self, run: R, out: Path | None = None) -> Path:
        """Write the page, into the run's folder unless told otherwise; say where.

        Raises:
            MissingExtraError: jinja2 is not installed.
            RunFolderError: the run lacks something, or the file cannot be written.
        """
        page, path = self.render(run), out or run.path / FILE
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(page, encoding="utf-8")
        except OSError as error:
            problem = f"cannot be written ({error.strerror})"
            raise RunFolderError(str(path), problem, "name another file by --out") from error
        return path
