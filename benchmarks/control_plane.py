"""Speed and memory of the rehearsal's control plane: a year of the lab, and of 1,000 groups.

`python -m benchmarks.control_plane` prints JSON; exit 1 when a year of the lab takes over 10 s, or when a
thousand groups cost more than twice as much an event as a hundred. Every run is a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from bootstrap.manifest import BootShift
from nightshift.plan.shifts import Shift, compile_actions
from nightshift.rehearsal.control.model_fleet import ModelFleet
from nightshift.rehearsal.control.play import open_site, play, set_going
from nightshift.rehearsal.expect import Expect, GroupExpect
from nightshift.rehearsal.invariants.judge import Judge
from nightshift.rehearsal.world.model import Alarm, Group, ScheduledAction, Volume, World, from_json
from nightshift.settings.to_plan import clock

START, END = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) for year in (2026, 2027))
LAB = Path(__file__).parents[1] / "tests" / "rehearsal" / "worlds" / "lab.json"
LIMIT_S, GROWTH = 10.0, 2.0
ZONES = ("Asia/Shanghai", "America/New_York", "Europe/Berlin", "Etc/UTC", "Australia/Sydney")
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
WEEK_S = 604_800
REMEMBERED = 1_000


def copies(world: World, count: int) -> World:
    """`count` groups like the night group, each with volumes, alarms, weekdays and hours of its own."""
    night = next(group for group in world.groups if group.manifest.job is not None)
    alarms = [alarm for alarm in world.alarms if alarm.name.startswith(night.name)]
    names = {volume.name for volume in night.manifest.volumes}
    volumes = [volume for volume in world.volumes if volume.name in names]
    groups = [_group(night, number) for number in range(count)]
    return replace(
        world,
        groups=tuple(groups),
        alarms=tuple(_alarm(alarm, night, group) for group in groups for alarm in alarms),
        volumes=tuple(_volume(volume, number) for number in range(count) for volume in volumes),
    )


def _group(night: Group, number: int) -> Group:
    zone = ZONES[number % len(ZONES)]
    start, end = f"{number % 24:02}:{number * 7 % 60:02}", f"{(number + 11) % 24:02}:{number * 7 % 60:02}"
    days = tuple(DAYS[(number + offset) % 7] for offset in (0, 2, 4))
    shift = Shift(days, clock(start), clock(end))
    actions = compile_actions([shift], zone, 1)
    name = f"{night.name}{number}"
    manifest = replace(
        night.manifest,
        group=f"g{number}",
        group_name=name,
        timezone=zone,
        shifts=(BootShift(days, start, end),),
        volumes=tuple(replace(one, name=f"{one.name}{number}") for one in night.manifest.volumes),
    )
    return replace(
        night,
        name=name,
        manifest=manifest,
        policies=tuple(replace(policy, arn=f"{policy.arn}{number}") for policy in night.policies),
        actions=tuple(
            ScheduledAction(each.name, each.recurrence, each.time_zone, each.desired) for each in actions
        ),
    )


def _alarm(alarm: Alarm, night: Group, group: Group) -> Alarm:
    values = {night.name: group.name, night.manifest.group: group.manifest.group}
    metrics = tuple(
        replace(metric, dimensions=tuple((key, values.get(value, value)) for key, value in metric.dimensions))
        for metric in alarm.metrics
    )
    return replace(alarm, name=f"{group.name}{alarm.name[len(night.name) :]}", metrics=metrics)


def _volume(volume: Volume, number: int) -> Volume:
    return replace(volume, id=f"{volume.id}-{number}", name=f"{volume.name}{number}")


def promised(world: World) -> Expect:
    """What the calendar promises of each group."""
    from bootstrap.lifecycle.guard import calendar_of

    def windows(group: Group) -> Iterator[tuple[int, int]]:
        low, high = (datetime.fromtimestamp(at, UTC) for at in (START - WEEK_S, END + WEEK_S))
        for first, last in calendar_of(group.manifest, None).intervals(low, high):
            yield int(first.timestamp()), int(last.timestamp())

    return Expect(
        {
            group.manifest.group: GroupExpect(
                group.manifest.group,
                group.manifest.timezone,
                group.manifest.nodes,
                tuple(windows(group)),
                group.manifest.boot_s,
                group.manifest.drain_s,
            )
            for group in world.groups
        },
        (),
    )


def once(count: int) -> dict[str, object]:
    """A year of the lab (`count` 0) or of so many groups, held to every rule, in this process."""
    world = from_json(LAB.read_text(encoding="utf-8"))
    world = copies(world, count) if count else world
    judge = Judge(promised(world))
    began, cpu = time.perf_counter(), time.process_time()
    remember = REMEMBERED if count else None
    site = open_site(world, ModelFleet(1), judge, seed=1, start=START, end=END, remember=remember)
    judge.begin(site)
    set_going(site)
    play(site)
    return {
        "groups": len(world.groups),
        "events": site.queue.run_count,
        "nodes": sum(len(group.past) for group in site.groups.values()),
        "checks": sum(judge.checked.values()),
        "seconds": round(time.perf_counter() - began, 2),
        "cpu_seconds": round(time.process_time() - cpu, 2),
        "memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def measured(counts: list[int]) -> list[dict[str, object]]:
    """Each in a process of its own, so that memory is its own."""
    found = []
    for count in counts:
        command = [sys.executable, "-m", "benchmarks.control_plane", "--once", str(count)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found.append(json.loads(done.stdout))
    return found


def main() -> int:
    """Measure and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--once", type=int)
    parser.add_argument("--groups", type=int, nargs="+", default=[100, 300, 1000])
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.once is not None:
        print(json.dumps(once(given.once)))
        return 0
    lab, *many = measured([0, *given.groups])
    each = [1e6 * float(str(run["cpu_seconds"])) / int(str(run["events"])) for run in many]
    result = {
        "lab": lab,
        "many": many,
        "cpu_microseconds_an_event": [round(one, 1) for one in each],
        "limit_seconds": LIMIT_S,
        "limit_growth": GROWTH,
        "cores": os.cpu_count(),
        "python": sys.version.split()[0],
    }
    text = json.dumps(result, indent=1)
    print(text)
    if given.out is not None:
        given.out.write_text(text + "\n", encoding="utf-8")
    return 0 if float(str(lab["cpu_seconds"])) <= LIMIT_S and max(each) <= GROWTH * each[0] else 1


if __name__ == "__main__":
    sys.exit(main())
