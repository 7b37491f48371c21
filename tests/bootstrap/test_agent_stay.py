"""A ready node's time against a fake AWS: the job's end, the calendar, hours, idle cards, signals."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from botocore.exceptions import EndpointConnectionError

from bootstrap.launch.folders import run_id
from bootstrap.manifest import BootIdle
from bootstrap.start.agent import AGAIN, DONE
from nightshift.records.hours import HoursRecord
from nightshift.records.model import OverrideRecord, RunRecord
from tests.bootstrap.support.agent import (
    JOB,
    MANIFEST,
    NIGHT,
    NOW,
    USER,
    Bench,
    bench,
    declare,
    drain_record,
    ended,
    ends,
    refusal,
)
from tests.bootstrap.support.rooms import End, not_ready

RUN = run_id("vit", JOB)
TERMINATE = "terminate_instance_in_auto_scaling_group"


@pytest.fixture(name="node")
def _node(tmp_path: Path) -> Generator[Bench]:
    with bench(tmp_path / "run") as made:
        yield made


def test_an_operator_who_wakes_the_group_keeps_it(node: Bench) -> None:
    declare(node, replace(MANIFEST, shifts=(NIGHT,)))
    node.override(OverrideRecord("up", NOW + timedelta(hours=3), "ana", NOW))
    node.rooms.during["begin"] = ends(node)
    assert node.run() == DONE
    assert "begin" in node.rooms.did
    assert ended(node) == []


def test_the_end_of_the_shift_that_no_schedule_brought_is_brought_by_the_node(node: Bench) -> None:
    declare(node, replace(MANIFEST, shifts=(NIGHT,)))
    node.client.now = NOW + timedelta(hours=12)

    def later() -> None:
        node.client.now = NOW + timedelta(hours=20)

    node.rooms.during["begin"] = later
    assert node.run() == DONE
    assert ended(node) == [True]
    assert drain_record(node).kind == "over"
    names = node.client.names()
    assert names.index(TERMINATE) < len(names) - 1 - names[::-1].index("put_object"), "told before it drains"


def test_the_job_is_told_when_the_shift_ends(node: Bench) -> None:
    declare(node, replace(MANIFEST, shifts=(NIGHT,)))
    node.client.now = NOW + timedelta(hours=12)
    node.rooms.during["begin"] = lambda: None

    def told() -> None:
        if (NOW.replace(hour=7) + timedelta(days=1)).timestamp() in [at for at, _ in node.rooms.job.shifts]:
            ends(node)()

    node.rooms.busiest = lambda: (told(), 90)[1]
    declare(node, replace(MANIFEST, shifts=(NIGHT,), idle=BootIdle(30, 60, "warn")))
    assert node.run() == DONE


def test_a_finished_run_is_marked_and_the_group_goes_to_zero(node: Bench) -> None:
    node.rooms.job.end, node.rooms.job.over = End("finished", 90, "step-000090", True, "all epochs"), True
    assert node.run() == DONE
    assert node.run_record is not None
    assert (node.run_record.done, node.run_record.step, node.run_record.run) == (True, 90, RUN)
    assert ended(node) == [True]
    written = [each["Key"] for each in node.client.named("put_object")]
    names = [name for name, _ in node.client.calls]
    mark = [
        at
        for at, (name, given) in enumerate(node.client.calls)
        if name == "put_object" and given["Key"] == "runs/vit/latest.json"
    ][-1]
    assert mark < names.index(TERMINATE), "the mark comes first: no later shift may miss it"
    assert f"nodes/{USER}/drain.json" in written


def test_the_next_shift_of_a_finished_run_goes_before_it_takes_anything(node: Bench) -> None:
    node.set_run(RunRecord("vit", 90, "step-000090", True, NOW, RUN))
    assert node.run() == DONE
    assert "prepare" not in node.rooms.did
    assert ended(node) == [True]


def test_a_finished_run_that_is_woken_stands_without_the_job(node: Bench) -> None:
    node.set_run(RunRecord("vit", 90, "step-000090", True, NOW - timedelta(hours=1), RUN))
    node.override(OverrideRecord("up", NOW + timedelta(hours=3), "ana", NOW))
    node.rooms.during["check"] = ends(node, 0)
    declare(node, replace(MANIFEST, job=replace(JOB, when_done="stay")))
    node.run()
    assert "begin" not in node.rooms.did


def test_a_job_that_failed_for_good_releases_its_node_and_marks_nothing(node: Bench) -> None:
    node.rooms.job.end, node.rooms.job.over = End("failed", 3, None, False, "KeyError: 'data'"), True
    assert node.run() == DONE
    assert ended(node) == [True]
    record = drain_record(node)
    assert record.kind == "failed"
    assert "KeyError: 'data'" in record.reason
    assert not (node.run_record and node.run_record.done)


def test_a_job_that_cannot_be_started_releases_its_node(node: Bench) -> None:
    def fails() -> None:
        raise not_ready("job")

    node.rooms.during["begin"] = fails
    assert node.run() == DONE
    assert drain_record(node).kind == "failed"


def test_a_job_that_stays_when_done_leaves_the_node_up(node: Bench) -> None:
    declare(node, replace(MANIFEST, job=replace(JOB, when_done="stay"), idle=BootIdle(30, 60, "warn")))
    node.rooms.job.end, node.rooms.job.over = End("finished", 90, "step-000090", True, "all epochs"), True

    def looked() -> int:
        if node.run_record is not None and node.run_record.done:
            ends(node)()
        return 90

    node.rooms.busiest = looked
    assert node.run() == DONE
    assert ended(node) == []
    assert drain_record(node).kind == "end"


def test_a_lost_job_has_its_node_examined_again_but_not_for_ever(node: Bench, tmp_path: Path) -> None:
    node.rooms.job.end, node.rooms.job.over = End("lost", 3, None, False, "killed"), True
    assert node.run() == AGAIN
    assert ended(node) == []
    with bench(tmp_path / "run") as later:
        later.rooms.job.end, later.rooms.job.over = node.rooms.job.end, True
        assert later.run() == DONE
        assert drain_record(later).kind == "failed"
        assert ended(later) == [True]


def test_used_up_gpu_hours_start_no_job(node: Bench) -> None:
    declare(node, replace(MANIFEST, gpu_hours_monthly=1))
    spent = HoursRecord("i-0other", 8, NOW - timedelta(hours=2), NOW - timedelta(hours=1))
    node.client.objects["groups/vit/hours/2026-12/i-0other-1.json"] = spent.dump()
    assert node.run() == DONE
    assert "begin" not in node.rooms.did
    assert ended(node) == [True]
    assert "8.0 of 1 GPU-hours of this month are used" in drain_record(node).reason


def test_idle_cards_release_the_group_where_it_is_declared(node: Bench) -> None:
    declare(node, replace(MANIFEST, idle=BootIdle(30, 0, "release")))
    node.rooms.percent = 3
    assert node.run() == DONE
    assert drain_record(node).kind == "idle"
    assert ended(node) == [True]


def test_idle_cards_are_only_said_where_that_is_declared(node: Bench) -> None:
    declare(node, replace(MANIFEST, idle=BootIdle(30, 0, "warn")))
    node.rooms.percent = 3
    node.rooms.during["begin"] = lambda: None
    tags: list[str] = []

    def look() -> int:
        tags[:] = [each["Tags"][1]["Value"] for each in node.client.named("create_tags")]
        if any("all cards under 30 %" in each for each in tags):
            ends(node)()
        return 3

    node.rooms.busiest = look
    assert node.run() == DONE
    assert ended(node) == []


def test_sigterm_is_a_drain(node: Bench) -> None:
    node.rooms.during["begin"] = lambda: os.kill(os.getpid(), signal.SIGTERM)
    assert node.run() == DONE
    record = drain_record(node)
    assert (record.kind, record.saved) == ("stop", True)
    assert record.budget_s <= 60


def test_a_group_that_cannot_be_told_starts_the_agent_again(node: Bench) -> None:
    declare(node, replace(MANIFEST, shifts=(NIGHT,)))
    node.client.refuse[TERMINATE] = EndpointConnectionError(endpoint_url="autoscaling")
    assert node.run() == AGAIN


def test_hours_that_cannot_be_counted_stop_nothing(node: Bench) -> None:
    node.rooms.during["prepare"] = lambda: node.client.refuse.update(list_objects_v2=refusal("SlowDown"))
    node.rooms.during["begin"] = ends(node)
    assert node.run() == DONE
    assert "begin" in node.rooms.did
