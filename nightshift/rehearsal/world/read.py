"""One site as AWS tells it: answers of its API turned into plain values.

What the rehearsal doesn't know how to play raises Unplayable with every such thing, never a guess.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from nightshift.plan.names import TAG_INDEX, TAG_SITE, TAG_VOLUME
from nightshift.rehearsal.clients import Clients, listed
from nightshift.rehearsal.world.errors import Unplayable
from nightshift.rehearsal.world.model import Alarm, Metric, SnapshotPolicy, Volume, World
from nightshift.rehearsal.world.read_group import read_group


def read_world(clients: Clients, site: str, region: str) -> World:
    """Everything of `site` that moves by itself. Raises Unplayable."""
    scaling, ec2 = clients("autoscaling"), clients("ec2")
    answer = scaling.describe_auto_scaling_groups(MaxRecords=1)
    now = int(parsedate_to_datetime(answer["ResponseMetadata"]["HTTPHeaders"]["date"]).timestamp())
    found = listed(scaling, "describe_auto_scaling_groups", "AutoScalingGroups")
    mine = [raw for raw in found if pairs(raw.get("Tags")).get(TAG_SITE) == site]
    problems: list[str] = []
    groups = tuple(
        read_group(raw, clients, now, problems)
        for raw in sorted(mine, key=lambda one: one["AutoScalingGroupName"])
    )
    names = {group.name for group in groups}
    world = World(
        site=site,
        region=region,
        groups=groups,
        alarms=tuple(_alarms(clients("cloudwatch"), names, problems)),
        volumes=tuple(_volumes(ec2, site)),
        policies=tuple(_policies(clients("dlm"), site, problems)),
        nat_gateways=len(_of_site(ec2, "describe_nat_gateways", "NatGateways", site)),
    )
    if problems:
        raise Unplayable(*problems)
    return world


def pairs(tags: Any) -> dict[str, str]:
    """AWS's list of tags as a mapping."""
    return {tag["Key"]: tag["Value"] for tag in tags or ()}


def _of_site(ec2: Any, operation: str, key: str, site: str) -> list[Any]:
    return listed(ec2, operation, key, Filters=[{"Name": f"tag:{TAG_SITE}", "Values": [site]}])


def _volumes(ec2: Any, site: str) -> Iterator[Volume]:
    found = _of_site(ec2, "describe_volumes", "Volumes", site)
    for raw in sorted(found, key=lambda one: one["VolumeId"]):
        tags = pairs(raw.get("Tags"))
        if TAG_VOLUME in tags:
            yield Volume(
                id=raw["VolumeId"],
                name=tags[TAG_VOLUME],
                index=int(tags[TAG_INDEX]) if TAG_INDEX in tags else None,
                zone=raw["AvailabilityZone"],
                size_gib=raw["Size"],
                kind=raw["VolumeType"],
                iops=raw.get("Iops"),
                throughput=raw.get("Throughput"),
                snapshot=raw.get("SnapshotId") or "",
                tags=tuple(sorted(tags.items())),
            )


def _policies(dlm: Any, site: str, problems: list[str]) -> Iterator[SnapshotPolicy]:
    for listed_policy in sorted(dlm.get_lifecycle_policies()["Policies"], key=lambda one: one["Description"]):
        if listed_policy.get("Tags", {}).get(TAG_SITE) != site:
            continue
        raw = dlm.get_lifecycle_policy(PolicyId=listed_policy["PolicyId"])["Policy"]
        yield from policy_of(raw, problems)


def policy_of(raw: Mapping[str, Any], problems: list[str]) -> Iterator[SnapshotPolicy]:
    """The policy's schedule; several schedules, cron rules and ages aren't played."""
    details = raw["PolicyDetails"]
    schedules = details.get("Schedules") or [{}]
    rule, retain = schedules[0].get("CreateRule", {}), schedules[0].get("RetainRule", {})
    if len(schedules) != 1 or not rule.get("Times") or "Count" not in retain:
        problems.append(
            f"snapshot policy {raw['Description']}: only one schedule with times and a count is played"
        )
        return
    yield SnapshotPolicy(
        id=raw["PolicyId"],
        description=raw["Description"],
        enabled=raw["State"] == "ENABLED",
        targets=tuple(sorted((tag["Key"], tag["Value"]) for tag in details.get("TargetTags", ()))),
        at_utc=rule["Times"][0],
        every_hours=rule["Interval"],
        keep=retain["Count"],
    )


def _alarms(cloudwatch: Any, groups: set[str], problems: list[str]) -> Iterator[Alarm]:
    found = listed(cloudwatch, "describe_alarms", "MetricAlarms")
    for raw in sorted(found, key=lambda one: one["AlarmName"]):
        owner = next((name for name in groups if raw["AlarmName"].startswith(f"{name}-")), None)
        if owner is not None:
            yield from alarm_of(raw, problems)


def alarm_of(raw: Mapping[str, Any], problems: list[str]) -> Iterator[Alarm]:
    """A metric-math alarm; other comparisons than `at least` aren't played."""
    queries = raw.get("Metrics") or ()
    asked = [query for query in queries if query.get("ReturnData", True)]
    if raw["ComparisonOperator"] != "GreaterThanOrEqualToThreshold" or len(asked) != 1:
        problems.append(f"alarm {raw['AlarmName']}: only `at least` on one result is played")
        return
    by_id = sorted(queries, key=lambda query: query["Id"])
    stats = [query["MetricStat"] for query in by_id if "MetricStat" in query]
    yield Alarm(
        name=raw["AlarmName"],
        expression=asked[0].get("Expression") or asked[0]["Id"],
        metrics=tuple(_metric(query) for query in by_id if "MetricStat" in query),
        threshold=float(raw["Threshold"]),
        period_s=max(stat["Period"] for stat in stats),
        periods=raw["EvaluationPeriods"],
        needed=raw.get("DatapointsToAlarm") or raw["EvaluationPeriods"],
        missing=raw.get("TreatMissingData") or "missing",
        actions=tuple(raw.get("AlarmActions") or ()),
    )


def _metric(query: Mapping[str, Any]) -> Metric:
    stat = query["MetricStat"]
    dimensions = tuple(sorted((one["Name"], one["Value"]) for one in stat["Metric"].get("Dimensions", ())))
    return Metric(
        query["Id"], stat["Metric"]["Namespace"], stat["Metric"]["MetricName"], stat["Stat"], dimensions
    )
