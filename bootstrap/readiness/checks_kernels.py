"""Each card computes, and computes right; then all of them together."""

from __future__ import annotations

import re

from bootstrap.readiness.check import Check, Result, bad, decided, good, not_asked
from bootstrap.readiness.checks_driver import NO_GPU
from bootstrap.readiness.checks_runtime import of_its_own
from bootstrap.readiness.expectation import Expectation
from bootstrap.readiness.read_probe import (
    COLLECTIVE_S,
    KERNELS,
    DeviceKernels,
    KernelResult,
    collective_report,
    kernels_report,
    runtime_report,
)
from bootstrap.readiness.read_system import hard_limit
from bootstrap.readiness.reading import Unreadable, matched
from bootstrap.readiness.situation import Situation
from bootstrap.readiness.symptoms import explained

TOLERANCE_PPM = {"matmul": 1_000, "conv2d": 10_000, "compiled": 1_000, "bf16": 20_000}
"""Largest difference from the CPU's double precision. TF32 keeps 10 bits (about 500 ppm), which cuDNN uses
for convolutions unless told otherwise; bf16 keeps 8 (4000 ppm)."""
BF16_FROM = (8, 0)
"""The first compute capability with bf16 in hardware."""
NOFILE_FLOOR = 65_536
"""Open files that DataLoader workers may need."""
SHM_KIB = 1 << 20
"""Least /dev/shm: docker's 64 MiB breaks NCCL and DataLoader; a node's own is half its memory."""
CPU_RANKS = 2


def _name(kernel: str) -> str:
    return {"conv2d": "conv2d (cuDNN)", "compiled": "torch.compile"}.get(kernel, kernel)


def kernel(name: str) -> Check:
    """The check that one kernel runs on every card and gives what the CPU gives."""

    def look(situation: Situation, expected: Expectation) -> Result:
        devices = _devices(situation, expected)
        problems = [line for each in devices for line in _problems(each, name, situation)]
        wanted = f"{_name(name)} right on {len(devices)} device{'' if len(devices) == 1 else 's'}"
        if problems:
            return bad(wanted, problems[0][0], problems[0][1])
        ran = [result for each in devices for result in each.results if result.kernel == name]
        if not ran:
            return not_asked("no card with bf16 in hardware")
        worst = max(result.ppm or 0 for result in ran)
        return good(wanted, f"within {worst} millionths, {max(result.ms for result in ran)} ms at most")

    what = f"{_name(name)} right on every device"
    return Check(f"kernels.{name}", look, what, "see the probe's own words; reboot, then replace the node")


def _devices(situation: Situation, expected: Expectation) -> tuple[DeviceKernels, ...]:
    report = kernels_report(situation)
    if report.error:
        raise Unreadable("the probe", report.error)
    cards = runtime_report(situation).devices
    wanted = [f"cuda:{card.index}" for card in cards] if expected.wants_gpu else ["cpu"]
    found = [each.device for each in report.devices]
    if not wanted or (expected.cards and expected.wants_gpu and len(wanted) != expected.cards):
        raise Unreadable("torch", f"{len(wanted)} cards")
    if found != wanted and not (not expected.wants_gpu and found):
        raise Unreadable(
            "the probe", f"results for {', '.join(found) or 'no device'}, not {', '.join(wanted)}"
        )
    return report.devices


def _problems(device: DeviceKernels, name: str, situation: Situation) -> list[tuple[str, str]]:
    """(what was found, remedy) where the kernel is missing, failed or was wrong."""
    ran = [result for result in device.results if result.kernel == name]
    if len(ran) != 1:
        if name == "bf16" and not ran and not _has_bf16(device.device, situation):
            return []
        return [(f"{len(ran)} results on {device.device}", "see the probe's own words")]
    return _judged(device.device, ran[0])


def _has_bf16(device: str, situation: Situation) -> bool:
    cards = runtime_report(situation).devices
    known = {f"cuda:{card.index}": (card.major, card.minor) for card in cards}
    return known.get(device, BF16_FROM) >= BF16_FROM


def _judged(device: str, result: KernelResult) -> list[tuple[str, str]]:
    if result.error is not None:
        meaning = explained(result.error)
        return [(f"{device}: {meaning.found}", meaning.remedy)]
    if result.ppm is None:
        return [(f"{device}: not a number", "replace the node: the card computes wrong")]
    allowed = TOLERANCE_PPM[result.kernel]
    if not 0 <= result.ppm <= allowed:
        told = f"{device}: wrong by {result.ppm} millionths, {allowed} allowed"
        return [(told, "replace the node: the card computes wrong")]
    return []


def provenance(situation: Situation, expected: Expectation) -> Result:
    """Once all have run, the parts of cuDNN and CUDA that load late are mapped too."""
    if not expected.wants_gpu:
        return not_asked(NO_GPU)
    return of_its_own(kernels_report(situation).libraries, runtime_report(situation).prefix)


def files(situation: Situation, expected: Expectation) -> Result:
    """DataLoader workers need many open files."""
    if not expected.wants_gpu:
        return not_asked("a rehearsal has its host's limits")
    limit = hard_limit(situation, "Max open files")
    return decided(
        limit >= NOFILE_FLOOR, f"{NOFILE_FLOOR} open files", str(limit), "LimitNOFILE=524288 in the unit"
    )


def shared_memory(situation: Situation, expected: Expectation) -> Result:
    """NCCL and DataLoader exchange through /dev/shm."""
    text = situation.ask(("df", "-Pk", "/dev/shm"))
    pattern = re.compile(r"Filesystem .*\n(\S+)\s+(\d+)\s+(\d+)\s+(\d+)\s+\d+%\s+/dev(?:/shm)?\n")
    size = int(matched("df -Pk /dev/shm", pattern, text)[2])
    remedy = "mount /dev/shm with half the memory; in docker --ipc=host or --shm-size=8g"
    return decided(size >= SHM_KIB, "1 GiB or more in /dev/shm", f"{size >> 10} MiB", remedy)


def all_reduce(situation: Situation, expected: Expectation) -> Result:
    """One process a card adds numbers up; whoever hangs is named."""
    report = collective_report(situation)
    ranks = (expected.cards or len(runtime_report(situation).devices)) if expected.wants_gpu else CPU_RANKS
    backend = "nccl" if expected.wants_gpu else "gloo"
    wanted = f"{ranks} ranks agree over {backend} within {COLLECTIVE_S:g} s"
    if report.error:
        meaning = explained(report.error)
        return bad(wanted, meaning.found, meaning.remedy)
    if report.hung:
        hung = f"hung: rank {', '.join(map(str, report.hung))} of {report.ranks}"
        return bad(wanted, hung, "see `nvidia-smi topo -m` and driver.xid; reboot, then replace the node")
    if not report.correct:
        return bad(wanted, "a wrong sum", "replace the node: a link or a card changes data")
    told = f"{report.finished} of {report.ranks} over {report.backend}"
    speed = f", {report.mb_per_s / 1000:.1f} GB/s on the bus" if report.mb_per_s is not None else ""
    right = (report.finished, report.ranks, report.backend) == (ranks, ranks, backend)
    return decided(right, wanted, f"{told}{speed}", "see the probe's own words")


KERNEL_CHECKS = (
    *(kernel(name) for name in KERNELS),
    kernel("bf16"),
    Check("kernels.provenance", provenance, "the runtime's own libraries", "see runtime.provenance"),
)
COLLECTIVE_CHECKS = (
    Check("collective.files", files, f"{NOFILE_FLOOR} open files", "LimitNOFILE=524288 in the unit"),
    Check("collective.shared_memory", shared_memory, "1 GiB or more in /dev/shm", "mount /dev/shm"),
    Check("collective.all_reduce", all_reduce, "all cards agree", "see the probe's own words"),
)
