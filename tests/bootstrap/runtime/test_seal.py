"""The seal: what is in it comes back, what leads out is refused, and any difference shows by name."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.runtime.mark import Mark, read_mark, trust, write_mark
from bootstrap.runtime.seal import (
    MTIME,
    NAME,
    File,
    Observed,
    Seal,
    SealError,
    differences,
    is_mapped,
    read_seal,
    to_read,
)
from bootstrap.runtime.standing import Folders

NAMES = st.text("abcXYZ09._-é ", min_size=1, max_size=8).filter(lambda name: name not in {".", ".."})
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join).filter(lambda path: path != NAME)
HASHES = st.text("0123456789abcdef", min_size=64, max_size=64)


@st.composite
def seals(draw: st.DrawFn) -> Seal:
    paths = sorted(draw(st.sets(PATHS, min_size=1, max_size=8)))
    split = draw(st.integers(1, len(paths)))
    files = tuple(
        File(path, draw(st.integers(0, 1 << 40)), draw(HASHES), draw(st.booleans())) for path in paths[:split]
    )
    return Seal("id", "3.12.1", files, tuple((path, "target") for path in paths[split:]))


def as_it_stands(seal: Seal) -> dict[str, Observed]:
    files = {each.path: Observed("file", each.size, MTIME, each.executable) for each in seal.files}
    return {**files, **{path: Observed("link", target=target) for path, target in seal.links}}


@given(seals())
def test_a_seal_comes_back_as_it_was(seal: Seal) -> None:
    assert read_seal(seal.to_json()) == seal


@given(seals())
def test_what_stands_as_sealed_has_no_damage(seal: Seal) -> None:
    assert differences(seal, as_it_stands(seal)) == ()


@given(seals(), st.data())
def test_one_change_is_named_and_nothing_else(seal: Seal, data: st.DataObject) -> None:
    standing = as_it_stands(seal)
    path = data.draw(st.sampled_from(sorted(standing)))
    found = standing[path]
    change = data.draw(st.sampled_from(["gone", "size", "time", "mode", "kind", "target"]))
    if change == "gone":
        del standing[path]
    elif change == "size":
        standing[path] = replace(found, size=found.size + 1)
    elif change == "time":
        standing[path] = replace(found, mtime=found.mtime + 1)
    elif change == "mode":
        standing[path] = replace(found, executable=not found.executable)
    elif change == "kind":
        standing[path] = Observed("other")
    else:
        standing[path] = Observed("link", target="elsewhere")
    assert [each.path for each in differences(seal, standing)] == [path]


@given(seals(), PATHS)
def test_a_file_that_nobody_sealed_is_named(seal: Seal, path: str) -> None:
    standing = as_it_stands(seal)
    if path in standing:
        return
    found = differences(seal, {**standing, path: Observed("file", 1, MTIME)})
    assert [each.path for each in found] == [path]


def test_what_python_writes_by_itself_is_no_damage() -> None:
    seal = Seal("id", "3.12.1", (File("a.py", 1, "0" * 64, False),), ())
    own = {"x/__pycache__/a.cpython-312.opt-1.pyc": Observed("file", 1, 5), NAME: Observed("file", 9, 9)}
    assert differences(seal, {**as_it_stands(seal), **own}) == ()
    planted = {"x/__pycache__/a.cpython-312.pyc": Observed("file", 1, 5)}
    assert len(differences(seal, {**as_it_stands(seal), **planted})) == 1


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", "a//b", "", ".", "a/.", "a\0b", NAME])
def test_a_path_that_leads_out_is_no_seal(path: str) -> None:
    text = Seal("id", "3.12.1", (File(path, 1, "0" * 64, False),), ()).to_json()
    with pytest.raises(SealError):
        read_seal(text)


@pytest.mark.parametrize(
    ("path", "target", "good"),
    [
        ("bin/python", "python3.12", True),
        ("lib/x", "../bin/y", True),
        ("x", "../y", False),
        ("lib/x", "/usr/lib/x", False),
        ("lib/x", "../../y", False),
        ("lib/x", "a/../../../y", False),
        ("lib/x", "", False),
    ],
)
def test_a_link_stays_inside(path: str, target: str, good: bool) -> None:
    text = Seal("id", "3.12.1", (File("f", 1, "0" * 64, False),), ((path, target),)).to_json()
    if good:
        assert read_seal(text).links == ((path, target),)
        return
    with pytest.raises(SealError, match="leads out"):
        read_seal(text)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda some: st.lists(some) | st.dictionaries(st.text(max_size=5), some),
    )
)
def test_no_text_but_a_seal_is_taken_for_one(value: object) -> None:
    with pytest.raises(SealError):
        read_seal(json.dumps(value))


def test_one_path_twice_or_another_version_is_no_seal() -> None:
    twice = Seal("id", "3", (File("a", 1, "0" * 64, False),), (("a", "b"),))
    with pytest.raises(SealError, match="twice"):
        read_seal(twice.to_json())
    newer = json.loads(twice.to_json())
    newer["seal"]["version"] = 2
    with pytest.raises(SealError, match="version 2, this release reads 1"):
        read_seal(json.dumps(newer))


@given(seals(), st.integers(0, 1 << 20), st.integers(1, 255))
def test_any_changed_byte_of_a_seal_is_noticed(seal: Seal, place: int, change: int) -> None:
    data = bytearray(seal.to_json().encode())
    data[place % len(data)] ^= change
    try:
        assert read_seal(data.decode("utf-8", "replace")) == seal
    except SealError:
        return


def test_libraries_and_the_interpreter_are_read_quickly_and_everything_in_full() -> None:
    paths = ("bin/python3.12", "lib/libc10.so", "nvidia/lib/libnccl.so.2", "torch/__init__.py", "a.sofa")
    seal = Seal("id", "3", tuple(File(path, 1, "0" * 64, False) for path in paths), ())
    assert [each.path for each in to_read(seal, full=False)] == list(paths[:3])
    assert [each.path for each in to_read(seal, full=True)] == list(paths)
    assert not is_mapped("lib/x.sofa/y.py")


def test_after_a_crash_of_the_machine_every_byte_is_read_unless_it_was_flushed() -> None:
    mark = Mark("s", "built", "boot-1", flushed=False)
    assert trust(None, "boot-1") == "none"
    assert trust(mark, "boot-1") == "quick"
    assert trust(mark, "boot-2") == "full"
    assert trust(replace(mark, flushed=True), "boot-2") == "quick"


@given(st.binary(max_size=200))
def test_no_bytes_but_a_mark_are_taken_for_one(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("mark") / "mark.json"
    path.write_bytes(data)
    assert read_mark(path) is None


def test_a_mark_comes_back_and_one_cut_short_does_not(tmp_path_factory: pytest.TempPathFactory) -> None:
    folders = Folders(tmp_path_factory.mktemp("root"), tmp_path_factory.mktemp("spare"), "some-id")
    mark = Mark("s" * 64, "unpacked", "boot", flushed=True)
    write_mark(folders.mark, mark)
    assert read_mark(folders.mark) == mark
    text = folders.mark.read_bytes()
    for count in range(len(text) - 2):
        folders.mark.write_bytes(text[:count])
        assert read_mark(folders.mark) is None
