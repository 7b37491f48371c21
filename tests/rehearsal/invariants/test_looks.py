"""Rules tell what they were looked at on."""

from __future__ import annotations

from nightshift.rehearsal.invariants.looks import Looks


def test_looks_are_told_by_what_they_were_and_how_many() -> None:
    looks = Looks()
    for what in ("planned", "planned", "cut", "resume"):
        looks.add("no-step-lost", what)
    assert looks.checked("no-step-lost") == 4
    assert looks.told("no-step-lost") == (
        "1 job cut off by a crash or by AWS while it trained, 2 planned ends of jobs, "
        "1 start of a job from its last save"
    )


def test_what_was_never_exercised_is_said_where_one_would_think_it_was() -> None:
    looks = Looks()
    looks.add("no-step-lost", "planned")
    assert looks.told("no-step-lost") == "1 planned end of a job, no job cut off while it trained"
    assert Looks().told("no-step-lost") == ""


def test_excuses_are_told_with_their_reason() -> None:
    looks = Looks()
    looks.add("capacity", "edge")
    for _ in range(2):
        looks.excused("capacity", "an alarm had stopped desk")
    assert looks.told("capacity") == "1 start or end of a shift; 2 left out, since an alarm had stopped desk"
    assert (looks.checked("capacity"), Looks().told("capacity")) == (1, "")
