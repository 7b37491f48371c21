"""Colours can be told from what is behind them, in the light and in the dark (WCAG 2.2, 1.4.3 and 1.4.11)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CSS = (
    Path(__file__).parents[3] / "nightshift" / "rehearsal" / "report" / "templates" / "page.css"
).read_text(encoding="utf-8")
LIGHT, DARK = (dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{3,6})\b", part)) for part in CSS.split("@media")[:2])
TEXT = [
    ("ink", "card"),
    ("ink", "page"),
    ("ink", "window"),
    ("ink", "bad-back"),
    ("ink", "warn-back"),
    ("soft", "card"),
    ("soft", "page"),
    ("soft", "beyond"),
    ("link", "card"),
    ("link", "warn-back"),
    ("good", "card"),
    ("good", "good-back"),
    ("bad", "page"),
    ("bad", "bad-back"),
    ("word", "warn-back"),
    ("word", "card"),
    ("card", "word"),
    ("card", "bad"),
    ("card", "soft"),
]
LINES = [("grid", "card"), ("grid", "window"), ("grid", "lost")]
SHAPES = [
    ("train", "card"),
    ("train", "window"),
    ("save", "train"),
    ("failed", "window"),
    ("drain", "window"),
    ("word", "window"),
]


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    shares = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("front", "behind"), TEXT)
def test_text_is_readable(theme: dict[str, str], front: str, behind: str) -> None:
    assert contrast(theme[front], theme[behind]) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("front", "behind"), SHAPES)
def test_shapes_stand_out(theme: dict[str, str], front: str, behind: str) -> None:
    assert contrast(theme[front], theme[behind]) >= 3


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("front", "behind"), LINES)
def test_lines_of_a_scale_can_be_seen(theme: dict[str, str], front: str, behind: str) -> None:
    assert contrast(theme[front], theme[behind]) >= 1.35
