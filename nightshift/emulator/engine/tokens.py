"""Which AWS resources and look-ups the bridge serves, and what each is called on its two sides.

The SDK of pulumi-aws names a type by service (`aws:ec2/launchTemplate:LaunchTemplate`); the bridge names it
by its Terraform name (`aws:index/launchTemplate:LaunchTemplate`). Names follow from each other by rule; those
that do not stand in IRREGULAR.
"""

import re
from functools import cache

RESOURCES: tuple[str, ...] = (
    "aws:autoscaling/group:Group",
    "aws:autoscaling/lifecycleHook:LifecycleHook",
    "aws:autoscaling/notification:Notification",
    "aws:autoscaling/policy:Policy",
    "aws:autoscaling/schedule:Schedule",
    "aws:budgets/budget:Budget",
    "aws:cloudwatch/dashboard:Dashboard",
    "aws:cloudwatch/logGroup:LogGroup",
    "aws:cloudwatch/metricAlarm:MetricAlarm",
    "aws:dlm/lifecyclePolicy:LifecyclePolicy",
    "aws:ebs/volume:Volume",
    "aws:ec2/defaultRouteTable:DefaultRouteTable",
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
    "aws:ec2/eip:Eip",
    "aws:ec2/internetGateway:InternetGateway",
    "aws:ec2/launchTemplate:LaunchTemplate",
    "aws:ec2/natGateway:NatGateway",
    "aws:ec2/placementGroup:PlacementGroup",
    "aws:ec2/route:Route",
    "aws:ec2/routeTable:RouteTable",
    "aws:ec2/routeTableAssociation:RouteTableAssociation",
    "aws:ec2/securityGroup:SecurityGroup",
    "aws:ec2/subnet:Subnet",
    "aws:ec2/vpc:Vpc",
    "aws:ec2/vpcEndpoint:VpcEndpoint",
    "aws:iam/instanceProfile:InstanceProfile",
    "aws:iam/role:Role",
    "aws:iam/rolePolicy:RolePolicy",
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
    "aws:s3/bucket:Bucket",
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration",
    "aws:s3/bucketObjectv2:BucketObjectv2",
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls",
    "aws:s3/bucketPolicy:BucketPolicy",
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
    "aws:s3/bucketVersioning:BucketVersioning",
    "aws:sns/topic:Topic",
    "aws:sns/topicPolicy:TopicPolicy",
    "aws:sns/topicSubscription:TopicSubscription",
    "aws:ssm/parameter:Parameter",
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
)

INVOKES: tuple[str, ...] = (
    "aws:ebs/getEbsVolumes:getEbsVolumes",
    "aws:ec2/getAmi:getAmi",
    "aws:iam/getPolicyDocument:getPolicyDocument",
    "aws:index/getAvailabilityZones:getAvailabilityZones",
    "aws:index/getCallerIdentity:getCallerIdentity",
    "aws:index/getPartition:getPartition",
    "aws:index/getRegion:getRegion",
    "aws:ssm/getParameter:getParameter",
)

IRREGULAR: dict[str, str] = {
    "aws:ebs/getEbsVolumes:getEbsVolumes": "aws_ebs_volumes",
    "aws:s3/bucketObjectv2:BucketObjectv2": "aws_s3_object",
}

ADDED_OUTPUTS: dict[str, dict[str, str]] = {"aws:index/getRegion:getRegion": {"region": "name"}}
"""Outputs that pulumi-aws 7 reads and the bridged provider names otherwise: new name -> the bridge's."""

_BARE_SERVICES = {"ec2", "index"}
_TOKEN = re.compile(r"aws:(?P<service>\w+)/\w+:(?P<member>\w+)")
_URN = re.compile(r"(?P<head>urn:pulumi:[^:]*::[^:]*::)(?P<types>.*?)::(?P<name>.*)", re.DOTALL)


def terraform_name(token: str) -> str:
    """The Terraform name of a type or look-up of the SDK: `aws_launch_template` for the launch template.

    Raises ValueError for a token that is not of the form `aws:service/name:Member`.
    """
    if token in IRREGULAR:
        return IRREGULAR[token]
    match = _TOKEN.fullmatch(token)
    if match is None:
        raise ValueError(f"{token!r} is not of the form aws:service/name:Member")
    member = match["member"].removeprefix("get")
    snake = re.sub(r"(?<!^)(?=[A-Z])", "_", member).lower()
    prefix = "" if match["service"] in _BARE_SERVICES else f"{match['service']}_"
    return f"aws_{prefix}{snake}"


@cache
def bridge_token(token: str) -> str:
    """The bridge's name of an SDK token, resource or look-up."""
    upper = "".join(part.capitalize() for part in terraform_name(token).removeprefix("aws_").split("_"))
    if token.rsplit(":", 1)[1].startswith("get"):
        return f"aws:index/get{upper}:get{upper}"
    return f"aws:index/{upper[:1].lower()}{upper[1:]}:{upper}"


def bridge_urn(urn: str) -> str:
    """The URN with its own type, parents dropped, in the bridge's name; others' URNs stay as they are."""
    match = _URN.fullmatch(urn)
    if match is None:
        return urn
    own_type = match["types"].rsplit("$", 1)[-1]
    if not own_type.startswith("aws:"):
        return urn
    return f"{match['head']}{bridge_token(own_type)}::{match['name']}"


def included() -> tuple[str, ...]:
    """Every Terraform name the bridge must load, sorted: loading only these keeps its start short."""
    return tuple(sorted({terraform_name(token) for token in RESOURCES + INVOKES}))
