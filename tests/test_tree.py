"""What holds over the whole tree, whoever wrote it."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent
HELPERS = {"conftest.py", "recorder.py"}
FOLDERS_OF_PROGRAMS = {"fixtures", "campaigns", "support"}


def tracked(*patterns: str) -> list[Path]:
    listing = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, check=True, capture_output=True)
    return [ROOT / name for name in listing.stdout.decode().split("\0") if name and (ROOT / name).exists()]


def test_every_test_file_is_collected() -> None:
    stray = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("*.py")
        if not path.name.startswith("test_")
        and path.name not in HELPERS
        and not FOLDERS_OF_PROGRAMS & set(path.relative_to(ROOT).parts)
    ]
    assert stray == [], (
        "pytest collects test_*.py; programs and helpers live in fixtures, support or campaigns"
    )


def test_files_stay_readable_in_one_sitting() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in tracked("*.py")
        if (lines := len(path.read_text().splitlines())) > 320
    }
    assert long == {}, "about 300 lines, one concern each: split what grew"


def test_functions_stay_short() -> None:
    long = {}
    for path in tracked("nightshift/*.py", "infra/*.py", "bootstrap/*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
                length = node.end_lineno - node.lineno + 1
                if length > 60:
                    long[f"{path.relative_to(ROOT)}:{node.name}"] = length
    assert long == {}, "60 lines at the very most"


def test_nothing_names_a_registry_or_a_path_of_one_machine() -> None:
    forbidden = re.compile(
        "|".join(
            [
                "py" + "pi[.]org",
                "python" + "hosted",
                "proxy[.]go" + "lang",
                "npm" + "js[.]org",
                "/ro" + "ot/",
                "/wo" + "rk/",
            ]
        )
    )
    hits = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in tracked()
        if path.suffix not in {".sum", ".gz", ".png"}
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if forbidden.search(line)
    ]
    assert hits == []
