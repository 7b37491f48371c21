"""The emulated AWS and plain moto, each started once, and short ways to make resources in either."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from botocore.parsers import ResponseParserError

from nightshift.emulator.cloud import Cloud, start_cloud

REGION = "us-east-1"
IMAGE = "ami-0abc0000000000001"
# vCPUs: room for the small instances of all tests, none for five of 192, or for one of 48 as Spot.
QUOTAS = {"L-DB2E81BA": 512.0, "L-3819A6DF": 16.0}
# Rows of what plain moto lacks (snapshot policies, placement groups, notifications), or fails on
# (SetDesiredCapacity of an unknown group).
MOTO_LACKS = (
    "dlm-",
    "placement-",
    "group-cluster-two-zones",
    "group-notify-missing-group",
    "group-set-desired-missing",
)
_numbers = itertools.count(1)

TRUST = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": {"Service": "SERVICE"}, "Action": "sts:AssumeRole"}],
}


class Aws:
    """Clients of one endpoint, without boto3's own parameter checks, and short ways to make resources."""

    def __init__(self, endpoint: str, credentials: dict[str, str] | None = None) -> None:
        self.endpoint = endpoint
        self._credentials = credentials or {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
        self._clients: dict[str, Any] = {}

    def client(self, service: str) -> Any:
        config = Config(
            parameter_validation=False,
            retries={"total_max_attempts": 1, "mode": "standard"},
            s3={"addressing_style": "path"},
        )
        if service not in self._clients:
            make: Any = boto3.session.Session(region_name=REGION).client
            whole: dict[str, Any] = {"endpoint_url": self.endpoint, "config": config, **self._credentials}
            self._clients[service] = make(service, **whole)
        return self._clients[service]

    def __getattr__(self, service: str) -> Any:
        return self.client({"servicequotas": "service-quotas"}.get(service, service))

    @staticmethod
    def name(kind: str = "x") -> str:
        return f"{kind}-{next(_numbers)}"

    def subnet(self, zone: str = "us-east-1a") -> str:
        filters = [
            {"Name": "availability-zone", "Values": [zone]},
            {"Name": "default-for-az", "Values": ["true"]},
        ]
        return self.ec2.describe_subnets(Filters=filters)["Subnets"][0]["SubnetId"]

    def template(self, **data: Any) -> str:
        whole = {"ImageId": IMAGE, "InstanceType": "g5.xlarge"} | data
        made = self.ec2.create_launch_template(LaunchTemplateName=self.name("lt"), LaunchTemplateData=whole)
        return made["LaunchTemplate"]["LaunchTemplateId"]

    def group(self, template: str | None = None, name: str | None = None, **given: Any) -> str:
        name = name or self.name("group")
        whole: dict[str, Any] = {"MinSize": 0, "MaxSize": 4, "VPCZoneIdentifier": self.subnet()} | given
        if "MixedInstancesPolicy" not in whole:
            whole["LaunchTemplate"] = {"LaunchTemplateId": template or self.template(), "Version": "1"}
        self.autoscaling.create_auto_scaling_group(AutoScalingGroupName=name, **whole)
        return name

    def mixed(self, *types: str, **distribution: Any) -> dict[str, Any]:
        spec = {"LaunchTemplateId": self.template(), "Version": "1"}
        overrides = [{"InstanceType": kind} for kind in types or ("g5.xlarge", "g5.2xlarge")]
        policy: dict[str, Any] = {
            "LaunchTemplate": {"LaunchTemplateSpecification": spec, "Overrides": overrides}
        }
        return policy | ({"InstancesDistribution": distribution} if distribution else {})

    def schedule(self, group: str, **given: Any) -> None:
        whole = {"AutoScalingGroupName": group, "ScheduledActionName": self.name("action"), **given}
        self.autoscaling.put_scheduled_update_group_action(**whole)

    def volume(self, **given: Any) -> str:
        whole = {"AvailabilityZone": "us-east-1a", "VolumeType": "gp3", "Size": 100} | given
        return self.ec2.create_volume(**whole)["VolumeId"]

    def instance(self, zone: str = "us-east-1a", **given: Any) -> str:
        whole = {"ImageId": IMAGE, "InstanceType": "g5.xlarge", "SubnetId": self.subnet(zone)} | given
        return self.ec2.run_instances(MinCount=1, MaxCount=1, **whole)["Instances"][0]["InstanceId"]

    def role(self, service: str = "ec2.amazonaws.com", *statements: dict[str, Any]) -> str:
        name = self.name("role")
        trust = json.dumps(TRUST).replace("SERVICE", service)
        arn = self.iam.create_role(RoleName=name, AssumeRolePolicyDocument=trust)["Role"]["Arn"]
        if statements:
            document = json.dumps({"Version": "2012-10-17", "Statement": list(statements)})
            self.iam.put_role_policy(RoleName=name, PolicyName="node", PolicyDocument=document)
        return arn

    def members(self, group: str) -> list[dict[str, Any]]:
        found = self.autoscaling.describe_auto_scaling_groups(AutoScalingGroupNames=[group])
        return found["AutoScalingGroups"][0]["Instances"]

    @staticmethod
    def soon(**delta: float) -> datetime:
        return datetime.now(UTC) + timedelta(**delta)


@pytest.fixture(scope="session")
def cloud() -> Iterator[Cloud]:
    with start_cloud(quotas=QUOTAS) as running:
        yield running


@pytest.fixture(scope="session")
def plain_cloud() -> Iterator[Cloud]:
    with start_cloud(plain=True) as running:
        yield running


@pytest.fixture(scope="session")
def ours(cloud: Cloud) -> Aws:
    return Aws(cloud.endpoint)


@pytest.fixture(scope="session")
def plain(plain_cloud: Cloud) -> Aws:
    return Aws(plain_cloud.endpoint)


@pytest.fixture
def aws_as(cloud: Cloud) -> Callable[[str], Aws]:
    """Clients with the credentials of an instance's role."""

    def signed(instance_id: str) -> Aws:
        given = cloud.control("node-credentials", {"instance_id": instance_id})
        keys = {
            "aws_access_key_id": str(given["AccessKeyId"]),
            "aws_secret_access_key": str(given["SecretAccessKey"]),
            "aws_session_token": str(given["Token"]),
        }
        return Aws(cloud.endpoint, keys)

    return signed


Attempt = Callable[[Aws], Callable[[], object]]


def _last_rule(cloud: Cloud, operations: tuple[str, ...]) -> str:
    log: Any = cloud.control("log")["requests"]
    return next(entry["rule"] for entry in reversed(log) if entry["operation"] in operations)


def _outcome(attempt: Attempt, aws: Aws) -> str:
    """What becomes of a call: accepted, lacking (moto fails on it), or the refusal's text."""
    try:
        attempt(aws)()
    except ClientError as error:
        failed = error.response["ResponseMetadata"]["HTTPStatusCode"] in {404, 500, 501}
        return "lacking" if failed else f"plain moto refuses too: {error}"
    except ResponseParserError:
        return "lacking"
    return "accepted"


@pytest.fixture
def refused(request: pytest.FixtureRequest, cloud: Cloud, ours: Aws, plain: Aws) -> Callable[[Attempt], None]:
    """Prove the row that the test is named after: refused here with the row's code, and not so by plain moto.

    The attempt makes what is needed and returns the call that is to be refused."""
    from nightshift.emulator.cloud.refusals import table

    name = request.node.name.removeprefix("test_").replace("_", "-")
    (row,) = [row for row in table() if row.name == name]

    def prove(attempt: Attempt) -> None:
        call = attempt(ours)
        with pytest.raises(ClientError) as caught:
            call()
        assert caught.value.response["Error"]["Code"] == row.code, caught.value
        assert caught.value.operation_name in row.operations
        assert _last_rule(cloud, row.operations) == row.name
        assert 400 <= caught.value.response["ResponseMetadata"]["HTTPStatusCode"] < 500
        lacks = name.startswith(MOTO_LACKS)
        assert _outcome(attempt, plain) == ("lacking" if lacks else "accepted")

    return prove


@pytest.fixture
def aws_at() -> Callable[[str], Aws]:
    """Operator clients of any endpoint."""
    return Aws
