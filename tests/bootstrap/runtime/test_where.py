"""Runtimes lie on the instance store where there is one, and the usual path leads there."""

from __future__ import annotations

from pathlib import Path

from bootstrap.runtime.where import FOLDER, INSTANCE_STORE, runtimes_folder


def test_without_an_instance_store_the_root_disk_is_used(tmp_path: Path) -> None:
    assert runtimes_folder(tmp_path, lambda path: False) == tmp_path / FOLDER
    assert (tmp_path / FOLDER).is_dir()


def test_a_mounted_instance_store_is_used_and_the_usual_path_leads_there(
    tmp_path: Path,
) -> None:
    store = tmp_path / INSTANCE_STORE
    store.mkdir(parents=True)
    for _ in range(2):
        found = runtimes_folder(tmp_path, store.__eq__)
        assert found == store / "nightshift/runtimes"
        assert (tmp_path / FOLDER).resolve() == found


def test_an_empty_folder_gives_way_and_one_in_use_stays(tmp_path: Path) -> None:
    store, usual = tmp_path / INSTANCE_STORE, tmp_path / FOLDER
    store.mkdir(parents=True)
    usual.mkdir(parents=True)
    assert runtimes_folder(tmp_path, store.__eq__).is_relative_to(store)
    usual.unlink()
    (usual / "some runtime").mkdir(parents=True)
    assert runtimes_folder(tmp_path, store.__eq__) == usual


def test_a_link_to_an_instance_store_that_is_gone_is_replaced(tmp_path: Path) -> None:
    usual = tmp_path / FOLDER
    usual.parent.mkdir(parents=True)
    usual.symlink_to(tmp_path / "gone")
    assert runtimes_folder(tmp_path, lambda path: False) == usual
    assert not usual.is_symlink()
