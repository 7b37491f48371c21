"""The page is one file that says everything, to people, to parsers and to those who can't see pictures."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightshift.rehearsal.report.page import render
from nightshift.rehearsal.report.words import clean
from nightshift.rehearsal.story import Event, FaultEnd, Story, from_json, to_json
from tests.rehearsal.report.support.stories import (
    ALL,
    broken_rule,
    empty_week,
    good_week,
    many_groups,
    three_faults,
)

LARGEST_YEAR_BYTES = 3_000_000
HOSTILE = '<script>alert("&")</script> \x1b[31m\x00 ]]> \'"'


def story(name: str) -> Story:
    return ALL[name]()


@lru_cache
def page(name: str) -> str:
    return render(story(name))


@lru_cache
def tree(name: str) -> ElementTree.Element:
    """The page read by a strict parser: every element closed, every attribute quoted, every & escaped."""
    return ElementTree.fromstring(page(name))


def text_of(element: ElementTree.Element) -> str:
    return " ".join("".join(element.itertext()).split())


def section(name: str, id_: str) -> str:
    found = tree(name).find(f".//*[@id='{id_}']")
    assert found is not None
    return text_of(found)


@pytest.mark.parametrize("name", ALL)
def test_a_story_survives_its_own_json(name: str) -> None:
    assert from_json(to_json(story(name))) == story(name)


@pytest.mark.parametrize("name", ALL)
def test_the_page_is_well_formed_and_ids_are_unique(name: str) -> None:
    ids = [element.get("id") for element in tree(name).iter() if element.get("id")]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", ALL)
def test_every_link_leads_somewhere_on_the_page(name: str) -> None:
    ids = {element.get("id") for element in tree(name).iter()}
    links = [element.get("href") or "" for element in tree(name).iter("a")]
    assert links
    assert {link for link in links if not link.startswith("#") or link[1:] not in ids} == set()


@pytest.mark.parametrize("name", ALL)
def test_nothing_is_fetched_and_no_script_is_needed(name: str) -> None:
    assert not re.search(r"https?:|//[a-z]|\bsrc=|@import|url\(|<link|<script|\son\w+=", page(name))
    assert "default-src 'none'" in page(name)


@pytest.mark.parametrize("name", ALL)
def test_every_picture_says_what_it_shows_or_is_hidden_from_those_who_read(name: str) -> None:
    charts = [one for one in tree(name).iter("svg") if "chart" in (one.get("class") or "")]
    assert charts
    assert all(one.get("aria-label") or one.get("aria-hidden") for one in charts)


@pytest.mark.parametrize("name", ALL)
def test_every_event_is_in_the_page(name: str) -> None:
    events = tree(name).find(".//*[@id='events']")
    assert events is not None
    rows = [text_of(row) for row in events.iter("tr") if row.find("td") is not None]
    assert len(rows) == len(story(name).events)
    told = " ".join(rows)
    assert all(" ".join(event.says.split()) in told for event in story(name).events)


@pytest.mark.parametrize("name", ALL)
def test_every_fault_is_told_with_how_it_ended(name: str) -> None:
    told = section(name, "faults")
    for fault in story(name).faults:
        assert fault.fault in told
        assert fault.ended in told
    assert told.count("not as it must") == sum(not fault.ok for fault in story(name).faults)


@pytest.mark.parametrize("name", ALL)
def test_every_node_and_every_rule_is_in_the_page(name: str) -> None:
    nodes, rules = section(name, "nodes"), section(name, "rules")
    assert all(node.id in nodes for node in story(name).nodes)
    assert all(rule.name in rules and rule.says in rules for rule in story(name).invariants)


def test_the_head_answers_which_shift_failed_and_why_what_was_lost_and_what_it_cost() -> None:
    answers = next(one for one in tree("faults").iter("section") if one.get("class") == "answers")
    said = text_of(answers)
    assert "3 of 8" in said
    assert "lost vit, Fri 4 Dec 20:00 to 07:00: boot-fails@fri: every boot fails" in said
    assert "Steps lost, rehearsed 412 of 35,549 trained" in said
    assert f"Cost, rehearsed {three_faults().bill.usd:,.2f} USD" in said


def test_a_broken_rule_stands_first_with_the_command_that_replays_it() -> None:
    told = text_of(tree("broken"))
    one = broken_rule().broken[0]
    assert (
        told.index("The rule “one writer” was broken on Wed 2 Dec 23:02")
        < told.index(one.says)
        < told.index("Which shifts had trouble")
    )
    assert one.replay in told
    assert section("broken", "rules").count("broken") == 1


def test_of_the_events_before_a_break_the_last_stand_open() -> None:
    whole = broken_rule()
    before = tuple(Event(whole.start + at, "launch", f"launch {at}", "vit") for at in range(25))
    told = render(replace(whole, broken=(replace(whole.broken[0], before=before),)))
    found = next(one for one in ElementTree.fromstring(told).iter("section") if one.get("class") == "break")
    panel = text_of(found)
    assert "The 15 events before the last 10" in panel
    assert all(f"launch {at}" in panel for at in range(25))


def test_a_night_on_which_clocks_change_is_named() -> None:
    assert "Sun 1 Nov: clocks go back, 02:00 EDT becomes 01:00 EST; the day has 25 hours" in section(
        "groups", "weeks"
    )
    assert "clocks go forward, 02:00 EST becomes 03:00 EDT; the day has 23 hours" in section("year", "weeks")
    assert "clocks" not in section("good", "weeks")


def test_a_year_fits_in_a_mail() -> None:
    assert len(page("year").encode()) < LARGEST_YEAR_BYTES


def test_a_year_shows_every_week_once() -> None:
    weeks = tree("year").find(".//*[@id='weeks']")
    assert weeks is not None
    assert len(list(weeks.iter("figure"))) == 52


def test_a_week_without_shifts_says_so_instead_of_drawing_nothing() -> None:
    told = text_of(tree("empty"))
    assert "No group has a shift in this time." in told
    assert "No job trained" in told
    assert empty_week().nodes == ()


@pytest.mark.parametrize("spoil", ["events", "faults", "nodes", "names", "replay"])
def test_text_from_anywhere_is_shown_and_never_obeyed(spoil: str) -> None:
    whole = broken_rule()
    event = Event(whole.start + 5, "launch", HOSTILE, HOSTILE, HOSTILE, HOSTILE)
    fault = FaultEnd(HOSTILE, HOSTILE, whole.start, HOSTILE, HOSTILE, 1, 1, False)
    spoilt = {
        "events": lambda: replace(whole, events=(event, *whole.events)),
        "faults": lambda: replace(whole, faults=(fault,)),
        "nodes": lambda: replace(whole, nodes=(replace(whole.nodes[0], id=HOSTILE, why=HOSTILE),)),
        "names": lambda: replace(whole, stack=HOSTILE, groups={HOSTILE: whole.groups["vit"]}),
        "replay": lambda: replace(whole, replay=HOSTILE, compressed=HOSTILE, provider=HOSTILE),
    }[spoil]()
    drawn = render(spoilt)
    assert "<script" not in drawn
    read = "".join(ElementTree.fromstring(drawn).itertext())
    assert clean(HOSTILE) in read


@given(says=st.text(max_size=60), name=st.text(min_size=1, max_size=30))
@settings(max_examples=40, deadline=None)
def test_any_text_leaves_the_page_readable_by_a_parser(says: str, name: str) -> None:
    whole = good_week()
    event = Event(whole.start + 9, "launch", says, name, name, name)
    spoilt = replace(
        whole, groups={name: whole.groups["vit"]}, nodes=(), curves={}, events=(event,), replay=says
    )
    ElementTree.fromstring(render(spoilt))


@pytest.mark.parametrize("make", [good_week, many_groups])
def test_the_same_story_gives_the_same_page(make: Callable[[], Story]) -> None:
    assert render(make()) == render(make())


def test_the_groups_and_what_faults_caused_can_be_filtered_without_a_script() -> None:
    for at, name in enumerate(many_groups().groups, 1):
        assert f'id="only-{at}" checked="checked"/> {name}' in page("groups")
        assert f"#events:has(#only-{at}:not(:checked)) .g{at} {{ display: none }}" in page("groups")
    assert 'id="only-struck"' in page("groups")


def test_a_node_outside_every_shift_is_pointed_at() -> None:
    whole = good_week()
    early = replace(whole.nodes[0], id="i-stray", launched=whole.start + 60, ended=whole.start + 600)
    assert "Outside every shift there were 1 node: i-stray" in text_of(
        ElementTree.fromstring(render(replace(whole, nodes=(*whole.nodes, early))))
    )


def test_an_operators_word_is_drawn_as_a_span() -> None:
    assert 'class="override up"' in page("midweek")
    assert "by an operator's word" in section("midweek", "weeks")
    assert 'class="override' not in page("good").partition("</style>")[2]
