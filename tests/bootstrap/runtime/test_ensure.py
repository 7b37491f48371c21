"""What ensure decides: take it, let it stand, unpack it, build it; nothing half done is ever taken."""

from __future__ import annotations

import errno
import functools
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bootstrap.runtime import obtain
from bootstrap.runtime.build import Site
from bootstrap.runtime.ensure import Installed, RuntimePlace, ensure, ensure_preset
from bootstrap.runtime.mark import read_mark
from bootstrap.runtime.pack import pack
from bootstrap.runtime.prefetch import fetched
from bootstrap.runtime.presets import Preset
from bootstrap.runtime.problem import RuntimeProblem
from bootstrap.runtime.seal import Seal
from bootstrap.runtime.standing import Folders
from bootstrap.runtime.store import StoreError
from tests.bootstrap.runtime.support.folder_store import FolderStore, refuses
from tests.bootstrap.runtime.support.trees import plant, small_preset

WANTED = small_preset()


@dataclass
class Bench:
    """A node with a bucket, whose builds are planted."""

    root: Path
    store: FolderStore
    said: list[str] = field(default_factory=list)
    builds: int = 0
    beat: Callable[[], None] = lambda: None
    building: Callable[[], None] = lambda: None

    @property
    def folders(self) -> Folders:
        return Folders(self.root, self.root, WANTED.id)

    @property
    def pack(self) -> Path:
        return self.store.path(WANTED.key)

    def ensure(self, with_store: bool = True) -> Installed:
        place = RuntimePlace(self.root, wait_s=0.0, patience_s=0.0, flush="now")
        store = self.store if with_store else None
        return ensure_preset(WANTED, place, store, self.said.append, self.beat)

    def build(self, preset: Preset, site: Site) -> Seal:
        self.builds += 1
        seal = plant(site.work / "tree", preset.id)
        self.building()
        return seal

    def names(self) -> set[str]:
        """What lies in the folder of runtimes, but for locks."""
        return {path.name for path in self.root.iterdir() if path.suffix != ".lock"}


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    made = Bench(tmp_path / "runtimes", FolderStore(tmp_path / "bucket"))
    monkeypatch.setattr(obtain, "build", made.build)
    monkeypatch.setattr("bootstrap.runtime.problem.shutil.disk_usage", lambda path: Room(1 << 40))
    return made


@dataclass(frozen=True)
class Room:
    """What disk_usage answers."""

    free: int


def stored(bench: Bench) -> bytes:
    """Put a good pack into the bucket."""
    tree = bench.store.folder / "made"
    data = b"".join(pack(tree, plant(tree, WANTED.id)))
    bench.pack.write_bytes(data)
    shutil.rmtree(tree)
    return data


def test_the_first_node_builds_and_keeps_a_pack_and_the_next_unpacks_it(bench: Bench, tmp_path: Path) -> None:
    first = bench.ensure()
    assert (first.how, bench.builds, bench.pack.exists()) == ("built", 1, True)
    other = Bench(tmp_path / "other node", bench.store)
    second = other.ensure()
    assert (second.how, other.builds) == ("unpacked", 0)
    assert second.python.read_bytes() == first.python.read_bytes()
    assert set(second.seconds) == {"verify", "unpack", "flush"}
    assert other.names() == {WANTED.id, f"{WANTED.id}.json"}


def test_what_stands_is_left_as_it_is(bench: Bench) -> None:
    bench.ensure()
    before = bench.folders.mark.read_bytes()
    again = bench.ensure()
    assert (again.how, again.notes, bench.builds) == ("stood", (), 1)
    assert bench.folders.mark.read_bytes() == before


def test_a_folder_without_its_mark_is_worth_nothing(bench: Bench) -> None:
    stored(bench)
    plant(bench.folders.tree, WANTED.id)
    made = bench.ensure()
    assert made.how == "unpacked"
    assert "expected a mark that it's whole, found none" in made.notes[0]


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda tree: (tree / "lib/libtorch.so").unlink(), "lib/libtorch.so: expected a file of 10240"),
        (lambda tree: (tree / "lib/libtorch.so").write_bytes(bytes(10240)), "changed at"),
        (lambda tree: (tree / "runtime.json").write_text("{}"), "the seal that the mark names"),
        (lambda tree: (tree / "runtime.json").unlink(), "No such file"),
        (
            lambda tree: (tree / "lib/sitecustomize.py").write_text("x"),
            "sitecustomize.py: expected nothing",
        ),
        (lambda tree: shutil.rmtree(tree), "No such file"),
        (lambda tree: (tree / "bin/python3.12").chmod(0o644), "expected an executable file"),
    ],
    ids=["gone", "changed", "seal", "no seal", "planted", "folder gone", "mode"],
)
def test_damage_is_noticed_said_and_mended(bench: Bench, spoil: Callable[[Path], None], says: str) -> None:
    bench.ensure()
    spoil(bench.folders.tree)
    made = bench.ensure()
    assert (made.how, bench.builds) == ("unpacked", 1)
    assert says in made.notes[0]
    assert made.notes[0] in " ".join(bench.said)
    assert bench.ensure().how == "stood"


def test_a_bad_pack_is_read_twice_then_built_and_replaced(bench: Bench) -> None:
    good = stored(bench)
    bench.pack.write_bytes(good[:-5000])
    made = bench.ensure()
    assert (made.how, bench.builds, len(made.notes)) == ("built", 1, 2)
    assert "is bad: " in made.notes[0]
    assert bench.pack.read_bytes() == good


def test_a_pack_that_was_only_read_badly_is_unpacked(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    stored(bench)
    whole, reads = FolderStore.read, list[int]()

    def once_bad(self: FolderStore, *given: object) -> bytes:
        reads.append(1)
        data = whole(self, *given)  # ty: ignore[invalid-argument-type]
        return data if len(reads) > 1 else data[:4000] + b"?" + data[4001:]

    monkeypatch.setattr(FolderStore, "read", once_bad)
    made = bench.ensure()
    assert (made.how, bench.builds, len(made.notes)) == ("unpacked", 0, 1)


def test_a_bucket_out_of_reach_costs_time_and_no_boot(bench: Bench, tmp_path: Path) -> None:
    bench.store = FolderStore(tmp_path / "bucket", refuses)
    made = bench.ensure()
    assert made.how == "built"
    assert made.notes == (
        "the pack can't be fetched: the network is unreachable",
        "the pack isn't kept: the network is unreachable",
    )


def test_a_network_lost_midway_leaves_nothing_half(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    stored(bench)
    monkeypatch.setattr(obtain, "fetched", functools.partial(fetched, chunk=2048, ahead=2))

    def lost(reads: int) -> None:
        if reads >= 3:
            raise StoreError("connection reset")

    bench.store = FolderStore(bench.store.folder, lost)
    made = bench.ensure()
    assert made.how == "built"
    assert "connection reset" in made.notes[0]
    assert bench.names() == {WANTED.id, f"{WANTED.id}.json"}


def test_a_pack_not_kept_by_a_builder_that_died_is_kept_by_its_next_start(bench: Bench) -> None:
    bench.ensure(with_store=False)
    assert not bench.pack.exists()
    made = bench.ensure()
    assert (made.how, bench.pack.exists()) == ("stood", True)


def test_another_node_that_was_first_is_no_fault(bench: Bench) -> None:
    def first() -> None:
        stored(bench)

    bench.building = first
    made = bench.ensure()
    assert (made.how, made.notes) == ("built", ())
    assert any("another node was first" in each for each in bench.said)


def test_too_little_room_is_said_before_writing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bootstrap.runtime.problem.shutil.disk_usage", lambda path: Room(200 << 20))
    for fill in (lambda: None, lambda: stored(bench)):
        fill()
        with pytest.raises(RuntimeProblem, match=r"MiB free for a runtime in .*, found 200 MiB; .*root_gib"):
            bench.ensure()
        assert bench.names() == set()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_disk_that_fills_up_ends_it_cleanly(bench: Bench, code: int) -> None:
    def fill() -> None:
        raise OSError(code, "full")

    bench.building = fill
    with pytest.raises(RuntimeProblem, match="found the disk full, "):
        bench.ensure()
    assert bench.names() == set()


def test_a_disk_that_fails_is_said(bench: Bench) -> None:
    def fail() -> None:
        raise OSError(errno.EIO, "Input/output error")

    bench.building = fail
    with pytest.raises(RuntimeProblem, match=r"Input/output error; see the disk"):
        bench.ensure()


def test_what_the_heartbeat_raises_ends_it_and_nothing_is_left(bench: Bench) -> None:
    def drain() -> None:
        raise KeyboardInterrupt

    stored(bench)
    bench.beat = drain
    with pytest.raises(KeyboardInterrupt):
        bench.ensure()
    assert bench.names() == set()


def test_what_killed_processes_left_is_removed(bench: Bench) -> None:
    bench.root.mkdir()
    for name in (f".{WANTED.id}.partial", f".{WANTED.id}.scratch", ".older-x86_64.partial"):
        (bench.root / name / "deep").mkdir(parents=True)
    bench.ensure()
    assert bench.names() == {WANTED.id, f"{WANTED.id}.json"}


def test_after_a_crash_of_the_machine_unflushed_files_are_read_in_full(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.ensure()
    mark = read_mark(bench.folders.mark)
    assert mark is not None
    assert mark.flushed
    bench.folders.mark.write_text(bench.folders.mark.read_text().replace("true", "false"))
    monkeypatch.setattr("bootstrap.runtime.ensure.boot_id", lambda: "another boot")
    path = bench.folders.tree / "lib/python3.12/site-packages/torch/__init__.py"
    seen = path.stat()
    path.write_bytes(bytes(seen.st_size))
    os.utime(path, ns=(seen.st_mtime_ns, seen.st_mtime_ns))
    made = bench.ensure()
    assert made.how == "unpacked"
    assert "torch/__init__.py: expected sha256" in made.notes[0]


def test_a_given_interpreter_is_taken_as_it_is_or_refused(tmp_path: Path) -> None:
    python = tmp_path / "bin" / "python3"
    python.parent.mkdir()
    place = RuntimePlace(tmp_path / "runtimes", given=python)
    with pytest.raises(RuntimeProblem, match="NIGHTSHIFT_RUNTIME_PYTHON"):
        ensure("cpu", "x86_64", place, None, print, lambda: None)
    python.touch(0o755)
    taken = ensure("cpu", "x86_64", place, None, print, lambda: None)
    assert (taken.how, taken.python, taken.lock) == ("given", python, "")
    assert not (tmp_path / "runtimes").exists()


def test_another_architecture_s_runtime_is_never_made_here(tmp_path: Path) -> None:
    other = "arm64" if WANTED.arch == "x86_64" else "x86_64"
    with pytest.raises(RuntimeProblem, match=f"a machine of {other}"):
        ensure("cpu", other, RuntimePlace(tmp_path), None, print, lambda: None)
