"""`python -m nightshift.rehearsal.front_door`: the main job on the embedded default, told in a page.

Deploys the stack to an emulated AWS, asks `status` while it stands, plays its coming week with a fault, and
ends with what came of it, what stood, what it will cost, and where to go from here.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from nightshift.cli.context import Context
from nightshift.cli.errors import CliError
from nightshift.cli.project import StackFile
from nightshift.cli.rehearsed import whole
from nightshift.cli.site import calendars
from nightshift.cli.text import wrap
from nightshift.cli.verb_forecast import count, default_month, money
from nightshift.cli.verb_rehearse import provider_words, rehearse
from nightshift.cli.when import ahead
from nightshift.plan.forecast import saved_percent
from nightshift.plan.instants import local_text, zone_of
from nightshift.rehearsal import first_week

if TYPE_CHECKING:
    from nightshift.rehearsal.deploy import DeployReport
    from nightshift.rehearsal.story import Story
    from nightshift.settings.models import Stack

_TOPIC, _COMMAND = 12, 41
_NOT_YET = (
    "The node agent has not run on a real AWS account or a GPU yet. Begin with one small group, and look at "
    "`nightshift status`."
)


@dataclass
class Seen:
    """What `status` said while everything stood, how many seconds that took, and what it said in a shift."""

    lines: tuple[str, ...] = field(default=())
    seconds: float = 0.0
    up: tuple[str, ...] = field(default=())


INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run it; status 1 when the rehearsal found a problem."""
    parser = argparse.ArgumentParser("nightshift.rehearsal.front_door", description=__doc__)
    parser.add_argument("--stack", default="rehearsal", help="stack name; default: rehearsal")
    parser.add_argument("--real", help="the group whose nodes run as real processes, or none")
    args = parser.parse_args(argv)
    here = Context()
    try:
        return _tried(here, args.stack, args.real)
    except CliError as error:
        print(*error.lines, sep="\n", file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        print("\ninterrupted: all that ran here is ended, nothing is left", file=sys.stderr)
        return INTERRUPTED


def _tried(here: Context, name: str, real: str | None) -> int:
    file = here.file(name)
    stack = here.stack(file)
    seen, stories = Seen(), list["Story"]()
    plan = first_week.plan_of(stack, here.now())

    def week(endpoint: str, found: DeployReport) -> None:
        """What is known to be broken is told, not played."""
        if not found.problems:
            stories.append(first_week.play(stack, plan, endpoint, here.say, real))

    report = rehearse(
        here,
        file,
        stack,
        lambda endpoint: _look(here, file, stack, endpoint, seen),
        week,
    )
    story = whole(report, stories[0]) if stories else None
    path = first_week.keep(story, file.root, here.say) if story is not None else None
    for line in page(stack, report, seen, here.now(), file.path.relative_to(file.root), story, path):
        print(line)
    return 1 if report.problems or story is None or path is None or not story.ok else 0


def _look(here: Context, file: StackFile, stack: Stack, endpoint: str, seen: Seen) -> None:
    """`nightshift status`, on the emulated AWS."""
    from nightshift.emulator.engine.environment import aws_environment
    from nightshift.rehearsal.clients import clients_of
    from nightshift.rehearsal.nodes import bring_up, take_down

    own = replace(here, env={**os.environ, **aws_environment(endpoint)})
    began = time.monotonic()
    seen.lines = _status(own, file, stack)
    seen.seconds = time.monotonic() - began
    clients = clients_of(endpoint, stack.region)
    bring_up(stack, clients)
    try:
        seen.up = _nodes(_status(own, file, stack))
    finally:
        take_down(stack, clients)


def _status(own: Context, file: StackFile, stack: Stack) -> tuple[str, ...]:
    from nightshift.cli.status_facts import gather
    from nightshift.cli.verb_status import answer

    return answer(stack, gather(own.connect(file, stack), stack, own.now())).lines


def _nodes(lines: Sequence[str]) -> tuple[str, ...]:
    """The groups' and nodes' part of a status."""
    ends = [at for at, line in enumerate(lines) if line.startswith("VOLUME")]
    return tuple(lines[2 : ends[0] - 1] if ends else lines[2:])


def page(
    stack: Stack,
    report: DeployReport,
    seen: Seen,
    now: datetime,
    file: Path,
    story: Story | None = None,
    path: Path | None = None,
) -> list[str]:
    """The summary, at 80 columns."""
    if report.problems:
        return ["", *(line for one in report.problems for line in wrap(f"problem  {one}", 9))]
    lines = ["", f"Stack {stack.name} was deployed to an emulated AWS; nothing real was made.", ""]
    lines += [f"`nightshift status` while it stood ({seen.seconds:.1f} s):", *_indented(seen.lines), ""]
    if seen.up:
        lines += ["With its nodes up, as a shift's start brings them:", *_indented(seen.up), ""]
    if story is not None:
        lines += ["Its coming week, played there:", "", *first_week.told(story), ""]
    lines += _topic("Stood", _stood(stack, report)) + _topic("Wakes next", _wakes(stack, now))
    lines += _topic("Costs", _costs(stack, now)) + _topic("Proven", _proven(report))
    lines += _topic("Took", _took(report, story))
    if path is not None:
        lines += _topic("Report", f"{path.name}: open it in a browser")
    return [*lines, "", *_onward(file)]


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"| {line}".rstrip() if len(line) <= 78 else line for line in lines]


def _topic(name: str, says: str) -> list[str]:
    return wrap(says, _TOPIC, f"{name:<{_TOPIC}}")


def _stood(stack: Stack, report: DeployReport) -> str:
    groups = ", ".join(stack.groups)
    volumes = ", ".join(f"{name} ({volume.size_gib} GiB)" for name, volume in stack.volumes.items())
    return f"{report.created} resources: groups {groups}; volumes {volumes or 'none'}; in {stack.site.zone}"


def _wakes(stack: Stack, now: datetime) -> str:
    said = []
    for name, calendar in calendars(stack, {}).items():
        event = calendar.next_event(now)
        if event is None:
            said.append(f"{name} is always up")
        elif event.kind == "up":
            said.append(f"{name} at {event.local}, in {ahead(event.at - now)}")
        else:
            following = calendar.next_event(event.at)
            later = f", then at {following.local}" if following else ""
            said.append(f"{name} is in its shift until {local_text(event.at, zone_of(calendar.zone))}{later}")
    return "; ".join(said)


def _costs(stack: Stack, now: datetime) -> str:
    year, month = default_month(now)
    found = count(stack, year, month)
    name = f"{datetime(year, month, 1):%B %Y}"
    return (
        f"{money(found.usd)} USD in {name}; up all the time it would be {money(found.always_on_usd)} "
        f"({saved_percent(found.usd, found.always_on_usd)} % saved)"
    )


def _proven(report: DeployReport) -> str:
    kept = ", ".join(str(one) for one in report.left or () if one.kept)
    return (
        f"a second up changed {report.changed_second_up}, a refresh {report.changed_refresh}; "
        f"{len(report.tour)} checks by an independent client hold; destroy kept {kept or 'nothing'}"
    )


def _took(report: DeployReport, story: Story | None) -> str:
    taken = dict(report.seconds)
    if story is not None:
        total = taken.pop("total", 0.0)
        taken |= {"week": story.seconds, "total": total}
    steps = ", ".join(f"{step.replace('_', ' ')} {seconds:.0f} s" for step, seconds in taken.items())
    return f"{steps}; {provider_words(report)}"


def _onward(file: Path) -> list[str]:
    tool = ".venv/bin/nightshift"
    steps = (
        (str(file), "what was deployed: read it"),
        ("cp stacks/Pulumi.lab.yaml stacks/Pulumi.mylab.yaml", "yours: edit it"),
        (f"{tool} shifts -s mylab", "when groups come up and go down"),
        (f"{tool} forecast -s mylab", "what a month costs, line by line"),
        (f"{tool} pin -s mylab --write", "a real image; AWS credentials"),
        (f"{tool} check -s mylab", "every problem of your file"),
        (f"{tool} doctor -s mylab", "what your AWS account lacks"),
        ("pulumi stack init mylab", "once; read docs/operate.md first"),
        ("pulumi up -s mylab", "for real"),
    )
    return [
        "From here",
        *(f"  {command:<{_COMMAND}} {says}".rstrip() for command, says in steps),
        *wrap(_NOT_YET),
    ]


if __name__ == "__main__":
    sys.exit(main())
