"""The first step of a compiled model: nothing kept, the kernels of an earlier shift, and a corrupt pack.

Each launch is the trainer in a process of its own, with an empty disk besides the pack. JSON on stdout, a
table on stderr; medians count. Exit 1 when warm isn't 5 times as fast as cold, or a loss differs. On a GPU
the same command takes ViT-B/16. Needs a C++ compiler on a CPU.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import torch

BOUND = 5.0
FIXED = (
    *("--steps=4", "--log-every=1", "--workers=0", "--evaluate-every=0", "--no-tensorboard"),
    *("--deterministic", "--compile=default"),
)


def launched(base: Path, name: str, flags: Sequence[str]) -> dict[str, Any]:
    """One launch's facts: seconds of its first step, losses, how the kernels began."""
    folder = base / name / "ck"
    scratch = base / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    command = [
        *(sys.executable, "-m", "nightshift.training.trainer", *flags, *FIXED),
        *(f"--folder={folder}", f"--compile-cache={base / 'volume'}"),
    ]
    environment = {**os.environ, "TMPDIR": str(scratch)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr[-2000:]}")
    shift = json.loads((folder / "records" / "shifts.jsonl").read_text())
    metrics = (folder / "records" / "metrics.jsonl").read_text().splitlines()
    begins = next(line for line in done.stderr.splitlines() if "kernels begin=" in line)
    return {
        "launch": name,
        "kernels": begins.partition("begin=")[2],
        "first_step_s": shift["first_step_s"],
        "restart_s": shift["restart_s"],
        "losses": [json.loads(line)["loss"] for line in metrics],
    }


def corrupt(volume: Path) -> None:
    """One byte in the middle of the pack."""
    (pack,) = volume.glob("*.pack")
    data = bytearray(pack.read_bytes())
    data[len(data) // 2] ^= 0xFF
    pack.write_bytes(bytes(data))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--warm", type=int, default=3, help="warm launches")
    parser.add_argument("--flags", default=None, help="of the trainer, instead of this benchmark's")
    options = parser.parse_args()
    cuda = torch.cuda.is_available()
    usual = "--model=vit-b16 --batch=256" if cuda else "--model=vit-toy --classes=10 --batch=32 --samples=256"
    flags = (options.flags or usual).split()
    if not cuda and not any(shutil.which(name) for name in ("g++", "clang++")):
        raise SystemExit("no C++ compiler: install g++")
    with tempfile.TemporaryDirectory() as base:
        root = Path(base)
        launches = [launched(root, "cold", flags)]
        launches += [launched(root, f"warm {number}", flags) for number in range(1, options.warm + 1)]
        size = sum(path.stat().st_size for path in (root / "volume").glob("*.pack"))
        corrupt(root / "volume")
        launches += [launched(root, "corrupt", flags), launched(root, "after it", flags)]
    cold = [one["first_step_s"] for one in launches if not one["kernels"].startswith("warm")]
    warm = [one["first_step_s"] for one in launches if one["kernels"].startswith("warm")]
    ratio = median(cold) / median(warm)
    same = all(one["losses"] == launches[0]["losses"] for one in launches)
    print(
        json.dumps(
            {
                "what": "compile cache",
                "device": torch.cuda.get_device_name() if cuda else "cpu",
                "torch": torch.__version__,
                "flags": flags,
                "load_average": os.getloadavg()[0],
                "pack_bytes": size,
                "launches": launches,
                "ratio": ratio,
                "bound": BOUND,
                "losses_equal": same,
            }
        )
    )
    for one in launches:
        said = f"first step {one['first_step_s']:7.2f} s, start {one['restart_s']:7.2f} s"
        print(f"{one['launch']:10} {said}, {one['kernels'][:60]}", file=sys.stderr)
    print(f"cold / warm {ratio:.1f} (bound {BOUND}); losses equal: {same}", file=sys.stderr)
    return int(ratio < BOUND or not same)


if __name__ == "__main__":
    raise SystemExit(main())
