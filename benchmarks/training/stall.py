"""How long training stands still for a save of ViT-B/16 with AdamW, beside a plain copy and torch's own ways.

One run, rounds interleaved, the best round of each counts. JSON on stdout, a table on stderr. On a GPU the
same command measures the copy off the device. Exit 1 when a ratio is over its bound.
"""

from __future__ import annotations

import argparse
import copy
import gc
import json
import os
import platform
import shutil
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed.checkpoint as dcp

from nightshift.training import Checkpoints, TrainingState
from nightshift.training.trainer import models

BOUNDS = {"copy": 1.1, "torch.save": 0.45, "dcp.async_save": 1.0}


def made(name: str, device: str) -> TrainingState:
    """A model and an optimizer that has stepped, so that its state is full."""
    model = models.build(name, side=models.side_of(name, None), classes=1000).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return TrainingState(model, [optimizer])


class Ways:
    """The four ways; each returns the seconds that training would stand still."""

    def __init__(self, state: TrainingState, root: Path) -> None:
        self.state = state
        self.root = root
        self.step = 0
        self.background: dict[str, list[float]] = {"ours": [], "dcp.async_save": []}
        self.checkpoints = Checkpoints(root / "ours", keep=1)

    def copied(self) -> float:
        tensors = dict(self.state.capture().tensors)
        return _timed(lambda: copy.deepcopy({name: one.detach() for name, one in tensors.items()}))

    def torch_saved(self) -> float:
        tensors = dict(self.state.capture().tensors)
        target = self.root / "whole.pt"
        took = _timed(lambda: torch.save(tensors, target))
        target.unlink()
        return took

    def dcp_saved(self) -> float:
        target = self.root / "dcp"
        began = time.perf_counter()
        tensors = dict(self.state.capture().tensors)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            future: Any = dcp.async_save(tensors, checkpoint_id=target)
        took = time.perf_counter() - began
        getattr(future, "upload_completion", future).result()
        self.background["dcp.async_save"].append(time.perf_counter() - began - took)
        shutil.rmtree(target)
        return took

    def ours(self) -> float:
        self.step += 1
        took = _timed(lambda: self.checkpoints.start(self.state, step=self.step, position=self.step))
        report = self.checkpoints.finish()
        if report is None or report.error:
            raise SystemExit(f"the save failed: {report and report.error}")
        self.background["ours"].append(report.background_s)
        return took


def _timed(act: Callable[[], object]) -> float:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    gc.collect()
    began = time.perf_counter()
    held = act()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    took = time.perf_counter() - began
    del held
    return took


def measured(ways: Ways, rounds: int) -> dict[str, list[float]]:
    """Seconds of each round. The first round of ours pays for its memory and is counted apart."""
    acts = {
        "copy": ways.copied,
        "torch.save": ways.torch_saved,
        "dcp.async_save": ways.dcp_saved,
        "ours": ways.ours,
    }
    first = ways.ours()
    taken: dict[str, list[float]] = {name: [] for name in acts}
    for _ in range(rounds):
        for name, act in acts.items():
            taken[name].append(act())
    return {**taken, "ours, first": [first]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--model", default="vit-b16", choices=models.SHAPES)
    parser.add_argument("--folder", type=Path, default=None, help="on the disk to measure")
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    state = made(options.model, device)
    size = sum(tensor.nbytes for tensor in state.capture().tensors.values())
    with tempfile.TemporaryDirectory(dir=options.folder) as root:
        ways = Ways(state, Path(root))
        taken = measured(ways, options.rounds)
        ways.checkpoints.close()
    best = {name: min(times) for name, times in taken.items()}
    ratios = {name: best["ours"] / best[name] for name in BOUNDS}
    medians = {name: statistics.median(times) for name, times in taken.items()}
    print(
        json.dumps(
            {
                "what": "stall of a save",
                "state_bytes": size,
                "device": torch.cuda.get_device_name() if device == "cuda" else platform.processor() or "cpu",
                "torch": torch.__version__,
                "threads": torch.get_num_threads(),
                "load_average": os.getloadavg()[0],
                "seconds": {name: [round(one, 4) for one in times] for name, times in taken.items()},
                "median_ratios": {name: round(medians["ours"] / medians[name], 3) for name in BOUNDS},
                "ratios": {name: round(ratio, 3) for name, ratio in ratios.items()},
                "bounds": BOUNDS,
                "background_seconds": {name: round(min(times), 3) for name, times in ways.background.items()},
            }
        )
    )
    for name, bound in BOUNDS.items():
        print(f"ours / {name:16} {ratios[name]:.3f}  (bound {bound})", file=sys.stderr)
    return int(any(ratios[name] > bound for name, bound in BOUNDS.items()))


if __name__ == "__main__":
    raise SystemExit(main())
