"""Three of the shipped stacks side by side in one account, each from nothing to what is kept of it.

The stories of lab and cluster have files of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from tests.engine.conftest import Deploy
from tests.engine.support.facts import check_all
from tests.engine.support.looking import counts, everything, group, starts, state_of_nodes, volume_ids
from tests.engine.support.nodes import drained, shift_begins, shift_ends
from tests.engine.support.site import Deployed

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("engine-shipped")]
GROUPS = {"rehearsal": "train", "solo": "desk", "team": "shared"}
KEPT = {"Volumes": 5, "buckets": 3}
"""data and runs, home, home and corpora; a data bucket each."""
EVENING, MORNING = "2026-12-03T01:30:00Z", "2026-12-03T10:00:00Z"
"""Wednesday 20:30 in New York and 17:30 in Los Angeles; Thursday 11:00 in Berlin."""


def test_stacks_stand_as_their_files_say_stay_so_and_go_but_for_what_is_kept(deploy: Deploy) -> None:
    sites = {name: deploy(name) for name in GROUPS}
    every = list(sites.values())
    every[0].cloud.control("clock", {"now": EVENING})
    before = _summed(every)
    _each(every, lambda site: site.up())
    for site in every:
        check_all(site)
    _each(every, lambda site: site.stays_as_it_is("on a stack that stands"))
    _each([sites["rehearsal"], sites["solo"]], partial(_a_night, now=EVENING))
    sites["team"].cloud.control("clock", {"now": MORNING})
    _a_night(sites["team"], MORNING)
    ids = {site.name: volume_ids(site) for site in every}
    _each(every, Deployed.destroy)
    left = _summed(every)
    assert {kind: left[kind] - before.get(kind, 0) for kind in left if left[kind] != before.get(kind)} == KEPT
    assert {site.name: volume_ids(site) for site in every} == ids
    for site in every:
        assert [bucket for bucket in everything(site)["buckets"] if "artifacts" in bucket] == []


def _a_night(site: Deployed, now: str) -> None:
    """A shift, a hold, a wake and a resume; what is deployed over each changes nothing."""
    name = GROUPS[site.name]
    regular = starts(site, name)
    shift_begins(site, name)
    _unmoved(site, "in the middle of a shift", ["InService"])

    site.says(now, "hold", name, "--until", "2026-12-06T00:00Z", "--yes")
    drained(site, name)
    held = starts(site, name)
    assert {key for key in held if held[key] != regular[key]} == {
        key for key in held if key.startswith("up-")
    }
    _unmoved(site, "under a hold", [])

    site.says(now, "wake", name, "--until", "2026-12-03T14:00Z", "--yes")
    shift_begins(site, name)
    _unmoved(site, "after a wake", ["InService"])

    site.says(now, "resume", name, "--yes")
    assert starts(site, name) == regular
    _unmoved(site, "after a resume", ["InService"])
    shift_ends(site, name)


def _unmoved(site: Deployed, when: str, nodes: list[str]) -> None:
    name = GROUPS[site.name]
    stands = starts(site, name), group(site, name)["DesiredCapacity"]
    site.stays_as_it_is(when)
    assert (starts(site, name), group(site, name)["DesiredCapacity"]) == stands
    assert state_of_nodes(site, name) == nodes


def _each(sites: list[Deployed], do: Callable[[Deployed], object]) -> None:
    """All at once: most of the time goes into waits of the provider's own."""
    with ThreadPoolExecutor(len(sites)) as pool:
        for running in [pool.submit(do, site) for site in sites]:
            running.result()


def _summed(sites: list[Deployed]) -> dict[str, int]:
    """Over the regions; what is global counts once."""
    regional = {"Volumes"}
    total: dict[str, int] = {}
    for site in sites:
        for kind, count in counts(site).items():
            total[kind] = total.get(kind, 0) + count if kind[0].isupper() or kind in regional else count
    return total
