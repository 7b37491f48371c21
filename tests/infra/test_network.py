"""The network: closed, in one zone, and found again."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from infra.live_ec2 import LivePart, LiveRule
from infra.network import Given, Own, network_spec
from infra.rules import OUTBOUND, RuleSpec, rule_id
from tests.infra.recorder import Recorder
from tests.infra.support.samples import EFA_GROUP, declare, lab, nothing_alive, parts


@functools.cache
def deployed() -> Recorder:
    return declare()


def given(raw: dict[str, Any]) -> None:
    raw["nightshift:site"]["network"] = {"vpc": "vpc-0123456789abcdef0", "subnet": "subnet-0123456789abcdef0"}


def with_ssh(raw: dict[str, Any]) -> None:
    raw["nightshift:site"]["ssh"] = {"from": ["203.0.113.0/24"], "key": "ada"}


def test_nothing_is_open_to_the_internet() -> None:
    assert deployed().all("SecurityGroupIngressRule") == []
    for group in deployed().all("SecurityGroup"):
        assert "ingress" not in group.inputs


def test_the_vpcs_own_default_group_is_closed() -> None:
    closed = deployed().one("DefaultSecurityGroup").inputs
    assert closed["vpcId"] == "network-vpc-id"
    assert not {"ingress", "egress"} & set(closed), "without rules the provider takes all of them away"


def test_ssh_is_open_to_the_named_networks_only_and_brings_the_key() -> None:
    recorder = declare(lab(with_ssh))
    rule = recorder.one("SecurityGroupIngressRule").inputs
    assert (rule["ipProtocol"], rule["fromPort"], rule["toPort"]) == ("tcp", 22, 22)
    assert rule["cidrIpv4"] == "203.0.113.0/24"
    assert recorder.one("LaunchTemplate", "vit-template").inputs["keyName"] == "ada"


def test_the_network_asks_for_nothing_that_makes_the_provider_wait() -> None:
    assert "mapPublicIpOnLaunch" not in deployed().one("Subnet").inputs
    assert not {"enableDnsHostnames", "enableDnsSupport"} & set(deployed().one("Vpc").inputs)


def test_the_subnet_lies_in_the_sites_zone_and_leaves_by_the_internet_gateway() -> None:
    assert deployed().one("Subnet").inputs["availabilityZone"] == "us-east-1a"
    routes = deployed().one("DefaultRouteTable").inputs
    assert routes["defaultRouteTableId"] == "rtb-main"
    assert routes["routes"] == [{"cidrBlock": "0.0.0.0/0", "gatewayId": "network-internet-gateway-id"}]


def test_s3_is_reached_without_the_internet() -> None:
    endpoint = deployed().one("VpcEndpoint").inputs
    assert endpoint["serviceName"] == "com.amazonaws.us-east-1.s3"
    assert endpoint["vpcEndpointType"] == "Gateway"
    assert endpoint["routeTableIds"] == ["network-routes-public-id"]


def test_a_nat_gateway_stands_only_where_a_group_needs_it() -> None:
    assert deployed().all("NatGateway") == deployed().all("Eip") == []
    recorder = declare(lab(lambda raw: raw["nightshift:groups"].update(big=EFA_GROUP)))
    assert recorder.one("NatGateway").inputs["subnetId"] == "network-subnet-public-id"
    assert recorder.one("RouteTable").inputs["routes"] == [
        {"cidrBlock": "0.0.0.0/0", "natGatewayId": "network-nat-id"}
    ]
    assert recorder.one("VpcEndpoint").inputs["routeTableIds"] == [
        "network-routes-public-id",
        "network-routes-private-id",
    ]
    assert "network-joined-private" in recorder.one("Group", "big-group").depends_on


def test_a_given_network_is_used_and_left_as_it_is() -> None:
    recorder = declare(lab(given))
    for kind in ("Vpc", "Subnet", "InternetGateway", "DefaultRouteTable", "VpcEndpoint"):
        assert recorder.all(kind) == []
    assert recorder.one("SecurityGroup").inputs["vpcId"] == "vpc-0123456789abcdef0"
    group = recorder.one("Group", "vit-group").inputs
    assert group["vpcZoneIdentifiers"] == ["subnet-0123456789abcdef0"]
    cards = recorder.one("LaunchTemplate", "vit-template").inputs["networkInterfaces"]
    assert "associatePublicIpAddress" not in cards[0], "whether it's public is the subnet's own setting"


@pytest.mark.parametrize(
    ("cidr", "public", "private"),
    [("10.77.0.0/16", "10.77.0.0/17", "10.77.128.0/17"), ("10.1.2.0/24", "10.1.2.0/25", "10.1.2.128/25")],
)
def test_the_block_is_halved_whether_or_not_the_private_half_is_used(
    cidr: str, public: str, private: str
) -> None:
    stack = lab(lambda raw: raw["nightshift:site"].update(network={"cidr": cidr}))
    assert network_spec(stack, private=True).layout == Own(cidr, public, private)
    assert network_spec(stack, private=False).layout == Own(cidr, public, None)


def test_a_given_network_has_no_layout() -> None:
    assert network_spec(lab(given), private=True).layout == Given(
        "vpc-0123456789abcdef0", "subnet-0123456789abcdef0"
    )


def test_parts_that_stand_are_taken_over_by_their_tag() -> None:
    live = nothing_alive(
        parts=parts(
            LivePart("vpc", "vpc-1", "Vpcs", cidr="10.77.0.0/16"),
            LivePart("subnet-public", "subnet-1", "Subnets", zone="us-east-1a"),
            LivePart("internet-gateway", "igw-1", "InternetGateways"),
            LivePart("routes-public", "rtb-1", "RouteTables"),
            LivePart("s3-endpoint", "vpce-1", "VpcEndpoints"),
            LivePart("security-nodes", "sg-1", "SecurityGroups", vpc="vpc-1"),
        ),
        rules=(LiveRule("sgr-1", "sg-1", True, "-1", -1, -1, "0.0.0.0/0"),),
    )
    taken = {each.name: each.request.importId for each in declare(live=live).recorded}
    assert {name: taken[name] for name in taken if name.startswith("network-")} == {
        "network-vpc": "vpc-1",
        "network-subnet-public": "subnet-1",
        "network-internet-gateway": "igw-1",
        "network-routes-public": "",
        "network-closed": "",
        "network-s3-endpoint": "vpce-1",
        "network-nodes": "sg-1",
        "network-nodes-out": "sgr-1",
    }


RULES = (
    LiveRule("sgr-1", "sg-1", True, "-1", -1, -1, "0.0.0.0/0"),
    LiveRule("sgr-2", "sg-2", False, "-1", -1, -1, "sg-2"),
    LiveRule("sgr-3", "sg-2", False, "tcp", 22, 22, "203.0.113.0/24"),
)


@pytest.mark.parametrize(
    ("spec", "group", "found"),
    [
        (OUTBOUND, "sg-1", "sgr-1"),
        (OUTBOUND, "sg-2", None),
        (OUTBOUND, None, None),
        (RuleSpec("in", egress=False, peer=None), "sg-2", "sgr-2"),
        (RuleSpec("ssh", egress=False, peer="203.0.113.0/24", port=22), "sg-2", "sgr-3"),
        (RuleSpec("ssh", egress=False, peer="203.0.113.0/24", port=23), "sg-2", None),
        (RuleSpec("ssh", egress=True, peer="203.0.113.0/24", port=22), "sg-2", None),
    ],
)
def test_a_rule_that_says_the_same_is_taken_over_tagged_or_not(
    spec: RuleSpec, group: str | None, found: str | None
) -> None:
    assert rule_id(spec, group, RULES) == found
