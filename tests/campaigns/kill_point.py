"""One point: a fresh cloud, an operation killed midway, the recovery that the docs give, and a look."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from nightshift.emulator.cloud.process import Cloud, start_cloud
from nightshift.emulator.engine.results import Result
from nightshift.emulator.engine.toolchain import Toolchain
from tests.campaigns.kill_moment import (
    RequestLog,
    descendants,
    kill,
    killing,
    outlived,
    victims,
    watched,
)
from tests.campaigns.kill_sight import Sight, differences, sight
from tests.engine.support.looking import volume_ids
from tests.engine.support.site import Deployed, Project

_ENDING_S = 5.0
"""What the killed engine's children get to end by themselves."""
_WORDS = {"up": ("up", "--yes", "--skip-preview"), "destroy": ("destroy", "--yes", "--skip-preview")}


@dataclass(frozen=True)
class Reference:
    """What an undisturbed run of the stack comes to, and how many requests that changed something it took."""

    up: Sight
    destroyed: Sight
    requests_up: int
    requests_destroy: int
    volumes: int


@dataclass(frozen=True)
class Point:
    """One kill. `kind` is the story; `at` is the share of the requests after which it comes, 0 to 1."""

    id: str
    kind: str
    stack: str
    who: str
    at: float
    delay_s: float


@dataclass
class Outcome:
    """What came of a point. `problems` is empty when all held; seconds by step."""

    point: Point
    after_requests: int = 0
    of_requests: int = 0
    killed: int = 0
    exit_code: int | None = None
    survivors: int = 0
    recovery: list[str] = field(default_factory=list)
    rerun: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


class Story:
    """The steps that stories are made of, on one cloud. Problems gather in `outcome`."""

    def __init__(
        self, toolchain: Toolchain, cloud: Cloud, folder: Path, outcome: Outcome, wanted: Reference
    ) -> None:
        self._toolchain, self._cloud, self._folder = toolchain, cloud, folder
        self._outcome, self._wanted = outcome, wanted
        self._log = RequestLog(folder / "requests.jsonl")
        (folder / "project").mkdir()
        self._project = Project.copy_of(folder / "project", outcome.point.stack, outcome.point.stack)
        self._volumes: set[str] = set()
        self.site = self._open()

    def _open(self) -> Deployed:
        return Deployed(self._toolchain, self._cloud, self._project).__enter__()

    def close(self) -> None:
        """End the engine's processes."""
        self.site.workspace.close()

    def _timed(self, name: str, run: Callable[[], Result]) -> Result:
        began = time.monotonic()
        result = run()
        self._outcome.seconds[name] = round(time.monotonic() - began, 1)
        return result

    def _must(self, ok: bool, problem: str) -> None:
        if not ok:
            self._outcome.problems.append(problem)

    def killed(self, operation: str) -> None:
        """Start the operation and kill the point's victim in its middle."""
        point, outcome = self._outcome.point, self._outcome
        total = self._wanted.requests_up if operation == "up" else self._wanted.requests_destroy
        outcome.after_requests, outcome.of_requests = max(1, round(point.at * total)), total
        self._log.mark()
        running = self.site.workspace.start(*_WORDS[operation])
        below: list[int] = []

        def act() -> int:
            below.extend(watched(descendants(running.process.pid)))
            return kill(victims(point.who, running, self.site))

        with killing(self._log, outcome.after_requests, point.delay_s, act) as what:
            result = self._timed(f"killed {operation}", running.finish)
        outcome.killed, outcome.exit_code = what["killed"], result.exit_code
        self._must(
            what["killed"] > 0, f"nobody was killed: the {operation} ended first (exit {result.exit_code})"
        )
        outcome.survivors = outlived(below, _ENDING_S)
        self._remember_volumes()

    def recovered(self) -> None:
        """What docs/operate.md says first."""
        began = time.monotonic()
        half_done = self._half_done()
        locks = self.site.workspace.recover()
        self._outcome.seconds["recover"] = round(time.monotonic() - began, 1)
        self._outcome.recovery.append(
            f"cancel ({len(locks)} locks), refresh ({half_done} operations pending)"
        )

    def state_lost(self) -> None:
        """The whole folder of the engine goes: state, locks, home; the provider ends."""
        self.site.workspace.close()
        shutil.rmtree(self.site.workspace.folder)
        self.site = self._open()
        self._outcome.recovery.append("state deleted, pulumi stack init")

    def up(self, name: str) -> None:
        """An up that must succeed and leave exactly what an undisturbed one leaves."""
        result = self._timed(name, self.site.workspace.up)
        self._succeeded(name, result)
        self._looks(name, self._wanted.up)

    def destroy(self, name: str) -> None:
        """A destroy that must succeed and leave exactly what an undisturbed one leaves."""
        result = self._timed(name, self.site.workspace.destroy)
        self._succeeded(name, result)
        self._looks(name, self._wanted.destroyed)

    def stays(self, name: str) -> None:
        """An up that must change nothing and find nothing half done."""
        result = self._timed(name, self.site.workspace.up)
        self._must(result.ok, f"{name} failed: {result.diagnostics}")
        changed = [f"{step.op} {step.name} ({', '.join(step.differing)})" for step in result.changed_steps()]
        self._must(not changed, f"{name} changed: {'; '.join(changed)}")
        half_done = self._half_done()
        self._must(not half_done, f"{name}: {half_done} operations pending in the state")

    def _half_done(self) -> int:
        return len(self.site.workspace.export()["deployment"].get("pending_operations") or [])

    def _succeeded(self, name: str, result: Result) -> None:
        self._outcome.rerun[name] = result.changed
        self._outcome.recovery.append(f"{name}: {dict(result.changes)}")
        self._must(result.ok, f"{name} failed: {result.diagnostics}")
        self._must("Traceback" not in result.output, f"{name}: a traceback: {result.output}")

    def _looks(self, name: str, wanted: Sight) -> None:
        self._outcome.problems += [f"{name}: {line}" for line in differences(sight(self.site), wanted)]
        self._remember_volumes()
        standing = set(volume_ids(self.site).values())
        self._must(standing == self._volumes, f"{name}: volumes {standing}, once seen {self._volumes}")
        self._must(len(standing) == self._wanted.volumes, f"{name}: {len(standing)} volumes")

    def _remember_volumes(self) -> None:
        volumes = self.site.client("ec2").describe_volumes()["Volumes"]
        self._volumes |= {volume["VolumeId"] for volume in volumes}

    def volumes_made_once(self) -> None:
        """By the cloud's own log: each was created once and none deleted."""
        asked = RequestLog(self._folder / "requests.jsonl").operations()
        made, deleted = asked.count("CreateVolume"), asked.count("DeleteVolume")
        self._must(
            made == self._wanted.volumes, f"CreateVolume {made} times for {self._wanted.volumes} volumes"
        )
        self._must(deleted == 0, f"DeleteVolume {deleted} times")


def _killed_up(story: Story) -> None:
    story.killed("up")
    story.recovered()
    story.up("up again")
    story.stays("second up")


def _killed_destroy(story: Story) -> None:
    story.up("up")
    story.killed("destroy")
    story.recovered()
    story.destroy("destroy again")
    story.up("up after it")


def _after_loss(story: Story) -> None:
    story.state_lost()
    story.up("up without state")
    story.stays("second up")
    story.destroy("destroy")
    story.up("up after it")


def _lost_after_up(story: Story) -> None:
    story.killed("up")
    _after_loss(story)


def _lost_after_destroy(story: Story) -> None:
    story.up("up")
    story.killed("destroy")
    _after_loss(story)


def _lost_whole(story: Story) -> None:
    story.up("up")
    _after_loss(story)


STORIES: dict[str, Callable[[Story], None]] = {
    "up": _killed_up,
    "destroy": _killed_destroy,
    "lost-up": _lost_after_up,
    "lost-destroy": _lost_after_destroy,
    "lost-whole": _lost_whole,
}


def point_of(identity: str, seed: int, index: int, of: int, stack: str) -> Point:
    """The point `identity`, e.g. `up-7`: everything of it follows from seed, story, index and `of`.

    The moments are spread evenly over the operation, each at random within its share. Half of the kills hit
    the CLI, every tenth the whole tree.
    """
    kind = identity.rsplit("-", 1)[0]
    dice = random.Random(f"{seed}/{identity}")
    at = (index + dice.random()) / of
    providers = ("terraform", "bridge", "proxy")
    who = providers[index // 2 % 3] if index % 2 else "tree" if index % 10 == 8 else "cli"
    delay_s = dice.choice((0.0, dice.uniform(0, 0.05), dice.uniform(0, 0.6)))
    return Point(identity, kind, stack, who, round(at, 4), round(delay_s, 3))


@contextmanager
def _told(toolchain: Toolchain, folder: Path, outcome: Outcome, wanted: Reference) -> Generator[Story]:
    with ExitStack() as opened:
        cloud = opened.enter_context(start_cloud(log=folder / "requests.jsonl"))
        story = Story(toolchain, cloud, folder, outcome, wanted)
        opened.callback(lambda: story.close())
        yield story


def run_point(toolchain: Toolchain, point: Point, wanted: Reference, folder: Path) -> Outcome:
    """Play the point in `folder`, which must be empty; whatever went wrong is in the outcome's problems."""
    outcome, began = Outcome(point), time.monotonic()
    with _told(toolchain, folder, outcome, wanted) as story:
        STORIES[point.kind](story)
        story.volumes_made_once()
    outcome.seconds["all"] = round(time.monotonic() - began, 1)
    return outcome


def reference(toolchain: Toolchain, stack: str, folder: Path) -> Reference:
    """An undisturbed up and destroy of the stack. Raises AssertionError when one of them fails."""
    with start_cloud(log=folder / "requests.jsonl") as cloud:
        log = RequestLog(folder / "requests.jsonl")
        project = folder / "project"
        project.mkdir()
        with Deployed(toolchain, cloud, Project.copy_of(project, stack, stack)) as site:
            log.mark()
            site.up()
            up, made = sight(site), log.changing()
            volumes = len(volume_ids(site))
            log.mark()
            site.destroy()
            return Reference(up, sight(site), made, log.changing(), volumes)
