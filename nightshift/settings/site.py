"""`nightshift:site`: where the stack lives, who owns it, what it may cost."""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, StringConstraints, Tag

from nightshift.settings.forms import by_keys
from nightshift.settings.types import NUMBER, Email, ImageId, Section, SubnetId, VpcId, expected


class Budget(Section):
    """A monthly AWS budget on this site's tag. Billing data lags by hours: it warns, it stops no node."""

    monthly_usd: Annotated[
        int, Field(ge=1, le=10_000_000, description="US dollars a month. Change: in place.")
    ]
    notify: Annotated[
        tuple[Email, ...],
        Field(
            min_length=1, max_length=10, description="Mail at 80 % actual, 100 % forecast. Change: in place."
        ),
    ]


class Ssh(Section):
    """SSH from named networks only. Sessions by SSM need no open port and are the default."""

    sources: Annotated[
        tuple[str, ...],
        Field(
            alias="from",
            min_length=1,
            max_length=20,
            description="IPv4 CIDRs, /8 or narrower. Change: in place.",
        ),
    ]
    key: Annotated[
        str,
        Field(
            min_length=1,
            max_length=255,
            description="Name of an EC2 key pair in the region. Change: new nodes.",
        ),
    ]


class OwnNetwork(Section):
    """A VPC that the stack makes."""

    cidr: Annotated[
        str,
        Field(
            default="10.77.0.0/16",
            description="IPv4 block of /16 to /24. Change: refused while the stack stands.",
        ),
    ]


class GivenNetwork(Section):
    """A VPC and subnet that stand already. The subnet must lie in the site's zone and reach S3 and SSM."""

    vpc: Annotated[VpcId, Field(description="VPC id. Change: refused while the stack stands.")]
    subnet: Annotated[SubnetId, Field(description="Subnet id. Change: new nodes.")]


Network = Annotated[
    Annotated[OwnNetwork, Tag("\0own")] | Annotated[GivenNetwork, Tag("\0given")],
    Discriminator(by_keys(word=None, forms={"\0own": OwnNetwork, "\0given": GivenNetwork})),
    expected("{cidr: 10.77.0.0/16} or {vpc: vpc-..., subnet: subnet-...}"),
]


class Site(Section):
    """One stack: a region, one home zone for data, network, image, budget."""

    zone: Annotated[
        str,
        StringConstraints(pattern=r"^[a-z]{2}(?:-[a-z]+)+-[0-9][a-z]$"),
        expected("an availability zone such as us-east-1a"),
        Field(
            description="Zone of nodes and volumes, in aws:region. Change: refused while the stack stands."
        ),
    ]
    timezone: Annotated[
        str, Field(default="Etc/UTC", description="IANA zone in which shifts are read. Change: in place.")
    ]
    owner: Annotated[
        str,
        StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9 _.:/=+@-]{0,63}$"),
        expected("1 to 64 letters, digits, spaces and _ . : / = + @ -, from a letter or digit"),
        Field(description="Who answers for the bill; a tag. Change: in place, nodes at their next boot."),
    ]
    image: Annotated[
        ImageId, Field(description="AMI of every node; `nightshift pin` proposes one. Change: new nodes.")
    ]
    image_root_device: Annotated[
        Literal["/dev/sda1", "/dev/xvda"],
        Field(
            default="/dev/sda1",
            description="Root device of the image: Ubuntu sda1, Amazon Linux xvda. Change: new nodes.",
        ),
    ]
    network: Annotated[
        Network,
        Field(
            default_factory=OwnNetwork,
            description="Own VPC (cidr) or given (vpc, subnet). Change: refused while the stack stands.",
        ),
    ]
    ssh: Annotated[
        Ssh | None, Field(default=None, description="Open port 22 to named networks. Change: in place.")
    ]
    budget: Annotated[
        Budget | None, Field(default=None, description="Monthly budget with mail. Change: in place.")
    ]
    alerts: Annotated[
        tuple[Email, ...],
        Field(
            default=(),
            max_length=10,
            description="Mail for `no capacity` and `not ready`; budget.notify if absent. Each address must "
            "confirm AWS's mail first. Change: in place.",
        ),
    ]
    log_days: Annotated[
        Literal[1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096],
        NUMBER,
        Field(default=30, description="Days that node logs are kept. Change: in place."),
    ]
