"""How busy a GPU is and how full, by nvidia-smi; how busy this process keeps a CPU, without one."""

from __future__ import annotations

import shutil
import subprocess
import time
from dataclasses import dataclass, field

import torch

ASK = ("nvidia-smi", "--query-gpu=utilization.gpu,memory.used,memory.total", "--format=csv,noheader,nounits")
PATIENCE_S = 5.0
ASK_EVERY_S = 15.0


@dataclass
class Sampler:
    """Asks at most every ASK_EVERY_S: nvidia-smi takes some tens of milliseconds."""

    device: torch.device
    _asked_at: float = field(default=float("-inf"))
    _cpu: tuple[float, float] = field(default_factory=lambda: (time.perf_counter(), time.process_time()))

    def read(self) -> dict[str, float | None]:
        if self.device.type != "cuda":
            return {"cpu_cores_busy": self._cores()}
        peak = torch.cuda.max_memory_allocated(self.device) / (1 << 30)
        if time.monotonic() - self._asked_at < ASK_EVERY_S:
            return {"gpu_memory_peak_gib": peak}
        self._asked_at = time.monotonic()
        return {"gpu_memory_peak_gib": peak, **parsed(_asked(self.device))}

    def _cores(self) -> float:
        then, used = self._cpu
        self._cpu = (time.perf_counter(), time.process_time())
        return (self._cpu[1] - used) / max(1e-9, self._cpu[0] - then)


def _asked(device: torch.device) -> str:
    """By the card's own id: nvidia-smi doesn't count as CUDA_VISIBLE_DEVICES does."""
    if shutil.which(ASK[0]) is None:
        return ""
    card = torch.cuda.get_device_properties(device).uuid
    try:
        done = subprocess.run(
            [*ASK, f"--id=GPU-{card}"], capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def parsed(line: str) -> dict[str, float | None]:
    """nvidia-smi's answer: percent, MiB, MiB. What it doesn't know it calls [N/A]."""
    words = [word.strip() for word in line.strip().split(",")]
    if len(words) != 3:
        return {"gpu_busy": None, "gpu_memory_used": None}
    busy, used, total = (float(word) if word.replace(".", "", 1).isdigit() else None for word in words)
    return {
        "gpu_busy": None if busy is None else busy / 100,
        "gpu_memory_used": None if used is None or not total else used / total,
    }
