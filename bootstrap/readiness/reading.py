"""Reading what programs and files say: what isn't understood to the last character isn't believed."""

from __future__ import annotations

import re
from pathlib import Path

from bootstrap.readiness.commands import NOT_FOUND, Answer, Command, unmarked

SEEN_CHARS = 160
"""How much of an unreadable text a finding quotes."""
_PRINTABLE = re.compile(r"[\t\n\x20-\x7e\u00a0-\ufffc]*")


class Unreadable(Exception):
    """Something wasn't there or wasn't understood. `what` names it, `seen` is the text or the failure."""

    def __init__(self, what: str, seen: str) -> None:
        super().__init__(f"{what}: {seen}")
        self.what, self.seen = what, seen


def seen(text: str) -> str:
    """A text in one line, short enough for a finding."""
    line = " ".join(text.split())
    return f'"{line[:SEEN_CHARS]}…"' if len(line) > SEEN_CHARS else f'"{line}"'


def shown(command: Command) -> str:
    """A command as a person would type it."""
    return " ".join(command[4:] if command[:2] == ("sh", "-c") else command)


def output(command: Command, answer: Answer) -> str:
    """The whole standard output of a command that ended well. Raises Unreadable."""
    what = f"`{shown(command)}`"
    if answer.late:
        last = answer.stderr.strip()[-SEEN_CHARS:]
        raise Unreadable(what, f"no answer within its deadline{f', last said {seen(last)}' if last else ''}")
    if answer.rc == NOT_FOUND:
        raise Unreadable(what, f"not installed ({seen(answer.stderr)})")
    if answer.rc != 0:
        raise Unreadable(what, f"exit {answer.rc}: {seen(answer.stdout + ' ' + answer.stderr)}")
    text = plain(what, answer.stdout)
    if command[:2] != ("sh", "-c"):
        return text
    listing = unmarked(text)
    if listing is None:
        raise Unreadable(what, f"cut off: {seen(text[-SEEN_CHARS:])}")
    return listing


def plain(what: str, text: str) -> str:
    """The text, if it has a last line and no character that doesn't belong in one. Raises Unreadable."""
    if not text.strip():
        raise Unreadable(what, "nothing")
    if not _PRINTABLE.fullmatch(text):
        raise Unreadable(what, f"not text: {seen(ascii(text))}")
    if not text.endswith("\n"):
        raise Unreadable(what, f"cut off: {seen(text[-SEEN_CHARS:])}")
    return text


def contents(path: Path, name: str) -> str:
    """A small file's text, by the name that a person knows it by. Raises Unreadable."""
    try:
        return plain(name, path.read_bytes().decode("utf-8", errors="replace"))
    except OSError as error:
        raise Unreadable(name, error.strerror or str(error)) from None


def fields(what: str, line: str, count: int) -> list[str]:
    """The cells of a line of comma separated values. Raises Unreadable for another number of them."""
    cells = [cell.strip() for cell in line.split(",")]
    if len(cells) != count or not all(cells):
        raise Unreadable(what, f"{count} values expected in {seen(line)}")
    return cells


def matched(what: str, pattern: re.Pattern[str], text: str) -> re.Match[str]:
    """The whole text as the pattern has it. Raises Unreadable."""
    found = pattern.fullmatch(text)
    if found is None:
        raise Unreadable(what, seen(text))
    return found


def one_of(what: str, value: str, allowed: frozenset[str]) -> str:
    """The value, if it's one of those known. Raises Unreadable."""
    if value not in allowed:
        raise Unreadable(what, f"{seen(value)}, not one of {', '.join(sorted(allowed))}")
    return value
