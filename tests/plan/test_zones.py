from __future__ import annotations

from zoneinfo import ZoneInfo, available_timezones

import pytest

from nightshift.plan.zones import canonical_zones, zone_problem


def test_every_canonical_zone_loads_and_there_are_hundreds() -> None:
    assert len(canonical_zones()) > 400
    assert all(ZoneInfo(zone) for zone in canonical_zones())


@pytest.mark.parametrize(
    "zone", ["Asia/Shanghai", "America/New_York", "Europe/Amsterdam", "Etc/UTC", "Etc/GMT+8"]
)
def test_a_place_is_taken(zone: str) -> None:
    assert zone_problem(zone) is None


@pytest.mark.parametrize(
    ("alias", "canonical"),
    [
        ("US/Eastern", "America/New_York"),
        ("Asia/Calcutta", "Asia/Kolkata"),
        ("UTC", "Etc/UTC"),
    ],
)
def test_an_alias_is_refused_with_its_canonical_name(alias: str, canonical: str) -> None:
    assert (
        zone_problem(alias) == f'given "{alias}", which is an alias; write its canonical name "{canonical}"'
    )


@pytest.mark.parametrize("zone", ["EST", "CST6CDT", "MST7MDT", "Factory"])
def test_an_abbreviation_is_refused(zone: str) -> None:
    assert "alias" in (zone_problem(zone) or "") or "names no place" in (zone_problem(zone) or "")


@pytest.mark.parametrize("zone", ["+08:00", "GMT+8h", "", "nowhere", "../etc/passwd"])
def test_an_offset_or_nonsense_is_refused_with_an_example(zone: str) -> None:
    assert "the tz database doesn't know" in (zone_problem(zone) or "")


def test_a_misspelt_zone_gets_a_suggestion() -> None:
    assert zone_problem("asia/shangai") == (
        'given "asia/shangai", which the tz database doesn\'t know; did you mean "Asia/Shanghai"?'
    )


def test_every_name_python_knows_is_either_taken_or_refused_with_a_way_out() -> None:
    for name in available_timezones():
        problem = zone_problem(name)
        assert problem is None or "write" in problem, name


def test_an_abbreviation_is_refused_with_one_of_its_places_and_the_advice_to_name_ones_own() -> None:
    says = zone_problem("CET")
    assert says is not None
    assert says.endswith('write its canonical name "Europe/Brussels", or the zone of your own city')
