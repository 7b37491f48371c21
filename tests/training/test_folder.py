"""Which checkpoints are whole, which go, and what a killed run leaves."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightshift.training import manifest
from nightshift.training.files import replace
from nightshift.training.folder import Folder, Lock, name_of
from nightshift.training.manifest import Manifest, entry_of


def written(folder: Folder, step: int, content: bytes = b"weights") -> Path:
    draft = folder.draft(step)
    draft.mkdir()
    for name in ("data", manifest.INDEX, manifest.EXTRA):
        (draft / name).write_bytes(content)
    listing = Manifest(step, step * 8, 1, 0.0, {path.name: entry_of(path) for path in draft.iterdir()}, {})
    (draft / manifest.NAME).write_text(listing.to_json())
    return folder.commit(draft, step)


def test_the_newest_whole_one_is_found_and_latest_names_it(tmp_path: Path) -> None:
    folder = Folder(tmp_path, 3)
    for step in (5, 20, 1000000):
        written(folder, step)
    found = folder.find()
    assert (found.step, found.broken) == (1000000, ())
    assert (tmp_path / "latest").read_text() == "step-1000000\n"


@pytest.mark.parametrize("harm", ["truncated", "flipped", "gone", "no manifest", "torn manifest", "list"])
def test_a_damaged_one_is_passed_over_with_the_reason(tmp_path: Path, harm: str) -> None:
    folder = Folder(tmp_path, 3)
    written(folder, 1)
    newest = written(folder, 2)
    data, listing = newest / "data", newest / manifest.NAME
    match harm:
        case "truncated":
            os.truncate(data, 3)
        case "flipped":
            data.write_bytes(b"weighty")
        case "gone":
            data.unlink()
        case "no manifest":
            listing.unlink()
        case "torn manifest":
            os.truncate(listing, 40)
        case "list":
            listing.write_text("[]")
    found = folder.find()
    assert found.step == 1
    assert [path.name for path, why in found.broken if why] == ["step-000002"]
    assert bool(manifest.faults(newest, hashes=False)) is (harm != "flipped"), "sizes only is the quick look"


@given(st.text() | st.binary().map(lambda raw: raw.decode("latin-1")))
def test_any_text_is_a_manifest_or_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        manifest.parse(text)


def test_only_the_newest_stay_except_what_is_held(tmp_path: Path) -> None:
    folder = Folder(tmp_path, 2)
    for step in (1, 2, 3, 4):
        written(folder, step)
    assert folder.prune(frozenset({name_of(1)})) == ("step-000002",)
    assert [path.name for path in folder.all()] == ["step-000004", "step-000003", "step-000001"]


def test_a_start_sweeps_what_a_killed_run_left_and_nothing_else(tmp_path: Path) -> None:
    folder = Folder(tmp_path, 2)
    written(folder, 1)
    (tmp_path / "notes").mkdir()
    for name in (".saving-step-000002", ".dropping-step-000000", ".broken-step-000001"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "part").touch()
    (tmp_path / ".latest.77.part").touch()
    assert len(folder.sweep()) == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["latest", "notes", "step-000001"]


def test_a_broken_one_set_aside_makes_room_for_its_step(tmp_path: Path) -> None:
    folder = Folder(tmp_path, 2)
    path = written(folder, 1)
    (path / "data").unlink()
    folder.set_aside(path)
    written(folder, 1)
    assert folder.find().step == 1


def test_the_lock_is_free_once_released(tmp_path: Path) -> None:
    first = Lock(tmp_path)
    assert (tmp_path / ".lock").read_text().strip() == str(os.getpid())
    first.release()
    Lock(tmp_path, wait_s=0).release()


def test_a_file_that_cannot_be_replaced_keeps_its_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "latest"
    replace(target, b"old")

    def refuse(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="No space"):
        replace(target, b"new")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("latest", b"old")]


@pytest.mark.parametrize(
    "listed",
    [
        '{"version": 1, "step": 2, "position": 16, "world": 1, "at": 0.0, "files": {}, "about": {}}',
        '{"version": 1, "step": 1e999, "position": 1, "world": 1, "at": 0.0, "files": {}, "about": {}}',
        "[" * 200_000,
        '{"version": 1, "step": 2, "position": 1, "world": 1, "at": 0, "about": {}, '
        '"files": {"a\\u0000": {"size": 1, "sha256": ""}}}',
        '{"version": 1, "step": 2, "position": 1, "world": 1, "at": 0, "about": {}, '
        '"files": {"../x": {"size": 1, "sha256": ""}}}',
    ],
    ids=["nothing listed", "infinite", "nested", "NUL", "elsewhere"],
)
def test_a_manifest_that_says_too_little_or_what_cannot_be_makes_none_whole(
    tmp_path: Path, listed: str
) -> None:
    folder = Folder(tmp_path, 3)
    written(folder, 1)
    (written(folder, 2) / manifest.NAME).write_text(listed)
    found = folder.find()
    assert (found.step, [path.name for path, _ in found.broken]) == (1, ["step-000002"])


def test_tensors_that_the_manifest_does_not_name_are_not_taken(tmp_path: Path) -> None:
    folder = Folder(tmp_path, 3)
    (written(folder, 2) / "__0_0.distcp").write_bytes(b"another run's")
    assert folder.find().broken == (
        (tmp_path / "step-000002", "__0_0.distcp: manifest.json doesn't name it"),
    )


def test_a_copy_under_another_steps_name_is_not_that_step(tmp_path: Path) -> None:
    folder = Folder(tmp_path, 3)
    shutil.copytree(written(folder, 20), tmp_path / "step-000099")
    found = folder.find()
    assert (found.step, found.broken[0][1]) == (20, "manifest.json: it is of step 20")


def test_a_pipe_in_the_place_of_a_manifest_is_not_waited_for(tmp_path: Path) -> None:
    folder = Folder(tmp_path, 3)
    listing = written(folder, 2) / manifest.NAME
    listing.unlink()
    os.mkfifo(listing)
    assert folder.find().broken[0][1] == "manifest.json is no file"


@pytest.mark.parametrize("error", [PermissionError(errno.EACCES, "no"), OSError(errno.EIO, "bad disk")])
def test_one_that_cannot_be_read_may_be_whole_and_is_not_called_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    folder = Folder(tmp_path, 3)
    written(folder, 1)
    newest = written(folder, 2)
    usual = manifest.sha256_of

    def refused(path: Path) -> str:
        if path.parent == newest:
            raise error
        return usual(path)

    monkeypatch.setattr(manifest, "sha256_of", refused)
    found = folder.find()
    assert (found.step, found.broken, [path for path, _ in found.unknown]) == (1, (), [newest])
