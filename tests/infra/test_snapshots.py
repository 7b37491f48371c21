"""Snapshot policies: the target tag on policy and volume is the same to the letter, and on nothing else."""

from __future__ import annotations

import functools
import re

from infra.live_ec2 import LivePart
from tests.infra.recorder import Recorder
from tests.infra.support.samples import declare, lab, nothing_alive, parts


@functools.cache
def deployed() -> Recorder:
    return declare()


def test_a_policy_is_what_the_stack_file_says() -> None:
    policy = deployed().one("LifecyclePolicy", "snapshots-nightly")
    assert policy.inputs["state"] == "ENABLED"
    assert policy.inputs["description"] == "nightshift lab nightly"
    assert policy.inputs["policyDetails"] == {
        "resourceTypes": ["VOLUME"],
        "targetTags": {"nightshift:snapshots": "lab.nightly"},
        "schedules": [
            {
                "name": "nightshift nightly",
                "createRule": {"interval": 24, "intervalUnit": "HOURS", "times": "07:00"},
                "retainRule": {"count": 7},
                "copyTags": True,
            }
        ],
    }


def test_names_and_descriptions_have_only_what_dlm_takes() -> None:
    policy = deployed().one("LifecyclePolicy", "snapshots-nightly").inputs
    for text in (policy["description"], policy["policyDetails"]["schedules"][0]["name"]):
        assert re.fullmatch(r"[0-9A-Za-z _-]{1,120}", text)


def test_the_target_tag_stands_on_the_named_volumes_and_on_nothing_else() -> None:
    target = deployed().one("LifecyclePolicy", "snapshots-nightly").inputs["policyDetails"]["targetTags"]
    tagged = {
        each.name: each.inputs["tags"]["nightshift:snapshots"]
        for each in deployed().recorded
        if "nightshift:snapshots" in (each.inputs.get("tags") or {})
    }
    assert list(tagged.values()) == list(target.values())
    assert [name for name in tagged if "runs" not in name] == []


def test_the_service_takes_its_role_only_once_the_policy_is_attached() -> None:
    assert "snapshots-policy" in deployed().one("LifecyclePolicy", "snapshots-nightly").depends_on
    assert deployed().one("Role", "snapshots-role").inputs["name"] == "nightshift-lab-us-east-1-_dlm"


def test_without_policies_there_is_no_role_either() -> None:
    def none(raw: dict) -> None:
        del raw["nightshift:snapshots"]
        del raw["nightshift:volumes"]["runs"]["snapshots"]

    recorder = declare(lab(none))
    assert recorder.all("LifecyclePolicy") == []
    assert [role.name for role in recorder.all("Role")] == ["desk-identity-role", "vit-identity-role"]


def test_a_policy_that_stands_is_taken_over_not_doubled() -> None:
    found = parts(
        LivePart("dlm-nightly", "policy-0abc", "LifecyclePolicy"),
        LivePart("role-_dlm", "nightshift-lab-us-east-1-_dlm", "Role"),
    )
    recorder = declare(live=nothing_alive(parts=found))
    assert recorder.one("LifecyclePolicy", "snapshots-nightly").request.importId == "policy-0abc"
    assert recorder.one("Role", "snapshots-role").request.importId == "nightshift-lab-us-east-1-_dlm"
