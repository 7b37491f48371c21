"""Where nodes live: a VPC of the stack's own, or a given VPC and subnet.

Nothing is open to the internet: the nodes' security group has no inbound rule but SSH from named CIDRs.
It sets no attribute that makes the provider wait: addresses come from the launch template, not from the
subnet, and DNS host names stay off, since sessions and the S3 gateway need DNS resolution only.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network

import pulumi
from pulumi_aws import ec2

from infra.live import LiveSite
from infra.options import SiteContext, child, tags
from infra.rules import ANYWHERE, OUTBOUND, RuleSpec, declare_rules, ssh_rules
from nightshift.settings.models import Stack
from nightshift.settings.site import GivenNetwork

FENCE = "security-nodes"


@dataclass(frozen=True)
class Given:
    """A VPC and a subnet that stand already."""

    vpc: str
    subnet: str


@dataclass(frozen=True)
class Own:
    """A VPC of the stack's own: the lower half of the block is public, the upper half private if needed."""

    cidr: str
    public: str
    private: str | None


@dataclass(frozen=True)
class NetworkSpec:
    """The network's layout and the rules of the nodes' security group."""

    layout: Own | Given
    rules: tuple[RuleSpec, ...]


def network_spec(stack: Stack, *, private: bool) -> NetworkSpec:
    """The layout of the stack file; `private` when a group's nodes can't have public addresses."""
    rules = (OUTBOUND, *ssh_rules(stack.site.ssh.sources if stack.site.ssh else ()))
    network = stack.site.network
    if isinstance(network, GivenNetwork):
        return NetworkSpec(Given(network.vpc, network.subnet), rules)
    public, upper = (str(half) for half in IPv4Network(network.cidr).subnets(1))
    return NetworkSpec(Own(network.cidr, public, upper if private else None), rules)


class Network(pulumi.ComponentResource):
    """The VPC or its given stand-in. `ready` is what a node needs of it to reach AWS, up to its end."""

    vpc_id: pulumi.Input[str]
    subnet_id: pulumi.Input[str]
    private_subnet_id: pulumi.Input[str] | None = None
    public: bool
    fence_id: pulumi.Output[str]
    ready: tuple[pulumi.Resource, ...] = ()

    def __init__(
        self,
        name: str,
        spec: NetworkSpec,
        *,
        site: SiteContext,
        live: LiveSite,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("nightshift:infra:Network", name, None, opts)
        self._site, self._live, self._prefix = site, live, name
        self.public = isinstance(spec.layout, Own)
        if isinstance(spec.layout, Given):
            self.vpc_id, self.subnet_id = spec.layout.vpc, spec.layout.subnet
        else:
            self._own(spec.layout)
        fence = self._fence()
        rules = declare_rules(
            f"{name}-nodes",
            spec.rules,
            parent=self,
            group=fence,
            live_group=live.import_id(FENCE),
            live=live.rules,
            site=site,
        )
        self.fence_id = fence.id
        self.ready = (*self.ready, *rules)
        self.register_outputs({"vpc_id": self.vpc_id, "subnet_id": self.subnet_id})

    def _own(self, layout: Own) -> None:
        vpc = ec2.Vpc(
            f"{self._prefix}-vpc",
            cidr_block=layout.cidr,
            tags=tags(self._site, "vpc"),
            opts=self._child("vpc"),
        )
        public = self._subnet("public", vpc, layout.public)
        gateway = ec2.InternetGateway(
            f"{self._prefix}-internet-gateway",
            vpc_id=vpc.id,
            tags=tags(self._site, "internet-gateway"),
            opts=self._child("internet-gateway"),
        )
        routes = ec2.DefaultRouteTable(
            f"{self._prefix}-routes-public",
            default_route_table_id=vpc.default_route_table_id,
            routes=[ec2.DefaultRouteTableRouteArgs(cidr_block=ANYWHERE, gateway_id=gateway.id)],
            tags=tags(self._site, "routes-public"),
            opts=child(self),
        )
        ec2.DefaultSecurityGroup(
            f"{self._prefix}-closed",
            vpc_id=vpc.id,
            tags=tags(self._site, "security-default"),
            opts=child(self),
        )
        self.vpc_id, self.subnet_id = vpc.id, public.id
        self.ready = (routes,)
        tables: list[pulumi.Input[str]] = [routes.id]
        if layout.private:
            tables.append(self._private(layout.private, vpc, public, gateway))
        self._endpoint(tables)

    def _subnet(self, kind: str, vpc: ec2.Vpc, cidr: str) -> ec2.Subnet:
        return ec2.Subnet(
            f"{self._prefix}-subnet-{kind}",
            vpc_id=vpc.id,
            availability_zone=self._site.zone,
            cidr_block=cidr,
            tags=tags(self._site, f"subnet-{kind}"),
            opts=self._child(f"subnet-{kind}"),
        )

    def _private(
        self, cidr: str, vpc: ec2.Vpc, public: ec2.Subnet, gateway: ec2.InternetGateway
    ) -> pulumi.Output[str]:
        """A subnet that reaches out through a NAT gateway; returns the id of its route table."""
        subnet = self._subnet("private", vpc, cidr)
        address = ec2.Eip(
            f"{self._prefix}-nat-address",
            domain="vpc",
            tags=tags(self._site, "nat-address"),
            opts=child(self, import_id=self._live.import_id("nat-address"), depends_on=[gateway]),
        )
        nat = ec2.NatGateway(
            f"{self._prefix}-nat",
            allocation_id=address.id,
            subnet_id=public.id,
            tags=tags(self._site, "nat"),
            opts=child(self, import_id=self._live.import_id("nat"), depends_on=self.ready),
        )
        routes = ec2.RouteTable(
            f"{self._prefix}-routes-private",
            vpc_id=vpc.id,
            routes=[ec2.RouteTableRouteArgs(cidr_block=ANYWHERE, nat_gateway_id=nat.id)],
            tags=tags(self._site, "routes-private"),
            opts=self._child("routes-private"),
        )
        joined = ec2.RouteTableAssociation(
            f"{self._prefix}-joined-private",
            subnet_id=subnet.id,
            route_table_id=routes.id,
            opts=child(self),
        )
        self.private_subnet_id = subnet.id
        self.ready = (*self.ready, routes, joined)
        return routes.id

    def _endpoint(self, tables: list[pulumi.Input[str]]) -> None:
        endpoint = ec2.VpcEndpoint(
            f"{self._prefix}-s3-endpoint",
            vpc_id=self.vpc_id,
            service_name=f"com.amazonaws.{self._site.region}.s3",
            vpc_endpoint_type="Gateway",
            route_table_ids=tables,
            tags=tags(self._site, "s3-endpoint"),
            opts=self._child("s3-endpoint"),
        )
        self.ready = (*self.ready, endpoint)

    def _fence(self) -> ec2.SecurityGroup:
        return ec2.SecurityGroup(
            f"{self._prefix}-nodes",
            name=f"nightshift-{self._site.name}-nodes",
            description=f"Nodes of site {self._site.name}",
            vpc_id=self.vpc_id,
            tags=tags(self._site, FENCE),
            opts=self._child(FENCE),
        )

    def _child(self, part: str) -> pulumi.ResourceOptions:
        return child(self, import_id=self._live.import_id(part))
