"""Locks and the catalog say the same, and a lock names bytes, never a place."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bootstrap.artifact import OWN
from bootstrap.runtime.presets import LOCKS, PYTHONS, UV, UV_LOCK, arches, lock_file, locks, pins, preset
from bootstrap.runtime.problem import RuntimeProblem
from bootstrap.runtime.relock import files, wanted
from nightshift.catalog.runtimes import NEWEST, RUNTIMES

ROOT = Path(__file__).parents[3]
EACH = [(name, arch) for name in RUNTIMES for arch in arches(name)]
REQUIREMENT = re.compile(r"[a-z0-9][a-z0-9.-]*==[0-9][a-z0-9.]*(?: ;[^\\]*)? \\")
HASH = re.compile(r"    --hash=sha256:[0-9a-f]{64}(?: \\)?")


@pytest.mark.parametrize(("name", "arch"), EACH)
def test_a_lock_pins_what_the_catalog_promises(name: str, arch: str) -> None:
    runtime, found = RUNTIMES[name], pins(preset(name, arch).lock)
    assert (found["torch"], found["torchvision"]) == (runtime.torch, runtime.torchvision)
    if runtime.cuda is None:
        return
    major = runtime.cuda.partition(".")[0]
    assert found[f"nvidia-cudnn-cu{major}"] == runtime.cudnn
    assert found[f"nvidia-nccl-cu{major}"] == runtime.nccl
    assert found["triton"] == runtime.triton
    cuda = found.get("nvidia-cuda-runtime", found.get(f"nvidia-cuda-runtime-cu{major}", ""))
    assert cuda.startswith(f"{runtime.cuda}.")


@pytest.mark.parametrize("path", sorted(LOCKS.glob("*.txt")), ids=lambda path: path.name)
def test_every_line_of_a_lock_is_a_version_or_a_hash(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not REQUIREMENT.fullmatch(line) and not HASH.fullmatch(line)] == []
    after = [lines[number + 1] for number, line in enumerate(lines) if "==" in line]
    assert all(HASH.fullmatch(line) for line in after)


def test_every_lock_file_belongs_to_a_preset_and_every_preset_has_one() -> None:
    needed = {lock_file(name, arch) for name in locks() for arch in arches(name)} | {UV_LOCK.name}
    assert needed == {path.name for path in LOCKS.glob("*.txt")}


@pytest.mark.parametrize("name", locks())
def test_all_that_was_asked_for_is_in_the_lock(name: str) -> None:
    asked = {line.partition("==")[0] for line in wanted(name).split()}
    assert asked <= pins(preset(name, "x86_64").lock).keys()


def test_the_pinned_uv_is_the_one_in_its_lock_and_the_one_of_the_checkout() -> None:
    assert pins(UV_LOCK.read_text(encoding="utf-8")) == {"uv": UV}
    assert pins((ROOT / "requirements" / "uv.txt").read_text(encoding="utf-8")) == {"uv": UV}


def test_every_python_of_the_catalog_has_its_patch_pinned() -> None:
    assert {runtime.python for runtime in RUNTIMES.values()} == PYTHONS.keys()
    assert RUNTIMES["torch-2.6-cu124"].python == "3.13"
    assert all(patch.startswith(f"{minor}.") for minor, patch in PYTHONS.items())


def test_the_locks_ride_in_the_node_s_artifact() -> None:
    assert LOCKS.relative_to(ROOT).parts[0] in OWN


def test_the_same_content_has_one_pack_for_all_presets_that_want_it() -> None:
    assert preset("cpu", "x86_64").key == preset(NEWEST, "x86_64").key
    keys = {preset(name, arch).key for name, arch in EACH}
    assert len(keys) == len(locks()) + 1, "one for each lock, and the newest one's for arm64"


def test_an_id_changes_with_lock_python_and_architecture() -> None:
    first = preset(NEWEST, "x86_64")
    others = [
        type(first)(first.name, first.arch, first.python, first.lock + "\n", first.room).id,
        type(first)(first.name, first.arch, "3.12.1", first.lock, first.room).id,
        preset(NEWEST, "aarch64").id,
    ]
    assert len({first.id, *others}) == 4
    assert re.fullmatch(r"runtimes/[0-9a-f]{20}-x86_64\.tar", first.key)


@pytest.mark.parametrize(
    ("name", "machine", "says"),
    [
        ("torch-9", "x86_64", "expected a runtime of torch-2.6-cu124, torch-2.8-cu128"),
        ("torch-2.6-cu124", "aarch64", "for arm64 without CUDA only"),
        (NEWEST, "riscv64", "found 'riscv64'"),
    ],
)
def test_what_cannot_be_had_is_said_with_a_way_out(name: str, machine: str, says: str) -> None:
    with pytest.raises(RuntimeProblem, match=re.escape(says)) as caught:
        preset(name, machine)
    assert caught.value.remedy


def test_architectures_share_a_lock_where_they_agree_and_have_their_own_where_not() -> None:
    assert files({"x86_64": "a", "arm64": "a"}, "some") == {"some.txt": "a"}
    assert files({"x86_64": "a"}, "some") == {"some.txt": "a"}
    assert files({"x86_64": "a", "arm64": "b"}, "some") == {"some-x86_64.txt": "a", "some-arm64.txt": "b"}


@pytest.mark.node
def test_the_pinned_uv_knows_the_pinned_pythons() -> None:
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    assert uv
    asked = [
        uv,
        "python",
        "list",
        "--offline",
        "--only-downloads",
        "--all-versions",
        "--all-arches",
    ]
    told = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
    names = {line.split()[0] for line in told.splitlines()}
    machines = {"x86_64": "x86_64", "arm64": "aarch64"}
    for name, arch in EACH:
        assert f"cpython-{preset(name, arch).python}-linux-{machines[arch]}-gnu" in names
