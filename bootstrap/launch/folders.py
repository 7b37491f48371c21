"""The run's id, and the folder on a volume where its checkpoints lie."""

from __future__ import annotations

import hashlib
from pathlib import Path

from bootstrap.launch.edges import JobError
from bootstrap.manifest import BootJob, BootManifest, BootVolume

PREFERRED = ("runs", "checkpoints")


def run_id(group: str, job: BootJob) -> str:
    """Of one training run: the same repository and the same command.

    Another `ref` goes on from the same checkpoints (code gets mended in the midst of a run); another
    command is another run.
    """
    words = "\0".join((job.repo, job.run))
    return f"{group}-{hashlib.sha256(words.encode()).hexdigest()[:8]}"


def checkpoint_volume(manifest: BootManifest) -> BootVolume:
    """A pool before a site's volume, `runs` or `checkpoints` before any other, else the last one named.

    Raises JobError without any: what a node writes to its root disk is gone with it.
    """
    pools = [each for each in manifest.volumes if each.per == "node"]
    able = pools or list(manifest.volumes)
    if not able:
        raise JobError(
            f"groups.{manifest.group}.volumes: the job has no volume for its checkpoints; name one "
            "(for several nodes one with `per: node`)"
        )
    named = [each for name in PREFERRED for each in able if each.name == name]
    return named[0] if named else able[-1]


def checkpoints_folder(manifest: BootManifest, data: Path) -> Path:
    """`/data/VOLUME/checkpoints/RUN`. Raises JobError, also when the group has no job."""
    if manifest.job is None:
        raise JobError(f"groups.{manifest.group}.job: missing")
    volume = checkpoint_volume(manifest)
    return data / volume.name / "checkpoints" / run_id(manifest.group, manifest.job)
