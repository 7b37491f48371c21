"""Compile modes side by side, from what the trainer recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nightshift.training.trainer import compare
from nightshift.training.trainer.compare import Row, main, summed, table


def recorded(folder: Path, rates: list[float], first_step_s: float) -> Path:
    folder.mkdir(parents=True)
    lines = [{"step": 1, "loss": 2.5}, *({"step": 5, "loss": 2.0, "images_per_s": one} for one in rates)]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    (folder / "shifts.jsonl").write_text(json.dumps({"first_step_s": first_step_s}) + "\n")
    return folder


def test_the_best_stretch_and_the_last_loss_count(tmp_path: Path) -> None:
    row = summed("default", recorded(tmp_path / "r", [90.0, 110.0, 100.0], 12.0))
    assert row == Row("default", first_step_s=12.0, images_per_s=110.0, loss=2.0)


def test_ratios_are_against_the_first_mode_and_a_failure_is_told() -> None:
    lines = table(
        [Row("off", 1.0, 100.0), Row("default", 60.0, 125.0, 0.4, 30.0, 2.0), Row("x", failed="no compiler")]
    ).splitlines()
    assert lines[1].split() == ["off", "1.0", "s", "100.0", "1.00", "-", "-", "-"]
    assert lines[2].split() == ["default", "60.0", "s", "125.0", "1.25", "40.0%", "30.0", "GiB", "2.0000"]
    assert lines[3].endswith("failed: no compiler")


def test_one_command_tries_each_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[tuple[str, tuple[str, ...]]] = []

    def tried(mode: str, flags: list[str], _base: Path) -> Row:
        seen.append((mode, tuple(flags)))
        return Row(mode, 1.0, 50.0, failed="x" if mode == "default" else None)

    monkeypatch.setattr(compare, "tried", tried)
    assert main(["--modes=off,default", "--model=vit-toy"]) == 1
    assert seen == [("off", ("--model=vit-toy",)), ("default", ("--model=vit-toy",))]
    said = json.loads(capsys.readouterr().out)
    assert [one["mode"] for one in said["modes"]] == ["off", "default"]


def test_an_unknown_mode_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--modes=fast"])
    assert "expected some of off, default" in capsys.readouterr().err
