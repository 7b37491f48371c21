"""Images: the built-in ones, further ids given at the start, and true root device sizes. moto gives
all 15 GiB."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from moto.ec2.models import amis

from nightshift.emulator.cloud.state import Handlers, Patch

# DLAMI snapshots are this large (Base Ubuntu 22.04, late 2026).
ROOT_GIB = 75


def add_images(ids: Iterable[str]) -> None:
    """Make further ids known in every region, as x86_64 images with /dev/sda1. Before the first request."""
    known = {row["ami_id"] for row in amis.AMIS}
    for image in ids:
        if image not in known:
            amis.AMIS.append({**amis.AMIS[0], "ami_id": image, "name": f"{amis.AMIS[0]['name']} {image}"})
            known.add(image)


def root_mapping(image: Any) -> dict[str, Any]:
    """The image's root device as a block device mapping."""
    return {
        "DeviceName": image.root_device_name,
        "Ebs": {
            "SnapshotId": image.ebs_snapshot.id,
            "VolumeSize": image.ebs_snapshot.volume.size,
            "VolumeType": "gp3",
            "Iops": 3000,
            "Throughput": 125,
            "DeleteOnTermination": True,
            "Encrypted": False,
        },
    }


_moto_init = amis.Ami.__init__


def _init(self: Any, *args: Any, **kwargs: Any) -> None:
    _moto_init(self, *args, **kwargs)
    self.ebs_snapshot.volume.size = ROOT_GIB


HANDLERS: Handlers = {}
PATCHES = (
    Patch(
        amis.Ami,
        "__init__",
        _init,
        "moto gives every image a snapshot of 15 GiB; a root disk is checked against it",
    ),
    Patch(
        amis.Ami,
        "block_device_mappings",
        property(lambda self: [root_mapping(self)]),
        "moto says 15 GiB and `standard`, and that the root volume outlives the instance",
    ),
)
