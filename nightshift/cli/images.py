"""AMIs: the published images that Nightshift knows, what AWS says of them, and which is newest."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

_PREFIX = "/aws/service/deeplearning/ami"
KINDS = (
    "base-oss-nvidia-driver-gpu-ubuntu-22.04",
    "base-oss-nvidia-driver-gpu-ubuntu-24.04",
    "base-oss-nvidia-driver-gpu-amazon-linux-2023",
    "base-with-single-cuda-ubuntu-24.04",
)
"""Images whose public parameter is known to exist (AWS Deep Learning AMI guide); names follow no rule."""
_DATE = re.compile(r"[ -]?\d{8}(?:[ -]\d+)?$")


@dataclass(frozen=True)
class Image:
    """An AMI as DescribeImages gives it; `root_gib` is the size of its root snapshot."""

    id: str
    name: str
    arch: str
    root_device: str
    root_gib: int | None
    created: str
    deprecated: datetime | None
    state: str

    @property
    def family(self) -> str:
        """The name without its date: what two releases of one image share."""
        return _DATE.sub("", self.name)


@dataclass(frozen=True)
class Published:
    """The newest image of one kind."""

    kind: str
    parameter: str
    image: Image


def parameters(arch: str) -> dict[str, str]:
    """Public SSM parameter -> kind, for an architecture (x86_64 or arm64)."""
    return {f"{_PREFIX}/{arch}/{kind}/latest/ami-id": kind for kind in KINDS}


def read_published(ssm: Any, ec2: Any, arch: str) -> list[Published]:
    """The newest image of each kind that the region publishes."""
    wanted = parameters(arch)
    answer = ssm.get_parameters(Names=list(wanted))
    ids = {one["Name"]: one["Value"] for one in answer["Parameters"]}
    images = read_images(ec2, sorted(set(ids.values())))
    return [Published(wanted[name], name, images[ami]) for name, ami in ids.items() if ami in images]


def read_images(ec2: Any, ids: Sequence[str]) -> dict[str, Image]:
    """The images that exist among `ids`; a filter, since naming a missing id is an error."""
    if not ids:
        return {}
    answer = ec2.describe_images(Filters=[{"Name": "image-id", "Values": list(ids)}], IncludeDeprecated=True)
    return {raw["ImageId"]: _image(raw) for raw in answer["Images"]}


def _image(raw: Mapping[str, Any]) -> Image:
    root = raw.get("RootDeviceName", "")
    sizes = [
        one["Ebs"].get("VolumeSize")
        for one in raw.get("BlockDeviceMappings", ())
        if one.get("DeviceName") == root and "Ebs" in one
    ]
    ends = raw.get("DeprecationTime")
    return Image(
        id=raw["ImageId"],
        name=raw.get("Name", ""),
        arch=raw.get("Architecture", ""),
        root_device=root,
        root_gib=sizes[0] if sizes else None,
        created=raw.get("CreationDate", ""),
        deprecated=datetime.fromisoformat(ends) if ends else None,
        state=raw.get("State", ""),
    )
