"""The script on docs/training.md that adds packages to a runtime does what the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "training.md").read_text(encoding="utf-8")
(SCRIPT,) = re.findall(r"```python\n(import fcntl.*?)```", PAGE, re.DOTALL)
LACKS = "nightshift_lacked"


def wheel(folder: Path) -> Path:
    """A package that is on no index."""
    info = f"{LACKS}-1.0.dist-info"
    path = folder / f"{LACKS}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(f"{LACKS}.py", "FOUND = 1\n")
        file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {LACKS}\nVersion: 1.0\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")
    return path


def test_two_processes_find_what_one_of_them_installed_on_the_volume(tmp_path: Path) -> None:
    code, volume = tmp_path / "code", tmp_path / "runs"
    code.mkdir()
    (code / "packages.py").write_text(SCRIPT, encoding="utf-8")
    (code / "requirements.txt").write_text(f"{wheel(tmp_path)}\n", encoding="utf-8")
    (code / "train.py").write_text(f"import packages, {LACKS}\nprint({LACKS}.__file__)\n", encoding="utf-8")
    checkpoints = str(volume / "checkpoints" / "vit-0")
    environment = {**os.environ, "NIGHTSHIFT_CHECKPOINTS": checkpoints, "PIP_NO_INDEX": "1"}
    ranks = [
        subprocess.Popen(
            [sys.executable, "train.py"], cwd=code, env=environment, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    said = [rank.communicate(timeout=300)[0] for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0, 0]
    assert all(out.splitlines()[-1].startswith(str(volume / "packages")) for out in said)
    assert sum("Successfully installed" in out for out in said) == 1
