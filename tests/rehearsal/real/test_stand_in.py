"""The stand-in lies where the stack file says that the job's code lies."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bootstrap.launch.code import Fetching, fetch_code
from bootstrap.launch.git import Git
from bootstrap.manifest import BootJob, BootManifest
from nightshift.rehearsal.real import stand_in
from tests.rehearsal.real.support.manifests import manifest


class Rooted:
    """A node whose root is a folder here."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def path(self, inside: str | Path) -> Path:
        return self._root / str(inside).lstrip("/")


def placed(tmp_path: Path, job: BootJob) -> tuple[Any, BootManifest]:
    given = manifest(job=job)
    node = Rooted(tmp_path / "root")
    stand_in.place(cast(Any, node), given, tmp_path)
    stand_in.place(cast(Any, node), given, tmp_path)
    return node, given


@pytest.mark.parametrize(
    ("run", "where"),
    [("train.py --epochs 90", "train.py"), ("sub/t.py", "sub/t.py"), ("-m a.b --x", "a/b.py")],
)
def test_code_on_a_volume_is_put_there(tmp_path: Path, run: str, where: str) -> None:
    job = BootJob("/data/runs/train", None, run, (), "release")
    node, _ = placed(tmp_path, job)
    assert (node.path("/data/runs/train") / where).read_text() == stand_in.TRAIN.read_text()


def test_a_node_takes_the_clone_of_a_repository_for_its_own(tmp_path: Path) -> None:
    job = BootJob("https://example.org/lab/vit.git", "3f2c1d0", "train.py", (), "release")
    node, _ = placed(tmp_path, job)
    folder = node.path(stand_in.STATE)
    code = fetch_code(job, {}, Fetching(folder, 5.0, lambda _says: None))
    assert code.folder == node.path(stand_in.clone_folder(job))
    assert (code.folder / "train.py").read_text() == stand_in.TRAIN.read_text()
    assert code.commit is not None
    assert Git is not None


def test_without_a_job_nothing_is_put_anywhere(tmp_path: Path) -> None:
    node = Rooted(tmp_path / "root")
    stand_in.place(cast(Any, node), manifest(job=None), tmp_path)
    assert not (tmp_path / "root").exists()


def test_secrets_that_are_there_are_left_alone() -> None:
    class There(Exception):
        pass

    class Client:
        exceptions = SimpleNamespace(ResourceExistsException=There)

        def __init__(self) -> None:
            self.names = {"lab/own"}

        def create_secret(self, Name: str, SecretString: str) -> None:
            if Name in self.names:
                raise There
            self.names.add(Name)

        def delete_secret(self, SecretId: str, ForceDeleteWithoutRecovery: bool) -> None:
            self.names.remove(SecretId)

    client = Client()
    made = stand_in.make_secrets(client, ("lab/own", "lab/wandb"))
    assert made == ["lab/wandb"]
    stand_in.drop_secrets(client, made)
    assert client.names == {"lab/own"}


def test_git_is_there_for_these_tests() -> None:
    assert subprocess.run(["git", "--version"], check=True, capture_output=True).stdout
