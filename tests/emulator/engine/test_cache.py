"""The cache of built programs: keyed by content, whole or not there."""

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from nightshift.emulator.engine import cache, modules, toolchain
from nightshift.emulator.engine.errors import ToolchainError


def _built(folder: Path) -> Path:
    with cache.replaced(folder) as fresh:
        (fresh / "pulumi").write_bytes(b"program")
        (fresh / "pulumi").chmod(0o755)
    return folder


def test_a_whole_folder_has_no_damage(tmp_path: Path) -> None:
    assert cache.damage(_built(tmp_path / "key")) is None


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (lambda f: (f / "pulumi").unlink(), "pulumi is missing"),
        (lambda f: (f / "pulumi").write_bytes(b"prog"), "4 bytes instead of 7"),
        (lambda f: (f / "pulumi").write_bytes(b"PROGRAM"), "has changed"),
        (lambda f: (f / "pulumi").chmod(0o644), "may not be executed"),
        (lambda f: (f / cache.MANIFEST).unlink(), "no manifest"),
        (lambda f: (f / cache.MANIFEST).write_text("{"), "cannot be read"),
        (lambda f: (f / cache.MANIFEST).write_text("[]"), "cannot be read"),
        (lambda f: (f / cache.MANIFEST).write_text('{"pulumi": {}}'), "cannot be read"),
    ],
)
def test_damage_is_named(tmp_path: Path, harm: Callable[[Path], object], told: str) -> None:
    folder = _built(tmp_path / "key")
    harm(folder)
    assert told in str(cache.damage(folder))


def test_a_touched_but_equal_file_is_no_damage(tmp_path: Path) -> None:
    folder = _built(tmp_path / "key")
    os.utime(folder / "pulumi", ns=(1, 1))
    assert cache.damage(folder) is None


def test_a_failed_build_leaves_the_old_folder_and_nothing_else(tmp_path: Path) -> None:
    folder = _built(tmp_path / "key")
    with pytest.raises(FileNotFoundError), cache.replaced(folder) as fresh:
        (fresh / "pulumi").joinpath("none").write_bytes(b"half")
    assert cache.damage(folder) is None
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


def test_two_at_once_build_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builds, waits = [], []

    def build(_programs: object, target: Path, _say: object) -> None:
        builds.append(target)
        threading.Event().wait(0.2)
        (target / "pulumi").write_bytes(b"x")
        (target / "pulumi").chmod(0o755)

    monkeypatch.setattr(toolchain.golang, "build_all", build)
    monkeypatch.setattr(toolchain.golang, "go_version", lambda: "go1.99.1")
    environment = {"NIGHTSHIFT_CACHE": str(tmp_path)}
    threads = [
        threading.Thread(target=lambda: toolchain.ensure_built(modules.PROGRAMS, waits.append, environment))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(builds) == 1
    assert any("waiting" in line for line in waits)


def test_a_damaged_build_is_told_and_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def build(_programs: object, target: Path, _say: object) -> None:
        (target / "pulumi").write_bytes(b"x")
        (target / "pulumi").chmod(0o755)

    monkeypatch.setattr(toolchain.golang, "build_all", build)
    monkeypatch.setattr(toolchain.golang, "go_version", lambda: "go1.99.1")
    environment = {"NIGHTSHIFT_CACHE": str(tmp_path)}
    folder = toolchain.ensure_built(modules.PROGRAMS, print, environment)
    (folder / "pulumi").write_bytes(b"y")
    said: list[str] = []
    assert toolchain.ensure_built(modules.PROGRAMS, said.append, environment) == folder
    assert any("pulumi has changed" in line for line in said)
    assert (folder / "pulumi").read_bytes() == b"x"


def test_without_go_a_whole_build_of_any_go_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain.golang, "go_version", lambda: None)
    environment = {"NIGHTSHIFT_CACHE": str(tmp_path)}
    with pytest.raises(ToolchainError, match="install Go"):
        toolchain.ensure_built(modules.PROGRAMS, print, environment)
    folder = _built(tmp_path / "engine" / f"{modules.build_key()}-go1.99.1")
    assert toolchain.ensure_built(modules.PROGRAMS, print, environment) == folder


def test_the_key_follows_the_content_of_the_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = modules.build_key()
    assert before == modules.build_key()
    assert before != modules.build_key((modules.BRIDGE,))
    copy = tmp_path / modules.CLI.name
    copy.mkdir()
    (copy / "go.mod").write_text("module other\n")
    monkeypatch.setattr(modules.Program, "folder", property(lambda self: tmp_path / self.name))
    changed = modules.build_key((modules.CLI,))
    (copy / "go.sum").write_text("")
    assert len({before, changed, modules.build_key((modules.CLI,))}) == 3


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"NIGHTSHIFT_CACHE": "/somewhere"}, "/somewhere"),
        ({"XDG_CACHE_HOME": "/cache"}, "/cache/nightshift"),
        ({}, str(Path("~/.cache/nightshift").expanduser())),
    ],
)
def test_the_cache_stands_outside_the_clone(environment: dict[str, str], expected: str) -> None:
    assert str(modules.cache_root(environment)) == expected


def test_the_manifest_holds_size_and_sum(tmp_path: Path) -> None:
    folder = _built(tmp_path / "key")
    entry = json.loads((folder / cache.MANIFEST).read_text())["pulumi"]
    assert entry["size"] == 7
    assert entry["sha256"] == cache.sha256_of(folder / "pulumi")


def test_what_a_killed_builder_left_goes_with_the_next_build(tmp_path: Path) -> None:
    (tmp_path / ".key-half").mkdir()
    (tmp_path / ".key-half" / "pulumi").write_bytes(b"prog")
    (tmp_path / ".other-half").mkdir()
    _built(tmp_path / "key")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other-half", "key"]


def test_a_cache_that_cannot_be_made_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ToolchainError, match="Not a directory") as caught:
        toolchain.ensure_built(modules.PROGRAMS, print, {"NIGHTSHIFT_CACHE": str(tmp_path / "file")})
    assert "NIGHTSHIFT_CACHE" in caught.value.remedy
