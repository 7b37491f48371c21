"""Small pure functions from which the report's pictures are made.

A picture is as wide as its place: what has a width in time is drawn in a stretched layer whose unit is
time, and text and marks stand over it at percentages, so that letters are never stretched.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

from nightshift.rehearsal.report.words import clean
from nightshift.rehearsal.story import Span

Drawn = Markup | str


def element(name: str, *children: Drawn, **attributes: float | str | None) -> Markup:
    """`<name ...>children</name>`, everything escaped; `class_` and `text_anchor` lose their underscores."""
    pairs = [
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None
    ]
    inner = "".join(child if isinstance(child, Markup) else escape(clean(child)) for child in children)
    opening = f"<{name}{''.join(pairs)}"
    return Markup(f"{opening}>{inner}</{name}>" if inner else f"{opening}/>")


def _value(value: float | str) -> str:
    return str(escape(clean(value))) if isinstance(value, str) else f"{value:g}"


def percent(part: float, whole: float) -> str:
    """`12.35%`."""
    return f"{100 * part / whole:.2f}".rstrip("0").rstrip(".") + "%"


def picture(height: float, says: str, *children: Drawn, class_: str = "") -> Markup:
    """A picture as wide as its place; `says` is what it shows, for those who don't see it."""
    named = f"chart {class_}".strip()
    return element("svg", *children, class_=named, width="100%", height=height, role="img", aria_label=says)


def layer(units: float, height: float, *children: Drawn, y: float = 0) -> Markup:
    """A part of a picture whose whole width is `units` of time, and whose height is in pixels."""
    return element(
        "svg",
        *children,
        x="0",
        y=y,
        width="100%",
        height=height,
        viewBox=f"0 0 {units:g} {height:g}",
        preserveAspectRatio="none",
    )


def blocks(spans: Iterable[Span], y: float, height: float) -> str:
    """A path of boxes, one per span."""
    return "".join(f"M{start} {y:g}H{end}v{height:g}H{start}z" for start, end in spans)


def line(points: Sequence[tuple[float, float]]) -> str:
    """A path along points, to a tenth."""
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) if points else ""


def titled(says: str, *children: Drawn, **attributes: float | str | None) -> Markup:
    """A part of a picture that says something when it's pointed at."""
    return element("g", element("title", says), *children, **attributes)


def label(text: str, x: str, y: float, class_: str = "", anchor: str = "start", dx: float = 0) -> Markup:
    """Text at a percentage."""
    return element(
        "text",
        text,
        x=x,
        y=y,
        dx=dx or None,
        class_=class_ or None,
        text_anchor=anchor if anchor != "start" else None,
    )


def upright(x: str, top: float, bottom: float, class_: str) -> Markup:
    """A line from top to bottom at a percentage."""
    return element("line", x1=x, x2=x, y1=top, y2=bottom, class_=class_)


def least(x: str, top: float, bottom: float, class_: str) -> Markup:
    """What is too short to be seen as a box: a stroke some pixels wide, with a rim on both sides."""
    return element("g", upright(x, top, bottom, "rim"), upright(x, top, bottom, f"least {class_}"))


def level(y: float, class_: str) -> Markup:
    """A line across the whole picture."""
    return element("line", x1="0", x2="100%", y1=y, y2=y, class_=class_)
