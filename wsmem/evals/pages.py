"""How a report becomes one file: every text escaped, nothing fetched, errors in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wsmem.errors import RunFolderError
from wsmem.evals.extras import optional

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

FILE = "report.html"
"""The name a report has in the folder of its run."""


def render_page(
    template: str,
    view: Callable[[], object],
    *,
    run: Path,
    filters: Mapping[str, Callable[..., object]] | None = None,
) -> str:
    """A template of this package filled with what `view` gives, as HTML.

    Args:
        template: Its file name.
        view: Makes the template's `page` from a run.
        run: The run's folder, for errors.
        filters: Further filters of the template.

    Raises:
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
    environment.filters.update(filters or {})
    try:
        page: str = environment.get_template(template).render(page=view())
    except (KeyError, IndexError, jinja2.UndefinedError) as error:
        problem = f"does not hold what a run holds ({error})"
        raise RunFolderError(str(run), problem, "evaluate again into this folder") from error
    return page


def write_page(page: str, path: Path) -> Path:
    """Write a page, its folder made where it is missing; say where.

    Raises:
        RunFolderError: the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        problem = f"cannot be written ({error.strerror})"
        raise RunFolderError(str(path), problem, "name another file by --out") from error
    return path
