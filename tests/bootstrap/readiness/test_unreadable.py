"""Whatever one command or file says that can't be read whole, the node isn't ready."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bootstrap.readiness.commands import Answer, Command, Recorded
from bootstrap.readiness.order import examine
from bootstrap.readiness.situation import Situation
from bootstrap.readiness.verdict import Finding, Verdict, judge
from nightshift.emulator.sandbox.machines.answers import answers
from nightshift.emulator.sandbox.machines.description import Machine
from tests.bootstrap.readiness.support.machines import situation_of, write

GOOD = Finding("other", True, "it", "it", "")
KINDS = ("g4dn.xlarge", "p5.48xlarge", "p6-b200.48xlarge")
FILES = (
    "/proc/driver/nvidia/version",
    "/proc/self/limits",
    "/proc/sys/kernel/hostname",
    "/sys/bus/pci/devices/0000:10:00.0/vendor",
    "/sys/bus/pci/devices/0000:10:00.0/class",
)
Answers = Mapping[Command, Answer | tuple[Answer, ...]]


def machine(kind: str) -> Machine:
    return Machine(kind, efa=kind.startswith("p"))


@lru_cache
def root_of(kind: str) -> TemporaryDirectory[str]:
    folder = TemporaryDirectory()
    write(machine(kind), Path(folder.name))
    return folder


@pytest.fixture(scope="module", autouse=True)
def folders() -> Iterator[None]:
    yield
    for kind in KINDS:
        root_of(kind).cleanup()
    root_of.cache_clear()


def node(kind: str, given: Answers) -> Situation:
    return situation_of(machine(kind), Path(root_of(kind).name), given)


def verdict(node: Situation) -> Verdict:
    return judge(examine(node, lambda _: GOOD, lambda _: GOOD))


@lru_cache
def asked(kind: str) -> tuple[Command, ...]:
    """The commands that a healthy machine of this type is asked."""
    whole = node(kind, answers(machine(kind)))
    assert verdict(whole).ready
    assert isinstance(whole.commands, Recorded)
    return tuple(dict.fromkeys(whole.commands.asked))


def healthy(kind: str, command: Command) -> Answer:
    answer = answers(machine(kind))[command]
    return answer if isinstance(answer, Answer) else answer[-1]


def with_answer(kind: str, command: Command, answer: Answer) -> Verdict:
    return verdict(node(kind, {**answers(machine(kind)), command: answer}))


@st.composite
def commands(draw: st.DrawFn) -> tuple[str, Command, Answer]:
    kind = draw(st.sampled_from(KINDS))
    command = draw(st.sampled_from(asked(kind)))
    return kind, command, healthy(kind, command)


@settings(max_examples=120, deadline=None)
@given(case=commands(), data=st.data())
def test_a_truncated_answer_never_makes_a_node_ready(
    case: tuple[str, Command, Answer], data: st.DataObject
) -> None:
    kind, command, answer = case
    end = data.draw(st.integers(0, len(answer.stdout) - 1))
    told = with_answer(kind, command, replace(answer, stdout=answer.stdout[:end]))
    assert not told.ready
    assert told.says


@settings(max_examples=80, deadline=None)
@given(case=commands(), data=st.data())
def test_a_garbled_answer_never_makes_a_node_ready(
    case: tuple[str, Command, Answer], data: st.DataObject
) -> None:
    kind, command, answer = case
    text = answer.stdout
    begin = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(begin + 1, len(text)))
    noise = data.draw(st.sampled_from(["\ufffd", "\x00", "\x1b[0m"]))
    assert not with_answer(kind, command, replace(answer, stdout=text[:begin] + noise + text[end:])).ready


@settings(max_examples=80, deadline=None)
@given(case=commands(), text=st.text(max_size=200))
def test_another_text_never_makes_a_node_ready(case: tuple[str, Command, Answer], text: str) -> None:
    kind, command, answer = case
    assert not with_answer(kind, command, replace(answer, stdout=text)).ready
    assert not with_answer(kind, command, replace(answer, stdout=f"{text}\n")).ready


@pytest.mark.parametrize("kind", KINDS)
def test_a_command_that_fails_is_late_or_is_not_there_never_makes_a_node_ready(kind: str) -> None:
    for command in asked(kind):
        answer = healthy(kind, command)
        for bad in (replace(answer, rc=1), replace(answer, late=True), Answer(127, "", "not found")):
            assert not with_answer(kind, command, bad).ready, command


@settings(max_examples=80, deadline=None)
@given(case=commands(), data=st.data())
def test_a_lost_line_never_makes_a_node_ready(case: tuple[str, Command, Answer], data: st.DataObject) -> None:
    """But for listings, whose every line is optional by its nature."""
    kind, command, answer = case
    if command[0] == "sh":
        return
    lines = answer.stdout.splitlines(keepends=True)
    lost = data.draw(st.integers(0, len(lines) - 1))
    text = "".join(lines[:lost] + lines[lost + 1 :])
    assert not with_answer(kind, command, replace(answer, stdout=text)).ready


@settings(max_examples=40, deadline=None)
@given(name=st.sampled_from(FILES), raw=st.binary(max_size=100), kind=st.sampled_from(KINDS[1:]))
def test_a_file_with_other_contents_never_makes_a_node_ready(name: str, raw: bytes, kind: str) -> None:
    path = Path(root_of(kind).name) / name.lstrip("/")
    before = path.read_bytes()
    try:
        path.write_bytes(raw)
        assert not verdict(node(kind, answers(machine(kind)))).ready
    finally:
        path.write_bytes(before)


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_seen_stands_in_the_reason(kind: str) -> None:
    for command in asked(kind):
        told = with_answer(kind, command, Answer(0, "Segmentation fault\n"))
        assert "Segmentation fault" in told.says, command
