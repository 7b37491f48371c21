from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from nightshift.catalog import limits
from nightshift.catalog.limits import Limit, Range
from nightshift.catalog.prices import Item, unit_price
from nightshift.catalog.regions import REGIONS, region_problem, zone_problem
from nightshift.catalog.suggest import closest, unknown

ROOT = Path(__file__).parents[2] / "nightshift"
ITEMS: tuple[Item, ...] = (
    "gp3-gib",
    "gp3-iops",
    "gp3-throughput",
    "io2-gib",
    "io2-iops",
    "snapshot-gib",
    "ipv4-hour",
    "nat-hour",
    "nat-gib",
)


@pytest.mark.parametrize("item", ITEMS)
@pytest.mark.parametrize("region", ["us-east-1", "eu-north-1", "ap-south-1"])
def test_every_price_has_unit_date_source_and_says_when_it_is_assumed(item: Item, region: str) -> None:
    price = unit_price(item, region)
    assert price.usd > 0
    assert price.unit
    assert price.date
    assert price.source
    assert price.assumed == (price.region != region)


def test_a_european_region_takes_the_irish_price_where_there_is_one() -> None:
    assert (unit_price("gp3-gib", "eu-north-1").region, unit_price("gp3-iops", "eu-north-1").region) == (
        "eu-west-1",
        "us-east-1",
    )


def test_every_limit_has_a_unit_and_a_source_and_ranges_are_ordered() -> None:
    found = [value for value in vars(limits).values() if isinstance(value, Limit | Range)]
    assert len(found) > 40
    assert all(each.source and each.unit for each in found)
    assert all(each.least <= each.most for each in found if isinstance(each, Range))


def test_a_range_holds_both_its_ends() -> None:
    assert 3_000 in limits.GP3_IOPS
    assert 80_000 in limits.GP3_IOPS
    assert 2_999 not in limits.GP3_IOPS


@pytest.mark.parametrize("region", sorted(REGIONS))
def test_every_known_region_and_a_zone_of_it_pass(region: str) -> None:
    assert region_problem(region) is None
    assert zone_problem(f"{region}a", region) is None


@pytest.mark.parametrize(
    ("zone", "says"),
    [
        ("us-west-2a", "is in us-west-2"),
        ("use1-az4", "zone id"),
        ("us-east-1", "expected an availability zone"),
    ],
)
def test_a_wrong_zone_says_what_it_is(zone: str, says: str) -> None:
    assert says in (zone_problem(zone, "us-east-1") or "")


def test_a_misspelt_region_gets_a_suggestion() -> None:
    assert 'did you mean "us-east-1"?' in (region_problem("us_east_1") or "")


def test_suggestions_come_only_from_near_by() -> None:
    assert closest("Medum", ["small", "medium"]) == "medium"
    assert closest("zzz", ["small", "medium"]) is None
    assert "expected one of large, small" in unknown("tier", "zzz", ["small", "large"], "Nightshift")


@pytest.mark.parametrize(
    "path", sorted([*ROOT.glob("catalog/*.py"), *ROOT.glob("plan/*.py")]), ids=lambda p: p.stem
)
def test_a_nodes_python_3_10_can_run_it(path: Path) -> None:
    newer = {
        ("datetime", "UTC"),
        ("enum", "StrEnum"),
        ("typing", "Self"),
        ("typing", "assert_never"),
        ("typing", "override"),
    }
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 10))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert not {(node.module or "", alias.name) for alias in node.names} & newer
            root = (node.module or "").split(".")[0]
            assert root in sys.stdlib_module_names or root == "nightshift", f"{path.name} imports {root}"
            assert root not in {"tomllib"}


def test_importing_the_plan_loads_nothing_heavy() -> None:
    names = ("pydantic", "boto3", "pulumi", "asyncio", "difflib", "email")
    loaded = (
        "import sys, nightshift.plan.forecast, nightshift.plan.volumes, nightshift.plan.zones;"
        f"print([name for name in {names!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
