"""The lab's week on the real engine: shifts, overrides, an edit under a hold, the end and the return.

One stack stands for all tests of this file; each leaves it without nodes and overrides.
"""

from __future__ import annotations

import pytest

from tests.engine.conftest import Deploy
from tests.engine.support.facts import check_all
from tests.engine.support.looking import (
    actions,
    counts,
    everything,
    group,
    starts,
    state_of_nodes,
    volume_ids,
)
from tests.engine.support.nodes import drained, draining_later, resize, shift_begins, shift_ends
from tests.engine.support.site import Deployed, Document, changes

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("engine-lab")]
NOW = "2026-12-02T13:00:00Z"
"""Wednesday, 21:00 in Shanghai: an hour into the shift of `vit`, which ends Thursday at 07:00."""


@pytest.fixture(scope="module")
def opened(deploy: Deploy) -> Deployed:
    site = deploy("lab")
    site.cloud.control("clock", {"now": NOW})
    return site


@pytest.fixture(scope="module")
def blank(opened: Deployed) -> dict[str, int]:
    """What stood before the stack's first up."""
    return counts(opened)


@pytest.fixture(scope="module")
def lab(opened: Deployed, blank: dict[str, int]) -> Deployed:
    opened.up()
    return opened


def test_it_stands_as_its_file_says_and_stays_so(lab: Deployed) -> None:
    check_all(lab)
    lab.stays_as_it_is("on a stack that stands")


def test_nothing_changes_while_a_node_trains(lab: Deployed) -> None:
    shift_begins(lab, "vit")
    lab.stays_as_it_is("in the middle of a shift")
    assert state_of_nodes(lab, "vit") == ["InService"]
    assert group(lab, "vit")["DesiredCapacity"] == 1
    shift_ends(lab, "vit")


def test_a_hold_a_wake_and_a_resume_survive_what_is_deployed_over_them(lab: Deployed) -> None:
    regular = starts(lab, "vit")
    assert regular == {"up-2000": "2026-12-04T12:00Z", "down-0700": "2026-12-02T23:00Z"}
    shift_begins(lab, "vit")

    lab.says(NOW, "hold", "vit", "--until", "2026-12-08T00:00Z", "--yes")
    held = {**regular, "up-2000": "2026-12-09T12:00Z"}
    assert starts(lab, "vit") == held
    assert state_of_nodes(lab, "vit") == ["Terminating:Wait"]
    lab.stays_as_it_is("under a hold, while the node drains")
    assert starts(lab, "vit") == held
    drained(lab, "vit")

    lab.says(NOW, "wake", "vit", "--until", "2026-12-03T04:00Z", "--yes")
    woken = {
        "up-2000": "2026-12-04T12:00Z",
        "down-0700": "2026-12-04T23:00Z",
        "wake-end": "2026-12-03T04:00Z",
    }
    assert starts(lab, "vit") == woken
    assert group(lab, "vit")["DesiredCapacity"] == 1
    shift_begins(lab, "vit")
    lab.stays_as_it_is("after a wake")
    assert starts(lab, "vit") == woken
    assert state_of_nodes(lab, "vit") == ["InService"]

    lab.says(NOW, "resume", "vit", "--yes")
    assert starts(lab, "vit") == regular
    lab.stays_as_it_is("after a resume")
    assert starts(lab, "vit") == regular
    assert state_of_nodes(lab, "vit") == ["InService"]
    shift_ends(lab, "vit")


def test_a_shift_edited_under_a_hold_stays_held(lab: Deployed) -> None:
    lab.says(NOW, "hold", "vit", "--until", "2026-12-08T00:00Z", "--yes")

    lab.edit(lambda config: _shift(config, days=["mon", "tue", "wed", "fri"]))
    changed = {step.name for step in lab.up().changed_steps() if step.type.endswith(":Schedule")}
    assert changed == {"vit-up-2000", "vit-down-0700"}
    assert starts(lab, "vit") == {"up-2000": "2026-12-08T12:00Z", "down-0700": "2026-12-02T23:00Z"}
    assert actions(lab, "vit")["up-2000"]["Recurrence"] == "0 20 * * MON,TUE,WED,FRI"
    assert changes(lab.up()) == []

    lab.edit(lambda config: _shift(config, start="21:00"))
    lab.up()
    assert starts(lab, "vit") == {"up-2100": "2026-12-09T13:00Z", "down-0700": "2026-12-02T23:00Z"}
    assert group(lab, "vit")["DesiredCapacity"] == 0

    lab.says(NOW, "resume", "vit", "--yes")
    assert starts(lab, "vit")["up-2100"] == "2026-12-04T13:00Z"
    shift_ends(lab, "vit")


def test_an_end_edited_under_a_wake_lets_the_wake_last(lab: Deployed) -> None:
    lab.says(NOW, "wake", "vit", "--until", "2026-12-03T04:00Z", "--yes")
    lab.edit(lambda config: _shift(config, end="08:00"))
    lab.up()
    assert starts(lab, "vit") == {
        "up-2000": "2026-12-04T12:00Z",
        "down-0800": "2026-12-05T00:00Z",
        "wake-end": "2026-12-03T04:00Z",
    }
    assert group(lab, "vit")["DesiredCapacity"] == 1
    assert changes(lab.up()) == []
    lab.says(NOW, "resume", "vit", "--yes")
    shift_ends(lab, "vit")
    lab.edit(lambda config: None)
    lab.up()
    check_all(lab)


def test_a_destroy_waits_for_the_drain_and_the_data_comes_back(lab: Deployed, blank: dict[str, int]) -> None:
    stands, ids = counts(lab), volume_ids(lab)
    shift_begins(lab, "vit")
    shift_begins(lab, "desk")
    resize(lab, "desk", 0)
    assert state_of_nodes(lab, "desk") == ["Terminating:Wait"]
    with draining_later(lab, "vit", 4) as training, draining_later(lab, "desk", 6) as leaving:
        lab.destroy()
    assert [len(seen["drained"]) for seen in (training, leaving)] == [1, 1]
    assert not training["gone_before"]
    assert not leaving["gone_before"]

    kept = {kind: count - blank.get(kind, 0) for kind, count in counts(lab).items()}
    assert {kind: count for kind, count in kept.items() if count} == {"Volumes": 2, "buckets": 1}
    assert volume_ids(lab) == ids
    assert [name.split("-")[2] for name in everything(lab)["buckets"]] == ["data"]

    lab.up()
    assert volume_ids(lab) == ids
    assert counts(lab) == stands
    assert changes(lab.up()) == []


def _shift(config: Document, days: list[str] | None = None, start: str = "20:00", end: str = "07:00") -> None:
    config["groups"]["vit"]["shifts"] = [{"days": days or ["mon", "wed", "fri"], "from": start, "to": end}]
