"""`nightshift:groups`: GPU nodes, when they are up, how they are bought, what they run."""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, StringConstraints, Tag
from pydantic.fields import FieldInfo

from nightshift.settings.forms import by_keys
from nightshift.settings.types import (
    ClockTime,
    Duration,
    Name,
    ReservationId,
    Section,
    UtcMinute,
    Weekday,
    expected,
)

BOOT_MINUTES = (1, 120)
DRAIN_MINUTES = (1, 60)
"""A hook's heartbeat is at most 7200 s; a longer drain would cost more than what it saves."""
IDLE_MINUTES = (5, 24 * 60)


def within(minutes: tuple[int, int], such_as: str) -> FieldInfo:
    """Completes "expected ..." for a duration with bounds, which a rule holds."""
    least, most = (duration_text(bound) for bound in minutes)
    return expected(f"minutes or hours from {least} to {most} such as {such_as}")


def duration_text(minutes: int) -> str:
    """`90m`; whole hours beyond two as `24h`."""
    return f"{minutes // 60}h" if minutes > 120 and minutes % 60 == 0 else f"{minutes}m"


class Shift(Section):
    """A weekly window in the group's zone; `to` not after `from` means the next day."""

    days: Annotated[
        tuple[Weekday, ...],
        Field(min_length=1, max_length=7, description="Days it starts on. Change: in place."),
    ]
    start: Annotated[ClockTime, Field(alias="from", description="HH:MM, up. Change: in place.")]
    end: Annotated[ClockTime, Field(alias="to", description="HH:MM, down. Change: in place.")]


class Mix(Section):
    """Some nodes on demand, the others spot."""

    on_demand_base: Annotated[
        int,
        Field(
            default=0,
            ge=0,
            le=100,
            description="How many of the nodes are on demand before any spot. Change: new nodes.",
        ),
    ]
    on_demand_percent: Annotated[
        int,
        Field(
            default=0,
            ge=0,
            le=100,
            description="Share of the other nodes that is on demand. Change: new nodes.",
        ),
    ]


class CapacityBlock(Section):
    """A paid reservation with an end; AWS starts ending its nodes 30 minutes before."""

    capacity_block: Annotated[ReservationId, Field(description="Reservation id. Change: new nodes.")]
    starts: Annotated[
        UtcMinute | None, Field(default=None, description="Start of the block, UTC. Change: in place.")
    ]
    ends: Annotated[UtcMinute, Field(description="End of the block, UTC. Change: in place.")]


Capacity = Annotated[
    Annotated[Literal["spot", "on-demand"], Tag("\0word")]
    | Annotated[Mix, Tag("\0mix")]
    | Annotated[CapacityBlock, Tag("\0block")],
    Discriminator(by_keys(word="\0word", forms={"\0mix": Mix, "\0block": CapacityBlock})),
    expected(
        "spot, on-demand, {on_demand_base: N, on_demand_percent: N} or "
        "{capacity_block: cr-..., starts: ..., ends: ...}"
    ),
]


class Idle(Section):
    """What happens when the GPUs do nothing."""

    below_percent: Annotated[
        int,
        Field(
            ge=1,
            le=100,
            description="GPU utilisation under which a node is idle. Change: in place, at next boot.",
        ),
    ]
    lasting: Annotated[
        Duration,
        within(IDLE_MINUTES, "45m"),
        Field(alias="for", description="For how long. Change: in place, at next boot."),
    ]
    then: Annotated[
        Literal["warn", "release"],
        Field(default="warn", description="Say it, or release the group. Change: in place, at next boot."),
    ]


SecretName = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9/_+.@-]{1,128}$"),
    expected(
        "the name (128 characters at most, without =) of a secret in Secrets Manager such as lab/wandb, "
        "never NAME=VALUE or the secret itself, which git would keep"
    ),
]
"""Secrets Manager allows `=` in names too; here it is refused, since a value pasted behind one would pass."""


class Job(Section):
    """The training run of the group; started when the node is ready, resumed in the next shift. Packages
    that the runtime lacks its script puts on a volume: docs/training.md, "Packages of your own"."""

    repo: Annotated[
        str,
        StringConstraints(pattern=r"^(?:https://|git@|/)[^\s]+$", max_length=500),
        expected("a Git URL (https://... or git@...) or a path such as /data/runs/vit"),
        Field(
            description="Git URL or a path on a volume; a private one needs a secret, GIT_TOKEN or "
            "GIT_SSH_KEY. Change: in place, at next boot; another repo begins a new run at step 0."
        ),
    ]
    ref: Annotated[
        str | None,
        StringConstraints(pattern=r"^[0-9a-f]{7,40}$|^v?[0-9][A-Za-z0-9._-]{0,63}$"),
        expected("a commit of 7 to 40 of 0-9 and a-f, or a version tag such as v1.2"),
        Field(
            default=None,
            description="Pinned commit or tag; needed for a Git URL. Change: in place, at next boot; the run "
            "goes on from its checkpoints.",
        ),
    ]
    run: Annotated[
        str,
        Field(
            min_length=1,
            max_length=1_000,
            description="Script and arguments, or -m MODULE, given to torchrun; no shell reads it. "
            "Change: in place, at next boot; any other text begins a new run at step 0.",
        ),
    ]
    secrets: Annotated[
        tuple[SecretName, ...],
        Field(
            default=(),
            max_length=20,
            description='Names in Secrets Manager, for the job alone; how: docs/operate.md, "Secrets and '
            'private repositories". Change: in place, at next boot.',
        ),
    ]
    when_done: Annotated[
        Literal["release", "stay"],
        Field(
            default="release",
            description="`release`: the group ends; a later shift's node sees that and goes. "
            "Change: in place, at next boot.",
        ),
    ]


class Group(Section):
    """An Auto Scaling group of equal GPU nodes with one launch template, min 0."""

    tier: Annotated[
        str | None, Field(default=None, description="A named list of instance types. Change: new nodes.")
    ]
    types: Annotated[
        tuple[str, ...] | None,
        Field(
            default=None,
            min_length=1,
            max_length=40,
            description="Instance types in order, instead of a tier. Change: new nodes.",
        ),
    ]
    nodes: Annotated[
        int,
        Field(
            default=1,
            ge=1,
            le=100,
            description="Nodes when up. Change: in place; fewer mid-shift refused.",
        ),
    ]
    capacity: Annotated[
        Capacity, Field(default="on-demand", description="How it is bought. Change: new nodes.")
    ]
    timezone: Annotated[
        str | None, Field(default=None, description="IANA zone, if not the site's. Change: in place.")
    ]
    shifts: Annotated[
        tuple[Shift, ...], Field(min_length=1, max_length=120, description="When it is up. Change: in place.")
    ]
    volumes: Annotated[
        tuple[Name, ...],
        Field(
            default=(),
            max_length=11,
            description="Volumes it mounts at /data/NAME, 11 at most (/dev/sdf to sdp). Change: new nodes.",
        ),
    ]
    runtime: Annotated[
        str, Field(default="torch-2.8-cu128", description="Pinned Python, torch, CUDA. Change: new nodes.")
    ]
    root_gib: Annotated[
        int,
        Field(
            default=150,
            ge=30,
            le=16_384,
            description="Root disk, GiB; gone with the node. Change: new nodes.",
        ),
    ]
    efa: Annotated[
        bool, Field(default=False, description="Elastic Fabric Adapter on every card. Change: new nodes.")
    ]
    boot: Annotated[
        Duration,
        within(BOOT_MINUTES, "20m"),
        Field(default="20m", description="Longest time from launch to ready. Change: in place."),
    ]
    drain: Annotated[
        Duration,
        within(DRAIN_MINUTES, "10m"),
        Field(
            default="10m",
            description="Longest planned drain; 30 % of it, at most 150 s, is kept for what follows the job. "
            "Change: in place, at next boot.",
        ),
    ]
    hop_limit: Annotated[
        int,
        Field(
            default=2,
            ge=1,
            le=3,
            description="IMDSv2 hops: 2 lets containers reach the role, 1 does not. Change: new nodes.",
        ),
    ]
    idle: Annotated[
        Idle | None, Field(default=None, description="Idle GPUs. Change: in place, at next boot.")
    ]
    job: Annotated[
        Job | None,
        Field(
            default=None,
            description="Training run; none means people log in. Change: in place, at next boot.",
        ),
    ]
    notebook: Annotated[
        bool,
        Field(
            default=False, description="A notebook on loopback with a token. Change: in place, at next boot."
        ),
    ]
    users: Annotated[
        tuple[Name, ...],
        Field(
            default=(),
            max_length=50,
            description="Login users that share the node. Change: in place, at next boot.",
        ),
    ]
    gpu_hours_monthly: Annotated[
        int | None,
        Field(
            default=None,
            ge=1,
            le=1_000_000,
            description="Released once this many GPU-hours ran in the month. Change: in place.",
        ),
    ]
