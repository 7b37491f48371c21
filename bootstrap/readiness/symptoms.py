"""What the texts of CUDA, torch and NCCL mean, and what to do. From public reports, read on 2026-11-30."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bootstrap.readiness.reading import seen


@dataclass(frozen=True)
class Meaning:
    """`found` names the fault and quotes the text."""

    found: str
    remedy: str


_TABLE: tuple[tuple[str, str, str], ...] = (
    (
        r"error 802|system not yet initialized|SystemNotReady",
        "the NVLink fabric isn't ready (802)",
        "see fabric.state; if that is Completed, the host is faulty: replace the node",
    ),
    (
        r"error 803|unsupported display driver",
        "libcuda and the kernel module disagree (803)",
        "reboot after a driver change; take cuda-compat off the loader's path",
    ),
    (
        r"error 804|forward compatibility was attempted",
        "cuda-compat on hardware that it doesn't support (804)",
        "take cuda-compat off the loader's path; use a newer driver",
    ),
    (
        r"no kernel image is available",
        "torch has no code for this card",
        "use a runtime whose architectures cover the card's compute capability",
    ),
    (
        r"undefined symbol: \w*nvJitLink",
        "another CUDA toolkit's libraries come first",
        "take /usr/local/cuda out of LD_LIBRARY_PATH",
    ),
    (
        r"undefined symbol: nccl\w+",
        "an older NCCL comes first",
        "take the other libnccl off the loader's path",
    ),
    (
        r"SUBLIBRARY_VERSION_MISMATCH",
        "a system cuDNN is mixed with the runtime's own",
        "remove libcudnn from the system's loader path (ldconfig -p)",
    ),
    (r"Python\.h: No such file", "no Python headers to compile with", "install the Python's headers"),
    (
        r"cuda\.h: No such file|C compiler|InvalidCxxCompiler|No working C\+\+ compiler",
        "no compiler or header for compiled functions",
        "install gcc and g++",
    ),
    (
        r"No module named 'torch'",
        "torch isn't installed in this Python",
        "name the runtime's Python with --python, or build the runtime",
    ),
    (
        r"Found no NVIDIA driver",
        "the process finds no driver",
        "see the driver's checks; in a container, give it the devices",
    ),
    (r"out of memory", "another process holds the card's memory", "end it: see `nvidia-smi`"),
    (
        r"No space left on device|bus error|SIGBUS",
        "/dev/shm is too small",
        "mount /dev/shm with 8 GiB or more; in docker --ipc=host",
    ),
    (
        r"NET plugin|plugin/net|Failed to initialize any NET|network \S+ not found",
        "NCCL finds no plugin for the network asked for",
        "the plugin's folder must be in /etc/ld.so.conf.d",
    ),
    (
        r"uncorrectable|ECC error|unspecified launch failure|illegal memory access|device-side assert",
        "the card failed while it computed",
        "replace the node",
    ),
)
_PATTERNS = tuple((re.compile(pattern, re.IGNORECASE), what, remedy) for pattern, what, remedy in _TABLE)
_UNKNOWN = "see the whole text with `python -m bootstrap verify --json`"


def explained(error: str) -> Meaning:
    """The first meaning that fits; the text itself where none does."""
    for pattern, what, remedy in _PATTERNS:
        hit = pattern.search(error)
        if hit:
            return Meaning(f"{what}: {seen(error[max(0, hit.start() - 60) :])}", remedy)
    return Meaning(seen(error), _UNKNOWN)
