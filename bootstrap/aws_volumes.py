"""The node's calls about volumes; storage says what they are for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bootstrap.aws_session import Session
from bootstrap.storage.order import LiveVolume
from nightshift.plan import names


class VolumeCalls(Session):
    """Volumes of the site. Every method raises one of AwsError when AWS refuses or can't be reached."""

    def site_volumes(self, volumes: Sequence[str]) -> list[LiveVolume]:
        """The site's volumes of these names, as EC2 describes them now."""
        wanted = {f"tag:{names.TAG_SITE}": [self._config.site], f"tag:{names.TAG_VOLUME}": list(volumes)}
        return [_live(each) for each in self._volumes(wanted)]

    def taken_devices(self) -> set[str]:
        """Device names of everything attached to this instance, its root among them."""
        found = self._volumes({"attachment.instance-id": [self._instance_id]})
        return {str(one["Device"]) for each in found for one in each.get("Attachments", ())}

    def attach_volume(self, volume_id: str, device: str) -> None:
        """Begin to attach a volume to this instance. VolumeInUse when somebody else has it: the lock."""
        self.client("ec2").attach_volume(VolumeId=volume_id, InstanceId=self._instance_id, Device=device)

    def detach_volume(self, volume_id: str) -> None:
        """Begin to detach a volume from this instance, never by force."""
        self.client("ec2").detach_volume(VolumeId=volume_id, InstanceId=self._instance_id)

    def _volumes(self, filters: dict[str, list[str]]) -> list[dict[str, Any]]:
        given = [{"Name": name, "Values": values} for name, values in filters.items()]
        pages = self.client("ec2").get_paginator("describe_volumes").paginate(Filters=given)
        return [each for page in pages for each in page["Volumes"]]


def _live(described: dict[str, Any]) -> LiveVolume:
    tags = {tag["Key"]: tag["Value"] for tag in described.get("Tags", ())}
    attached = next(iter(described.get("Attachments", ())), {})
    index = tags.get(names.TAG_INDEX)
    return LiveVolume(
        id=described["VolumeId"],
        name=tags[names.TAG_VOLUME],
        index=None if index is None else int(index),
        size_gib=described["Size"],
        zone=described["AvailabilityZone"],
        state=described["State"],
        holder=attached.get("InstanceId", ""),
        holding=attached.get("State", ""),
        snapshot=described.get("SnapshotId") or "",
    )
