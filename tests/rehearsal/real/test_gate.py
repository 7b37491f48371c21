"""Calls of a real node are waited for, and held until they may go on."""

from __future__ import annotations

import threading
import time

from nightshift.rehearsal.real.gate import Gate


def never() -> bool:
    return False


def test_a_call_is_seen_with_its_time() -> None:
    gate = Gate()
    before = time.monotonic()
    gate.heard("s3.GetObject:a")
    at = gate.wait("s3.GetObject:a", 0, 1, never)
    assert at is not None
    assert before <= at <= time.monotonic()
    assert gate.wait("s3.GetObject:a", gate.count, 0.05, never) is None


def test_who_waits_for_a_node_that_is_over_waits_no_more() -> None:
    began = time.monotonic()
    assert Gate().wait("ec2.DescribeVolumes", 0, 60, lambda: True) is None
    assert time.monotonic() - began < 5


def test_a_shut_step_waits_until_it_is_opened_and_others_pass() -> None:
    gate, passed = Gate(), threading.Event()
    gate.shut("ec2.DescribeVolumes")
    gate.heard("ec2.DescribeInstances")
    thread = threading.Thread(target=lambda: (gate.heard("ec2.DescribeVolumes"), passed.set()))
    thread.start()
    assert gate.wait("ec2.DescribeVolumes", 0, 5, never) is not None
    assert not passed.wait(0.1)
    gate.open("ec2.DescribeVolumes")
    assert passed.wait(5)
    thread.join()


def test_a_closed_gate_holds_nothing() -> None:
    gate = Gate()
    gate.shut("ec2.DescribeVolumes")
    gate.close()
    gate.heard("ec2.DescribeVolumes")
    assert gate.count == 1
