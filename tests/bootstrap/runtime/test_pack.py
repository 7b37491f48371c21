"""A pack is the same bytes for the same content, and nothing but the whole and unchanged one is unpacked."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bootstrap.runtime.pack import Spoiled, pack, pack_size, parts
from bootstrap.runtime.seal import MTIME, NAME, File, Seal
from bootstrap.runtime.tree import verify
from bootstrap.runtime.unpack import BadPack, unpack
from tests.bootstrap.runtime.support.trees import FILES, LINKS, plant


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Seal, bytes]:
    tree = tmp_path_factory.mktemp("made") / "tree"
    seal = plant(tree, "an-id")
    return seal, b"".join(pack(tree, seal))


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder that doesn't exist yet, each time it's asked for."""
    return (tmp_path_factory.mktemp("out") / "tree" for _ in range(1_000_000))


def unpacked(data: bytes, tree: Path, wanted: str = "an-id", step: int = 777) -> Seal:
    pieces = (data[at : at + step] for at in range(0, len(data), step))
    return unpack(pieces, tree, wanted, lambda seal: None, lambda count: None)


def test_what_was_packed_comes_back_sealed(packed: tuple[Seal, bytes], tmp_path: Path) -> None:
    seal, data = packed
    assert unpacked(data, tmp_path / "tree") == seal
    assert verify(tmp_path / "tree", seal, full=True) == ()
    assert (tmp_path / "tree" / "bin/python").readlink() == Path("python3.12")


def test_its_size_is_known_before(packed: tuple[Seal, bytes]) -> None:
    assert pack_size(packed[0]) == len(packed[1])


def test_any_tar_reads_it_and_its_owner_and_time_are_nobody_s(packed: tuple[Seal, bytes]) -> None:
    with tarfile.open(fileobj=io.BytesIO(packed[1])) as archive:
        members = archive.getmembers()
    assert [each.name for each in members] == [NAME, *sorted(FILES), *sorted(LINKS)]
    assert {(each.uid, each.gid, each.uname, each.mtime) for each in members} == {(0, 0, "", MTIME)}


def test_the_same_content_elsewhere_is_the_same_bytes(packed: tuple[Seal, bytes], tmp_path: Path) -> None:
    tree = tmp_path / "elsewhere" / "tree"
    backwards = dict(reversed(FILES.items()))
    seal = plant(tree, "an-id", {**backwards})
    for path, target in LINKS.items():
        (tree / path).symlink_to(target)
    whole = Seal(seal.id, seal.python, seal.files, tuple(sorted(LINKS.items())))
    assert b"".join(pack(tree, whole)) == packed[1]


def test_a_pack_cut_anywhere_is_bad(packed: tuple[Seal, bytes], fresh: Iterator[Path]) -> None:
    data = packed[1]
    end = len(data) - 1024
    for count in [*range(0, end, 509), end - 513]:
        with pytest.raises(BadPack):
            unpacked(data[:count], next(fresh))


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 1 << 20), st.integers(1, 255))
def test_a_changed_byte_is_noticed_or_changes_nothing(
    packed: tuple[Seal, bytes], fresh: Iterator[Path], place: int, change: int
) -> None:
    seal, whole = packed
    spoiled = bytearray(whole)
    spoiled[place % len(whole)] ^= change
    tree = next(fresh)
    try:
        assert unpacked(bytes(spoiled), tree) == seal
    except BadPack:
        return
    assert verify(tree, seal, full=True) == ()


def test_a_pack_of_something_else_is_bad(packed: tuple[Seal, bytes], tmp_path: Path) -> None:
    with pytest.raises(BadPack, match="is of an-id, not of another-id"):
        unpacked(packed[1], tmp_path / "tree", "another-id")


def test_nothing_is_written_outside_whatever_a_pack_says(tmp_path: Path) -> None:
    for name in ("../outside", "/tmp/outside-of-it", "a/../../outside"):
        seal = Seal("an-id", "3", (File("inside", 1, "0" * 64, False),), ())
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            for path, body in ((NAME, seal.to_json().encode()), (name, b"x")):
                member = tarfile.TarInfo(path)
                member.size = len(body)
                archive.addfile(member, io.BytesIO(body))
        tree = tmp_path / "deep" / name.replace("/", "_").replace(".", "_") / "tree"
        with pytest.raises(BadPack, match="isn't in its seal"):
            unpacked(buffer.getvalue(), tree)
    assert not list(tmp_path.rglob("outside*"))
    assert not Path("/tmp/outside-of-it").exists()


def test_a_file_twice_or_a_folder_in_its_place_is_bad(tmp_path: Path) -> None:
    files = (File("a", 1, "0" * 64, False), File("a/b", 1, "0" * 64, False))
    seal = Seal("an-id", "3", files, ())
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path, body in ((NAME, seal.to_json().encode()), ("a/b", b"x"), ("a", b"x")):
            member = tarfile.TarInfo(path)
            member.size = len(body)
            archive.addfile(member, io.BytesIO(body))
    with pytest.raises(BadPack):
        unpacked(buffer.getvalue(), tmp_path / "tree")


def test_room_is_asked_for_before_anything_is_written(packed: tuple[Seal, bytes], tmp_path: Path) -> None:
    def refuse(seal: Seal) -> None:
        assert seal.room > seal.size
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        unpack(iter([packed[1]]), tmp_path / "tree", "an-id", refuse, lambda count: None)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("change", ["longer", "shorter", "other"])
def test_what_changed_since_it_was_sealed_is_never_sent_whole(tmp_path: Path, change: str) -> None:
    seal = plant(tmp_path / "tree", "an-id")
    path = tmp_path / "tree" / "lib/libtorch.so"
    data = path.read_bytes()
    path.write_bytes({"longer": data + b"x", "shorter": data[:-1], "other": b"y" + data[1:]}[change])
    with pytest.raises(Spoiled, match=r"lib/libtorch\.so changed"):
        list(pack(tmp_path / "tree", seal))


@given(st.lists(st.binary(max_size=50), max_size=20), st.integers(1, 40))
def test_parts_are_the_same_bytes_all_of_one_size_but_the_last(pieces: list[bytes], size: int) -> None:
    found = list(parts(iter(pieces), size))
    assert b"".join(found) == b"".join(pieces)
    assert all(len(each) == size for each in found[:-1])
    assert all(0 < len(each) <= size for each in found)
