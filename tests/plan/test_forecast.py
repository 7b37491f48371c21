from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightshift.plan.calendar import Calendar, Override
from nightshift.plan.capacity import Capacity, CapacityBlock, Mix, OnDemand, Spot, resolve
from nightshift.plan.forecast import (
    CENT,
    Forecast,
    GroupCost,
    VolumeCost,
    forecast,
    month_bounds,
    saved_percent,
)
from nightshift.plan.shifts import Shift
from tests.campaigns.calendar_oracle import scan, truth

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
NIGHT = (Shift(("mon", "wed", "fri"), time(20), time(7)),)
times = st.builds(time, st.integers(0, 23), st.integers(0, 59))
shifts = st.builds(Shift, st.lists(st.sampled_from(DAYS), min_size=1, max_size=7).map(tuple), times, times)
weeks = st.lists(shifts, min_size=1, max_size=3).map(tuple)
buying = st.sampled_from([OnDemand(), Spot(), Mix(1, 30)])
volumes = st.builds(
    VolumeCost,
    st.sampled_from(["a", "b"]),
    st.integers(1, 5000),
    st.integers(1, 4),
    st.sampled_from(["gp3", "io2"]),
    st.none() | st.integers(3000, 9000),
    st.none() | st.integers(125, 1000),
    st.integers(0, 10),
)


def group(
    week: tuple[Shift, ...] = NIGHT,
    zone: str = "Etc/UTC",
    capacity: Capacity | None = None,
    nodes: int = 1,
    drain: int = 0,
    types: tuple[str, ...] = ("g5.xlarge",),
) -> GroupCost:
    plan = resolve(capacity or OnDemand(), nodes=nodes, region="us-east-1", types=types)
    return GroupCost("vit", Calendar(week, zone, nodes), plan, 100, boot_minutes=5, drain_minutes=drain)


def december(*groups: GroupCost, disks: list[VolumeCost] | None = None, nat: bool = False) -> Forecast:
    return forecast(groups, disks or [], region="us-east-1", year=2026, month=12, nat=nat)


@settings(max_examples=8, deadline=None)
@given(weeks, st.sampled_from(["America/New_York", "Europe/Berlin"]), st.sampled_from([3, 10, 11]))
def test_hours_equal_the_minutes_of_a_scanned_month_through_daylight_saving(
    week: tuple[Shift, ...], zone: str, month: int
) -> None:
    start, end = month_bounds(2026, month)
    minutes = int((end - start) / timedelta(minutes=1))
    true = sum(truth(week, scan(ZoneInfo(zone), start, minutes)))
    made = forecast([group(week, zone)], [], region="us-east-1", year=2026, month=month)
    assert round(made.hours * 60, 9) == true


@settings(max_examples=60, deadline=None)
@given(weeks, buying, st.integers(1, 5), st.integers(0, 60), st.lists(volumes, max_size=3), st.booleans())
def test_the_sums_hold_and_never_exceed_the_same_things_always_on(
    week: tuple[Shift, ...], capacity: Capacity, nodes: int, drain: int, disks: list[VolumeCost], nat: bool
) -> None:
    made = december(group(week, "Asia/Shanghai", capacity, nodes, drain), disks=disks, nat=nat)
    assert made.usd == sum((line.usd for line in made.lines), Decimal())
    assert all(line.usd == line.usd.quantize(CENT) for line in made.lines)
    assert all(abs(line.quantity * line.unit_usd - line.usd) <= CENT / 2 for line in made.lines)
    assert made.low_usd <= made.usd <= made.high_usd
    assert made.usd <= made.always_on_usd
    assert made.hours <= nodes * 744
    assert all(line.source and line.usd >= 0 for line in made.lines)


@given(st.lists(volumes, min_size=1, max_size=4))
def test_volumes_cost_the_same_whether_listed_together_or_apart(disks: list[VolumeCost]) -> None:
    assert december(disks=disks).usd == sum(december(disks=[disk]).usd for disk in disks)


def test_a_night_shift_by_hand() -> None:
    made = december(group(drain=10))
    (hours,) = made.group_hours
    # December 2026 has 14 starts (Tue 1 to Thu 31): 13 whole nights and the one that Nov 30 began.
    assert hours.up == 13 * 11 + 7
    assert hours.drain == Decimal(14) / 6
    assert hours.boot == Decimal(13 * 5) / 60
    compute = made.lines[0]
    assert (compute.unit_usd, compute.usd) == (Decimal("1.006"), Decimal("153.25"))
    assert "us-east-1, 2026-07-20" in compute.source


@pytest.mark.parametrize(
    ("cap", "says"),
    [
        (600, "vit: its shifts use 600 of the 600 GPU-hours that gpu_hours_monthly allows"),
        (599, "vit: its shifts would use 600 GPU-hours; gpu_hours_monthly releases it at 599, after 100%"),
        (150, "vit: its shifts would use 600 GPU-hours; gpu_hours_monthly releases it at 150, after 25%"),
    ],
)
def test_a_cap_on_gpu_hours_is_held_against_what_the_shifts_use(cap: int, says: str) -> None:
    capped = replace(group(types=("g5.12xlarge",)), gpu_hours_monthly=cap)
    made = december(capped)
    (told,) = (one for one in made.assumptions if "gpu_hours_monthly" in one)
    assert told.startswith(says)
    assert made.usd == december(group(types=("g5.12xlarge",))).usd


def test_three_thousand_iops_and_125_mibs_come_with_a_gp3_volume() -> None:
    assert len(december(disks=[VolumeCost("a", 100, iops=3000, throughput=125)]).lines) == 1
    above = december(disks=[VolumeCost("a", 300, iops=4000, throughput=500)]).lines
    assert [line.usd for line in above] == [Decimal(24), Decimal(5), Decimal(15)]


def test_snapshots_hold_the_volume_once_and_then_its_changes() -> None:
    made = december(disks=[VolumeCost("runs", 200, snapshots_kept=7)])
    assert made.lines[1].quantity == Decimal(260)
    assert any("5 % of it" in text for text in made.assumptions)


def test_a_pool_counts_every_volume() -> None:
    assert december(disks=[VolumeCost("s", 100, count=3)]).usd == Decimal(24)


def test_spot_names_its_range_date_and_that_it_is_an_assumption() -> None:
    line = december(group(capacity=Spot())).lines[0]
    assert line.low_usd < line.usd < line.high_usd
    assert "2026-03-09 to 2026-05-31" in line.source
    assert any("spot prices move" in text for text in december(group(capacity=Spot())).assumptions)


def test_a_mix_prices_each_share_by_its_own_market() -> None:
    lines = december(group(capacity=Mix(1, 0), nodes=3)).lines
    assert [line.what for line in lines[:2]] == ["vit: 1 x g5.xlarge on-demand", "vit: 2 x g5.xlarge spot"]


def test_a_block_is_paid_for_whole_whether_used_or_not() -> None:
    block = CapacityBlock(
        "cr-1", datetime(2026, 12, 7, 11, 30, tzinfo=UTC), datetime(2026, 12, 8, 11, 30, tzinfo=UTC)
    )
    made = december(group(capacity=block, types=("p5.48xlarge",)))
    assert (made.lines[0].quantity, made.lines[0].what) == (
        24,
        "vit: 1 x p5.48xlarge capacity block, paid up front",
    )


def test_a_type_without_a_known_price_is_named_and_not_free() -> None:
    plan = resolve(OnDemand(), nodes=1, region="us-west-2", types=("p5e.48xlarge",))
    made = forecast(
        [GroupCost("vit", Calendar(NIGHT, "Etc/UTC", 1), plan, 100)],
        [],
        region="us-west-2",
        year=2026,
        month=12,
    )
    assert made.not_counted[0] == "vit: no on-demand price is known for p5e.48xlarge"


def test_what_outlives_a_destroy_is_summed_apart() -> None:
    made = december(group(), disks=[VolumeCost("runs", 200, snapshots_kept=7), VolumeCost("s", 100)])
    assert made.kept_usd == Decimal(16 + 13 + 8)
    assert made.kept_usd < made.usd


def test_a_price_from_another_region_says_so() -> None:
    plan = resolve(OnDemand(), nodes=1, region="ap-northeast-1", types=("g5.xlarge",))
    made = forecast(
        [GroupCost("vit", Calendar(NIGHT, "Etc/UTC", 1), plan, 100)],
        [],
        region="ap-northeast-1",
        year=2026,
        month=12,
    )
    assert "assumed from us-east-1" in made.lines[0].source
    assert made.lines[0].assumed_from == "us-east-1"
    assert december(group()).lines[0].assumed_from is None


def test_nat_stands_all_month_and_takes_the_public_address_away() -> None:
    plan = resolve(OnDemand(), nodes=2, region="us-east-1", types=("p5.48xlarge",), efa=True)
    cost = GroupCost("big", Calendar(NIGHT, "Etc/UTC", 2), plan, 100)
    labels = {line.what: line.quantity for line in december(cost, nat=True).lines}
    assert labels["NAT gateway"] == 744
    assert "big: public addresses" not in labels


def test_an_override_does_not_change_what_the_file_costs() -> None:
    held = GroupCost(
        "vit",
        Calendar(NIGHT, "Etc/UTC", 1, Override("down", datetime(2027, 1, 1, tzinfo=UTC))),
        group().capacity,
        100,
    )
    assert (
        december(held).hours
        == december(GroupCost("vit", Calendar(NIGHT, "Etc/UTC", 1), held.capacity, 100)).hours
    )


@pytest.mark.parametrize(("month", "hours"), [(2, 672), (12, 744), (4, 720)])
def test_a_group_that_is_always_up_costs_what_always_on_costs(month: int, hours: int) -> None:
    always = group((Shift(DAYS, time(0), time(0)),), drain=10)
    made = forecast([always], [], region="us-east-1", year=2026, month=month)
    assert made.hours == hours
    assert made.usd == made.always_on_usd


@given(usd=st.decimals(0, 10**6, places=2), always=st.decimals(0, 10**6, places=2))
def test_savings_are_rounded_to_the_nearest_percent_and_whole_only_where_nothing_is_billed(
    usd: Decimal, always: Decimal
) -> None:
    said = saved_percent(usd, always)
    if not always:
        assert said == 0
    elif usd:
        assert said <= 99
        assert said == 99 or abs(said - (1 - usd / always) * 100) <= Decimal("0.5")
    else:
        assert said == 100
