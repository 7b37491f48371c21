"""The tour of the groups: schedules, hooks, types, templates; from the file and AWS's answers alone."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from nightshift.catalog.limits import USER_DATA_BYTES
from nightshift.catalog.tiers import TIERS
from nightshift.plan.names import group_name
from nightshift.rehearsal.clients import Clients, listed
from nightshift.rehearsal.finding import TourFinding, judged

if TYPE_CHECKING:
    from nightshift.settings.group import Group
    from nightshift.settings.models import Stack

_LAUNCHING = "autoscaling:EC2_INSTANCE_LAUNCHING"
_HOOKS = (_LAUNCHING, "autoscaling:EC2_INSTANCE_TERMINATING")
_WHOLE_WEEK = "00:00"
"""When the one action of a group that is never down fires."""
_HEARTBEAT_S = range(30, 7201)


def tour_groups(stack: Stack, clients: Clients) -> list[TourFinding]:
    """Every group's findings; a missing group is one."""
    scaling, ec2 = clients("autoscaling"), clients("ec2")
    found = {
        raw["AutoScalingGroupName"]: raw
        for raw in listed(scaling, "describe_auto_scaling_groups", "AutoScalingGroups")
    }
    findings: list[TourFinding] = []
    for name, group in stack.groups.items():
        raw = found.get(group_name(stack.name, name))
        if raw is None:
            findings.append(TourFinding(False, f"group {name}", "isn't there"))
            continue
        template = _template(ec2, raw)
        findings += [
            _sizes(name, group, raw),
            _schedules(name, group, stack.site.timezone, scaling, raw),
            _hooks(name, scaling, raw),
            _types(name, group, raw),
            _imds(name, template),
            _disks(name, template),
            _user_data(name, template),
        ]
    return findings


def _sizes(name: str, group: Group, raw: Any) -> TourFinding:
    have = (raw["MinSize"], raw["MaxSize"], raw["DesiredCapacity"])
    wanted = (0, group.nodes, 0)
    wrong = [] if have == wanted else [f"min, max, desired are {have}, expected {wanted}"]
    return judged(f"group {name}: sizes", wrong, f"min 0, max {group.nodes}, desired 0")


def _schedules(name: str, group: Group, site_zone: str, scaling: Any, raw: Any) -> TourFinding:
    """Each action in the file's zone, at a clock time of the file, moving desired and no bound."""
    zone = group.timezone or site_zone
    actions = listed(
        scaling,
        "describe_scheduled_actions",
        "ScheduledUpdateGroupActions",
        AutoScalingGroupName=raw["AutoScalingGroupName"],
    )
    starts, ends = {shift.start for shift in group.shifts}, {shift.end for shift in group.shifts}
    times = {group.nodes: starts | {_WHOLE_WEEK}, 0: ends}
    wrong = [
        f"{action['ScheduledActionName']}: {why}"
        for action in actions
        for why in _action(action, zone, times)
    ]
    if not any(action.get("DesiredCapacity") == group.nodes for action in actions):
        wrong.append("no action brings it up")
    return judged(f"group {name}: schedules", wrong, f"{len(actions)} actions in {zone}, desired only")


def _action(action: Any, zone: str, times: dict[int, set[str]]) -> list[str]:
    wrong = []
    if action.get("TimeZone") != zone:
        wrong.append(f"zone is {action.get('TimeZone')}, expected {zone}")
    if "MinSize" in action or "MaxSize" in action:
        wrong.append(f"moves the bounds: {action.get('MinSize')} to {action.get('MaxSize')}")
    desired = action.get("DesiredCapacity")
    minute, hour = action["Recurrence"].split()[:2]
    clock = f"{int(hour):02}:{int(minute):02}"
    if desired not in times:
        wrong.append(f"desired is {desired}, expected one of {sorted(times)}")
    elif clock not in times[desired]:
        wrong.append(f"fires at {clock}, the file says {', '.join(sorted(times[desired]))}")
    return wrong


def _hooks(name: str, scaling: Any, raw: Any) -> TourFinding:
    answer = scaling.describe_lifecycle_hooks(AutoScalingGroupName=raw["AutoScalingGroupName"])
    have = {hook["LifecycleTransition"]: hook for hook in answer["LifecycleHooks"]}
    wrong = [f"no hook for {transition}" for transition in _HOOKS if transition not in have]
    for transition, hook in have.items():
        if transition == _LAUNCHING and hook["DefaultResult"] != "ABANDON":
            wrong.append(f"{hook['LifecycleHookName']} lets an unproven node in: {hook['DefaultResult']}")
        if hook["HeartbeatTimeout"] not in _HEARTBEAT_S:
            wrong.append(f"{hook['LifecycleHookName']} waits {hook['HeartbeatTimeout']} s")
    said = ", ".join(sorted(hook["LifecycleHookName"] for hook in have.values()))
    return judged(f"group {name}: hooks", wrong, said)


def _types(name: str, group: Group, raw: Any) -> TourFinding:
    """The file's order of types. What the region or market lacks of a tier is left out, none is moved."""
    policy = raw.get("MixedInstancesPolicy", {}).get("LaunchTemplate", {})
    have = [one["InstanceType"] for one in policy.get("Overrides", ())]
    wanted = list(group.types or TIERS[group.tier or ""].types)
    in_order = [one for one in wanted if one in have]
    wrong = (
        []
        if have and have == in_order
        else [f"{', '.join(have) or 'none'}; expected the order {', '.join(wanted)}"]
    )
    if group.types and have != wanted:
        wrong.append(f"the file names {', '.join(wanted)}")
    return judged(f"group {name}: types", wrong, ", ".join(have))


def _template(ec2: Any, raw: Any) -> Any:
    """The version of the launch template that the group starts nodes from."""
    policy = raw.get("MixedInstancesPolicy", {}).get("LaunchTemplate", {})
    chosen = policy.get("LaunchTemplateSpecification") or raw.get("LaunchTemplate") or {}
    answer = ec2.describe_launch_template_versions(
        LaunchTemplateId=chosen["LaunchTemplateId"], Versions=[chosen["Version"]]
    )
    return answer["LaunchTemplateVersions"][0]["LaunchTemplateData"]


def _imds(name: str, template: Any) -> TourFinding:
    tokens = template.get("MetadataOptions", {}).get("HttpTokens")
    wrong = [] if tokens == "required" else [f"HttpTokens is {tokens}, expected required"]
    return judged(f"group {name}: IMDSv2", wrong, "tokens required")


def _disks(name: str, template: Any) -> TourFinding:
    disks = [one["Ebs"] for one in template.get("BlockDeviceMappings", ()) if "Ebs" in one]
    wrong = [] if disks else ["no root disk is described"]
    wrong += [
        f"a disk of {disk.get('VolumeSize')} GiB isn't encrypted"
        for disk in disks
        if not disk.get("Encrypted")
    ]
    return judged(
        f"group {name}: root disk", wrong, f"encrypted, {disks[0].get('VolumeSize') if disks else 0} GiB"
    )


def _user_data(name: str, template: Any) -> TourFinding:
    size = len(base64.b64decode(template.get("UserData", "")))
    wrong = [] if 0 < size <= USER_DATA_BYTES.value else [f"{size} bytes, AWS allows {USER_DATA_BYTES.value}"]
    return judged(f"group {name}: user data", wrong, f"{size} bytes")
