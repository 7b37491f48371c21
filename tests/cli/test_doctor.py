"""doctor: what it finds and what it tells to do."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

from nightshift.cli import doctor_aws, doctor_machine, verb_doctor
from nightshift.cli.doctor_machine import machine
from nightshift.cli.finding import Finding, guarded
from nightshift.plan.quotas import QuotaNeed

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
OLD, NEW = "ami-0abc0000000000001", "ami-0abc0000000000099"
_NAME = "Deep Learning Base OSS Nvidia Driver GPU AMI (Ubuntu 22.04)"


def _raw(ami: str, date: str) -> dict[str, Any]:
    return {
        "ImageId": ami,
        "Name": f"{_NAME} {date}",
        "Architecture": "x86_64",
        "RootDeviceName": "/dev/sda1",
        "BlockDeviceMappings": [{"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": 75}}],
        "CreationDate": "2026-11-27T10:00:00.000Z",
        "DeprecationTime": "2028-11-27T10:00:00.000Z",
        "State": "available",
    }


class _Answers:
    """A client that gives canned answers by operation."""

    def __init__(self, **answers: Any) -> None:
        self._answers = answers

    class exceptions:
        ClientError = ClientError

        class NoSuchResourceException(Exception):
            pass

    def __getattr__(self, name: str) -> Any:
        def answer(**_: Any) -> Any:
            found = self._answers[name]
            if isinstance(found, Exception):
                raise found
            return found

        return answer


def _levels(findings: Sequence[Finding]) -> list[tuple[str, str]]:
    return [(one.level, one.says) for one in findings]


def test_the_busiest_instant_decides_what_quotas_must_allow(project: Any) -> None:
    needs = doctor_aws.needs(project.stack, NOW)
    assert {(need.name, need.vcpus) for need in needs} == {
        ("on-demand G and VT instances", 16),
        ("spot G and VT instances", 96),
    }


@pytest.mark.parametrize(("have", "level"), [(96.0, "ok"), (95.0, "fail"), (0.0, "fail")])
def test_a_quota_below_the_need_fails_and_says_what_to_ask_for(have: float, level: str) -> None:
    client = _Answers(get_service_quota={"Quota": {"Value": have}})
    found = doctor_aws.quotas(client, [QuotaNeed("L-3819A6DF", "spot G and VT instances", 96)])[0]
    assert (found.level, "96 vCPUs wanted at once" in found.says) == (level, True)
    assert bool(found.todo) == (level == "fail")


def test_a_quota_that_aws_doesnt_know_is_a_warning() -> None:
    client = _Answers(get_service_quota=_Answers.exceptions.NoSuchResourceException())
    found = doctor_aws.quotas(client, [QuotaNeed("L-3819A6DF", "spot G and VT instances", 96)])
    assert found[0].level == "warn"


@pytest.mark.parametrize(
    ("zones", "level"),
    [
        ([], "fail"),
        ([{"OptInStatus": "not-opted-in"}], "fail"),
        ([{"State": "impaired"}], "warn"),
        ([{"State": "available", "ZoneId": "use1-az6"}], "ok"),
    ],
)
def test_the_zone_must_be_usable(project: Any, zones: list[Any], level: str) -> None:
    client = _Answers(describe_availability_zones={"AvailabilityZones": zones})
    assert doctor_aws.zone(client, project.stack)[0].level == level


@pytest.mark.parametrize(
    ("offered", "levels"),
    [
        (["g6.2xlarge", "g6.12xlarge"], ["warn", "warn"]),
        (["g6.2xlarge", "g5.2xlarge", "g6.4xlarge", "g5.4xlarge"], ["ok", "fail"]),
        ([], ["fail", "fail"]),
    ],
)
def test_offers_are_told_per_group(project: Any, offered: list[str], levels: list[str]) -> None:
    client = _Answers(
        describe_instance_type_offerings={"InstanceTypeOfferings": [{"InstanceType": one} for one in offered]}
    )
    assert [one.level for one in doctor_aws.offers(client, project.stack)] == levels


@pytest.mark.parametrize(
    ("changes", "level", "said"),
    [
        ({}, "ok", OLD),
        ({"DeprecationTime": "2026-12-20T00:00:00.000Z"}, "warn", "gets deprecated"),
        ({"DeprecationTime": "2026-11-20T00:00:00.000Z"}, "warn", "is deprecated"),
        ({"Architecture": "arm64"}, "fail", "is for arm64"),
        ({"RootDeviceName": "/dev/xvda", "BlockDeviceMappings": []}, "fail", "root device is /dev/xvda"),
        (
            {"BlockDeviceMappings": [{"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": 500}}]},
            "fail",
            "500 GiB",
        ),
    ],
)
def test_the_image_must_fit_the_file(project: Any, changes: dict[str, Any], level: str, said: str) -> None:
    client = _Answers(describe_images={"Images": [{**_raw(OLD, "20261106"), **changes}]})
    found = doctor_aws.image(client, project.stack, "x86_64", NOW)[0]
    assert (found.level, said in found.says) == (level, True)


def test_an_image_that_isnt_there_fails(project: Any) -> None:
    found = doctor_aws.image(_Answers(describe_images={"Images": []}), project.stack, "x86_64", NOW)
    assert (found[0].level, found[0].todo) == ("fail", "`nightshift pin` proposes one")


@pytest.mark.parametrize(("code", "level"), [("404", "ok"), ("403", "fail")])
def test_a_bucket_that_isnt_there_is_fine_and_a_foreign_one_isnt(project: Any, code: str, level: str) -> None:
    response: Any = {"Error": {"Code": code, "Message": "x"}}
    client = _Answers(head_bucket=ClientError(response, "HeadBucket"))
    assert {one.level for one in doctor_aws.buckets(client, project.stack, "123456789012")} == {level}


def test_a_refusal_inside_a_check_is_a_finding_and_a_bug_is_not() -> None:
    response: Any = {"Error": {"Code": "UnauthorizedOperation", "Message": "no"}}

    def denied() -> list[Finding]:
        raise ClientError(response, "DescribeImages")

    def broken() -> list[Finding]:
        raise ZeroDivisionError

    assert guarded("image", denied)[0].level == "fail"
    with pytest.raises(ZeroDivisionError):
        guarded("image", broken)


@pytest.mark.parametrize(
    ("tools", "level"),
    [
        ((), "fail"),
        (("go",), "warn"),
        (("pulumi",), "ok"),
        (("go", "pulumi", "git", "session-manager-plugin"), "ok"),
    ],
)
def test_a_machine_needs_pulumi_or_go(tools: tuple[str, ...], level: str, tmp_path: Any) -> None:
    def which(name: str) -> str | None:
        return f"{tmp_path}/{name}" if name in tools else None

    found = {one.topic: one.level for one in machine({"HOME": str(tmp_path)}, which)}
    assert found["pulumi"] == level
    assert found["git"] == ("ok" if "git" in tools else "warn")
    assert found["session plugin"] == ("ok" if "session-manager-plugin" in tools else "warn")


def test_doctor_answers_against_an_account_and_fits_the_page(
    aws: Callable[[str], Any], project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert project.say("doctor", "--json") == 1
    told = json.loads(capsys.readouterr().out)
    topics = {one["topic"]: one["level"] for one in told["findings"]}
    assert (topics["credentials"], topics["zone"], topics["offers vit"], topics["image"]) == (
        "ok",
        "ok",
        "ok",
        "fail",
    )
    assert project.say("doctor") == 1
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_doctor_counts_what_to_fix() -> None:
    found = verb_doctor.answer(
        "lab", [Finding("ok", "a", "b"), Finding("fail", "c", "d", "e"), Finding("warn", "f", "g")]
    )
    assert found.lines[-1] == "1 ok, 1 to look at, 1 to fix"
    assert found.code == 1


def test_an_image_that_only_stands_in_is_said_without_asking_aws(
    project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    project.say("doctor", "--offline", "--json")
    found = json.loads(capsys.readouterr().out)["findings"]
    (image,) = [one for one in found if one["topic"] == "image"]
    assert (image["level"], "stands in" in image["says"]) == ("warn", True)
    project.file.write_text(project.file.read_text().replace(OLD, "ami-0f1e2d3c4b5a69788"))
    project.say("doctor", "--offline", "--json")
    assert all(one["topic"] != "image" for one in json.loads(capsys.readouterr().out)["findings"])


@pytest.mark.parametrize(
    ("version", "level"),
    [("aws-cli/2.31.0 Python/3.13.7", "ok"), ("aws-cli/1.45.11 Python/3.11.7", "warn"), ("installed", "ok")],
)
def test_version_1_of_the_aws_cli_is_warned_of(version: str, level: str) -> None:
    assert doctor_machine.aws_cli(version).level == level
