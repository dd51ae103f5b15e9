from __future__ import annotations

import subprocess
import sys
import warnings
from xml.etree import ElementTree as ET

import matplotlib as mpl
import pytest
from matplotlib.font_manager import fontManager

from wsmem.evals import plots
from wsmem.evals.plots import MARKERS, PALETTE, Chart, drawable
from wsmem.evals.tables import Cell, Line

PNG = b"\x89PNG\r\n\x1a\n"


def cell(value: float | None, low: float | None = None, high: float | None = None) -> Cell:
    return Cell(value=value, low=low, high=high, n=5, bounded=True)


def chart(*names: str, systems: tuple[str, ...] = ("wsmem:default", "bm25")) -> Chart:
    lines = tuple(
        Line(
            name=name,
            queries=5,
            sets=1,
            cells={system: cell(0.5, 0.4, 0.6) for system in systems},
        )
        for name in names
    )
    return Chart(measure="nDCG@10", by="kind", lines=lines, systems=systems)


def texts(svg: str) -> list[str]:
    return ["".join(node.itertext()) for node in ET.fromstring(svg).iter() if node.tag == "text"]


def test_a_chart_names_its_axes_counts_and_systems() -> None:
    shown = texts(chart("question", "command").svg())
    assert "nDCG@10, mean and 95 % interval" in shown
    assert "kind" in shown
    assert "wsmem:default" in shown
    assert any("question" in text for text in shown)
    assert any("n = 5" in text for text in shown)


def test_intervals_are_drawn_as_bars_to_scale() -> None:
    svg = chart("question", systems=("bm25",)).svg()
    bars = [
        node.get("d", "").split()
        for node in ET.fromstring(svg).iter("path")
        if PALETTE[0] in node.get("style", "") and node.get("d", "").count("L") == 1
    ]
    # From "M x y L x y": the one long bar runs level, and its ends lie on either side.
    levels = [bar for bar in bars if bar[2] == bar[5] and float(bar[4]) - float(bar[1]) > 50]
    assert len(levels) >= 1


def test_chinese_stays_text_without_a_warning_whatever_fonts_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(plots, "_CHINESE", ())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert any("偏好设置" in text for text in texts(chart("偏好设置", "𠮷🙂").svg()))


def test_a_picture_writes_escapes_for_what_no_font_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots, "_CHINESE", ())
    assert drawable("a 偏 b") == r"a \u504f b"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert chart("偏好设置", "🙂").png().startswith(PNG)


@pytest.mark.skipif(
    not set(plots._CHINESE) & set(fontManager.get_font_names()),
    reason="no font with Chinese is installed, or it was installed after Matplotlib listed fonts",
)
def test_a_picture_draws_chinese_where_a_font_has_it() -> None:
    assert drawable("偏好设置") == "偏好设置"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert chart("偏好设置").png().startswith(PNG)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param('"><img src=x onerror=alert(1)>', id="markup"),
        pytest.param("]]></svg><script>alert(1)</script>", id="closing-the-svg"),
        pytest.param("$\\frac{1}{2$ 100 $", id="formula"),
        pytest.param("a\nb\u2028c\x00d", id="control-characters"),
        pytest.param("_hidden", id="leading-underscore"),
        pytest.param("x" * 300, id="long"),
        pytest.param("", id="empty"),
    ],
)
def test_any_name_can_be_drawn(name: str) -> None:
    svg = chart(name, systems=("wsmem:default", name or "other")).svg()
    assert "<img" not in svg
    assert "<script" not in svg
    ET.fromstring(svg)
    assert chart(name, systems=("wsmem:default", name or "other")).png().startswith(PNG)


def test_a_system_whose_name_starts_with_an_underscore_is_in_the_legend() -> None:
    assert "_mine" in texts(chart("question", systems=("_mine",)).svg())


def test_missing_figures_and_intervals_leave_gaps() -> None:
    line = Line(
        name="odd", queries=1, sets=1, cells={"a": cell(None), "b": cell(0.5), "c": cell(1, 0.9, 1)}
    )
    drawn = Chart(measure="RR@10", by="slice", lines=(line,), systems=("a", "b", "c", "absent"))
    assert drawn.png().startswith(PNG)
    nothing = Chart(measure="RR@10", by="slice", lines=(), systems=())
    ET.fromstring(nothing.svg())


def test_an_svg_asks_for_nothing_and_takes_its_colours_from_the_page() -> None:
    svg = chart("question").svg()
    assert "http" not in svg
    assert "currentColor" in svg
    assert f"var(--series-0, {PALETTE[0]})" in svg
    assert plots._PAGE_INK not in svg
    assert "<style" not in svg
    assert not [text for text in svg.split('"') if text.startswith("#") and len(text) < 2]


def test_equal_charts_are_equal_bytes_and_others_share_no_names() -> None:
    one, other = chart("question"), chart("question", "command")
    assert one.svg() == chart("question").svg()
    ids = [
        {node.get("id") for node in ET.fromstring(c.svg()).iter()} - {None} for c in (one, other)
    ]
    assert ids[0]
    assert not ids[0] & ids[1]


def test_drawing_changes_nothing_global() -> None:
    before = dict(mpl.rcParams)
    chart("question").svg()
    chart("question").png()
    assert dict(mpl.rcParams) == before


def test_pyplot_and_its_state_are_never_loaded() -> None:
    code = (
        "import sys\n"
        "from wsmem.evals import plots, tables\n"
        "assert 'matplotlib' not in sys.modules, 'loaded by an import'\n"
        "chart = plots.Chart(measure='R@5', by='kind', lines=(), systems=('a',))\n"
        "chart.svg(), chart.png()\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_no_two_systems_look_alike() -> None:
    count = len(PALETTE) * len(MARKERS)
    looks = {(PALETTE[n % len(PALETTE)], MARKERS[n % len(MARKERS)]) for n in range(count)}
    assert len(looks) == count


def test_a_chart_says_in_words_what_it_shows() -> None:
    assert repr(chart("a", "b")) == "<Chart of nDCG@10 by kind: 2 lines, 2 systems>"
    assert repr(chart("a", systems=("x",))) == "<Chart of nDCG@10 by kind: 1 line, 1 system>"
