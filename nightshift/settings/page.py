"""The page of all fields, tiers and runtimes: `python -m nightshift.settings.page [--check]`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from nightshift.catalog.instance_types import InstanceType, instance_types
from nightshift.catalog.regions import REGIONS
from nightshift.catalog.runtimes import RUNTIMES
from nightshift.catalog.tiers import TIERS
from nightshift.settings.expectations import expected_at
from nightshift.settings.group import CapacityBlock, Group, Idle, Job, Mix, Shift
from nightshift.settings.models import Stack
from nightshift.settings.problem import Step
from nightshift.settings.site import Budget, GivenNetwork, OwnNetwork, Site, Ssh
from nightshift.settings.storage import SnapshotPolicy, Volume

PATH = Path(__file__).resolve().parents[2] / "docs" / "fields.md"
PRICED_IN = "us-east-1"
_GROUP = ("groups", "NAME")
SECTIONS: tuple[tuple[type[BaseModel], tuple[Step, ...]], ...] = (
    (Site, ("site",)),
    (OwnNetwork, ("site", "network")),
    (GivenNetwork, ("site", "network")),
    (Ssh, ("site", "ssh")),
    (Budget, ("site", "budget")),
    (Volume, ("volumes", "NAME")),
    (SnapshotPolicy, ("snapshots", "NAME")),
    (Group, _GROUP),
    (Shift, (*_GROUP, "shifts", 0)),
    (Mix, (*_GROUP, "capacity")),
    (CapacityBlock, (*_GROUP, "capacity")),
    (Idle, (*_GROUP, "idle")),
    (Job, (*_GROUP, "job")),
)
"""Every model with the path at which a stack file holds it."""
_BY_RULE = {
    "site.timezone": "a canonical IANA zone such as Europe/Berlin",
    "site.network.cidr": "a private IPv4 block of /16 to /24 such as 10.77.0.0/16",
    "site.ssh.from": "a list of 1 to 20 IPv4 CIDRs such as 203.0.113.0/24",
    "groups.NAME.timezone": "a canonical IANA zone such as Europe/Berlin",
    "groups.NAME.tier": f"one of {', '.join(TIERS)}; it or `types`, not both",
    "groups.NAME.types": "a list of 1 to 40 GPU instance types; it or `tier`, not both",
    "groups.NAME.runtime": f"one of {', '.join(RUNTIMES)}",
    "groups.NAME.volumes": "a list of at most 11 names under `nightshift:volumes`",
    "volumes.NAME.snapshots": "a name under `nightshift:snapshots`",
}
"""What the rules allow where the type alone says only "text" or "a name"."""
_HEAD = """\
# Every field, tier and runtime

Made from the models by `python -m nightshift.settings.page`; a test keeps it current. How a stack file is
read stands in [stack-file.md](stack-file.md). A file needs `aws:region`, `nightshift:site` (with `zone`,
`owner` and `image`) and `nightshift:groups` with at least one group, which needs `shifts` and either `tier`
or `types`; everything else has a default.

What a change costs: **in place** touches no running node; **at next boot** counts from a node's next boot;
**new nodes** makes a new version of the launch template: running nodes stay as they are, the next boot takes
it; **refused** stops the run before anything changes.
"""


def text() -> str:
    """The page as it stands in the file."""
    parts = (_HEAD, *_topics(), *_sections(), *_tiers(), *_offered(), *_runtimes())
    return "\n".join(parts).rstrip() + "\n"


def main(arguments: Sequence[str]) -> int:
    """Write the page, or with --check say whether the file is current. Exit 1 when it is not."""
    if list(arguments) == ["--check"]:
        current = PATH.is_file() and PATH.read_text(encoding="utf-8") == text()
        print(f"{PATH.name} is {'current' if current else 'stale: run python -m nightshift.settings.page'}")
        return 0 if current else 1
    PATH.parent.mkdir(exist_ok=True)
    PATH.write_text(text(), encoding="utf-8")
    print(f"wrote {PATH.name}")
    return 0


def _topics() -> Iterator[str]:
    yield "## The file"
    rows = [
        ["aws:region" if name == "region" else f"nightshift:{name}", *_facts(field, (name,))]
        for name, field in Stack.model_fields.items()
        if name != "name"
    ]
    yield from _table(["key", "allowed", "default", "meaning", "a change"], rows)
    yield from (
        "The stack's name is the file's: `stacks/Pulumi.NAME.yaml`, 1 to 20 of a-z, 0-9 and dashes.",
        "",
    )


def _sections() -> Iterator[str]:
    for model, path in SECTIONS:
        yield f"## {_dotted(path)}{_form(model)}"
        yield from (_one_line(model.__doc__), "")
        rows = [
            [key := field.alias or name, *_facts(field, (*path, key))]
            for name, field in model.model_fields.items()
        ]
        yield from _table(["field", "allowed", "default", "meaning", "a change"], rows)


def _form(model: type[BaseModel]) -> str:
    """Which of several forms of one field a section shows."""
    forms = {OwnNetwork: "own", GivenNetwork: "given", Mix: "a mix", CapacityBlock: "a capacity block"}
    return f", {forms[model]}" if model in forms else ""


def _facts(field: FieldInfo, path: tuple[Step, ...]) -> list[str]:
    meaning, _, change = (field.description or "").partition(" Change: ")
    allowed = _BY_RULE.get(_dotted(path)) or expected_at(path)
    return [allowed, _default(field), meaning, change.removesuffix(".")]


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "**required**"
    value = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(value, BaseModel):
        inner = ", ".join(f"{key}: {each}" for key, each in value.model_dump(by_alias=True).items())
        return f"`{{ {inner} }}`"
    if value is None or value in ((), {}):
        return "none"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _dotted(path: Iterable[Step]) -> str:
    return ".".join(str(step) for step in path).replace(".0", "[]")


def _one_line(said: str | None) -> str:
    return " ".join((said or "").split())


def _tiers() -> Iterator[str]:
    yield "## Tiers"
    yield f"USD per hour of one node in {PRICED_IN}. Spot is the median of one snapshot of prices, and moves."
    yield "`nightshift forecast --sources` has your region's, with date and source."
    yield ""
    kinds = instance_types()
    rows = [
        [tier.name if first else "", *_machine(kinds[name])]
        for tier in TIERS.values()
        for first, name in ((name == tier.types[0], name) for name in tier.types)
    ]
    head = ["tier", "type, in this order", "cards", "vCPUs", "memory, GiB", "NVMe, GB", "on demand", "spot"]
    yield from _table(head, rows)
    yield from (f"- **{tier.name}**: {tier.what}." for tier in TIERS.values())
    yield ""


def _machine(kind: InstanceType) -> list[str]:
    cards = f"{kind.gpu_count:f} x {kind.gpu_model}, {kind.cells['gpu_mem_gb_per_gpu_nominal']} GB"
    on_demand, spot = kind.on_demand_price(PRICED_IN), kind.spot_price(PRICED_IN)
    return [
        kind.name,
        cards,
        str(kind.vcpus),
        f"{kind.memory_gib:f}",
        f"{kind.nvme_gb:,}",
        f"{on_demand.usd:,.2f}" if on_demand and not on_demand.assumed else "not known",
        f"{spot.likely:,.2f}" if spot and not spot.assumed else "not known",
    ]


def _offered() -> Iterator[str]:
    yield "### Where"
    yield "By the table of October 2026. A zone may lack what its region has: `nightshift doctor` asks AWS."
    yield ""
    found = {region: [_have(region, tier.types) for tier in TIERS.values()] for region in sorted(REGIONS)}
    rows = [[region, *cells] for region, cells in found.items() if set(cells) != {"-"}]
    yield from _table(["region", *TIERS], rows)
    none = ", ".join(region for region, cells in found.items() if set(cells) == {"-"})
    yield from (f"No tier at all: {none}.", "")


def _have(region: str, wanted: Sequence[str]) -> str:
    kinds = instance_types()
    found = [name for name in wanted if region in kinds[name].regions]
    return "all" if len(found) == len(wanted) else ", ".join(found) or "-"


def _runtimes() -> Iterator[str]:
    yield "## Runtimes"
    rows = [
        [one.name, one.python, one.torch, one.cuda, one.cudnn, one.nccl, one.min_driver, one.what]
        for one in RUNTIMES.values()
    ]
    head = ["runtime", "Python", "torch", "CUDA", "cuDNN", "NCCL", "least driver", "for"]
    yield from _table(head, [[cell or "-" for cell in row] for row in rows])


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield _row(head)
    yield "|" + "---|" * len(head)
    yield from (_row(row) for row in rows)
    yield ""


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
