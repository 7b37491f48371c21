"""Which time zone names a stack may use: canonical IANA names, the ones AWS takes."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from zoneinfo import TZPATH

from nightshift.catalog.suggest import closest

EXAMPLE = "America/New_York"


@lru_cache(maxsize=1)
def canonical_zones() -> frozenset[str]:
    """Zones of the tz database and the places its country table names; links besides are left out."""
    zones, _ = _names()
    return zones


def zone_problem(name: str) -> str | None:
    """Why `name` can't be the zone of a group's shifts, or None when it can."""
    if name in _places():
        return None
    zones, links = _names()
    if name in zones:
        return None
    if name in links:
        target = _end(name, links, zones)
        own = "" if "/" in name or target.startswith("Etc/") else ", or the zone of your own city"
        return f'given "{name}", which is an alias; write its canonical name "{target}"{own}'
    if name in _all_names():
        return (
            f'given "{name}", which names no place; write the zone of one, such as "{EXAMPLE}" or "Etc/UTC"'
        )
    match = closest(name, zones)
    hint = f'did you mean "{match}"?' if match else f'expected an IANA name such as "{EXAMPLE}" or "Etc/UTC"'
    return f'given "{name}", which the tz database doesn\'t know; {hint}'


@lru_cache(maxsize=1)
def _names() -> tuple[frozenset[str], dict[str, str]]:
    zones, links = set(_places()), {}
    for line in _lines("tzdata.zi"):
        if line.startswith("Z "):
            zones.add(line.split()[1])
        elif line.startswith("L "):
            _, target, alias = line.split()
            links[alias] = target
    canonical = frozenset(zone for zone in zones if "/" in zone)
    return canonical, {alias: target for alias, target in links.items() if alias not in canonical}


@lru_cache(maxsize=1)
def _places() -> frozenset[str]:
    """The zones that stand for a place, by country; nearly every stack names one of these."""
    return frozenset(line.split("\t")[2] for line in _lines("zone.tab") if not line.startswith("#"))


def _lines(name: str) -> list[str]:
    """A text table of the tz database: the installed package's, else the system's.

    Raises FileNotFoundError where neither is there.
    """
    package = find_spec("tzdata")
    folders = [f"{place}/zoneinfo" for place in (package.submodule_search_locations or [])] if package else []
    for folder in (*folders, *TZPATH):
        if (path := Path(folder, name)).is_file():
            return path.read_text(encoding="utf-8").splitlines()
    raise FileNotFoundError(f"no tz database with {name}; install the package tzdata")


def _all_names() -> frozenset[str]:
    from zoneinfo import available_timezones  # walks the whole database, so only for a name that's refused

    return frozenset(available_timezones())


def _end(name: str, links: dict[str, str], zones: frozenset[str]) -> str:
    while name in links and name not in zones:
        name = links[name]
    return name
