"""Begins the group's job on this node and keeps it going; the agent asks how it is."""

from __future__ import annotations

import secrets as randomness
import threading
import traceback
from collections.abc import Callable
from pathlib import Path

from bootstrap.imds import Instance
from bootstrap.launch.addresses import free_port, interface_of
from bootstrap.launch.board import OwnBoard
from bootstrap.launch.cage import cages
from bootstrap.launch.code import Fetching, fetch_code
from bootstrap.launch.command import base_environment, efa_libraries, library_environment, script_of
from bootstrap.launch.coordination import Coordinator
from bootstrap.launch.edges import Ended, JobEdges, JobError
from bootstrap.launch.folders import run_id
from bootstrap.launch.generations import Group
from bootstrap.launch.git import Stopped
from bootstrap.launch.job_folder import JobFolder, Progress
from bootstrap.launch.lease import Member
from bootstrap.launch.secrets import FOR_GIT, read_secrets, to_hide
from bootstrap.launch.supervise import TICK_S, Plan, Supervisor
from bootstrap.manifest import BootJob, BootManifest
from nightshift.catalog.instance_types import instance_type

Say = Callable[[str], None]


def begin(
    manifest: BootManifest, instance: Instance, installed_python: Path, edges: JobEdges, say: Say
) -> RunningJob:
    """Start the manifest's job here and return at once. What an earlier agent left running is ended first.

    ValueError when the manifest has no job, or several nodes and no board: the caller's mistake.
    """
    if manifest.job is None:
        raise ValueError(f"group {manifest.group} has no job")
    if manifest.nodes > 1 and edges.board is None:
        raise ValueError(f"group {manifest.group} has {manifest.nodes} nodes; they need a board")
    running = RunningJob(manifest, manifest.job, instance, installed_python, edges, say)
    running.start()
    return running


class RunningJob:
    """One job on one node. All methods may be called at any time, from any thread."""

    def __init__(
        self,
        manifest: BootManifest,
        job: BootJob,
        instance: Instance,
        python: Path,
        edges: JobEdges,
        say: Say,
    ) -> None:
        self._manifest, self._job, self._python = manifest, job, python
        self._instance, self._edges, self._say = instance, edges, say
        self._folder = JobFolder(edges.job)
        self._cages = cages(edges.cgroup, edges.job)
        self._run = run_id(manifest.group, job)
        alone = manifest.nodes == 1
        me = Member(instance.id, randomness.token_hex(4), self._run, edges.ip)
        gather_s = edges.waits.gather_s if edges.waits.gather_s is not None else float(manifest.boot_s)
        self._coordinator = Coordinator(
            OwnBoard() if edges.board is None else edges.board,
            me,
            Group(manifest.nodes, 0.0 if alone else gather_s, edges.waits),
            lambda generation: free_port(edges.ip, generation),
            edges.now,
            say,
        )
        self._supervisor = Supervisor(edges, self._folder, self._cages, self._coordinator, say)
        self._stop = threading.Event()
        self._ended: Ended | None = None
        self._thread = threading.Thread(target=self._main, name="nightshift-job", daemon=True)

    def start(self) -> None:
        """Once."""
        self._thread.start()

    def poll(self) -> Ended | None:
        """How the job ended on this node; None while it goes on. Nothing of it runs any more then."""
        return self._ended

    def drain(self, reason: str, by: float | None) -> None:
        """End it saved, by then (unix s; None: within the group's drain time). Again: only sooner."""
        self._supervisor.ask(reason, by)

    def kill(self) -> list[int]:
        """End it now. Empty once nothing of the job runs any more; else what the kernel still holds."""
        self._stop.set()
        left = self._cages.whole.kill(self._edges.waits.kill_s)
        self._thread.join(self._edges.waits.kill_s + self._edges.waits.part_s)
        return self._cages.whole.kill(0) if self._thread.is_alive() else left

    def set_shift(self, ends_at: float | None, mean_between_losses_s: float | None) -> None:
        """Tell the job when the node will drain (unix s) and how often (s) such a node is lost."""
        self._folder.tell_shift(ends_at, mean_between_losses_s)

    def progress(self) -> Progress | None:
        """The newest that the job told of itself, in any of its launches."""
        return self._folder.progress() or self._supervisor.newest

    def _main(self) -> None:
        try:
            ended = self._play()
        except JobError as error:
            ended = Ended("failed", None, None, False, str(error))
        except Stopped:
            ended = self._stopped()
        except Exception as error:
            traceback.print_exc()
            ended = Ended("lost", None, None, False, f"the agent itself failed: {error!r}")
        self._finish(ended)

    def _finish(self, ended: Ended) -> None:
        left = self._supervisor.close()
        if left:
            self._say(f"left behind, the kernel doesn't let go of: {', '.join(map(str, left))}")
        self._coordinator.stop(self._edges.waits.part_s)
        self._ended = ended

    def _stopped(self) -> Ended:
        asked = self._supervisor.asked
        if asked is not None:
            return Ended("drained", None, None, True, f"{asked.reason}: it had not begun")
        return Ended("lost", None, None, False, "it was killed by the agent")

    def _play(self) -> Ended:
        self._sweep()
        script = script_of(self._job.run)
        gpus = self._edges.gpus or max(1, int(instance_type(self._instance.type).gpu_count))
        base = self._base(gpus)
        first = Plan(
            self._run, script, Path("/"), self._python, gpus, base, {}, float(self._manifest.drain_s)
        )
        self._supervisor.warm_up(first)
        plan = self._prepared(first)
        self._coordinator.start()
        while True:
            ended = self._supervisor.turn(plan)
            if ended is not None:
                return ended
            if self._stop.wait(TICK_S):
                raise Stopped("the job")

    def _sweep(self) -> None:
        """An agent that was killed may have left its job running: nobody watches that one, so it ends."""
        left = self._cages.whole.pids()
        if left:
            self._say(f"{len(left)} processes of an earlier agent's job are ended")
        if self._cages.whole.kill(self._edges.waits.kill_s):
            raise JobError("processes of an earlier job can't be ended; this node needs a restart")
        self._folder.path.mkdir(parents=True, exist_ok=True)

    def _base(self, gpus: int) -> dict[str, str]:
        edges, manifest = self._edges, self._manifest
        interface = "" if edges.board is None else interface_of(edges.ip)
        if interface is None:
            raise JobError(f"no interface of this node has its address {edges.ip}")
        libraries = efa_libraries(manifest.efa)
        more = {**library_environment(), **edges.environment}
        return base_environment(self._python, manifest.region, interface, gpus, libraries, more)

    def _prepared(self, plan: Plan) -> Plan:
        found = read_secrets(self._job.secrets, self._edges.secrets)
        if self._edges.log is not None:
            self._edges.log.hide(to_hide(found))
        way = Fetching(
            self._edges.code,
            self._edges.waits.code_s,
            self._say,
            self._edges.now,
            stopped=lambda: self._stop.is_set() or self._supervisor.asked is not None,
        )
        code = fetch_code(self._job, found, way)
        self._say(code.says)
        self._edges.checkpoints.mkdir(parents=True, exist_ok=True)
        visible = {name: value for name, value in found.items() if name not in FOR_GIT}
        return Plan(
            plan.run, plan.script, code.folder, plan.python, plan.gpus, plan.base, visible, plan.drain_s
        )
