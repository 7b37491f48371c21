"""Why a job ended, by what it printed and by what its node's agent said. Pure: text in, text out."""

from __future__ import annotations

import re
from collections.abc import Iterator

LINES, LENGTH = 3, 300
"""So many lines are shown of a log without an exception, and so many characters of each."""
_RANK = re.compile(r"^\[[a-z]*\d+\]: ?")
_TABLE = re.compile(
    r"^\s*(?:[=\-*_]{3,}.*|Failures:|<NO_OTHER_FAILURES>|Root Cause.*|\[\d+\]:|"
    r"(?:time|host|rank|exitcode|error_file|traceback)\s*:(?! Signal).*|\S*ChildFailedError:?)?\s*$"
)
_BEGINS = "Traceback (most recent call last):"
_GONE = re.compile(
    r"the job ended: (?P<kind>failed|lost): (?P<why>.*)|(?P<never>the job can't be started: .*)"
)
_AGAIN = re.compile(r"generation \d+ ended here: (?:failed|lost), (.*)")


def reason(log: str) -> str:
    """The last exception that a traceback ends with, else the last lines that are no table of torchrun's."""
    lines = [_RANK.sub("", line) for line in log.splitlines()]
    starts = [at for at, line in enumerate(lines) if line.strip() == _BEGINS]
    raised = [found for at in reversed(starts) if (found := _raised(lines[at + 1 :]))]
    if raised:
        return shown(raised[0])
    said = [line.strip() for line in _outside(lines) if not _TABLE.match(line)]
    return "; ".join(shown(line) for line in said[-LINES:])


def _raised(after: list[str]) -> str:
    """The exception below a traceback's first line; nothing for one that only counts failed workers."""
    found = next((line for line in after if line[:1].strip() and line != _BEGINS), "")
    return "" if _TABLE.match(found) else found.strip()


def _outside(lines: list[str]) -> Iterator[str]:
    """What is no part of a traceback."""
    inside = False
    for line in lines:
        inside = line.strip() == _BEGINS or (inside and not line[:1].strip())
        if not inside:
            yield line


def shown(line: str) -> str:
    """A line, a very long one cut between its words."""
    if len(line) <= LENGTH:
        return line
    return f"{line[:LENGTH].rpartition(' ')[0] or line[:LENGTH]} …"


def over(said: str, nodes: int) -> str:
    """Why the agent's words `said` mean that the job doesn't begin any more; nothing while it still may.

    A node alone that nothing has struck gains nothing from a third launch. Of several, one job's loss can be
    another node's, so only the second counts.
    """
    ends = list(_GONE.finditer(said))
    final = [one for one in ends if one["kind"] != "lost"]
    lost = [one for one in ends if one["kind"] == "lost"]
    if final or len(lost) >= (1 if nodes == 1 else 2):
        last = ends[-1]
        return (last["never"] or last["why"]).strip() or "it gave no reason"
    again = _AGAIN.findall(said)
    return again[-1].strip() if nodes == 1 and len(again) > 1 else ""
