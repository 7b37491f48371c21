"""EBS volumes: detaching without naming the instance, and default throughput."""

from __future__ import annotations

from typing import Any

from moto.ec2.models.elastic_block_store import Volume

from nightshift.emulator.cloud.call import AwsError, Call
from nightshift.emulator.cloud.services.backends import ec2
from nightshift.emulator.cloud.state import Handlers, Patch

GP3_THROUGHPUT = 125


def _detach(call: Call) -> dict[str, Any]:
    """The instance may be left out; a volume that is not attached is in the wrong state."""
    backend = ec2(call.region)
    volume = backend.get_volume(call.params["VolumeId"])
    there = volume.attachment
    if there is None:
        text = f"Volume '{volume.id}' is in the 'available' state."
        raise AwsError("IncorrectState", text)
    instance_id = call.params.get("InstanceId") or there.instance.id
    if instance_id != there.instance.id:
        text = f"The volume '{volume.id}' is not attached to instance '{instance_id}'"
        raise AwsError("InvalidAttachment.NotFound", text)
    old = backend.detach_volume(volume.id, instance_id, call.params.get("Device") or there.device)
    return {
        "VolumeId": volume.id,
        "InstanceId": instance_id,
        "Device": old.device,
        "State": "detaching",
        "AttachTime": old.attach_time,
    }


_moto_volume = Volume.__init__


def _init(self: Any, *args: Any, **kwargs: Any) -> None:
    _moto_volume(self, *args, **kwargs)
    if self.volume_type == "gp3" and not self.throughput:
        self.throughput = GP3_THROUGHPUT
    if self.volume_type == "gp2" and not self.iops:
        self.iops = min(16_000, max(100, 3 * int(self.size)))


HANDLERS: Handlers = {("ec2", "DetachVolume"): _detach}
PATCHES = (
    Patch(
        Volume,
        "__init__",
        _init,
        "moto leaves throughput of gp3 and iops of gp2 empty; AWS shows the defaults",
    ),
)
