"""Real builds with the real uv, from wheels, an index and a CPython archive made here."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from bootstrap.runtime.seal import NAME, read_seal
from bootstrap.runtime.tree import verify
from tests.bootstrap.runtime.support import standin
from tests.bootstrap.runtime.support.index import Faults
from tests.bootstrap.runtime.support.lane import Lane, told

pytestmark = pytest.mark.node


@pytest.fixture
def made(built_lane: Lane) -> Generator[Lane]:
    """The lane with nothing wrong."""
    yield built_lane
    vars(built_lane.index.faults).update(vars(Faults()))


@pytest.fixture
def empty(made: Lane, tmp_path: Path) -> Lane:
    """The same things to build from, and nothing in the bucket."""
    for each in ("wheels", "lock.txt", "cpython.tar.gz", "cpythons.json"):
        (tmp_path / each).symlink_to(made.base / each)
    return replace(made, base=tmp_path)


def run(*command: object) -> str:
    return subprocess.run(
        [str(each) for each in command], check=True, capture_output=True, text=True
    ).stdout.strip()


def test_a_runtime_is_whole_runs_anywhere_and_refuses_pip(made: Lane, tmp_path: Path) -> None:
    first = made.folders(made.base / "first").tree
    moved = tmp_path / "moved here"
    shutil.copytree(first, moved, symlinks=True)
    for tree in (first, moved):
        python = tree / f"bin/python{standin.MINOR}"
        assert run(python, "-c", "import alpha, beta, sys; print(alpha.VALUE, sys.prefix)") == f"42 {tree}"
        assert run(tree / "bin/alpha-tool") == "42"
        assert (tree / f"lib/python{standin.MINOR}/EXTERNALLY-MANAGED").exists()
    text = (first / NAME).read_text(encoding="utf-8")
    assert verify(first, read_seal(text), full=True) == ()
    assert str(made.base / "first" / ".") not in (first / "bin/alpha-tool").read_text()


def test_importing_changes_nothing_that_is_sealed(made: Lane) -> None:
    tree = made.folders(made.base / "first").tree
    run(tree / f"bin/python{standin.MINOR}", "-O", "-c", "import alpha.tool, beta, json, decimal")
    assert made.make(made.base / "first")["how"] == "stood"


def test_two_builds_of_one_lock_hold_the_same_files(made: Lane, empty: Lane) -> None:
    """Compiled Python may differ in how often an object is shared, never in what it means."""
    again = empty.make(empty.base / "node")
    assert again["how"] == "built"
    seals = [
        read_seal((made.folders(root).tree / NAME).read_text(encoding="utf-8"))
        for root in (made.base / "first", empty.base / "node")
    ]
    sources = [{each for each in seal.files if _is_source(each.path)} for seal in seals]
    assert sources[0] == sources[1]
    names = [{each.path for each in seal.files} for seal in seals]
    assert names[0] == names[1]


def _is_source(path: str) -> bool:
    """But for what names the folder it was built for."""
    return not path.endswith(".pyc") and not path.rpartition("/")[2].startswith(
        ("_sysconfigdata", "Makefile")
    )


def test_the_next_node_unpacks_with_no_index_at_all(made: Lane, tmp_path: Path) -> None:
    made.index.faults.refuse = True
    asked = len(made.index.faults.asked)
    found = made.make(tmp_path / "node")
    assert (found["how"], found["notes"]) == ("unpacked", [])
    assert len(made.index.faults.asked) == asked
    assert run(found["python"], "-c", "import beta; print(beta.alpha.VALUE)") == "42"


def test_without_index_or_pack_the_reason_is_said_and_nothing_is_left(empty: Lane) -> None:
    empty.index.faults.refuse = True
    found = empty.make(empty.base / "node")
    assert found["how"] == "problem"
    assert "mirrors of both" in str(found["remedy"])
    assert [each.suffix for each in (empty.base / "node").iterdir()] == [".lock"]


def test_a_network_lost_in_the_midst_of_a_file_is_tried_again(empty: Lane) -> None:
    empty.index.faults.cut, empty.index.faults.times = 500_000, 1
    found = empty.make(empty.base / "node")
    assert found["how"] == "built"
    assert len([each for each in empty.index.faults.asked if "gamma-1.0" in each]) >= 2


def test_a_network_lost_for_good_is_said(empty: Lane) -> None:
    empty.index.faults.cut = 500_000
    found = empty.make(empty.base / "node")
    assert found["how"] == "problem"
    assert [each.suffix for each in (empty.base / "node").iterdir()] == [".lock"]


def test_a_build_that_takes_too_long_is_ended(empty: Lane) -> None:
    empty.index.faults.held = True
    found = empty.make(empty.base / "node", build_s=4.0)
    assert found["how"] == "problem"
    assert "not done after" in str(found["found"])


@pytest.mark.parametrize("what", ["wheel", "cpython"])
def test_other_bytes_than_the_pinned_ones_are_refused(empty: Lane, what: str) -> None:
    if what == "wheel":
        lock = (empty.base / "lock.txt").read_text(encoding="utf-8")
        (empty.base / "lock.txt").unlink()
        (empty.base / "lock.txt").write_text(lock[:-10] + "0123456789"[:9] + "\n", encoding="utf-8")
    else:
        (empty.base / "cpythons.json").unlink()
        (empty.base / "cpython.tar.gz").unlink()
        standin.table(empty.base, spoiled=True)
    found = empty.make(empty.base / "node")
    assert found["how"] == "problem"
    assert "ash mismatch" in str(found["found"])


def test_two_processes_of_one_node_make_it_once(empty: Lane) -> None:
    both = [empty.start(empty.base / "node") for _ in range(2)]
    found = [told(each) for each in both]
    assert sorted(str(each["how"]) for each in found) == ["built", "stood"]
    assert any("waiting for process" in line for each in found for line in each["said"])  # ty: ignore[not-iterable]


def test_two_nodes_build_at_once_and_one_pack_stays(empty: Lane) -> None:
    both = [empty.start(empty.base / name) for name in ("one", "two")]
    found = [told(each) for each in both]
    assert [each["how"] for each in found] == ["built", "built"]
    assert [each["notes"] for each in found] == [[], []]
    assert len(list((empty.base / "bucket").iterdir())) == 1
    third = empty.make(empty.base / "three")
    assert (third["how"], third["notes"]) == ("unpacked", [])


def test_who_waits_too_long_for_another_says_for_whom(empty: Lane) -> None:
    first = _held_up(empty)
    second = empty.make(empty.base / "node", wait_s=0.5)
    empty.index.faults.held = False
    assert f"process {first.pid}" in str(second["found"])
    assert told(first)["how"] == "built"


def test_a_killed_builder_s_uv_keeps_the_lock_until_it_is_done(empty: Lane) -> None:
    """Nobody begins anew beneath a command that still writes."""
    first = _held_up(empty)
    first.kill()
    first.communicate()
    second = empty.make(empty.base / "node", wait_s=0.3)
    empty.index.faults.held = False
    assert second["how"] == "problem"
    assert "or a child of its still at work" in str(second["found"])
    assert empty.make(empty.base / "node")["how"] == "built"


def _held_up(lane: Lane) -> subprocess.Popen[str]:
    """A node that waits for its wheels until `held` ends."""
    lane.index.faults.held = True
    began = len(lane.index.faults.asked)
    process = lane.start(lane.base / "node")
    while not [each for each in lane.index.faults.asked[began:] if "/files/" in each]:
        assert process.poll() is None
        time.sleep(0.02)
    return process
