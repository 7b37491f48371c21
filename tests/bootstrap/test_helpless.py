"""When an agent that can't begin gives its node up."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.__main__ import main
from bootstrap.start import helpless as room
from bootstrap.start.helpless import LIMIT_S, LIVED_S, helpless, troubled_since
from bootstrap.start.install import GIVEN_UP
from tests.bootstrap.support.agent import CONFIG

MOMENT = st.floats(0, 1e7)


def test_starts_that_fail_for_half_an_hour_are_enough(tmp_path: Path) -> None:
    memory = tmp_path / "run" / "troubled-since"
    tries = [helpless(memory, float(began), began + 60.0) for began in range(100, 2100, 65)]
    assert tries.index(True) == 28, "the first failed at 160 s, and 28 more later it is 1,980 s"
    assert all(tries[28:])


def test_a_start_that_was_of_use_begins_the_count_anew(tmp_path: Path) -> None:
    memory = tmp_path / "troubled-since"
    assert not helpless(memory, 0.0, 10.0)
    assert not helpless(memory, 15.0, 90_000.0), "five hours and more in service, then an outage"
    assert not helpless(memory, 90_005.0, 90_065.0)
    assert helpless(memory, 91_800.0, 91_860.0)


@given(before=st.none() | MOMENT, began=MOMENT, lived=st.floats(0, 1e5))
def test_a_row_never_begins_after_its_last_failure(before: float | None, began: float, lived: float) -> None:
    since = troubled_since(before, began, began + lived)
    assert since <= began + lived
    assert (since == began + lived) or (lived <= LIVED_S and since == before)


@pytest.mark.parametrize("text", ["", "soon", "\x00"])
def test_a_damaged_memory_counts_from_now(tmp_path: Path, text: str) -> None:
    memory = tmp_path / "troubled-since"
    memory.write_text(text)
    assert not helpless(memory, 9_000.0, 9_010.0)
    assert helpless(memory, 9_010.0 + LIMIT_S - 5, 9_010.0 + LIMIT_S)


def test_a_memory_that_cannot_be_kept_ends_no_node(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file, not a folder")
    assert not helpless(tmp_path / "run" / "troubled-since", 0.0, 1e6)


def test_the_agent_gives_the_node_up_when_nothing_answers_for_so_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def silent() -> None:
        raise OSError("the metadata service doesn't answer")

    node = tmp_path / "node.json"
    node.write_text(json.dumps(asdict(CONFIG)))
    monkeypatch.setenv("NIGHTSHIFT_RUN_DIR", str(tmp_path))
    monkeypatch.setattr("bootstrap.imds.read_instance", silent)
    assert main(["start", "--node", str(node)]) == 1
    monkeypatch.setattr(room, "LIMIT_S", 0.0)
    assert main(["start", "--node", str(node)]) == GIVEN_UP
    assert "no start of the agent has come to anything for half an hour" in capsys.readouterr().err
