"""Ten groups in one stack; forty are `python -m tests.campaigns.forty_groups`."""

from __future__ import annotations

import pytest

from tests.engine.conftest import Deploy
from tests.engine.support.groups import brought_up
from tests.engine.support.looking import counts

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("engine-many")]


def test_ten_groups_come_up_and_stay(deploy: Deploy) -> None:
    site = deploy("rehearsal")
    blank = counts(site)
    brought_up(site, 10)
    stands = counts(site)
    grown = {kind: stands[kind] - blank.get(kind, 0) for kind in stands}
    assert (grown["groups"], grown["hooks"], grown["actions"], grown["Volumes"]) == (10, 20, 20, 10)
    assert (grown["roles"], grown["profiles"], grown["alarms"]) == (11, 10, 30)
    assert (grown["Vpcs"], grown["buckets"], grown["snapshot policies"]) == (1, 2, 1)
