"""A week with a lost shift, played: what a stranger reads of it at first, on the page and in the terminal."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from xml.etree import ElementTree

from nightshift.rehearsal.faults.parse import parse
from nightshift.rehearsal.report.data import data
from nightshift.rehearsal.report.glossary import GLOSSARY
from nightshift.rehearsal.report.headline import cost_says, headline, lost_says, rehearsed
from nightshift.rehearsal.report.nights import nights
from nightshift.rehearsal.report.page import render
from nightshift.rehearsal.report.terminal import summary
from nightshift.rehearsal.story import Difference, Story
from nightshift.rehearsal.weeks import rehearse
from tests.rehearsal.report.support.stories import broken_rule, empty_week, good_week, three_faults, year
from tests.rehearsal.support.sites import lab, plan

FAULTS = ("crash@wed+3h:vit", "boot-fails@fri", "ice@mon:vit")


@lru_cache
def week(*names: str) -> Story:
    stack, world = lab()
    return rehearse(stack, world, plan(seed=3, faults=parse(names)))


@lru_cache
def tree(*names: str) -> ElementTree.Element:
    return ElementTree.fromstring(render(week(*names)))


def part(id_: str, *names: str) -> str:
    found = tree(*(names or FAULTS)).find(f".//*[@id='{id_}']")
    assert found is not None
    return words(found)


def words(element: ElementTree.Element) -> str:
    return " ".join("".join(element.itertext()).split())


def test_the_top_says_that_nothing_was_real_and_what_was_put_in_by_whom() -> None:
    said = (
        "This is a rehearsal: nothing ran on AWS or was billed. 3 faults were put in on purpose, chosen by "
        "name, none by chance; 11 nodes were launched, all of them modelled; "
        "every sum is what it would have cost."
    )
    assert rehearsed(week(*FAULTS)) == said
    head = next(tree(*FAULTS).iter("header"))
    assert said in words(head)
    assert said in " ".join(" ".join(summary(week(*FAULTS))).split())
    assert data(week(*FAULTS))["rehearsed"] == said


def test_what_chance_chose_and_an_operators_words_are_told_apart_from_what_was_named() -> None:
    stack, world = lab()
    mixed = rehearse(stack, world, plan(seed=3, faults=parse(["hold@tue:desk"]), extra=2))
    told = "1 fault and 2 operator's words were put in on purpose, 1 named and 2 chosen by chance from seed 3"
    assert told in rehearsed(mixed)
    assert "No fault was put in; 8 nodes were launched, all of them modelled" in rehearsed(week())


def test_one_sentence_tells_the_week_in_the_colour_of_the_worst_thing() -> None:
    story = week(*FAULTS)
    head = headline(story, nights(story))
    assert head.sentence == (
        "All rules held. 5 of 8 shifts went as planned; desk's Fri 11 Dec shift was lost (boot-fails), "
        "2 were disturbed."
    )
    assert head.mood == "bad"
    assert head.sentence in words(next(tree(*FAULTS).iter("h1")))
    assert next(tree(*FAULTS).iter("header")).get("class") == "bad"


def test_a_week_without_trouble_is_told_plainly() -> None:
    story = week()
    head = headline(story, nights(story))
    assert (head.mood, head.sentence) == ("good", "All rules held. All 8 shifts went as planned.")
    assert "service that wasn't delivered" not in cost_says(story)


def test_a_shift_that_the_rehearsal_cut_off_is_not_called_as_planned() -> None:
    stack, world = lab()
    late = plan(seed=3)
    story = rehearse(stack, world, replace(late, start=late.start + 7_200))
    assert headline(story, nights(story)).sentence == (
        "All rules held. 7 of 8 shifts went as planned; 1 was cut off where the rehearsal begins or ends."
    )


def test_an_operators_word_is_counted_as_one() -> None:
    said = part("faults", "hold@tue:desk")
    assert "its nodes drain, it comes up with the first shift that starts after that" in said
    told = "".join(tree("hold@tue:desk").itertext())
    assert "faults and words that ended as they must" in told
    assert "All 6 shifts went as planned." in told


def test_disturbed_shifts_alone_are_a_warning() -> None:
    story = year()
    quiet = replace(story, faults=tuple(one for one in story.faults if not one.fault.startswith("boot")))
    told = [night for night in nights(quiet) if night.verdict != "failed"]
    assert headline(quiet, told).mood == "warn"


def test_a_broken_rule_and_a_fault_that_ended_badly_stand_in_the_sentence() -> None:
    story = broken_rule()
    assert headline(story, nights(story)).sentence == (
        "The rule “one writer” was broken on Wed 2 Dec 23:02; the rehearsal ended there. 4 of 5 shifts went "
        "as planned; in 1 a rule was broken. 1 fault didn't end as it must: spot@wed+3h."
    )
    assert headline(empty_week(), ()).sentence == "No rule was looked at. No group has a shift in this time."


def test_shifts_faults_and_cards_use_one_vocabulary() -> None:
    shown = " ".join(words(one) for one in tree(*FAULTS).iter("span") if "badge" in (one.get("class") or ""))
    assert {"as planned", "disturbed", "lost"} <= set(re.findall(r"as planned|\w+", shown))
    assert not re.search(r"\b(fine|failed)\b", shown)


def test_each_fault_says_how_it_must_end_beside_how_it_did() -> None:
    told = part("faults")
    for fault in week(*FAULTS).faults:
        assert fault.must
        assert fault.must in told
        assert told.index(fault.must) < told.index(fault.ended.split("`")[0].strip())


def test_what_is_to_be_typed_stands_as_one_can_type_it() -> None:
    typed = [words(one) for one in tree(*FAULTS).iter("code")]
    assert "nightshift wake desk --until 18:00 -s lab" in typed


def test_a_group_without_a_job_has_neither_steps_nor_saves() -> None:
    shifts = part("shifts")
    assert "no job" in shifts
    groups = week(*FAULTS).groups
    assert (groups["desk"].save_s, groups["vit"].save_s) == (0, 1_800)
    rows = [words(row) for row in tree(*FAULTS).iter("tr")]
    assert any(row.startswith("desk") and row.endswith("Asia/Shanghaino job") for row in rows)
    assert lost_says(week(*FAULTS)).endswith(
        "saves are at most 30 min apart (modelled: every 150 s); desk runs no job"
    )


def test_saves_are_explained_only_as_they_are_drawn() -> None:
    assert "a thin dark line across a node is a save" not in part("nodes")
    assert "saves aren't drawn, they are at most 30 min apart (modelled: every 150 s)" in part("nodes")
    assert "a thin dark line across a node is a save" in render(three_faults())


def test_rules_tell_what_they_were_looked_at_on_and_what_was_left_out() -> None:
    rules = part("rules")
    assert (
        "8 times: 1 job cut off by a crash or by AWS while it trained, 3 planned ends of jobs, 4 starts"
        in rules
    )
    assert "2 left out, since an alarm had stopped desk" in rules
    assert "1 time: the destroy after the rehearsed time" in rules
    assert "no job cut off while it trained" in part("rules", "ice@mon:vit")


def test_reasons_of_the_bill_come_by_size_and_name_their_shifts() -> None:
    money = tree(*FAULTS).find(".//*[@id='money']")
    assert money is not None
    first = next(row for row in money.iter("tr") if "an alarm had set the group" in words(row))
    assert [link.get("href") for link in first.iter("a")] == ["#shift-7"]
    sizes = [abs(one.usd) for one in week(*FAULTS).bill.differences]
    assert all(later - sooner <= 0.011 for sooner, later in pairwise(sizes))


def test_how_much_of_the_difference_is_service_that_nobody_got_is_said() -> None:
    story = week(*FAULTS)
    lost = {one.why for one in story.bill.differences if one.unserved}
    assert {"an alarm had set the group to 0 nodes", "AWS had no instance to give"} <= lost
    assert re.search(
        r"14\.\d\d USD less than the forecast of .* USD, of which 12\.\d\d USD is service", cost_says(story)
    )
    dearer = replace(
        story.bill, forecast_usd=story.bill.usd - 1, differences=(Difference("x", -1, -2.0, "desk", True),)
    )
    assert "; 2.00 USD of service wasn't delivered; " in cost_says(replace(story, bill=dearer))


def test_percentages_are_rounded_and_never_say_that_all_was_saved() -> None:
    whole = good_week()

    def says(mine: float) -> str:
        return cost_says(replace(whole, bill=replace(whole.bill, usd=mine, always_on_usd=100.0)))

    for mine, percent in ((22.36, 78), (22.6, 77), (0.1, 99), (0.0, 100)):
        assert f"; {percent} % less than" in says(mine)


def test_every_sum_stands_under_a_heading_that_says_rehearsed() -> None:
    said = words(tree(*FAULTS))
    for heading in ("Cost, rehearsed", "Rehearsed hours and money", "The rehearsed bill, metered"):
        assert heading in said
    assert "24/7" not in said
    assert "up all the time is at the same prices, spot at the spot price" in said


def test_events_are_folded_by_shift_after_what_their_kinds_mean() -> None:
    events = tree(*FAULTS).find(".//*[@id='events']")
    assert events is not None
    folds = list(events.iter("details"))
    assert not any(fold.get("open") for fold in tree(*FAULTS).iter("details"))
    titles = [words(next(fold.iter("summary"))) for fold in folds]
    assert titles[0] == "What the kinds of event mean"
    assert titles[7].startswith("desk, Fri 11 Dec 09:00 to 18:00, lost: ")
    assert titles[-1].startswith("Between the shifts, and of the whole site: ")


def test_the_filter_of_faults_has_a_heading_and_counts_of_its_own() -> None:
    drawn = render(week(*FAULTS))
    assert "#events:has(#only-struck:checked) .all" in drawn
    fold = next(one for one in tree(*FAULTS).iter("details") if one.get("id") == "events-7")
    (few,) = [one for one in fold.iter("span") if one.get("class") == "few"]
    struck = sum(1 for row in fold.iter("tr") if "struck" in (row.get("class") or ""))
    assert words(few) == f"{struck} events by faults"


def test_every_event_of_a_narrow_page_has_its_labels() -> None:
    row = next(row for row in tree(*FAULTS).iter("tr") if row.get("class") == "g1 struck")
    assert [cell.get("data-label") for cell in row.iter("td")] == ["Group", "Node", "Event", None]


def test_the_menu_has_the_names_of_the_headings() -> None:
    menu = next(tree(*FAULTS).iter("nav"))
    for link in menu.iter("a"):
        place = (link.get("href") or "").removeprefix("#")
        assert part(place).startswith(words(link))


def test_words_that_a_stranger_may_not_know_are_explained() -> None:
    assert {"seed", "stack", "operator's word", "drained", "size", "two writers"} <= set(GLOSSARY)
    said = words(tree(*FAULTS))
    assert all(f"{word}{says}" in said for word, says in GLOSSARY.items())
    for place in ("weeks", "shifts", "nodes", "faults", "money", "rules"):
        assert not re.search(r"\b(desired|override|24/7)\b", part(place))


def test_sizes_and_names_stay_on_one_line() -> None:
    drawn = render(week(*FAULTS))
    assert "size 0\u00a0→\u00a01" in drawn
    assert '<span class="word">--stack</span>' in drawn
    assert not re.search("-(>|&gt;) ", drawn.partition("</style>")[2])
