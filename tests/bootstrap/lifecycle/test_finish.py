"""The marks of runs: the newest checkpoint, a finished run, and whom it holds back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bootstrap.drain.report import Saved
from bootstrap.launch.folders import run_id
from bootstrap.lifecycle.finish import is_done, over_at_boot
from bootstrap.lifecycle.run_record import RunKeeper, merged
from bootstrap.manifest import BootJob, BootManifest
from nightshift.records.model import OverrideRecord, RunRecord

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
JOB = BootJob("https://example.org/lab/vit.git", "3f2c1d0", "train.py --epochs 90", (), "release")


def manifest(job: BootJob | None = JOB) -> Any:
    return type("Manifest", (), {"job": job, "group": "vit"})()


def done(job: BootJob = JOB, at: datetime = NOON) -> RunRecord:
    return RunRecord("vit", 90, "step-000090", True, at, run_id("vit", job))


def other(**changes: Any) -> BootJob:
    return BootJob(**{**vars(JOB), **changes})


def test_a_finished_run_holds_back_itself_and_no_other() -> None:
    assert is_done(done(), manifest())
    for changed in (other(run="train.py --epochs 91"), other(repo="/data/runs/x")):
        assert not is_done(done(), manifest(changed))
    assert is_done(done(), manifest(other(secrets=("lab/wandb",), when_done="stay"))), "by other means"
    assert is_done(done(), manifest(other(ref="abcdef0"))), "it would go on from the same checkpoints"
    assert not is_done(None, manifest())
    assert not is_done(RunRecord("vit", 9, "step-000009", False, NOON, run_id("vit", JOB)), manifest())
    assert is_done(RunRecord("vit", 9, "step-000009", True, NOON), manifest()), "a mark of an older agent"


def test_a_later_shift_of_a_finished_run_ends_at_once() -> None:
    boot: BootManifest = manifest()
    assert "finished at 2026-12-01 12:00 UTC (step 90, step-000090)" in over_at_boot(boot, done(), None)
    assert over_at_boot(boot, None, None) == ""
    assert over_at_boot(manifest(other(when_done="stay")), done(), None) == ""
    assert over_at_boot(manifest(None), done(), None) == ""


def test_an_operator_who_wakes_the_group_afterwards_gets_a_node() -> None:
    after = OverrideRecord("up", NOON + timedelta(hours=9), "ana", NOON + timedelta(hours=1))
    before = OverrideRecord("up", NOON + timedelta(hours=9), "ana", NOON - timedelta(hours=1))
    assert over_at_boot(manifest(), done(), after) == ""
    assert over_at_boot(manifest(), done(), before) != ""


class Store:
    def __init__(self, record: RunRecord | None = None) -> None:
        self.record, self.writes = record, 0

    def run(self, _group: str) -> RunRecord | None:
        return self.record

    def write_run(self, _group: str, record: RunRecord) -> None:
        self.record, self.writes = record, self.writes + 1


def kept(store: Any, run: str = "abc") -> RunKeeper:
    return RunKeeper(store, "vit", run, lambda: NOON)


def test_a_checkpoint_is_recorded_once_and_never_an_older_one() -> None:
    store = Store()
    keeper = kept(store)
    for step in (5, 5, 10, 7, 10):
        keeper.note(Saved(step, f"step-{step:06}", True))
    assert store.record == RunRecord("vit", 10, "step-000010", False, NOON, "abc")
    assert store.writes == 2


def test_a_mark_of_a_finished_run_stays_until_another_run_begins() -> None:
    store = Store()
    keeper = kept(store)
    keeper.note(Saved(90, "step-000090", True), done=True)
    keeper.note(Saved(91, "step-000091", True))
    assert store.record == RunRecord("vit", 90, "step-000090", True, NOON, "abc")
    kept(store, "new").note(Saved(1, "step-000001", True))
    assert store.record == RunRecord("vit", 1, "step-000001", False, NOON, "new")


def test_nothing_known_is_nothing_written() -> None:
    store = Store()
    kept(store).note(None)
    assert store.writes == 0


RUNS = st.builds(
    RunRecord,
    st.just("vit"),
    st.integers(0, 5),
    st.sampled_from(["a", "b"]),
    st.booleans(),
    st.just(NOON),
    st.sampled_from(["x", "y"]),
)


@given(st.none() | RUNS, RUNS)
def test_of_one_run_the_step_never_goes_back_and_done_stays(known: RunRecord | None, new: RunRecord) -> None:
    after = merged(known, new) or known
    assert after is not None
    if known is not None and known.run == new.run:
        assert after.done == (known.done or new.done)
        assert after.step >= known.step or new.done
