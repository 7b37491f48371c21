"""One node's configuration and its group's manifest: what a test changes of them it says by `replace`."""

from __future__ import annotations

from bootstrap.manifest import BootManifest
from bootstrap.start.config import NodeConfig

CONFIG = NodeConfig(
    site="lab",
    group="vit",
    group_name="nightshift-lab.vit",
    region="us-east-1",
    suffix="amazonaws.com",
    bucket="artifacts",
    data_bucket="data",
    manifest_key="groups/vit/manifest.json",
    artifact_key="bootstrap/0.zip",
    artifact_sha256="0",
    hook="ready",
)
MANIFEST = BootManifest(
    site="lab",
    group="vit",
    group_name="nightshift-lab.vit",
    region="us-east-1",
    zone="us-east-1a",
    nodes=1,
    instance_types=("g6.12xlarge",),
    efa=False,
    runtime="cpu",
    timezone="Etc/UTC",
    shifts=(),
    volumes=(),
    boot_s=60,
    drain_s=60,
    data_bucket="data",
    log_group="/nightshift/lab",
)
"""Without shifts, volumes and a job."""
