"""docs/deployer-policy.json allows what a deployment and the verbs call, and fits a managed policy."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore import xform_name

from nightshift.emulator.cloud.iam import Ask, judge
from nightshift.emulator.cloud.process import start_cloud
from nightshift.emulator.cloud.resources_s3 import ACTIONS as S3_ACTIONS
from nightshift.emulator.engine.toolchain import ensure_toolchain
from nightshift.emulator.engine.workspace import Workspace
from nightshift.plan import names

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docs" / "deployer-policy.json"
MANAGED_POLICY_LIMIT = 6_144
"""Characters without white space (IAM quotas)."""
SERVICES = (
    "autoscaling",
    "budgets",
    "dlm",
    "ec2",
    "iam",
    "logs",
    "s3",
    "service-quotas",
    "sns",
    "ssm",
    "sts",
)
ALSO_ASKED = (
    "autoscaling:CreateOrUpdateTags",
    "ec2:RunInstances",
    "iam:CreateServiceLinkedRole",
    "iam:PassRole",
    "iam:TagRole",
    "ssm:StartSession",
)
"""What AWS checks besides the call itself (Service Authorization Reference), or people call by hand."""


def statements() -> list[dict[str, Any]]:
    return json.loads(FILE.read_text(encoding="utf-8"))["Statement"]


def patterns() -> list[str]:
    """Every allowed action, in lower case: IAM doesn't tell cases apart."""
    listed = [one["Action"] for one in statements()]
    return [action.lower() for each in listed for action in ([each] if isinstance(each, str) else each)]


def allowed(action: str) -> bool:
    return any(fnmatchcase(action.lower(), pattern) for pattern in patterns())


def action_of(service: str, operation: str) -> str:
    """The IAM action of an API call, where it has another name (Service Authorization Reference)."""
    if service == "budgets" and "Tag" not in operation:
        return "budgets:ViewBudget" if operation.startswith("Describe") else "budgets:ModifyBudget"
    if service == "s3":
        return f"s3:{S3_ACTIONS.get(operation, operation)}"
    return f"{service.replace('-', '')}:{operation}"


def called() -> Iterator[str]:
    """Every operation that our own code names, as a method or as text for a paginator."""
    sources = [
        *ROOT.glob("infra/*.py"),
        *ROOT.glob("nightshift/cli/*.py"),
        *ROOT.glob("nightshift/records/*.py"),
    ]
    text = "\n".join(source.read_text(encoding="utf-8") for source in sources)
    words = set(re.findall(r"\.([a-z_0-9]+)\(", text)) | set(re.findall(r'"([a-z_0-9]+)"', text))
    for service in SERVICES:
        client = boto3.client(service, "us-east-1", aws_access_key_id="test", aws_secret_access_key="test")
        for operation in client.meta.service_model.operation_names:
            if xform_name(operation) in words:
                yield action_of(service, operation)


def test_every_call_of_ours_is_allowed() -> None:
    asked = set(called())
    assert {"sts:GetCallerIdentity", "ec2:DescribeVolumes", "servicequotas:GetServiceQuota"} <= asked
    assert sorted(action for action in asked if not allowed(action)) == []


@pytest.mark.parametrize("action", ALSO_ASKED)
def test_what_aws_checks_besides_is_allowed(action: str) -> None:
    assert allowed(action)


@pytest.mark.parametrize("action", ["iam:AttachRolePolicy", "iam:CreateUser", "ec2:TerminateInstances"])
def test_what_no_deployment_needs_is_not_allowed(action: str) -> None:
    assert not allowed(action)


def verdict(action: str, arn: str, **context: str) -> str:
    """What IAM says to one action on one resource."""
    documents = [json.loads(FILE.read_text(encoding="utf-8"))]
    asked = {key: [value] for key, value in context.items()}
    return judge(documents, Ask(action, arn, asked, "arn:aws:iam::123456789012:user/ada"))


ROLE = f"arn:aws:iam::123456789012:role/{names.role_name('lab', 'us-east-1', 'vit')}"
OURS = (
    (
        "autoscaling:SetDesiredCapacity",
        "arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:7c1f:autoScalingGroupName/"
        + names.group_name("lab", "vit"),
    ),
    ("iam:CreateRole", ROLE),
    ("iam:CreateInstanceProfile", ROLE.replace(":role/", ":instance-profile/")),
    (
        "s3:PutObject",
        f"arn:aws:s3:::{names.bucket_name('lab', 'data', '123456789012', 'us-east-1')}/overrides/vit.json",
    ),
    ("s3:ListBucket", f"arn:aws:s3:::{names.bucket_name('lab', 'artifacts', '123456789012', 'us-east-1')}"),
    ("sns:CreateTopic", f"arn:aws:sns:us-east-1:123456789012:{names.topic_name('lab')}"),
    ("logs:CreateLogGroup", f"arn:aws:logs:us-east-1:123456789012:log-group:{names.log_group_name('lab')}"),
    (
        "cloudwatch:PutMetricAlarm",
        f"arn:aws:cloudwatch:us-east-1:123456789012:alarm:{names.no_capacity_alarm('lab', 'vit')}",
    ),
    (
        "cloudwatch:PutDashboard",
        f"arn:aws:cloudwatch::123456789012:dashboard/{names.dashboard_name('lab', 'us-east-1')}",
    ),
    ("budgets:ModifyBudget", f"arn:aws:budgets::123456789012:budget/{names.budget_name('lab', 'us-east-1')}"),
)
OTHERS = (
    ("s3:DeleteObject", "arn:aws:s3:::payroll/2026.csv"),
    ("iam:PutRolePolicy", "arn:aws:iam::123456789012:role/admin"),
    (
        "autoscaling:DeleteAutoScalingGroup",
        "arn:aws:autoscaling:us-east-1:1:autoScalingGroup:7c1f:autoScalingGroupName/web",
    ),
    ("sns:DeleteTopic", "arn:aws:sns:us-east-1:123456789012:pager"),
    ("ec2:DeleteVolume", "arn:aws:ec2:us-east-1:123456789012:volume/vol-0abc0000000000001"),
)


@pytest.mark.parametrize(("action", "arn"), OURS)
def test_what_bears_a_name_of_ours_may_be_made(action: str, arn: str) -> None:
    assert verdict(action, arn) == "allow"


@pytest.mark.parametrize(("action", "arn"), OTHERS)
def test_what_bears_another_name_is_out_of_reach(action: str, arn: str) -> None:
    assert verdict(action, arn) != "allow"


def test_roles_go_to_instances_and_to_no_function() -> None:
    assert verdict("iam:PassRole", ROLE, **{"iam:PassedToService": "ec2.amazonaws.com"}) == "allow"
    assert verdict("iam:PassRole", ROLE, **{"iam:PassedToService": "lambda.amazonaws.com"}) != "allow"


def test_a_volume_of_a_site_may_be_retired() -> None:
    volume = "arn:aws:ec2:us-east-1:123456789012:volume/vol-0abc0000000000001"
    assert verdict("ec2:DeleteVolume", volume, **{"aws:ResourceTag/nightshift:site": "lab"}) == "allow"


def test_roles_are_handed_to_two_services_only() -> None:
    passing = next(one for one in statements() if one["Action"] == "iam:PassRole")
    services = passing["Condition"]["StringEquals"]["iam:PassedToService"]
    assert services == ["ec2.amazonaws.com", "dlm.amazonaws.com"]


def test_it_fits_a_managed_policy() -> None:
    document = json.loads(FILE.read_text(encoding="utf-8"))
    assert len(json.dumps(document, separators=(",", ":"))) <= MANAGED_POLICY_LIMIT


def test_every_statement_has_a_name_of_its_own() -> None:
    sids = [one["Sid"] for one in statements()]
    assert len(sids) == len(set(sids))


@pytest.mark.engine
def test_every_call_of_a_deployment_and_its_end_is_allowed(tmp_path: Path) -> None:
    """The richest shipped stack, with a snapshot policy besides."""
    text = (ROOT / "stacks" / "Pulumi.cluster.yaml").read_text(encoding="utf-8")
    policy = '  nightshift:snapshots: { nightly: { at_utc: "10:30", keep: 7 } }\n  nightshift:groups:\n'
    text = text.replace("shards: { ", "shards: { snapshots: nightly, ").replace(
        "  nightshift:groups:\n", policy
    )
    file = tmp_path / "Pulumi.cluster.yaml"
    file.write_text(text, encoding="utf-8")
    with start_cloud() as cloud, Workspace(ensure_toolchain(print), file, ROOT, cloud.endpoint) as workspace:
        for step in (workspace.up, workspace.destroy):
            result = step()
            assert result.ok, result.diagnostics
        requests: Any = cloud.control("log")["requests"]
    asked = {action_of(one["service"], one["operation"]) for one in requests if one["operation"]}
    assert {"ec2:CreateNatGateway", "dlm:CreateLifecyclePolicy", "budgets:ModifyBudget"} <= asked
    assert sorted(action for action in asked if not allowed(action)) == []
