"""Data Lifecycle Manager: policies and their tags. moto has no such service."""

from __future__ import annotations

import secrets
from copy import deepcopy
from typing import Any

from moto.core.utils import utcnow

from nightshift.emulator.cloud import ACCOUNT
from nightshift.emulator.cloud.call import AwsError, Call
from nightshift.emulator.cloud.state import STATE, Handlers, Patch


def _with_defaults(details: dict[str, Any]) -> dict[str, Any]:
    """What the service fills in, as its own answers show it."""
    filled = deepcopy(details)
    filled.setdefault("PolicyType", "EBS_SNAPSHOT_MANAGEMENT")
    filled.setdefault("PolicyLanguage", "STANDARD")
    filled.setdefault("ResourceLocations", ["CLOUD"])
    for schedule in filled.get("Schedules", ()):
        schedule.setdefault("CopyTags", False)
        rule = schedule.get("CreateRule", {})
        if "Interval" in rule:
            rule.setdefault("IntervalUnit", "HOURS")
            rule.setdefault("Times", ["09:00"])
        if rule:
            rule.setdefault("Location", "CLOUD")
    return filled


def _policy(call: Call, policy_id: str) -> dict[str, Any]:
    policy = STATE.policies[call.region].get(policy_id)
    if policy is None:
        raise AwsError("ResourceNotFoundException", f"The policy {policy_id} does not exist")
    return policy


def _create(call: Call) -> dict[str, Any]:
    now, policy_id = utcnow(), f"policy-{secrets.token_hex(8)}0"
    STATE.policies[call.region][policy_id] = {
        "PolicyId": policy_id,
        "PolicyArn": f"arn:aws:dlm:{call.region}:{ACCOUNT}:policy/{policy_id}",
        "Description": call.params["Description"],
        "State": call.params["State"],
        "StatusMessage": call.params["State"],
        "ExecutionRoleArn": call.params["ExecutionRoleArn"],
        "PolicyDetails": _with_defaults(call.params.get("PolicyDetails", {})),
        "Tags": dict(call.params.get("Tags", {})),
        "DateCreated": now,
        "DateModified": now,
        "DefaultPolicy": False,
    }
    return {"PolicyId": policy_id}


def _get(call: Call) -> dict[str, Any]:
    return {"Policy": _policy(call, call.params["PolicyId"])}


def _wanted(policy: dict[str, Any], params: dict[str, Any]) -> bool:
    ids, state, targets = params.get("PolicyIds"), params.get("State"), params.get("TargetTags")
    tags = {f"{t['Key']}={t['Value']}" for t in policy["PolicyDetails"].get("TargetTags", ())}
    return (
        (not ids or policy["PolicyId"] in ids)
        and (not state or policy["State"] == state)
        and (not targets or bool(tags & set(targets)))
    )


def _list(call: Call) -> dict[str, Any]:
    chosen = [p for p in STATE.policies[call.region].values() if _wanted(p, call.params)]
    rows = [{**p, "PolicyType": p["PolicyDetails"]["PolicyType"]} for p in chosen]
    return {"Policies": rows}


def _update(call: Call) -> None:
    policy = _policy(call, call.params["PolicyId"])
    for key in ("Description", "State", "ExecutionRoleArn"):
        if call.params.get(key) is not None:
            policy[key] = call.params[key]
    if call.params.get("PolicyDetails"):
        policy["PolicyDetails"] = _with_defaults(call.params["PolicyDetails"])
    policy["StatusMessage"] = policy["State"]
    policy["DateModified"] = utcnow()


def _delete(call: Call) -> None:
    _policy(call, call.params["PolicyId"])
    del STATE.policies[call.region][call.params["PolicyId"]]


def _by_arn(call: Call) -> dict[str, Any]:
    return _policy(call, call.params["ResourceArn"].rsplit("/", 1)[-1])


def _tags(call: Call) -> dict[str, Any]:
    return {"Tags": _by_arn(call)["Tags"]}


def _tag(call: Call) -> None:
    _by_arn(call)["Tags"].update(call.params["Tags"])


def _untag(call: Call) -> None:
    tags = _by_arn(call)["Tags"]
    for key in call.params["TagKeys"]:
        tags.pop(key, None)


HANDLERS: Handlers = {
    ("dlm", "CreateLifecyclePolicy"): _create,
    ("dlm", "GetLifecyclePolicy"): _get,
    ("dlm", "GetLifecyclePolicies"): _list,
    ("dlm", "UpdateLifecyclePolicy"): _update,
    ("dlm", "DeleteLifecyclePolicy"): _delete,
    ("dlm", "ListTagsForResource"): _tags,
    ("dlm", "TagResource"): _tag,
    ("dlm", "UntagResource"): _untag,
}
PATCHES: tuple[Patch, ...] = ()
