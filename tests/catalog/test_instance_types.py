from __future__ import annotations

from decimal import Decimal

import pytest

from nightshift.catalog.instance_types import InstanceType, instance_type, instance_types
from nightshift.catalog.runtimes import NEWEST, RUNTIMES
from nightshift.catalog.tiers import TIERS

ALL = list(instance_types().values())


def test_the_table_holds_all_types_once_and_is_read_once() -> None:
    assert len(ALL) == 69
    assert instance_types() is instance_types()


def test_a_row_is_read_as_it_stands() -> None:
    kind = instance_type("p5.48xlarge")
    assert (kind.gpu_model, kind.gpu_count, kind.vcpus, kind.arch) == ("H100", 8, 192, "x86_64")
    assert (kind.efa_max_interfaces, kind.network_cards, kind.compute_capability) == (32, 32, (9, 0))
    assert kind.capacity_block
    assert "us-east-1" in kind.regions
    assert "use1-az1" in kind.zone_ids["us-east-1"]


def test_an_unknown_type_suggests_the_nearest() -> None:
    with pytest.raises(KeyError, match=r'did you mean \\?"g6.12xlarge\\?"'):
        instance_type("g6.12xlage")


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.name)
def test_prices_are_positive_dated_and_ordered(kind: InstanceType) -> None:
    for region in ("us-east-1", "us-west-2", "eu-west-1", "ap-south-1"):
        price, spot, block = kind.on_demand_price(region), kind.spot_price(region), kind.block_price(region)
        for found in (price, block):
            assert found is None or (found.usd > 0 and found.date)
            assert found is None or found.assumed == (found.region != region)
        assert spot is None or (0 < spot.low <= spot.likely <= spot.high and spot.date)


def test_a_price_is_the_regions_own_or_says_where_it_is_from() -> None:
    kind = instance_type("g6.xlarge")
    own, near, far = (kind.on_demand_price(region) for region in ("us-west-2", "eu-central-1", "ap-south-1"))
    assert own is not None
    assert near is not None
    assert far is not None
    assert (own.usd, own.assumed) == (Decimal("0.8048"), False)
    assert (near.region, near.assumed) == ("eu-west-2", True)
    assert (far.region, far.assumed) == ("us-east-1", True)


def test_a_price_that_nobody_knows_is_none() -> None:
    assert instance_type("p5e.48xlarge").on_demand_price("us-east-1") is None
    assert instance_type("g5.xlarge").block_price("us-east-1") is None


def test_an_ultraserver_rate_is_no_instance_rate() -> None:
    assert instance_type("p6e-gb200.36xlarge").block_price("us-east-1") is None


def test_quota_families_go_by_the_api_and_not_by_the_gpu() -> None:
    assert {instance_type(name).family for name in ("g4dn.xlarge", "g5.xlarge", "gr6.4xlarge")} == {
        "G and VT"
    }
    assert instance_type("p4d.24xlarge").family == "P"


def test_a_retired_type_has_no_region() -> None:
    assert [kind.name for kind in ALL if kind.retired] == ["p3.2xlarge", "p3.8xlarge", "p3.16xlarge"]


@pytest.mark.parametrize("tier", TIERS.values(), ids=lambda tier: tier.name)
def test_a_tiers_types_exist_and_share_architecture_and_gpu_count(tier: object) -> None:
    from nightshift.catalog.tiers import Tier

    assert isinstance(tier, Tier)
    kinds = [instance_type(name) for name in tier.types]
    assert len({(kind.arch, kind.gpu_count) for kind in kinds}) == 1
    assert len(set(tier.types)) == len(tier.types)
    assert not any(kind.retired for kind in kinds)


@pytest.mark.parametrize(
    ("runtime", "capability", "runs"),
    [
        ("torch-2.6-cu124", (7, 0), True),
        ("torch-2.6-cu124", (8, 9), True),
        ("torch-2.6-cu124", (10, 0), False),
        ("torch-2.8-cu128", (12, 0), True),
        ("torch-2.8-cu128", (10, 3), True),
        ("torch-2.15-cu132", (7, 0), False),
        ("cpu", (7, 0), True),
    ],
)
def test_a_runtime_runs_on_a_card_of_its_major_and_no_lower_minor(
    runtime: str, capability: tuple[int, int], runs: bool
) -> None:
    assert RUNTIMES[runtime].runs_on(capability) is runs


@pytest.mark.parametrize(
    ("driver", "enough"), [("525.60.13", True), ("525.60.9", False), ("580.126.09", True), ("470", False)]
)
def test_drivers_compare_part_by_part(driver: str, enough: bool) -> None:
    assert RUNTIMES["torch-2.6-cu124"].driver_suffices(driver) is enough


def test_the_newest_runtime_is_a_preset() -> None:
    assert NEWEST in RUNTIMES
