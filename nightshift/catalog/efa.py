"""What EFA needs besides interfaces: versions of Amazon's installer and of its NCCL plugin.

1.18.0 hangs in large broadcasts between nodes (aws/deep-learning-containers#6668); read on 2026-11-30.
"""

from __future__ import annotations

PLUGIN_FLOOR = "1.20.0"
"""Lowest aws-ofi-nccl that is allowed between nodes."""
INSTALLER_FLOOR = "1.49.0"
"""The EFA installer that brought it."""
PLUGIN_FOLDERS = (
    "/opt/amazon/ofi-nccl/lib",
    "/opt/amazon/ofi-nccl/lib/x86_64-linux-gnu",
    "/opt/amazon/ofi-nccl/lib/aarch64-linux-gnu",
    "/opt/amazon/aws-ofi-nccl/lib",
    "/opt/aws-ofi-nccl/lib",
)
"""Where installers of different ages put the plugin, newest first."""
