"""One boot: read the manifest, prove that the node can train, say so. Fails closed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timezone

from bootstrap.aws import AwsError, NodeAws
from bootstrap.imds import Instance
from bootstrap.lifecycle.conclude import conclude
from bootstrap.manifest import BootManifest, ManifestError, from_json
from bootstrap.readiness.verdict import Finding, Verdict, judge
from bootstrap.start.config import NodeConfig
from bootstrap.start.install import GIVEN_UP
from nightshift.records.model import ReadinessRecord
from nightshift.records.store import Records

Check = Callable[[BootManifest, Instance], Finding]
CHECKS: tuple[Check, ...] = ()
"""In the order of runtime: identity first, record last. A release without any makes no node ready."""


def boot(config: NodeConfig, instance: Instance, aws: NodeAws, checks: Sequence[Check] = CHECKS) -> int:
    """Exit code of the agent: 0 when ready, GIVEN_UP when not. Raises AwsError if the hook can't be told."""
    verdict = _examined(aws, instance, checks)

    def write(record: ReadinessRecord) -> None:
        Records(aws.client("s3"), config.data_bucket).write_readiness(aws.user_id(), record)

    now = datetime.now(timezone.utc)
    conclude(verdict, instance.id, config.group, now, aws, write)
    return 0 if verdict.ready else GIVEN_UP


def _examined(aws: NodeAws, instance: Instance, checks: Sequence[Check]) -> Verdict:
    """What can't be read fails the node as a failed check does."""
    try:
        manifest = from_json(aws.read_manifest())
    except (ManifestError, *AwsError) as error:
        return Verdict(False, "manifest", str(error))
    return judge([check(manifest, instance) for check in checks])
