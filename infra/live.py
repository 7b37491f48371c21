"""The site as it stands in AWS before the program declares it: read once, in a few calls, never written.

Reading by tag and by name, not from Pulumi's state, is what lets a killed run, a lost state file and a
destroyed stack come back to the same things.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from infra.clients import CannotReadAws, explain, is_gone
from infra.live_ec2 import (
    FoundVolume,
    LivePart,
    LiveRule,
    pages,
    read_rules,
    read_snapshots,
    read_volumes,
    readers,
    tags_of,
)
from nightshift.catalog.regions import REGIONS
from nightshift.plan import names
from nightshift.plan.calendar import Override
from nightshift.plan.changes import RunningGroup
from nightshift.plan.override import WAKE_END
from nightshift.plan.shifts import LEAVE, Action
from nightshift.records.errors import Unreadable
from nightshift.records.store import Records
from nightshift.settings.models import Stack

_SERVICES = ("sts", "autoscaling", "iam", "s3", "logs", "dlm", "sns", "budgets", "ec2")
_THREADS = 24
ELSEWHERE = "elsewhere/"
"""Begins the part of a role that a group of the same site has in another region: IAM is global."""


@dataclass(frozen=True)
class LiveSite:
    """All that the program knows of what stands. `now` is AWS's clock, not this machine's.

    `groups` counts the nodes that aren't leaving yet. `actions` has the regular scheduled actions of each
    declared group, `wake_ends` when the one-off down of a wake fires. `snapshots` gives the GiB of those
    that the stack file starts volumes from.
    """

    account: str
    partition: str
    now: datetime
    parts: Mapping[str, LivePart] = field(default_factory=dict)
    volumes: tuple[FoundVolume, ...] = ()
    groups: Mapping[str, RunningGroup] = field(default_factory=dict)
    actions: Mapping[str, tuple[Action, ...]] = field(default_factory=dict)
    wake_ends: Mapping[str, datetime] = field(default_factory=dict)
    snapshots: Mapping[str, int] = field(default_factory=dict)
    overrides: Mapping[str, Override] = field(default_factory=dict)
    rules: tuple[LiveRule, ...] = ()
    problems: tuple[str, ...] = ()

    def import_id(self, part: str) -> str | None:
        """The id under which the live resource of that part is taken over; None to make it."""
        found = self.parts.get(part)
        return found.id if found else None


def read_live(stack: Stack, clients: Callable[[str], Any]) -> LiveSite:
    """Ask AWS for everything of the site. Raises CannotReadAws with the reason and the way out."""
    try:
        made = {service: clients(service) for service in _SERVICES}
        with ThreadPoolExecutor(_THREADS) as pool:
            return _Reader(stack, made, pool).read()
    except (BotoCoreError, ClientError, ResponseParserError) as error:
        raise CannotReadAws(explain(error)) from None


class _Reader:
    """One reading: who asks first, then everything at once, then what needs an earlier answer."""

    def __init__(self, stack: Stack, clients: Mapping[str, Any], pool: ThreadPoolExecutor) -> None:
        self._stack = stack
        self._clients = clients
        self._pool = pool

    def read(self) -> LiveSite:
        stack, submit = self._stack, self._pool.submit
        ec2 = self._clients["ec2"]
        adopted = {volume.adopt for volume in stack.volumes.values() if volume.adopt}
        caller = submit(self._caller)
        parts = [submit(reader) for reader in readers(ec2, stack.name)]
        parts += [submit(reader) for reader in (self._roles, self._profiles, self._logs, self._policies)]
        volumes = submit(read_volumes, ec2, stack.name, adopted)
        sources = {volume.source for volume in stack.volumes.values() if volume.source}
        snapshots = submit(read_snapshots, ec2, sources)
        groups, actions = submit(self._groups), submit(self._actions)
        account, partition, now = caller.result()
        parts += [submit(self._bucket, kind, account) for kind in ("data", "artifacts")]
        parts += [submit(self._budget, account), submit(self._topic, account, partition)]
        overrides = submit(self._overrides, account)
        found, problems = _one_per_part([part for future in parts for part in future.result()])
        fences = [part.id for part in found.values() if part.kind == "SecurityGroups"]
        live_groups, group_parts = groups.result()
        words, unreadable = overrides.result()
        return LiveSite(
            account,
            partition,
            now,
            parts={**found, **group_parts},
            volumes=tuple(volumes.result()),
            groups=live_groups,
            actions=actions.result()[0],
            wake_ends=actions.result()[1],
            snapshots=snapshots.result(),
            overrides=words,
            rules=tuple(read_rules(ec2, fences)),
            problems=(*problems, *unreadable),
        )

    def _caller(self) -> tuple[str, str, datetime]:
        answer = self._clients["sts"].get_caller_identity()
        stamp = answer["ResponseMetadata"]["HTTPHeaders"].get("date")
        now = parsedate_to_datetime(stamp).astimezone(UTC) if stamp else datetime.now(UTC)
        return str(answer["Account"]), str(answer["Arn"]).split(":")[1], now

    def _groups(self) -> tuple[dict[str, RunningGroup], dict[str, LivePart]]:
        filters = [{"Name": f"tag:{names.TAG_SITE}", "Values": [self._stack.name]}]
        groups, parts = {}, {}
        for page in pages(self._clients["autoscaling"], "describe_auto_scaling_groups", Filters=filters):
            for item in page["AutoScalingGroups"]:
                group = tags_of(item).get(names.TAG_GROUP)
                if group is not None:
                    groups[group] = _running(item)
                    parts[f"group-{group}"] = LivePart(
                        f"group-{group}", str(item["AutoScalingGroupName"]), "AutoScalingGroups"
                    )
        return groups, parts

    def _actions(self) -> tuple[dict[str, tuple[Action, ...]], dict[str, datetime]]:
        groups = {names.group_name(self._stack.name, group): group for group in self._stack.groups}
        found: dict[str, list[Action]] = defaultdict(list)
        ends: dict[str, datetime] = {}
        for page in pages(self._clients["autoscaling"], "describe_scheduled_actions"):
            for item in page["ScheduledUpdateGroupActions"]:
                group = groups.get(item["AutoScalingGroupName"])
                if group is None:
                    continue
                if item["ScheduledActionName"] != WAKE_END:
                    found[group].append(_action(item))
                elif item.get("StartTime"):
                    ends[group] = item["StartTime"]
        return {group: tuple(actions) for group, actions in found.items()}, ends

    def _roles(self) -> list[LivePart]:
        wanted = self._role_names("role")
        wanted[names.role_name(self._stack.name, self._stack.region, "_dlm")] = "role-_dlm"
        for region in REGIONS:
            if region != self._stack.region:
                for group in self._stack.groups:
                    name = names.role_name(self._stack.name, region, group)
                    wanted[name] = f"{ELSEWHERE}{region}/{group}"
        return self._named("list_roles", "Roles", "RoleName", wanted)

    def _profiles(self) -> list[LivePart]:
        return self._named(
            "list_instance_profiles", "InstanceProfiles", "InstanceProfileName", self._role_names("profile")
        )

    def _role_names(self, kind: str) -> dict[str, str]:
        stack = self._stack
        return {names.role_name(stack.name, stack.region, group): f"{kind}-{group}" for group in stack.groups}

    def _named(self, operation: str, items: str, key: str, wanted: Mapping[str, str]) -> list[LivePart]:
        """IAM has no search by tag; a page holds a thousand, which is most accounts in one call."""
        return [
            LivePart(wanted[item[key]], str(item[key]), items)
            for page in pages(self._clients["iam"], operation, PaginationConfig={"PageSize": 1000})
            for item in page[items]
            if item[key] in wanted
        ]

    def _logs(self) -> list[LivePart]:
        name = names.log_group_name(self._stack.name)
        return [
            LivePart("log-group", name, "logGroups")
            for page in pages(self._clients["logs"], "describe_log_groups", logGroupNamePrefix=name)
            for item in page["logGroups"]
            if item["logGroupName"] == name
        ]

    def _policies(self) -> list[LivePart]:
        found = []
        for item in self._clients["dlm"].get_lifecycle_policies()["Policies"]:
            tags = item.get("Tags", {})
            if tags.get(names.TAG_SITE) == self._stack.name and names.TAG_PART in tags:
                found.append(LivePart(tags[names.TAG_PART], str(item["PolicyId"]), "Policies"))
        return found

    def _bucket(self, kind: names.BucketKind, account: str) -> list[LivePart]:
        name = names.bucket_name(self._stack.name, kind, account, self._stack.region)
        try:
            self._clients["s3"].head_bucket(Bucket=name)
        except ClientError as error:
            if is_gone(error):
                return []
            raise
        return [LivePart(f"bucket-{kind}", name, "Buckets")]

    def _budget(self, account: str) -> list[LivePart]:
        if self._stack.site.budget is None:
            return []
        name = names.budget_name(self._stack.name, self._stack.region)
        try:
            self._clients["budgets"].describe_budget(AccountId=account, BudgetName=name)
        except ClientError as error:
            if is_gone(error):
                return []
            raise
        return [LivePart("budget", f"{account}:{name}", "Budgets")]

    def _topic(self, account: str, partition: str) -> list[LivePart]:
        name = names.topic_name(self._stack.name)
        arn = f"arn:{partition}:sns:{self._stack.region}:{account}:{name}"
        try:
            self._clients["sns"].get_topic_attributes(TopicArn=arn)
        except ClientError as error:
            if is_gone(error):
                return []
            raise
        return [LivePart("topic", arn, "Topics")]

    def _overrides(self, account: str) -> tuple[dict[str, Override], list[str]]:
        bucket = names.bucket_name(self._stack.name, "data", account, self._stack.region)
        records = Records(self._clients["s3"], bucket)
        found, problems = {}, []
        for group, answer in zip(
            self._stack.groups, self._pool.map(_override(records), self._stack.groups), strict=True
        ):
            if isinstance(answer, Unreadable):
                problems.append(str(answer))
            elif answer is not None:
                found[group] = answer
        return found, problems


def _override(records: Records) -> Callable[[str], Override | Unreadable | None]:
    def read(group: str) -> Override | Unreadable | None:
        try:
            record = records.override(group).record
        except Unreadable as error:
            return error
        return Override(record.state, record.until) if record else None

    return read


def _running(item: Mapping[str, Any]) -> RunningGroup:
    states = [str(node["LifecycleState"]) for node in item["Instances"]]
    staying = sum(not state.startswith("Terminat") for state in states)
    return RunningGroup(running=staying, desired=int(item["DesiredCapacity"]))


def _action(item: Mapping[str, Any]) -> Action:
    return Action(
        name=str(item["ScheduledActionName"]),
        recurrence=str(item.get("Recurrence", "")),
        time_zone=str(item.get("TimeZone", "")),
        desired=int(item.get("DesiredCapacity", LEAVE)),
        min_size=int(item.get("MinSize", LEAVE)),
        max_size=int(item.get("MaxSize", LEAVE)),
    )


def _one_per_part(found: list[LivePart]) -> tuple[dict[str, LivePart], list[str]]:
    """By part, and a problem for each part that two live resources play."""
    by_part: dict[str, list[LivePart]] = defaultdict(list)
    for part in found:
        by_part[part.part].append(part)
    problems = [
        f'part "{part}": {len(live)} live resources carry its tag: {", ".join(each.id for each in live)}; '
        "one of them isn't this site's: delete it or take its nightshift:part tag off"
        for part, live in by_part.items()
        if len(live) > 1
    ]
    return {part: live[0] for part, live in by_part.items()}, problems
