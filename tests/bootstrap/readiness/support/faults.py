"""What can befall a node, each as a change of a healthy machine, with the check and words that name it."""

from __future__ import annotations

from tests.bootstrap.readiness.support import (
    faults_cards,
    faults_efa,
    faults_kernels,
    faults_node,
    faults_runtime,
)
from tests.bootstrap.readiness.support.description import KERNEL

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
