"""A finished run: known by its id, so that later boots end at once and a new job isn't held back.

Schedules launch nodes whatever a record says, and a node may not touch them. So a later shift boots once,
reads the mark before it takes a volume or builds anything, and lets its group go to zero.
"""

from __future__ import annotations

from bootstrap.launch.folders import run_id
from bootstrap.manifest import BootManifest
from nightshift.records.model import OverrideRecord, RunRecord


def is_done(run: RunRecord | None, manifest: BootManifest) -> bool:
    """Whether this very run has finished. A mark without an id, of an older agent, holds for any run.

    Another `ref` is the same run, since it would go on from the same checkpoints; another command isn't.
    """
    if run is None or manifest.job is None or not run.done:
        return False
    return run.run in ("", run_id(manifest.group, manifest.job))


def over_at_boot(manifest: BootManifest, run: RunRecord | None, override: OverrideRecord | None) -> str:
    """Why a node needn't come up at all, or nothing.

    A finished run ends the node, unless the operator woke the group after it had finished: then the node
    comes up without the job, for people to look.
    """
    if run is None or not is_done(run, manifest) or _stays(manifest):
        return ""
    if override is not None and override.state == "up" and override.at >= run.at:
        return ""
    return f"the run finished at {run.at:%Y-%m-%d %H:%M} UTC (step {run.step}, {run.checkpoint})"


def _stays(manifest: BootManifest) -> bool:
    return manifest.job is not None and manifest.job.when_done == "stay"
