"""Requests against the constraints of botocore's own models."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from moto.core.utils import get_service_model

from nightshift.emulator.cloud.refusals.dlm import cron_is_good as dlm_cron_is_good
from nightshift.emulator.cloud.refusals.schedules import cron_is_good
from nightshift.emulator.cloud.refusals.storage import bucket_name_is_good
from nightshift.emulator.cloud.refusals.volumes import LIMITS, iops_problem, size_problem, throughput_problem
from nightshift.emulator.cloud.services.launch import on_demand_share, types_in_order
from nightshift.emulator.cloud.services.policies import desired_after
from nightshift.emulator.cloud.services.quotas import quota_code
from nightshift.emulator.cloud.services.schedules import next_start
from nightshift.emulator.cloud.strict import compiled, verdict

SERVICES = ("ec2", "autoscaling", "iam", "s3", "dlm", "budgets", "cloudwatch", "logs", "sns", "ssm", "sts")


def judged(service: str, operation: str, **params: Any) -> tuple[str, str] | None:
    return verdict(service, get_service_model(service).operation_model(operation).input_shape, params)


def test_a_role_name_of_65_characters_is_refused_and_of_64_taken() -> None:
    found = judged("iam", "CreateRole", RoleName="r" * 65, AssumeRolePolicyDocument="{}")
    assert found is not None
    assert found[0] == "ValidationError"
    assert "roleName" in found[1]
    assert "less than or equal to 64" in found[1]
    assert judged("iam", "CreateRole", RoleName="r" * 64, AssumeRolePolicyDocument="{}") is None


def test_all_violations_come_at_once() -> None:
    found = judged("dlm", "CreateLifecyclePolicy", Description="a.b:c", State="ON")
    assert found is not None
    assert found[0] == "InvalidRequestException"
    assert found[1].startswith("3 validation errors detected")


def test_nested_members_are_checked() -> None:
    details = {"Schedules": [{"Name": "a:b"}], "TargetTags": []}
    role = "arn:aws:iam::123456789012:role/dlm"
    found = judged(
        "dlm",
        "CreateLifecyclePolicy",
        Description="d",
        State="ENABLED",
        ExecutionRoleArn=role,
        PolicyDetails=details,
    )
    assert found is not None
    assert "policyDetails.schedules.1.member.name" in found[1]
    assert "policyDetails.targetTags" in found[1]


def test_ec2_has_its_own_words_for_what_is_missing() -> None:
    assert judged("ec2", "AttachVolume", VolumeId="vol-1", InstanceId="i-1") == (
        "MissingParameter",
        "The request must contain the parameter device",
    )


def test_an_unknown_instance_type_is_refused() -> None:
    found = judged(
        "ec2",
        "CreateLaunchTemplate",
        LaunchTemplateName="lab",
        LaunchTemplateData={"InstanceType": "g5.huge"},
    )
    assert found is not None
    assert found[0] == "InvalidParameterValue"


def test_letters_beyond_ascii_are_read_in_patterns() -> None:
    tag = {"Key": "nightshift:owner", "Value": "Zoë 視覚"}
    assert judged("iam", "TagRole", RoleName="r", Tags=[tag]) is None


def test_nearly_all_patterns_of_our_services_can_be_read() -> None:
    unread = set()
    for service in SERVICES:
        model = get_service_model(service)
        for name in model.shape_names:
            pattern = model.shape_for(name).metadata.get("pattern")
            if pattern is not None and compiled(pattern) is None:
                unread.add((service, pattern))
    assert len(unread) <= 8, unread


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("0 20 * * 1,3,5", True),
        ("0 20 * * MON-FRI", True),
        ("*/15 * * * *", True),
        ("cron(0 20 ? * MON *)", False),
        ("0 20 ? * 1", False),
        ("0 20 * *", False),
        ("0 0 20 * * 1", False),
        ("61 20 * * 1", False),
        ("0 24 * * 1", False),
        ("", False),
    ],
)
def test_scheduled_actions_take_five_field_cron_only(text: str, good: bool) -> None:
    assert cron_is_good(text) is good


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("cron(0 7 ? * MON *)", True),
        ("cron(0 7 * * MON *)", False),
        ("0 7 * * 1", False),
        ("cron(0 7 ? * ? *)", False),
    ],
)
def test_snapshot_policies_take_eventbridge_cron_only(text: str, good: bool) -> None:
    assert dlm_cron_is_good(text) is good


@given(
    st.integers(0, 59),
    st.integers(0, 23),
    st.integers(0, 6),
    st.sampled_from(["Asia/Shanghai", "Europe/Berlin", "America/New_York", "Etc/UTC"]),
    st.datetimes(datetime(2026, 1, 1), datetime(2030, 12, 31)),
)
def test_the_next_start_is_the_wall_time_that_the_cron_names(
    minute: int, hour: int, day: int, zone: str, after: datetime
) -> None:
    found = next_start(f"{minute} {hour} * * {day}", zone, after)
    local = found.replace(tzinfo=ZoneInfo("UTC")).astimezone(ZoneInfo(zone))
    assert found > after
    assert (found - after).days <= 7
    assert local.isoweekday() % 7 == day
    if (local.hour, local.minute) != (hour, minute):  # the wall clock skipped the named time that day
        assert local.utcoffset() != (local.replace(hour=0, minute=0)).utcoffset()


@pytest.mark.parametrize("kind", sorted(LIMITS))
def test_volume_sizes_end_where_their_type_ends(kind: str) -> None:
    low, high = LIMITS[kind].size
    assert size_problem(kind, low) is None
    assert size_problem(kind, high) is None
    assert size_problem(kind, low - 1)
    assert size_problem(kind, high + 1)


@given(st.integers(1, 65_536), st.integers(3_000, 80_000))
def test_gp3_takes_500_iops_per_gib_and_3000_at_any_size(size: int, iops: int) -> None:
    assert (iops_problem("gp3", iops, size) is None) == (iops <= max(500 * size, 3_000))


@given(st.integers(125, 2_000), st.integers(3_000, 80_000))
def test_gp3_takes_a_quarter_mib_per_second_per_iops(throughput: int, iops: int) -> None:
    assert (throughput_problem("gp3", throughput, iops) is None) == (4 * throughput <= iops)


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("nightshift-lab-data-0a1b2c3d", True),
        ("ab", False),
        ("Lab-data", False),
        ("lab_data", False),
        ("192.168.0.1", False),
        ("lab..data", False),
        ("-lab", False),
        ("lab-s3alias", False),
        ("a" * 64, False),
    ],
)
def test_bucket_names(name: str, good: bool) -> None:
    assert bucket_name_is_good(name) is good


@pytest.mark.parametrize(
    ("kind", "spot", "code"),
    [
        ("g5.xlarge", False, "L-DB2E81BA"),
        ("g6e.48xlarge", True, "L-3819A6DF"),
        ("vt1.3xlarge", False, "L-DB2E81BA"),
        ("p4d.24xlarge", False, "L-417A185B"),
        ("p5.48xlarge", True, "L-7212CCBC"),
        ("m5.large", False, "L-1216C47A"),
    ],
)
def test_each_type_counts_against_its_quota(kind: str, spot: bool, code: str) -> None:
    assert quota_code(kind, spot) == code


@given(st.integers(0, 100), st.integers(0, 20), st.integers(0, 50))
def test_the_on_demand_share_lies_between_the_base_and_all(percent: int, base: int, desired: int) -> None:
    policy = {
        "InstancesDistribution": {
            "OnDemandBaseCapacity": base,
            "OnDemandPercentageAboveBaseCapacity": percent,
        }
    }
    share = on_demand_share(policy, desired)
    assert min(base, desired) <= share <= desired
    assert on_demand_share(None, desired) == desired


def test_overrides_come_before_the_template_s_type() -> None:
    overrides = [{"InstanceType": "g6.xlarge"}, {"InstanceType": "g5.xlarge"}]
    assert types_in_order({"LaunchTemplate": {"Overrides": overrides}}, "g4dn.xlarge") == [
        "g6.xlarge",
        "g5.xlarge",
    ]
    assert types_in_order(None, "g4dn.xlarge") == ["g4dn.xlarge"]


def test_step_policies_choose_the_step_that_covers_the_distance() -> None:
    steps = [
        {"MetricIntervalLowerBound": 0, "MetricIntervalUpperBound": 10, "ScalingAdjustment": 1},
        {"MetricIntervalLowerBound": 10, "ScalingAdjustment": 3},
    ]
    row = {"PolicyType": "StepScaling", "AdjustmentType": "ChangeInCapacity", "StepAdjustments": steps}
    assert desired_after(row, 2, 5.0) == 3
    assert desired_after(row, 2, 10.0) == 5
    assert desired_after(row, 2, -1.0) == 2
    assert desired_after(row | {"AdjustmentType": "ExactCapacity"}, 9, 0.0) == 1
