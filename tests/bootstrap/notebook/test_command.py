"""What a notebook is started with: the token in one file, one port, the user's own number."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.notebook.command import arguments, config_text, environment
from bootstrap.notebook.place import lay
from bootstrap.people.accounts import Login
from bootstrap.runtime.presets import LOCKS, arches, lock_file, locks, pins
from nightshift.plan import names

ADA = Login("ada", 30_398, Path("/data/home/ada"))
PYTHON = Path("/opt/nightshift/runtimes/0123/bin/python3.12")
TOKEN = "q" * 43


def test_it_listens_on_loopback_alone_at_its_own_port_or_not_at_all() -> None:
    told = json.loads(config_text(ADA, 8890, TOKEN))
    assert told["ServerApp"] == {
        "ip": "127.0.0.1",
        "port": 8890,
        "port_retries": 0,
        "open_browser": False,
        "root_dir": "/data/home/ada",
    }
    assert told["IdentityProvider"] == {"token": TOKEN}


def test_kernels_are_reached_by_sockets_in_the_users_own_folder() -> None:
    assert json.loads(config_text(ADA, 8888, TOKEN))["KernelManager"] == {"transport": "ipc"}


def test_it_runs_by_the_users_number_with_the_runtimes_own_python() -> None:
    config = Path("/run/nightshift/notebook/ada/config.json")
    assert arguments(PYTHON, ADA, config) == [
        *("setpriv", "--reuid=30398", "--regid=30398", "--init-groups"),
        *(str(PYTHON), "-I", "-m", "jupyterlab", f"--config={config}"),
    ]


def test_its_environment_is_the_users_and_not_the_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/agent")
    given_ = environment(PYTHON, ADA, "us-east-1", Path("/run/x"))
    assert given_["PATH"].startswith("/opt/nightshift/runtimes/0123/bin:")
    assert (given_["HOME"], given_["USER"], given_["JUPYTER_RUNTIME_DIR"]) == (
        "/data/home/ada",
        "ada",
        "/run/x",
    )
    assert not [name for name in given_ if "TOKEN" in name or name.startswith(("PYTHON", "NIGHTSHIFT"))]


@given(st.from_regex(names.NAME_PATTERN, fullmatch=True))
def test_the_sockets_of_the_longest_name_fit_into_an_address(user: str) -> None:
    """unix(7): 108 bytes with the one at its end. A kernel's socket is `kernel-UUID-ipc-5`."""
    path = f"/run/nightshift/notebook/{user}/run/kernel-{'0' * 36}-ipc-5"
    assert len(path.encode()) < 108


def test_the_configuration_is_for_its_user_alone_and_made_anew(tmp_path: Path) -> None:
    login = Login("ada", os.getuid(), tmp_path)
    first = lay(tmp_path / "notebook", login, "one")
    assert (first.config.read_text(), first.config.stat().st_mode & 0o777) == ("one", 0o600)
    assert first.runtime.stat().st_mode & 0o777 == 0o700
    (first.runtime / "left").write_text("")
    first.config.unlink()
    first.config.symlink_to(tmp_path / "elsewhere")
    second = lay(tmp_path / "notebook", login, "two")
    assert not second.config.is_symlink()
    assert second.config.read_text() == "two"
    assert list(second.runtime.iterdir()) == []
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    ("preset", "arch"), [(preset, arch) for preset in locks() for arch in arches(preset)]
)
def test_every_runtime_has_the_jupyter_that_this_configuration_is_for(preset: str, arch: str) -> None:
    pinned = pins((LOCKS / lock_file(preset, arch)).read_text())
    majors = {name: pinned[name].partition(".")[0] for name in ("jupyterlab", "jupyter-server", "ipykernel")}
    assert majors == {"jupyterlab": "4", "jupyter-server": "2", "ipykernel": "7"}
