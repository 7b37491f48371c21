"""A deployed site with real nodes and no engine: what the program declares, and its weeks played on it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import yaml

from bootstrap.artifact import build
from nightshift.emulator.cloud import start_cloud
from nightshift.rehearsal.clients import clients_of
from nightshift.rehearsal.fleets import fleet_of
from nightshift.rehearsal.story import Event, Story
from nightshift.rehearsal.weeks import Plan, rehearse
from nightshift.rehearsal.world.model import ScheduledAction, World, from_json
from nightshift.rehearsal.world.read import read_world
from nightshift.settings.models import Stack
from nightshift.settings.reading import read_stack
from tests.infra.conftest import FIRST_USED

QUIET = FIRST_USED
"""pulumi_aws warns of its own names while it is first used; the import has used them."""
RECORDED = Path(__file__).parents[2] / "worlds" / "rehearsal.json"
"""The program's own alarms and their policy, as `rehearse --world` keeps them."""
START = int(datetime(2026, 12, 7, 12, tzinfo=UTC).timestamp())
DAY_S = 86_400
STACK = """
config:
  aws:region: us-east-1
  nightshift:site:
    zone: us-east-1a
    timezone: Etc/UTC
    owner: weeks
    image: ami-0abc0000000000001
    budget: { monthly_usd: 100, notify: [weeks@example.org] }
  nightshift:volumes:
    data: { size_gib: 1 }
    runs: { size_gib: 1 }
  nightshift:groups:
    train:
      types: [g6.xlarge]
      capacity: spot
      shifts: [{ days: [mon, tue, wed, thu, fri, sat, sun], from: "20:00", to: "07:00" }]
      volumes: [data, runs]
      runtime: torch-2.15-cu132
      job: { repo: /data/runs/train, run: train.py --epochs 90 }
"""
ACTIONS = (
    ScheduledAction("up-2000", "0 20 * * *", "Etc/UTC", 1),
    ScheduledAction("down-0700", "0 7 * * *", "Etc/UTC", 0),
)


@dataclass(frozen=True)
class Ground:
    """The site at `endpoint`."""

    endpoint: str
    stack: Stack
    world: World

    def play(self, days: int, seed: int = 1, extra: int = 0, names: tuple[str, ...] = ()) -> Story:
        """So many days, each with a night's shift, on real nodes."""
        from nightshift.rehearsal.faults.parse import parse

        said: list[Event] = []
        plan = Plan(START, START + days * DAY_S, seed, parse(names), extra)
        with fleet_of(self.stack, self.world, self.endpoint, seed, print) as nodes:
            return nodes.told(rehearse(self.stack, self.world, plan, nodes.fleet, said.append))


@contextmanager
def ground(folder: Path, name: str = "weeks") -> Generator[Ground]:
    """Deployed in an emulated AWS of its own; all of it ends with the block."""
    from tests.emulator.sandbox.support.site import deploy

    file = folder / f"Pulumi.{name}.yaml"
    file.write_text(yaml.safe_dump(yaml.safe_load(STACK)))
    stack = read_stack(file)
    with start_cloud() as cloud:
        deploy(cloud.endpoint, stack, build())
        found = read_world(clients_of(cloud.endpoint, stack.region), stack.name, stack.region)
        like = from_json(RECORDED.read_text().replace("rehearsal", name))
        watched = {"policies": like.groups[0].policies, "actions": ACTIONS}
        group = replace(found.groups[0], most=1, on_demand_percent=0, **watched)
        yield Ground(cloud.endpoint, stack, replace(found, groups=(group,), alarms=like.alarms))
