"""The real rooms of a node: readiness, storage, runtime and launch, with this node's edges."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from pathlib import Path

from bootstrap.aws import AwsError
from bootstrap.commands import run
from bootstrap.drain.path import Ending, Job
from bootstrap.drain.report import Saved
from bootstrap.drain.volumes import Volumes
from bootstrap.imds import Instance
from bootstrap.launch.board import S3Board
from bootstrap.launch.cage import cages
from bootstrap.launch.edges import JobEdges, JobError
from bootstrap.launch.folders import checkpoints_folder
from bootstrap.launch.log_group import LogGroup
from bootstrap.launch.logs import JobLog, RotatingFile
from bootstrap.launch.running import RunningJob, begin
from bootstrap.lifecycle.idle import COMMAND, busiest
from bootstrap.lifecycle.metadata import Metadata
from bootstrap.manifest import BootManifest
from bootstrap.readiness.commands import Shell
from bootstrap.readiness.order import NAMES, checks_for
from bootstrap.readiness.situation import Situation
from bootstrap.readiness.verdict import Finding
from bootstrap.runtime.ensure import RuntimePlace, ensure
from bootstrap.runtime.holds import hold_packages
from bootstrap.runtime.problem import RuntimeProblem
from bootstrap.runtime.store import S3Store
from bootstrap.runtime.where import runtimes_folder
from bootstrap.start.attentive import Attentive
from bootstrap.start.edges import NodeEdges
from bootstrap.start.node import Node
from bootstrap.start.people import USERS, NodePeople
from bootstrap.start.rooms import Heartbeat, NamedCheck, NotReady
from bootstrap.storage.attach import attach_all
from bootstrap.storage.place import Place, Waits
from nightshift.catalog.instance_types import instance_type

LEFT_OVER_S = 10.0
NVIDIA_S = 15.0


class NodeRooms:
    """One node's rooms for one manifest."""

    def __init__(self, node: Node, manifest: BootManifest) -> None:
        self._node, self._manifest = node, manifest
        self._logs: list[JobLog | LogGroup] = []
        self.volumes = Volumes(manifest.volumes, node.aws, self._place(lambda _says: None))
        self.people = NodePeople(node, manifest)

    def end_left_over(self) -> None:
        """Kill what an earlier agent left of a job, or of notebooks."""
        edges = self._node.edges
        left = cages(edges.cgroup, edges.job).whole.kill(LEFT_OVER_S)
        if left:
            self._node.say(f"processes of an earlier job can't be ended: {', '.join(map(str, left))}")
        if self.people.has_notebooks and (left := self.people.end_left_over(LEFT_OVER_S)):
            self._node.say(f"processes of earlier notebooks can't be ended: {', '.join(map(str, left))}")

    def prepare(self, heartbeat: Heartbeat) -> Path:
        """Hold packages, see to the runtime; its interpreter. Raises NotReady."""
        edges, say = self._node.edges, self._node.say
        for step in hold_packages(
            run, edges.machine, lambda: heartbeat("waiting for package upgrades to end")
        ):
            if not step.done:
                say(f"packages: {step.name}: {step.says}")
        store = S3Store(self._node.aws.client("s3"), self._manifest.data_bucket)
        try:
            place = RuntimePlace(_runtimes(edges), edges.runtime_scratch, edges.runtime_python)
            return ensure(
                self._manifest.runtime,
                platform.machine(),
                place,
                store,
                say,
                lambda: heartbeat("making the runtime ready"),
            ).python
        except RuntimeProblem as error:
            finding = Finding("runtime.stands", False, error.expected, error.found, error.remedy)
            raise NotReady(finding) from error
        except OSError as error:
            raise NotReady(Finding("runtime.stands", False, "a folder for it", str(error), "")) from error

    def checks(self, python: Path, heartbeat: Heartbeat) -> Sequence[NamedCheck]:
        """Every readiness check in order, volumes among them; logins last, since homes lie on volumes."""
        manifest, instance = self._manifest, self._node.instance

        def situate(manifest: BootManifest, instance: Instance) -> Situation:
            commands = Attentive(Shell(), heartbeat)
            return Situation(manifest, instance, commands, str(python), self._node.edges.machine)

        def storage(_situation: Situation) -> Finding:
            return attach_all(manifest, self._node.aws, self._place(heartbeat)).finding()

        found = checks_for(situate, storage)
        named = [
            NamedCheck(name, lambda check=check: check(manifest, instance))
            for name, check in zip(NAMES, found, strict=False)
        ]
        return [*named, *([NamedCheck(USERS, self.people.check)] if manifest.users else [])]

    def begin(self, python: Path) -> RunningJob:
        """Start the job. Raises NotReady when it can't be started as it is declared."""
        try:
            edges = self._job_edges()
        except JobError as error:
            raise NotReady(Finding("job", False, "a job that can start", str(error), "")) from error
        return begin(self._manifest, self._node.instance, python, edges, self._node.say)

    def saved(self, job: Job | None, ended: Ending | None) -> Saved | None:
        """The newest checkpoint that is known."""
        if ended is not None and ended.checkpoint:
            return Saved(_step_of(ended.checkpoint, ended.step), ended.checkpoint, ended.saved)
        progress = job.progress() if isinstance(job, RunningJob) else None
        if progress is None or not progress.checkpoint:
            return None
        return Saved(_step_of(progress.checkpoint, progress.step), progress.checkpoint, False)

    def busiest(self) -> int | None:
        """Percent of the busiest card now; None when it can't be told."""
        answer = Shell().run(COMMAND, NVIDIA_S)
        return busiest(answer.stdout.splitlines()) if answer.rc == 0 and not answer.late else None

    def gpus(self) -> float:
        """How many cards this node bills; none for a type that the catalog doesn't know."""
        try:
            return float(instance_type(self._node.instance.type).gpu_count)
        except KeyError:
            return 0.0

    def close(self) -> None:
        """Send on what the job's log still holds, for a few seconds at most."""
        for each in self._logs:
            each.close()
        self.people.close()

    def _place(self, heartbeat: Heartbeat) -> Place:
        node = self._node
        waits = Waits(claim_s=float(self._manifest.boot_s))
        return Place(node.instance.id, node.instance.zone, node.edges.roots, waits, heartbeat)

    def _job_edges(self) -> JobEdges:
        """Raises JobError."""
        node, manifest = self._node, self._manifest
        several = manifest.nodes > 1
        return JobEdges(
            job=node.edges.job,
            checkpoints=checkpoints_folder(manifest, node.edges.roots.data),
            code=node.edges.state / "code",
            secrets=self._secret,
            ip=_own_address() if several else "127.0.0.1",
            board=self._board() if several else None,
            cgroup=node.edges.cgroup,
            log=self._log(),
        )

    def _board(self) -> S3Board:
        client = self._node.aws.client("s3", brief=True)
        return S3Board(client, self._manifest.data_bucket, self._manifest.group)

    def _secret(self, name: str) -> str:
        try:
            return self._node.aws.secret(name)
        except AwsError as error:
            raise OSError(str(error)) from None

    def _log(self) -> JobLog:
        node, manifest = self._node, self._manifest
        node.edges.logs.mkdir(parents=True, exist_ok=True)
        stream = f"{manifest.group_name}/{node.instance.id}/job"
        group = LogGroup(node.aws.client("logs", brief=True), manifest.log_group, stream, node.say)
        log = JobLog(RotatingFile(node.edges.logs / "job.log"), (group,))
        self._logs = [log, group]
        return log


def _runtimes(edges: NodeEdges) -> Path:
    """On the instance store where there is one, unless the root is put elsewhere. Raises OSError."""
    return runtimes_folder(edges.machine) if edges.root == NodeEdges().root else edges.runtimes


def _own_address() -> str:
    """Raises JobError."""
    try:
        told = Metadata().get("local-ipv4")
    except OSError as error:
        raise JobError(f"the node's own address can't be told: {error}") from error
    if told is None:
        raise JobError("the node's own address can't be told: the metadata service has none")
    return told.text


def _step_of(checkpoint: str, step: int | None) -> int:
    """`step-000123` -> 123; a job of another kind names its checkpoints as it likes."""
    number = checkpoint.rpartition("-")[2]
    return int(number) if number.isdecimal() else step or 0
