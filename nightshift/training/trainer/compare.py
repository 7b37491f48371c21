"""Compile modes compared: `python -m nightshift.training.trainer.compare [--modes off,default] [FLAGS]`.

Each mode trains the same steps from the same seed in a process of its own, with nothing compiled before;
FLAGS are the trainer's. A table on stderr, JSON on stdout. Exit 1 when a mode fails.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from nightshift.training.trainer.flags import COMPILE_MODES

STEPS = 60
RECORDS_EVERY = 5


@dataclass(frozen=True)
class Row:
    """One mode. `images_per_s`: of the best stretch between two records; `memory_gib` None on a CPU."""

    mode: str
    first_step_s: float | None = None
    images_per_s: float | None = None
    mfu: float | None = None
    memory_gib: float | None = None
    loss: float | None = None
    failed: str | None = None


def tried(mode: str, flags: Sequence[str], base: Path) -> Row:
    """Train with it."""
    own = base / mode
    own.mkdir()
    done = subprocess.run(
        [
            *(sys.executable, "-m", "nightshift.training.trainer", f"--steps={STEPS}", "--evaluate-every=0"),
            *(f"--log-every={RECORDS_EVERY}", "--no-tensorboard", *flags, f"--compile={mode}"),
            *(f"--folder={own / 'ck'}", f"--compile-cache={own / 'kernels'}"),
        ],
        env={**os.environ, "TMPDIR": str(own)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        return Row(mode, failed=done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no word")
    return summed(mode, own / "ck" / "records")


def summed(mode: str, records: Path) -> Row:
    """What the trainer's records say."""
    lines = [json.loads(line) for line in (records / "metrics.jsonl").read_text().splitlines()]
    shift = json.loads((records / "shifts.jsonl").read_text().splitlines()[-1])
    paced = [one for one in lines if one.get("images_per_s")]
    best = max(paced, key=lambda one: one["images_per_s"]) if paced else {}
    memory = [one["gpu_memory_peak_gib"] for one in lines if one.get("gpu_memory_peak_gib")]
    return Row(
        mode,
        first_step_s=shift["first_step_s"],
        images_per_s=best.get("images_per_s"),
        mfu=best.get("mfu"),
        memory_gib=max(memory) if memory else None,
        loss=lines[-1].get("loss"),
    )


def table(rows: Sequence[Row]) -> str:
    """Against the first mode."""
    lines = [f"{'mode':28}{'first step':>12}{'images/s':>12}{'ratio':>8}{'MFU':>8}{'memory':>12}{'loss':>10}"]
    base = rows[0].images_per_s
    for row in rows:
        if row.failed:
            lines.append(f"{row.mode:28}failed: {row.failed}")
            continue
        ratio = row.images_per_s / base if row.images_per_s and base else None
        cells = (
            _cell(row.first_step_s, "{:.1f} s", 12),
            _cell(row.images_per_s, "{:,.1f}", 12),
            _cell(ratio, "{:.2f}", 8),
            _cell(row.mfu, "{:.1%}", 8),
            _cell(row.memory_gib, "{:.1f} GiB", 12),
            _cell(row.loss, "{:.4f}", 10),
        )
        lines.append(f"{row.mode:28}{''.join(cells)}")
    return "\n".join(lines)


def _cell(value: float | None, how: str, wide: int) -> str:
    return f"{'-' if value is None else how.format(value):>{wide}}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="nightshift.training.trainer.compare",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--modes", default=",".join(COMPILE_MODES), help="default: %(default)s")
    options, flags = parser.parse_known_args(arguments)
    modes = [mode for mode in options.modes.split(",") if mode]
    unknown = [mode for mode in modes if mode not in COMPILE_MODES]
    if unknown or not modes:
        parser.error(f"--modes: given {options.modes!r}, expected some of {', '.join(COMPILE_MODES)}")
    with tempfile.TemporaryDirectory() as base:
        rows = [tried(mode, flags, Path(base)) for mode in modes]
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
    facts = {"what": "compile modes", "device": device, "torch": torch.__version__, "flags": flags}
    print(json.dumps({**facts, "load_average": os.getloadavg()[0], "modes": [asdict(row) for row in rows]}))
    print(table(rows), file=sys.stderr)
    return int(any(row.failed for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
