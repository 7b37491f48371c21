"""The real rooms behind the agent's interface: their errors become findings, their words plain values."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bootstrap.launch.edges import Ended
from bootstrap.lifecycle.notice import Interrupted, Notice
from bootstrap.manifest import BootVolume
from bootstrap.readiness.commands import Answer
from bootstrap.readiness.order import NAMES, RECORD, STORAGE
from bootstrap.runtime.problem import RuntimeProblem
from bootstrap.start import wiring
from bootstrap.start.attentive import Attentive
from bootstrap.start.edges import NodeEdges
from bootstrap.start.rooms import NotReady
from bootstrap.start.wiring import NodeRooms
from bootstrap.storage.outcome import AttachReport, StorageError
from tests.bootstrap.support.agent import MANIFEST, Bench, bench, refusal

RUNS = BootVolume("runs", 1, "xfs", "site", blank=True)


@pytest.fixture(name="node")
def _node(tmp_path: Path) -> Iterator[Bench]:
    with bench(tmp_path / "run") as made:
        yield made


def rooms(node: Bench, **changes: Any) -> NodeRooms:
    return NodeRooms(node.node, replace(MANIFEST, **changes))


def quiet(_says: str) -> None:
    """A heartbeat without a notice."""


def test_every_readiness_check_runs_in_its_order_and_the_record_comes_last_of_all(node: Bench) -> None:
    names = [each.name for each in rooms(node).checks(Path("/python"), quiet)]
    assert names == [each for each in NAMES if each != RECORD]


def test_volumes_that_cannot_be_had_are_a_finding_of_readiness(
    node: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = StorageError("runs", "one volume", "none", "run `pulumi up`").finding()
    monkeypatch.setattr(wiring, "attach_all", lambda *_: AttachReport((), (), (problem,), 0.1))
    checks = {each.name: each for each in rooms(node, volumes=(RUNS,)).checks(Path("/python"), quiet)}
    finding = checks[STORAGE].run()
    assert not finding.passed
    assert "runs" in finding.expected


def test_the_wait_for_an_old_nodes_volumes_is_the_groups_time_to_boot(
    node: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[float] = []

    def attach(_manifest: Any, _aws: Any, place: Any) -> AttachReport:
        seen.append(place.waits.claim_s)
        return AttachReport((), (), (), 0.1)

    monkeypatch.setattr(wiring, "attach_all", attach)
    checks = {each.name: each for each in rooms(node, boot_s=1234).checks(Path("/python"), quiet)}
    assert checks[STORAGE].run().passed
    assert seen == [1234.0]


def test_a_runtime_that_cannot_be_had_is_a_finding(node: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def ensure(*_: Any) -> None:
        raise RuntimeProblem("room for it", "1 GiB", "a larger root disk")

    monkeypatch.setattr(wiring, "hold_packages", lambda *_: ())
    monkeypatch.setattr(wiring, "_runtimes", lambda _: Path("/runtimes"))
    monkeypatch.setattr(wiring, "ensure", ensure)
    with pytest.raises(NotReady) as caught:
        rooms(node).prepare(quiet)
    finding = caught.value.finding
    assert (finding.check, finding.expected, finding.found, finding.remedy) == (
        "runtime.stands",
        "room for it",
        "1 GiB",
        "a larger root disk",
    )


def test_a_notice_while_the_runtime_is_made_is_no_failure_of_it(
    node: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    node.node.inbox.put(Notice("spot", "taken back"))
    monkeypatch.setattr(wiring, "hold_packages", lambda *_: ())
    monkeypatch.setattr(wiring, "_runtimes", lambda _: Path("/runtimes"))
    monkeypatch.setattr(wiring, "ensure", lambda *given: given[-1]())
    with pytest.raises(Interrupted):
        rooms(node).prepare(lambda _says: node.node.inbox.check())


def test_runtimes_lie_on_the_instance_store_or_where_the_root_is_put(tmp_path: Path) -> None:
    assert wiring._runtimes(NodeEdges(root=tmp_path)) == tmp_path / "runtimes"
    there = wiring._runtimes(NodeEdges(machine=tmp_path))
    assert there == tmp_path / "opt/nightshift/runtimes"
    assert there.is_dir()


def test_a_job_without_a_volume_for_its_checkpoints_is_said_with_what_to_change(node: Bench) -> None:
    with pytest.raises(NotReady) as caught:
        rooms(node).begin(Path("/python"))
    assert "groups.vit.volumes" in caught.value.finding.found


def test_a_secret_that_is_refused_is_an_error_that_the_launcher_knows(node: Bench) -> None:
    node.client.refuse["get_secret_value"] = refusal("AccessDeniedException")
    with pytest.raises(OSError, match="AccessDenied"):
        rooms(node)._secret("lab/wandb")


@pytest.mark.parametrize(
    ("checkpoint", "step", "told"),
    [("step-000123", None, 123), ("step-000123", 130, 123), ("best", 9, 9), ("best", None, 0)],
)
def test_a_checkpoints_own_number_is_the_step_that_is_saved(
    node: Bench, checkpoint: str, step: int | None, told: int
) -> None:
    saved = rooms(node).saved(None, Ended("drained", step, checkpoint, True, "asked"))
    assert saved is not None
    assert (saved.step, saved.checkpoint, saved.whole) == (told, checkpoint, True)


def test_without_any_checkpoint_nothing_is_known(node: Bench) -> None:
    assert rooms(node).saved(None, Ended("lost", 3, None, False, "killed")) is None
    assert rooms(node).saved(None, None) is None


def test_cards_are_counted_as_they_are_billed(node: Bench) -> None:
    assert rooms(node).gpus() == 4
    unknown = replace(node.node, instance=replace(node.node.instance, type="x9.huge"))
    assert NodeRooms(unknown, MANIFEST).gpus() == 0


class Slow:
    """A command that takes its time."""

    def __init__(self) -> None:
        self.go = threading.Event()

    def run(self, command: tuple[str, ...], deadline_s: float) -> Answer:
        if command[0] == "broken":
            raise ValueError("no such thing")
        self.go.wait(20)
        return Answer(0, "done\n")


def test_a_command_gives_its_answer_and_beats_meanwhile() -> None:
    slow, beats = Slow(), list[str]()

    def beat(says: str) -> None:
        beats.append(says)
        slow.go.set()

    assert Attentive(slow, beat).run(("nvidia-smi",), 30) == Answer(0, "done\n")
    assert beats


def test_a_notice_ends_the_wait_for_a_command_at_once() -> None:
    slow = Slow()

    def beat(_says: str) -> None:
        raise Interrupted(Notice("spot", "taken back"))

    began = time.monotonic()
    with pytest.raises(Interrupted):
        Attentive(slow, beat).run(("probe",), 300)
    assert time.monotonic() - began < 5
    slow.go.set()


def test_what_a_command_raises_is_raised() -> None:
    with pytest.raises(ValueError, match="no such thing"):
        Attentive(Slow(), quiet).run(("broken",), 30)
