"""pin and doctor: what they compare, what they write, what they tell to do."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError
from hypothesis import given
from hypothesis import strategies as st

from nightshift.cli import doctor_aws, verb_doctor, verb_pin
from nightshift.cli.doctor_machine import machine
from nightshift.cli.edit import replace_scalar
from nightshift.cli.errors import CliError
from nightshift.cli.finding import Finding, guarded
from nightshift.cli.images import KINDS, Image, Published, read_published
from nightshift.plan.quotas import QuotaNeed

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
OLD, NEW = "ami-0abc0000000000001", "ami-0abc0000000000099"
_NAME = "Deep Learning Base OSS Nvidia Driver GPU AMI (Ubuntu 22.04)"


def _image(ami: str, date: str, **changes: Any) -> Image:
    made = Image(
        ami, f"{_NAME} {date}", "x86_64", "/dev/sda1", 75, f"{date[:4]}-{date[4:6]}-01", None, "available"
    )
    return replace(made, **changes)


def _facts(project: Any, pinned: Image | None, *newest: Image) -> verb_pin.Facts:
    published = [Published(kind, f"/aws/{kind}", image) for kind, image in zip(KINDS, newest, strict=False)]
    return verb_pin.Facts(project.stack, "x86_64", pinned, published)


def test_pin_proposes_the_newest_of_the_pinned_kind_and_ends_with_1(project: Any) -> None:
    facts = _facts(project, _image(OLD, "20261106"), _image(NEW, "20261127"))
    found = verb_pin.answer(facts, verb_pin.propose(facts, None))
    assert found.code == 1
    assert f"  image: {NEW}" in found.lines
    assert found.data["proposed"] == NEW
    assert max(map(len, found.lines)) <= 80


def test_pin_is_content_with_the_newest(project: Any) -> None:
    facts = _facts(project, _image(NEW, "20261127"), _image(NEW, "20261127"))
    found = verb_pin.answer(facts, verb_pin.propose(facts, None))
    assert (found.code, found.lines[-1]) == (0, "the pinned image is the newest of its kind")


def test_pin_says_when_the_pinned_image_is_gone(project: Any) -> None:
    facts = _facts(project, None, _image(NEW, "20261127"))
    found = verb_pin.answer(facts, verb_pin.propose(facts, None))
    assert found.code == 1
    assert "which doesn't exist" in found.lines[0]
    with pytest.raises(CliError, match="isn't published"):
        verb_pin.propose(facts, KINDS[3])


class _Images:
    def __init__(self, *images: Mapping[str, Any]) -> None:
        self._images = images

    def get_parameters(self, Names: Sequence[str]) -> Any:
        return {"Parameters": [{"Name": Names[0], "Value": NEW}], "InvalidParameters": list(Names[1:])}

    def describe_images(self, Filters: Any, IncludeDeprecated: bool) -> Any:
        wanted = Filters[0]["Values"]
        return {"Images": [one for one in self._images if one["ImageId"] in wanted]}


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


class _Aws:
    def __init__(self, client: Any) -> None:
        self._client = client

    def client(self, service: str) -> Any:
        return self._client


def test_only_published_parameters_of_the_allow_list_count() -> None:
    images = _Images(_raw(NEW, "20261127"))
    found = read_published(images, images, "x86_64")
    assert [(one.kind, one.image.id, one.image.root_gib) for one in found] == [(KINDS[0], NEW, 75)]
    assert found[0].image.family == _NAME


def test_pin_write_changes_one_line_and_keeps_the_comment(
    project: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    images = _Images(_raw(OLD, "20261106"), _raw(NEW, "20261127"))
    monkeypatch.setattr("nightshift.cli.context.Context.connect", lambda *_: _Aws(images))
    before = project.file.read_text()
    assert project.say("pin", "--write") == 0
    after = project.file.read_text()
    assert after == before.replace(OLD, NEW)
    assert f"    image: {NEW} # pinned in November" in after
    assert "stacks/Pulumi.lab.yaml:8: image is" in capsys.readouterr().out
    assert project.say("pin") == 0


def test_pin_write_refuses_an_image_with_another_root_device(
    project: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = _Images(_raw(OLD, "20261106"), {**_raw(NEW, "20261127"), "RootDeviceName": "/dev/xvda"})
    monkeypatch.setattr("nightshift.cli.context.Context.connect", lambda *_: _Aws(images))
    before = project.file.read_text()
    assert project.say("pin", "--write") == 1
    assert project.file.read_text() == before


@pytest.mark.parametrize(
    "line",
    [
        "image: ami-0abc # why",
        "image:   'ami-0abc'",
        'image: "ami-0abc"',
        "{zone: us-east-1a, image: ami-0abc, owner: x}",
        "image: ami-0abc\n    # the next line's\n    owner: x",
    ],
)
def test_an_edit_touches_the_scalar_and_nothing_else(line: str) -> None:
    text = (
        f"# top\nconfig:\n  site: {line}\n"
        if line.startswith("{")
        else f"# top\nconfig:\n  site:\n    {line}\n"
    )
    assert replace_scalar(text, ("config", "site", "image"), "ami-0new") == text.replace(
        "ami-0abc", "ami-0new"
    )


@given(st.text(alphabet="abc0 #:'\"{}[],-&*!|>\n", max_size=40))
def test_an_edit_is_right_or_refused_whatever_stands_around_it(noise: str) -> None:
    import yaml

    text = f"config:\n  site:\n    image: ami-0abc\n    owner: {noise}\n"
    try:
        before = yaml.safe_load(text)
        changed = replace_scalar(text, ("config", "site", "image"), "ami-0new")
    except (yaml.YAMLError, CliError):
        return
    before["config"]["site"]["image"] = "ami-0new"
    assert yaml.safe_load(changed) == before


@pytest.mark.parametrize(
    "text", ["config: 5\n", "config: {site: {image: [a]}}\n", "", "config: {site: {}}\n"]
)
def test_an_edit_without_a_scalar_is_refused(text: str) -> None:
    with pytest.raises(CliError, match="by hand"):
        replace_scalar(text, ("config", "site", "image"), "ami-0new")


# doctor


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
    [((), "fail"), (("go",), "warn"), (("pulumi",), "ok"), (("go", "pulumi", "git"), "ok")],
)
def test_a_machine_needs_pulumi_or_go(tools: tuple[str, ...], level: str, tmp_path: Any) -> None:
    def which(name: str) -> str | None:
        return f"{tmp_path}/{name}" if name in tools else None

    found = {one.topic: one.level for one in machine({"HOME": str(tmp_path)}, which)}
    assert found["pulumi"] == level
    assert found["git"] == ("ok" if "git" in tools else "warn")


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
