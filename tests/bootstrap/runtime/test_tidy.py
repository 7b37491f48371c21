"""A built folder works wherever it's put, and is compared with what its hashed wheels say of it."""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path

from bootstrap.runtime.seal import MTIME
from bootstrap.runtime.tidy import (
    other_than_recorded,
    recorded,
    relative_scripts,
    settle,
    site_packages,
    still,
)


def script(tree: Path, name: str, text: bytes) -> Path:
    path = tree / "bin" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)
    path.chmod(0o755)
    return path


def test_scripts_find_the_python_beside_them_and_others_stay(tmp_path: Path) -> None:
    own = script(tmp_path, "torchrun", b"#!/a/b/bin/python3.12\nimport torch\n")
    shell = script(tmp_path, "tool", b"#!/bin/sh\necho\n")
    binary = script(tmp_path, "python3.12", b"\x7fELF#!/bin/python\n")
    assert relative_scripts(tmp_path) == 1
    first, second, third, *rest = own.read_text().splitlines()
    assert first == "#!/bin/sh"
    assert second == """'''exec' "$(dirname -- "$(realpath -- "$0")")/python3.12" "$0" "$@\""""
    assert (third, rest) == ("' '''", ["import torch"])
    assert os.access(own, os.X_OK)
    assert (shell.read_bytes(), binary.read_bytes()) == (b"#!/bin/sh\necho\n", b"\x7fELF#!/bin/python\n")


def test_a_rewritten_script_leaves_the_one_it_was_linked_from(tmp_path: Path) -> None:
    cached = tmp_path / "cache"
    cached.write_bytes(b"#!/a/bin/python3\nx\n")
    (tmp_path / "bin").mkdir()
    os.link(cached, tmp_path / "bin" / "tool")
    relative_scripts(tmp_path)
    assert cached.read_bytes() == b"#!/a/bin/python3\nx\n"


def test_the_final_place_is_named_where_the_build_s_was(tmp_path: Path) -> None:
    data = tmp_path / "lib/python3.12/_sysconfigdata__linux_.py"
    data.parent.mkdir(parents=True)
    data.write_text("vars = {'LIBDIR': '/tmp/build/cpython/lib'}\n")
    other = tmp_path / "lib/python3.12/os.py"
    other.write_text("/tmp/build/cpython\n")
    settle(tmp_path, Path("/tmp/build/cpython"), Path("/opt/x"))
    assert "'/opt/x/lib'" in data.read_text()
    assert other.read_text() == "/tmp/build/cpython\n"


def test_all_files_get_one_time_and_plain_modes(tmp_path: Path) -> None:
    tool = script(tmp_path, "tool", b"x")
    tool.chmod(0o700)
    (tmp_path / "a.py").write_text("x")
    (tmp_path / "a.py").chmod(0o664)
    (tmp_path / "a.pyc").write_text("x")
    (tmp_path / "link").symlink_to("/nowhere")
    still(tmp_path, compiled=True)
    assert (tmp_path / "a.pyc").exists()
    still(tmp_path, compiled=False)
    assert not (tmp_path / "a.pyc").exists()
    modes = {path.name: oct(path.stat().st_mode)[-3:] for path in (tool, tmp_path / "a.py")}
    assert modes == {"tool": "755", "a.py": "644"}
    assert {int(path.stat().st_mtime) for path in (tool, tmp_path / "a.py")} == {MTIME}


def test_a_file_that_differs_from_its_wheel_or_is_missing_is_named(tmp_path: Path) -> None:
    site = site_packages(tmp_path, "3.12")
    info = site / "alpha-1.0.dist-info"
    info.mkdir(parents=True)
    digest = hashlib.sha256(b"good").digest()
    text = base64.urlsafe_b64encode(digest).decode().rstrip("=")
    names = ["alpha.py", "beta.py", "gamma, with a comma.py", "../../../bin/tool", "x.pyc"]
    lines = [f'"{name}",sha256={text},4' for name in names]
    (info / "RECORD").write_text("\n".join([*lines, "alpha-1.0.dist-info/RECORD,,", ""]))
    assert dict(recorded(site)) == dict.fromkeys(names, digest.hex())
    prefix = "lib/python3.12/site-packages"
    found = {f"{prefix}/alpha.py": digest.hex(), f"{prefix}/beta.py": "0" * 64}
    wrong = [f"{prefix}/beta.py", f"{prefix}/gamma, with a comma.py"]
    assert other_than_recorded(tmp_path, site, found) == wrong
