"""A monitor that records what the program registers and fills in what AWS would compute."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi.runtime import mocks as pulumi_mocks
from pulumi.runtime import rpc

ACCOUNT = "123456789012"
REGION = "us-east-1"
STACK = "lab"

COMPUTED: Mapping[str, Mapping[str, object]] = {
    "aws:ec2/vpc:Vpc": {"defaultRouteTableId": "rtb-main", "arn": "arn:vpc"},
    "aws:ec2/subnet:Subnet": {},
    "aws:ec2/internetGateway:InternetGateway": {},
    "aws:ec2/defaultRouteTable:DefaultRouteTable": {},
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": {},
    "aws:ec2/routeTable:RouteTable": {},
    "aws:ec2/routeTableAssociation:RouteTableAssociation": {},
    "aws:ec2/eip:Eip": {},
    "aws:ec2/natGateway:NatGateway": {},
    "aws:ec2/vpcEndpoint:VpcEndpoint": {},
    "aws:ec2/securityGroup:SecurityGroup": {},
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": {},
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": {},
    "aws:ec2/placementGroup:PlacementGroup": {},
    "aws:ec2/launchTemplate:LaunchTemplate": {"latestVersion": 3, "arn": "arn:template"},
    "aws:autoscaling/group:Group": {"arn": "arn:group"},
    "aws:autoscaling/lifecycleHook:LifecycleHook": {},
    "aws:autoscaling/schedule:Schedule": {"arn": "arn:action"},
    "aws:autoscaling/policy:Policy": {"arn": "arn:policy"},
    "aws:ebs/volume:Volume": {"arn": "arn:volume"},
    "aws:iam/role:Role": {"arn": "arn:role"},
    "aws:iam/rolePolicy:RolePolicy": {},
    "aws:iam/instanceProfile:InstanceProfile": {"arn": "arn:profile"},
    "aws:s3/bucket:Bucket": {"arn": "arn:bucket"},
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": {},
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls": {},
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": {},
    "aws:s3/bucketPolicy:BucketPolicy": {},
    "aws:s3/bucketObjectv2:BucketObjectv2": {},
    "aws:dlm/lifecyclePolicy:LifecyclePolicy": {"arn": "arn:dlm"},
    "aws:cloudwatch/logGroup:LogGroup": {"arn": "arn:logs"},
    "aws:cloudwatch/metricAlarm:MetricAlarm": {"arn": "arn:alarm"},
    "aws:cloudwatch/dashboard:Dashboard": {},
    "aws:sns/topic:Topic": {"arn": "arn:topic"},
    "aws:sns/topicPolicy:TopicPolicy": {},
    "aws:sns/topicSubscription:TopicSubscription": {"arn": "arn:mail"},
    "aws:budgets/budget:Budget": {"arn": "arn:budget"},
}


@dataclass(frozen=True)
class Recorded:
    """One registered resource: camelCase inputs as sent, and its options as the engine would see them."""

    type: str
    name: str
    id: str
    urn: str
    inputs: dict[str, Any]
    request: Any

    @property
    def parent(self) -> str:
        """The parent's name."""
        return str(self.request.parent).rpartition("::")[2]

    @property
    def depends_on(self) -> set[str]:
        """Names of everything that it waits for, by its options or by its inputs."""
        return {str(urn).rpartition("::")[2] for urn in self.request.dependencies}


class Recorder(pulumi_mocks.MockMonitor):
    """Records registrations in order."""

    def __init__(self) -> None:
        super().__init__(_Computed())
        self.recorded: list[Recorded] = []

    def RegisterResource(self, request: Any) -> Any:
        """As the engine's monitor names it."""
        response = super().RegisterResource(request)
        if request.type != "pulumi:pulumi:Stack":
            inputs = rpc.deserialize_properties(request.object)
            self.recorded.append(
                Recorded(request.type, request.name, response.id, response.urn, inputs, request)
            )
        return response

    def all(self, kind: str) -> list[Recorded]:
        """Every resource whose type ends so, by name: they are registered in no fixed order."""
        found = [each for each in self.recorded if each.type.endswith(f":{kind}")]
        return sorted(found, key=lambda each: each.name)

    def one(self, kind: str, name: str | None = None) -> Recorded:
        """The only resource of the kind, or the one of that name."""
        found = [each for each in self.all(kind) if name in (None, each.name)]
        assert len(found) == 1, (
            f"{kind} {name or ''}: {[each.name for each in self.all(kind)]} are registered"
        )
        return found[0]


class _Computed(pulumi_mocks.Mocks):
    def call(self, args: pulumi_mocks.MockCallArgs) -> tuple[dict, None]:
        raise AssertionError(f"the program calls no provider function, but called {args.token}")

    def new_resource(self, args: pulumi_mocks.MockResourceArgs) -> tuple[str | None, dict]:
        if not args.custom:
            return "", dict(args.inputs)
        assert args.typ in COMPUTED, f"{args.typ} isn't in the recorder's table: add what AWS computes for it"
        identity = args.resource_id or f"{args.name}-id"
        names = {key: args.name for key in ("name", "bucket") if key not in args.inputs}
        return identity, {**names, **COMPUTED[args.typ], **args.inputs}


def deploy(program: Callable[[], object], stack: str = STACK) -> Recorder:
    """Run `program` against a fresh recorder; everything is registered when it returns."""
    recorder = Recorder()
    pulumi.runtime.set_mocks(_Computed(), project="nightshift", stack=stack, preview=False, monitor=recorder)

    @pulumi.runtime.test
    def run() -> None:
        program()

    run()
    return recorder
