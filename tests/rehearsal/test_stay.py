"""`rehearse --stay`: the operator's verbs on one's own stack in an emulated AWS, and Ctrl-C at its end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nightshift.rehearsal.stay import told

ROOT = Path(__file__).parents[2]
CLI = (sys.executable, "-m", "nightshift.cli.main")


def test_what_to_type_is_said_within_80_columns() -> None:
    lines = told("http://127.0.0.1:54321", "ap-northeast-1", "a" * 20)
    assert max(map(len, lines)) <= 80
    variables = re.findall(r"AWS_[A-Z_]+(?==)", " ".join(lines))
    assert variables == ["AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"]


@pytest.mark.engine
@pytest.mark.xdist_group("rehearsal")
def test_verbs_work_on_it_until_ctrl_c_then_everything_is_destroyed() -> None:
    words = (*CLI, "rehearse", "--stack", "rehearsal", "--only", "deploy", "--stay", "--json")
    with subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as front:
        try:
            assert front.stderr is not None
            lines = []
            for line in front.stderr:
                lines.append(line)
                if "Ctrl-C" in line:
                    break
            given = dict(re.findall(r"(AWS_[A-Z_]+)=(\S+)", "".join(lines)))
            env = {**os.environ, **given}
            for verb in (("wake", "train", "--for", "3h", "--yes"), ("status",)):
                done = subprocess.run(
                    [*CLI, *verb, "--stack", "rehearsal"], cwd=ROOT, env=env, capture_output=True, text=True
                )
                assert done.returncode in (0, 1), done.stderr
            assert "starting" in done.stdout
            os.killpg(front.pid, signal.SIGINT)
            out, _ = front.communicate(timeout=120)
        finally:
            if front.poll() is None:
                front.kill()
    report = json.loads(out)
    assert (front.returncode, report["problems"]) == (0, [])
    assert {one.split()[0] for one in report["kept"]} == {"bucket", "volume"}
