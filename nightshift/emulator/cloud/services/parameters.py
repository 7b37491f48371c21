"""The public parameters that name the newest Deep Learning images. moto has those of other services only.

Names: AWS Deep Learning AMI guide, find-dlami-id, read 2026-11."""

from __future__ import annotations

from typing import Any

from moto.core.utils import utcnow
from moto.ssm.models import Parameter, ParameterDict

from nightshift.emulator.cloud.state import Handlers, Patch

PREFIX = "/aws/service/deeplearning/ami"
NEWEST = {
    f"{PREFIX}/x86_64/base-oss-nvidia-driver-gpu-ubuntu-22.04/latest/ami-id": "ami-0abc0000000220401",
    f"{PREFIX}/x86_64/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id": "ami-0abc0000000240401",
    f"{PREFIX}/x86_64/base-oss-nvidia-driver-gpu-amazon-linux-2023/latest/ami-id": "ami-0abc0000000202301",
    f"{PREFIX}/arm64/base-oss-nvidia-driver-gpu-ubuntu-22.04/latest/ami-id": "ami-0abc0000000640401",
}
_PARAMETER: Any = Parameter
_moto_check = ParameterDict._check_loading_status


def _check(known: Any, key: str) -> None:
    _moto_check(known, key)
    if not str(key or "").startswith(PREFIX) or dict.__contains__(known, next(iter(NEWEST))):
        return
    for name, image in NEWEST.items():
        parameter = _PARAMETER(
            account_id=known.account_id,
            name=name,
            value=image,
            parameter_type="String",
            description=None,
            allowed_pattern=None,
            keyid=None,
            last_modified_date=utcnow(),
            version=1,
            data_type="text",
        )
        dict.__setitem__(known, name, [parameter])


HANDLERS: Handlers = {}
PATCHES = (
    Patch(
        ParameterDict,
        "_check_loading_status",
        _check,
        "moto loads public parameters by prefix when they are first asked for, and has none of deeplearning",
    ),
)
