"""Three of the shipped stacks side by side in one account, each from nothing to what is kept of it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.engine.conftest import Deploy
from tests.engine.support.facts import check_all
from tests.engine.support.looking import counts, everything, volume_ids
from tests.engine.support.site import Deployed

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("engine-shipped")]
SIDE_BY_SIDE = ("rehearsal", "solo", "team")
KEPT = {"Volumes": 5, "buckets": 3}
"""data and runs, home, home and corpora; a data bucket each."""


def test_stacks_stand_as_their_files_say_stay_so_and_go_but_for_what_is_kept(deploy: Deploy) -> None:
    sites = [deploy(name) for name in SIDE_BY_SIDE]
    before = _summed(sites)
    _each(sites, lambda site: site.up())
    for site in sites:
        check_all(site)
    _each(sites, lambda site: site.stays_as_it_is("on a stack that stands"))
    ids = {site.name: volume_ids(site) for site in sites}
    _each(sites, Deployed.destroy)
    left = _summed(sites)
    assert {kind: left[kind] - before.get(kind, 0) for kind in left if left[kind] != before.get(kind)} == KEPT
    assert {site.name: volume_ids(site) for site in sites} == ids
    for site in sites:
        assert [bucket for bucket in everything(site)["buckets"] if "artifacts" in bucket] == []


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
