"""Log lines as a terminal may have them. What a job prints is anybody's: none of it may steer a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from nightshift.cli.text import safe

_CODE = r"(?:0?[0-4]|22|24|3[0-7]|39|4[0-7]|49|9[0-7]|10[0-7]|[34]8;5;\d{1,3}|[34]8;2(?:;\d{1,3}){3})"
_COLOUR = re.compile(rf"\x1b\[(?:{_CODE}(?:;{_CODE})*)?m")
"""Colours, bold, faint, italic, underline and their ends. Not: hidden, blinking, reversed."""
_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: move, erase, colour
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC, DCS, SOS, PM, APC: titles, links, clipboard
    r"|\x1b[ -/]*[0-~]"
)
_RESET = "\x1b[0m"


@dataclass(frozen=True)
class LogLine:
    """One event, at unix milliseconds. `id` is the service's, `node` and `part` are of its stream's name."""

    id: str
    ms: int
    node: str
    part: str
    text: str

    @property
    def at(self) -> datetime:
        """UTC."""
        return datetime.fromtimestamp(self.ms / 1000, UTC)


def read_event(raw: Mapping[str, Any]) -> LogLine:
    """An event of FilterLogEvents. A stream is called `GROUP NAME/NODE/PART`."""
    _, _, rest = str(raw["logStreamName"]).partition("/")
    node, _, part = rest.partition("/")
    return LogLine(str(raw["eventId"]), int(raw["timestamp"]), node or "?", part, str(raw["message"]))


def shown(text: str, *, colours: bool) -> str:
    """The text without anything that steers a terminal; colours stay where they are wanted, and end.

    A progress bar overwrites itself by carriage returns: its last state is what stays on a screen. Other
    control characters are written out, as \\x07.
    """
    text = next((part for part in reversed(text.rstrip("\r\n").split("\r")) if part), "")
    pieces, last, coloured = [], 0, False
    for hit in _SEQUENCE.finditer(text):
        pieces.append(safe(text[last : hit.start()]))
        if colours and _COLOUR.fullmatch(hit[0]):
            pieces.append(hit[0])
            coloured = True
        last = hit.end()
    pieces.append(safe(text[last:]))
    return "".join(pieces) + (_RESET if coloured else "")


class Printer:
    """Lines with their local time; which node they're of is said before them where it changes, or on each."""

    def __init__(self, zone: ZoneInfo, *, colours: bool, several: bool) -> None:
        self._zone, self._colours, self._several = zone, colours, several
        self._node = ""

    def lines(self, events: Iterable[LogLine]) -> Iterator[str]:
        """What to print of these; remembers the node that the last one was of."""
        for event in events:
            if not self._several and event.node != self._node:
                self._node = event.node
                yield f"== {safe(event.node)}"
            local = event.at.astimezone(self._zone)
            node = f"{safe(event.node)} " if self._several else ""
            stamp = f"{local:%Y-%m-%d %H:%M:%S} {local.tzname()}"
            yield f"{stamp} {node}{shown(event.text, colours=self._colours)}".rstrip()
