"""The node's role against an evaluator: what it needs is allowed, what would hurt others is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from infra.identity import identity_spec
from infra.options import SiteContext
from infra.policies import node_policy, size_problem
from nightshift.emulator.cloud.iam import Ask, Verdict, judge
from nightshift.settings import from_config
from tests.infra.support.scope import SCOPE, arn

ME, OTHER = "i-0aaaaaaaaaaaaaaa1", "i-0bbbbbbbbbbbbbbb2"
USERID = f"AROAEXAMPLE:{ME}"


def ask(action: str, resource: str = "*", **context: str | list[str]) -> Verdict:
    """As the node itself; keywords write `:` as `__` and `/` as `___`."""
    given = {key.replace("___", "/").replace("__", ":"): value for key, value in context.items()}
    values = {key: value if isinstance(value, list) else [value] for key, value in given.items()}
    common = {"aws:userid": [USERID], "ec2:SourceInstanceARN": [arn("ec2", f"instance/{ME}")]}
    return judge([node_policy(SCOPE)], Ask(action, resource, {**common, **values}))


def on_object(action: str, key: str, bucket: str = SCOPE.data_bucket) -> Verdict:
    return ask(action, f"arn:aws:s3:::{bucket}/{key}")


def on_volume(action: str, **tags: str) -> Verdict:
    context: dict[str, str | list[str]] = {
        f"aws__ResourceTag___nightshift__{key}": value for key, value in tags.items()
    }
    return ask(action, arn("ec2", "volume/vol-0123456789abcdef0"), **context)


def on_instance(action: str, instance: str, **context: str | list[str]) -> Verdict:
    return ask(action, arn("ec2", f"instance/{instance}"), ec2__InstanceID=instance, **context)


def on_group(action: str, group: str = "nightshift-lab.vit") -> Verdict:
    return ask(action, arn("autoscaling", f"autoScalingGroup:1234:autoScalingGroupName/{group}"))


@pytest.mark.parametrize("action", ["ec2:AttachVolume", "ec2:DetachVolume"])
def test_a_node_moves_its_sites_named_volumes_onto_itself(action: str) -> None:
    assert on_volume(action, site="lab", volume="runs") == "allow"
    assert on_instance(action, ME) == "allow"


@pytest.mark.parametrize("action", ["ec2:AttachVolume", "ec2:DetachVolume"])
def test_a_node_cannot_touch_a_volume_that_is_not_its_own(action: str) -> None:
    assert on_volume(action, site="other", volume="runs") == "deny"
    assert on_volume(action, site="lab", volume="secret") == "deny"
    assert on_volume(action) == "deny", "a volume without tags is somebody else's"


@pytest.mark.parametrize("action", ["ec2:AttachVolume", "ec2:DetachVolume"])
def test_a_node_moves_no_volume_onto_another_instance(action: str) -> None:
    assert on_instance(action, OTHER) == "none"


def test_a_node_of_a_group_without_volumes_may_attach_nothing() -> None:
    bare = node_policy(replace(SCOPE, volumes=()))
    tags = {"aws:ResourceTag/nightshift:site": ["lab"], "aws:ResourceTag/nightshift:volume": ["runs"]}
    assert judge([bare], Ask("ec2:AttachVolume", arn("ec2", "volume/vol-1"), tags)) == "none"


def test_a_node_tags_itself_with_its_readiness_and_with_nothing_else() -> None:
    keys = ["nightshift:readiness", "nightshift:reason"]
    assert on_instance("ec2:CreateTags", ME, aws__TagKeys=keys) == "allow"
    assert on_instance("ec2:CreateTags", ME, aws__TagKeys=["nightshift:readiness"]) == "allow"
    assert on_instance("ec2:CreateTags", ME, aws__TagKeys=["nightshift:group"]) == "none"
    assert on_instance("ec2:CreateTags", ME, aws__TagKeys=["nightshift:readiness", "Name"]) == "none"
    assert on_instance("ec2:CreateTags", OTHER, aws__TagKeys=keys) == "none"
    assert on_instance("ec2:DeleteTags", ME, aws__TagKeys=keys) == "none"


@pytest.mark.parametrize("action", ["ec2:CreateTags", "ec2:DeleteTags"])
@pytest.mark.parametrize("kind", ["volume/vol-1", "snapshot/snap-1", "security-group/sg-1"])
def test_a_node_never_tags_a_volume_or_anything_else(action: str, kind: str) -> None:
    assert ask(action, arn("ec2", kind), aws__TagKeys=["nightshift:readiness"]) == "deny"


@pytest.mark.parametrize("action", ["ec2:DeleteVolume", "ec2:ModifyVolume"])
def test_a_node_cannot_end_or_change_even_its_own_volume(action: str) -> None:
    assert on_volume(action, site="lab", volume="runs") == "deny"


@pytest.mark.parametrize("action", ["s3:GetObject", "s3:PutObject"])
def test_a_node_reads_and_writes_its_own_record_run_lease_and_runtimes(action: str) -> None:
    for key in (
        f"nodes/{USERID}/readiness.json",
        "runs/vit/latest.json",
        "groups/vit/leader.json",
        "runtimes/a.tar",
    ):
        assert on_object(action, key) == "allow", key


@pytest.mark.parametrize("action", ["s3:GetObject", "s3:PutObject", "s3:DeleteObject"])
def test_a_node_cannot_reach_another_nodes_record_or_another_groups_run(action: str) -> None:
    for key in (
        f"nodes/AROAEXAMPLE:{OTHER}/readiness.json",
        "runs/vit2/latest.json",
        "runs/desk/latest.json",
        "groups/desk/leader.json",
        "overrides/desk.json",
    ):
        assert on_object(action, key) == "none", key


def test_a_node_hears_the_operator_and_cannot_speak_for_him() -> None:
    assert on_object("s3:GetObject", "overrides/vit.json") == "allow"
    assert on_object("s3:PutObject", "overrides/vit.json") == "none"


def test_a_node_prunes_checkpoints_and_deletes_nothing_else() -> None:
    assert on_object("s3:DeleteObject", "runs/vit/checkpoints/step-1") == "allow"
    assert on_object("s3:DeleteObject", "runs/vit/latest.json") == "none"
    assert on_object("s3:DeleteObject", "runtimes/a.tar") == "none"


def test_a_node_reads_its_artifact_and_manifest_and_writes_neither() -> None:
    artifacts = SCOPE.artifacts_bucket
    assert on_object("s3:GetObject", "bootstrap/abc.zip", artifacts) == "allow"
    assert on_object("s3:GetObject", "groups/vit/manifest.json", artifacts) == "allow"
    assert on_object("s3:GetObject", "groups/desk/manifest.json", artifacts) == "none"
    assert on_object("s3:PutObject", "bootstrap/abc.zip", artifacts) == "none"


def test_a_node_lists_only_its_own_prefixes() -> None:
    bucket = f"arn:aws:s3:::{SCOPE.data_bucket}"
    for prefix in (
        "runs/vit/",
        "runs/vit/checkpoints/",
        "groups/vit/",
        "runtimes/",
        f"nodes/{USERID}/",
        "overrides/vit.json",
    ):
        assert ask("s3:ListBucket", bucket, s3__prefix=prefix) == "allow", prefix
    for prefix in ("", "nodes/", "runs/", "runs/desk/", "overrides/"):
        assert ask("s3:ListBucket", bucket, s3__prefix=prefix) == "none", prefix
    assert ask("s3:ListBucket", bucket) == "none"


@pytest.mark.parametrize(
    "action",
    [
        "autoscaling:CompleteLifecycleAction",
        "autoscaling:RecordLifecycleActionHeartbeat",
        "autoscaling:TerminateInstanceInAutoScalingGroup",
    ],
)
def test_a_node_speaks_to_its_own_groups_hooks_and_ends_itself_there(action: str) -> None:
    assert on_group(action) == "allow"
    assert on_group(action, "nightshift-lab.desk") == "none"
    assert on_group(action, "nightshift-lab.vit2") == "none"


@pytest.mark.parametrize(
    "action",
    [
        "autoscaling:UpdateAutoScalingGroup",
        "autoscaling:SetDesiredCapacity",
        "autoscaling:PutScheduledUpdateGroupAction",
        "autoscaling:BatchPutScheduledUpdateGroupAction",
        "autoscaling:DeleteScheduledAction",
        "autoscaling:DeleteLifecycleHook",
        "autoscaling:PutLifecycleHook",
        "autoscaling:SuspendProcesses",
        "autoscaling:DeleteAutoScalingGroup",
        "autoscaling:SetInstanceProtection",
    ],
)
def test_a_node_cannot_change_its_group(action: str) -> None:
    assert on_group(action) == "none"


@pytest.mark.parametrize(
    "action",
    [
        "ec2:ModifyInstanceAttribute",
        "ec2:ModifyInstanceMetadataOptions",
        "ec2:TerminateInstances",
        "ec2:RunInstances",
        "iam:PassRole",
        "sts:AssumeRole",
        "kms:Decrypt",
        "ssm:SendCommand",
        "ssm:GetParameter",
    ],
)
def test_a_node_has_no_way_to_more_power(action: str) -> None:
    assert on_instance(action, ME) == "none"


def test_a_node_writes_only_its_own_groups_log_streams() -> None:
    for action in ("logs:CreateLogStream", "logs:PutLogEvents"):
        streams = "log-group:/nightshift/lab:log-stream:"
        assert ask(action, arn("logs", f"{streams}nightshift-lab.vit/{ME}/agent")) == "allow"
        assert ask(action, arn("logs", f"{streams}nightshift-lab.vit2/{ME}")) == "none"
        assert ask(action, arn("logs", "log-group:/other:log-stream:nightshift-lab.vit/x")) == "none"
    assert ask("logs:CreateLogGroup", arn("logs", "log-group:/nightshift/lab")) == "none"


def test_a_node_sends_metrics_of_its_own_namespace_only() -> None:
    assert ask("cloudwatch:PutMetricData", cloudwatch__namespace="Nightshift") == "allow"
    assert ask("cloudwatch:PutMetricData", cloudwatch__namespace="AWS/AutoScaling") == "none"


def test_a_node_reads_the_secrets_that_its_job_names() -> None:
    assert ask("secretsmanager:GetSecretValue", arn("secretsmanager", "secret:lab/wandb-a1B2c3")) == "allow"
    assert (
        ask("secretsmanager:GetSecretValue", arn("secretsmanager", "secret:lab/wandb-prod-a1B2c3")) == "none"
    )
    assert ask("secretsmanager:GetSecretValue", arn("secretsmanager", "secret:lab/other-a1B2c3")) == "none"


@pytest.mark.parametrize("partition", ["aws", "aws-cn", "aws-us-gov"])
def test_no_stack_file_that_check_accepts_makes_a_policy_too_long_for_iam(partition: str) -> None:
    longest = "x" * 20
    group = {
        "types": ["g5.2xlarge"],
        "shifts": [{"days": ["mon"], "from": "09:00", "to": "18:00"}],
        "volumes": [f"v{index:02d}{'v' * 17}" for index in range(11)],
        "job": {
            "repo": "git@h:r",
            "ref": "v1",
            "run": "r",
            "secrets": [f"{n:02d}{'s' * 126}" for n in range(20)],
        },
    }
    raw = {
        "aws:region": "ap-northeast-1",
        "nightshift:site": {"zone": "ap-northeast-1a", "owner": "o", "image": "ami-0123456789abcdef0"},
        "nightshift:volumes": {name: {"size_gib": 10} for name in group["volumes"]},
        "nightshift:groups": {longest: group},
    }
    site = SiteContext(longest, "ap-northeast-1", "123456789012", "ap-northeast-1a", "o", partition)
    assert size_problem(identity_spec(from_config(raw, longest), longest, site).scope) is None
