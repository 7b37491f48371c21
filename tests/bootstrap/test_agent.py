"""The agent's boot against a fake AWS: whatever is wrong, the node is given back with a reason."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from bootstrap import imds
from bootstrap.__main__ import main
from bootstrap.aws_group import NOBODY_WAITS, NOT_A_MEMBER
from bootstrap.launch.folders import run_id
from bootstrap.lifecycle.notice import Notice
from bootstrap.lifecycle.watch import REBALANCE
from bootstrap.readiness.verdict import Finding
from bootstrap.start import agent, wiring
from bootstrap.start.agent import DONE
from bootstrap.start.config import NodeConfigError, read_config
from bootstrap.start.install import GIVEN_UP
from bootstrap.start.stay import AT_RISK_S
from nightshift.records.model import RunRecord
from tests.bootstrap.support.agent import (
    CONFIG,
    JOB,
    MANIFEST,
    NIGHT,
    NOW,
    Bench,
    bench,
    declare,
    drain_record,
    ended,
    ends,
    hooks,
    refusal,
)
from tests.bootstrap.support.rooms import not_ready

RUN = run_id("vit", JOB)


@pytest.fixture(name="node")
def _node(tmp_path: Path) -> Generator[Bench]:
    with bench(tmp_path / "run") as made:
        yield made


def test_a_whole_life_boot_job_end_of_the_shift(node: Bench) -> None:
    node.rooms.during["begin"] = ends(node)
    assert node.run() == DONE
    assert node.rooms.did == [
        "end_left_over",
        "prepare",
        "check",
        "begin",
        "unmount",
        "release",
        "close",
    ]
    assert hooks(node) == [("ready", "CONTINUE"), ("drain", "CONTINUE")]
    assert node.readiness is not None
    assert node.readiness.ready
    assert node.run_record == replace(
        RunRecord("vit", 7, "step-000007", False, NOW, RUN), at=node.run_record.at if node.run_record else NOW
    )
    record = drain_record(node)
    assert (record.kind, record.saved) == ("end", True)
    assert [step.name for step in record.steps] == ["job", "kill", "unmount", "run"]
    assert ended(node) == [], "the group ends it, it doesn't end itself"


def test_a_recommendation_to_rebalance_that_comes_while_it_boots_is_told_to_the_job(node: Bench) -> None:
    def recommended() -> None:
        node.service.answers[REBALANCE] = "{}"
        time.sleep(0.2)

    node.rooms.during["check"] = recommended
    node.rooms.during["begin"] = ends(node)
    assert node.run() == DONE
    assert node.rooms.job.shifts[0][1] == AT_RISK_S


def test_the_verdict_is_a_tag_too_and_hours_are_counted(node: Bench) -> None:
    node.rooms.during["begin"] = ends(node)
    node.run()
    tags = {tag["Key"]: tag["Value"] for tag in node.client.named("create_tags")[0]["Tags"]}
    assert tags["nightshift:readiness"] == "ready"
    assert any(key.startswith("groups/vit/hours/2026-12/i-0abc-") for key in node.client.objects)


def test_a_failed_check_gives_the_volumes_back_and_the_launch_up(node: Bench) -> None:
    node.rooms.finding = Finding("driver", False, "595", "none", "see dmesg")
    assert node.run() == GIVEN_UP
    assert node.rooms.did == ["end_left_over", "prepare", "check", "unmount", "release"]
    assert hooks(node) == [("ready", "ABANDON")]
    assert node.readiness is not None
    assert (node.readiness.ready, node.readiness.failed) == (False, "driver")
    assert "see dmesg" in node.readiness.says
    (metric,) = node.client.named("put_metric_data")
    assert metric["Namespace"] == "Nightshift"
    assert metric["MetricData"][0]["MetricName"] == "BootFailed"
    assert {each["Name"]: each["Value"] for each in metric["MetricData"][0]["Dimensions"]} == {
        "Site": "lab",
        "Group": "vit",
    }
    assert ended(node) == [], "whoever waits for the launch ends it"


def test_a_restarted_agent_that_is_no_longer_ready_does_not_stay_in_service(node: Bench) -> None:
    """Its launch was complete before: nobody ends it for an ABANDON."""
    node.client.refuse["complete_lifecycle_action"] = refusal("ValidationError", NOBODY_WAITS)
    node.rooms.finding = Finding("driver", False, "595", "none", "see dmesg")
    assert node.run() == GIVEN_UP
    assert ended(node) == [False], "it is to be replaced"


def test_a_runtime_that_cannot_be_had_fails_the_node_in_words(node: Bench) -> None:
    def fails() -> None:
        raise not_ready("runtime.stands")

    node.rooms.during["prepare"] = fails
    assert node.run() == GIVEN_UP
    assert node.readiness is not None
    assert node.readiness.says == "runtime.stands: expected one, found none; make one"


def test_a_boot_that_takes_longer_than_its_time_is_given_up(node: Bench) -> None:
    declare(node, replace(MANIFEST, boot_s=1))
    node.rooms.during["prepare"] = lambda: time.sleep(1.1)
    assert node.run() == GIVEN_UP
    assert node.readiness is not None
    assert node.readiness.failed == "boot.time"


@pytest.mark.parametrize(
    "manifest", ["", json.dumps({"version": 99}), replace(MANIFEST, nodes="two").to_json()]
)
def test_a_manifest_that_cannot_be_read_fails_the_node_in_words(node: Bench, manifest: str) -> None:
    node.client.objects[CONFIG.manifest_key] = manifest.encode()
    assert node.run() == GIVEN_UP
    assert node.readiness is not None
    assert node.readiness.failed == "manifest"
    assert node.readiness.says.startswith("boot manifest: ")
    assert hooks(node) == [("ready", "ABANDON")]


def test_a_manifest_out_of_reach_is_asked_for_again_then_fails_the_node(node: Bench) -> None:
    del node.client.objects[CONFIG.manifest_key]
    assert node.run() == GIVEN_UP
    assert len(node.client.named("get_object")) > 1
    assert hooks(node) == [("ready", "ABANDON")]


def test_a_restarted_agent_goes_on_with_the_manifest_of_its_boot(node: Bench) -> None:
    node.rooms.finding = Finding("driver", False, "595", "none", "see dmesg")
    node.run()
    del node.client.objects[CONFIG.manifest_key]
    ends(node)()
    node.rooms.did.clear()
    assert node.run() == DONE
    assert node.rooms.did == ["end_left_over", "unmount", "release", "close"]


def test_a_notice_before_any_manifest_was_read_leaves_nothing_to_let_go(node: Bench) -> None:
    del node.client.objects[CONFIG.manifest_key]
    ends(node)()
    assert node.run() == DONE
    assert node.rooms.did == []
    assert hooks(node) == [("ready", "ABANDON"), ("drain", "CONTINUE")]


class Healing(dict[str, Exception]):
    """Refuses each call once."""

    def __getitem__(self, name: str) -> Exception:
        return self.pop(name)


def test_a_verdict_is_recorded_as_soon_as_it_can_be(node: Bench) -> None:
    node.rooms.finding = Finding("driver", False, "595", "none", "see dmesg")
    node.client.refuse = Healing(put_object=refusal("ServiceUnavailable"))
    assert node.run() == GIVEN_UP
    assert node.readiness is not None
    assert node.readiness.failed == "driver"


def test_a_verdict_that_cannot_be_recorded_keeps_no_volume(node: Bench) -> None:
    node.client.refuse["put_object"] = refusal("AccessDenied")
    assert node.run() == GIVEN_UP
    assert hooks(node) == [("ready", "ABANDON")]
    assert node.rooms.did[-2:] == ["unmount", "release"]


@pytest.mark.parametrize("moment", ["end_left_over", "prepare", "check"])
def test_a_notice_during_the_boot_ends_it_there(node: Bench, moment: str) -> None:
    node.rooms.during[moment] = lambda: node.node.inbox.put(Notice("spot", "taken back", None))
    assert node.run() == DONE
    assert "begin" not in node.rooms.did
    assert node.rooms.did[-3:] == ["unmount", "release", "close"]
    assert hooks(node) == [("drain", "CONTINUE"), ("ready", "ABANDON")]
    assert node.readiness is None, "it was never judged"
    assert drain_record(node).kind == "spot"


def test_a_node_whose_end_is_known_before_it_boots_takes_nothing(node: Bench) -> None:
    ends(node)()
    assert node.run() == DONE
    assert "prepare" not in node.rooms.did


def test_a_node_outside_of_its_shift_goes_before_it_takes_anything(node: Bench) -> None:
    declare(node, replace(MANIFEST, shifts=(NIGHT,)))
    assert node.run() == DONE
    assert "prepare" not in node.rooms.did
    assert hooks(node) == [("ready", "CONTINUE"), ("drain", "CONTINUE")]
    assert ended(node) == [True], "nobody takes its place"
    assert not node.client.named("put_metric_data"), "no failed boot"


def test_a_node_that_has_left_its_group_already_is_done(node: Bench) -> None:
    declare(node, replace(MANIFEST, shifts=(NIGHT,)))
    node.client.refuse["terminate_instance_in_auto_scaling_group"] = refusal(
        "ValidationError", f"Instance Id not found - {NOT_A_MEMBER}"
    )
    assert node.run() == DONE


def test_a_launch_that_cannot_be_told_leaves_the_unit_to_try_again(
    node: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "node.json"
    path.write_text(json.dumps(asdict(CONFIG)))
    node.client.refuse["complete_lifecycle_action"] = refusal("AccessDenied")
    monkeypatch.setattr(imds, "read_instance", lambda: node.node.instance)
    monkeypatch.setattr(wiring, "NodeRooms", lambda *_: node.rooms)
    monkeypatch.setattr(agent, "Metadata", lambda: node.service)
    monkeypatch.setenv("NIGHTSHIFT_RUN_DIR", str(tmp_path / "run"))
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    node.client.objects[CONFIG.manifest_key] = b""
    assert main(["start", "--node", str(path)]) == 1
    signal.signal(signal.SIGTERM, before[0])
    signal.signal(signal.SIGINT, before[1])
    assert "AccessDenied" in capsys.readouterr().err


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    path = tmp_path / "node.json"
    path.write_text(json.dumps(asdict(CONFIG)))
    return path


def test_the_configuration_is_read_back_as_user_data_wrote_it(path: Path) -> None:
    assert read_config(path) == CONFIG


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


@pytest.mark.node
def test_verify_and_install_need_no_aws_library(tmp_path: Path) -> None:
    """A machine that is proven by hand has none; an installation must not fail for it."""
    program = (
        "import sys\n"
        "class Block:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('boto3', 'botocore'):\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Block())\n"
        "from bootstrap.__main__ import main\n"
        "sys.exit(main(['install', '--node', 'nowhere.json']))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, "nowhere.json" in done.stderr) == (1, True), done.stderr


@pytest.mark.parametrize(
    "arguments", [["runtime"], ["runtime", "burn"], ["start", "--node", "x", "more"], []]
)
def test_wrong_use_is_said(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: bootstrap" in capsys.readouterr().err
