"""The state is lost, or the stack is: everything is taken over again, nothing stands twice."""

from __future__ import annotations

import shutil

import pytest

from tests.engine.conftest import Deploy
from tests.engine.support.looking import counts, everything, volume_ids
from tests.engine.support.site import changes

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("engine-lost")]


def test_a_lost_state_and_a_destroyed_stack_come_back_to_the_same_things(deploy: Deploy) -> None:
    site = deploy("rehearsal")
    site.up()
    stands, ids = counts(site), volume_ids(site)
    things = everything(site)

    site.workspace.close()
    shutil.rmtree(site.workspace.folder)
    again = site.reopened()
    result = again.up()
    assert result.changes.get("import", 0) > 0
    assert counts(again) == stands
    assert volume_ids(again) == ids
    for kind in ("Vpcs", "Subnets", "Volumes", "roles", "profiles", "buckets", "LaunchTemplates", "versions"):
        assert everything(again)[kind] == things[kind], kind
    again.stays_as_it_is("after its state was lost")

    again.destroy()
    again.up()
    assert counts(again) == stands
    assert volume_ids(again) == ids
    assert changes(again.up()) == []
    again.close()
