"""What the account and its region have: identity, zone, offers, quotas, image, buckets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from nightshift.cli.finding import Finding
from nightshift.cli.images import Image, read_images
from nightshift.cli.site import calendars, capacity_of
from nightshift.plan import names
from nightshift.plan.quotas import QuotaNeed, total_needs

if TYPE_CHECKING:
    from nightshift.cli.aws import Aws
    from nightshift.settings.models import Stack

_SOON = timedelta(days=30)
_LOOK_AHEAD = timedelta(weeks=4)
_ABSENT = {"404", "NoSuchBucket", "NotFound"}
_FOREIGN = {"403", "AccessDenied", "Forbidden"}


def credentials(aws: Aws) -> list[Finding]:
    """Whose the credentials are."""
    if not aws.has_credentials():
        todo = "set AWS_PROFILE, or run `aws configure sso` and `aws sso login`"
        return [Finding("fail", "credentials", "none found", todo)]
    who = aws.identity()
    return [Finding("ok", "credentials", f"{who['Arn']}")]


def zone(ec2: Any, stack: Stack) -> list[Finding]:
    """The site's zone, as this account may use it."""
    wanted = stack.site.zone
    answer = ec2.describe_availability_zones(
        Filters=[{"Name": "zone-name", "Values": [wanted]}], AllAvailabilityZones=True
    )
    if not answer["AvailabilityZones"]:
        return [Finding("fail", "zone", f"{wanted} isn't in {stack.region}", "see nightshift:site zone")]
    raw = answer["AvailabilityZones"][0]
    if raw.get("OptInStatus") == "not-opted-in":
        return [Finding("fail", "zone", f"{wanted}: the account isn't opted in", "opt in under EC2 settings")]
    if raw.get("State") != "available":
        return [Finding("warn", "zone", f"{wanted} is {raw.get('State')}", "wait, or choose another zone")]
    return [Finding("ok", "zone", f"{wanted} ({raw.get('ZoneId', '?')})")]


def offers(ec2: Any, stack: Stack) -> list[Finding]:
    """Which of each group's types the zone has."""
    wanted = {group: capacity_of(stack, group).types for group in stack.groups}
    types = sorted({name for each in wanted.values() for name in each})
    answer = ec2.describe_instance_type_offerings(
        LocationType="availability-zone",
        Filters=[
            {"Name": "location", "Values": [stack.site.zone]},
            {"Name": "instance-type", "Values": types},
        ],
    )
    offered = {raw["InstanceType"] for raw in answer["InstanceTypeOfferings"]}
    return [_offer(group, each, offered, stack.site.zone) for group, each in wanted.items()]


def _offer(group: str, wanted: Sequence[str], offered: set[str], where: str) -> Finding:
    missing = [name for name in wanted if name not in offered]
    topic = f"offers {group}"
    if not missing:
        return Finding("ok", topic, f"{where} has {', '.join(wanted)}")
    if len(missing) == len(wanted):
        todo = "choose another zone or tier; volumes stay in their zone"
        return Finding("fail", topic, f"{where} has none of {', '.join(wanted)}", todo)
    todo = "the others serve; list types that the zone has for more choice"
    return Finding("warn", topic, f"{where} lacks {', '.join(missing)}", todo)


def needs(stack: Stack, now: datetime) -> tuple[QuotaNeed, ...]:
    """The most vCPUs per quota that shifts of the next four weeks want at one time."""
    each = {name: capacity_of(stack, name).quotas for name in stack.groups}
    groups = calendars(stack, {})
    edges = {now} | {
        event.at
        for calendar in groups.values()
        for event in calendar.events(now, now + _LOOK_AHEAD)
        if event.kind == "up"
    }
    most: dict[str, QuotaNeed] = {}
    for edge in edges:
        for need in total_needs([each[name] for name, one in groups.items() if one.is_up(edge)]):
            if need.code not in most or most[need.code].vcpus < need.vcpus:
                most[need.code] = need
    return tuple(most[code] for code in sorted(most))


def quotas(client: Any, wanted: Sequence[QuotaNeed]) -> list[Finding]:
    """Each quota against what the stack wants at its busiest."""
    return [_quota(client, need) for need in wanted]


def _quota(client: Any, need: QuotaNeed) -> Finding:
    topic = f"quota {need.code}"
    try:
        answer = client.get_service_quota(ServiceCode="ec2", QuotaCode=need.code)
    except client.exceptions.NoSuchResourceException:
        says = f"{need.name}: {need.vcpus} vCPUs wanted at once; AWS doesn't say what is allowed"
        return Finding("warn", topic, says, "look under Service Quotas, EC2, in the console")
    have = int(answer["Quota"]["Value"])
    says = f"{need.name}: {need.vcpus} vCPUs wanted at once, {have} allowed"
    if have >= need.vcpus:
        return Finding("ok", topic, says)
    todo = f"ask for {need.vcpus} under Service Quotas, EC2, {need.code}; it takes hours to days"
    return Finding("fail", topic, says, todo)


def image(ec2: Any, stack: Stack, arch: str, now: datetime) -> list[Finding]:
    """The pinned image against the stack file and the groups' architecture."""
    pinned = stack.site.image
    found = read_images(ec2, [pinned]).get(pinned)
    if found is None:
        says = f"{pinned} doesn't exist in {stack.region}, or isn't shared with this account"
        return [Finding("fail", "image", says, "`nightshift pin` proposes one")]
    wrong = [*_image_problems(stack, found, arch)]
    if wrong:
        return wrong
    return [_deprecation(found, now)]


def _image_problems(stack: Stack, found: Image, arch: str) -> list[Finding]:
    findings = []
    if found.arch != arch:
        says = f"{found.id} is for {found.arch}, the groups' types are {arch}"
        findings.append(Finding("fail", "image", says, "`nightshift pin` proposes one"))
    if found.root_device != stack.site.image_root_device:
        says = f"its root device is {found.root_device}, the file says {stack.site.image_root_device}"
        todo = f"set image_root_device: {found.root_device}"
        findings.append(Finding("fail", "image", says, todo))
    small = [name for name, group in stack.groups.items() if group.root_gib < (found.root_gib or 0)]
    if small:
        says = f"its root snapshot has {found.root_gib} GiB, more than root_gib of {', '.join(small)}"
        findings.append(Finding("fail", "image", says, f"set root_gib to {found.root_gib} or more"))
    return findings


def _deprecation(found: Image, now: datetime) -> Finding:
    if found.deprecated and found.deprecated <= now + _SOON:
        verb = "is" if found.deprecated <= now else "gets"
        says = f"{found.id} {verb} deprecated ({found.deprecated:%Y-%m-%d})"
        return Finding("warn", "image", says, "`nightshift pin` proposes a newer one")
    return Finding("ok", "image", f"{found.id} {found.name}")


def buckets(s3: Any, stack: Stack, account: str) -> list[Finding]:
    """Whether the site's buckets stand, and are ours."""
    kinds: tuple[names.BucketKind, ...] = ("data", "artifacts")
    return [_bucket(s3, names.bucket_name(stack.name, kind, account, stack.region), kind) for kind in kinds]


def _bucket(s3: Any, bucket: str, kind: str) -> Finding:
    try:
        s3.head_bucket(Bucket=bucket)
    except s3.exceptions.ClientError as error:
        code = str(error.response["Error"]["Code"])
        if code in _ABSENT:
            return Finding("ok", f"{kind} bucket", f"{bucket} doesn't stand yet; `pulumi up` makes it")
        if code in _FOREIGN:
            return Finding("fail", f"{kind} bucket", f"{bucket} can't be read", "ask for s3:ListBucket on it")
        raise
    return Finding("ok", f"{kind} bucket", f"{bucket} stands")


def budget(stack: Stack) -> list[Finding]:
    """A budget counts only what carries an activated tag; AWS activates none by itself."""
    if stack.site.budget is None:
        return [Finding("warn", "budget", "none", "add site.budget to get a mail before the bill does")]
    todo = f"once, in Billing: activate the cost allocation tag {names.TAG_SITE}; it takes a day to count"
    return [Finding("warn", "budget", f"{stack.site.budget.monthly_usd} USD a month, by tag", todo)]


def summary(findings: Sequence[Finding]) -> Mapping[str, int]:
    """How many of each level."""
    return {level: sum(one.level == level for one in findings) for level in ("ok", "warn", "fail")}
