"""The stand-in for importlib.metadata gives what the real one gives, and costs nothing until then."""

from __future__ import annotations

import subprocess
import sys

PRELUDE = "import sys; from nightshift.cli.late import put_off_metadata; put_off_metadata(); "


def _run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + program], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_a_model_is_built_and_checked_without_the_real_module() -> None:
    program = """
import os
os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
from pydantic import BaseModel
class Size(BaseModel):
    gib: int
Size(gib=1)
print("email" in sys.modules)
"""
    assert _run(program) == "False"


def test_whoever_asks_gets_the_real_answers() -> None:
    program = """
from importlib.metadata import entry_points
import importlib.metadata as late
print(late.version("pydantic"), len(list(entry_points(group="console_scripts"))) > 0)
from importlib.metadata import version
print(version("pydantic"), type(sys.modules["importlib.metadata"]).__name__)
"""
    first, second = _run(program).splitlines()
    assert first.endswith("True")
    assert second == f"{first.split()[0]} module"


def test_pydantic_still_finds_plugins_where_they_are_wanted() -> None:
    program = """
from pydantic import BaseModel
class Count(BaseModel):
    nodes: int
print(Count(nodes=1).nodes)
"""
    assert _run(program) == "1"


def test_a_module_that_is_loaded_already_is_left_alone() -> None:
    program = """
import importlib.metadata as late
real = late.version("pydantic") and sys.modules["importlib.metadata"]
put_off_metadata()
print(sys.modules["importlib.metadata"] is real)
"""
    assert _run(program) == "True"
