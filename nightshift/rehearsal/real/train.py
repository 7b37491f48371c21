"""Stands in for the job of the stack file in a rehearsal: the trainer that ships, with a model of toy size.

The arguments of `job.run` are for the user's own code and aren't used.
"""

from __future__ import annotations

import torch

from nightshift.training.trainer.main import main

WORDS = (
    *("--model=vit-toy", "--classes=10", "--samples=100000", "--batch=16", "--steps=1000000"),
    *("--lr=5e-4", "--warmup-steps=50", "--workers=0", "--evaluate-every=0", "--no-tensorboard"),
    *("--save-every-steps=20", "--keep=2", "--log-every=1"),
)

if __name__ == "__main__":
    torch.set_num_threads(1)
    raise SystemExit(main(WORDS))
