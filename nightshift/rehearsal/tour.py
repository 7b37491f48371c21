"""What stands after an up, as an independent client sees it: nothing here reads the engine's state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nightshift.plan import names
from nightshift.rehearsal.clients import Clients, listed
from nightshift.rehearsal.finding import TourFinding, judged
from nightshift.rehearsal.tour_groups import tour_groups

if TYPE_CHECKING:
    from nightshift.settings.models import Stack

_ANYWHERE = ("0.0.0.0/0", "::/0")
_PUBLIC_BLOCK = ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets")


def tour(stack: Stack, clients: Clients) -> list[TourFinding]:
    """Every finding, good and bad."""
    account = clients("sts").get_caller_identity()["Account"]
    return [
        *tour_groups(stack, clients),
        _volumes(stack, clients("ec2")),
        *_snapshots(stack, clients),
        _inbound(stack, clients("ec2")),
        *_buckets(stack, clients("s3"), account),
        _roles(stack, clients("iam")),
    ]


def _tags(raw: Any) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in raw.get("Tags", ())}


def site_volumes(stack: Stack, ec2: Any) -> list[Any]:
    """The site's persistent volumes."""
    wanted = [
        {"Name": f"tag:{names.TAG_SITE}", "Values": [stack.name]},
        {"Name": "tag-key", "Values": [names.TAG_VOLUME]},
    ]
    return listed(ec2, "describe_volumes", "Volumes", Filters=wanted)


def _volumes(stack: Stack, ec2: Any) -> TourFinding:
    found = site_volumes(stack, ec2)
    wrong = [f"{raw['VolumeId']} isn't encrypted" for raw in found if not raw["Encrypted"]]
    wrong += [
        f"{raw['VolumeId']} is in {raw['AvailabilityZone']}"
        for raw in found
        if raw["AvailabilityZone"] != stack.site.zone
    ]
    for name, volume in stack.volumes.items():
        mine = [raw for raw in found if _tags(raw)[names.TAG_VOLUME] == name]
        wanted = _count(stack, name)
        if len(mine) != wanted:
            wrong.append(f"{name}: {len(mine)} volumes, expected {wanted}")
        wrong += [
            f"{name}: {raw['Size']} GiB, expected {volume.size_gib}"
            for raw in mine
            if raw["Size"] != volume.size_gib
        ]
    return judged("volumes", wrong, f"{len(found)}, encrypted, in {stack.site.zone}")


def _count(stack: Stack, volume: str) -> int:
    if stack.volumes[volume].per == "site":
        return 1
    return max(group.nodes for group in stack.groups.values() if volume in group.volumes)


def _snapshots(stack: Stack, clients: Clients) -> list[TourFinding]:
    """Each policy looks for one tag, which stands on the volumes that name the policy and nowhere else."""
    if not stack.snapshots:
        return []
    ec2, dlm = clients("ec2"), clients("dlm")
    tagged = listed(ec2, "describe_tags", "Tags", Filters=[{"Name": "key", "Values": [names.TAG_SNAPSHOTS]}])
    targets = {each for policy in _policies(stack, dlm) for each in _targets(policy)}
    wanted = {f"{stack.name}.{policy}" for policy in stack.snapshots}
    lacking = [f"no policy looks for {each}" for each in sorted(wanted - targets)]
    lacking += [f"a policy looks for {each} too" for each in sorted(targets - wanted)]
    on_others = [
        f"{tag['ResourceType']} {tag['ResourceId']} bears it"
        for tag in tagged
        if tag["ResourceType"] != "volume"
    ]
    have = {(tag["ResourceId"], tag["Value"]) for tag in tagged if tag["ResourceType"] == "volume"}
    right = _should_bear(stack, ec2)
    on_others += [f"{volume} lacks {value}" for volume, value in sorted(right - have)]
    on_others += [f"{volume} bears {value}" for volume, value in sorted(have - right)]
    return [
        judged("snapshot policies", lacking, ", ".join(sorted(targets))),
        judged(
            "snapshot tag",
            on_others,
            f"on {len(have)} volume{'' if len(have) == 1 else 's'} and on nothing else",
        ),
    ]


def _policies(stack: Stack, dlm: Any) -> list[Any]:
    summaries = dlm.get_lifecycle_policies()["Policies"]
    whole = [dlm.get_lifecycle_policy(PolicyId=one["PolicyId"])["Policy"] for one in summaries]
    return [one for one in whole if one.get("Tags", {}).get(names.TAG_SITE) == stack.name]


def _targets(policy: Any) -> list[str]:
    return [
        tag["Value"]
        for tag in policy["PolicyDetails"].get("TargetTags", ())
        if tag["Key"] == names.TAG_SNAPSHOTS
    ]


def _should_bear(stack: Stack, ec2: Any) -> set[tuple[str, str]]:
    pairs = (
        (raw["VolumeId"], stack.volumes[_tags(raw)[names.TAG_VOLUME]].snapshots)
        for raw in site_volumes(stack, ec2)
    )
    return {(volume, f"{stack.name}.{policy}") for volume, policy in pairs if policy}


def _inbound(stack: Stack, ec2: Any) -> TourFinding:
    """Only the stack file's SSH networks may come in from outside; groups may speak among themselves."""
    allowed = set(stack.site.ssh.sources) if stack.site.ssh else set()
    fences = listed(
        ec2,
        "describe_security_groups",
        "SecurityGroups",
        Filters=[{"Name": f"tag:{names.TAG_SITE}", "Values": [stack.name]}],
    )
    wrong = [] if fences else ["the site has no security group"]
    for fence in fences:
        sources = {source for rule in fence["IpPermissions"] for source in _sources(rule)}
        wrong += [f"{fence['GroupId']} lets {source} in" for source in sorted(sources - allowed) if source]
        wrong += [f"{fence['GroupId']} lets anywhere in" for source in _ANYWHERE if source in sources]
    return judged(
        "inbound rules",
        wrong,
        "none from outside" if not allowed else f"SSH from {', '.join(sorted(allowed))}",
    )


def _sources(rule: Any) -> list[str]:
    return [
        *(one["CidrIp"] for one in rule.get("IpRanges", ())),
        *(one["CidrIpv6"] for one in rule.get("Ipv6Ranges", ())),
        *(one["PrefixListId"] for one in rule.get("PrefixListIds", ())),
    ]


def _buckets(stack: Stack, s3: Any, account: str) -> list[TourFinding]:
    kinds: tuple[names.BucketKind, ...] = ("data", "artifacts")
    found = [(kind, names.bucket_name(stack.name, kind, account, stack.region)) for kind in kinds]
    return [_bucket(s3, kind, bucket) for kind, bucket in found]


def _bucket(s3: Any, kind: str, bucket: str) -> TourFinding:
    try:
        block = s3.get_public_access_block(Bucket=bucket)["PublicAccessBlockConfiguration"]
        rules = s3.get_bucket_encryption(Bucket=bucket)["ServerSideEncryptionConfiguration"]["Rules"]
    except s3.exceptions.ClientError as error:
        return TourFinding(False, f"{kind} bucket", str(error))
    wrong = [f"{name} is off" for name in _PUBLIC_BLOCK if not block.get(name)]
    wrong += [] if rules else ["isn't encrypted"]
    return judged(f"{kind} bucket", wrong, "private, encrypted")


def _roles(stack: Stack, iam: Any) -> TourFinding:
    """No role of the site bears a policy that AWS wrote for everybody."""
    roles = [
        raw
        for raw in listed(iam, "list_roles", "Roles")
        if raw["RoleName"].startswith(f"nightshift-{stack.name}-")
    ]
    broad = [
        f"{role['RoleName']} bears {policy['PolicyName']}"
        for role in roles
        for policy in listed(
            iam, "list_attached_role_policies", "AttachedPolicies", RoleName=role["RoleName"]
        )
        if policy["PolicyArn"].startswith("arn:aws:iam::aws:")
    ]
    return judged(
        "roles",
        broad if roles else ["the site has no role"],
        f"{len(roles)}, none with a policy of AWS's own",
    )
