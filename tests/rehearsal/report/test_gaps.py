"""A shift that lacked its node for a while says when and why."""

from __future__ import annotations

from dataclasses import replace

from nightshift.rehearsal.report.gaps import without
from nightshift.rehearsal.report.nights import Night
from nightshift.rehearsal.story import NodeLife, Phase

HOUR = 3_600


def life(name: str, launched: int, ready: int, ended: int, how: str = "drained") -> NodeLife:
    phases = (Phase("boot", launched, ready), Phase("train", ready, ended))
    whole = NodeLife(name, "desk", "g6.xlarge", "spot", False, launched, ended, "drained", "", phases)
    return replace(whole, how=how)


def night(*nodes: NodeLife) -> Night:
    up = sum(phase.end - phase.start for node in nodes for phase in node.phases if phase.phase == "train")
    return Night("desk", 0, 9 * HOUR, nodes, (), "fine", up, None, 0, 0, 0.0, ())


def says(*nodes: NodeLife, low: int = 0, high: int = 20 * HOUR) -> str:
    return without(night(*nodes), low, high)


def test_a_usual_boot_isnt_worth_a_word() -> None:
    assert says(life("i-1", 10, 250, 9 * HOUR)) == ""


def test_a_slow_boot_is_told_with_its_launch_and_its_length() -> None:
    assert says(life("i-1", 40, 660, 9 * HOUR)) == (
        "11 min without a node in service: at its start, "
        "its node was launched after 40 s and booted for 10 min"
    )


def test_slow_boot_and_crash_are_told_apart() -> None:
    first = life("i-1", 0, 660, 4 * HOUR, "failed")
    second = life("i-2", 4 * HOUR + 60, 4 * HOUR + 178, 9 * HOUR)
    assert says(first, second) == (
        "14 min without a node in service: 11 min at its start, its node was launched after 0 s and booted "
        "for 11 min; 3 min after i-1 failed, its node was launched after 1 min and booted for 2 min"
    )


def test_a_shift_whose_node_ended_early_lacks_its_end() -> None:
    assert says(
        life("i-1", 0, 60, 8 * HOUR)
    ) == "1 h 01 min without a node in service: 1 min at its start, its " + (
        "node was launched after 0 s and booted for 1 min; 1 h at its end"
    )


def test_an_agent_that_began_anew_on_its_node_is_said() -> None:
    phases = (
        Phase("boot", 0, 60),
        Phase("train", 60, HOUR),
        Phase("boot", HOUR, HOUR + 900),
        Phase("train", HOUR + 900, 9 * HOUR),
    )
    one = replace(life("i-1", 0, 60, 9 * HOUR), phases=phases)
    assert says(one).endswith("15 min in between, its agent began anew")


def test_only_the_rehearsed_time_counts_and_a_lost_shift_has_its_own_words() -> None:
    assert says(life("i-1", HOUR, HOUR + 60, 9 * HOUR), low=HOUR) == ""
    assert says(life("i-1", 0, 60, 5 * HOUR), high=5 * HOUR) == ""
    assert says() == ""
