"""Units are read as systemd reads them, or refused; and end as it would have it."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.start.install import GIVEN_UP, unit_text
from nightshift.emulator.sandbox.inside.units import (
    NO_LIMIT,
    Ended,
    Service,
    UnitError,
    parse,
    seconds,
    service,
)

AGENT = service("nightshift.service", unit_text("/usr/bin/python3", Path("/opt/a"), Path("/etc/n.json")))


def test_the_agents_own_unit_is_understood() -> None:
    assert AGENT.command == ("/usr/bin/python3", "-m", "bootstrap", "start", "--node", "/etc/n.json")
    assert AGENT.environment == {"PYTHONPATH": "/opt/a", "PYTHONTZPATH": "", "PYTHONUNBUFFERED": "1"}
    assert (AGENT.folder, AGENT.kill_mode, AGENT.stop_s) == ("/opt/a", "mixed", 110)
    assert (AGENT.open_files, AGENT.locked_memory) == (524288, NO_LIMIT)
    assert (AGENT.interval_s, AGENT.wanted_by) == (0, ("multi-user.target",))
    assert AGENT.failure_action == "poweroff"


@pytest.mark.parametrize(
    ("ended", "again"),
    [
        (Ended(0), False),
        (Ended(1), True),
        (Ended(GIVEN_UP), False),
        (Ended(None, signal.SIGKILL), True),
        (Ended(None, signal.SIGSEGV), True),
        (Ended(None, signal.SIGTERM), False),
    ],
)
def test_the_agent_starts_again_after_what_may_heal_alone(ended: Ended, again: bool) -> None:
    assert AGENT.starts_again(ended) is again


@given(st.integers(0, 255))
def test_a_unit_without_restart_never_starts_again(code: int) -> None:
    assert not Service("a.service", ("true",)).starts_again(Ended(code))


@pytest.mark.parametrize(
    ("text", "value"),
    [("5", 5), ("100ms", 0.1), ("1min 30s", 90), ("2h", 7200), ("0", 0), ("infinity", float("inf"))],
)
def test_times_are_read(text: str, value: float) -> None:
    assert seconds(text) == pytest.approx(value)


@given(st.integers(0, 59), st.integers(0, 59))
def test_spans_add_up(minutes: int, rest: int) -> None:
    assert seconds(f"{minutes}min {rest}s") == 60 * minutes + rest


@pytest.mark.parametrize("text", ["soon", "5 fortnights", "", "-1"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(UnitError, match="no time span"):
        seconds(text)


@pytest.mark.parametrize(
    "line",
    ["PrivateTmp=yes", "ExecStartPre=/bin/true", "nonsense", "[Timer]\nOnCalendar=daily"],
)
def test_a_unit_that_says_more_is_refused_by_the_line(line: str) -> None:
    with pytest.raises(UnitError, match="not understood here"):
        parse(f"[Service]\nExecStart=/bin/true\n{line}\n")


def test_later_values_win_and_empty_ones_forget() -> None:
    text = "[Service]\n# a comment\nExecStart=/bin/a\nExecStart=\nExecStart=/bin/b \\\n  --long\nRestart=no\n"
    found = service("x.service", text + "Restart=always\n")
    assert (found.command, found.restart) == (("/bin/b", "--long"), "always")


def test_one_command_is_needed() -> None:
    with pytest.raises(UnitError, match="there are 0"):
        service("x.service", "[Service]\nRestart=no\n")
