"""Refusals of EBS volumes: limits by type, attaching, modifying. Sizes in GiB, throughput in MiB/s."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from moto.core.utils import utcnow

from nightshift.emulator.cloud.call import Call
from nightshift.emulator.cloud.refusals.row import API, EBS_GUIDE, EC2_GUIDE, Condition, Row
from nightshift.emulator.cloud.services.backends import ec2

CREATE, MODIFY, ATTACH = ("CreateVolume",), ("ModifyVolume",), ("AttachVolume",)
MODIFICATIONS_PER_DAY = 4


@dataclass(frozen=True)
class Limits:
    """Least and most of a volume type; `ratio` is the most IOPS per GiB."""

    size: tuple[int, int]
    iops: tuple[int, int] | None = None
    ratio: int = 0
    throughput: tuple[int, int] | None = None


# botocore 1.44.8, CreateVolume and ModifyVolume; ratios from the EBS guide.
LIMITS = {
    "gp2": Limits((1, 16_384)),
    "gp3": Limits((1, 65_536), (3_000, 80_000), 500, (125, 2_000)),
    "io1": Limits((4, 16_384), (100, 64_000), 50),
    "io2": Limits((4, 65_536), (100, 256_000), 1_000),
    "st1": Limits((125, 16_384)),
    "sc1": Limits((125, 16_384)),
    "standard": Limits((1, 1_024)),
}
GP3_BASE_IOPS = 3_000
IOPS_PER_MIBPS = 4


def _volume(call: Call) -> Any | None:
    return ec2(call.region).volumes.get(call.params.get("VolumeId", ""))


def shape(call: Call) -> dict[str, Any]:
    """Type, size, iops and throughput as they would be after the call."""
    there = _volume(call)
    kind = call.params.get("VolumeType") or getattr(there, "volume_type", None) or "gp2"
    size = call.params.get("Size") or getattr(there, "size", None)
    snapshot = ec2(call.region).snapshots.get(call.params.get("SnapshotId", ""))
    if size is None and snapshot is not None:
        size = snapshot.volume.size
    same = kind == getattr(there, "volume_type", kind)
    iops = call.params.get("Iops") or (getattr(there, "iops", None) if same else None)
    throughput = call.params.get("Throughput") or (getattr(there, "throughput", None) if same else None)
    return {"type": kind, "size": size, "iops": iops, "throughput": throughput}


def size_problem(kind: str, size: int | None) -> str | None:
    """Why a size does not fit its type."""
    low, high = LIMITS[kind].size
    if size is None or low <= size <= high:
        return None
    side = "smaller" if size < low else "larger"
    return (
        f"Volume of {size}GiB is {side} than the {'minimum' if size < low else 'maximum'} "
        f"{low if size < low else high}GiB"
    )


def iops_problem(kind: str, iops: int | None, size: int | None) -> str | None:
    """Why an IOPS value does not fit its type and size."""
    limits = LIMITS[kind]
    if iops is None or limits.iops is None:
        return None
    low, high = limits.iops
    if not low <= iops <= high:
        return f"Volume iops of {iops} is out of range; {kind} allows {low} to {high}."
    if size and iops > max(limits.ratio * size, GP3_BASE_IOPS if kind == "gp3" else 100):
        return f"Iops to volume size ratio of {iops / size:.6f} is too high; maximum is {limits.ratio}"
    return None


def throughput_problem(kind: str, throughput: int | None, iops: int | None) -> str | None:
    """Why a throughput does not fit; only gp3 has one, at most a quarter MiB/s per IOPS."""
    limits = LIMITS[kind].throughput
    if throughput is None or limits is None:
        return None
    low, high = limits
    if not low <= throughput <= high:
        return f"Throughput of {throughput} MiB/s is out of range; gp3 allows {low} to {high}."
    if throughput * IOPS_PER_MIBPS > (iops or GP3_BASE_IOPS):
        return (
            f"Throughput (MiBps) to iops ratio of {throughput / (iops or GP3_BASE_IOPS):.6f} "
            "is too high; maximum is 0.250000"
        )
    return None


def _size(call: Call) -> str | None:
    new = shape(call)
    return size_problem(new["type"], new["size"])


def _iops(call: Call) -> str | None:
    new = shape(call)
    return iops_problem(new["type"], new["iops"], new["size"])


def _throughput(call: Call) -> str | None:
    new = shape(call)
    return throughput_problem(new["type"], new["throughput"], new["iops"])


def _throughput_modify(call: Call) -> str | None:
    new = shape(call)
    if call.params.get("Throughput") and new["type"] != "gp3":
        return f"The parameter Throughput is not supported for {new['type']} volumes"
    return throughput_problem(new["type"], new["throughput"], new["iops"])


def _zone(call: Call) -> str | None:
    zone = call.params.get("AvailabilityZone")
    known = {z.name for z in ec2(call.region).describe_availability_zones()}
    return f"The zone '{zone}' does not exist." if zone and zone not in known else None


def _snapshot_size(call: Call) -> str | None:
    snapshot = ec2(call.region).snapshots.get(call.params.get("SnapshotId", ""))
    size = call.params.get("Size")
    if snapshot is None or size is None or size >= snapshot.volume.size:
        return None
    return (
        f"Volume of {size}GiB is smaller than snapshot '{snapshot.id}', expect size >= "
        f"{snapshot.volume.size}GiB"
    )


def _shrink(call: Call) -> str | None:
    there, size = _volume(call), call.params.get("Size")
    if there is None or size is None or size >= there.size:
        return None
    return f"New size cannot be smaller than existing size {there.size}GiB"


def _rate(call: Call) -> str | None:
    there = _volume(call)
    since = utcnow() - timedelta(hours=24)
    recent = [m for m in there.modifications if m.start_time > since] if there is not None else []
    if len(recent) < MODIFICATIONS_PER_DAY:
        return None
    return (
        f"You've reached the maximum modification rate per volume limit: {MODIFICATIONS_PER_DAY} "
        "in a rolling 24 hours. "
        "Wait until the oldest leaves the window before modifying the volume again."
    )


def _instance(call: Call) -> Any | None:
    return ec2(call.region).get_instance_by_id(call.params.get("InstanceId", ""))


def _other_zone(call: Call) -> str | None:
    volume, instance = _volume(call), _instance(call)
    if volume is None or instance is None or volume.availability_zone == instance.availability_zone:
        return None
    return f"The volume '{volume.id}' is not in the same availability zone as instance '{instance.id}'"


def _attached(call: Call) -> str | None:
    volume = _volume(call)
    if volume is None or volume.attachment is None:
        return None
    return f"{volume.id} is already attached to an instance"


def _not_running(call: Call) -> str | None:
    instance = _instance(call)
    if instance is None or instance.state in {"running", "stopped"}:
        return None
    return f"Instance '{instance.id}' is not 'running'."


def _device_taken(call: Call) -> str | None:
    instance, device = _instance(call), call.params.get("Device")
    if instance is None or device not in instance.block_device_mapping:
        return None
    return f"Invalid value '{device}' for unixDevice. Attachment point {device} is already in use"


def _too_many(call: Call) -> str | None:
    from moto.ec2.models.instance_types import INSTANCE_TYPES

    instance = _instance(call)
    if instance is None:
        return None
    info = INSTANCE_TYPES.get(instance.instance_type, {}).get("EbsInfo", {})
    limit = info.get("MaximumEbsAttachments") or 28
    shared = len(instance.nics) if info.get("AttachmentLimitType") == "shared" else 0
    if len(instance.block_device_mapping) + shared < limit:
        return None
    return f"The volume attachment limit of {limit} for instance '{instance.id}' has been reached."


def _row(name: str, operations: tuple[str, ...], code: str, refuses: Condition, source: str) -> Row:
    return Row(f"volume-{name}", "ec2", operations, code, refuses, source)


VALUE = "InvalidParameterValue"
TYPES = f"{API} CreateVolume; facts F70, F73"
PLAIN = "plain moto: K117"
ROWS = (
    _row("unknown-zone", CREATE, "InvalidZone.NotFound", _zone, f"{API} CreateVolume, AvailabilityZone"),
    _row("size", CREATE, VALUE, _size, TYPES),
    _row("iops", CREATE, VALUE, _iops, f"{EBS_GUIDE}/general-purpose.html; facts F70, F73; {PLAIN}"),
    _row("throughput", CREATE, VALUE, _throughput, f"{EBS_GUIDE}/general-purpose.html; fact F70"),
    _row("smaller-than-snapshot", CREATE, VALUE, _snapshot_size, f"{API} CreateVolume, Size"),
    _row("shrink", MODIFY, VALUE, _shrink, f"{API} ModifyVolume, Size; fact F72; {PLAIN}"),
    _row("modify-size", MODIFY, VALUE, _size, TYPES),
    _row("modify-iops", MODIFY, VALUE, _iops, f"{EBS_GUIDE}/general-purpose.html; fact F70"),
    _row("modify-throughput", MODIFY, VALUE, _throughput_modify, f"{API} ModifyVolume, Throughput; fact F73"),
    _row(
        "modify-rate",
        MODIFY,
        "VolumeModificationRateExceeded",
        _rate,
        f"{API} ModifyVolume; fact F72; {PLAIN}",
    ),
    _row(
        "other-zone",
        ATTACH,
        "InvalidVolume.ZoneMismatch",
        _other_zone,
        f"{EC2_GUIDE}/ebs-attaching-volume.html; {PLAIN}",
    ),
    _row("attached", ATTACH, "VolumeInUse", _attached, f"{API} AttachVolume; fact F80; {PLAIN}"),
    _row("not-running", ATTACH, "IncorrectState", _not_running, f"{API} AttachVolume"),
    _row("device-taken", ATTACH, VALUE, _device_taken, f"{EC2_GUIDE}/device_naming.html; fact F79"),
    _row(
        "too-many", ATTACH, "AttachmentLimitExceeded", _too_many, f"{EC2_GUIDE}/volume_limits.html; fact F75"
    ),
)
