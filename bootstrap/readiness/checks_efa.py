"""EFA: devices by name and count, the provider, the plugin, and the proof that NCCL takes it."""

from __future__ import annotations

import re

from bootstrap.readiness.check import Check, Result, bad, decided, good, not_asked
from bootstrap.readiness.commands import Command, whole
from bootstrap.readiness.expectation import Expectation
from bootstrap.readiness.read_probe import collective_report
from bootstrap.readiness.read_system import UNLIMITED, hard_limit, installed, module_loaded
from bootstrap.readiness.reading import Unreadable, matched, seen
from bootstrap.readiness.situation import Situation
from bootstrap.readiness.symptoms import explained
from nightshift.catalog.cuda import at_least
from nightshift.catalog.efa import INSTALLER_FLOOR, PLUGIN_FLOOR, PLUGIN_FOLDERS

DEVICES_FOLDER = "/sys/class/infiniband"
INSTALLED_FILE = "/opt/amazon/efa_installed_packages"
FI_INFO = "/opt/amazon/efa/bin/fi_info"
"""Where the EFA installer puts it; a unit's PATH doesn't lead there."""
MODULES = ("efa", "ib_uverbs", "ib_core")
TRIES, PAUSE_S = 3, 5.0
"""p5en's devices may come seconds late."""
MEMLOCK_FLOOR = 16 << 30
"""Bytes that must be lockable, where locking isn't unlimited."""
NETWORK = "AWS Libfabric"
_DOMAIN = re.compile(r"^\s+domain: (?P<device>\S+?)(?:-rdm|-dgrm)$", re.MULTILINE)
_INSTALLER = re.compile(r"^# EFA installer version: (\d+\.\d+\.\d+)$", re.MULTILINE)
_PLUGIN = re.compile(r"^(?:lib)?(?:nccl-ofi|aws-ofi-nccl)\S*?[_-](\d+\.\d+\.\d+)\S*$", re.MULTILINE)
_NOT_USED = "the group doesn't use EFA"
_UPDATE = f"install the EFA installer {INSTALLER_FLOOR} or newer in the image"


def _devices(situation: Situation) -> list[str]:
    folder = situation.path(DEVICES_FOLDER)
    try:
        return sorted(each.name for each in folder.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Unreadable(DEVICES_FOLDER, str(error.strerror)) from None


def devices(situation: Situation, expected: Expectation) -> Result:
    """As many as the type has, with their modules."""
    if not expected.efa:
        return not_asked(_NOT_USED)
    missing = [name for name in MODULES if not module_loaded(situation, name)]
    if missing:
        return bad(f"modules {', '.join(MODULES)}", f"no {', '.join(missing)}", _UPDATE)
    found = _devices(situation)
    for _ in range(TRIES):
        if len(found) >= expected.efa:
            break
        situation.sleep(PAUSE_S)
        found = _devices(situation)
    remedy = (
        "the launch template must attach one EFA interface a network card: run `pulumi up`, renew the node"
    )
    told = f"{len(found)}{': ' if found else ''}{', '.join(found[:4])}{', …' if len(found) > 4 else ''}"
    return decided(len(found) == expected.efa, f"{expected.efa} EFA devices", told, remedy)


def memlock(situation: Situation, expected: Expectation) -> Result:
    """The provider registers memory, which counts as locked."""
    if not expected.efa:
        return not_asked(_NOT_USED)
    limit = hard_limit(situation, "Max locked memory")
    told = "unlimited" if limit == UNLIMITED else f"{limit} bytes"
    return decided(
        limit >= MEMLOCK_FLOOR, "16 GiB or more lockable", told, "LimitMEMLOCK=infinity in the unit"
    )


def _provider_command(situation: Situation) -> Command:
    return whole((FI_INFO if situation.has(FI_INFO) else "fi_info", "-p", "efa"))


def provider(situation: Situation, expected: Expectation) -> Result:
    """libfabric sees each device, by name."""
    if not expected.efa:
        return not_asked(_NOT_USED)
    found = sorted(set(_DOMAIN.findall(situation.ask(_provider_command(situation), 60.0))))
    wanted = _devices(situation)
    remedy = "the security group must allow all traffic to and from itself; see `fi_info -p efa`"
    if found != wanted:
        gone = sorted(set(wanted) ^ set(found))
        return bad(
            f"{len(wanted)} devices in libfabric", f"{len(found)}, differing: {', '.join(gone[:4])}", remedy
        )
    return good(f"{len(wanted)} devices in libfabric", str(len(found)))


def _plugin_file(situation: Situation) -> str:
    names = [f"{folder}/libnccl-net{suffix}.so" for folder in PLUGIN_FOLDERS for suffix in ("", "-ofi")]
    found = [name for name in names if situation.has(name)]
    if not found:
        raise Unreadable("NCCL plugin", f"no libnccl-net.so below {', '.join(PLUGIN_FOLDERS)}")
    return found[0]


def plugin(situation: Situation, expected: Expectation) -> Result:
    """Below the floor, large broadcasts between nodes hang."""
    if not expected.efa:
        return not_asked(_NOT_USED)
    wanted, file = f"aws-ofi-nccl {PLUGIN_FLOOR} or newer", _plugin_file(situation)
    own = _plugin_version(situation)
    if own:
        return decided(at_least(own, PLUGIN_FLOOR), wanted, f"{own} ({file})", _UPDATE)
    text = situation.read(INSTALLED_FILE)
    found = _INSTALLER.findall(text)
    if len(found) != 1:
        raise Unreadable(INSTALLED_FILE, seen(text))
    told = f"EFA installer {found[0]} ({file})"
    return decided(
        at_least(found[0], INSTALLER_FLOOR), f"{wanted} (EFA installer {INSTALLER_FLOOR})", told, _UPDATE
    )


def _plugin_version(situation: Situation) -> str | None:
    """The package's own version where one names it: the installer's list, else Debian's."""
    listed = _PLUGIN.findall(situation.read(INSTALLED_FILE)) if situation.has(INSTALLED_FILE) else []
    if len(listed) == 1:
        return str(listed[0])
    packages = installed(situation) if situation.has("/usr/bin/dpkg-query") else {}
    version = packages.get("libnccl-ofi", "").partition("-")[0]
    return version or None


def dependencies(situation: Situation, expected: Expectation) -> Result:
    """The plugin's own libraries are found, else NCCL drops it without a word."""
    if not expected.efa:
        return not_asked(_NOT_USED)
    file = _plugin_file(situation)
    lines = situation.ask(whole(("ldd", file))).splitlines()
    rows = [
        matched("ldd", re.compile(r"\s+(\S+)(?: => (.+?))?(?: \(0x[0-9a-f]+\))?"), line) for line in lines
    ]
    missing = [row[1] for row in rows if row[2] == "not found"]
    remedy = "install libhwloc and the EFA installer's libraries; their folder in /etc/ld.so.conf.d"
    told = f"not found: {', '.join(missing)}" if missing else f"all {len(rows)} found"
    return decided(not missing, f"every library of {file}", told, remedy)


def network(situation: Situation, expected: Expectation) -> Result:
    """NCCL's log names the network; without the plugin it falls to sockets and trains ten times slower."""
    if not expected.efa:
        return not_asked(_NOT_USED)
    report = collective_report(situation, NETWORK)
    wanted = f'NCCL on network "{NETWORK}", provider efa'
    told = "; ".join(report.network) or "no line of NCCL's log names a network"
    if report.error and not report.network:
        meaning = explained(report.error)
        return bad(wanted, meaning.found, meaning.remedy)
    lines = [line.lower() for line in report.network]
    used = any(f"using network {NETWORK}".lower() in line for line in lines)
    selected = any("provider is efa" in line for line in lines)
    remedy = f"the plugin's folder must be in /etc/ld.so.conf.d; set NCCL_NET={NETWORK!r} to fail instead"
    return decided(used and selected and not report.error, wanted, told, remedy)


CHECKS = (
    Check("efa.devices", devices, "the type's EFA devices", _UPDATE),
    Check("efa.memlock", memlock, "16 GiB or more lockable", "LimitMEMLOCK=infinity in the unit"),
    Check("efa.provider", provider, "EFA in libfabric", f"{_UPDATE}; {FI_INFO} must be on PATH"),
    Check("efa.plugin", plugin, f"aws-ofi-nccl {PLUGIN_FLOOR} or newer", _UPDATE),
    Check("efa.dependencies", dependencies, "every library of the plugin", _UPDATE),
    Check("efa.network", network, "NCCL on EFA", _UPDATE),
)
