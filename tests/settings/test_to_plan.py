"""The models become the plain values that plan decides on."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightshift.plan import capacity as planned
from nightshift.plan.shifts import Shift
from nightshift.settings import Stack, from_config
from nightshift.settings import to_plan as plan

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
SHIFTS = [{"days": ["fri", "sat"], "from": "20:00", "to": "07:00"}]


def stack(**groups: Mapping[str, object]) -> Stack:
    """A stack of these groups, with a volume of the site, a pool and an adopted one."""
    raw = {
        "aws:region": "us-east-1",
        "site": {
            "zone": "us-east-1a",
            "timezone": "Asia/Shanghai",
            "owner": "vision",
            "image": "ami-0abc0000000000001",
        },
        "volumes": {
            "runs": {"size_gib": 200, "snapshots": "nightly"},
            "pool": {"size_gib": 50, "per": "node", "type": "io2", "iops": 4000},
            "old": {"size_gib": 10, "adopt": "vol-0abc0000000000001"},
            "copy": {"size_gib": 10, "from": "snap-0abc0000000000001"},
        },
        "snapshots": {"nightly": {"at_utc": "07:00", "keep": 7}},
        "groups": {name: {"shifts": SHIFTS, **group} for name, group in groups.items()},
    }
    return from_config(raw, "lab", now=NOW)


@given(st.integers(1, 99_999))
def test_durations_are_minutes(count: int) -> None:
    assert plan.minutes(f"{count}m") == count
    assert plan.minutes(f"{count}h") == count * 60


@given(st.times())
def test_clock_times_are_wall_times(at: time) -> None:
    assert plan.clock(at.strftime("%H:%M")) == at.replace(second=0, microsecond=0)


@given(st.datetimes(datetime(2000, 1, 1), datetime(2099, 12, 31)))
def test_instants_are_utc(at: datetime) -> None:
    whole = at.replace(second=0, microsecond=0, tzinfo=UTC)
    assert plan.instant(at.strftime("%Y-%m-%dT%H:%MZ")) == whole


def test_a_day_that_no_calendar_has_is_no_instant() -> None:
    with pytest.raises(ValueError, match="day is out of range"):
        plan.instant("2026-02-30T11:30Z")


def test_shifts_keep_their_days_and_times() -> None:
    group = stack(a={"tier": "small"}).groups["a"]
    assert plan.shifts_of(group) == (Shift(("fri", "sat"), time(20), time(7)),)


def test_a_group_lives_in_its_own_zone_or_the_sites() -> None:
    both = stack(a={"tier": "small"}, b={"tier": "small", "timezone": "Europe/Berlin"})
    assert plan.zone_of(both.site, both.groups["a"]) == "Asia/Shanghai"
    assert plan.calendar_of(both.site, both.groups["b"]).zone == "Europe/Berlin"


@pytest.mark.parametrize(
    ("given_capacity", "expected"),
    [
        ("spot", planned.Spot()),
        ("on-demand", planned.OnDemand()),
        ({"on_demand_base": 1}, planned.Mix(1, 0)),
        ({"on_demand_percent": 30}, planned.Mix(0, 30)),
    ],
)
def test_capacity_keeps_its_form(given_capacity: object, expected: planned.Capacity) -> None:
    assert plan.capacity_of(stack(a={"tier": "small", "capacity": given_capacity}).groups["a"]) == expected


def test_a_capacity_block_keeps_its_times() -> None:
    block = {
        "capacity_block": "cr-0abc0000000000001",
        "starts": "2026-12-25T11:30Z",
        "ends": "2026-12-26T11:30Z",
    }
    group = {
        "types": ["p5.48xlarge"],
        "capacity": block,
        "shifts": [{"days": ["sat"], "from": "10:00", "to": "11:00"}],
    }
    assert plan.capacity_of(stack(a=group).groups["a"]) == planned.CapacityBlock(
        "cr-0abc0000000000001",
        datetime(2026, 12, 25, 11, 30, tzinfo=UTC),
        datetime(2026, 12, 26, 11, 30, tzinfo=UTC),
    )


def test_a_pool_has_a_volume_for_each_node_of_its_group() -> None:
    four = stack(a={"types": ["g5.12xlarge"], "nodes": 4, "volumes": ["pool"]})
    specs = {spec.name: spec for spec in plan.volume_specs(four)}
    assert specs["pool"].count == 4
    assert specs["runs"].count == 1
    assert specs["old"].adopt == "vol-0abc0000000000001"
    assert specs["copy"].from_snapshot == "snap-0abc0000000000001"


def test_a_pool_that_nobody_mounts_is_one_volume() -> None:
    assert plan.pool_size(stack(a={"tier": "small"}), "pool") == 1


def test_the_forecast_sees_sizes_types_and_snapshots() -> None:
    costs = {cost.name: cost for cost in plan.volume_costs(stack(a={"tier": "small", "volumes": ["runs"]}))}
    assert (costs["runs"].kind, costs["runs"].snapshots_kept) == ("gp3", 7)
    assert (costs["pool"].kind, costs["pool"].iops, costs["pool"].snapshots_kept) == ("io2", 4000, 0)


def test_nat_is_needed_for_nodes_with_several_cards_only() -> None:
    fabric = {"types": ["p4d.24xlarge"], "nodes": 2}
    assert not plan.needs_nat(stack(a=fabric))
    assert plan.needs_nat(stack(a={**fabric, "efa": True}))


def test_group_costs_carry_drain_and_root() -> None:
    (cost,) = plan.group_costs(stack(a={"tier": "small", "drain": "20m", "root_gib": 300}))
    assert (cost.drain_minutes, cost.root_gib, cost.public_address) == (20, 300, True)
