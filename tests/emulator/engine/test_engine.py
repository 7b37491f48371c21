"""The real engine and provider on an emulated AWS: the whole way of a stack, and what a death leaves."""

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from nightshift.emulator.engine import schema, snapshot
from nightshift.emulator.engine.results import Result
from nightshift.emulator.engine.toolchain import Toolchain, ensure_toolchain
from nightshift.emulator.engine.workspace import Running, Workspace

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("engine-room")]

SAMPLE = Path(__file__).parent / "fixtures" / "sample"


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    return ensure_toolchain(print)


@pytest.fixture
def endpoint() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    urllib.request.urlopen(f"http://{host}:{port}/moto-api/reset", data=b"").close()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def stack_file(tmp_path: Path) -> Path:
    return Path(shutil.copy(SAMPLE / "Pulumi.lab.yaml", tmp_path))


@pytest.fixture
def workspace(toolchain: Toolchain, stack_file: Path, endpoint: str, tmp_path: Path) -> Iterator[Workspace]:
    with Workspace(toolchain, stack_file, SAMPLE, endpoint, tmp_path / "engine", print) as made:
        yield made


def _set(workspace: Workspace, name: str, value: str) -> None:
    with workspace.stack_file.open("a", encoding="utf-8") as stream:
        stream.write(f"  sample:{name}: {value}\n")
    workspace.write_config()


def _ec2(endpoint: str) -> Any:
    return boto3.client(
        "ec2",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )


def _volumes(endpoint: str) -> list[str]:
    return [volume["VolumeId"] for volume in _ec2(endpoint).describe_volumes()["Volumes"]]


def _drop_what_was_in_flight(workspace: Workspace, endpoint: str) -> None:
    """A subnet that the killed run asked for and could not note: this sample, without imports, meets it."""
    noted = {one.get("id") for one in workspace.export()["deployment"].get("resources") or []}
    ec2 = _ec2(endpoint)
    found = ec2.describe_subnets(Filters=[{"Name": "cidr-block", "Values": ["10.0.0.0/20"]}])["Subnets"]
    for subnet in found:
        if subnet["SubnetId"] not in noted:
            ec2.delete_subnet(SubnetId=subnet["SubnetId"])


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def _gone_within(pids: list[int], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while any(map(_alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(map(_alive, pids))


def _wait_for_steps(running: Running, steps: int) -> None:
    """Until so many resources are done. After the ninth of an `up` only slow ones are left, as the volume."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if (
            running.log.is_file()
            and running.log.read_text(encoding="utf-8").count("resOutputsEvent") >= steps
        ):
            return
        time.sleep(0.05)
    pytest.fail("the engine did nothing for a minute")


def _unchanged(result: Result) -> bool:
    return result.ok and result.changed == 0


def test_a_stack_goes_up_stays_changes_and_goes_away(workspace: Workspace, endpoint: str) -> None:
    before = workspace.stack_file.read_bytes()
    first = workspace.up()
    assert first.ok, first.diagnostics
    assert first.changes == {"create": 15}
    assert workspace.outputs()["region"] == "us-east-1"
    assert workspace.outputs()["at"] == "07:00"
    assert [workspace.outputs()["volume"]] == _volumes(endpoint)
    assert _unchanged(workspace.up())
    assert _unchanged(workspace.refresh())
    assert _unchanged(workspace.up())
    _set(workspace, "size", "30")
    planned = workspace.preview()
    assert [(s.op, s.name, s.differing) for s in planned.changed_steps()] == [("update", "data", ("size",))]
    assert workspace.up().changes["update"] == 1
    gone = workspace.destroy()
    assert gone.ok, gone.diagnostics
    assert _volumes(endpoint) == []
    assert workspace.export()["deployment"].get("resources", []) == []
    assert workspace.stack_file.read_bytes().startswith(before)
    assert sorted(path.name for path in SAMPLE.iterdir() if path.name != "__pycache__") == [
        "Pulumi.lab.yaml",
        "Pulumi.yaml",
        "__main__.py",
    ]


def test_a_lifecycle_configuration_keeps_its_shape_through_state(workspace: Workspace) -> None:
    _set(workspace, "lifecycle", "true")
    assert workspace.up().ok
    assert _unchanged(workspace.up())
    assert _unchanged(workspace.refresh())


def test_a_refusal_is_told_and_what_was_made_is_kept(workspace: Workspace, endpoint: str) -> None:
    _set(workspace, "broken", "true")
    failed = workspace.up()
    assert not failed.ok
    assert "vpc-00000000" in failed.diagnostics
    assert [step.name for step in failed.steps if step.failed] == ["bad"]
    assert len(_volumes(endpoint)) == 1
    workspace.stack_file.write_text((SAMPLE / "Pulumi.lab.yaml").read_text())
    workspace.write_config()
    assert workspace.up().ok
    assert len(_volumes(endpoint)) == 1


def test_an_input_that_the_provider_lacks_is_refused_by_name(workspace: Workspace) -> None:
    if workspace.toolchain.provider == "plugin":
        pytest.skip("the official plugin knows every input of its SDK")
    _set(workspace, "newer", "true")
    refused = workspace.preview()
    assert not refused.ok
    assert "volumeInitializationRate: the bridged Terraform provider has no such input" in refused.output


@pytest.mark.parametrize("victim", ["terraform", "bridge", "proxy"])
def test_a_dead_provider_ends_the_run_and_the_next_one_converges(
    workspace: Workspace, endpoint: str, victim: str
) -> None:
    if workspace.toolchain.provider == "plugin":
        pytest.skip("the official plugin is the engine's own child")
    running = workspace.start("up", "--yes", "--skip-preview")
    _wait_for_steps(running, 9)
    pids = workspace.pids
    assert pids is not None
    everyone = [pids.proxy, pids.bridge, *pids.terraform]
    os.kill(
        {"terraform": pids.terraform[0], "bridge": pids.bridge, "proxy": pids.proxy}[victim], signal.SIGKILL
    )
    failed = running.finish()
    assert not failed.ok
    assert _gone_within(everyone, 5)
    workspace.recover()
    _drop_what_was_in_flight(workspace, endpoint)
    again = workspace.up()
    assert again.ok, again.diagnostics
    assert _unchanged(workspace.up())


@pytest.mark.parametrize("operation", ["up", "destroy"])
def test_a_killed_engine_recovers(workspace: Workspace, operation: str, endpoint: str) -> None:
    if operation == "destroy":
        assert workspace.up().ok
    running = workspace.start(operation, "--yes", "--skip-preview")
    _wait_for_steps(running, 5)
    os.kill(running.process.pid, signal.SIGKILL)
    assert not running.finish().ok
    locked = workspace.up()
    assert not locked.ok
    assert "locked" in locked.output
    assert len(workspace.recover()) == 1
    _drop_what_was_in_flight(workspace, endpoint)
    again = getattr(workspace, operation)()
    assert again.ok, again.diagnostics
    left = workspace.export()["deployment"].get("resources", [])
    assert bool(left) == (operation == "up")


def test_our_own_death_takes_every_child_along(toolchain: Toolchain, endpoint: str, tmp_path: Path) -> None:
    program = textwrap.dedent(
        f"""
        import json, pathlib, time
        from nightshift.emulator.engine.toolchain import ensure_toolchain
        from nightshift.emulator.engine.workspace import Workspace

        sample = pathlib.Path({str(SAMPLE)!r})
        with Workspace(
            ensure_toolchain(print),
            sample / "Pulumi.lab.yaml",
            sample,
            {endpoint!r},
            pathlib.Path({str(tmp_path)!r}),
        ) as workspace:
            running = workspace.start("up", "--yes", "--skip-preview")
            time.sleep(3)
            ours = workspace.pids
            print(json.dumps([running.process.pid, ours.proxy, ours.bridge, *ours.terraform]), flush=True)
            time.sleep(60)
        """
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as ours:
        assert ours.stdout is not None
        pids = json.loads(next(line for line in ours.stdout if line.startswith("[")))
        assert all(map(_alive, pids))
        ours.kill()
    assert _gone_within(pids, 5)


def test_the_snapshot_of_the_bridges_inputs_is_current(toolchain: Toolchain) -> None:
    if toolchain.bridge is None or toolchain.terraform_provider is None:
        pytest.skip("no bridge is used here")
    assert snapshot.live_inputs(toolchain.bridge, toolchain.terraform_provider) == schema.bridge_inputs()
