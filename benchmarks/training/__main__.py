"""All of training's benchmarks by one command: `python -m benchmarks.training [--quick] [PART ...]`.

One JSON object on stdout, each part's table and a verdict on stderr. The same command on a GPU takes ViT-B/16
and nccl. Exit 1 when a part missed its bound.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).parent.parent.parent
GPU_STEP = "--model=vit-b16 --batch=256 --warmup-steps=10 --workers=12"
CPU_STEP = "--model=vit-toy --classes=10 --batch=64 --samples=2048 --warmup-steps=10 --workers=0"


@dataclass(frozen=True)
class Part:
    """A benchmark of its own; `quick` are its flags for a look."""

    module: str
    full: tuple[str, ...] = ()
    quick: tuple[str, ...] = ()


def parts(cuda: bool) -> dict[str, Part]:
    step = (GPU_STEP if cuda else CPU_STEP).split()
    compare = "nightshift.training.trainer.compare"
    return {
        "stall": Part("benchmarks.training.stall", (), ("--rounds=2",)),
        "loader": Part("benchmarks.training.loader", (), ("--rounds=2", "--images=64")),
        "restart": Part("benchmarks.training.restart", (), ("--rounds=2", "--kills=2")),
        "compile-cache": Part("benchmarks.training.compile_cache", (), ("--warm=1",)),
        "modes": Part(compare, tuple(step), (*step, "--modes=off,default")),
    }


def measured(part: Part, quick: bool) -> dict[str, Any]:
    """The part's own JSON, and whether it kept its bounds."""
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", part.module, *(part.quick if quick else part.full)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.getenv("PYTHONPATH")]))},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    report = json.loads(done.stdout.splitlines()[-1]) if done.stdout.strip() else {"failed": "no figures"}
    return {**report, "kept": done.returncode == 0, "took_s": round(time.monotonic() - began, 1)}


def main() -> int:
    known = parts(torch.cuda.is_available())
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", nargs="*", default=[], help=f"some of {', '.join(known)}; default: all")
    parser.add_argument("--quick", action="store_true", help="fewer rounds: for a look, not for figures")
    options = parser.parse_args()
    if unknown := sorted(set(options.part) - set(known)):
        parser.error(f"{', '.join(unknown)}: expected some of {', '.join(known)}")
    found = {}
    for name in options.part or known:
        print(f"== {name}", file=sys.stderr, flush=True)
        found[name] = measured(known[name], options.quick)
    machine = {"cores": os.cpu_count(), "machine": platform.machine(), "torch": torch.__version__}
    machine["device"] = torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
    print(json.dumps({"what": "training", "quick": options.quick, **machine, "parts": found}))
    for name, one in found.items():
        print(f"{name:14} {'kept' if one['kept'] else 'MISSED'}  {one['took_s']:.0f} s", file=sys.stderr)
    return int(not all(one["kept"] for one in found.values()))


if __name__ == "__main__":
    raise SystemExit(main())
