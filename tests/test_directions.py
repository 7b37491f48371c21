"""Who may import whom (docs/design.md, section 3). A room that reaches the wrong way fails here by name."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OWN = ("nightshift", "infra", "bootstrap")
ROOMS = {
    "nightshift.catalog": set(),
    "nightshift.plan": {"nightshift.catalog"},
    "nightshift.records": {"nightshift.plan"},
    "nightshift.settings": {"nightshift.catalog", "nightshift.plan"},
    "nightshift.training": set(),
    "nightshift.training.images": {"nightshift.training"},
    "nightshift.training.s3": {"nightshift.training"},
    "nightshift.training.trainer": {
        "nightshift.training",
        "nightshift.training.images",
        "nightshift.training.s3",
    },
    "bootstrap": {"nightshift.catalog", "nightshift.plan", "nightshift.records"},
    "infra": {
        "nightshift.catalog",
        "nightshift.plan",
        "nightshift.records",
        "nightshift.settings",
        "bootstrap",
    },
    "nightshift.emulator.cloud": {"nightshift.catalog"},
    "nightshift.emulator.engine": {"nightshift.settings"},
    "nightshift.emulator.sandbox": {"nightshift.catalog", "nightshift.emulator.cloud"},
    "nightshift.emulator.sandbox.machines": {
        "nightshift.catalog",
        "nightshift.emulator.sandbox",
        "bootstrap",
    },
    "nightshift.rehearsal": {
        "nightshift.catalog",
        "nightshift.plan",
        "nightshift.records",
        "nightshift.settings",
        "nightshift.emulator.cloud",
        "nightshift.emulator.engine",
        "nightshift.emulator.sandbox",
        "nightshift.emulator.sandbox.machines",
        "nightshift.cli",
        "bootstrap",
    },
    "nightshift.rehearsal.real.train": {"nightshift.training"},
    "nightshift.cli": {
        "nightshift.catalog",
        "nightshift.plan",
        "nightshift.records",
        "nightshift.settings",
        "nightshift.emulator.cloud",
        "nightshift.emulator.engine",
        "nightshift.emulator.sandbox",
        "nightshift.emulator.sandbox.machines",
        "nightshift.rehearsal",
    },
}
STANDARD_LIBRARY_ONLY = {
    "nightshift.catalog",
    "nightshift.plan",
    "nightshift.records",
    "nightshift.emulator.sandbox",
}
FOREIGN = {
    "nightshift.settings": {"pydantic", "pydantic_core", "yaml"},
    "nightshift.training": {"torch"},
    "nightshift.training.images": {"torch", "PIL"},
    "nightshift.training.s3": {"boto3", "botocore"},
    "nightshift.training.trainer": {"torch", "torchvision"},
    "nightshift.cli": {"boto3", "botocore", "pydantic", "yaml"},
    "nightshift.rehearsal": {"boto3", "botocore", "cronsim", "jinja2", "markupsafe", "pydantic"},
    "nightshift.rehearsal.real.train": {"torch"},
    "bootstrap": {"boto3", "botocore"},
}


def room_of(module: str) -> str | None:
    return max((room for room in ROOMS if f"{module}.".startswith(f"{room}.")), key=len, default=None)


def modules() -> list[tuple[str, Path]]:
    files = [path for top in OWN for path in (ROOT / top).rglob("*.py")]
    return [
        (".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"), path)
        for path in files
    ]


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


IN_ROOMS = [(room, name, path) for name, path in modules() if (room := room_of(name))]


@pytest.mark.parametrize(
    ("room", "path"), [pytest.param(room, path, id=name) for room, name, path in IN_ROOMS]
)
def test_a_module_imports_only_from_the_rooms_below_its_own(room: str, path: Path) -> None:
    ours = {name for name in imports(path) if name.split(".")[0] in OWN}
    reached = {target for name in ours if (target := room_of(name)) and target != room}
    assert reached <= ROOMS[room], f"{room} may not import {sorted(reached - ROOMS[room])}"


@pytest.mark.parametrize(
    ("room", "path"), [pytest.param(room, path, id=name) for room, name, path in IN_ROOMS]
)
def test_a_module_imports_only_the_libraries_of_its_room(room: str, path: Path) -> None:
    foreign = {name.split(".")[0] for name in imports(path)} - set(OWN) - set(sys.stdlib_module_names)
    if room in STANDARD_LIBRARY_ONLY:
        assert foreign == set(), f"{room} is standard library only"
    elif room in FOREIGN:
        assert foreign <= FOREIGN[room], f"{room} may import {sorted(FOREIGN[room])} only"


def test_no_module_of_the_program_hides_one_of_the_standard_library() -> None:
    """`main: infra/` puts that folder first on sys.path: infra/types.py would be everyone's `types`."""
    names = {path.stem for path in (ROOT / "infra").glob("*.py")} - {"__init__", "__main__"}
    assert names & set(sys.stdlib_module_names) == set()


def test_every_module_belongs_to_a_room() -> None:
    loose = {name for name, _ in modules() if room_of(name) is None}
    assert loose <= {"nightshift", "nightshift.emulator"}
