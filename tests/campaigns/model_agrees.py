"""Each fault that can be done to a real node, on a real one and on the model: they must end alike.

`python -m tests.campaigns.model_agrees --out docs/model.json` (root) plays one night for each fault and
moment, twice: in the sandbox and modelled. `--only NAME` plays one. Exit 1 where nodes end otherwise, a rule
breaks, or the model loses nothing where the real node loses steps: a model may be harsher, never kinder.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from nightshift.rehearsal.faults.parse import parse
from nightshift.rehearsal.real.able import reason_to_model
from nightshift.rehearsal.story import Story
from nightshift.rehearsal.weeks import Plan, rehearse
from tests.rehearsal.real.support.ground import DAY_S, START, ground
from tests.rehearsal.real.support.manifests import manifest

RUNNING = ("spot", "spot-now", "crash", "kill-agent")
BOOTING = ("imds-lost", "network-split", "bad-node", "boot-fails")
"""Those that befall the next node too; the others need one that stands."""
BEGIN, WORK, END = "mon-1m", "mon+3h", "mon+10h58m"
"""Before the shift of 11 hours begins, in its midst, and when it's about to end."""
NAMES = (
    *(f"{kind}@{BEGIN}" for kind in BOOTING),
    *(f"{kind}@{at}" for kind in (*RUNNING, *BOOTING) for at in (WORK, END)),
)


@dataclass(frozen=True)
class Side:
    """How a night went: each node's end in the order of launch, and what it cost."""

    hows: tuple[str, ...]
    ok: bool
    lost: int
    says: str


@dataclass(frozen=True)
class Pair:
    """One fault at one moment, on both."""

    fault: str
    real: Side
    model: Side

    @property
    def problem(self) -> str:
        """Why they don't agree; empty when they do.

        Real nodes fail within seconds, so that one more may be on its way when the alarm stops the group.
        """
        if not (self.real.ok and self.model.ok):
            return "a rule broke or the fault ended otherwise than it must"
        alike = (
            min(len(self.real.hows), len(self.model.hows)) if self.fault.startswith("boot-fails") else None
        )
        if self.real.hows[:alike] != self.model.hows[:alike]:
            return "nodes ended otherwise"
        return "the model is kinder" if self.real.lost and not self.model.lost else ""


def side(story: Story) -> Side:
    """What is compared of a story."""
    hows = tuple(node.how for node in sorted(story.nodes, key=lambda one: one.launched))
    return Side(hows, story.ok, story.steps_lost, "; ".join(one.ended for one in story.faults))


def play(name: str) -> Pair:
    """One night with this fault on a site of its own, on real nodes, then modelled."""
    with tempfile.TemporaryDirectory() as folder, ground(Path(folder)) as site:
        real = site.play(days=1, names=(name,))
        plan = Plan(START, START + DAY_S, 1, parse((name,)))
        model = rehearse(site.stack, site.world, plan)
    return Pair(name, side(real), side(model))


def main() -> int:
    """0 when all agree, 1 when not, 2 when this machine can't."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="one fault, as `crash@mon+3h`")
    parser.add_argument("--out", type=Path, help="JSON file for the figures")
    given = parser.parse_args()
    if reason := reason_to_model(manifest()):
        print(reason, file=sys.stderr)
        return 2
    names = [given.only] if given.only else NAMES
    pairs = []
    for name in names:
        pairs.append(play(name))
        print(json.dumps({**asdict(pairs[-1]), "problem": pairs[-1].problem}), flush=True)
        if given.out:
            given.out.write_text(json.dumps([asdict(each) for each in pairs], indent=1) + "\n")
    wrong = [each.fault for each in pairs if each.problem]
    print(f"{len(pairs) - len(wrong)} of {len(pairs)} agree; others: {', '.join(wrong) or 'none'}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
