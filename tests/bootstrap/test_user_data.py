"""User data: small, the same for the same node, carrying nothing that a shift changes, and never silent."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import asdict, fields, replace
from pathlib import Path

import pytest

from bootstrap.drain.budget import STOP_S
from bootstrap.start import install as install_module
from bootstrap.start.config import NodeConfig
from bootstrap.start.install import GIVEN_UP, UNIT, install, unit_text
from bootstrap.start.user_data import LIMIT, UserDataTooLong, dns_suffix, render_user_data

SHELLCHECK = shutil.which("shellcheck", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
NODE = NodeConfig(
    site="lab",
    group="vit",
    group_name="nightshift-lab.vit",
    region="us-east-1",
    suffix="amazonaws.com",
    bucket="nightshift-lab-artifacts-00000000",
    data_bucket="nightshift-lab-data-00000000",
    manifest_key="groups/vit/manifest.json",
    artifact_key="bootstrap/0.zip",
    artifact_sha256="0" * 64,
    hook="ready",
)
LONGEST = NodeConfig(
    site="s" * 20,
    group="g" * 20,
    group_name="n" * 128,
    region="ap-southeast-3",
    suffix="amazonaws.com.cn",
    bucket="b" * 63,
    data_bucket="d" * 63,
    manifest_key="k" * 128,
    artifact_key="a" * 128,
    artifact_sha256="f" * 64,
    hook="ready",
    endpoint="http://127.0.0.1:65535",
)
GOLDEN = """#!/bin/bash
set -Eeuo pipefail
umask 022
root="${NIGHTSHIFT_ROOT:-/opt/nightshift}"
fetcher="$root/fetch.py"
node='{"artifact_key":"bootstrap/0.zip","artifact_sha256":"%s",\
"bucket":"nightshift-lab-artifacts-00000000","data_bucket":"nightshift-lab-data-00000000",\
"deadline_s":300,"endpoint":"","group":"vit","group_name":"nightshift-lab.vit","hook":"ready",\
"manifest_key":"groups/vit/manifest.json","region":"us-east-1","site":"lab","suffix":"amazonaws.com"}'

give_up() {
  trap - ERR
  if [ "$1" -ne 3 ]; then
    python3 "$fetcher" abandon "$node" "$2" || "${NIGHTSHIFT_POWEROFF:-poweroff}"
  fi
  exit 1
}
trap 'give_up "$?" "user data failed in line $LINENO"' ERR

mkdir -p "$root"
cat > "$fetcher" <<'END_OF_FETCHER'
""" % ("0" * 64)


def test_the_text_around_the_fetcher_is_this_and_no_other() -> None:
    text = render_user_data(NODE)
    fetcher = (Path(install_module.__file__).parent / "fetch.py").read_text()
    assert text == f'{GOLDEN}{fetcher}END_OF_FETCHER\npython3 "$fetcher" install "$node"\n'


def test_it_fits_ec2_at_the_longest_names() -> None:
    assert len(render_user_data(LONGEST).encode()) < LIMIT * 0.75


def test_more_than_ec2_takes_is_refused() -> None:
    with pytest.raises(UserDataTooLong, match="EC2 takes 16384"):
        render_user_data(replace(NODE, endpoint="x" * LIMIT))


def test_nothing_in_it_follows_from_a_shift_a_job_or_a_volume() -> None:
    assert {field.name for field in fields(NodeConfig)} == {
        "site",
        "group",
        "group_name",
        "region",
        "suffix",
        "bucket",
        "data_bucket",
        "manifest_key",
        "artifact_key",
        "artifact_sha256",
        "hook",
        "endpoint",
        "deadline_s",
    }


def test_a_quote_in_a_value_stays_inside_its_word() -> None:
    text = render_user_data(replace(NODE, endpoint="it's"))
    assert "it'\\''s" in text


def test_every_partition_has_its_domain() -> None:
    assert dns_suffix("aws") == "amazonaws.com"
    assert dns_suffix("aws-cn") == "amazonaws.com.cn"
    with pytest.raises(KeyError):
        dns_suffix("aws-iso")


def test_the_fetcher_cannot_end_the_here_document_early() -> None:
    fetcher = (Path(install_module.__file__).parent / "fetch.py").read_text()
    assert "END_OF_FETCHER" not in fetcher
    imported = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(fetcher))
        if isinstance(node, ast.ImportFrom | ast.Import)
        for name in (
            [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
        )
    }
    assert imported & {"boto3", "botocore", "bootstrap", "nightshift"} == set()


def test_the_unit_runs_on_every_boot_and_does_not_repeat_a_launch_given_up() -> None:
    text = unit_text("/usr/bin/python3", Path("/opt/nightshift/0"), Path("/etc/nightshift/node.json"))
    assert "WantedBy=multi-user.target" in text
    assert f"RestartPreventExitStatus={GIVEN_UP}" in text
    assert "ExecStart=/usr/bin/python3 -m bootstrap start --node /etc/nightshift/node.json" in text
    (stop_s,) = re.findall(r"TimeoutStopSec=(\d+)", text)
    assert int(stop_s) < 120, "a spot notice leaves two minutes"
    assert int(stop_s) >= STOP_S + 10, "the drain of a stopped unit, and the log's last lines"
    assert "FailureAction=poweroff" in text, "a node that nobody looks after is not paid for"
    assert "KillMode=mixed" in text, "the agent ends the job itself"
    assert "LimitNOFILE=524288" in text, "what collective.files asks for"
    assert "LimitMEMLOCK=infinity" in text, "what efa.memlock asks for"


def test_installing_writes_enables_and_starts_without_waiting_for_the_boot(tmp_path: Path) -> None:
    calls: list[tuple[str, ...]] = []
    install(
        "/usr/bin/python3",
        tmp_path,
        tmp_path / "node.json",
        tmp_path / "units",
        lambda c: calls.append(tuple(c)),
    )
    assert (tmp_path / "units" / UNIT).read_text() == unit_text(
        "/usr/bin/python3", tmp_path, tmp_path / "node.json"
    )
    assert calls == [
        ("systemctl", "daemon-reload"),
        ("systemctl", "enable", UNIT),
        ("systemctl", "restart", "--no-block", UNIT),
    ]


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "user-data"
    path.write_text(render_user_data(LONGEST))
    return path


@pytest.mark.node
def test_bash_reads_it(script: Path) -> None:
    done = subprocess.run(["bash", "-n", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.node
@pytest.mark.skipif(not SHELLCHECK, reason="needs shellcheck")
def test_shellcheck_finds_nothing_in_it(script: Path) -> None:
    done = subprocess.run([str(SHELLCHECK), script], capture_output=True, text=True, check=False)
    assert done.stdout == ""


@pytest.mark.node
@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    """It answers 0 for an unknown key: any word on stderr counts."""
    unit = tmp_path / UNIT
    unit.write_text(unit_text(shutil.which("bash") or "", tmp_path, tmp_path / "node.json"))
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_configuration_in_it_is_the_node_s() -> None:
    (line,) = [line for line in render_user_data(NODE).splitlines() if line.startswith("node=")]
    assert json.loads(line.removeprefix("node='").removesuffix("'")) == asdict(NODE)
