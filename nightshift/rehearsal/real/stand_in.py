"""A job for nodes whose own code isn't here: put where the stack file says that the job's code lies."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bootstrap.launch.command import script_of
from bootstrap.launch.git import without_credentials
from bootstrap.manifest import BootJob, BootManifest
from nightshift.emulator.sandbox.node import Node

TRAIN = Path(__file__).with_name("train.py")
SAVE_STEPS = 20
"""train.py's own steps between two saves."""
STATE = "/var/lib/nightshift/code"
SECRET = "rehearsal"
WHOLE = ".nightshift-commit"
"""A node's mark of a clone that is whole (bootstrap/launch/code.py)."""
_GIT = ("git", "-c", "user.name=rehearsal", "-c", "user.email=rehearsal@localhost")


def script_path(job: BootJob) -> Path:
    """Where in its code the job's script lies. Raises JobError for a `run` that can't be started."""
    script = script_of(job.run)
    if script.module:
        return Path(*script.words[0].split(".")).with_suffix(".py")
    return Path(script.words[0].lstrip("/"))


def clone_folder(job: BootJob) -> Path:
    """Where a node keeps its clone of a repository."""
    url, _ = without_credentials(job.repo, {})
    return Path(STATE) / hashlib.sha256(f"{url} {job.ref}".encode()).hexdigest()[:16]


def is_folder(job: BootJob) -> bool:
    """Whether the code lies on a volume as it is."""
    return job.repo.startswith("/") and job.ref is None


def place(node: Node, manifest: BootManifest, scratch: Path) -> None:
    """Once its volumes are mounted and before its job begins. Raises OSError or CalledProcessError."""
    job = manifest.job
    if job is None:
        return
    if is_folder(job):
        there = node.path(job.repo) / script_path(job)
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(TRAIN, there)
        return
    there = node.path(clone_folder(job))
    if not there.exists():
        shutil.copytree(_clone(job, scratch), there, symlinks=True)


def _clone(job: BootJob, scratch: Path) -> Path:
    """A whole clone as the node would have made it."""
    folder = scratch / clone_folder(job).name
    if folder.exists():
        return folder
    script = folder / script_path(job)
    script.parent.mkdir(parents=True)
    shutil.copyfile(TRAIN, script)
    _git(folder, "init", "--quiet")
    _git(folder, "add", ".")
    _git(folder, "commit", "--quiet", "--message", "stands in for the job's code")
    commit = _git(folder, "rev-parse", "HEAD")
    (folder / ".git" / WHOLE).write_text(f"{commit}\n", encoding="ascii")
    return folder


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run([*_GIT, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def make_secrets(client: Any, names: Sequence[str]) -> list[str]:
    """Secrets that the job names and that aren't there, with a value that means nothing. Those made."""
    made = []
    for name in names:
        try:
            client.create_secret(Name=name, SecretString=SECRET)
            made.append(name)
        except client.exceptions.ResourceExistsException:
            continue
    return made


def drop_secrets(client: Any, names: Sequence[str]) -> None:
    """Those made for the rehearsal are gone."""
    for name in names:
        client.delete_secret(SecretId=name, ForceDeleteWithoutRecovery=True)
