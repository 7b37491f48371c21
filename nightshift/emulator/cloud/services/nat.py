"""NAT gateways give their interface and address back when they are deleted."""

from __future__ import annotations

from typing import Any

from moto.ec2.models.nat_gateways import NatGatewayBackend

from nightshift.emulator.cloud.state import Handlers, Patch

_moto_delete = NatGatewayBackend.delete_nat_gateway


def _delete(backend: Any, nat_gateway_id: str) -> Any:
    gateway = _moto_delete(backend, nat_gateway_id)
    interface = gateway._eni
    for address in backend.addresses:
        if address.eni is interface:
            address.eni, address.association_id = None, None
    if interface.id in backend.enis:
        backend.delete_network_interface(interface.id)
    return gateway


HANDLERS: Handlers = {}
PATCHES = (
    Patch(
        NatGatewayBackend,
        "delete_nat_gateway",
        _delete,
        "moto leaves the gateway's interface and its hold on the address behind",
    ),
)
