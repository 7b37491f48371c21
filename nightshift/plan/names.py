"""The tags and physical names by which program, command line and node find the same things.

Every name is a function of the stack file and the account alone, so nothing needs the engine's state.
A name that can't fit its AWS limit raises PlanError with the sum.
"""

from __future__ import annotations

import hashlib
import re
from typing import Literal

from nightshift.catalog import limits
from nightshift.catalog.limits import Range
from nightshift.plan.errors import PlanError

TAG_SITE = "nightshift:site"
TAG_PART = "nightshift:part"
TAG_OWNER = "nightshift:owner"
TAG_GROUP = "nightshift:group"
TAG_VOLUME = "nightshift:volume"
TAG_INDEX = "nightshift:index"
TAG_SNAPSHOTS = "nightshift:snapshots"
TAG_NAME = "Name"

METRIC_NAMESPACE = "Nightshift"
METRIC_BOOT_FAILED = "BootFailed"
DIMENSION_SITE = "Site"
DIMENSION_GROUP = "Group"
HOOK_READY = "ready"
HOOK_DRAIN = "drain"

NAME_CHARS = 20
"""Longest site, group, volume and policy name: five of them fit the tightest limit, a bucket's 63."""
NAME_PATTERN = re.compile(r"[a-z](?:[a-z0-9-]{0,18}[a-z0-9])?")
BucketKind = Literal["data", "artifacts"]


def name_problem(what: str, value: str) -> str | None:
    """Why `value` can't name a `what` (site, group, volume, snapshot policy), or None when it can."""
    if NAME_PATTERN.fullmatch(value):
        return None
    return (
        f'{what}: given "{value}" ({len(value)} characters), expected 1 to {NAME_CHARS} of a-z, 0-9 and "-", '
        "starting with a letter and not ending with a dash"
    )


def common_tags(site: str, part: str, owner: str, name: str) -> dict[str, str]:
    """The tags of every resource that can be tagged."""
    return {TAG_SITE: site, TAG_PART: part, TAG_OWNER: owner, TAG_NAME: name}


def node_tags(site: str, group: str, owner: str) -> dict[str, str]:
    """The tags that the group gives its nodes."""
    return {TAG_SITE: site, TAG_GROUP: group, TAG_OWNER: owner, TAG_NAME: group_name(site, group)}


def volume_tags(
    site: str, volume: str, owner: str, *, index: int | None = None, policy: str | None = None
) -> dict[str, str]:
    """A volume's tags; `index` for pools, `policy` only where a snapshot policy is named."""
    part = f"volume-{volume}" if index is None else f"volume-{volume}.{index}"
    tags = common_tags(site, part, owner, f"nightshift-{site}-{part}")
    tags[TAG_VOLUME] = volume
    if index is not None:
        tags[TAG_INDEX] = str(index)
    if policy is not None:
        tags[TAG_SNAPSHOTS] = snapshot_target(site, policy)
    return tags


def snapshot_target(site: str, policy: str) -> str:
    """The value of the tag that a snapshot policy looks for; it stands on volumes and on nothing else."""
    return f"{site}.{policy}"


def group_name(site: str, group: str) -> str:
    """The Auto Scaling group, its launch template and its placement group.

    A dot stands between, which neither name has: site lab's group a-b is not site lab-a's group b.
    """
    return _fit("group", limits.TEMPLATE_NAME_CHARS, "nightshift-", site, ".", group)


def role_name(site: str, region: str, group: str) -> str:
    """The node's role and instance profile; IAM is global, so the region is in it. Cut with a hash."""
    whole = f"nightshift-{site}-{region}-{group}"
    most = limits.ROLE_NAME_CHARS.most
    return whole if len(whole) <= most else f"{whole[: most - 9]}-{_digest(whole)}"


def bucket_name(site: str, kind: BucketKind, account: str, region: str) -> str:
    """Bucket names are global: the account and region go in as a hash."""
    return _fit(
        "bucket",
        limits.BUCKET_NAME_CHARS,
        "nightshift-",
        site,
        "-",
        kind,
        "-",
        _digest(f"{account}/{region}"),
    )


def log_group_name(site: str) -> str:
    """The site's log group."""
    return _fit("log group", limits.LOG_GROUP_NAME_CHARS, "/nightshift/", site)


def log_stream_prefix(site: str, group: str) -> str:
    """What the log streams of a group's nodes begin with."""
    return group_name(site, group)


def topic_name(site: str) -> str:
    """The topic that mails the owner."""
    return _fit("topic", limits.TOPIC_NAME_CHARS, "nightshift-", site)


def dashboard_name(site: str, region: str) -> str:
    """Dashboards are global to an account, so the region is in the name."""
    return _fit("dashboard", limits.DASHBOARD_NAME_CHARS, "nightshift-", site, "-", region)


def budget_name(site: str, region: str) -> str:
    """Budgets are global to an account, so the region is in the name."""
    return _fit("budget", limits.BUDGET_NAME_CHARS, "nightshift-", site, "-", region)


def policy_description(site: str, policy: str) -> str:
    """A snapshot policy's description; DLM allows letters, digits, space, _ and - only."""
    return _fit("snapshot policy", limits.DLM_DESCRIPTION_CHARS, "nightshift ", site, " ", policy)


def no_capacity_alarm(site: str, group: str) -> str:
    """The alarm for a group that wants nodes and gets none."""
    return _fit("alarm", limits.ALARM_NAME_CHARS, group_name(site, group), "-no-capacity")


def not_ready_alarm(site: str, group: str) -> str:
    """The alarm for a group whose nodes boot and fail their checks."""
    return _fit("alarm", limits.ALARM_NAME_CHARS, group_name(site, group), "-not-ready")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _fit(what: str, limit: Range, *parts: str) -> str:
    name = "".join(parts)
    if len(name) in limit:
        return name
    total = " + ".join(f'{len(part)} ("{part}")' for part in parts)
    raise PlanError(
        f"{what} name: {total} = {len(name)} characters, AWS allows {limit.least} to {limit.most}"
    )
