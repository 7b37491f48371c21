"""connect and logs as a shell runs them, on the emulated AWS, up to the AWS CLI: a stand-in records there.

The Session Manager plugin itself isn't here; what it would be told is.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import boto3
import pytest

from nightshift.cli import verb_connect
from nightshift.cli.errors import UsageError
from nightshift.emulator.cloud.process import start_cloud
from nightshift.emulator.engine.environment import aws_environment
from nightshift.plan import names
from nightshift.records.notebook import Notebook, NotebookRecord
from nightshift.records.store import Records
from tests.cli.conftest import LAB, data_bucket

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("session")]
HERE = Path(__file__).parents[2]
TOKEN = "s3cr3t-" * 6
GROUP = names.group_name("lab", "desk")
STREAM = f"{GROUP}/NODE/job"
AWS = """#!/bin/sh
printf '%s\\n' "$@" > "$0.argv"
env > "$0.env"
"""
POLICY = {"Effect": "Allow", "Action": "ssm:UpdateInstanceInformation", "Resource": "*"}


@dataclass
class Desk:
    """A group with a node that Systems Manager knows, and a shell's way to the verbs."""

    root: Path
    env: dict[str, str]
    node: str = ""

    def client(self, service: str) -> Any:
        make: Any = boto3.client
        return make(
            service,
            region_name="us-east-1",
            endpoint_url=self.env["AWS_ENDPOINT_URL"],
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )

    def start(self, *words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "nightshift.cli.main", *words]
        return subprocess.Popen(
            command,
            cwd=self.root,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def say(self, *words: str) -> tuple[int, str, str]:
        """Status, stdout, stderr."""
        with self.start(*words) as process:
            out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def ran(self) -> list[str]:
        return (self.root / "bin" / "aws.argv").read_text().splitlines()

    def environment(self) -> str:
        return (self.root / "bin" / "aws.env").read_text()


@pytest.fixture(scope="module", name="desk")
def _desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    root = tmp_path_factory.mktemp("project")
    (root / "stacks").mkdir()
    (root / "bin").mkdir()
    for name, text in (("aws", AWS), ("session-manager-plugin", "#!/bin/sh\n")):
        (root / "bin" / name).write_text(text)
        (root / "bin" / name).chmod(0o755)
    (root / "Pulumi.yaml").write_text("name: nightshift\nruntime: python\n")
    people = "tier: small\n      notebook: true\n      users: [ada, eve]"
    (root / "stacks" / "Pulumi.lab.yaml").write_text(LAB.replace("tier: small", people))
    with start_cloud(images=["ami-0abc0000000000001"]) as cloud:
        env = {**aws_environment(cloud.endpoint), "HOME": str(root), "PYTHONPATH": str(HERE)}
        desk = Desk(root, {**env, "PATH": f"{root / 'bin'}:{os.environ['PATH']}"})
        desk.node = _deploy(desk)
        yield desk


def _deploy(desk: Desk) -> str:
    iam, ec2, scaling, s3 = map(desk.client, ("iam", "ec2", "autoscaling", "s3"))
    trust = {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
    iam.create_role(RoleName="node", AssumeRolePolicyDocument=_document(trust))
    iam.put_role_policy(RoleName="node", PolicyName="node", PolicyDocument=_document(POLICY))
    iam.create_instance_profile(InstanceProfileName="node")
    iam.add_role_to_instance_profile(InstanceProfileName="node", RoleName="node")
    data = {
        "ImageId": "ami-0abc0000000000001",
        "InstanceType": "g6.2xlarge",
        "IamInstanceProfile": {"Name": "node"},
    }
    ec2.create_launch_template(LaunchTemplateName=GROUP, LaunchTemplateData=data)
    zone = [{"Name": "availability-zone", "Values": ["us-east-1a"]}]
    scaling.create_auto_scaling_group(
        AutoScalingGroupName=GROUP,
        MinSize=0,
        MaxSize=1,
        DesiredCapacity=1,
        LaunchTemplate={"LaunchTemplateName": GROUP, "Version": "1"},
        VPCZoneIdentifier=ec2.describe_subnets(Filters=zone)["Subnets"][0]["SubnetId"],
    )
    s3.create_bucket(Bucket=data_bucket())
    found = scaling.describe_auto_scaling_groups(AutoScalingGroupNames=[GROUP])
    node = str(found["AutoScalingGroups"][0]["Instances"][0]["InstanceId"])
    notebooks = (Notebook("ada", 18_888, TOKEN), Notebook("eve", 18_889, "other"))
    record = NotebookRecord(node, "desk", datetime(2026, 12, 1, tzinfo=UTC), notebooks)
    Records(s3, data_bucket()).write_notebook(f"AROAX:{node}", record)
    return node


def _document(statement: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def test_a_shell_becomes_the_aws_cli(desk: Desk) -> None:
    assert desk.say("connect", "desk")[::2] == (0, "")
    assert desk.ran() == ["ssm", "start-session", "--target", desk.node, "--region", "us-east-1"]
    assert f"AWS_ENDPOINT_URL={desk.env['AWS_ENDPOINT_URL']}\n" in desk.environment()


def test_a_users_shell_is_an_interactive_command(desk: Desk) -> None:
    assert desk.say("connect", "desk", "--as", "ada")[0] == 0
    assert desk.ran()[6:9] == ["--document-name", "AWS-StartInteractiveCommand", "--parameters"]
    assert json.loads(desk.ran()[9]) == {"command": ["sudo -iu ada"]}


def test_the_notebooks_token_reaches_the_terminal_and_no_process(desk: Desk) -> None:
    code, out, _ = desk.say("connect", "desk", "--notebook", "--as", "ada")
    assert code == 0
    parameters = json.loads(desk.ran()[-1])
    assert parameters["portNumber"] == ["18888"]
    assert f"http://127.0.0.1:{parameters['localPortNumber'][0]}/lab?token={TOKEN}\n" in out
    assert TOKEN not in " ".join(desk.ran()) + desk.environment()


def test_the_printed_command_does_the_same(desk: Desk) -> None:
    code, out, _ = desk.say("connect", "desk", "--as", "ada", "--print")
    assert code == 0
    subprocess.run(["sh", "-c", out], env=desk.env, check=True)
    assert json.loads(desk.ran()[-1]) == {"command": ["sudo -iu ada"]}
    code, out, err = desk.say("connect", "desk", "--notebook", "--as", "ada", "--print")
    assert code == 0
    assert TOKEN not in out
    assert f"http://127.0.0.1:18888/lab?token={TOKEN}\n" in err
    subprocess.run(["sh", "-c", out], env=desk.env, check=True)
    assert json.loads(desk.ran()[-1]) == {"portNumber": ["18888"], "localPortNumber": ["18888"]}


def test_ssh_reads_the_block(desk: Desk, tmp_path: Path) -> None:
    code, out, _ = desk.say("connect", "desk", "--ssh-config")
    assert code == 0
    (tmp_path / "config").write_text(out)
    try:
        read = subprocess.run(
            ["ssh", "-G", "-F", str(tmp_path / "config"), "lab.desk"],
            capture_output=True,
            text=True,
            check=True,
        )
    except FileNotFoundError:
        pytest.skip("no ssh here")
    assert f"hostname {desk.node}\n" in read.stdout
    assert "user ubuntu\n" in read.stdout
    assert "proxycommand aws ssm start-session --target %h" in read.stdout


def test_a_node_without_a_role_is_told_to_be_unmanaged(desk: Desk) -> None:
    """The same group's node, once its role may no longer register."""
    iam = desk.client("iam")
    iam.delete_role_policy(RoleName="node", PolicyName="node")
    try:
        code, _, err = desk.say("connect", "desk")
    finally:
        iam.put_role_policy(RoleName="node", PolicyName="node", PolicyDocument=_document(POLICY))
    assert code == 1
    assert f"AWS Systems Manager doesn't know {desk.node}" in err.replace("\n    ", " ")


def test_a_taken_port_is_refused_when_asked_for_and_left_alone_otherwise() -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        assert verb_connect.free_port(port, chosen=False) != port
        with pytest.raises(UsageError, match="is taken here"):
            verb_connect.free_port(port, chosen=True)


def _log(desk: Desk, *texts: str) -> None:
    logs, stream = desk.client("logs"), STREAM.replace("NODE", desk.node)
    events = [{"timestamp": int(time.time() * 1000) + at, "message": text} for at, text in enumerate(texts)]
    logs.put_log_events(logGroupName="/nightshift/lab", logStreamName=stream, logEvents=events)


@pytest.fixture(name="log")
def _log_group(desk: Desk) -> Iterator[Any]:
    logs = desk.client("logs")
    logs.create_log_group(logGroupName="/nightshift/lab")
    for name in (STREAM.replace("NODE", desk.node), f"{names.group_name('lab', 'vit')}/{desk.node}/job"):
        logs.create_log_stream(logGroupName="/nightshift/lab", logStreamName=name)
    yield logs
    logs.delete_log_group(logGroupName="/nightshift/lab")


def _texts(out: str) -> list[str]:
    return [line.split(" ", 3)[3] for line in out.splitlines() if not line.startswith("==")]


def test_a_groups_lines_are_read_and_no_other_groups(desk: Desk, log: Any) -> None:
    _log(desk, "one", "two \x1b[2J\x1b[31mred", "three")
    vit = f"{names.group_name('lab', 'vit')}/{desk.node}/job"
    foreign = [{"timestamp": int(time.time() * 1000), "message": "foreign"}]
    log.put_log_events(logGroupName="/nightshift/lab", logStreamName=vit, logEvents=foreign)
    code, out, _ = desk.say("logs", "desk")
    assert (code, _texts(out)) == (0, ["one", "two red", "three"])
    assert _texts(desk.say("logs", "desk", "--lines", "1")[1]) == ["three"]
    assert _texts(desk.say("logs", "desk", "--since", "1h", "--node", desk.node)[1])[0] == "one"
    told = json.loads(desk.say("logs", "desk", "--json")[1])
    assert told["events"][1]["text"] == "two \x1b[2J\x1b[31mred"


def test_following_shows_what_comes_and_ctrl_c_ends_it_with_0(desk: Desk, log: Any) -> None:
    _log(desk, "before")
    with desk.start("logs", "desk", "--follow") as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(2)]
        _log(desk, "meanwhile")
        lines.append(process.stdout.readline())
        os.killpg(process.pid, signal.SIGINT)
        rest, err = process.communicate(timeout=20)
    assert _texts("".join(lines)) == ["before", "meanwhile"]
    assert (process.returncode, rest, err) == (0, "", "")


def test_a_closed_pipe_ends_it_quietly(desk: Desk, log: Any) -> None:
    _log(desk, *(f"line {at}" for at in range(2000)))
    command = f'"{sys.executable}" -m nightshift.cli.main logs desk --since 1h | head -n 2'
    done = subprocess.run(
        ["sh", "-c", command], cwd=desk.root, env=desk.env, capture_output=True, text=True, check=True
    )
    assert (len(done.stdout.splitlines()), done.stderr) == (2, "")
