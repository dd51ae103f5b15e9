"""Charts of a run: figures with their intervals, drawn by Matplotlib without touching its state.

A chart is drawn twice: as SVG for a page, with text left as text, so that the reader's own fonts
show Chinese and the page's colours apply in light and in dark; and as PNG for notebooks, where a
label that no installed font can draw is written as escapes instead of boxes.
"""

from __future__ import annotations

import io
import logging
import unicodedata
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from wsmem.errors import MissingExtraError
from wsmem.evals.tables import board_lines, slice_lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from wsmem.evals.run import Run
    from wsmem.evals.tables import Line

PALETTE = ("#E69F00", "#0072B2", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#7F7F7F")
"""Colours of Okabe and Ito, which people with any colour vision tell apart; then a grey."""
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")
"""So that systems differ in print, too; with the colours, 56 systems look different."""

MOST_GROUPS = 30
"""Groups of one chart; where there are more, those with most queries are drawn."""

_INK, _PAGE_INK = "#222222", "#010203"
"""Of text and axes: in pictures, and as a stand-in that becomes the page's own colour."""
_WIDTH, _SIZE = 7.4, 9.0
"""Inches, points."""
_CHARACTER = 0.078
"""Inches that one narrow character takes."""
_LONGEST_LABEL = 34
_CHINESE = ("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Source Han Sans SC",
            "WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "PingFang SC", "Hiragino Sans GB",
            "Microsoft YaHei", "SimHei", "Arial Unicode MS")  # fmt: skip
"""Fonts with Chinese, by the names under which systems install them."""


class Drawing:
    """Something that draws itself: as a picture in a notebook, as an element of a page.

    Its text is its title there. A kind of drawing has only to lay out its figure.
    """

    __slots__ = ()

    def _repr_png_(self) -> bytes:
        return self.png()

    def png(self, *, dpi: int = 110) -> bytes:
        """The drawing on white, for places that cannot style it."""
        library = _matplotlib()
        families = _families()
        picture = io.BytesIO()
        with library.rc_context(_settings(families, _INK)):
            figure = self._figure(_INK, escape=True)
            figure.savefig(picture, format="png", dpi=dpi, facecolor="white")
        return picture.getvalue()

    def svg(self) -> str:
        """The drawing as an element to put into a page; it takes the text colour from there."""
        library = _matplotlib()
        picture = io.BytesIO()
        with (
            library.rc_context(_settings(_families(), _PAGE_INK, salt=str(self))),
            warnings.catch_warnings(),
        ):
            # Text stays text, so a font without a glyph here only costs precision of the layout.
            warnings.filterwarnings("ignore", message=r"Glyph \d+ .*missing from")
            figure = self._figure(_PAGE_INK, escape=False)
            # No date and no addresses: equal runs give equal bytes, and pages that fetch nothing.
            nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
            figure.savefig(picture, format="svg", transparent=True, metadata=nothing)
        return _embeddable(picture.getvalue(), title=str(self))

    def _figure(self, ink: str, *, escape: bool) -> Figure:
        """Lay out the figure.

        Args:
            ink: Of text and axes.
            escape: Whether text that no font here can draw is to be written as escapes.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart(Drawing):
    """One measure of all systems, by set or by group; draws itself in a notebook."""

    measure: str
    by: str
    """What a line of the chart is: dataset, or a dimension of the slices."""
    lines: tuple[Line, ...]
    """From top to bottom."""
    systems: tuple[str, ...]
    left_out: int = 0
    """Groups with fewer queries, for which there was no room."""

    def __str__(self) -> str:
        rest = f", {self.left_out} smaller ones left out" if self.left_out else ""
        counts = f"{_count(len(self.lines), 'line')}, {_count(len(self.systems), 'system')}"
        return f"{self.measure} by {self.by}: {counts}{rest}"

    def __repr__(self) -> str:
        return f"<Chart of {self}>"

    def _figure(self, ink: str, *, escape: bool) -> Figure:
        from matplotlib.figure import Figure  # noqa: PLC0415  heavy, and an extra

        labels = [_label(line, escape=escape) for line in self.lines]
        left = max(1.1, _CHARACTER * max(map(_columns, labels), default=0) + 0.4)
        rows = -(-len(self.systems) // 3)
        long = len(self.lines) > 8
        top, bottom = (0.4 if long else 0.16) + 0.2 * rows, 0.46
        step = max(0.34, 0.12 + 0.095 * len(self.systems))
        height = top + bottom + step * max(1, len(self.lines))
        figure = Figure(figsize=(_WIDTH, height))
        axes = figure.add_axes(
            (
                left / _WIDTH,
                bottom / height,
                (_WIDTH - left - 0.15) / _WIDTH,
                (height - top - bottom) / height,
            )
        )
        bars = self._draw(axes, ink)
        axes.set_yticks(range(len(labels)), labels)
        axes.set_ylim(max(1, len(labels)) - 0.5, -0.5)
        axes.set_xlabel(f"{self.measure}, mean and 95 % interval")
        axes.set_ylabel(self.by)
        axes.yaxis.set_label_coords(-(left - 0.2) / (_WIDTH - left - 0.15), 0.5)
        # Far from the axis, its numbers stand above the chart as well.
        axes.tick_params(axis="x", top=long, labeltop=long)
        legend = figure.legend(
            bars,
            [str(number) for number in range(len(bars))],
            loc="upper left",
            bbox_to_anchor=(left / _WIDTH - 0.01, 1.0),
            ncols=3,
            frameon=False,
            borderaxespad=0.1,
            labelspacing=0.3,
            handletextpad=0.3,
            columnspacing=1.4,
        )
        # Given as labels, names that start with an underscore would be left out.
        for text, system in zip(legend.get_texts(), self.systems, strict=True):
            text.set_text(drawable(system) if escape else _visible(system))
        return figure

    def _draw(self, axes: Axes, ink: str) -> list[Any]:
        """Draw the figures; the bars of each system, for the legend, whose types lack them."""
        bars: list[Any] = []
        for number, system in enumerate(self.systems):
            offset = 0.72 * ((number + 0.5) / len(self.systems) - 0.5)
            found = [
                (at + offset, cell.value, cell.low, cell.high)
                for at, line in enumerate(self.lines)
                if (cell := line.cells.get(system)) is not None and cell.value is not None
            ]
            values = [value for _, value, _, _ in found]
            # Where there is no interval, the bar has no length.
            below = [value - (value if low is None else low) for _, value, low, _ in found]
            above = [(value if high is None else high) - value for _, value, _, high in found]
            bar = axes.errorbar(
                values,
                [place for place, *_ in found],
                # A value that was rounded may lie a hair outside its own interval.
                xerr=[[max(0.0, part) for part in below], [max(0.0, part) for part in above]],
                fmt=MARKERS[number % len(MARKERS)],
                color=PALETTE[number % len(PALETTE)],
                markersize=4.2,
                elinewidth=1.3,
            )
            bars.append(bar)
        axes.grid(axis="x", color=ink, alpha=0.15, linewidth=0.6)
        for edge in range(1, len(self.lines)):
            axes.axhline(edge - 0.5, color=ink, alpha=0.12, linewidth=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
        return bars


def dataset_chart(run: Run, measure: str) -> Chart:
    """All systems on every dataset and in the mean."""
    return Chart(
        measure=measure, by="dataset", lines=tuple(board_lines(run, measure)), systems=run.systems
    )


def slice_chart(run: Run, dimension: str, measure: str, *, most: int = MOST_GROUPS) -> Chart:
    """All systems on the groups of a dimension that hold most queries, in their natural order."""
    lines = slice_lines(run, dimension, measure)
    largest = sorted(lines, key=lambda line: -line.queries)[:most]
    kept = tuple(line for line in lines if any(line is other for other in largest))
    return Chart(
        measure=measure,
        by=dimension,
        lines=kept,
        systems=run.systems,
        left_out=len(lines) - len(kept),
    )


def _label(line: Line, *, escape: bool) -> str:
    name = drawable(line.name) if escape else _visible(line.name)
    sets = f", {line.sets} sets" if line.sets > 1 else ""
    return f"{_shortened(name)}\nn = {line.queries}{sets}"


def _shortened(text: str) -> str:
    """A text that is narrow enough to stand beside a chart."""
    if _columns(text) <= _LONGEST_LABEL:
        return text
    kept = ""
    for character in text:
        if _columns(kept + character) >= _LONGEST_LABEL:
            break
        kept += character
    return kept + "…"


def _visible(text: str) -> str:
    """A text with blanks for line ends and for characters that no XML may hold."""
    unfit = ("Cc", "Cs", "Cn", "Zl", "Zp")
    return "".join(" " if unicodedata.category(c) in unfit else c for c in text)


def _columns(text: str) -> int:
    """Widest line in narrow characters; a Chinese one counts as two."""
    wide = ("W", "F")
    return max(
        sum(2 if unicodedata.east_asian_width(c) in wide else 1 for c in part)
        for part in text.split("\n")
    )


def drawable(text: str) -> str:
    r"""The text with characters that no chosen font can draw written as `\uXXXX`."""
    from matplotlib.font_manager import FontProperties, findfont, get_font  # noqa: PLC0415

    fonts = [get_font(findfont(FontProperties(family=name))) for name in _families()]
    return "".join(
        character
        if any(font.get_char_index(ord(character)) for font in fonts)
        else character.encode("unicode_escape").decode()
        for character in _visible(text)
    )


def _families() -> list[str]:
    """The font that comes with Matplotlib, then the first one here that has Chinese."""
    from matplotlib import font_manager  # noqa: PLC0415  heavy, and an extra

    known = set(font_manager.fontManager.get_font_names())
    return ["DejaVu Sans", *[name for name in _CHINESE if name in known][:1]]


def _settings(families: Sequence[str], ink: str, *, salt: str = "") -> dict[str, Any]:
    """Of one drawing; names from datasets are no formulas, whatever signs they hold."""
    return {
        "font.family": list(families),
        "font.size": _SIZE,
        "text.parse_math": False,
        "text.color": ink,
        "axes.labelcolor": ink,
        "axes.edgecolor": ink,
        "xtick.color": ink,
        "ytick.color": ink,
        "svg.fonttype": "none",
        "svg.hashsalt": f"wsmem {salt}",  # names inside the SVG: the same each time, unlike others'
    }


def _embeddable(document: bytes, *, title: str) -> str:
    """An SVG file as an element of a page: without prologue, addresses and unused names."""
    root = ET.fromstring(document)  # noqa: S314  Matplotlib has just written it
    for parent in list(root.iter()):
        # A style would hold for the whole page, which has the one rule in it for all charts.
        for child in [part for part in parent if part.tag.endswith(("}metadata", "}style"))]:
            parent.remove(child)
    text = "".join(value for node in root.iter() for value in node.attrib.values())
    for node in root.iter():
        node.tag = node.tag.rpartition("}")[2]
        attributes = {name.rpartition("}")[2]: value for name, value in node.attrib.items()}
        identifier = attributes.get("id", "")
        if f"#{identifier}" not in text:
            attributes.pop("id", None)
        if node.tag == "text" and "style" in attributes:
            attributes["style"] = _without_family(attributes["style"])
        node.attrib.clear()
        node.attrib.update({name: _restyled(value) for name, value in attributes.items()})
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.set("role", "img")
    root.set("aria-label", title)
    return ET.tostring(root, encoding="unicode")


def _restyled(value: str) -> str:
    """An attribute with colours that a page can set: its own, and one a series."""
    value = value.replace(_PAGE_INK, "currentColor")
    for number, colour in enumerate(PALETTE):
        value = value.replace(colour.lower(), f"var(--series-{number}, {colour})")
    return value


def _without_family(style: str) -> str:
    """The style of a text with its size alone: the page has fonts that suit it."""
    parts = [part.strip() for part in style.split(";") if part.strip()]
    kept = [part for part in parts if not part.startswith(("font:", "font-family:"))]
    size = next((part for part in parts if part.startswith("font-size:")), None)
    if size is None:
        kept.append(f"font-size: {_SIZE:g}px")
    return "; ".join(kept)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _matplotlib() -> ModuleType:
    """The library, without its remark that looking for fonts takes a while the first time."""
    logger = logging.getLogger("matplotlib.font_manager")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        import matplotlib as mpl  # noqa: PLC0415  heavy, and an extra
        import matplotlib.font_manager  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("matplotlib", "eval") from error
    finally:
        logger.setLevel(level)
    return mpl
