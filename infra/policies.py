"""IAM policy documents as plain values: what a node and the snapshot service may do, and nothing more.

Standard library only, no Pulumi, so a test can hold each document against an evaluator.
This module attaches nothing and knows no managed policy.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

Document = dict[str, Any]

INLINE_LIMIT = 10_240
"""Characters of all inline policies of one role together, white space not counted (IAM quotas)."""

METRIC_NAMESPACE = "Nightshift"

OWN_TAG_KEYS = ("nightshift:readiness", "nightshift:reason")
"""The only tags that a node may write, and on itself alone."""

_NO_CHANNEL_ARN = "session channels have no resource type"

STAR_ACTIONS: dict[str, str] = {
    "ec2:DescribeVolumes": "EC2 has no resource-level permission for Describe calls",
    "ssm:UpdateInstanceInformation": "an instance calls it to become a managed node, before it has that ARN",
    "ssmmessages:CreateControlChannel": _NO_CHANNEL_ARN,
    "ssmmessages:CreateDataChannel": _NO_CHANNEL_ARN,
    "ssmmessages:OpenControlChannel": _NO_CHANNEL_ARN,
    "ssmmessages:OpenDataChannel": _NO_CHANNEL_ARN,
}
"""Actions that are granted on `*`, each with the reason why no ARN can stand there."""


@dataclass(frozen=True)
class NodeScope:
    """What a group's nodes touch. `volumes` and `secrets` are names; buckets too."""

    site: str
    group: str
    region: str
    account: str
    group_name: str
    data_bucket: str
    artifacts_bucket: str
    log_group: str
    partition: str = "aws"
    volumes: tuple[str, ...] = ()
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def arn(self, service: str, resource: str) -> str:
        """ARN in the site's region and account."""
        return f"arn:{self.partition}:{service}:{self.region}:{self.account}:{resource}"

    def objects(self, bucket: str, *keys: str) -> list[str]:
        """ARNs of objects; keys may hold `*` and policy variables."""
        return [f"arn:{self.partition}:s3:::{bucket}/{key}" for key in keys]


def node_policy(scope: NodeScope) -> Document:
    """Inline policy of the role of one group's nodes.

    A missing object answers 403 to GetObject, since ListBucket is granted by prefix only: list, then get.
    """
    return _document(
        *_storage_statements(scope),
        *_volume_statements(scope),
        *_self_statements(scope),
        *_report_statements(scope),
        *_secret_statements(scope),
        _statement("Unscoped", sorted(STAR_ACTIONS), "*"),
        *_denials(scope),
    )


def node_trust(partition: str = "aws") -> Document:
    """Who may take the node's role: EC2, for instances."""
    return _trust("ec2.amazonaws.com" + (".cn" if partition == "aws-cn" else ""))


def snapshot_policy(site: str, region: str, partition: str = "aws") -> Document:
    """What Data Lifecycle Manager may do: snapshots of this site's volumes, and end its own ones."""
    ours = {"StringEquals": {"aws:ResourceTag/nightshift:site": site}}
    snapshots = f"arn:{partition}:ec2:{region}::snapshot/*"
    described = ["ec2:DescribeInstances", "ec2:DescribeSnapshots", "ec2:DescribeVolumes"]
    return _document(
        _statement("ReadVolume", ["ec2:CreateSnapshot"], f"arn:{partition}:ec2:{region}:*:volume/*", ours),
        _statement("MakeSnapshot", ["ec2:CreateSnapshot"], snapshots),
        _statement("EndSnapshot", ["ec2:DeleteSnapshot"], snapshots, ours),
        _statement("TagSnapshot", ["ec2:CreateTags"], snapshots),
        _statement("Unscoped", described, "*"),
    )


def snapshot_trust(account: str) -> Document:
    """Data Lifecycle Manager, acting for this account and no other."""
    return _trust("dlm.amazonaws.com", {"StringEquals": {"aws:SourceAccount": account}})


def bucket_policy(bucket: str, partition: str = "aws") -> Document:
    """Refuses every request that does not come by TLS."""
    arn = f"arn:{partition}:s3:::{bucket}"
    return _document(
        {
            "Sid": "OnlyTls",
            "Effect": "Deny",
            "Principal": "*",
            "Action": "s3:*",
            "Resource": [arn, f"{arn}/*"],
            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
        }
    )


def to_json(document: Document) -> str:
    """The document as IAM stores it, without white space and always in the same order."""
    return json.dumps(document, separators=(",", ":"), sort_keys=True)


def size_problem(scope: NodeScope) -> str | None:
    """Why IAM would refuse the node policy, or None. Long lists of long secret names are the one cause."""
    size = len(to_json(node_policy(scope)))
    if size <= INLINE_LIMIT:
        return None
    return (
        f"groups.{scope.group}: its policy has {size} characters, IAM allows {INLINE_LIMIT}; "
        f"name fewer or shorter job.secrets ({len(scope.secrets)} given), or fewer volumes"
    )


def _storage_statements(scope: NodeScope) -> list[Document]:
    """Artifacts and own manifest to read; own record, own run, own lease and runtimes to write."""
    group, data = scope.group, scope.data_bucket
    own = ["nodes/${aws:userid}/*", f"runs/{group}/*", f"groups/{group}/*", "runtimes/*"]
    listable = [*own, f"overrides/{group}.json"]
    checkpoints = scope.objects(data, f"runs/{group}/checkpoints/*")
    return [
        _statement(
            "ReadArtifacts",
            ["s3:GetObject"],
            scope.objects(scope.artifacts_bucket, "bootstrap/*", f"groups/{group}/*"),
        ),
        _statement("ReadData", ["s3:GetObject"], scope.objects(data, *listable)),
        _statement("WriteData", ["s3:AbortMultipartUpload", "s3:PutObject"], scope.objects(data, *own)),
        _statement("PruneCheckpoints", ["s3:DeleteObject"], checkpoints),
        _statement(
            "ListOwn",
            ["s3:ListBucket"],
            f"arn:{scope.partition}:s3:::{data}",
            {"StringLike": {"s3:prefix": listable}},
        ),
    ]


def _volume_statements(scope: NodeScope) -> list[Document]:
    """Attach and detach: this site's volumes named by the group, onto the calling instance itself."""
    if not scope.volumes:
        return []
    actions = ["ec2:AttachVolume", "ec2:DetachVolume"]
    named = {
        "aws:ResourceTag/nightshift:site": scope.site,
        "aws:ResourceTag/nightshift:volume": list(scope.volumes),
    }
    return [
        _statement("OwnVolumes", actions, scope.arn("ec2", "volume/*"), {"StringEquals": named}),
        _statement("OntoItself", actions, scope.arn("ec2", "instance/*"), _itself(scope)),
    ]


def _self_statements(scope: NodeScope) -> list[Document]:
    """Its own tags, its own lifecycle hooks, its own end. Never the group's sizes or schedules."""
    group_arn = scope.arn("autoscaling", f"autoScalingGroup:*:autoScalingGroupName/{scope.group_name}")
    keys = {"ForAllValues:StringEquals": {"aws:TagKeys": list(OWN_TAG_KEYS)}}
    return [
        _statement(
            "TagItself", ["ec2:CreateTags"], scope.arn("ec2", "instance/*"), {**_itself(scope), **keys}
        ),
        _statement(
            "OwnGroup",
            [
                "autoscaling:CompleteLifecycleAction",
                "autoscaling:RecordLifecycleActionHeartbeat",
                "autoscaling:TerminateInstanceInAutoScalingGroup",
            ],
            group_arn,
        ),
    ]


def _report_statements(scope: NodeScope) -> list[Document]:
    streams = scope.arn("logs", f"log-group:{scope.log_group}:log-stream:{scope.group_name}/*")
    own_namespace = {"StringEquals": {"cloudwatch:namespace": METRIC_NAMESPACE}}
    return [
        _statement("OwnLogs", ["logs:CreateLogStream", "logs:PutLogEvents"], streams),
        _statement("OwnMetrics", ["cloudwatch:PutMetricData"], "*", own_namespace),
    ]


def _secret_statements(scope: NodeScope) -> list[Document]:
    """Secrets Manager adds a dash and six characters to a name in the ARN."""
    if not scope.secrets:
        return []
    arns = [scope.arn("secretsmanager", f"secret:{name}-??????") for name in scope.secrets]
    return [_statement("JobSecrets", ["secretsmanager:GetSecretValue"], arns)]


def _denials(scope: NodeScope) -> list[Document]:
    """Stand even if someone attaches a broader policy to the role: a mistake here costs data."""
    volumes = scope.arn("ec2", "volume/*")
    moves = ["ec2:AttachVolume", "ec2:DetachVolume"]
    tags = ["ec2:CreateTags", "ec2:DeleteTags"]
    other_site = {"StringNotEquals": {"aws:ResourceTag/nightshift:site": scope.site}}
    other_name = {"StringNotEquals": {"aws:ResourceTag/nightshift:volume": list(scope.volumes)}}
    denials = [
        _deny("TagOnlyInstances", tags, scope.arn("ec2", "instance/*"), negate=True),
        _deny("VolumesOfOthers", moves, volumes, condition=other_site),
        _deny("EndOfData", ["ec2:DeleteVolume", "ec2:DeleteSnapshot", "ec2:ModifyVolume"], "*"),
    ]
    if scope.volumes:
        denials.append(_deny("VolumesNotNamed", moves, volumes, condition=other_name))
    return denials


def _itself(scope: NodeScope) -> Document:
    """The target is the instance whose credentials sign the call, as AWSEC2VssSnapshotPolicy has it."""
    return {"ArnLike": {"ec2:SourceInstanceARN": scope.arn("ec2", "instance/${ec2:InstanceID}")}}


def _statement(
    sid: str, actions: list[str], resource: str | list[str], condition: Document | None = None
) -> Document:
    body: Document = {"Sid": sid, "Effect": "Allow", "Action": actions, "Resource": resource}
    return {**body, "Condition": condition} if condition else body


def _deny(
    sid: str, actions: list[str], resource: str, *, condition: Document | None = None, negate: bool = False
) -> Document:
    body: Document = {"Sid": sid, "Effect": "Deny", "Action": actions}
    body["NotResource" if negate else "Resource"] = resource
    return {**body, "Condition": condition} if condition else body


def _trust(service: str, condition: Document | None = None) -> Document:
    body: Document = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    return _document({**body, "Condition": condition} if condition else body)


def _document(*statements: Document) -> Document:
    return {"Version": "2012-10-17", "Statement": list(statements)}
