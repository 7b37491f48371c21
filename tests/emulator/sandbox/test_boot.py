"""A node boots as a machine does: units, user data once, and power."""

from __future__ import annotations

import time

import pytest

from nightshift.emulator.sandbox.network import Network
from nightshift.emulator.sandbox.node import Node
from tests.emulator.sandbox.support.waiting import soon

pytestmark = pytest.mark.node
UNITS = "/etc/systemd/system"


def installs(script: str, *lines: str, name: str = "a.service") -> str:
    """User data that installs a unit whose process is `script`."""
    unit = "\n".join(["[Service]", f"ExecStart=/bin/sh -c '{script}'", *lines, "[Install]"])
    return "\n".join(
        [
            "#!/bin/bash",
            "set -e",
            f"cat > {UNITS}/{name} <<'END'",
            unit,
            "WantedBy=multi-user.target",
            "END",
            f"systemctl daemon-reload && systemctl enable {name} && systemctl restart --no-block {name}",
            "echo installed",
        ]
    )


def booted(net: Network, user_data: str) -> Node:
    node = net.node("i-0a", start=False)
    node.image.cloud_init_s = 5
    node.imds.user_data = user_data.encode()
    node.boot()
    return node


def happened(node: Node, text: str) -> int:
    return sum(text in line for line in node.events)


def test_user_data_runs_once_and_the_unit_on_every_boot(net: Network) -> None:
    node = booted(net, installs("echo up; exec sleep 1000"))
    assert soon(lambda: "up" in node.journal("a.service"))
    assert soon(lambda: "user data ended with 0" in node.journal("cloud-final.service"))
    node.kill()
    node.boot()
    assert soon(lambda: node.journal("a.service").count("up") == 2)
    assert soon(lambda: "has run on this instance before" in node.journal("cloud-final.service"))
    assert node.journal("cloud-final.service").count("installed") == 1


def test_a_failing_service_is_started_again_until_it_says_otherwise(net: Network) -> None:
    script = 'n=$(cat /n 2>/dev/null || echo 0); echo $((n + 1)) > /n; [ "$n" -lt 2 ] && exit 1; exit 78'
    lines = ("Restart=on-failure", "RestartSec=50ms", "RestartPreventExitStatus=78")
    node = booted(net, installs(script, *lines))
    assert soon(lambda: happened(node, "a.service: exit code 78, failed") == 1)
    assert happened(node, "a.service: exit code 1, activating") == 2
    assert happened(node, "a.service: started") == 3


def test_a_service_that_fails_too_often_is_left_alone(net: Network) -> None:
    node = booted(net, installs("exit 1", "Restart=always", "RestartSec=10ms"))
    assert soon(lambda: happened(node, "a.service: started too often") == 1)
    assert happened(node, "a.service: started (") == 5


def test_what_a_dead_service_leaves_is_ended_before_it_starts_again(net: Network) -> None:
    script = "setsid sleep 1000 & sleep 0.2; exit 1"
    node = booted(net, installs(script, "Restart=on-failure", "RestartSec=1", "KillMode=mixed"))
    assert soon(lambda: happened(node, "a.service: exit code 1") >= 1)
    if node.group is None:
        pytest.skip("needs control groups of version 2")
    assert soon(lambda: "sleep" not in node.run(["sh", "-c", "cat /proc/[0-9]*/comm"]).stdout, 0.8)


def test_stopping_asks_the_main_process_and_kills_the_rest_at_its_time(net: Network) -> None:
    script = 'trap "echo asked" TERM; echo up; while :; do sleep 0.1; done'
    node = booted(net, installs(script, "KillMode=mixed", "TimeoutStopSec=1"))
    assert soon(lambda: "up" in node.journal("a.service"))
    began = time.monotonic()
    node.run(["systemctl", "stop", "a.service"])
    assert 0.8 < time.monotonic() - began < 4
    assert "asked" in node.journal("a.service")
    assert happened(node, "killed at TimeoutStopSec") == 1
    assert node.run(["systemctl", "is-active", "a.service"], check=False).stdout == "inactive\n"


def test_masked_units_of_the_image_are_told_as_systemd_tells_them(net: Network) -> None:
    node = net.node("i-0a")
    show = ["systemctl", "show", "--property=Id,LoadState,ActiveState", "apt-daily.timer", "absent.service"]
    told = "Id=apt-daily.timer\nLoadState=loaded\nActiveState=active\n"
    absent = "\nId=absent.service\nLoadState=not-found\nActiveState=inactive\n"
    assert node.run(show).stdout == told + absent
    node.run(["systemctl", "mask", "apt-daily.timer"])
    node.run(["systemctl", "stop", "apt-daily.timer"])
    masked = "Id=apt-daily.timer\nLoadState=masked\nActiveState=inactive\n"
    assert node.run(show).stdout == masked + absent
    stopped = node.run(["systemctl", "stop", "absent.service"], check=False)
    assert (stopped.returncode, "not loaded" in stopped.stderr) == (5, True)


def test_a_node_that_turns_itself_off_is_down_and_says_so(net: Network) -> None:
    node = booted(net, "#!/bin/sh\npoweroff\n")
    assert soon(lambda: not node.up)
    assert node.ended == "poweroff"
    node.boot()
    assert node.up
    assert node.ended is None


def test_services_are_stopped_before_the_power_goes(net: Network) -> None:
    node = booted(net, installs('trap "echo bye; exit 0" TERM; echo up; while :; do sleep 0.05; done'))
    assert soon(lambda: "up" in node.journal("a.service"))
    node.shut_down()
    assert soon(lambda: not node.up)
    assert node.journal("a.service").endswith("bye\n")


def test_without_metadata_no_user_data_runs(net: Network) -> None:
    node = net.node("i-0a", start=False)
    node.image.cloud_init_s = 1.0
    node.imds.user_data = b"#!/bin/sh\ntouch /ran\n"
    node.imds.faults.add("imds.*", "error")
    node.boot()
    assert soon(lambda: "no user data is run" in node.journal("cloud-final.service"))
    assert node.run(["ls", "/ran"], check=False).returncode


def test_user_data_cut_short_by_a_crash_never_runs_again(net: Network) -> None:
    node = booted(net, "#!/bin/sh\necho begun\nsleep 1000\n")
    assert soon(lambda: "begun" in node.journal("cloud-final.service"))
    node.kill()
    node.boot()
    assert soon(lambda: "has run on this instance before" in node.journal("cloud-final.service"))
    assert node.journal("cloud-final.service").count("begun") == 1


def test_a_service_sees_its_limits_its_group_and_only_its_environment(net: Network) -> None:
    script = "ulimit -n; tail -1 /proc/self/cgroup; env | sort"
    node = net.node("i-0a", start=False)
    node.image.environment["GIVEN"] = "1"
    node.imds.user_data = installs(script, "LimitNOFILE=2048", "Environment=OWN=2").encode()
    node.boot()
    assert soon(lambda: happened(node, "a.service: exit code 0") == 1)
    limit, group, *environment = node.journal("a.service").splitlines()
    assert limit == "2048"
    assert node.group is None or group == "0::/system.slice/a.service"
    names = {line.partition("=")[0] for line in environment}
    assert names - {"PWD", "OLDPWD"} == {"PATH", "LANG", "GIVEN", "OWN"}
