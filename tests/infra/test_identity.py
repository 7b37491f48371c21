"""One role, one policy and one profile per group, under fixed names, in place before any node."""

from __future__ import annotations

import functools
import json

from infra.live_ec2 import LivePart
from tests.infra.recorder import ACCOUNT, Recorder
from tests.infra.support.samples import declare, lab, nothing_alive, parts

ROLE = "nightshift-lab-us-east-1-vit"


@functools.cache
def deployed() -> Recorder:
    return declare()


def policy_of(recorder: Recorder, group: str) -> dict[str, dict]:
    document = json.loads(recorder.one("RolePolicy", f"{group}-identity-policy").inputs["policy"])
    return {statement["Sid"]: statement for statement in document["Statement"]}


def test_role_and_profile_bear_the_name_by_which_all_parts_find_them() -> None:
    assert deployed().one("Role", "vit-identity-role").inputs["name"] == ROLE
    assert deployed().one("InstanceProfile", "vit-identity-profile").inputs["name"] == ROLE
    assert deployed().one("InstanceProfile", "vit-identity-profile").inputs["role"] == ROLE


def test_the_role_carries_one_inline_policy_and_no_managed_one() -> None:
    role = deployed().one("Role", "vit-identity-role")
    assert not {"managedPolicyArns", "inlinePolicies"} & role.inputs.keys()
    assert deployed().all("RolePolicyAttachment") == []
    assert len(deployed().all("RolePolicy")) == len(deployed().all("Role"))


def test_the_policy_names_this_group_s_volumes_group_and_buckets() -> None:
    policy = policy_of(deployed(), "vit")
    assert policy["OwnVolumes"]["Condition"] == {
        "StringEquals": {
            "aws:ResourceTag/nightshift:site": "lab",
            "aws:ResourceTag/nightshift:volume": ["imagenet", "runs"],
        }
    }
    assert policy["OwnGroup"]["Resource"] == (
        f"arn:aws:autoscaling:us-east-1:{ACCOUNT}:autoScalingGroup:*:autoScalingGroupName/nightshift-lab.vit"
    )
    assert policy["ReadArtifacts"]["Resource"] == [
        "arn:aws:s3:::nightshift-lab-artifacts-eb805c6c/bootstrap/*",
        "arn:aws:s3:::nightshift-lab-artifacts-eb805c6c/groups/vit/*",
    ]
    assert "JobSecrets" not in policy


def test_secrets_that_a_job_names_are_all_that_its_nodes_may_read() -> None:
    job = {
        "repo": "https://example.org/vit.git",
        "ref": "3f2c1d0",
        "run": "train.py",
        "secrets": ["lab/wandb"],
    }
    recorder = declare(lab(lambda raw: raw["nightshift:groups"]["vit"].update(job=job)))
    assert policy_of(recorder, "vit")["JobSecrets"]["Resource"] == [
        f"arn:aws:secretsmanager:us-east-1:{ACCOUNT}:secret:lab/wandb-??????"
    ]
    assert "JobSecrets" not in policy_of(recorder, "desk")


def test_no_node_is_launched_before_its_policy_is_in_place() -> None:
    needs = deployed().one("Group", "vit-group").depends_on
    assert {"vit-identity-policy", "vit-identity-profile"} <= needs


def test_a_role_and_a_profile_that_stand_are_taken_over() -> None:
    found = parts(LivePart("role-vit", ROLE, "Role"), LivePart("profile-vit", ROLE, "InstanceProfile"))
    recorder = declare(live=nothing_alive(parts=found))
    assert recorder.one("Role", "vit-identity-role").request.importId == ROLE
    assert recorder.one("InstanceProfile", "vit-identity-profile").request.importId == ROLE
    assert recorder.one("Role", "desk-identity-role").request.importId == ""
