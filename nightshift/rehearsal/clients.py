"""boto3 on the emulated AWS: credentials and endpoint are given, the user's own are never looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import boto3
from botocore.config import Config

Clients = Callable[[str], Any]


def clients_of(endpoint: str, region: str) -> Clients:
    """A factory of clients that reach `endpoint` and nothing else."""
    session: Any = boto3.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name=region)
    made: dict[str, Any] = {}

    def client(service: str) -> Any:
        if service not in made:
            made[service] = session.client(
                service, endpoint_url=endpoint, config=Config(retries={"total_max_attempts": 2})
            )
        return made[service]

    return client


def listed(client: Any, operation: str, key: str, **arguments: Any) -> list[Any]:
    """Every page's items of a list call."""
    if not client.can_paginate(operation):
        return list(getattr(client, operation)(**arguments)[key])
    pages = client.get_paginator(operation).paginate(**arguments)
    return [item for page in pages for item in page.get(key, ())]
