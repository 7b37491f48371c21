"""Plain text at 80 columns: tables, wrapped sentences, and colour for a terminal only."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import TextIO

WIDTH = 80
_VERDICT = re.compile(r"^(\s*)(ok|warn|fail|problem|warning|error)\b")
_HEADING = re.compile(r"^[A-Z][A-Z -]+$|^[A-Z]{2,}(?: {2,}[A-Z-]+)+$")
_UNSAFE = "[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
"""All but the tab. Compiled when it is needed: it takes longer than all the others."""
_COLOURS = {"ok": 32, "warn": 33, "warning": 33, "fail": 31, "problem": 31, "error": 31}


def wrap(sentence: str, indent: int = 0, first: str = "") -> list[str]:
    """`sentence` on as many lines as it needs; `first` opens the first one, `indent` the others.

    An address or a path stays whole, however long: it's there to be copied.
    """
    return textwrap.wrap(
        sentence,
        WIDTH,
        initial_indent=first,
        subsequent_indent=" " * indent,
        break_long_words="/" not in sentence,
        break_on_hyphens=False,
    ) or [first.rstrip()]


def table(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    """Columns two spaces apart; the last one wraps at the page's edge; rows too wide for columns wrap whole.

    `right` names numeric columns.
    """
    cells = [list(head), *[list(row) for row in rows]]
    widths = [max(len(row[at]) for row in cells) for at in range(len(head))]
    start = sum(widths[:-1]) + 2 * (len(widths) - 1)
    lines: list[str] = []
    if start > WIDTH:
        return [line for row in cells for line in wrap("  ".join(filter(None, row)), 4)]
    for row in cells:
        fixed = [_pad(text, widths[at], at in right) for at, text in enumerate(row[:-1])]
        opening = "  ".join([*fixed, ""])
        last = _pad(row[-1], widths[-1], True) if len(row) - 1 in right else row[-1]
        lines += _tail(opening, last, start)
    return lines


def _pad(text: str, width: int, right: bool) -> str:
    return text.rjust(width) if right else text.ljust(width)


def _tail(opening: str, last: str, start: int) -> list[str]:
    if len(opening) + len(last) <= WIDTH:
        return [(opening + last).rstrip()]
    room = WIDTH - start
    if room < 20:
        return [opening.rstrip(), *wrap(last, 4, "    ")]
    pieces = textwrap.wrap(last, room, break_on_hyphens=False)
    return [opening + pieces[0], *[" " * start + piece for piece in pieces[1:]]]


def command_lines(command: str, indent: int = 0) -> list[str]:
    """A command to copy, on as many lines as it needs; words in double quotes stay whole."""
    lines, margin = [], " " * indent
    line = ""
    for word in re.findall(r'(?:"[^"]*"|\S)+', command):
        if line.strip() and len(line) + len(word) + 3 > WIDTH:
            lines.append(f"{line} \\")
            line = f"{margin}  {word}"
        else:
            line = f"{line} {word}" if line.strip() else f"{margin}{word}"
    return [*lines, line]


def safe(text: str) -> str:
    """The text with control characters, and what turns a line's direction, written out: as \\x07, \\u202e.

    Records and AWS's answers hold what a node or its job wrote, and none of it may steer a terminal.
    """
    return text if text.isascii() and text.isprintable() else re.sub(_UNSAFE, _written, text)


def _written(hit: re.Match[str]) -> str:
    code = ord(hit[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def usd(amount: float) -> str:
    """Dollars and cents with thousands: `1,234.50`."""
    return f"{amount:,.2f}"


def wants_colour(stream: TextIO, env: Mapping[str, str]) -> bool:
    """Only on a terminal, and never against NO_COLOR."""
    return stream.isatty() and not env.get("NO_COLOR") and env.get("TERM") != "dumb"


def paint(line: str) -> str:
    """The line with its verdict or heading coloured."""
    if _HEADING.match(line):
        return f"\x1b[1m{line}\x1b[0m"
    return _VERDICT.sub(lambda hit: f"{hit[1]}\x1b[{_COLOURS[hit[2]]}m{hit[2]}\x1b[0m", line)
