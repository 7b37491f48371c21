"""What each shipped stack must look like in AWS, read off its file by hand."""

from __future__ import annotations

from dataclasses import dataclass, field

WEEKDAYS = "MON,TUE,WED,THU,FRI"
SMALL = ["g6.2xlarge", "g5.2xlarge", "g6.4xlarge", "g5.4xlarge"]
FOUR_CARDS = ["g6.12xlarge", "g5.12xlarge", "g6.24xlarge", "g5.24xlarge"]


@dataclass(frozen=True)
class WantedGroup:
    """`actions` by name: recurrence and desired. `boot_s`: heartbeat of ready; `spot` in per cent."""

    actions: dict[str, tuple[str, int]]
    types: list[str]
    spot: int
    nodes: int = 1
    boot_s: int = 1200
    root_gib: int = 150
    hop_limit: int = 2
    cards: int = 1


@dataclass(frozen=True)
class Wanted:
    """`volumes` by label: GiB, IOPS, MiB/s, policy. `policies` by name: time, kept."""

    region: str
    zone: str
    timezone: str
    owner: str
    image: str
    groups: dict[str, WantedGroup]
    volumes: dict[str, tuple[int, int, int, str | None]]
    mails: list[str]
    policies: dict[str, tuple[str, int]] = field(default_factory=dict)
    log_days: int = 30
    nat_gateways: int = 0


STACKS = {
    "rehearsal": Wanted(
        "us-east-1",
        "us-east-1a",
        "America/New_York",
        "rehearsal",
        "ami-0abc0000000000001",
        {
            "train": WantedGroup(
                {"up-2000": ("0 20 * * MON,WED,FRI", 1), "down-0700": ("0 7 * * TUE,THU,SAT", 0)}, SMALL, 100
            )
        },
        {"data": (100, 3000, 125, None), "runs": (50, 3000, 125, "nightly")},
        ["you@example.org"],
        {"nightly": ("17:00", 7)},
    ),
    "solo": Wanted(
        "us-west-2",
        "us-west-2b",
        "America/Los_Angeles",
        "ada",
        "ami-0abc0000000000002",
        {
            "desk": WantedGroup(
                {"up-0900": (f"0 9 * * {WEEKDAYS}", 1), "down-1800": (f"0 18 * * {WEEKDAYS}", 0)}, SMALL, 0
            )
        },
        {"home": (200, 3000, 125, "daily")},
        ["ada@example.org"],
        {"daily": ("05:00", 14)},
    ),
    "lab": Wanted(
        "us-east-1",
        "us-east-1a",
        "Asia/Shanghai",
        "vision",
        "ami-0abc0000000000003",
        {
            "desk": WantedGroup(
                {"up-0900": (f"0 9 * * {WEEKDAYS}", 1), "down-1800": (f"0 18 * * {WEEKDAYS}", 0)}, SMALL, 0
            ),
            "vit": WantedGroup(
                {"up-2000": ("0 20 * * MON,WED,FRI", 1), "down-0700": ("0 7 * * TUE,THU,SAT", 0)},
                FOUR_CARDS,
                100,
            ),
        },
        {"imagenet": (300, 4000, 500, None), "runs": (200, 3000, 125, "nightly")},
        ["lab@example.org"],
        {"nightly": ("10:30", 7)},
    ),
    "team": Wanted(
        "eu-central-1",
        "eu-central-1a",
        "Europe/Berlin",
        "nlp team",
        "ami-0abc0000000000004",
        {
            "shared": WantedGroup(
                {
                    "up-0800": (f"0 8 * * {WEEKDAYS}", 1),
                    "down-2000": ("0 20 * * MON,TUE,WED,THU", 0),
                    "down-1600": ("0 16 * * FRI", 0),
                },
                ["g6.12xlarge", "g5.12xlarge"],
                0,
                root_gib=300,
                hop_limit=1,
            )
        },
        {"home": (500, 3000, 125, "daily"), "corpora": (1000, 6000, 750, "few")},
        ["nlp@example.org"],
        {"daily": ("21:00", 14), "few": ("22:30", 3)},
        log_days=90,
    ),
    "cluster": Wanted(
        "us-west-2",
        "us-west-2b",
        "Etc/UTC",
        "foundation models",
        "ami-0abc0000000000005",
        {
            "pretrain": WantedGroup(
                {"up-2000": ("0 20 * * FRI", 4), "down-0800": ("0 8 * * MON", 0)},
                ["p4d.24xlarge"],
                0,
                nodes=4,
                boot_s=2400,
                root_gib=500,
                cards=4,
            )
        },
        {f"shards-{index}": (2000, 8000, 1000, None) for index in range(4)},
        ["fm-oncall@example.org"],
        nat_gateways=1,
    ),
}
