"""The node's calls about what it reads and writes: manifest, records' bucket, job secrets, its clock."""

from __future__ import annotations

from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from bootstrap.aws_session import Session


class DataCalls(Session):
    """Objects, secrets and time. Every method raises one of AwsError when AWS refuses or can't be reached."""

    def read_manifest(self) -> str:
        """The text of the group's boot manifest."""
        where = {"Bucket": self._config.bucket, "Key": self._config.manifest_key}
        return self.client("s3").get_object(**where)["Body"].read().decode("utf-8")

    def user_id(self) -> str:
        """`aws:userid` of this node, `AROA...:i-...`: the name of its own folder in the data bucket."""
        return str(self.client("sts").get_caller_identity()["UserId"])

    def secret(self, name: str) -> str:
        """The value of a job's secret; one that was stored as bytes must be UTF-8 (UnicodeDecodeError)."""
        told = self.client("secretsmanager").get_secret_value(SecretId=name)
        return told["SecretString"] if "SecretString" in told else bytes(told["SecretBinary"]).decode("utf-8")

    def time(self) -> datetime | None:
        """AWS's own time, aware, from an answer's Date; None if the answer had none that can be read.

        A node's clock may be wrong; the one that signatures and schedules go by is AWS's.
        """
        return answered_at(self.client("sts").get_caller_identity())


def answered_at(answer: dict[str, Any]) -> datetime | None:
    """When AWS gave an answer, aware."""
    headers = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    try:
        at = parsedate_to_datetime(headers["date"])
    except (KeyError, TypeError, ValueError):
        return None
    return at if at.tzinfo is not None else None
