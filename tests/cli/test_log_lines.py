"""Log lines: nothing of them steers a terminal, and their words stay."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nightshift.cli.log_lines import LogLine, Printer, read_event, shown
from nightshift.plan.instants import zone_of

ONE, TWO = "i-0abc0000000000001", "i-0abc0000000000002"
AT = 1_796_115_603_250  # 2026-12-01 17:00:03.25 in Shanghai


def test_a_plain_line_is_itself() -> None:
    assert shown("step 100\tloss 0.3 größer 学习", colours=False) == "step 100\tloss 0.3 größer 学习"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("\x1b[2J\x1b[Hgone", "gone"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]52;c;ZXZpbA==\x1b\\after", "after"),
        ("\x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bP1;2qdevice\x1b\\after", "after"),
        ("\x1bcreset", "reset"),
        ("\x9b2Jeight bits", "\\x9b2Jeight bits"),
        ("bell\x07 back\x08", "bell\\x07 back\\x08"),
        ("open \x1b]0;never ends", "open 0;never ends"),
        ("last \x1b", "last \\x1b"),
        ("turned \u202egnp.exe", "turned \\u202egnp.exe"),
        (" 10%|#\r 20%|##\r", " 20%|##"),
        ("a\rb\r\n", "b"),
    ],
)
def test_what_steers_a_terminal_is_taken_out_or_written_out(text: str, plain: str) -> None:
    assert shown(text, colours=False) == plain
    assert shown(text, colours=True) == plain


def test_colours_stay_on_a_terminal_and_end_there() -> None:
    text = "\x1b[1;31merror\x1b[0m \x1b[38;5;208morange"
    assert shown(text, colours=True) == text + "\x1b[0m"
    assert shown(text, colours=False) == "error orange"


@pytest.mark.parametrize(
    "hiding", ["\x1b[8m", "\x1b[5m", "\x1b[7m", "\x1b[1;8m", "\x1b[58;5;1m", "\x1b[99999m"]
)
def test_what_hides_or_blinks_is_no_colour(hiding: str) -> None:
    assert shown(f"{hiding}text", colours=True) == "text"


STEERING = st.sampled_from(
    ["\x1b[", "\x1b]", "\x1b", "\x9b", "\r", "\x07", "m", "0", ";", "31", "8", "\x1b\\", "x"]
)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@given(st.one_of(st.text(), st.lists(STEERING).map("".join)), st.booleans())
@example("\x1b[\x1b[31mm", True)
@example("\x1b\x1b]0;x\x07[31m", True)
def test_no_line_steers_a_terminal(text: str, colours: bool) -> None:
    told = shown(text, colours=colours)
    rest = COLOUR.sub("", told) if colours else told
    assert not re.search("[\x00-\x08\x0a-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", rest)
    assert told.isprintable() or all(ch.isprintable() or ch in "\t\x1b" or ord(ch) > 0x9F for ch in told)
    if "\x1b" in told:
        assert colours
        assert told.endswith("\x1b[0m")


def test_an_event_is_read_with_its_node_and_stream() -> None:
    raw = {"eventId": "7", "timestamp": AT, "message": "hi", "logStreamName": "nightshift-lab.vit/i-0abc/job"}
    assert read_event(raw) == LogLine("7", AT, "i-0abc", "job", "hi")
    assert read_event({**raw, "logStreamName": "odd"}).node == "?"


def _line(node: str, text: str = "hi", ms: int = AT) -> LogLine:
    return LogLine("1", ms, node, "job", text)


def test_times_are_local_and_the_node_is_named_when_it_changes() -> None:
    printer = Printer(zone_of("Asia/Shanghai"), colours=False, several=False)
    told = list(printer.lines([_line("i-1"), _line("i-1"), _line("i-2")]))
    assert told == [
        "== i-1",
        "2026-12-01 17:00:03 CST hi",
        "2026-12-01 17:00:03 CST hi",
        "== i-2",
        "2026-12-01 17:00:03 CST hi",
    ]


def test_a_night_of_two_nodes_is_printed(golden: Callable[[str, Any], None]) -> None:
    texts = ("epoch 31 step 48100 loss 0.3127", "epoch 31 step 48200 loss 0.3119", "saved step-48200")
    lines = [_line(ONE, text, AT + 61_000 * at) for at, text in enumerate(texts)]
    lines += [_line(TWO, "resumed from step-48200", AT + 900_000)]
    golden("logs", list(Printer(zone_of("Asia/Shanghai"), colours=False, several=False).lines(lines)))


def test_with_several_nodes_each_line_names_its_own() -> None:
    printer = Printer(zone_of("Etc/UTC"), colours=False, several=True)
    assert list(printer.lines([_line("i-1"), _line("i-2\x1b[2J", "")])) == [
        "2026-12-01 09:00:03 UTC i-1 hi",
        "2026-12-01 09:00:03 UTC i-2\\x1b[2J",
    ]


def test_the_hour_that_comes_twice_is_told_apart() -> None:
    """Berlin, 2026-10-25: 00:30 and 01:30 UTC are both 02:30."""
    printer = Printer(zone_of("Europe/Berlin"), colours=False, several=False)
    first, second = 1_792_888_200_000, 1_792_891_800_000
    told = list(printer.lines([_line("i-1", ms=first), _line("i-1", ms=second)]))
    assert told[1:] == ["2026-10-25 02:30:00 CEST hi", "2026-10-25 02:30:00 CET hi"]
