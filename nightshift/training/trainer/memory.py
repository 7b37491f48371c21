"""What to change when memory runs out."""

from __future__ import annotations

import os
from dataclasses import dataclass

import torch

GIB = 1 << 30
ALLOCATOR = "PYTORCH_CUDA_ALLOC_CONF"
SCATTERED = 0.1  # of the GPU's memory held by the allocator but in no tensor: worth another way to allocate


@dataclass(frozen=True)
class Shortage:
    """Bytes: all of the GPU, free on it, in tensors, held by this process's allocator. `micro`: images."""

    total: int
    free: int
    allocated: int
    reserved: int
    micro: int
    recompute: bool
    expandable: bool


def advice(found: Shortage) -> tuple[str, ...]:
    """The likeliest help first."""
    others = found.total - found.free - found.reserved
    says = [
        f"out of memory with {found.micro} images at once: {found.allocated / GIB:.1f} GiB in tensors, "
        f"{found.reserved / GIB:.1f} GiB held, of {found.total / GIB:.1f} GiB"
    ]
    if others > SCATTERED * found.total:
        says.append(f"{others / GIB:.1f} GiB are another process's: end it (nvidia-smi shows its id)")
    if found.reserved - found.allocated > SCATTERED * found.total and not found.expandable:
        says.append(f"memory is scattered: set {ALLOCATOR}=expandable_segments:True")
    if found.micro > 1:
        says.append(f"--micro-batch {found.micro // 2} halves it; batch and steps stay the same")
    if not found.recompute:
        says.append("--recompute keeps less per layer, a third slower")
    if found.micro == 1 and found.recompute:
        says.append(
            "one image at once, recomputed, is the least: take a smaller --model or --side, or a larger GPU"
        )
    return tuple(says)


def is_shortage(error: BaseException) -> bool:
    """torch's own kind on a GPU; on a CPU a RuntimeError that names the allocator."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and "DefaultCPUAllocator" in str(error)


def measured(device: torch.device, micro: int, recompute: bool) -> Shortage:
    """As it is now."""
    expandable = "expandable_segments:True" in os.environ.get(ALLOCATOR, "")
    if device.type != "cuda":
        page = os.sysconf("SC_PAGE_SIZE")
        total, free = os.sysconf("SC_PHYS_PAGES") * page, os.sysconf("SC_AVPHYS_PAGES") * page
        return Shortage(total, free, total - free, total - free, micro, recompute, True)
    free, total = torch.cuda.mem_get_info(device)
    held, reserved = torch.cuda.memory_allocated(device), torch.cuda.memory_reserved(device)
    return Shortage(total, free, held, reserved, micro, recompute, expandable)
