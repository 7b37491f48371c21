"""Which actions on which resources a call asks for, in the words of policies.

An operation that is not here cannot be resolved; role sessions are then refused.
Names and ARN forms: AWS Service Authorization Reference, read 2026-11."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from nightshift.emulator.cloud import ACCOUNT
from nightshift.emulator.cloud.call import Call
from nightshift.emulator.cloud.resources_s3 import s3_needs
from nightshift.emulator.cloud.services.backends import autoscaling, ec2, find_group, resource_tags, tag_map
from nightshift.emulator.cloud.sessions import group_tags, tags_context


@dataclass(frozen=True)
class Need:
    """One permission: allowed when any of the ARNs is, and denied when any of them is."""

    action: str
    arns: tuple[str, ...]
    context: Mapping[str, Sequence[str]] = field(default_factory=dict)


ID_KEYS = {"instance": "ec2:InstanceID", "volume": "ec2:VolumeID"}
Resolver = Callable[[Call], list[Need]]


def _request_tags(call: Call) -> dict[str, Sequence[str]]:
    tags = tag_map(call.params.get("Tags")) if isinstance(call.params.get("Tags"), list) else {}
    context: dict[str, Sequence[str]] = {f"aws:RequestTag/{k}": [v or ""] for k, v in tags.items()}
    if tags:
        context["aws:TagKeys"] = list(tags)
    return context


def _ec2_arn(call: Call, resource_id: str) -> tuple[str, dict[str, Sequence[str]]]:
    from moto.ec2.utils import EC2_PREFIX_TO_RESOURCE, get_prefix

    kind = EC2_PREFIX_TO_RESOURCE.get(get_prefix(resource_id) or "", "*")
    arn = f"arn:aws:ec2:{call.region}:{ACCOUNT}:{kind}/{resource_id}"
    context = tags_context(("aws", "ec2"), resource_tags(call.region, resource_id))
    if kind in ID_KEYS:
        context[ID_KEYS[kind]] = [resource_id]
    return arn, context


def _ec2(*members: str) -> Resolver:
    """Each id that these members name is a resource of its own, and all of them must be allowed."""

    def needs(call: Call) -> list[Need]:
        ids: list[str] = []
        for member in members:
            value = call.params.get(member)
            ids += value if isinstance(value, list) else [value] if value else []
        if "InstanceId" in members and not call.params.get("InstanceId"):
            ids += _attached_to(call)
        request = _request_tags(call)
        found = [_ec2_arn(call, one) for one in ids]
        return [Need(call.iam_action, (arn,), context | request) for arn, context in found]

    return needs


def _attached_to(call: Call) -> list[str]:
    volume = ec2(call.region).volumes.get(call.params.get("VolumeId", ""))
    there = volume.attachment if volume is not None else None
    return [there.instance.id] if there is not None else []


def _new(kind: str) -> Resolver:
    def needs(call: Call) -> list[Need]:
        arn = f"arn:aws:ec2:{call.region}:{ACCOUNT}:{kind}/*"
        return [Need(call.iam_action, (arn,), _request_tags(call))]

    return needs


def _group_need(call: Call, name: str) -> Need:
    group = find_group(call.region, name)
    bare = name.rsplit("autoScalingGroupName/", 1)[-1]
    stand_in = f"arn:aws:autoscaling:{call.region}:{ACCOUNT}:autoScalingGroup:*:autoScalingGroupName/{bare}"
    arn = group.arn if group is not None else stand_in
    context = tags_context(("aws", "autoscaling"), group_tags(call.region, bare))
    return Need(call.iam_action, (arn,), context | _request_tags(call))


def _group(call: Call) -> list[Need]:
    return [_group_need(call, call.params["AutoScalingGroupName"])]


def _group_of_instance(call: Call) -> list[Need]:
    for group in autoscaling(call.region).autoscaling_groups.values():
        if any(state.instance_id == call.params["InstanceId"] for state in group.instance_states):
            return [_group_need(call, group.name)]
    return [_group_need(call, "no-such-group")]


def _tagged_groups(call: Call) -> list[Need]:
    return [_group_need(call, tag["ResourceId"]) for tag in call.params.get("Tags") or ()]


def _any(call: Call) -> list[Need]:
    return [Need(call.iam_action, ("*",))]


def _metric(call: Call) -> list[Need]:
    return [Need(call.iam_action, ("*",), {"cloudwatch:namespace": [call.params.get("Namespace", "")]})]


def _alarms(call: Call) -> list[Need]:
    names = call.params.get("AlarmNames") or [call.params.get("AlarmName", "")]
    return [Need(call.iam_action, (f"arn:aws:cloudwatch:{call.region}:{ACCOUNT}:alarm:{n}",)) for n in names]


def _log(call: Call) -> list[Need]:
    """A stream's ARN when the call names one; else the group's, which policies write with or without `:*`."""
    group = (
        call.params.get("logGroupName") or str(call.params.get("logGroupIdentifier", "")).rsplit(":", 1)[-1]
    )
    base = f"arn:aws:logs:{call.region}:{ACCOUNT}:log-group:{group}"
    stream = call.params.get("logStreamName")
    return [
        Need(call.iam_action, (f"{base}:log-stream:{stream}",) if stream else (base, f"{base}:log-stream:"))
    ]


def _parameters(call: Call) -> list[Need]:
    names = call.params.get("Names") or [call.params.get("Name") or call.params.get("Path") or ""]
    base = f"arn:aws:ssm:{call.region}:{ACCOUNT}:parameter/"
    return [
        Need(call.iam_action, (name if name.startswith("arn:") else base + name.lstrip("/"),))
        for name in names
    ]


def _secret(call: Call) -> list[Need]:
    from moto.secretsmanager.models import secretsmanager_backends

    name = call.params["SecretId"]
    secret = secretsmanager_backends[ACCOUNT][call.region].secrets.get(name)
    arn = (
        secret.arn
        if secret is not None
        else f"arn:aws:secretsmanager:{call.region}:{ACCOUNT}:secret:{name}-??????"
    )
    tags = tag_map(secret.tags) if secret is not None else {}
    return [Need(call.iam_action, (arn,), tags_context(("aws", "secretsmanager"), tags))]


def _member(name: str) -> Resolver:
    return lambda call: [Need(call.iam_action, (call.params.get(name, ""),))]


_GROUP_WRITES = (
    "UpdateAutoScalingGroup",
    "SetDesiredCapacity",
    "DeleteAutoScalingGroup",
    "CompleteLifecycleAction",
    "RecordLifecycleActionHeartbeat",
    "PutLifecycleHook",
    "DeleteLifecycleHook",
    "PutScheduledUpdateGroupAction",
    "BatchPutScheduledUpdateGroupAction",
    "DeleteScheduledAction",
    "BatchDeleteScheduledAction",
    "SuspendProcesses",
    "ResumeProcesses",
    "PutScalingPolicy",
    "DetachInstances",
    "AttachInstances",
    "EnterStandby",
    "ExitStandby",
    "SetInstanceProtection",
)
_INSTANCE_WRITES = ("TerminateInstances", "StopInstances", "StartInstances", "RebootInstances")
_LOG_CALLS = (
    "CreateLogGroup",
    "DeleteLogGroup",
    "PutRetentionPolicy",
    "CreateLogStream",
    "DeleteLogStream",
    "DescribeLogStreams",
    "PutLogEvents",
    "GetLogEvents",
    "FilterLogEvents",
)
_RESOLVERS: dict[tuple[str, str], Resolver] = {
    ("ec2", "AttachVolume"): _ec2("VolumeId", "InstanceId"),
    ("ec2", "DetachVolume"): _ec2("VolumeId", "InstanceId"),
    ("ec2", "ModifyVolume"): _ec2("VolumeId"),
    ("ec2", "DeleteVolume"): _ec2("VolumeId"),
    ("ec2", "DeleteSnapshot"): _ec2("SnapshotId"),
    ("ec2", "CreateVolume"): _new("volume"),
    ("ec2", "CreateSnapshot"): _ec2("VolumeId"),
    ("ec2", "CreateTags"): _ec2("Resources"),
    ("ec2", "DeleteTags"): _ec2("Resources"),
    ("ec2", "ModifyInstanceAttribute"): _ec2("InstanceId"),
    ("ec2", "ModifyInstanceMetadataOptions"): _ec2("InstanceId"),
    **{("ec2", name): _ec2("InstanceIds") for name in _INSTANCE_WRITES},
    **{("autoscaling", name): _group for name in _GROUP_WRITES},
    ("autoscaling", "TerminateInstanceInAutoScalingGroup"): _group_of_instance,
    ("autoscaling", "SetInstanceHealth"): _group_of_instance,
    ("autoscaling", "CreateOrUpdateTags"): _tagged_groups,
    ("autoscaling", "DeleteTags"): _tagged_groups,
    ("cloudwatch", "PutMetricData"): _metric,
    ("cloudwatch", "GetMetricData"): _any,
    ("cloudwatch", "GetMetricStatistics"): _any,
    ("cloudwatch", "ListMetrics"): _any,
    ("cloudwatch", "SetAlarmState"): _alarms,
    ("cloudwatch", "DescribeAlarms"): _alarms,
    **{("logs", name): _log for name in _LOG_CALLS},
    ("logs", "DescribeLogGroups"): _any,
    **{
        ("ssm", name): _parameters
        for name in ("GetParameter", "GetParameters", "PutParameter", "DeleteParameter")
    },
    ("ssm", "GetParametersByPath"): _parameters,
    ("secretsmanager", "GetSecretValue"): _secret,
    ("secretsmanager", "DescribeSecret"): _secret,
    ("secretsmanager", "PutSecretValue"): _secret,
    ("sns", "Publish"): _member("TopicArn"),
    ("sts", "AssumeRole"): _member("RoleArn"),
    ("dlm", "GetLifecyclePolicies"): _any,
    ("service-quotas", "GetServiceQuota"): _any,
}


def needs(call: Call) -> list[Need] | None:
    """All permissions of a call, every one of which is needed; None when it cannot be resolved."""
    if call.service == "s3":
        return [Need(action, (arn,), context) for action, arn, context in s3_needs(call)]
    resolver = _RESOLVERS.get((call.service, call.name))
    if resolver is not None:
        return resolver(call) or None
    if call.service in {"ec2", "autoscaling"} and call.name.startswith("Describe"):
        return _any(call)
    return None
