"""`spot@wed+3h:vit`: a kind, when it strikes, and whom. Everything that is wrong is said at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from nightshift.catalog.suggest import unknown
from nightshift.plan.instants import WEEKDAYS
from nightshift.rehearsal.faults.table import KINDS

_NAME = re.compile(r"(?P<kind>[^@:]+)(?:@(?P<when>.+?))?(?::(?P<group>[a-z][a-z0-9-]*))?")
_DAY = re.compile(r"(?:w(?P<week>[1-9]\d?)-)?(?P<day>[a-z]{3})(?:(?P<sign>[+-])(?P<span>.+))?")
_SPAN = re.compile(r"(?:(\d{1,3})h)?(?:(\d{1,4})m)?")
_INSTANT = "%Y-%m-%dT%H:%M:%SZ"
_FORM = "KIND, KIND@DAY, KIND@DAY+3h, KIND@w2-DAY-10m or KIND@2026-12-09T15:12:00Z, each also with :GROUP"


class FaultProblems(ValueError):
    """Names that can't be read or placed; `problems` has one sentence each."""

    def __init__(self, *problems: str) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


@dataclass(frozen=True)
class OnDay:
    """The first shift that starts on `day` of the `week`-th week, and `offset_s` after its start."""

    week: int
    day: str
    offset_s: int | None


@dataclass(frozen=True)
class Named:
    """A fault as the user names it. `when` None: the seed says; `group` None: the first that it can hit."""

    name: str
    kind: str
    when: OnDay | int | None
    group: str | None


def parse(names: Sequence[str]) -> tuple[Named, ...]:
    """All names, or FaultProblems with what is wrong with each."""
    problems: list[str] = []
    found = [named for name in names if (named := _one(name, problems)) is not None]
    if problems:
        raise FaultProblems(*problems)
    return tuple(found)


def _one(name: str, problems: list[str]) -> Named | None:
    hit = _NAME.fullmatch(name.strip())
    if hit is None:
        problems.append(f'fault: given "{name}", expected {_FORM}')
        return None
    if hit["kind"] not in KINDS:
        problems.append(unknown("fault", hit["kind"], KINDS, "the rehearsal"))
        return None
    try:
        when = None if hit["when"] is None else _when(hit["when"])
    except ValueError:
        problems.append(f'fault {name}: given "{hit["when"]}", expected {_FORM}')
        return None
    return Named(name.strip(), hit["kind"], when, hit["group"])


def _when(text: str) -> OnDay | int:
    """Raises ValueError."""
    hit = _DAY.fullmatch(text)
    if hit is None:
        return int(datetime.strptime(text, _INSTANT).replace(tzinfo=UTC).timestamp())
    if hit["day"] not in WEEKDAYS:
        raise ValueError(text)
    offset = None if hit["span"] is None else _seconds(hit["span"]) * (-1 if hit["sign"] == "-" else 1)
    return OnDay(int(hit["week"] or 1), hit["day"], offset)


def _seconds(text: str) -> int:
    hit = _SPAN.fullmatch(text)
    if hit is None or not text:
        raise ValueError(text)
    return 3_600 * int(hit[1] or 0) + 60 * int(hit[2] or 0)


def absolute(kind: str, at: int, group: str) -> str:
    """The name that strikes exactly there."""
    return f"{kind}@{datetime.fromtimestamp(at, UTC):{_INSTANT}}:{group}"
