from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightshift.catalog.instance_types import instance_types
from nightshift.catalog.tiers import TIERS
from nightshift.plan.blocks import block_problems
from nightshift.plan.calendar import Calendar
from nightshift.plan.capacity import (
    Capacity,
    CapacityBlock,
    Mix,
    OnDemand,
    Spot,
    needs_private_subnet,
    on_demand_nodes,
    resolve,
)
from nightshift.plan.errors import PlanError
from nightshift.plan.interfaces import Interface, efa_interfaces
from nightshift.plan.quotas import QuotaNeed, total_needs
from nightshift.plan.shifts import Shift

REGION = "us-east-1"
BLOCK = CapacityBlock("cr-1")


def refused(capacity: Capacity, **given: object) -> str:
    with pytest.raises(PlanError) as caught:
        resolve(capacity, **({"nodes": 1, "region": REGION} | given))  # ty: ignore[invalid-argument-type]
    return "\n".join(caught.value.problems)


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("capacity", [OnDemand(), Spot(), Mix(1, 50)])
def test_every_tier_resolves_in_us_east_1(tier: str, capacity: Capacity) -> None:
    plan = resolve(capacity, nodes=1, region=REGION, tier=tier)
    assert plan.types
    assert set(plan.types) <= set(TIERS[tier].types)
    assert list(plan.types) == [name for name in TIERS[tier].types if name in plan.types], (
        "order is the tier's"
    )


def test_spot_asks_for_no_on_demand_and_on_demand_for_nothing_else() -> None:
    spot = resolve(Spot(), nodes=1, region=REGION, tier="small")
    regular = resolve(OnDemand(), nodes=1, region=REGION, tier="small")
    assert (spot.market, spot.on_demand_base, spot.on_demand_percent) == ("spot", 0, 0)
    assert (regular.market, regular.on_demand_base, regular.on_demand_percent) == ("on-demand", 0, 100)
    assert spot.spot_strategy == "capacity-optimized-prioritized"
    assert regular.on_demand_strategy == "prioritized"


def test_a_type_the_region_lacks_is_left_out_of_a_tier_and_noted() -> None:
    plan = resolve(OnDemand(), nodes=1, region="eu-west-1", tier="small")
    assert plan.types == ("g5.2xlarge", "g5.4xlarge")
    assert any("g6.2xlarge: not offered in eu-west-1" in note for note in plan.notes)


def test_a_named_type_the_region_lacks_is_refused_with_where_it_is() -> None:
    assert "not offered in eu-west-1; offered in" in refused(
        OnDemand(), region="eu-west-1", types=("g6.xlarge",)
    )


def test_several_nodes_use_the_first_type_of_a_tier() -> None:
    plan = resolve(OnDemand(), nodes=2, region=REGION, tier="medium")
    assert plan.types == ("g6.12xlarge",)
    assert plan.placement == "cluster"


def test_several_nodes_of_several_named_types_are_refused() -> None:
    assert "2 nodes work together on one type" in refused(
        OnDemand(), nodes=2, types=("g6.12xlarge", "g5.12xlarge")
    )


def test_one_node_needs_no_placement_and_one_interface() -> None:
    plan = resolve(OnDemand(), nodes=1, region=REGION, tier="xlarge")
    assert (plan.placement, plan.interfaces, plan.private_subnet) == (
        None,
        (Interface(0, 0, "interface"),),
        False,
    )


def test_a_capacity_block_has_its_reservation_no_placement_and_no_quota() -> None:
    plan = resolve(BLOCK, nodes=2, region=REGION, types=("p5.48xlarge",), efa=True)
    assert (plan.market, plan.reservation, plan.placement, plan.quotas) == ("capacity-block", BLOCK, None, ())


def test_a_capacity_block_of_a_tier_must_name_its_type() -> None:
    assert "a capacity block holds one type; name one of p5.48xlarge" in refused(BLOCK, tier="xlarge")


def test_a_type_without_capacity_blocks_is_refused() -> None:
    assert "not sold as capacity-block" in refused(BLOCK, types=("g5.xlarge",))


def test_all_problems_of_the_types_come_at_once() -> None:
    said = refused(Spot(), types=("g5.xlarg", "g5g.xlarge", "g6.12xlarge", "g6.12xlarge", "p3.2xlarge"))
    assert 'did you mean "g5.xlarge"?' in said
    assert "no region offers it any more" in said
    assert "g6.12xlarge is listed twice" in said
    assert "architecture (arm64, x86_64)" in said
    assert "number of GPUs (1, 4)" in said


def test_more_types_than_a_mixed_policy_takes_are_refused() -> None:
    single = [kind.name for kind in instance_types().values() if REGION in kind.regions]
    assert "AWS allows 40" in refused(OnDemand(), types=tuple(single[:41]))


def test_a_misspelt_tier_gets_a_suggestion() -> None:
    assert 'did you mean "medium"?' in refused(OnDemand(), tier="medum")


@pytest.mark.parametrize("given", [{}, {"tier": "small", "types": ("g5.xlarge",)}])
def test_a_group_takes_a_tier_or_types(given: dict[str, object]) -> None:
    assert "one of the two" in refused(OnDemand(), **given)


def test_efa_on_a_type_without_it_is_refused() -> None:
    assert "g5.xlarge has no EFA interface" in refused(OnDemand(), types=("g5.xlarge",), efa=True)


@pytest.mark.parametrize("kind", [kind for kind in instance_types().values() if kind.efa_max_interfaces])
def test_the_layout_uses_every_efa_interface_and_card_once(kind: object) -> None:
    from nightshift.catalog.instance_types import InstanceType

    assert isinstance(kind, InstanceType)
    layout = efa_interfaces(kind)
    assert sum(each.kind != "interface" for each in layout) == kind.efa_max_interfaces
    assert {each.card for each in layout} == set(range(kind.network_cards or 0))
    assert len({(each.card, each.device) for each in layout}) == len(layout)
    assert layout[0] == Interface(0, 0, "efa" if len(layout) == 1 else "interface"), (
        "efa-only can't be primary"
    )
    assert max(each.device for each in layout) <= 1
    assert needs_private_subnet(kind.name) == (len(layout) > 1)


def test_b300_has_plain_ip_alone_on_card_0() -> None:
    layout = efa_interfaces(instance_types()["p6-b300.48xlarge"])
    assert [each for each in layout if each.card == 0] == [Interface(0, 0, "interface")]
    assert len(layout) == 17


def test_quotas_count_the_worst_type_times_the_nodes_per_way_of_buying() -> None:
    plan = resolve(Mix(1, 50), nodes=4, region=REGION, types=("g6.12xlarge",))
    assert plan.quotas == (
        QuotaNeed("L-DB2E81BA", "on-demand G and VT instances", 3 * 48),
        QuotaNeed("L-3819A6DF", "spot G and VT instances", 48),
    )
    assert resolve(Spot(), nodes=1, region=REGION, tier="small").quotas[0].vcpus == 16


def test_p_types_count_against_p() -> None:
    assert resolve(OnDemand(), nodes=2, region=REGION, tier="large").quotas[0].code == "L-417A185B"


def test_quotas_of_groups_add_up() -> None:
    one, two = QuotaNeed("L-1", "x", 8), QuotaNeed("L-2", "y", 4)
    assert total_needs([(one,), (one, two)]) == (QuotaNeed("L-1", "x", 16), two)


@given(st.integers(0, 20), st.integers(0, 100), st.integers(1, 20))
def test_the_on_demand_share_is_the_base_plus_the_percentage_rounded_up(
    base: int, percent: int, nodes: int
) -> None:
    count = on_demand_nodes(Mix(base, percent), nodes)
    assert min(base, nodes) <= count <= nodes
    rest = nodes - min(base, nodes)
    assert 0 <= (count - min(base, nodes)) * 100 - rest * percent < 100


NIGHT = Calendar((Shift(("mon",), time(20), time(7)),), "Etc/UTC", 1)
START = datetime(2026, 12, 7, 11, 30, tzinfo=UTC)
DRAIN = timedelta(minutes=10)


def test_a_shift_inside_a_block_is_fine_up_to_the_last_minute() -> None:
    fits = CapacityBlock("cr-1", START, datetime(2026, 12, 8, 7, 40, tzinfo=UTC))
    assert block_problems(NIGHT, fits, DRAIN) == ()


def test_a_shift_that_ends_too_near_the_blocks_end_is_refused_with_the_latest_end() -> None:
    (problem,) = block_problems(
        NIGHT, CapacityBlock("cr-1", START, datetime(2026, 12, 8, 7, 39, tzinfo=UTC)), DRAIN
    )
    assert "let it end by Tue 2026-12-08 06:59 UTC" in problem


def test_a_shift_that_begins_before_the_block_is_refused() -> None:
    block = CapacityBlock("cr-1", datetime(2026, 12, 7, 21, tzinfo=UTC), datetime(2026, 12, 9, tzinfo=UTC))
    (problem,) = block_problems(NIGHT, block, DRAIN)
    assert "begins before the block does" in problem


def test_a_block_without_any_shift_is_refused() -> None:
    block = CapacityBlock("cr-1", datetime(2026, 12, 9, tzinfo=UTC), datetime(2026, 12, 11, tzinfo=UTC))
    (problem,) = block_problems(NIGHT, block, DRAIN)
    assert "no shift falls into it" in problem


def test_a_block_whose_begin_is_not_known_is_judged_by_its_end() -> None:
    block = CapacityBlock("cr-1", None, datetime(2026, 12, 8, 7, tzinfo=UTC))
    assert len(block_problems(NIGHT, block, DRAIN)) == 1
    assert block_problems(NIGHT, CapacityBlock("cr-1"), DRAIN) == ()
