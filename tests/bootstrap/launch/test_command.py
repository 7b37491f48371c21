"""torchrun's arguments and the job's environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from bootstrap.launch.command import (
    Rendezvous,
    base_environment,
    efa_libraries,
    job_environment,
    port_of,
    script_of,
    torchrun_arguments,
)
from bootstrap.launch.edges import JobError

TWO = Rendezvous("vit-1a2b-7-9f", 2, "10.0.0.5", 29407, "10.0.0.6", hosts=False)


def test_a_generation_is_one_gang_under_an_id_of_its_own() -> None:
    words = torchrun_arguments(script_of("train.py --epochs 90"), TWO, 8, 300, Path("/run/x"))
    assert words == [
        "--nnodes=2",
        "--nproc-per-node=8",
        "--rdzv-backend=c10d",
        "--rdzv-endpoint=10.0.0.5:29407",
        "--rdzv-id=vit-1a2b-7-9f",
        "--rdzv-conf=is_host=0,join_timeout=300,last_call_timeout=1,read_timeout=120,"
        "keep_alive_interval=5,keep_alive_max_attempt=3",
        "--local-addr=10.0.0.6",
        "--max-restarts=0",
        "--log-dir=/run/x",
        "train.py",
        "--epochs",
        "90",
    ]


def test_a_module_is_started_as_one_and_words_stay_words() -> None:
    script = script_of("-m lab.train --name 'a b'")
    assert script.words == ("lab.train", "--name", "a b")
    words = torchrun_arguments(script, TWO, 1, 300, Path("/run/x"))
    assert words[-4:] == ["--module", "lab.train", "--name", "a b"]


@pytest.mark.parametrize("run", ["", "  ", "--nproc-per-node=2 train.py", "-m", "train.py 'open"])
def test_what_is_no_script_is_refused_with_what_is_expected(run: str) -> None:
    with pytest.raises(JobError, match=r"job\.run: given"):
        script_of(run)


def test_the_jobs_environment_has_nothing_of_the_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/opt/nightshift/agent")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "agent's")
    made = base_environment(Path("/opt/rt/bin/python"), "us-east-1", "ens5", 4, [], {"X": "1"})
    assert "PYTHONPATH" not in made
    assert "AWS_SECRET_ACCESS_KEY" not in made
    assert made["PATH"].startswith("/opt/rt/bin:")
    assert made["TORCH_DISABLE_SHARE_RDZV_TCP_STORE"] == "1"
    assert (made["GLOO_SOCKET_IFNAME"], made["NCCL_SOCKET_IFNAME"]) == ("ens5", "=ens5")
    assert (made["OMP_NUM_THREADS"], made["X"]) == ("1", "1")


def test_a_node_alone_meets_itself_on_loopback_and_leaves_nccl_its_choice() -> None:
    made = base_environment(Path("/rt/bin/python"), "us-east-1", "", 1, [], {})
    assert made["GLOO_SOCKET_IFNAME"] == "lo"
    assert "NCCL_SOCKET_IFNAME" not in made
    assert "OMP_NUM_THREADS" not in made


def test_the_fabrics_plugin_is_found_and_its_absence_is_no_silent_fall_to_sockets(tmp_path: Path) -> None:
    (tmp_path / "opt/amazon/efa/lib").mkdir(parents=True)
    (tmp_path / "opt/amazon/ofi-nccl/lib").mkdir(parents=True)
    found = efa_libraries(True, tmp_path)
    assert found == ["/opt/amazon/ofi-nccl/lib", "/opt/amazon/efa/lib"]
    assert efa_libraries(False, tmp_path) == []
    made = base_environment(Path("/rt/bin/python"), "us-east-1", "ens5", 8, found, {})
    assert made["LD_LIBRARY_PATH"] == "/opt/amazon/ofi-nccl/lib:/opt/amazon/efa/lib"
    assert made["NCCL_NET"] == "AWS Libfabric"


def test_the_contracts_variables() -> None:
    assert job_environment(Path("/run/n/job"), Path("/data/runs/ck"), "vit-1", 3) == {
        "NIGHTSHIFT_JOB": "/run/n/job",
        "NIGHTSHIFT_CHECKPOINTS": "/data/runs/ck",
        "NIGHTSHIFT_RUN": "vit-1",
        "NIGHTSHIFT_GENERATION": "3",
    }


def test_ports_stay_below_the_kernels_own() -> None:
    ports = {port_of(generation, turn) for generation in range(500) for turn in range(200)}
    assert (min(ports), max(ports)) == (29400, 29599)
    assert port_of(7) != port_of(8)
