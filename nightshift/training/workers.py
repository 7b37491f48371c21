"""Worker processes of a loader: a drain doesn't end them, their parent does; their errors are its own."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch.utils.data import DataLoader, default_collate, get_worker_info

from nightshift.training.errors import TrainingError

T = TypeVar("T")


def quiet_worker(_worker: int) -> None:
    """A drain's SIGTERM reaches the workers too. Only their parent's, sent at its exit, ends them."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    parent = multiprocessing.parent_process()
    threading.Thread(target=_end_with, args=(parent.pid if parent else os.getppid(),), daemon=True).start()
    torch.set_num_threads(1)


def _end_with(parent: int | None) -> None:
    while signal.sigwaitinfo({signal.SIGTERM}).si_pid != parent:
        pass
    os._exit(0)  # torch reports any other code as a worker that was lost


@dataclass(frozen=True)
class Failure:
    """An error on its way to the parent. torch would put the worker's whole traceback into its message."""

    pickled: bytes


def carried(make: Callable[[], T]) -> T | Failure:
    """In a worker an error is a value. One that can't travel is left to torch."""
    if get_worker_info() is None:
        return make()
    try:
        return make()
    except Exception as error:
        if not isinstance(error, TrainingError):
            error.add_note(f"in a worker process:\n{traceback.format_exc()}")
        try:
            pickled = pickle.dumps(error)
            pickle.loads(pickled)
        except Exception:
            raise error from None
        return Failure(pickled)


@dataclass(frozen=True)
class Collate:
    """`given` None: torch's own."""

    given: Callable[[list[Any]], Any] | None = None

    def __call__(self, rows: list[Any] | Failure) -> Any:
        if isinstance(rows, Failure):
            return rows
        return carried(lambda: (self.given or default_collate)(rows))


def opened(source: DataLoader[Any]) -> Iterator[Any]:
    """Its batches. What a worker raised is raised here."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # for workers that only begin
    try:
        return map(_opened, iter(source))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _opened(batch: Any) -> Any:
    if isinstance(batch, Failure):
        raise pickle.loads(batch.pickled)
    return batch
