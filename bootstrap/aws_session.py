"""The node's session with AWS: clients made once, errors in one tuple. Whose calls they are stands beside."""

from __future__ import annotations

import threading
from typing import Any

import boto3
import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError
from botocore.parsers import ResponseParserError

from bootstrap.start.config import NodeConfig

_CONFIG = Config(connect_timeout=5, read_timeout=30, retries={"mode": "standard", "max_attempts": 8})
_BRIEF = Config(connect_timeout=2, read_timeout=5, retries={"mode": "standard", "max_attempts": 2})
_METADATA = {"metadata_service_timeout": 3, "metadata_service_num_attempts": 3}
"""botocore's own are 1 s and one attempt: one slow answer, and the node has no credentials."""
AwsError = (BotoCoreError, ClientError, ResponseParserError)
"""The last is what a proxy or a portal answers in place of AWS; botocore keeps it apart from its own."""


def refusal(error: Exception) -> tuple[str, str]:
    """Code and message of what AWS refused; an empty code when it wasn't reached or didn't answer."""
    if isinstance(error, ClientError):
        told = error.response.get("Error", {})
        return str(told.get("Code", "unknown")), str(told.get("Message", ""))
    return "", str(error)


def plain_client(service: str) -> Any:
    """A client by the machine's own configuration and credentials: for commands run by hand."""
    return boto3.session.Session().client(service, config=_CONFIG)  # ty: ignore[no-matching-overload]


class Session:
    """Clients for one node. A client may be used by several threads, making one may not: hence the lock."""

    def __init__(self, config: NodeConfig, instance_id: str) -> None:
        self._config = config
        self._instance_id = instance_id
        core = botocore.session.Session()
        for name, value in _METADATA.items():
            core.set_config_variable(name, value)
        self._session = boto3.session.Session(region_name=config.region, botocore_session=core)
        self._made: dict[str, Any] = {}
        self._making = threading.Lock()

    def client(self, service: str, *, brief: bool = False) -> Any:
        """The client of one of the artifact's services (s3, logs, secretsmanager, ...), made once.

        `brief` fails within seconds, for whoever asks again anyway. Raises NoCredentialsError while the
        metadata service gives none: a client that is made then has none for good.
        """
        name = f"{service} {brief}"
        with self._making:
            if name not in self._made:
                if self._session.get_credentials() is None:
                    raise NoCredentialsError
                endpoint = self._config.endpoint or None
                self._made[name] = self._session.client(  # ty: ignore[no-matching-overload]
                    service, endpoint_url=endpoint, config=_BRIEF if brief else _CONFIG
                )
            return self._made[name]
