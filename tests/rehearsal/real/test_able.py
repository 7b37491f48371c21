"""Why nodes can't be real is said in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from nightshift.rehearsal.real import able
from tests.rehearsal.real.support.manifests import manifest


@pytest.fixture(autouse=True)
def _able(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(able, "reason_to_skip", lambda: None)
    monkeypatch.setattr(able, "_available_gib", lambda: 8.0)
    monkeypatch.setattr(able, "_left_gib", lambda: 8.0)
    monkeypatch.setattr(able, "_files_room_gib", lambda: 8.0)
    monkeypatch.setattr(able.shutil, "which", lambda name: f"/sbin/{name}")
    monkeypatch.setattr(able.importlib.util, "find_spec", lambda name: object())


def test_a_machine_that_has_all_is_able() -> None:
    assert able.reason_to_model(manifest()) is None


def test_eight_nodes_of_eight_cards_need_more_memory_than_there_is() -> None:
    told = able.reason_to_model(manifest(nodes=8, instance_types=("p5.48xlarge",)))
    assert told == "needs about 37.8 GiB of memory for 8 x 8 workers, 8.0 GiB are free"


def test_a_small_memory_filesystem_is_too_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(able, "_files_room_gib", lambda: 0.06)
    assert "GiB of memory" in str(able.reason_to_model(manifest()))


def test_missing_packages_and_tools_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(able.shutil, "which", lambda name: None)
    assert able.reason_to_model(manifest()) == "needs mkfs.xfs"
    monkeypatch.setattr(able.importlib.util, "find_spec", lambda name: None)
    assert able.reason_to_model(manifest()) == "needs torch, which this environment hasn't"


def test_what_the_sandbox_lacks_is_said_in_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(able, "reason_to_skip", lambda: "needs root: namespaces")
    assert able.reason_to_model(manifest()) == "needs root: namespaces"


def test_memory_is_read_as_the_kernel_tells_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    (tmp_path / "meminfo").write_text("MemTotal: 4194304 kB\nMemAvailable:    2097152 kB\n")
    assert able._available_gib(tmp_path / "meminfo") == 2.0
    assert able._left_gib(tmp_path) == float("inf")
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("1\n")
    (tmp_path / "memory.stat").write_text("anon 5\ninactive_file 1073741824\n")
    assert able._left_gib(tmp_path) == float("inf")
    (tmp_path / "memory.max").write_text(str(3 << 30))
    (tmp_path / "memory.current").write_text(str(2 << 30))
    assert able._left_gib(tmp_path) == 2.0
