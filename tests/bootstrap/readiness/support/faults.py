"""What can befall a node, each as a change of a healthy machine, with the check and words that name it."""

from __future__ import annotations

from nightshift.emulator.sandbox.machines.description import KERNEL
from tests.bootstrap.readiness.support import (
    faults_cards,
    faults_efa,
    faults_kernels,
    faults_node,
    faults_runtime,
)

TABLE = (
    *faults_node.TABLE,
    *faults_cards.TABLE,
    *faults_runtime.TABLE,
    *faults_kernels.TABLE,
    *faults_efa.TABLE,
)
GONE = {
    "the module wasn't built, for want of headers": ("/sys/module/nvidia", f"/lib/modules/{KERNEL}/build"),
    "a kernel without modules": ("/sys/module/nvidia", f"/lib/modules/{KERNEL}"),
    "nvidia_uvm isn't loaded": ("/sys/module/nvidia_uvm",),
}
"""Folders that aren't there with these faults."""
NOT_SEEN = {
    9: "a lock of dpkg at first boot: it delays what installs, and is over before the checks",
    10: "cloud-init that died half way: no agent runs; the launch hook's timeout abandons the node",
    11: "user data that runs once: by design it only fetches, and the unit runs on every boot",
    26: "a container that loses its GPUs: jobs run without containers",
    36: "a hop limit that containers hit: the agent runs on the host; no answer at all is identity.type",
    37: "a rendezvous that never forms takes a second node: the launch probes the leader",
    38: "a rendezvous that is closed: the launch takes a new id for each generation",
}
"""Rows of the facts' reports that one node can't see while it checks itself, and who sees them."""
