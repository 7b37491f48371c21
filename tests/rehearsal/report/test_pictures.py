"""The parts of the pictures: lanes, marks, curves, strips."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightshift.rehearsal.report import svg
from nightshift.rehearsal.report.curve import lives, picture, resumes, thinned
from nightshift.rehearsal.report.lanes import joined, lanes, rows
from nightshift.rehearsal.report.marks import marks
from nightshift.rehearsal.report.money import bars, lines, reasons, total
from nightshift.rehearsal.report.nights import nights, stop
from nightshift.rehearsal.report.strips import strips
from nightshift.rehearsal.report.words import Clock
from nightshift.rehearsal.report.zoom import zoom
from nightshift.rehearsal.story import Curve, NodeLife, Phase, Story
from tests.rehearsal.report.support.stories import good_week, many_groups, midweek, three_faults, year

CLOCK = Clock("Etc/UTC")


def node(name: str, launched: int, ended: int | None) -> NodeLife:
    return NodeLife(name, "vit", "g6.xlarge", "spot", False, launched, ended, "drained", "")


LIVES = st.lists(st.tuples(st.integers(0, 90), st.integers(1, 40)), max_size=25)


@given(LIVES)
def test_nodes_in_one_lane_never_live_at_once(pairs: list[tuple[int, int]]) -> None:
    nodes = [node(f"i-{at}", start, start + lasts) for at, (start, lasts) in enumerate(pairs)]
    places = lanes(nodes, 1000)
    for one in nodes:
        for other in nodes:
            if one is not other and places[one.id] == places[other.id]:
                assert (one.ended or 0) <= other.launched or (other.ended or 0) <= one.launched


@given(LIVES)
def test_no_more_lanes_than_nodes_live_at_once(pairs: list[tuple[int, int]]) -> None:
    nodes = [node(f"i-{at}", start, start + lasts) for at, (start, lasts) in enumerate(pairs)]
    busiest = max((sum(s <= at < s + n for s, n in pairs) for at in range(131)), default=0)
    assert max(lanes(nodes, 1000).values(), default=-1) + 1 == busiest


@given(st.lists(st.floats(0, 1), max_size=30))
def test_marks_in_one_row_keep_their_distance(places: list[float]) -> None:
    stands = rows(places, 0.05)
    for row in set(stands):
        mine = sorted(place for place, stand in zip(places, stands, strict=True) if stand == row)
        assert all(b - a >= 0.05 for a, b in pairwise(mine))


def test_phases_are_cut_to_the_span_and_joined() -> None:
    phases = [Phase("train", 0, 10), Phase("save", 10, 12), Phase("train", 12, 20), Phase("train", 90, 95)]
    assert joined(phases, "train", (5, 80)) == [(5, 10), (12, 20)]
    assert joined(phases, "train", (5, 80), bridge=2) == [(5, 20)]


def test_attributes_and_text_are_escaped() -> None:
    made = svg.element("text", 'a<b & "c"\x07', class_='x"y', text_anchor="end", x=1.5)
    read = ElementTree.fromstring(made)
    assert read.attrib == {"class": 'x"y', "text-anchor": "end", "x": "1.5"}
    assert read.text == 'a<b & "c"\ufffd'


POINTS = st.lists(st.floats(-5, 5), min_size=1, max_size=400).map(lambda losses: list(enumerate(losses)))


@given(POINTS, st.integers(2, 60))
def test_a_thinned_curve_keeps_its_extremes_its_order_and_its_end(
    points: list[tuple[int, float]], most: int
) -> None:
    kept = thinned(points, most)
    assert len(kept) <= most + 1
    assert kept == sorted(kept)
    assert kept[-1] == points[-1]
    losses = [loss for _, loss in points]
    assert {min(losses), max(losses)} <= {loss for _, loss in kept}


def test_a_resume_knows_what_was_trained_again() -> None:
    curve = Curve(((0, 0, 3.0), (10, 100, 2.0), (30, 80, 2.1), (40, 200, 1.0)), ((25, 70), (50, 200)))
    assert [(one.step, one.lost) for one in resumes(curve)] == [(70, 30), (200, 0)]
    farther = replace(node("i-1", 0, 20), steps_to=120)
    assert [one.lost for one in resumes(curve, [farther])] == [50, 0]


def test_the_first_start_is_no_resume_and_nodes_together_are_one() -> None:
    curve = Curve(((5, 0, 3.0), (10, 50, 2.0)), ((1, 0), (20, 50), (21, 50), (25, 50)))
    assert [one.at for one in resumes(curve)] == [20]


def test_a_curve_is_drawn_life_by_life() -> None:
    curve = Curve(((0, 0, 3.0), (10, 100, 2.0), (30, 80, 2.1)), ((25, 70),))
    assert lives(curve) == [[(0, 3.0), (100, 2.0)], [(80, 2.1)]]
    drawn = picture("vit", curve, resumes(curve), CLOCK)
    assert drawn.count('class="curve"') == 2
    assert drawn.count('class="lost"') == 1
    assert "30 steps trained again" in drawn


def test_losses_that_are_no_numbers_are_left_out() -> None:
    nan, inf = float("nan"), float("inf")
    assert picture("vit", Curve(((0, 0, nan),)), (), CLOCK) == ""
    drawn = picture("vit", Curve(((0, 0, nan), (1, 1, inf), (2, 2, 1.0))), (), CLOCK)
    assert "nan" not in drawn.lower()
    assert drawn.count('class="curve"') == 1


def test_a_flat_curve_of_one_point_can_be_drawn() -> None:
    ElementTree.fromstring(picture("vit", Curve(((0, 7, 0.0),)), (), CLOCK))


@pytest.mark.parametrize(("make", "many"), [(good_week, 1), (midweek, 1), (many_groups, 1), (year, 52)])
def test_a_strip_is_a_week(make: Callable[[], Story], many: int) -> None:
    assert len(strips(make())) == many


def test_every_fault_that_struck_is_marked_on_its_groups_row() -> None:
    found = marks(midweek())
    assert [mark.sign for mark in found["vit"]] == ["1", "2", "4", "o"]
    assert [mark.sign for mark in found[None]] == ["3"]
    drawn = strips(midweek())[0].picture
    assert all(f'href="#fault-{number}"' in drawn for number in (1, 2, 3, 4))


def test_what_the_bill_leaves_unexplained_is_said() -> None:
    story = three_faults()
    assert sum("not explained" in one.why for one in reasons(story)) == 0
    fewer = replace(story, bill=replace(story.bill, differences=story.bill.differences[1:]))
    last = reasons(fewer)[-1]
    gone = story.bill.differences[0]
    assert (last.why, last.minutes, last.usd) == (
        "not explained",
        f"−{-gone.minutes:,} min",
        f"−{-gone.usd:,.2f} USD",
    )


def test_the_bars_are_to_scale() -> None:
    story = three_faults()
    mine, plan, always = bars(story)
    assert 'width="100%"' in always.picture.partition("<rect")[2]
    share = 100 * story.bill.usd / story.bill.always_on_usd
    assert f'width="{share:.2f}%"' in mine.picture
    assert plan.usd == f"{story.bill.forecast_usd:,.2f} USD"
    assert total(story).usd == "−24.91 USD"


def test_the_bills_lines_add_up_to_its_sum() -> None:
    for make in (three_faults, year):
        shown = [float(line.usd.removesuffix(" USD").replace(",", "")) for line in lines(make())]
        assert round(sum(shown), 2) == round(make().bill.usd, 2)


def test_a_failed_piece_too_short_for_its_box_has_a_least_width() -> None:
    story = three_faults()
    for drawn in (strips(story)[0].picture, zoomed(story, "failed")):
        assert drawn.count('class="least failed"') >= 3
    assert 'class="least' not in strips(good_week())[0].picture


def test_a_lost_shift_is_drawn_as_one() -> None:
    assert strips(three_faults())[0].picture.count('class="window lost"') == 1
    assert 'class="window lost"' in zoomed(three_faults(), "failed")
    assert 'class="window lost"' not in strips(good_week())[0].picture


def test_a_shifts_picture_begins_and_ends_its_scale_with_the_shift_and_holds_its_marks() -> None:
    drawn = zoomed(midweek(), "failed")
    scale = re.findall(r'class="axis"[^>]*>([^<]+)<', drawn)
    assert (scale[0], scale[-1]) == ("20:00", "07:00")
    places = [float(place) for place in re.findall(r'<circle cx="([\d.]+)%"', drawn)]
    assert places
    assert all(2 <= place <= 98 for place in places)


def test_every_node_says_at_the_left_how_far_it_came_and_how_it_ended() -> None:
    drawn = zoomed(three_faults(), "disturbed")
    assert re.search(r">i-0\w+ · real · steps 0 to 16,722 · drained<", drawn)
    assert "roomy" not in drawn


def zoomed(story: Story, verdict: str) -> str:
    """The picture of the first shift that went so."""
    night = next(one for one in nights(story) if one.verdict == verdict)
    return zoom(night, Clock(story.timezone), marks(story)[night.group], stop(story))


def test_the_loss_names_its_axis_and_the_strip_what_wasnt_rehearsed() -> None:
    curve = Curve(((0, 0, 3.0), (10, 100, 2.0)), ())
    assert ">loss</text>" in picture("vit", curve, (), CLOCK)
    assert "not rehearsed" in strips(midweek())[0].picture
