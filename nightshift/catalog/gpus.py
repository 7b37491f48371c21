"""The GPU models of EC2: how nvidia-smi names them, what driver they need, how they are joined.

Gathered on 2026-11-30. A floor marked [K] is general knowledge that nobody re-read; it errs on the low side.
Fractions of a card (g6f, gr6f) aren't here: their guest driver is another product, so nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Flavour = Literal["open", "proprietary", "either"]
_BRANCHES = "nvidia-open-supported-devices lists of amazon-eks-ami, 2026-11"
_MODULES = "NVIDIA driver guide 610, Kernel Modules, 2026-11"
_SWITCHED = "AWS efa-cheatsheet (12 links on A100, 18 on H100, H200 and B200), 2026-11"


@dataclass(frozen=True)
class Gpu:
    """One model. `word` stands in nvidia-smi's name of the card as a word of its own.

    `module` is the kernel module's flavour that the card works with; `first_branch` and `last_branch`
    bound the driver's first number; `nvlinks` is the active links per card where cards share switches;
    `subnet_manager`: NVLink's own (`nvlsm`) must run beside the fabric manager; `gsp_hangs` names driver
    branches whose firmware (GSP) hangs on this card unless it is off.
    """

    model: str
    word: str
    capability: tuple[int, int]
    module: Flavour
    first_branch: int
    source: str
    last_branch: int | None = None
    nvlinks: int | None = None
    subnet_manager: bool = False
    gsp_hangs: tuple[int, ...] = ()


_EKS_1523 = "awslabs/amazon-eks-ami#1523, 2026-11"
_ALL = (
    Gpu("V100", "V100", (7, 0), "proprietary", 525, f"{_MODULES}; R580 is the last branch", last_branch=580),
    Gpu("T4", "T4", (7, 5), "either", 525, f"[K]; {_EKS_1523}", gsp_hangs=(535,)),
    Gpu("T4G", "T4G", (7, 5), "either", 525, f"[K]; {_EKS_1523}", gsp_hangs=(535,)),
    Gpu("A10G", "A10G", (8, 6), "either", 525, f"[K]; {_EKS_1523}", gsp_hangs=(535,)),
    Gpu("L4", "L4", (8, 9), "either", 525, "[K]"),
    Gpu("L40S", "L40S", (8, 9), "either", 525, "[K]"),
    Gpu("A100", "A100", (8, 0), "either", 525, f"[K]; {_SWITCHED}", nvlinks=12),
    Gpu("H100", "H100", (9, 0), "either", 525, f"[K]; {_SWITCHED}", nvlinks=18),
    Gpu("H200", "H200", (9, 0), "either", 550, f"[K]; {_SWITCHED}", nvlinks=18),
    Gpu(
        "B200",
        "B200",
        (10, 0),
        "open",
        570,
        f"{_BRANCHES}; {_MODULES}; {_SWITCHED}",
        nvlinks=18,
        subnet_manager=True,
    ),
    Gpu("B300", "B300", (10, 3), "open", 580, f"{_BRANCHES}; {_MODULES}", nvlinks=18, subnet_manager=True),
    Gpu(
        "RTX PRO 4500 Blackwell Server Edition",
        "RTX PRO 4500",
        (12, 0),
        "open",
        595,
        f"{_BRANCHES} (10de:2c3a); {_MODULES}",
    ),
    Gpu(
        "RTX PRO 6000 Blackwell Server Edition",
        "RTX PRO 6000",
        (12, 0),
        "open",
        580,
        f"{_BRANCHES}; {_MODULES}",
    ),
)

GPUS: Mapping[str, Gpu] = MappingProxyType({gpu.model: gpu for gpu in _ALL})
"""By the model's name in the table of instance types. GB200 isn't here: its fabric spans several
instances, and what one of them sees of it wasn't found."""


def named(text: str) -> Gpu | None:
    """The model that nvidia-smi's name of a card stands for, or None for a card that isn't known."""
    spaced = f" {text.replace('-', ' ')} "
    return next((gpu for gpu in _ALL if f" {gpu.word} " in spaced), None)
