"""Stories that were really played, from sites as they were deployed, can be read by every view."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

import pytest

from nightshift.rehearsal.faults.parse import parse
from nightshift.rehearsal.report.data import data
from nightshift.rehearsal.report.nights import nights
from nightshift.rehearsal.report.page import render
from nightshift.rehearsal.report.terminal import Progress, summary
from nightshift.rehearsal.story import Event, Story
from nightshift.rehearsal.weeks import Plan, rehearse
from nightshift.settings.reading import read_stack
from tests.rehearsal.support.record import recorded

ROOT = Path(__file__).parents[3]
START = int(datetime(2026, 10, 26, 4, tzinfo=UTC).timestamp())


def played(name: str, faults: tuple[str, ...], heard: list[str]) -> Story:
    stack = read_stack(ROOT / "stacks" / f"Pulumi.{name}.yaml")
    world = recorded(name)
    progress = Progress(heard.append, stack.site.timezone, START, START + 604_800)
    events: list[Event] = []

    def both(event: Event) -> None:
        events.append(event)
        progress(event)

    return rehearse(stack, world, Plan(START, START + 604_800, 5, parse(list(faults))), None, both)


@pytest.mark.parametrize(
    ("name", "faults"),
    [("lab", ("spot@wed+3h", "ice@fri", "boot-fails@thu")), ("cluster", ()), ("rehearsal", ("spot@wed+3h",))],
)
def test_every_view_of_a_played_week_can_be_made(name: str, faults: tuple[str, ...]) -> None:
    heard: list[str] = []
    story = played(name, faults, heard)
    read = " ".join(" ".join(ElementTree.fromstring(render(story)).itertext()).split())
    assert all(" ".join(event.says.replace("`", "").split()) in read for event in story.events)
    assert all(fault in read for fault in faults)
    assert max(len(line) for line in (*summary(story), *heard)) <= 80
    json.dumps(data(story), allow_nan=False)


def test_the_shifts_that_faults_struck_are_the_ones_told() -> None:
    story = played("lab", ("spot@wed+3h", "ice@fri", "boot-fails@thu"), [])
    told = {(one.group, one.verdict) for one in nights(story) if one.worth_telling}
    assert told == {("vit", "disturbed"), ("desk", "failed"), ("desk", "disturbed")}
