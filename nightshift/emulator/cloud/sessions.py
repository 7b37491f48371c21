"""Role sessions: the credentials of nodes, and who signed a call."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from moto.core.utils import utcnow
from moto.sts.models import sts_backends

from nightshift.emulator.cloud import ACCOUNT
from nightshift.emulator.cloud.call import AwsError
from nightshift.emulator.cloud.services.backends import autoscaling, ec2, iam

SESSION_SECONDS = 6 * 3600


@dataclass(frozen=True)
class Principal:
    """Who signed: a role session, with the role's documents. `instance` is set when the session is a
    node's."""

    arn: str
    user_id: str
    region: str
    role: Any
    expired: bool
    instance: str = ""

    def documents(self) -> list[Mapping[str, Any]]:
        """Inline and attached policies of the role as they are now."""
        texts = [
            *self.role.policies.values(),
            *(policy.document for policy in self.role.managed_policies.values()),
        ]
        return [json.loads(text) if isinstance(text, str) else text for text in texts]

    def context(self) -> dict[str, Sequence[str]]:
        """Condition keys about the signer and the moment."""
        now = utcnow()
        tags = {tag["Key"]: tag["Value"] for tag in self.role.tags or ()}
        keys: dict[str, Sequence[str]] = {
            "aws:userid": [self.user_id],
            "aws:PrincipalArn": [self.role.arn],
            "aws:PrincipalAccount": [ACCOUNT],
            "aws:PrincipalType": ["AssumedRole"],
            "aws:ResourceAccount": [ACCOUNT],
            "aws:SecureTransport": ["true"],
            "aws:SourceIp": ["127.0.0.1"],
            "aws:CurrentTime": [f"{now:%Y-%m-%dT%H:%M:%SZ}"],
            "aws:EpochTime": [str(int(now.timestamp()))],
            **{f"aws:PrincipalTag/{key}": [value] for key, value in tags.items()},
        }
        if self.instance:
            keys["ec2:SourceInstanceARN"] = [f"arn:aws:ec2:{self.region}:{ACCOUNT}:instance/{self.instance}"]
        return keys


def _instance(instance_id: str) -> tuple[str, Any]:
    """Region and instance of an id, in whichever region it runs."""
    from moto.ec2.models import ec2_backends

    for region, backend in ec2_backends[ACCOUNT].items():
        instance = backend.get_instance_by_id(instance_id)
        if instance is not None:
            return region, instance
    raise AwsError("InvalidInstanceID.NotFound", f"The instance ID '{instance_id}' does not exist")


def node_credentials(instance_id: str, seconds: int = SESSION_SECONDS) -> dict[str, Any]:
    """Session credentials of the instance's role, as IMDS would give them; valid for so many seconds.

    Raises AwsError when it has none.
    """
    region, instance = _instance(instance_id)
    if instance.state != "running":
        raise AwsError(
            "IncorrectInstanceState", f"The instance '{instance_id}' is {instance.state}, not running"
        )
    association = ec2(region).iam_instance_profile_associations.get(instance_id)
    roles = association.iam_instance_profile.roles if association is not None else []
    if not roles:
        raise AwsError("NoSuchEntity", f"The instance '{instance_id}' has no instance profile with a role")
    session = sts_backends[ACCOUNT]["aws"].assume_role(region, instance_id, roles[0].arn, "", seconds, "")
    return {
        "Code": "Success",
        "Type": "AWS-HMAC",
        "AccessKeyId": session.access_key_id,
        "SecretAccessKey": session.secret_access_key,
        "Token": session.session_token,
        "LastUpdated": f"{utcnow():%Y-%m-%dT%H:%M:%SZ}",
        "Expiration": f"{utcnow() + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}",
        "RoleArn": roles[0].arn,
        "Region": region,
    }


def principal(access_key: str) -> Principal | None:
    """The role session that an access key belongs to; None for an operator. Raises AwsError when its
    role is gone."""
    if not access_key.startswith("ASIA"):
        return None
    session = sts_backends[ACCOUNT]["aws"].get_assumed_role_from_access_key(access_key)
    if session is None:
        raise AwsError("InvalidClientTokenId", "The security token included in the request is invalid.")
    role = next((role for role in iam().roles.values() if role.arn == session.role_arn), None)
    if role is None:
        raise AwsError("InvalidClientTokenId", "The security token included in the request is invalid.")
    name = session.session_name
    return Principal(
        session.arn,
        f"{role.id}:{name}",
        session.region_name,
        role,
        session.expiration <= utcnow(),
        name if name.startswith("i-") else "",
    )


def tags_context(prefixes: Sequence[str], tags: Mapping[str, str]) -> dict[str, Sequence[str]]:
    """`<prefix>:ResourceTag/<key>` for each prefix and tag."""
    return {f"{prefix}:ResourceTag/{key}": [value] for prefix in prefixes for key, value in tags.items()}


def group_tags(region: str, name: str) -> Mapping[str, str]:
    """Tags of a group, none when it does not exist."""
    group = autoscaling(region).autoscaling_groups.get(name)
    return {tag["Key"]: tag["Value"] for tag in group.tags} if group is not None else {}
