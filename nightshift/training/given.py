"""What a script gives to its run, and what must be the same as at its last launch."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from nightshift.training import job as contract
from nightshift.training.errors import TrainingError
from nightshift.training.loader import Loader
from nightshift.training.values import refuse_wrong


def total_steps(loader: Loader, epochs: float | None, steps: int | None) -> int:
    """Of the whole run. TrainingError unless exactly one is given."""
    if (epochs is None) == (steps is None):
        raise TrainingError("give either epochs or steps")
    total = loader.steps(epochs) if epochs is not None else int(steps or 0)
    if total < 1:
        raise TrainingError(f"{'epochs' if steps is None else 'steps'}: there must be at least one step")
    return total


def checkpoint_folder(given: Path | str | None) -> Path:
    """Made if it isn't there. TrainingError when neither the script nor the node names one."""
    named = given or os.environ.get(contract.CHECKPOINTS)
    if not named:
        raise TrainingError(f"folder: give one for the checkpoints, or set {contract.CHECKPOINTS}")
    folder = Path(named)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TrainingError(
            f"folder: {folder} can't be made ({error.strerror}); give a folder that may be written to"
        ) from error
    return folder


def unwritable(about: Mapping[str, object] | None) -> Iterator[str]:
    """What a checkpoint's manifest couldn't say, so that every save would fail."""
    for name, value in (about or {}).items():
        try:
            json.dumps({name: value}, sort_keys=True)
        except (TypeError, ValueError, RecursionError) as error:
            yield f"about: {name!r}: given {value!r:.80}, expected plain JSON values ({error})"


def patience(by: float | None) -> float | None:
    """Seconds to wait for a save; one is kept for the outcome."""
    return None if by is None else max(1.0, by - time.time() - 1.0)


def refuse_other_data(saved: Mapping[str, object], here: Mapping[str, object]) -> None:
    """TrainingError when a saved position would mean other samples."""
    names = {"samples": "number of samples", "content": "names of the samples"}
    refuse_wrong(
        *(
            f"{names.get(key, key)}: {saved[key]} when it was saved, {here[key]} now; "
            "a position would mean other samples"
            for key in here
            if key in saved and saved[key] != here[key]
        )
    )
