"""`python -m bootstrap runtime`: what stands is proven, what doesn't is said, and the exit code tells."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from bootstrap.runtime import command
from bootstrap.runtime.mark import Mark, boot_id, write_mark
from bootstrap.runtime.presets import preset
from bootstrap.runtime.seal import digest_of
from bootstrap.runtime.standing import Folders
from tests.bootstrap.runtime.support.trees import plant, small_preset


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_parser(parser.add_subparsers(dest="verb", required=True))
    return parser.parse_args(["runtime", *words])


@pytest.fixture
def standing(tmp_path: Path) -> Folders:
    wanted = preset("cpu", small_preset().arch)
    folders = Folders(tmp_path, tmp_path, wanted.id)
    seal = plant(folders.tree, wanted.id)
    write_mark(folders.mark, Mark(digest_of(seal.to_json()), "built", boot_id(), flushed=True))
    return folders


def test_one_that_stands_is_proven(standing: Folders, capsys: pytest.CaptureFixture[str]) -> None:
    for full, how in (((), "sizes, times and libraries"), (("--full",), "every byte")):
        assert command.main(parsed("verify", "--folder", str(standing.root), "--preset", "cpu", *full)) == 0
        assert capsys.readouterr().out == f"{standing.tree}: 4 files as sealed ({how})\n"


def test_a_damaged_one_is_named_file_by_file_and_left(
    standing: Folders, capsys: pytest.CaptureFixture[str]
) -> None:
    (standing.tree / "lib/libtorch.so").unlink()
    assert command.main(parsed("verify", "--folder", str(standing.root), "--preset", "cpu")) == 1
    told = capsys.readouterr().err
    assert "lib/libtorch.so: expected a file of 10240 bytes, found nothing" in told
    assert "1 damaged; `python -m bootstrap runtime build` makes it anew" in told
    assert standing.tree.exists()


def test_one_that_is_not_there_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(parsed("verify", "--folder", str(tmp_path))) == 1
    assert "found nothing; `python -m bootstrap runtime build` makes it" in capsys.readouterr().err


def test_what_cannot_be_built_is_said_without_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert command.main(parsed("build", "--folder", str(tmp_path / "file"))) == 1
    assert "nightshift: runtime: expected to write in" in capsys.readouterr().err


def test_a_preset_that_is_not_is_refused_with_those_that_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed("build", "--preset", "torch-1")
    assert "torch-2.8-cu128" in capsys.readouterr().err
