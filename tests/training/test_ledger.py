"""Where a launch's time goes: each second once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightshift.training.ledger import Ledger, process_age_s

SECONDS = st.floats(0, 1e4)


class Clock:
    """A hand that tests turn."""

    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at


@given(st.lists(st.tuples(SECONDS, SECONDS, SECONDS, SECONDS), min_size=1, max_size=8))
def test_the_parts_are_the_whole(steps: list[tuple[float, float, float, float]]) -> None:
    clock = Clock()
    ledger = Ledger(now=clock, born=0.0)

    def source() -> Iterator[float]:
        for wait, _, _, _ in steps:
            clock.at += wait
            yield wait

    for (_, work, save, aside), _ in zip(steps, ledger.waiting(source()), strict=True):
        clock.at += work
        with ledger.counting("aside_s"):
            clock.at += aside
        ledger.step_done()
        with ledger.counting("saving_s"):
            clock.at += save
    assert ledger.restart_s == pytest.approx(steps[0][0] + steps[0][1])
    assert ledger.input_s == pytest.approx(sum(wait for wait, *_ in steps[1:]))
    assert ledger.training_s == pytest.approx(sum(work for _, work, _, _ in steps[1:]), abs=1e-6)
    assert ledger.total_s == pytest.approx(sum(map(sum, steps)))
    assert ledger.steps == len(steps)


def test_what_raises_inside_is_counted_too() -> None:
    clock = Clock()
    ledger = Ledger(now=clock, born=0.0)

    def late() -> None:
        clock.at += 2
        raise KeyError

    with pytest.raises(KeyError), ledger.counting("saving_s"):
        late()
    assert ledger.saving_s == 2


def test_a_processs_age_is_read_from_the_kernel(tmp_path: Path) -> None:
    stat, uptime = tmp_path / "stat", tmp_path / "uptime"
    ticks = 500 * os.sysconf("SC_CLK_TCK")
    stat.write_text(f"12 (a ) b) S {' '.join('0' * 18)} {ticks} 7 8\n")
    uptime.write_text("512.25 900.0\n")
    assert process_age_s(stat, uptime) == pytest.approx(12.25)
    assert process_age_s(tmp_path / "none", uptime) == 0.0
    assert 0 <= process_age_s() < 86400
