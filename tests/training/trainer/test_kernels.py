"""The pack of compiled kernels: whole or not used, and never the run's trouble."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch._inductor import config as inductor

from nightshift.training.trainer.compiling import FOLDER, HEADERS, CompileCache, key, named, packed, unpack

AHEAD = "cpp_cache_precompile_headers"


@pytest.fixture
def at(tmp_path: Path) -> CompileCache:
    return CompileCache.at(tmp_path / "volume", tmp_path / "scratch")


def compiled(cache: CompileCache, name: str, content: bytes = b"kernel") -> None:
    path = cache.place / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def later(at: CompileCache) -> CompileCache:
    """The next shift's, on a node with an empty disk."""
    if at._lock is not None:
        os.close(at._lock)
    return CompileCache(at.pack, at.place.parent.parent / "other" / at.place.name)


def test_what_one_shift_compiled_the_next_one_has(at: CompileCache) -> None:
    assert at.open() == "cold: none kept yet"
    compiled(at, "ab/kernel.so")
    compiled(at, "locks/x.lock")
    assert at.keep() > 0
    assert at.keep() == 0, "nothing new"
    again = later(at)
    assert again.open() == "warm"
    assert [path.name for path in again.place.rglob("*") if path.is_file()] == ["kernel.so"]


def test_what_a_killed_launch_left_on_the_node_is_not_used(at: CompileCache) -> None:
    at.open()
    compiled(at, "torn.so")
    if at._lock is not None:
        os.close(at._lock)
    same = CompileCache(at.pack, at.place)
    assert same.open() == "cold: none kept yet"
    assert list(same.place.iterdir()) == []


@given(data=st.data())
def test_a_pack_with_any_harm_is_refused_whole(data: st.DataObject) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        source, target = Path(name) / "a", Path(name) / "b"
        source.mkdir()
        target.mkdir()
        (source / "kernel").write_bytes(b"x" * 50)
        raw = bytearray(packed(source, [Path("kernel")]))
        if data.draw(st.booleans()):
            raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
        else:
            raw = raw[: data.draw(st.integers(0, len(raw) - 1))]
        try:
            unpack(bytes(raw), target)
        except ValueError:
            assert list(target.iterdir()) == []
        else:
            assert (target / "kernel").read_bytes() == b"x" * 50, "the harm was in a blank of the head"


def test_a_corrupt_pack_begins_cold_and_is_replaced(at: CompileCache) -> None:
    at.open()
    compiled(at, "kernel.so")
    at.keep()
    at.pack.write_bytes(at.pack.read_bytes()[:-5])
    again = later(at)
    assert again.open() == f"cold: {at.pack.name}: its content is not what was written"
    compiled(again, "kernel.so")
    assert again.keep() > 0
    assert later(again).open() == "warm"


def test_a_second_run_on_the_node_keeps_to_itself(at: CompileCache, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    def taken(*_: object) -> None:
        raise BlockingIOError

    monkeypatch.setattr(fcntl, "lockf", taken)
    usual = at.place
    assert at.open() == "cold: another run on this node uses the folder"
    assert at.place != usual
    assert at.place.is_dir()
    compiled(at, "kernel.so")
    assert at.keep() == 0


def test_torch_is_told_where(at: CompileCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER, "")
    monkeypatch.setenv(HEADERS, "as it is")
    at.use()
    assert os.environ[FOLDER] == str(at.place)


@pytest.mark.skipif(not hasattr(inductor, AHEAD), reason="this torch compiles no headers ahead")
@pytest.mark.parametrize(("told", "ahead"), [(None, False), ("1", True)])
def test_headers_are_not_compiled_ahead_unless_asked_for(
    at: CompileCache, monkeypatch: pytest.MonkeyPatch, told: str | None, ahead: bool
) -> None:
    monkeypatch.setenv(FOLDER, "")
    if told is None:
        monkeypatch.delenv(HEADERS, raising=False)
    else:
        monkeypatch.setenv(HEADERS, told)
    with inductor.patch({AHEAD: True}):
        at.use()
        assert getattr(inductor, AHEAD) is ahead


def test_the_name_tells_versions_and_processors_apart() -> None:
    assert key() == key()
    assert named("torch 2.15.0+cu132", "NVIDIA H200") != named("torch 2.15.0+cu132", "NVIDIA H100")
    assert named("torch 2.15.0+cu132", "H200").startswith("torch-2.15.0-cu132-h200-")
    assert len(named("x" * 500)) < 160
