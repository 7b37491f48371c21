"""What is declared for a group of nodes."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from infra.live_ec2 import LivePart
from tests.infra.recorder import Recorder
from tests.infra.support.samples import EFA_GROUP, declare, lab, nothing_alive, parts

BLOCK = {
    "types": ["p5.48xlarge"],
    "capacity": {
        "capacity_block": "cr-0123456789abcdef0",
        "starts": "2026-12-04T11:30Z",
        "ends": "2026-12-06T11:30Z",
    },
    "shifts": [{"days": ["sat"], "from": "08:00", "to": "20:00"}],
}


@functools.cache
def deployed() -> Recorder:
    return declare()


@functools.cache
def cluster() -> Recorder:
    return declare(lab(lambda raw: raw["nightshift:groups"].update(big=EFA_GROUP)))


def test_a_group_starts_at_zero_and_leaves_its_size_to_others() -> None:
    group = deployed().one("Group", "vit-group")
    assert (group.inputs["minSize"], group.inputs["maxSize"]) == (0, 1)
    assert "desiredCapacity" not in group.inputs
    assert list(group.request.ignoreChanges) == ["desiredCapacity", "suspendedProcesses"]
    assert group.inputs["name"] == "nightshift-lab.vit"


def test_a_destroy_lets_nodes_drain_and_waits_longer_than_a_drain() -> None:
    group = deployed().one("Group", "vit-group")
    assert group.inputs["forceDelete"] is False
    assert group.request.customTimeouts.delete == "45m", "20 minutes boot, 10 minutes drain, 15 to spare"
    assert group.inputs["waitForCapacityTimeout"] == "0", "a node in its launch hook counts as no capacity"


def test_a_replacement_never_launches_while_the_old_node_holds_the_volumes() -> None:
    inputs = deployed().one("Group", "vit-group").inputs
    assert inputs["capacityRebalance"] is False
    assert inputs["instanceMaintenancePolicy"] == {"minHealthyPercentage": 0, "maxHealthyPercentage": 100}


def test_the_order_of_types_and_both_strategies_reach_the_policy() -> None:
    policy = deployed().one("Group", "vit-group").inputs["mixedInstancesPolicy"]
    assert policy["instancesDistribution"] == {
        "onDemandBaseCapacity": 0,
        "onDemandPercentageAboveBaseCapacity": 0,
        "onDemandAllocationStrategy": "prioritized",
        "spotAllocationStrategy": "capacity-optimized-prioritized",
    }
    named = declare(
        lab(
            lambda raw: raw["nightshift:groups"]["vit"].update(
                tier=None, types=["g6.12xlarge", "g5.12xlarge", "g4dn.12xlarge"]
            )
        )
    ).one("Group", "vit-group")
    overrides = named.inputs["mixedInstancesPolicy"]["launchTemplate"]["overrides"]
    assert overrides == [
        {"instanceType": "g6.12xlarge"},
        {"instanceType": "g5.12xlarge"},
        {"instanceType": "g4dn.12xlarge"},
    ]


def test_the_group_names_the_template_version_by_number() -> None:
    policy = deployed().one("Group", "vit-group").inputs["mixedInstancesPolicy"]
    spec = policy["launchTemplate"]["launchTemplateSpecification"]
    assert spec == {"launchTemplateId": "vit-template-id", "version": "3"}, "$Latest would never be a change"


def test_nodes_speak_imdsv2_only_and_their_disk_is_encrypted() -> None:
    inputs = deployed().one("LaunchTemplate", "vit-template").inputs
    assert inputs["metadataOptions"] == {
        "httpEndpoint": "enabled",
        "httpTokens": "required",
        "httpPutResponseHopLimit": 2,
    }
    assert inputs["blockDeviceMappings"] == [
        {
            "deviceName": "/dev/sda1",
            "ebs": {
                "volumeSize": 150,
                "volumeType": "gp3",
                "encrypted": "true",
                "deleteOnTermination": "true",
            },
        }
    ]


def test_a_plain_node_gets_its_public_address_from_the_template() -> None:
    inputs = deployed().one("LaunchTemplate", "vit-template").inputs
    assert inputs["networkInterfaces"] == [
        {
            "networkCardIndex": 0,
            "deviceIndex": 0,
            "interfaceType": "interface",
            "associatePublicIpAddress": "true",
            "securityGroups": ["network-nodes-id"],
            "deleteOnTermination": "true",
        }
    ]
    assert "vpcSecurityGroupIds" not in inputs, "AWS refuses both"


def test_nodes_carry_site_group_and_owner_and_nothing_that_a_snapshot_policy_looks_for() -> None:
    wanted = {
        "nightshift:site": "lab",
        "nightshift:group": "vit",
        "nightshift:owner": "vision",
        "Name": "nightshift-lab.vit",
    }
    tagged = {
        each["resourceType"]: each["tags"]
        for each in deployed().one("LaunchTemplate", "vit-template").inputs["tagSpecifications"]
    }
    assert tagged == {"instance": wanted, "volume": wanted}
    group = deployed().one("Group", "vit-group").inputs["tags"]
    assert {each["key"]: each["value"] for each in group if each["propagateAtLaunch"]} == wanted
    assert [each for each in group if not each["propagateAtLaunch"]] == [
        {"key": "nightshift:part", "value": "group-vit", "propagateAtLaunch": False}
    ]


@pytest.mark.parametrize(
    ("name", "transition", "result", "seconds"),
    [("ready", "LAUNCHING", "ABANDON", 1200), ("drain", "TERMINATING", "CONTINUE", 120)],
)
def test_each_hook_fails_to_the_safe_side(name: str, transition: str, result: str, seconds: int) -> None:
    hook = deployed().one("LifecycleHook", f"vit-{name}")
    assert hook.inputs == {
        "name": name,
        "autoscalingGroupName": "nightshift-lab.vit",
        "lifecycleTransition": f"autoscaling:EC2_INSTANCE_{transition}",
        "defaultResult": result,
        "heartbeatTimeout": seconds,
    }


def test_hooks_end_with_the_group_since_a_hook_deleted_first_would_finish_every_drain() -> None:
    group = deployed().one("Group", "vit-group")
    for hook in deployed().all("LifecycleHook"):
        if hook.parent == "vit":
            assert hook.request.deletedWith == group.urn


def test_whatever_a_draining_node_needs_outlives_the_group() -> None:
    assert deployed().one("Group", "vit-group").depends_on == {
        "vit-template",
        "vit-identity-policy",
        "vit-identity-profile",
        "network-nodes-out",
        "network-routes-public",
        "network-s3-endpoint",
        "network-subnet-public",
        "artifacts-bootstrap",
        "artifacts-manifest-vit",
    }


def test_children_belong_to_their_component() -> None:
    own = {each.name for each in deployed().recorded if each.parent == "vit"}
    assert own >= {"vit-template", "vit-group", "vit-ready", "vit-drain", "vit-up-2000", "vit-down-0700"}
    assert "vit-fabric" not in own, "a lone node talks to nobody"


def test_what_lives_already_is_taken_over() -> None:
    live = nothing_alive(
        parts=parts(
            LivePart("template-vit", "lt-0abc", "LaunchTemplates"),
            LivePart("group-vit", "nightshift-lab.vit", "AutoScalingGroups"),
        )
    )
    recorder = declare(live=live)
    assert recorder.one("LaunchTemplate", "vit-template").request.importId == "lt-0abc"
    assert recorder.one("Group", "vit-group").request.importId == "nightshift-lab.vit"
    assert recorder.one("LaunchTemplate", "desk-template").request.importId == ""


def test_efa_nodes_have_every_card_no_public_address_and_a_private_subnet() -> None:
    cards = cluster().one("LaunchTemplate", "big-template").inputs["networkInterfaces"]
    assert [(each["networkCardIndex"], each["deviceIndex"], each["interfaceType"]) for each in cards] == [
        (0, 0, "interface"),
        (0, 1, "efa-only"),
        (1, 0, "efa-only"),
        (2, 0, "efa-only"),
        (3, 0, "efa-only"),
    ]
    assert not any("associatePublicIpAddress" in each for each in cards)
    assert all(each["securityGroups"] == ["network-nodes-id", "big-fabric-id"] for each in cards)
    assert cluster().one("Group", "big-group").inputs["vpcZoneIdentifiers"] == ["network-subnet-private-id"]
    assert cluster().one("Group", "vit-group").inputs["vpcZoneIdentifiers"] == ["network-subnet-public-id"]


def test_nodes_of_one_group_may_say_all_to_each_other_in_both_directions() -> None:
    inward = cluster().one("SecurityGroupIngressRule", "big-fabric-self-in").inputs
    outward = cluster().one("SecurityGroupEgressRule", "big-fabric-self-out").inputs
    for rule in (inward, outward):
        assert rule["securityGroupId"] == rule["referencedSecurityGroupId"] == "big-fabric-id"
        assert rule["ipProtocol"] == "-1"
        assert "cidrIpv4" not in rule


def test_nodes_that_work_together_are_placed_together() -> None:
    group = cluster().one("PlacementGroup", "big-placement")
    assert (group.inputs["name"], group.inputs["strategy"]) == ("nightshift-lab.big", "cluster")
    template = cluster().one("LaunchTemplate", "big-template").inputs
    assert template["placement"] == {"groupName": "nightshift-lab.big"}
    assert "placement" not in cluster().one("LaunchTemplate", "vit-template").inputs


def test_a_capacity_block_is_bought_by_the_template_since_a_mixed_policy_cannot() -> None:
    recorder = declare(lab(lambda raw: raw["nightshift:groups"].update(big=BLOCK)))
    group = recorder.one("Group", "big-group").inputs
    template = recorder.one("LaunchTemplate", "big-template").inputs
    assert "mixedInstancesPolicy" not in group
    assert group["launchTemplate"] == {"id": "big-template-id", "version": "3"}
    assert template["instanceMarketOptions"] == {"marketType": "capacity-block"}
    assert template["capacityReservationSpecification"] == {
        "capacityReservationTarget": {"capacityReservationId": "cr-0123456789abcdef0"}
    }


@pytest.mark.parametrize("group", ["nodes", "default", "public"])
def test_no_groups_name_makes_two_resources_play_one_part(group: str) -> None:
    def rename(raw: dict[str, Any]) -> None:
        raw["nightshift:groups"][group] = EFA_GROUP

    recorder = declare(lab(rename))
    fences = [each.inputs["tags"]["nightshift:part"] for each in recorder.all("SecurityGroup")]
    fences += [each.inputs["tags"]["nightshift:part"] for each in recorder.all("DefaultSecurityGroup")]
    assert f"fabric-{group}" in fences
    assert len(fences) == len(set(fences))
