"""Two writers are seen in the nodes' own mount tables."""

from __future__ import annotations

import pytest

from nightshift.rehearsal.real.writers import Writers, mounted

RUNS = "36 35 7:3 / /data/runs rw,noatime shared:1 - xfs /dev/nvme1n1 rw"
OTHER = "37 35 7:4 / /data/data rw - xfs /dev/nvme2n1 rw"
ROOT = "22 1 0:21 / / rw - overlay overlay rw"


def test_only_what_is_mounted_as_a_volume_counts() -> None:
    assert mounted(f"{ROOT}\n{RUNS}\n{OTHER}\n") == {"7:3", "7:4"}
    assert mounted("") == set()


def test_time_counts_for_each_volume_that_two_have() -> None:
    writers = Writers(list)
    writers.note([f"{ROOT}\n{RUNS}", ROOT], 1.0)
    assert writers.seconds == 0
    writers.note([f"{RUNS}\n{OTHER}", f"{OTHER}\n{RUNS}", RUNS], 0.5)
    assert writers.seconds == pytest.approx(1.0)
    assert writers.looks == 2
