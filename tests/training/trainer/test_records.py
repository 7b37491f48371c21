"""What is written of a run, and the line on a shift."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightshift.training import TrainingError
from nightshift.training.journal import Journal
from nightshift.training.trainer.records import METRICS, Records, last_step
from nightshift.training.trainer.summary import Achieved, spelled

QUIET = Journal(None, speaks=False)
SHIFT = Achieved(
    step=500,
    total=2000,
    steps=300,
    redone=12,
    images=307_200,
    seconds=3600.0,
    training_s=3400.0,
    restart_s=60.0,
    first_step_s=20.0,
    input_s=70.0,
    saving_s=40.0,
    agreeing_s=5.0,
    aside_s=25.0,
    images_per_s=90.0,
    mfu=0.41,
    first_loss=6.9,
    last_loss=4.25,
)


def test_a_folder_for_records_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "records").touch()
    with pytest.raises(TrainingError, match="records: the records' folder can't be made"):
        Records(tmp_path / "records", QUIET, step=0, tensorboard=False)


def test_a_board_that_cannot_be_opened_costs_the_board(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tensorboard").touch()
    records = Records(tmp_path, Journal(None), step=0, tensorboard=True)
    records.add(1, {"loss": 1.0})
    records.close()
    assert "no-tensorboard" in capsys.readouterr().err
    assert last_step(tmp_path / METRICS) == 1


def test_records_are_lines_of_json_and_events_of_tensorboard(tmp_path: Path) -> None:
    records = Records(tmp_path, QUIET, step=0, tensorboard=True)
    records.add(3, {"loss": 1.5, "mfu": None})
    records.add_shift({"steps": 3})
    records.close()
    (line,) = (tmp_path / METRICS).read_text().splitlines()
    assert {**json.loads(line), "at": 0} == {"at": 0, "step": 3, "loss": 1.5, "mfu": None}
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    assert events.Tags()["scalars"] == ["loss"]
    assert [(one.step, one.value) for one in events.Scalars("loss")] == [(3, 1.5)]


def test_without_tensorboard_the_lines_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    records = Records(tmp_path, QUIET, step=0, tensorboard=True)
    records.add(1, {"loss": 1.0})
    records.close()
    assert last_step(tmp_path / METRICS) == 1


def test_steps_that_are_done_again_are_counted(tmp_path: Path) -> None:
    first = Records(tmp_path, QUIET, step=0, tensorboard=False)
    for step in (20, 40):
        first.add(step, {"loss": 1.0})
    with (tmp_path / METRICS).open("a") as stream:
        stream.write('{"step": 6')
    assert Records(tmp_path, QUIET, step=25, tensorboard=False).redone == 15
    assert Records(tmp_path, QUIET, step=60, tensorboard=False).redone == 0


def test_a_full_disk_costs_a_record_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = Records(tmp_path / "r", Journal(None), step=0, tensorboard=False)
    (tmp_path / "r" / METRICS).mkdir()
    records.add(1, {"loss": 1.0})
    assert "record-not-written" in capsys.readouterr().err


@given(st.binary(max_size=300))
def test_whatever_stands_in_the_file_a_step_is_read(raw: bytes) -> None:
    import tempfile

    with tempfile.NamedTemporaryFile() as file:
        file.write(raw)
        file.flush()
        assert isinstance(last_step(Path(file.name)), int)


def test_a_shift_is_told_in_one_line() -> None:
    assert SHIFT.line() == (
        "1 h 0 min: 300 steps, step 500 of 2,000, 25.0% done; 307,200 images at 90.0/s, 41.0% MFU; "
        "loss 6.9 to 4.25; not training 5.6% of it: start 1 min 0 s, input 1 min 10 s, saving 45.0 s, "
        "evaluation 25.0 s; 12 steps done again; 4 h 56 min to go"
    )


def test_a_shift_that_did_nothing_is_told_too() -> None:
    nothing = replace(
        SHIFT,
        step=0,
        steps=0,
        redone=0,
        images=0,
        images_per_s=0.0,
        mfu=None,
        first_loss=None,
        last_loss=None,
    )
    assert "loss" not in nothing.line()
    assert "0 steps, step 0 of 2,000" in nothing.line()
    assert "nan" not in json.dumps(nothing.facts()).lower()


@given(st.floats(0, 1e7))
def test_any_time_is_spelled(seconds: float) -> None:
    assert spelled(seconds).count(" ") in (1, 3)
    assert "60 s" not in spelled(seconds)
