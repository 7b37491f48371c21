"""A node's place on the network, and the names by which its neighbours know it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

DOMAIN = "ec2.internal"
_RESOLV = "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"
"""Nobody answers there: a name that isn't in /etc/hosts fails at once."""


@dataclass(frozen=True)
class Port:
    """A node's place on the network: cable, address, gateway; `ip` runs on the hub, `plug` lays the cable."""

    name: str
    address: str
    gateway: str
    ip: Callable[..., None]
    plug: Callable[[Port, int], None]


def host_name(address: str) -> str:
    """As EC2 names a private address."""
    return f"ip-{address.replace('.', '-')}"


def hosts(address: str) -> str:
    """/etc/hosts with every address of the subnet, so that nobody's name costs a look-up."""
    subnet = address.rpartition(".")[0]
    lines = ["127.0.0.1 localhost"]
    for number in range(1, 255):
        name = host_name(f"{subnet}.{number}")
        lines.append(f"{subnet}.{number} {name}.{DOMAIN} {name}")
    return "\n".join(lines) + "\n"


def etc(address: str) -> dict[str, str]:
    """Files of /etc that names come from."""
    return {"hosts": hosts(address), "hostname": f"{host_name(address)}\n", "resolv.conf": _RESOLV}
