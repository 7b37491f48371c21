"""A run from a script's and from the node's point of view."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nightshift.training import Drained, Loader, Run, Synthetic, TrainingError
from nightshift.training import job as contract
from nightshift.training.checkpoint import Checkpoints, SaveReport
from nightshift.training.job import Drain, Job, Shift
from nightshift.training.ranks import Team
from nightshift.training.shift import Notice, agree


def run_of(root: Path | None, *, steps: int = 6, samples: int = 20, **given: Any) -> Run:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(48, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    loader = Loader(
        Synthetic(samples, side=4, classes=4), batch=4, micro_batch=given.pop("micro_batch", None)
    )
    return Run(model=model, optimizer=optimizer, loader=loader, steps=steps, folder=root, **given)


def train(run: Run, at_step: Callable[[Run], None] = lambda _run: None) -> list[float]:
    losses = []
    model, (optimizer,) = run.state.model, run.state.optimizers
    for images, labels in run:
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        if run.last_of_step:
            optimizer.step()
            optimizer.zero_grad()
        losses.append(loss.item())
        at_step(run)
    return losses


def outcome(job: Path) -> dict[str, Any]:
    return json.loads((job / "outcome.json").read_text())


def test_a_run_to_its_end_says_finished_and_leaves_its_last_step(tmp_path: Path, job: Path) -> None:
    train(run_of(tmp_path / "ck"))
    said = outcome(job)
    assert (said["outcome"], said["step"], said["position"], said["saved"]) == ("finished", 6, 24, True)
    assert said["checkpoint"] == "step-000006"


def test_a_finished_run_started_again_is_finished_at_once(tmp_path: Path, job: Path) -> None:
    train(run_of(tmp_path / "ck"))
    (job / "outcome.json").unlink()
    assert train(run_of(tmp_path / "ck")) == []
    assert outcome(job)["outcome"] == "finished"


@pytest.mark.parametrize("how", ["file", "empty file", "SIGTERM", "SIGTERM twice"])
def test_a_notice_ends_the_run_saved_at_that_step_and_the_next_goes_on(
    tmp_path: Path, job: Path, how: str
) -> None:
    def notify(run: Run) -> None:
        if run.step != 2:
            return
        match how:
            case "file":
                words = {"version": 1, "reason": "shift end", "by": time.time() + 60}
                (job / "drain").write_text(json.dumps(words))
            case "empty file":
                (job / "drain").touch()
            case _:
                for _ in how.split():
                    os.kill(os.getpid(), signal.SIGTERM)

    whole = train(run_of(tmp_path / "straight"))
    run = run_of(tmp_path / "ck")
    run._clock.step_s = 1.0  # slow steps: the ranks ask at each one
    first: list[float] = []
    with pytest.raises(Drained) as end:
        train(run, lambda run: (notify(run), first.append(0.0))[0])
    assert end.value.code == 75
    said = outcome(job)
    assert (said["outcome"], said["step"], said["checkpoint"]) == ("drained", 3, "step-000003")
    assert said["reason"] == {"file": "shift end", "empty file": "asked by the node"}.get(how, "SIGTERM")
    (job / "drain").unlink(missing_ok=True)
    assert train(run_of(tmp_path / "ck")) == whole[3:]
    assert outcome(job)["outcome"] == "finished"


def test_under_torchrun_a_drained_worker_ends_with_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "x")
    assert contract.drained_code(os.environ) == 0


def test_sigterm_is_given_back_at_the_end(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    hook = sys.excepthook
    train(run_of(tmp_path))
    assert signal.getsignal(signal.SIGTERM) is before
    assert sys.excepthook is hook


def test_an_error_of_the_script_is_told_to_the_node(
    tmp_path: Path, job: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_of(tmp_path / "ck", save_every_steps=2)

    def fail(run: Run) -> None:
        if run.step == 4:
            raise FloatingPointError("loss is nan")

    with pytest.raises(FloatingPointError) as caught:
        train(run, fail)
    sys.excepthook(caught.type, caught.value, caught.tb)
    said = outcome(job)
    assert (said["outcome"], said["reason"]) == ("failed", "FloatingPointError: loss is nan")
    assert (said["checkpoint"], said["saved"]) == ("step-000004", False)
    assert "loss is nan" in capsys.readouterr().err


def test_accumulated_micro_batches_are_one_step(tmp_path: Path) -> None:
    run = run_of(tmp_path, micro_batch=2, steps=3)
    ends: list[bool] = []
    train(run, lambda run: ends.append(run.last_of_step))
    assert ends == [False, True] * 3
    assert (run.step, run.position) == (3, 12)


def test_other_data_under_the_same_checkpoints_is_refused(tmp_path: Path) -> None:
    train(run_of(tmp_path))
    with pytest.raises(TrainingError, match="number of samples: 20 when it was saved, 24 now"):
        run_of(tmp_path, samples=24)


def test_wrong_use_is_said_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="either epochs or steps"):
        run_of(tmp_path, epochs=1)
    with pytest.raises(TrainingError, match="NIGHTSHIFT_CHECKPOINTS"):
        run_of(None)
    with pytest.raises(TrainingError, match="keep: given 0"):
        run_of(tmp_path, keep=0)


def test_all_wrong_numbers_are_said_at_once(tmp_path: Path) -> None:
    wrong: dict[str, Any] = {"epochs": float("inf"), "steps": 2.5, "keep": 1.5}
    wrong |= {"save_every_s": float("nan"), "save_every_steps": 0}
    with pytest.raises(TrainingError) as caught:
        run_of(tmp_path, **wrong)
    assert caught.value.problems == (
        "epochs: given inf, expected a finite number above 0",
        "steps: given 2.5, expected a whole number, at least 1",
        "keep: given 1.5, expected a whole number, at least 1",
        "save_every_s: given nan, expected a finite number above 0",
        "save_every_steps: given 0, expected a whole number, at least 1",
    )


@pytest.mark.parametrize(
    "wrong",
    [
        *({"save_every_s": one} for one in (-5, 0, float("inf"), "9", True)),
        *({"save_every_steps": one} for one in (-3, 2.5, True)),
        {"keep": None},
    ],
)
def test_a_number_that_means_nothing_is_refused(tmp_path: Path, wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(TrainingError, match=f"{name}: given"):
        run_of(tmp_path, **wrong)


def test_what_no_manifest_can_hold_is_refused_before_training(tmp_path: Path) -> None:
    with pytest.raises(TrainingError) as caught:
        run_of(tmp_path, about={"x": {1, 2}, "fine": [1], "y": object}, keep=0)
    assert [problem.split(": given")[0] for problem in caught.value.problems] == [
        "keep",
        "about: 'x'",
        "about: 'y'",
    ]


def test_a_checkpoint_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(TrainingError, match=f"folder: {folder} can't be made"):
            run_of(folder)


def test_a_save_that_fails_is_recorded_and_training_goes_on(
    tmp_path: Path, job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish = Checkpoints.finish

    def failing(self: Checkpoints, timeout_s: float | None = None) -> SaveReport | None:
        report = finish(self, timeout_s)
        if report and report.step == 2:
            return SaveReport(2, 0, 0.0, 0.0, error="No space left on device")
        return report

    monkeypatch.setattr(Checkpoints, "finish", failing)
    train(run_of(tmp_path / "ck", save_every_steps=2))
    events = [json.loads(line) for line in (job / "events.jsonl").read_text().splitlines()]
    assert [one["reason"] for one in events if one["event"] == "save-failed"] == ["No space left on device"]
    assert outcome(job)["outcome"] == "finished"


def test_before_the_shift_ends_a_save_comes_without_a_notice(tmp_path: Path, job: Path) -> None:
    def sized(seconds: float) -> list[str]:
        (job / "shift.json").write_text(json.dumps({"version": 1, "ends_at": time.time() + seconds}))
        root = tmp_path / str(seconds)
        run = run_of(root, steps=12)
        run._clock.step_s = 0.3
        train(run, lambda _run: time.sleep(0.02))
        return [json.loads(line)["event"] for line in (job / "events.jsonl").read_text().splitlines()]

    far, near = sized(3600.0).count("saved"), sized(8.0).count("saved")
    assert (far, near) == (1, 1 + 1 + 1), "only the last step, then besides one inside the guard"


def test_a_notice_heard_aside_of_training_is_followed_at_the_steps_end(tmp_path: Path, job: Path) -> None:
    run = run_of(tmp_path / "ck", steps=200)
    run._clock.step_s = 0.001  # fast steps: the ranks ask each other seldom

    def evaluate(run: Run) -> None:
        if run.step == 4:
            (job / "drain").touch()
            assert run.ending()

    with pytest.raises(Drained):
        train(run, evaluate)
    assert outcome(job)["step"] == 5


def test_a_state_that_is_no_good_is_not_saved(tmp_path: Path, job: Path) -> None:
    def refuse() -> None:
        raise TrainingError("the weights are nan")

    run = run_of(tmp_path / "ck", before_save=refuse)
    with pytest.raises(TrainingError, match="nan"):
        train(run)
    assert list((tmp_path / "ck").glob("*step-*")) == []


def test_the_last_words_come_when_the_step_is_saved_and_before_the_outcome(tmp_path: Path, job: Path) -> None:
    said: list[object] = []

    def speak() -> None:
        said.append(((tmp_path / "ck" / "step-000006").is_dir(), (job / "outcome.json").exists()))
        run.note("shift", achieved="much")
        raise RuntimeError("no more")

    run = run_of(tmp_path / "ck", last_words=speak)
    train(run)
    assert said == [(True, False)]
    events = [json.loads(line) for line in (job / "events.jsonl").read_text().splitlines()]
    assert [one["event"] for one in events] == ["saved", "shift", "last-words-failed", "finished"]
    assert outcome(job)["outcome"] == "finished"


def test_a_runs_time_is_accounted_for(tmp_path: Path) -> None:
    run = run_of(tmp_path, save_every_steps=2)
    train(run, lambda _run: time.sleep(0.01))
    ledger = run.ledger
    assert ledger.steps == 6
    assert ledger.saving_s > 0
    parts = ledger.restart_s + ledger.input_s + ledger.saving_s + ledger.agreeing_s + ledger.training_s
    assert parts == pytest.approx(ledger.total_s, rel=0.05)


def test_progress_is_told(tmp_path: Path, job: Path) -> None:
    train(run_of(tmp_path / "ck"))
    said = json.loads((job / "progress.json").read_text())
    assert (said["step"], said["total"], said["position"], said["version"]) == (1, 6, 4, 1)


@given(st.binary(max_size=200))
def test_whatever_stands_in_the_agents_files_a_notice_is_a_notice(raw: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        for file in ("drain", "shift.json"):
            (Path(name) / file).write_bytes(raw)
        assert Job(Path(name)).drain() is not None
        assert isinstance(Job(Path(name)).shift(), Shift)


def test_the_agents_words_are_read(tmp_path: Path) -> None:
    job = Job(tmp_path)
    assert (job.drain(), job.shift()) == (None, Shift())
    (tmp_path / "drain").write_text('{"version": 1, "reason": "spot", "by": 12.5}')
    (tmp_path / "shift.json").write_text('{"version": 1, "ends_at": 99, "mean_between_losses_s": null}')
    assert (job.drain(), job.shift()) == (Drain("spot", 12.5), Shift(99.0, None))


def test_nobody_asks_outside_of_a_node() -> None:
    assert Notice(Job(None)).seen() is None


def test_one_word_is_agreed_on() -> None:
    alone = Team()
    assert not agree(alone, drain=False, busy=False, due=False, step_s=1.0).drain
    assert agree(alone, drain=True, busy=True, due=True, step_s=1.0).drain
    assert not agree(alone, drain=False, busy=True, due=True, step_s=1.0).save
    assert agree(alone, drain=False, busy=False, due=True, step_s=0.001).ask_in == 64
