"""Reading log groups and asking Systems Manager, as AWS documents both."""

from __future__ import annotations

import time
from typing import Any

import pytest
from botocore.exceptions import ClientError

pytestmark = pytest.mark.engine
NOW = int(time.time() * 1000)


@pytest.fixture(name="log")
def _log(ours: Any) -> dict[str, str]:
    """Six lines, turn by turn in two streams, and one of another."""
    name = "/nightshift/" + ours.name("site")
    ours.logs.create_log_group(logGroupName=name)
    for stream in ("a/1", "a/2", "b/1"):
        ours.logs.create_log_stream(logGroupName=name, logStreamName=stream)
    for at in range(6):
        event = [{"timestamp": NOW - 1000 + at, "message": f"{at}"}]
        ours.logs.put_log_events(logGroupName=name, logStreamName=f"a/{1 + at % 2}", logEvents=event)
    other = [{"timestamp": NOW, "message": "other"}]
    ours.logs.put_log_events(logGroupName=name, logStreamName="b/1", logEvents=other)
    return {"logGroupName": name}


def _texts(answer: Any) -> str:
    return "".join(one["message"] for one in answer["events"])


def test_streams_are_taken_by_prefix_and_interleaved(ours: Any, log: dict[str, str]) -> None:
    assert _texts(ours.logs.filter_log_events(**log, logStreamNamePrefix="a/")) == "012345"
    assert _texts(ours.logs.filter_log_events(**log, logStreamNames=["a/2"])) == "135"
    bounds = {"startTime": NOW - 998, "endTime": NOW - 997}
    assert _texts(ours.logs.filter_log_events(**log, logStreamNamePrefix="a/", **bounds)) == "23"
    assert _texts(ours.logs.filter_log_events(**log, logStreamNamePrefix="c/")) == ""


def test_the_newest_come_first_when_asked_and_pages_go_on_so(ours: Any, log: dict[str, str]) -> None:
    words = {**log, "logStreamNamePrefix": "a/", "limit": 2, "startTime": NOW - 5000}
    first = ours.logs.filter_log_events(**words, startFromHead=False)
    second = ours.logs.filter_log_events(**words, nextToken=first["nextToken"])
    third = ours.logs.filter_log_events(**words, nextToken=second["nextToken"])
    assert [_texts(page) for page in (first, second, third)] == ["54", "32", "10"]
    assert "nextToken" not in third
    ids = [one["eventId"] for page in (first, second, third) for one in page["events"]]
    assert len(set(ids)) == 6


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"logStreamNames": ["a/1"], "logStreamNamePrefix": "a/"}, "InvalidParameterException"),
        ({"logGroupIdentifier": "x"}, "InvalidParameterException"),
        ({"startFromHead": False}, "InvalidParameterException"),
        ({"nextToken": "f/none"}, "InvalidParameterException"),
        ({"limit": 10_001}, "InvalidParameterException"),
        ({"logStreamNames": ["absent"]}, "ResourceNotFoundException"),
        ({"logGroupName": "/nightshift/absent"}, "ResourceNotFoundException"),
    ],
)
def test_what_aws_refuses_is_refused(
    ours: Any, log: dict[str, str], given: dict[str, Any], code: str
) -> None:
    with pytest.raises(ClientError) as caught:
        ours.logs.filter_log_events(**{**log, **given})
    assert caught.value.response["Error"]["Code"] == code


def test_what_is_older_than_the_group_keeps_is_gone(ours: Any, log: dict[str, str]) -> None:
    old = [{"timestamp": NOW - 3 * 86_400_000, "message": "old "}]
    ours.logs.put_log_events(**log, logStreamName="a/1", logEvents=old)
    assert _texts(ours.logs.filter_log_events(**log, logStreamNamePrefix="a/")) == "old 012345"
    ours.logs.put_retention_policy(**log, retentionInDays=1)
    assert _texts(ours.logs.filter_log_events(**log, logStreamNamePrefix="a/")) == "012345"


REGISTERS = {"Effect": "Allow", "Action": "ssm:UpdateInstanceInformation", "Resource": "*"}


def _instance(ours: Any, *statements: dict[str, Any]) -> str:
    role = ours.role("ec2.amazonaws.com", *statements).rpartition("/")[2]
    ours.iam.create_instance_profile(InstanceProfileName=role)
    ours.iam.add_role_to_instance_profile(InstanceProfileName=role, RoleName=role)
    return ours.instance(IamInstanceProfile={"Name": role})


def _known(ours: Any, *ids: str) -> list[str]:
    filters = [{"Key": "InstanceIds", "Values": list(ids)}]
    answer = ours.ssm.describe_instance_information(Filters=filters)
    return [one["InstanceId"] for one in answer["InstanceInformationList"]]


def test_only_a_running_instance_whose_role_may_register_is_known(ours: Any) -> None:
    with_role, without, bare = _instance(ours, REGISTERS), _instance(ours), ours.instance()
    assert _known(ours, with_role, without, bare) == [with_role]
    older = [{"key": "PingStatus", "valueSet": ["Online"]}]
    answer = ours.ssm.describe_instance_information(InstanceInformationFilterList=older)
    assert with_role in [one["InstanceId"] for one in answer["InstanceInformationList"]]
    ours.ec2.terminate_instances(InstanceIds=[with_role])
    assert _known(ours, with_role) == []


def test_nodes_are_found_by_tag(ours: Any) -> None:
    node = _instance(ours, REGISTERS)
    ours.ec2.create_tags(Resources=[node], Tags=[{"Key": "color", "Value": node}])
    for filters in ([{"Key": "tag:color", "Values": [node]}], [{"Key": "tag-key", "Values": ["color"]}]):
        answer = ours.ssm.describe_instance_information(Filters=filters)
        assert [one["InstanceId"] for one in answer["InstanceInformationList"]] == [node]


@pytest.mark.parametrize(
    ("filters", "code"),
    [
        ([{"Key": "Colour", "Values": ["red"]}], "InvalidFilterKey"),
        ([{"Key": "InstanceIds", "Values": ["i-0dead000000000001"]}], "InvalidInstanceId"),
    ],
)
def test_what_systems_manager_refuses_is_refused(ours: Any, filters: Any, code: str) -> None:
    with pytest.raises(ClientError) as caught:
        ours.ssm.describe_instance_information(Filters=filters)
    assert caught.value.response["Error"]["Code"] == code
