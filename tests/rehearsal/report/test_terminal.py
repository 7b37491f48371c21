"""The terminal view: 80 columns, never more lines than a person can follow."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightshift.rehearsal.report.nights import nights
from nightshift.rehearsal.report.terminal import LOUD, Progress, continued, summary
from nightshift.rehearsal.report.textstrip import text_strips
from nightshift.rehearsal.story import KINDS, Difference, Event, Story
from tests.rehearsal.report.support.stories import (
    ALL,
    broken_rule,
    good_week,
    many_groups,
    three_faults,
    year,
)

DOCS = Path(__file__).parents[3] / "docs" / "cli.md"


@pytest.mark.parametrize("name", ALL)
def test_no_line_is_longer_than_80_columns(name: str) -> None:
    assert max(len(line) for line in summary(ALL[name]())) <= 80


@given(st.text(max_size=200), st.text(min_size=1, max_size=50))
@settings(max_examples=30, deadline=None)
def test_no_text_makes_a_line_longer_or_speaks_to_the_terminal(says: str, name: str) -> None:
    whole = broken_rule()
    one = replace(whole.broken[0], says=says, rule=name, replay=says)
    for line in summary(replace(whole, stack=name, broken=(one,), replay=says)):
        assert len(line) <= 80
        assert "\x1b" not in line


def test_the_summary_answers_the_three_questions() -> None:
    said = "\n".join(summary(three_faults()))
    assert "lost       vit, Fri 4 Dec 20:00 to 07:00\n           boot-fails@fri: every boot fails" in said
    assert "steps    412 lost of 35,549 trained" in said
    assert "cost     92.43 USD would have been billed: 24.91 USD less than the forecast" in said


def test_the_cost_names_the_largest_reason_over_all_groups() -> None:
    whole = good_week()
    dearer = (
        Difference("another type", 0, 9.0, "vit"),
        Difference("late", -287, -9.4, "vit"),
        Difference("another type", 0, 5.72, "desk"),
    )
    bill = replace(whole.bill, differences=dearer)
    said = " ".join(" ".join(summary(replace(whole, bill=bill))).split())
    assert "; the largest reason: +14.72 USD, another type nodes" in said
    assert "the largest reason" not in " ".join(summary(replace(whole, bill=replace(bill, differences=()))))


def test_a_morning_after_the_week_is_an_eighth_day_not_seven_more() -> None:
    whole = good_week()
    later = replace(whole, end=whole.end + 9 * 3_600)
    assert len(text_strips(later, nights(later))) == 1 + len(whole.groups)
    long = {name.ljust(22, "x"): info for name, info in whole.groups.items()}
    wide = replace(later, groups=long)
    assert all(len(line) <= 80 for line in text_strips(wide, nights(wide)))


def test_a_broken_rule_is_a_problem_with_its_replay() -> None:
    story = broken_rule()
    lines = summary(story)
    assert any(line.startswith("problem  Wed 2 Dec 23:02:20, one writer") for line in lines)
    assert any(line.startswith("problem  spot@wed+3h didn't end as it must") for line in lines)
    assert pasted(lines[lines.index("again:") + 1 :]) == shlex.split(story.broken[0].replay)


def test_the_page_of_the_command_line_shows_a_summary() -> None:
    shown = "\n".join(summary(three_faults()))
    assert f"```\n{shown}\n```" in DOCS.read_text(encoding="utf-8")


@given(st.lists(st.text("abc@+:,-", min_size=1, max_size=200), min_size=1, max_size=12))
def test_a_long_command_can_be_pasted(words: list[str]) -> None:
    lines = continued(" ".join(words))
    assert max(map(len, lines)) <= 80
    assert pasted(lines) == words


def pasted(lines: Sequence[str]) -> list[str]:
    """What a shell makes of the lines: a backslash before a line's end joins it to the next."""
    return shlex.split("\n".join(lines).replace("\\\n", ""))


def test_the_strip_says_where_a_group_was_wanted_and_not_up() -> None:
    story = three_faults()
    rows = {line.split()[0]: line.split()[-1] for line in text_strips(story, nights(story))[1:]}
    assert rows["desk"] == "...###+....###+....###+....###+....###+................."
    assert rows["vit"] == "......x+##+...........+###+...........xxxxx............."


def test_long_rehearsals_and_empty_ones_have_no_strip() -> None:
    assert text_strips(year(), nights(year())) == []
    assert not any("a character is" in line for line in summary(ALL["empty"]()))


def test_a_crowd_of_groups_has_no_strip() -> None:
    story = good_week()
    crowd = {f"group-{at}": story.groups["vit"] for at in range(200)}
    assert len(summary(replace(story, groups=crowd, nodes=()))) < 150


def test_names_too_long_for_the_strip_are_cut() -> None:
    story = many_groups()
    long = replace(story, groups={"x" * 60: story.groups["vit"]}, nodes=())
    assert max(len(line) for line in text_strips(long, nights(long))) <= 80


class Ears:
    """Collects what is said; `seconds` is the time."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.seconds = 0.0

    def progress(self, story: Story) -> Progress:
        return Progress(self.said.append, story.timezone, story.start, story.end, lambda: self.seconds)


def test_a_short_rehearsal_tells_what_happens() -> None:
    ears, story = Ears(), three_faults()
    heard = ears.progress(story)
    for event in story.events:
        heard(event)
    assert "Wed 2 Dec 22:58  vit: spot interruption in 2 minutes" in ears.said
    assert sum("InsufficientInstanceCapacity" in line for line in ears.said) == 1
    assert max(map(len, ears.said)) <= 80
    assert len(ears.said) < len(story.events)


def test_a_long_rehearsal_tells_how_far_it_is_and_not_more_often_than_every_two_seconds() -> None:
    ears, story = Ears(), year()
    heard = ears.progress(story)
    for event in story.events:
        heard(event)
        ears.seconds += 0.01
    assert 10 < len(ears.said) <= len(story.events) * 0.01 / 2 + 1
    assert ears.said[-1].endswith("% of the time played, 6 faults so far")


def test_a_flood_of_events_ends_in_progress_lines_and_a_broken_rule_is_always_told() -> None:
    ears, story = Ears(), good_week()
    heard = ears.progress(story)
    for at in range(1000):
        heard(Event(story.start + at, "ready", f"node {at} is ready", "vit"))
    heard(Event(story.start + 2000, "broken", "two writers", "vit"))
    assert len(ears.said) < 200
    assert ears.said[-1].endswith("vit: two writers")


def test_every_loud_kind_is_a_kind() -> None:
    assert set(KINDS) >= LOUD
