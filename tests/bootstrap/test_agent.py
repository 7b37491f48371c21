"""One boot of the agent against a fake AWS: whatever is wrong, the launch is abandoned with a reason."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

import bootstrap.aws
import bootstrap.imds
from bootstrap.__main__ import main
from bootstrap.imds import Instance
from bootstrap.manifest import BootManifest
from bootstrap.readiness.verdict import Finding
from bootstrap.start.agent import boot
from bootstrap.start.config import NodeConfig, NodeConfigError, read_config
from bootstrap.start.install import GIVEN_UP

CONFIG = NodeConfig(
    site="lab",
    group="vit",
    group_name="nightshift-lab.vit",
    region="us-east-1",
    suffix="amazonaws.com",
    bucket="artifacts",
    data_bucket="data",
    manifest_key="groups/vit/manifest.json",
    artifact_key="bootstrap/0.zip",
    artifact_sha256="0",
    hook="ready",
)
INSTANCE = Instance("i-0abc", "g6.12xlarge", "us-east-1a")
MANIFEST = BootManifest(
    site="lab",
    group="vit",
    group_name="nightshift-lab.vit",
    region="us-east-1",
    zone="us-east-1a",
    nodes=1,
    instance_types=("g6.12xlarge",),
    efa=False,
    runtime="cpu",
    timezone="Etc/UTC",
    shifts=(),
    volumes=(),
    boot_s=60,
    drain_s=60,
    data_bucket="data",
    log_group="/nightshift/lab",
)


class Client:
    """Every service of AWS at once: notes what is asked."""

    def __init__(self, manifest: str) -> None:
        self.manifest = manifest
        self.calls: dict[str, dict[str, Any]] = {}
        self.refuse: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        def call(**given: Any) -> Any:
            if name in self.refuse:
                raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, name)
            self.calls[name] = given
            body = type("Body", (), {"read": lambda _: self.manifest.encode()})
            return {"Body": body(), "UserId": "AROA:i-0abc", "ETag": '"1"'}

        return call


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Client:
    client = Client(MANIFEST.to_json())
    monkeypatch.setattr(bootstrap.aws.NodeAws, "client", lambda _self, _service: client)
    monkeypatch.setattr(bootstrap.imds, "read_instance", lambda: INSTANCE)
    return client


@pytest.fixture
def node(tmp_path: Path) -> Path:
    path = tmp_path / "node.json"
    path.write_text(json.dumps(asdict(CONFIG)))
    return path


def record(client: Client) -> dict[str, Any]:
    written = client.calls["put_object"]
    assert (written["Bucket"], written["Key"]) == ("data", "nodes/AROA:i-0abc/readiness.json")
    return json.loads(written["Body"])


def test_this_release_proves_nothing_so_no_node_counts(client: Client, node: Path) -> None:
    assert main(["start", "--node", str(node)]) == GIVEN_UP
    assert record(client)["ready"] is False
    assert record(client)["says"] == "no readiness check ran: nothing is proven about this node"
    assert client.calls["complete_lifecycle_action"] == {
        "LifecycleHookName": "ready",
        "AutoScalingGroupName": "nightshift-lab.vit",
        "InstanceId": "i-0abc",
        "LifecycleActionResult": "ABANDON",
    }
    assert client.calls["put_metric_data"]["Namespace"] == "Nightshift"
    (metric,) = client.calls["put_metric_data"]["MetricData"]
    assert metric["MetricName"] == "BootFailed"
    assert {each["Name"]: each["Value"] for each in metric["Dimensions"]} == {"Site": "lab", "Group": "vit"}


def test_the_reason_is_on_the_instance_for_people_who_look_there(client: Client, node: Path) -> None:
    main(["start", "--node", str(node)])
    tagged = client.calls["create_tags"]
    assert tagged["Resources"] == ["i-0abc"]
    assert [tag["Key"] for tag in tagged["Tags"]] == ["nightshift:readiness", "nightshift:reason"]
    assert tagged["Tags"][0]["Value"] == "not-ready"


def test_a_node_whose_every_check_passed_goes_on(client: Client) -> None:
    def proven(manifest: BootManifest, instance: Instance) -> Finding:
        return Finding("identity", instance.type in manifest.instance_types, "a type of the group", "", "")

    assert boot(CONFIG, INSTANCE, bootstrap.aws.NodeAws(CONFIG, "i-0abc"), (proven,)) == 0
    assert client.calls["complete_lifecycle_action"]["LifecycleActionResult"] == "CONTINUE"
    assert record(client)["ready"] is True


@pytest.mark.parametrize(
    "manifest", ["", json.dumps({"version": 99}), replace(MANIFEST, nodes="two").to_json()]
)
def test_a_manifest_that_cannot_be_read_fails_the_node_in_words(
    client: Client, node: Path, manifest: str
) -> None:
    client.manifest = manifest
    assert main(["start", "--node", str(node)]) == GIVEN_UP
    assert record(client)["failed"] == "manifest"
    assert record(client)["says"].startswith("boot manifest: ")
    assert client.calls["complete_lifecycle_action"]["LifecycleActionResult"] == "ABANDON"


def test_a_manifest_out_of_reach_fails_the_node(client: Client, node: Path) -> None:
    client.refuse.add("get_object")
    assert main(["start", "--node", str(node)]) == GIVEN_UP
    assert client.calls["complete_lifecycle_action"]["LifecycleActionResult"] == "ABANDON"


def test_a_launch_that_nobody_waits_for_is_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(Client):
        def complete_lifecycle_action(self, **_: Any) -> None:
            said = "No active Lifecycle Action found with instance ID i-0abc"
            raise ClientError({"Error": {"Code": "ValidationError", "Message": said}}, "Complete")

    monkeypatch.setattr(bootstrap.aws.NodeAws, "client", lambda _self, _service: Gone(""))
    bootstrap.aws.NodeAws(CONFIG, "i-0abc").complete_launch("CONTINUE")


def test_an_error_that_may_pass_leaves_the_unit_to_try_again(
    client: Client, node: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    client.refuse.add("complete_lifecycle_action")
    assert main(["start", "--node", str(node)]) == 1
    assert "AccessDenied" in capsys.readouterr().err


def test_the_configuration_is_read_back_as_user_data_wrote_it(node: Path) -> None:
    assert read_config(node) == CONFIG


def test_a_broken_configuration_is_said_with_all_reasons(tmp_path: Path) -> None:
    path = tmp_path / "node.json"
    path.write_text(json.dumps({**asdict(CONFIG), "hook": 7, "deadline_s": "x", "more": 1}))
    with pytest.raises(NodeConfigError) as caught:
        read_config(path)
    assert str(caught.value).endswith(
        "more: unknown key; hook: given 7, expected text; deadline_s: given 'x', expected a whole number"
    )
    assert main(["start", "--node", str(path)]) == GIVEN_UP


def test_an_empty_configuration_installs_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "node.json"
    path.write_text("")
    assert main(["install", "--node", str(path)]) == 1
    assert "not JSON" in capsys.readouterr().err
