"""Edits of a stack that stands: exactly what an edit concerns changes, and its data never.

The steps go from one to the next, in order; each says what the engine did and what boto3 finds afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.conftest import Deploy
from tests.engine.support.looking import actions, group, template, volume_ids, volumes
from tests.engine.support.nodes import shift_begins, shift_ends
from tests.engine.support.site import Deployed, Document

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("engine-updates")]
NOW = "2026-12-02T13:00:00Z"
Edit = Callable[[Document], object]
MADE_ANEW = ["create-replacement", "delete-replaced", "replace"]


@pytest.fixture(scope="module")
def site(deploy: Deploy) -> Deployed:
    """The lab with a third group: two nodes that hold no volume."""
    site = deploy("lab")
    site.cloud.control("clock", {"now": NOW})
    site.base["groups"]["spare"] = {
        "types": ["g5.12xlarge"],
        "nodes": 2,
        "shifts": [{"days": ["sat"], "from": "10:00", "to": "12:00"}],
    }
    site.edit(lambda config: None)
    site.up()
    return site


def ops(site: Deployed, edit: Edit) -> dict[str, list[str]]:
    """What an edit on top of the earlier ones changes: resource -> operations. The volumes must live on."""
    ids = volume_ids(site)
    site.edit(edit, afresh=False)
    found: dict[str, list[str]] = {}
    for step in site.up().changed_steps():
        assert step.type != "aws:ebs/volume:Volume" or step.op == "update", step
        found.setdefault(step.name, []).append(step.op)
    assert volume_ids(site) == ids
    return {name: sorted(set(each)) for name, each in found.items()}


def anew(*names: str, manifest: str = "vit") -> dict[str, list[str]]:
    """These actions made anew, and the nodes told."""
    return {**dict.fromkeys(names, MADE_ANEW), **told(manifest)}


def told(*groups: str) -> dict[str, list[str]]:
    """The groups' nodes are told by their manifests; no template changes for that."""
    return {f"artifacts-manifest-{name}": ["update"] for name in groups}


def vit(config: Document) -> Document:
    return config["groups"]["vit"]


def shifts(*each: tuple[list[str], str, str]) -> list[Document]:
    return [{"days": days, "from": start, "to": end} for days, start, end in each]


def recurrences(site: Deployed, name: str) -> dict[str, Any]:
    return {
        key: (one["Recurrence"], one["TimeZone"], one["DesiredCapacity"])
        for key, one in actions(site, name).items()
    }


def test_an_edit_of_a_shift_makes_its_actions_anew_and_nothing_else(site: Deployed) -> None:
    days = ["mon", "tue", "wed", "fri"]
    assert ops(site, lambda c: vit(c).update(shifts=shifts((days, "20:00", "07:00")))) == anew(
        "vit-up-2000", "vit-down-0700"
    ), "a day added"
    assert ops(site, lambda c: vit(c).update(shifts=shifts((days, "21:00", "07:00")))) == {
        "vit-up-2100": ["create"],
        "vit-up-2000": ["delete"],
        **told("vit"),
    }, "a start moved"
    assert ops(site, lambda c: vit(c).update(timezone="Asia/Tokyo")) == anew(
        "vit-up-2100", "vit-down-0700"
    ), "another zone"
    added = shifts((days, "21:00", "07:00"), (["sun"], "10:00", "12:00"))
    assert ops(site, lambda c: vit(c).update(shifts=added)) == {
        "vit-up-1000": ["create"],
        "vit-down-1200": ["create"],
        **told("vit"),
    }, "a shift added"
    assert recurrences(site, "vit") == {
        "up-2100": ("0 21 * * MON,TUE,WED,FRI", "Asia/Tokyo", 1),
        "down-0700": ("0 7 * * TUE,WED,THU,SAT", "Asia/Tokyo", 0),
        "up-1000": ("0 10 * * SUN", "Asia/Tokyo", 1),
        "down-1200": ("0 12 * * SUN", "Asia/Tokyo", 0),
    }
    assert ops(site, lambda c: vit(c).update(shifts=added[:1])) == {
        "vit-up-1000": ["delete"],
        "vit-down-1200": ["delete"],
        **told("vit"),
    }, "a shift removed"
    assert ops(site, lambda c: c["groups"]["spare"].update(nodes=3)) == {
        **anew("spare-up-1000", manifest="spare"),
        "spare-group": ["update"],
    }, "more nodes"
    assert group(site, "spare")["MaxSize"] == 3
    assert recurrences(site, "spare")["up-1000"] == ("0 10 * * SAT", "Asia/Shanghai", 3)


def test_an_edit_of_a_shift_in_the_middle_of_it_leaves_the_node_alone(site: Deployed) -> None:
    (node,) = shift_begins(site, "desk")
    longer = shifts((["mon", "tue", "wed", "thu", "fri"], "09:00", "18:30"))
    assert ops(site, lambda c: c["groups"]["desk"].update(shifts=longer)) == {
        "desk-down-1830": ["create"],
        "desk-down-1800": ["delete"],
        **told("desk"),
    }
    assert [(one["InstanceId"], one["LifecycleState"]) for one in group(site, "desk")["Instances"]] == [
        (node, "InService")
    ]
    shift_ends(site, "desk")


def test_what_a_node_is_makes_a_new_template_version(site: Deployed) -> None:
    renewed = {"vit-template": ["update"], "vit-group": ["update"]}
    before, _ = template(site, "vit")
    assert ops(site, lambda c: vit(c).update(root_gib=200)) == renewed, "a larger root disk"
    version, data = template(site, "vit")
    assert int(version) == int(before) + 1
    assert data["BlockDeviceMappings"][0]["Ebs"]["VolumeSize"] == 200

    assert ops(site, lambda c: vit(c).update(tier="small")) == {**renewed, **told("vit")}, "another tier"
    assert template(site, "vit")[0] == str(int(before) + 2)
    kinds = group(site, "vit")["MixedInstancesPolicy"]["LaunchTemplate"]["Overrides"]
    assert [one["InstanceType"] for one in kinds][:2] == ["g6.2xlarge", "g5.2xlarge"]

    assert ops(site, lambda c: vit(c).update(capacity="on-demand")) == {"vit-group": ["update"]}, "on demand"
    spread = group(site, "vit")["MixedInstancesPolicy"]["InstancesDistribution"]
    assert spread["OnDemandPercentageAboveBaseCapacity"] == 100


def test_a_runtime_is_read_at_boot_and_needs_no_new_template(site: Deployed) -> None:
    before = template(site, "vit")
    assert ops(site, lambda c: vit(c).update(runtime="torch-2.8-cu128")) == told("vit")
    assert template(site, "vit") == before
    manifest = site.client("s3").get_object(
        Bucket=site.workspace.outputs()["artifacts_bucket"], Key="groups/vit/manifest.json"
    )
    assert b"torch-2.8-cu128" in manifest["Body"].read()


def test_longer_boots_and_policies_change_in_place(site: Deployed) -> None:
    found = ops(site, lambda c: vit(c).update(boot="30m"))
    assert found.pop("vit-ready") == ["update"]
    assert found.keys() <= {
        *told("vit"),
        "observability-alarm-vit-no-capacity",
        "observability-alarm-vit-stuck",
    }
    policies = site.client("dlm").get_lifecycle_policies()["Policies"]
    assert ops(site, lambda c: c["snapshots"]["nightly"].update(keep=3, at_utc="11:00")) == {
        "snapshots-nightly": ["update"]
    }
    (policy,) = site.client("dlm").get_lifecycle_policies()["Policies"]
    assert [policy["PolicyId"]] == [one["PolicyId"] for one in policies]
    whole = site.client("dlm").get_lifecycle_policy(PolicyId=policy["PolicyId"])["Policy"]
    (schedule,) = whole["PolicyDetails"]["Schedules"]
    assert (schedule["CreateRule"]["Times"], schedule["RetainRule"]["Count"]) == (["11:00"], 3)


def test_a_volume_grows_in_place(site: Deployed) -> None:
    ids = volume_ids(site)
    assert ops(site, lambda c: c["volumes"]["runs"].update(size_gib=250)) == {
        "volumes-runs": ["update"],
        **told("desk", "vit"),
    }
    assert volumes(site)["runs"]["Size"] == 250
    assert ops(site, lambda c: c["volumes"]["imagenet"].update(snapshots="nightly")) == {
        "volumes-imagenet": ["update"]
    }
    assert volume_ids(site) == ids


def test_two_groups_share_a_volume_while_their_shifts_never_meet(site: Deployed) -> None:
    """Three now: what is refused when they meet stands in test_refused.py."""
    alone = {"tier": "small", "volumes": ["runs"], "shifts": shifts((["sun"], "09:00", "12:00"))}
    found = ops(site, lambda c: c["groups"].update(third=alone))
    assert {op for each in found.values() for op in each} <= {"create", "update"}
    assert recurrences(site, "third")["up-0900"] == ("0 9 * * SUN", "Asia/Shanghai", 1)
    found = ops(site, lambda c: c["groups"].pop("third"))
    assert {op for each in found.values() for op in each} <= {"delete", "update"}
