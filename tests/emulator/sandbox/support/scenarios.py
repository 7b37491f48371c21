"""Everything that is made to befall a boot, and how it must end."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from bootstrap.readiness.commands import Answer
from infra.artifacts import manifest_key
from nightshift.emulator.sandbox.faults import How
from nightshift.emulator.sandbox.machines.answers import files
from nightshift.emulator.sandbox.machines.description import Machine
from tests.bootstrap.readiness.support.faults import GONE, TABLE
from tests.emulator.sandbox.support.lane import AGENT, CLOUD_INIT, MACHINE, Boot, Outcome, Scenario
from tests.emulator.sandbox.support.site import GROUP

WHILE_S = 20.0
PATIENCE_S = 20
"""The fetcher's deadline in boots that can't succeed: they'd take 300 s each."""
AWS, IMDS = "[!i]*", "imds.*"
"""All calls that go over the network, and all that don't."""
USER_DATA = "imds.user-data"


@dataclass(frozen=True)
class Step:
    """A call of a boot, in the order of the first ones. `unit` makes it. `alone`: how a boot must end when it
    fails for good, and nothing else does."""

    name: str
    pattern: str
    unit: str
    alone: tuple[Outcome, ...]
    says: str = ""

    @property
    def whole(self) -> str:
        """Every call of its way."""
        return IMDS if self.pattern.startswith("imds.") else AWS


STEPS = (
    Step("token", "imds.token", CLOUD_INIT, ("off",)),
    Step("role", "imds.meta-data/iam/security-credentials/", CLOUD_INIT, ("off",)),
    Step("credentials", "imds.meta-data/iam/security-credentials/?*", CLOUD_INIT, ("off",)),
    Step("artifact", "s3.GetObject:bootstrap/*", CLOUD_INIT, ("abandoned",), "fetch the agent"),
    Step("instance type", "imds.meta-data/instance-type", AGENT, ("abandoned", "off", "hook")),
    Step("zone", "imds.meta-data/placement/availability-zone", AGENT, ("abandoned", "off", "hook")),
    Step("lifecycle state", "imds.meta-data/autoscaling/*", AGENT, ("ready",)),
    Step("spot notice", "imds.meta-data/spot/*", AGENT, ("ready",)),
    Step("manifest", "s3.GetObject:groups/*", AGENT, ("abandoned",), "manifest"),
    Step("identity", "sts.GetCallerIdentity", AGENT, ("abandoned",), "readiness record"),
    Step("listing", "s3.ListObjectsV2", AGENT, ("ready",)),
    Step("volumes", "ec2.DescribeVolumes", AGENT, ("abandoned",), "storage.volumes"),
    Step("attachment", "ec2.AttachVolume", AGENT, ("abandoned",), "storage.volumes"),
    Step("record", "s3.PutObject:nodes/*", AGENT, ("abandoned",), "readiness record"),
    Step("tag", "ec2.CreateTags", AGENT, ("ready",)),
    Step("hook", "autoscaling.CompleteLifecycleAction", AGENT, ("hook",)),
)


def _awake(boot: Boot, step: Step) -> str:
    """cloud-init's own calls go well: what it does is not ours."""
    return USER_DATA if step.unit == CLOUD_INIT and step.whole == IMDS else step.pattern


def _breaks(step: Step, how: How, times: int | None, pattern: str | None = None) -> Callable[[Boot], None]:
    def arrange(boot: Boot) -> None:
        # The answer that carries the user data itself must still arrive.
        hit = pattern or step.pattern
        after = _awake(boot, step)
        fault = boot.node.faults.add(hit, how, times=times, after=after)
        if after == USER_DATA:
            fault.spares = USER_DATA

    return arrange


def _outage(step: Step, how: How) -> Callable[[Boot], None]:
    def arrange(boot: Boot) -> None:
        after = _awake(boot, step)
        fault = boot.node.faults.add(step.whole, how, after=after, lasting=WHILE_S)
        if after == USER_DATA:
            fault.spares = USER_DATA

    return arrange


def _cut(step: Step) -> Callable[[Boot], None]:
    def cut(boot: Boot) -> None:
        boot.node.cut()
        threading.Timer(WHILE_S, boot.node.heal).start()

    return lambda boot: boot.at(step.pattern, lambda: cut(boot))


def _killed(step: Step) -> Callable[[Boot], None]:
    return lambda boot: boot.at(step.pattern, lambda: boot.kill(step.unit), after=_awake(boot, step))


def _crashed(step: Step) -> Callable[[Boot], None]:
    def crash(boot: Boot) -> None:
        threading.Thread(target=lambda: (boot.node.kill(), boot.node.boot())).start()

    return lambda boot: boot.at(step.pattern, lambda: crash(boot), after=_awake(boot, step))


def while_scenarios() -> Iterator[Scenario]:
    """Every call fails for a while, in each way: the boot heals."""
    for step in STEPS:
        for how in ("reset", "lost", "error", "hang", "short", "slow"):
            name = f"{step.name}: {how} {'once' if how == 'hang' else 'twice'}"
            times = 1 if how == "hang" else 2
            yield Scenario(name, "one call, a while", ("ready",), _breaks(step, how, times))
        way = "metadata" if step.whole == IMDS else "network"
        for how in ("reset", "hang"):
            name = f"{step.name}: {way} {how} for {WHILE_S:g} s from there on"
            yield Scenario(name, "outage", ("ready",), _outage(step, how))
        if step.whole == AWS:
            yield Scenario(f"{step.name}: cable cut for {WHILE_S:g} s", "outage", ("ready",), _cut(step))


def good_scenarios() -> Iterator[Scenario]:
    """Every call fails for good, alone or with all of its way: given up with the reason, or turned off."""
    for step in STEPS:
        limit_s = 45.0 if step.alone == ("hook",) else 420.0
        yield Scenario(
            f"{step.name}: error for good",
            "one call, for good",
            step.alone,
            _breaks(step, "error", None),
            step.says,
            PATIENCE_S,
            limit_s,
        )
        way = "metadata" if step.whole == IMDS else "network"
        fetching = step.unit == CLOUD_INIT
        yield Scenario(
            f"{step.name}: {way} gone for good",
            "way, for good",
            ("off",) if fetching else ("off", "hook", *(("ready",) if step.whole == IMDS else ())),
            _breaks(step, "reset", None, step.whole),
            deadline_s=PATIENCE_S,
            limit_s=420.0 if fetching else 60.0,
        )


def killed_scenarios() -> Iterator[Scenario]:
    """The process that makes a call is killed there; the node crashes there and boots again."""
    for step in STEPS:
        fetching = step.unit == CLOUD_INIT
        yield Scenario(
            f"{step.name}: kill -9",
            "killed",
            ("abandoned",) if fetching else ("ready",),
            _killed(step),
            "user data failed" if fetching else "",
        )
        yield Scenario(
            f"{step.name}: crash and reboot",
            "crashed",
            ("hook",) if fetching else ("ready",),
            _crashed(step),
            limit_s=25.0 if fetching else 240.0,
        )


def _without_python(boot: Boot) -> None:
    boot.node.image.python = None
    boot.node.image.links |= dict.fromkeys(_PYTHONS, "/nonexistent")


_PYTHONS = tuple(
    f"{folder}/{name}"
    for folder in ("/usr/local/bin", "/usr/bin")
    for name in ("python3", "python3.10", "python3.11", "python3.12", "python3.13")
)
_OLD = """#!/bin/sh
case "$*" in *version_info*) exit 1;; esac
exec {python} "$@"
"""


def _old_python(boot: Boot) -> None:
    image = boot.node.image
    assert image.python is not None
    text = _OLD.format(python=image.python)
    image.python = None
    image.programs |= dict.fromkeys(_PYTHONS, text)


def _failing_systemctl(boot: Boot) -> None:
    boot.node.image.programs["/usr/local/sbin/systemctl"] = "#!/bin/sh\necho no bus >&2\nexit 1\n"


def _wrong(arrange: Callable[[Boot], None], says: str, *outcomes: Outcome) -> Scenario:
    ends = outcomes or ("abandoned",)
    return Scenario("", "wrong", ends, arrange, says, PATIENCE_S, 420.0)


def other_scenarios() -> Iterator[Scenario]:
    """What is fetched is wrong, the image lacks something, the disk is full."""

    def artifact(change: Callable[[bytes], bytes]) -> Callable[[Boot], None]:
        def arrange(boot: Boot) -> None:
            made = boot.site.artifact
            boot.site.put(made.key, change(made.path.read_bytes()))

        return arrange

    def manifest(text: bytes) -> Callable[[Boot], None]:
        return lambda boot: boot.site.put(manifest_key(GROUP), text)

    cases = {
        "artifact of another sha": _wrong(artifact(lambda data: data[:-1] + b"x"), "sha256 is"),
        "artifact cut in half": _wrong(artifact(lambda data: data[: len(data) // 2]), "sha256 is"),
        "artifact empty": _wrong(artifact(lambda _: b""), "sha256 is"),
        "no artifact": _wrong(lambda boot: boot.site.remove(boot.site.artifact.key), "fetch the agent"),
        "manifest that isn't JSON": _wrong(manifest(b"<html>"), "not JSON"),
        "manifest of another version": _wrong(manifest(b'{"version": 99}'), "this agent reads"),
        "no manifest": _wrong(lambda boot: boot.site.remove(manifest_key(GROUP)), "manifest"),
        "no Python at all": _wrong(_without_python, "", "off"),
        "no Python of 3.10": _wrong(_old_python, "no Python of 3.10"),
        "systemctl fails": _wrong(_failing_systemctl, "installing the agent failed"),
    }
    for size, what in ((1, "nothing fits"), (6, "half of the agent fits")):
        full = _wrong(lambda _boot: None, "", "abandoned", "off")
        cases[f"disk full: {what}"] = replace(full, disk_mib=size)
    for name, scenario in cases.items():
        yield replace(scenario, name=name)


SEVERAL = ("the own name is a loopback address",)
"""Faults of a group of several nodes; the site has one."""


def machine_scenarios() -> Iterator[Scenario]:
    """Known failures of the GPU machine, through real programs: given up with the check's name."""
    for fault in TABLE:
        if fault.on(MACHINE) and fault.name not in SEVERAL:
            machine = _without(fault.change(MACHINE), GONE.get(fault.name, ()))
            limit_s = 720.0 if _hangs(machine) else 120.0
            yield Scenario(
                f"machine: {fault.name}",
                "machine",
                ("abandoned",),
                says=fault.check,
                machine=machine,
                limit_s=limit_s,
            )


def _without(machine: Machine, folders: tuple[str, ...]) -> Machine:
    gone = {name: None for name in files(machine) if name.startswith(tuple(f"{each}/" for each in folders))}
    return replace(machine, files={**machine.files, **gone}) if folders else machine


def _hangs(machine: Machine) -> bool:
    """Whether a command of it never answers: its own deadline is waited for."""
    given = [[each] if isinstance(each, Answer) else each for each in machine.changed.values()]
    return any(answer.late for answers in given for answer in answers)


def _real_torch(boot: Boot) -> None:
    boot.node.image.environment = {"NIGHTSHIFT_RUNTIME_PYTHON": sys.executable}
    boot.site.put(manifest_key(GROUP), boot.site.manifest(runtime="cpu").encode())


REAL = Scenario("healthy, torch for real on the CPU", "healthy", ("ready",), _real_torch, machine=None)
HEALTHY = Scenario("healthy, rebooted, drained", "healthy", ("ready",), again=True)


def all_scenarios() -> list[Scenario]:
    """Every one, by kind."""
    groups = (while_scenarios, good_scenarios, killed_scenarios, other_scenarios, machine_scenarios)
    return [HEALTHY, REAL, *(each for group in groups for each in group())]
