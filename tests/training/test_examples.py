"""The documented change is the real one."""

from __future__ import annotations

import difflib
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_the_diff_in_the_docs_is_the_one_between_the_examples() -> None:
    plain, safe = ("examples/plain.py", "examples/shift_safe.py")
    before, after = ((ROOT / name).read_text().splitlines() for name in (plain, safe))
    diff = "\n".join(difflib.unified_diff(before, after, plain, safe, lineterm="", n=1))
    assert f"```diff\n{diff}\n```" in (ROOT / "docs/training.md").read_text()


def test_the_safe_script_is_not_longer_than_the_plain_one() -> None:
    plain, safe = (
        (ROOT / "examples" / name).read_text().splitlines() for name in ("plain.py", "shift_safe.py")
    )
    assert len(safe) <= len(plain)
