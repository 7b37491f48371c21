"""The whole program: from Pulumi's config to the stack's outputs, or to words and nothing else."""

from __future__ import annotations

import copy
import json
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pulumi
import pytest
import yaml
from botocore.exceptions import NoCredentialsError
from moto import mock_aws

import infra.program
from infra.clients import Clients
from nightshift.settings.document import full_key
from tests.infra.recorder import REGION, Recorder, deploy
from tests.infra.support.samples import ARTIFACT, LAB

INFRA = Path(infra.program.__file__).parent
STACKS = sorted((INFRA.parent / "stacks").glob("Pulumi.*.yaml"))


class NoDlm:
    def get_lifecycle_policies(self) -> dict[str, Any]:
        return {"Policies": []}


class Emulated(Clients):
    """Real clients on an emulation inside this process, which knows neither DLM nor placement groups."""

    def __call__(self, service: str) -> Any:
        if service == "dlm":
            return NoDlm()
        client = super().__call__(service)
        if service == "ec2":
            client.describe_placement_groups = lambda **_: {"PlacementGroups": []}
        return client


class LoggedOut:
    def __init__(self, settings: object) -> None:
        pass

    def __call__(self, service: str) -> Any:
        raise NoCredentialsError


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setattr(infra.program, "build", lambda: ARTIFACT)
    with mock_aws():
        yield


def configured(raw: dict[str, Any]) -> dict[str, str]:
    """As the engine hands it over: text at the top, JSON below."""
    return {key: value if isinstance(value, str) else json.dumps(value) for key, value in raw.items()}


def run(
    raw: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    *,
    stack: str = "lab",
    clients: Callable[..., Any] = Emulated,
) -> tuple[Recorder, dict[str, Any]]:
    """Run `infra/` as the language host does; returns what it registered and exported."""
    exported: dict[str, Any] = {}
    prepare = infra.program.prepare
    monkeypatch.setattr(infra.program, "prepare", lambda: prepare(clients))
    monkeypatch.setattr(pulumi, "export", exported.__setitem__)

    def program() -> None:
        pulumi.runtime.set_all_config(configured(raw))
        runpy.run_path(str(INFRA), run_name="__main__")

    try:
        return deploy(program, stack), exported
    finally:
        pulumi.runtime.set_all_config({})


def stopped(raw: dict[str, Any], monkeypatch: pytest.MonkeyPatch, **how: Any) -> str:
    with pytest.raises(pulumi.RunError) as caught:
        run(raw, monkeypatch, **how)
    return str(caught.value)


def test_the_lab_is_declared_and_exports_what_others_ask_for(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder, exported = run(LAB, monkeypatch)
    assert len(recorder.all("Group")) == 2
    assert set(exported) == {
        "site",
        "region",
        "zone",
        "data_bucket",
        "artifacts_bucket",
        "groups",
        "volumes",
        "next_events",
    }
    assert (exported["site"], exported["region"], exported["zone"]) == ("lab", REGION, "us-east-1a")
    assert set(exported["next_events"]) == {"desk", "vit"}


def test_a_wrong_stack_file_stops_with_every_problem_and_declares_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raw = copy.deepcopy(LAB)
    raw["nightshift:groups"]["vit"]["shifts"][0]["to"] = "7"
    raw["nightshift:sight"] = {}
    said = stopped(raw, monkeypatch)
    assert said.startswith("stack lab: 2 problems, nothing was changed\n")
    assert 'groups.vit.shifts[0].to: given "7"' in said
    assert "sight" in said


def test_without_credentials_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    said = stopped(LAB, monkeypatch, clients=LoggedOut)
    assert "no credentials were found" in said
    assert "Traceback" not in said


def test_what_stands_may_stop_the_run_too(monkeypatch: pytest.MonkeyPatch) -> None:
    ec2: Any = boto3.client("ec2", REGION)
    tags = [
        {"Key": "nightshift:site", "Value": "lab"},
        {"Key": "nightshift:volume", "Value": "forgotten"},
    ]
    made = ec2.create_volume(
        AvailabilityZone="us-east-1a",
        Size=20,
        TagSpecifications=[{"ResourceType": "volume", "Tags": tags}],
    )
    said = stopped(LAB, monkeypatch)
    assert made["VolumeId"] in said
    assert "no longer names it" in said


@pytest.mark.parametrize("path", STACKS, ids=[path.name for path in STACKS])
def test_every_shipped_stack_is_declared(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = yaml.safe_load(path.read_text())["config"]
    raw = {full_key(key): value for key, value in config.items()}
    recorder, exported = run(raw, monkeypatch, stack=path.name.split(".")[1])
    assert len(recorder.all("Group")) == len(raw["nightshift:groups"])
    assert exported["site"] == path.name.split(".")[1]


def test_every_name_is_unique_and_every_tagged_resource_says_whose_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recorder, _ = run(LAB, monkeypatch)
    urns = [each.urn for each in recorder.recorded]
    assert len(urns) == len(set(urns))
    for each in recorder.recorded:
        tags = each.inputs.get("tags")
        if isinstance(tags, dict):
            assert tags["nightshift:site"] == "lab", each.name
            assert tags["nightshift:owner"] == "vision", each.name
