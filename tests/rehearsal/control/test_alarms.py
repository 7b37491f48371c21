"""Alarms ring when their deployed numbers say so, and their policies take a group to 0."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nightshift.rehearsal.control.alarms import alarms_of
from nightshift.rehearsal.control.fleet import Boot
from nightshift.rehearsal.control.model_fleet import ModelFleet
from nightshift.rehearsal.control.play import play
from nightshift.rehearsal.world.model import World
from tests.rehearsal.support.sites import HOUR, MONDAY, group, lab, opened, played, told


class Failing(ModelFleet):
    """Every node gives up after a minute."""

    def boot(self, instance, at, ails):
        return Boot(60, False, "no GPU answers")


class Silent(ModelFleet):
    """No node ever says a word."""

    def boot(self, instance, at, ails):
        return Boot(None, False)


def with_alarm(world: World, name: str, **changes: object) -> World:
    return replace(
        world,
        alarms=tuple(replace(one, **changes) if one.name.endswith(name) else one for one in world.alarms),
    )


def test_the_third_failed_boot_within_an_hour_stops_the_group() -> None:
    _, world = lab()
    site = played(world, fleet=Failing(1), days=1)
    failed = told(site, "boot-failed", group="desk")
    (stopped,) = told(site, "policy", group="desk")
    assert len(failed) == 3
    assert 0 < stopped.at - failed[2].at <= 60
    assert stopped.says == "nightshift-lab.desk-not-ready ran its policy stop: size 1 → 0"
    rang = told(site, "alarm", group="desk")[0]
    assert rang.says == "nightshift-lab.desk-not-ready is in alarm: 3 failed boots within 60 minutes"


def test_the_deployed_threshold_counts_not_one_of_ours() -> None:
    _, world = lab()
    site = played(with_alarm(world, "desk-not-ready", threshold=5.0), fleet=Failing(1), days=1)
    assert len(told(site, "boot-failed", group="desk")) == 5


def test_an_alarm_without_the_policy_stops_nothing() -> None:
    _, world = lab()
    deaf = with_alarm(with_alarm(world, "desk-not-ready", actions=()), "desk-stuck", actions=())
    site = played(deaf, fleet=Failing(1), days=1)
    assert told(site, "policy", group="desk") == []
    assert len(told(site, "boot-failed", group="desk")) > 10


def test_nodes_that_die_without_a_word_are_stopped_by_their_pending() -> None:
    _, world = lab()
    site = played(world, fleet=Silent(1), days=1)
    (stopped,) = told(site, "policy", group="desk")
    assert "stuck" in stopped.says
    stuck = next(one for one in world.alarms if one.name.endswith("desk-stuck"))
    launched = told(site, "launch", group="desk")[0]
    assert stopped.at - launched.at >= (stuck.needed - 1) * stuck.period_s
    assert stopped.at - launched.at <= (stuck.periods + 3) * stuck.period_s


def test_a_group_without_capacity_is_told_of_and_left_alone() -> None:
    _, world = lab()
    site = opened(world, days=1)
    site.refused["desk"] = MONDAY + 6 * HOUR
    play(site)
    rang = [event.says for event in told(site, "alarm", group="desk")]
    assert rang == [
        "nightshift-lab.desk-no-capacity is in alarm: fewer nodes in service than wanted, for 30 minutes",
        "nightshift-lab.desk-no-capacity is fine again",
    ]
    assert told(site, "policy") == []


def test_a_healthy_week_rings_no_alarm() -> None:
    _, world = lab()
    assert told(played(world), "alarm", "policy") == []


def test_the_stopped_group_comes_up_again_with_its_next_shift() -> None:
    class Mended(ModelFleet):
        def boot(self, instance, at, ails):
            return Boot(60, at > MONDAY + 12 * HOUR, "no GPU answers")

    _, world = lab()
    site = played(world, fleet=Mended(1), days=2)
    assert len(told(site, "policy", group="desk")) == 1
    assert len(told(site, "ready", group="desk")) == 1


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"expression": "SEARCH('x')"}, "isn't played here"),
        ({"expression": "a +"}, "invalid syntax"),
    ],
)
def test_an_alarm_that_is_not_understood_is_refused(changes: dict[str, str], says: str) -> None:
    _, world = lab()
    with pytest.raises(ValueError, match=says):
        alarms_of(with_alarm(world, "desk-stuck", **changes))


def test_an_alarm_on_an_unknown_metric_is_refused() -> None:
    _, world = lab()
    stuck = next(one for one in world.alarms if one.name.endswith("desk-stuck"))
    odd = tuple(replace(metric, name="CPUUtilization") for metric in stuck.metrics)
    with pytest.raises(ValueError, match="CPUUtilization"):
        alarms_of(with_alarm(world, "desk-stuck", metrics=odd))
    assert group(world, "desk").policies
