"""How often to save and to ask each other, from what it costs. Pure; all times in seconds."""

from __future__ import annotations

import math
from dataclasses import dataclass

LOSS_EVERY_S = 6 * 3600.0  # assumed time between losses of one node when nobody says better
OVERHEAD_AT_MOST = 0.035  # of the run for saving: the bound that CheckFreq (FAST'21) kept
SHORTEST_S = 15.0
LONGEST_S = 1800.0
OVERTIME_LOSS_EVERY_S = 600.0  # past the shift's end the node may go at any moment
COPY_BYTES_PER_S = 1e9  # before the first save has been measured
WRITE_BYTES_PER_S = 125e6  # gp3's baseline throughput, likewise
ANSWER_WITHIN_S = 0.25
STEPS_AT_MOST = 64
GUARD_S = 15.0


@dataclass(frozen=True)
class Cost:
    """What one save takes: training stands still `blocked_s`, the write goes on for `background_s`."""

    blocked_s: float
    background_s: float


def guessed_cost(size: int) -> Cost:
    """For `size` bytes, before anything was measured."""
    return Cost(size / COPY_BYTES_PER_S, size / WRITE_BYTES_PER_S)


def save_interval(cost: Cost, loss_every_s: float) -> float:
    """Seconds of training between saves that lose the least, by Daly's second order of Young's formula.

    Bounds: saving takes at most OVERHEAD_AT_MOST of the run and is never asked for faster than twice the
    time a write needs; a loss costs LONGEST_S at most unless these say otherwise.
    """
    wanted = _daly(cost.blocked_s, max(loss_every_s, 1.0))
    floor = max(SHORTEST_S, cost.blocked_s / OVERHEAD_AT_MOST, 2 * cost.background_s)
    return max(floor, min(LONGEST_S, wanted))


def _daly(cost: float, loss_every_s: float) -> float:
    if cost >= 2 * loss_every_s:
        return loss_every_s
    ratio = cost / (2 * loss_every_s)
    return math.sqrt(2 * cost * loss_every_s) * (1 + math.sqrt(ratio) / 3 + ratio / 9) - cost


def loss_every(of_node_s: float | None, nodes: int, left_s: float | None) -> float:
    """Time between losses of the whole world: any node's loss is the world's."""
    if left_s is not None and left_s <= 0:
        return OVERTIME_LOSS_EVERY_S
    return (of_node_s or LOSS_EVERY_S) / max(1, nodes)


def guard(cost: Cost, step_s: float) -> float:
    """How long before a deadline the last save must begin: twice what it took, two steps, and a margin."""
    return GUARD_S + 2 * (cost.blocked_s + cost.background_s) + 2 * step_s


def save_due(
    *,
    since_save_s: float,
    interval_s: float,
    left_s: float | None,
    guard_s: float,
    last_save_left_s: float | None,
) -> bool:
    """Save now? `last_save_left_s`: what was left of the shift when the last save began, None before one."""
    if since_save_s >= interval_s:
        return True
    if left_s is None or left_s > guard_s or left_s <= 0:
        return False
    return last_save_left_s is None or last_save_left_s > guard_s


def ask_every(step_s: float) -> int:
    """Steps between two agreements: an answer within ANSWER_WITHIN_S, or each step when steps are slower."""
    if step_s <= 0:
        return 1
    return max(1, int(min(STEPS_AT_MOST, ANSWER_WITHIN_S / step_s)))
