"""The policy documents themselves: size, text, who may take the roles, what DLM and buckets allow."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from botocore import xform_name

from infra.policies import (
    INLINE_LIMIT,
    STAR_ACTIONS,
    bucket_policy,
    node_policy,
    node_trust,
    size_problem,
    snapshot_policy,
    snapshot_trust,
    to_json,
)
from nightshift.emulator.cloud.iam import Ask, judge
from tests.infra.support.scope import ACCOUNT, REGION, SCOPE, arn

ROOT = Path(__file__).parents[2]
NODE_CODE = ("bootstrap", "nightshift/records")
CALLS = {"s3:ListBucket": "list_objects_v2"}


def test_every_action_without_a_resource_has_its_reason_written_down() -> None:
    starred = {
        action
        for statement in node_policy(SCOPE)["Statement"]
        if statement["Effect"] == "Allow" and statement["Resource"] == "*" and "Condition" not in statement
        for action in statement["Action"]
    }
    assert starred == set(STAR_ACTIONS)
    assert all(len(reason) > 20 for reason in STAR_ACTIONS.values())
    assert not any("*" in action for action in STAR_ACTIONS)


def test_no_allowed_action_is_a_pattern() -> None:
    actions = [action for each in node_policy(SCOPE)["Statement"] for action in each["Action"]]
    assert [action for action in actions if "*" in action] == []


def test_every_allowed_action_is_a_call_of_the_nodes_code() -> None:
    """Those of Systems Manager aside, whose own agent makes them."""
    code = "".join(path.read_text() for folder in NODE_CODE for path in (ROOT / folder).rglob("*.py"))
    allowed = [each for each in node_policy(SCOPE)["Statement"] if each["Effect"] == "Allow"]
    actions = {action for each in allowed for action in each["Action"] if not action.startswith("ssm")}
    calls = {action: CALLS.get(action, xform_name(action.partition(":")[2])) for action in actions}
    assert sorted(action for action, call in calls.items() if call not in code) == []


def test_a_policy_at_the_limits_of_the_stack_file_fits_iam() -> None:
    longest = replace(
        SCOPE,
        site="s" * 20,
        group="g" * 20,
        region="ap-southeast-3",
        group_name=f"nightshift-{'s' * 20}.{'g' * 20}",
        data_bucket="d" * 63,
        artifacts_bucket="a" * 63,
        partition="aws-us-gov",
        volumes=tuple(f"volume-{index:013d}" for index in range(20)),
        secrets=tuple(f"lab/secret-{index:04d}" for index in range(20)),
    )
    assert len(to_json(node_policy(longest))) < INLINE_LIMIT
    assert size_problem(longest) is None


def test_secret_names_too_long_for_iam_are_refused_with_the_way_out() -> None:
    problem = size_problem(replace(SCOPE, secrets=tuple(f"{index:0512d}" for index in range(20))))
    assert problem is not None
    assert problem.startswith("groups.vit: its policy has ")
    assert "10240" in problem
    assert "job.secrets (20 given)" in problem


def test_documents_are_the_same_text_every_time() -> None:
    assert to_json(node_policy(SCOPE)) == to_json(node_policy(replace(SCOPE)))
    assert " " not in to_json(node_policy(SCOPE)).replace("Describe calls", "")


def test_only_instances_take_the_nodes_role() -> None:
    (statement,) = node_trust()["Statement"]
    assert statement["Principal"] == {"Service": "ec2.amazonaws.com"}
    (chinese,) = node_trust("aws-cn")["Statement"]
    assert chinese["Principal"] == {"Service": "ec2.amazonaws.com.cn"}


def test_the_snapshot_service_acts_on_this_sites_volumes_and_for_this_account_only() -> None:
    document = snapshot_policy("lab", REGION)
    ours, others = (
        {"aws:ResourceTag/nightshift:site": ["lab"]},
        {"aws:ResourceTag/nightshift:site": ["other"]},
    )
    volume, snapshot = arn("ec2", "volume/vol-1"), f"arn:aws:ec2:{REGION}::snapshot/snap-1"
    assert judge([document], Ask("ec2:CreateSnapshot", volume, ours)) == "allow"
    assert judge([document], Ask("ec2:CreateSnapshot", volume, others)) == "none"
    assert judge([document], Ask("ec2:CreateSnapshot", snapshot)) == "allow"
    assert judge([document], Ask("ec2:CreateTags", snapshot)) == "allow"
    assert judge([document], Ask("ec2:CreateTags", volume, ours)) == "none"
    assert judge([document], Ask("ec2:DeleteSnapshot", snapshot, ours)) == "allow"
    assert judge([document], Ask("ec2:DeleteSnapshot", snapshot, others)) == "none"
    (trust,) = snapshot_trust(ACCOUNT)["Statement"]
    assert trust["Principal"] == {"Service": "dlm.amazonaws.com"}
    assert trust["Condition"] == {"StringEquals": {"aws:SourceAccount": ACCOUNT}}


def test_a_bucket_refuses_plain_http_and_nothing_else() -> None:
    document = bucket_policy("b")
    plain, tls = {"aws:SecureTransport": ["false"]}, {"aws:SecureTransport": ["true"]}
    for resource in ("arn:aws:s3:::b", "arn:aws:s3:::b/key"):
        assert judge([document], Ask("s3:GetObject", resource, plain)) == "deny"
        assert judge([document], Ask("s3:GetObject", resource, tls)) == "none"
    assert json.loads(to_json(document)) == document
