"""The server as a process: starting, ending, its log, its clock, its faults, and what it says to the
unknown."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from nightshift.emulator.cloud import start_cloud

pytestmark = pytest.mark.engine


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def ends(pid: int, seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not alive(pid):
            return True
        time.sleep(0.05)
    return False


def test_it_ends_with_its_context(tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    with start_cloud(log=log, images=["ami-0feed000000000001"]) as cloud:
        pid = cloud.pid
        assert cloud.endpoint.startswith("http://127.0.0.1:")
        found = cloud.control("clock")
        assert datetime.fromisoformat(str(found["now"])) - datetime.now(UTC) < timedelta(minutes=1)
    assert ends(pid)


def test_it_dies_with_its_parent() -> None:
    code = (
        "import time\nfrom nightshift.emulator.cloud import start_cloud\n"
        "with start_cloud() as cloud:\n    print(cloud.pid, flush=True)\n    time.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=Path.cwd())
    assert parent.stdout is not None
    with parent.stdout:
        pid = int(parent.stdout.readline())
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    assert ends(pid)


def test_images_given_at_the_start_are_known(tmp_path: Path, aws_at: Any) -> None:
    with start_cloud(images=["ami-0feed000000000001"], log=tmp_path / "log.jsonl") as cloud:
        (image,) = aws_at(cloud.endpoint).ec2.describe_images(ImageIds=["ami-0feed000000000001"])["Images"]
        assert image["RootDeviceName"] == "/dev/sda1"
        (mapping,) = image["BlockDeviceMappings"]
        assert mapping["Ebs"]["VolumeSize"] == 75
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [(one["service"], one["operation"], one["status"]) for one in lines] == [
        ("ec2", "DescribeImages", 200)
    ]


@pytest.mark.parametrize(
    ("service", "operation", "given"),
    [
        ("autoscaling", "describe_account_limits", {}),
        ("ec2", "describe_fast_snapshot_restores", {}),
        ("iam", "get_organizations_access_report", {"JobId": "x" * 36}),
        ("budgets", "describe_budget_actions_for_account", {"AccountId": "123456789012"}),
        ("pricing", "describe_services", {}),
    ],
)
def test_what_is_not_there_is_answered_at_once_in_the_protocol_s_own_form(
    ours: Any, service: str, operation: str, given: dict[str, Any]
) -> None:
    with pytest.raises(ClientError) as caught:
        getattr(ours.client(service), operation)(**given)
    assert caught.value.response["Error"]["Code"] == "NotImplemented"
    assert "NotImplemented in the emulated AWS: " in caught.value.response["Error"]["Message"]
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400


def test_the_model_s_own_constraints_are_kept(ours: Any, cloud: Any) -> None:
    with pytest.raises(ClientError, match="less than or equal to 64"):
        ours.iam.create_role(RoleName="r" * 65, AssumeRolePolicyDocument="{}")
    log: Any = cloud.control("log")["requests"]
    assert log[-1]["rule"] == "model"
    assert log[-1]["operation"] == "CreateRole"


def test_the_clock_goes_forward_and_back_and_ticks(ours: Any, cloud: Any) -> None:
    def now() -> datetime:
        return datetime.fromisoformat(str(cloud.control("clock")["now"]))

    try:
        for there in (datetime(2027, 3, 14, 6, 59, 59, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)):
            cloud.control("clock", {"now": there.isoformat()})
            assert timedelta(0) <= now() - there < timedelta(seconds=20)
            volume = ours.volume()
            (found,) = ours.ec2.describe_volumes(VolumeIds=[volume])["Volumes"]
            assert abs(found["CreateTime"] - there) < timedelta(seconds=20)
        first = now()
        time.sleep(0.05)
        assert now() > first
    finally:
        cloud.control("clock", {"now": None})
    assert abs(now() - datetime.now(UTC)) < timedelta(seconds=20)


def test_a_planned_throttling_is_used_up(ours: Any, cloud: Any) -> None:
    cloud.control("faults", {"throttle": {"ec2.DescribeVolumes": 1}})
    with pytest.raises(ClientError) as caught:
        ours.ec2.describe_volumes()
    assert caught.value.response["Error"]["Code"] == "RequestLimitExceeded"
    assert "Volumes" in ours.ec2.describe_volumes()


def test_wrong_control_calls_say_what_there_is(cloud: Any) -> None:
    with pytest.raises(RuntimeError, match="POST clock"):
        cloud.control("clok", {})
    with pytest.raises(RuntimeError, match="zone"):
        cloud.control("clock", {"now": "2026-12-07T11:00:00"})
    with pytest.raises(RuntimeError, match="insufficient and throttle"):
        cloud.control("faults", {"earthquake": 1})


def test_a_conditional_write_has_one_winner(ours: Any) -> None:
    bucket = ours.name("nightshift-lab-data")
    ours.s3.create_bucket(Bucket=bucket)
    ours.s3.put_object(Bucket=bucket, Key="lease", Body=b"1", IfNoneMatch="*")
    with pytest.raises(ClientError) as caught:
        ours.s3.put_object(Bucket=bucket, Key="lease", Body=b"2", IfNoneMatch="*")
    assert caught.value.response["Error"]["Code"] == "PreconditionFailed"
    etag = ours.s3.head_object(Bucket=bucket, Key="lease")["ETag"]
    ours.s3.put_object(Bucket=bucket, Key="lease", Body=b"3", IfMatch=etag)
    with pytest.raises(ClientError):
        ours.s3.put_object(Bucket=bucket, Key="lease", Body=b"4", IfMatch=etag)


def test_the_newest_image_of_a_kind_is_named_by_a_public_parameter(ours: Any) -> None:
    prefix = "/aws/service/deeplearning/ami"
    names = [
        f"{prefix}/x86_64/base-oss-nvidia-driver-gpu-ubuntu-22.04/latest/ami-id",
        f"{prefix}/x86_64/no-such-kind/latest/ami-id",
    ]
    found = ours.ssm.get_parameters(Names=names)
    assert found["InvalidParameters"] == names[1:]
    (image,) = ours.ec2.describe_images(ImageIds=[found["Parameters"][0]["Value"]])["Images"]
    assert "Ubuntu 22.04" in image["Name"]


@pytest.mark.parametrize("stack", sorted(Path("stacks").glob("Pulumi.*.yaml")), ids=lambda path: path.stem)
def test_the_images_of_the_shipped_stacks_are_known(ours: Any, stack: Path) -> None:
    for image in re.findall(r"image:\s*(ami-[0-9a-f]+)", stack.read_text()):
        (found,) = ours.ec2.describe_images(ImageIds=[image])["Images"]
        assert (found["Architecture"], found["RootDeviceName"]) == ("x86_64", "/dev/sda1")


def test_quotas_can_be_asked_and_set(ours: Any, cloud: Any) -> None:
    cloud.control("quotas", {"L-417A185B": 96})
    found = ours.servicequotas.get_service_quota(ServiceCode="ec2", QuotaCode="L-417A185B")
    assert found["Quota"]["Value"] == 96.0


def test_a_nat_gateway_leaves_nothing_behind(ours: Any) -> None:
    def interfaces() -> int:
        return len(ours.ec2.describe_network_interfaces()["NetworkInterfaces"])

    before = interfaces()
    address = ours.ec2.allocate_address(Domain="vpc")["AllocationId"]
    made = ours.ec2.create_nat_gateway(SubnetId=ours.subnet(), AllocationId=address)
    assert interfaces() == before + 1
    ours.ec2.delete_nat_gateway(NatGatewayId=made["NatGateway"]["NatGatewayId"])
    assert interfaces() == before
    ours.ec2.release_address(AllocationId=address)


def test_the_client_hangs_up_first(cloud: Any) -> None:
    """A connection that ends with its answer makes Go clients on a busy machine send the request again."""
    host, port = cloud.endpoint.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as line:
        line.sendall(b"GET /nightshift-emulator/clock HTTP/1.1\r\nHost: emulator\r\n\r\n")
        answer = line.recv(65536)
        while b"}" not in answer:
            answer += line.recv(65536)
        line.settimeout(0.3)
        with pytest.raises(TimeoutError):
            line.recv(1)
        line.settimeout(5)
        assert line.recv(1) == b""


def test_what_is_no_aws_request_gets_an_answer(cloud: Any) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with (
        pytest.raises(urllib.error.HTTPError) as caught,
        opener.open(cloud.endpoint + "/no-such-bucket/x", timeout=10),
    ):
        pass
    assert 400 <= caught.value.code < 500
    caught.value.close()


def test_a_request_repeated_with_its_client_token_is_done_once(ours: Any, cloud: Any) -> None:
    ec2 = ours.ec2
    wanted = {"AvailabilityZone": "us-east-1a", "Size": 10, "ClientToken": "the-first"}
    cloud.control("log", {})
    first, again = ec2.create_volume(**wanted), ec2.create_volume(**wanted)
    other = ec2.create_volume(**wanted | {"ClientToken": "the-second"})
    assert first["VolumeId"] == again["VolumeId"] != other["VolumeId"]
    rules = [one["rule"] for one in cloud.control("log")["requests"] if one["operation"] == "CreateVolume"]
    assert rules == ["", "repeated", ""]


def test_a_refused_request_may_be_repeated_with_its_client_token(ours: Any, cloud: Any) -> None:
    ec2 = ours.ec2
    wanted = {"AvailabilityZone": "us-east-1a", "Size": 10, "ClientToken": "the-third"}
    cloud.control("faults", {"throttle": {"ec2.CreateVolume": 1}})
    with pytest.raises(ClientError, match="RequestLimitExceeded"):
        ec2.create_volume(**wanted)
    assert ec2.create_volume(**wanted)["VolumeId"]
