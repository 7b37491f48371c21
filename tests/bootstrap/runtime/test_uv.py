"""A uv of the pinned version, from the path or by hash through the image's pip; else a plain word."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from bootstrap.commands import Ran
from bootstrap.runtime import uv
from bootstrap.runtime.build import environment, reason
from bootstrap.runtime.presets import UV
from bootstrap.runtime.problem import RuntimeProblem, says_full

PINNED = Ran(0, f"uv {UV} (x86_64-unknown-linux-gnu)\n", "", 0.0)
NO_PIP = Ran(1, "", "/usr/bin/python3: No module named pip", 0.0)


class Machine:
    """Answers commands; `pip` puts a uv where it was told to."""

    def __init__(self, version: Ran, pip: Ran, venv: Ran | None = None) -> None:
        self.version, self.pip, self.venv, self.asked = version, pip, venv, list[str]()

    def __call__(self, command: Sequence[str]) -> Ran:
        words = list(command)
        self.asked.append(" ".join(words))
        if words[1:] == ["--version"]:
            return self.version if "/found/" in words[0] else PINNED
        if "venv" in words:
            return self.venv or Ran(1, "", "ensurepip is not available", 0.0)
        ran = self.pip if "/pip/bin/" not in words[0] else Ran(0, "", "", 0.0)
        if ran.code == 0:
            made = Path(words[words.index("--target") + 1]) / "bin" / "uv"
            made.parent.mkdir(parents=True)
            made.touch(0o755)
        return ran


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A PATH with some uv on it, and a Python that has none beside it."""
    (tmp_path / "found").mkdir()
    (tmp_path / "found" / "uv").touch(0o755)
    monkeypatch.setattr(uv.sys, "executable", str(tmp_path / "bare" / "python3"))
    return str(tmp_path / "found")


def test_one_that_is_there_is_taken_if_it_is_the_pinned_one(path: str, tmp_path: Path) -> None:
    machine = Machine(PINNED, NO_PIP)
    assert uv.find_uv(tmp_path / "new", machine, "python3", path) == Path(path) / "uv"
    assert len(machine.asked) == 1


@pytest.mark.parametrize(
    "version", [Ran(0, "uv 0.9.0\n", "", 0.0), Ran(127, "", "not found", 0.0), Ran(0, "", "", 0.0)]
)
def test_another_version_is_left_and_pip_fetches_the_pinned_one_by_hash(
    path: str, tmp_path: Path, version: Ran
) -> None:
    machine = Machine(version, Ran(0, "", "", 0.0))
    assert uv.find_uv(tmp_path / "new", machine, "python3", path) == tmp_path / "new/uv/bin/uv"
    (pip,) = [each for each in machine.asked if " pip " in each]
    assert "--require-hashes" in pip
    assert "--only-binary :all:" in pip
    assert "--no-deps" in pip


def test_without_pip_a_virtual_environment_s_is_used(tmp_path: Path, path: str) -> None:
    machine = Machine(PINNED, NO_PIP, venv=Ran(0, "", "", 0.0))
    found = uv.find_uv(tmp_path / "new", machine, "python3", search="")
    assert found == tmp_path / "new/uv/bin/uv"


@pytest.mark.parametrize(
    ("pip", "says"),
    [
        (NO_PIP, "no pip for python3, and no venv either: exit code 1: ensurepip is not available"),
        (Ran(1, "", "THESE PACKAGES DO NOT MATCH THE HASHES", 0.0), "DO NOT MATCH THE HASHES"),
    ],
)
def test_where_none_can_be_had_the_reason_and_a_way_out_are_said(
    tmp_path: Path, path: str, pip: Ran, says: str
) -> None:
    with pytest.raises(RuntimeProblem) as caught:
        uv.find_uv(tmp_path / "new", Machine(PINNED, pip), "python3", search="")
    assert says in caught.value.found
    assert UV in caught.value.expected
    assert "python3-pip" in caught.value.remedy


def test_mirrors_and_proxies_of_the_machine_reach_uv_and_python_s_own_settings_do_not() -> None:
    given = {"UV_DEFAULT_INDEX": "a", "HTTPS_PROXY": "b", "PYTHONPATH": "c", "VIRTUAL_ENV": "d", "PATH": "e"}
    found = environment(given, Path("/spare/uv-cache"))
    assert (found["UV_DEFAULT_INDEX"], found["HTTPS_PROXY"], found["PATH"]) == ("a", "b", "e")
    assert not {"PYTHONPATH", "VIRTUAL_ENV"} & found.keys()
    assert found["UV_CACHE_DIR"] == "/spare/uv-cache"
    assert environment({"UV_CACHE_DIR": "x"}, Path("/y"))["UV_CACHE_DIR"] == "x"


def test_a_full_disk_is_known_by_what_a_command_says() -> None:
    assert says_full("error: failed to copy: No space left on device (os error 28)")
    assert not says_full("error: connection reset")


@pytest.mark.parametrize(
    ("err", "says"),
    [
        (
            "Resolved 3 packages\n  × Failed to download `beta==1.0`\n  ├─▶ Hash mismatch for `beta==1.0`\n",
            "× Failed to download `beta==1.0` / ├─▶ Hash mismatch for `beta==1.0`",
        ),
        (
            "Downloading cpython\nerror: Failed to install cpython\n  Caused by: dns\n",
            "error: Failed to install cpython / Caused by: dns",
        ),
        ("one\ntwo\n", "one / two"),
        ("", "no output"),
    ],
)
def test_of_what_uv_prints_the_trouble_is_told(err: str, says: str) -> None:
    assert reason(Ran(1, "", err, 0.0)) == says


def test_a_long_story_is_cut() -> None:
    told = reason(Ran(1, "", "error: " + "x" * 5000 + "\n" + "line\n" * 50, 0.0))
    assert len(told) <= 700
