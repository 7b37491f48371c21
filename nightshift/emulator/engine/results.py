"""What an operation of the engine did, read from its own event log."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

UNCHANGED = frozenset({"same", "read", "refresh"})
_SHOWN = ("error", "warning", "info#err", "warn")


@dataclass(frozen=True)
class Step:
    """One resource's step: the operation, and the top-level properties that made it necessary."""

    op: str
    urn: str
    failed: bool = False
    differing: tuple[str, ...] = ()

    @property
    def type(self) -> str:
        """The resource's type, parents dropped."""
        return self.urn.split("::")[2].rsplit("$", 1)[-1]

    @property
    def name(self) -> str:
        """The resource's logical name."""
        return self.urn.split("::", 3)[3]


@dataclass(frozen=True)
class Result:
    """An operation's outcome. `changes` counts resources by operation; `output` is for people."""

    operation: str
    ok: bool
    exit_code: int
    changes: Mapping[str, int]
    seconds: float
    steps: tuple[Step, ...]
    diagnostics: str
    output: str

    @property
    def changed(self) -> int:
        """How many resources were, or would be, other than unchanged."""
        return sum(count for op, count in self.changes.items() if op not in UNCHANGED)

    def changed_steps(self) -> tuple[Step, ...]:
        """The steps that changed something."""
        return tuple(step for step in self.steps if step.op not in UNCHANGED)


def read_result(operation: str, exit_code: int, seconds: float, log: Path, output: str) -> Result:
    """The result of a run that wrote `log`; a killed run's half-written last line is left out."""
    events = tuple(_events(log))
    steps = tuple(_steps(events))
    return Result(
        operation=operation,
        ok=exit_code == 0,
        exit_code=exit_code,
        changes=_changes(events, steps),
        seconds=seconds,
        steps=steps,
        diagnostics="\n".join(_diagnostics(events)) or ("" if exit_code == 0 else output.strip()),
        output=output,
    )


def _events(log: Path) -> Iterator[dict]:
    if not log.is_file():
        return
    for line in log.read_text(encoding="utf-8").splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            return


def _steps(events: Iterable[dict]) -> Iterator[Step]:
    seen = set()
    for event in events:
        kind = "resOpFailedEvent" if "resOpFailedEvent" in event else "resOutputsEvent"
        if kind not in event:
            continue
        data = event[kind]["metadata"]
        step = Step(data["op"], data["urn"], kind == "resOpFailedEvent", tuple(data.get("diffs") or ()))
        if step not in seen:
            seen.add(step)
            yield step


def _changes(events: Iterable[dict], steps: Iterable[Step]) -> dict[str, int]:
    """The engine's own summary; of a run that never got there, the steps that were done."""
    counts: dict[str, int] = {}
    for event in events:
        if "summaryEvent" in event:
            return dict(event["summaryEvent"].get("resourceChanges") or {})
    for step in steps:
        if not step.failed:
            counts[step.op] = counts.get(step.op, 0) + 1
    return counts


def _diagnostics(events: Iterable[dict]) -> Iterator[str]:
    for event in events:
        data = event.get("diagnosticEvent") or {}
        if data.get("severity") in _SHOWN and not data.get("ephemeral"):
            where = data["urn"].split("::", 3)[3] + ": " if data.get("urn") else ""
            yield f"{where}{data['severity']}: {data['message'].strip()}"
