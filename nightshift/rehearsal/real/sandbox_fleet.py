"""A fleet whose nodes are real: each instance is launched in the emulated AWS and runs in the sandbox.

Seconds of boot and drain are measured. Time in between is compressed: however long a shift is, its job trains
a few steps, really, and these are the steps that are told.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from nightshift.emulator.sandbox.imds import Identity
from nightshift.emulator.sandbox.machines.description import Machine
from nightshift.emulator.sandbox.machines.recorded import equip
from nightshift.emulator.sandbox.network import Network
from nightshift.plan.calendar import Override
from nightshift.records.drain import DrainRecord
from nightshift.records.errors import Unreadable
from nightshift.records.model import OverrideRecord
from nightshift.records.store import Records
from nightshift.rehearsal.control.fleet import Ails, Boot, Drain, Instance, Work
from nightshift.rehearsal.real import stand_in
from nightshift.rehearsal.real.gate import Gate
from nightshift.rehearsal.real.life import CLAIMS, CONCLUDES, Life
from nightshift.rehearsal.real.site import AwsGroup, credentials, travel

TRAIN_STEPS = 100
"""What a job trains between its begin and the next thing that happens to it."""
PATIENCE_S = 180.0
"""The longest that a real node is waited for, in real seconds; nothing of it takes a fifth of that."""
DEAF_S = 6.0
"""How long a node that can't hear is listened to, to see that it doesn't act."""
SLOW_S = 180
"""What throttled calls add to a boot or a drain: modelled, as for nodes that aren't real."""
POLL_S = "1"
"""A node asks its metadata so often here, instead of each 5 s."""
_STEP = re.compile(r"step-(\d+)")
SILENT = frozenset({"imds-lost", "network-split"})


@dataclass
class SandboxFleet:
    """Real nodes of the groups in `groups`. `lives` by the rehearsal's instance ids, which aren't AWS's."""

    net: Network
    endpoint: str
    groups: dict[str, AwsGroup]
    say: Callable[[str], None]
    lives: dict[str, Life] = field(default_factory=dict)
    words: Mapping[str, Override] = field(default_factory=dict)

    def real(self, group: str) -> bool:
        """Those of its groups are."""
        return group in self.groups

    def wrongs(self) -> tuple[str, ...]:
        """Volumes that EC2 took from under a node that had them mounted."""
        return tuple(self.net.volumes.wrongs) if self.net.volumes is not None else ()

    def reach(self, instance: Instance, at: int, ails: Ails) -> Boot:
        """Launched in the emulated AWS, powered on, user data run, until its agent asks for its volumes."""
        began = time.monotonic()
        life = self._launch(instance, at, ails)
        if ails & SILENT:
            time.sleep(min(DEAF_S, 2.0))
            return Boot(None, False)
        step = CLAIMS if instance.manifest.volumes else _reads(instance)
        over = life.gate.wait(step, 0, PATIENCE_S, life.agent_ended) is None
        if over and not life.agent_ended():
            raise life.stuck(f"it never asked for {step}", f"it said: {life.last_words()}")
        return Boot(self._passed(began, ails), True)

    def _launch(self, instance: Instance, at: int, ails: Ails) -> Life:
        travel(self.endpoint, at)
        group, manifest = self.groups[instance.group], instance.manifest
        self._write_word(instance.group, manifest.data_bucket, at)
        aws_id = group.launch(instance.type, manifest.instance_types)
        identity = Identity(aws_id, instance.type, instance.zone, lifecycle=_lifecycle(instance))
        node = self.net.node(aws_id, identity=identity, start=False)
        equip(node.image, _machine(instance, ails))
        node.image.environment["NIGHTSHIFT_POLL_S"] = POLL_S
        node.imds.user_data = group.user_data(aws_id)
        node.imds.given = credentials(self.endpoint, aws_id)
        life = Life(instance, aws_id, node, Gate())
        node.faults.heard = life.gate.heard
        for step in (CLAIMS, CONCLUDES):
            life.gate.shut(step)
        self.lives[instance.id] = life
        node.boot()
        self._befall(life, ails)
        return life

    def boot(self, instance: Instance, at: int, ails: Ails) -> Boot:
        """It takes its volumes for real and proves itself; its verdict is what it wrote and told its hook."""
        life = self.lives[instance.id]
        life.instance = instance
        began, mark = time.monotonic(), life.gate.count if life.claimed else 0
        self._befall(life, ails)
        life.claimed, life.killed, life.begun = True, False, time.time()
        life.gate.shut(CONCLUDES)
        life.gate.open(CLAIMS)
        if ails & SILENT:
            return Boot(None, False)
        told = life.gate.wait(CONCLUDES, mark, PATIENCE_S, life.agent_ended)
        seconds = self._passed(began, ails)
        if told is None and not life.agent_ended():
            raise life.stuck("no verdict", f"it said: {life.last_words()}")
        ready, says = self._verdict(life)
        if not ready:
            life.gate.open(CONCLUDES)
            life.until("it gives the launch up", life.agent_ended, PATIENCE_S)
            return Boot(seconds, False, says)
        stand_in.place(life.node, instance.manifest, self.net.folder)
        life.gate.open(CONCLUDES)
        return Boot(seconds, True, resumed=self._resumed(life))

    def _verdict(self, life: Life) -> tuple[bool, str]:
        record = self._records(life).readiness([life.aws_id]).get(life.aws_id)
        if record is None or isinstance(record, Unreadable):
            return False, f"it left without a verdict: {life.last_words()[-200:]}"
        return record.ready, record.says

    def _records(self, life: Life) -> Records:
        group = self.groups[life.instance.group]
        return Records(group.clients("s3"), life.instance.manifest.data_bucket)

    def _resumed(self, life: Life) -> int | None:
        """The step that its job says it goes on from. One node alone; of several the last starts the job."""
        manifest = life.instance.manifest
        peers = [one for one in self.lives.values() if one.instance.group == manifest.group and one.claimed]
        if manifest.job is None:
            return None
        if len(peers) < manifest.nodes:
            return life.signs.saved()
        for one in peers:
            one.until_begun(life.begun, PATIENCE_S)
            one.resumed = one.signs.resumed(life.begun)
        return life.resumed

    def work(self, instance: Instance, since: int, until: int, ails: Ails) -> Work:
        """A few steps are trained, really; they stand for all the time from `since` to `until`."""
        life = self.lives[instance.id]
        self._befall(life, ails)
        begun = life.resumed or 0
        if life.node.up and not life.killed:
            life.train(TRAIN_STEPS, PATIENCE_S)
        saved, step = life.signs.saved(), life.signs.step(begun)
        life.last = (step, saved)
        return Work(step, saved, 2 * stand_in.SAVE_STEPS, life.curve(step, since, until))

    def drain(self, instance: Instance, at: int, budget_s: int, planned: bool, ails: Ails) -> Drain:
        """Its group or EC2 ends it; it hears so from its metadata or its group, and does all by itself."""
        life = self.lives[instance.id]
        travel(self.endpoint, at)
        self._befall(life, ails)
        mark, began = life.gate.count, time.monotonic()
        if planned:
            self.groups[instance.group].shrink(life.aws_id)
        else:
            life.node.imds.notice_spot(after_s=budget_s)
        if "network-split" in ails or (not planned and "imds-lost" in ails):
            return self._unheard(life, ails)
        told = life.gate.wait(CONCLUDES, mark, PATIENCE_S, life.agent_ended)
        seconds = math.ceil((told or time.monotonic()) - began)
        life.until("its agent ends", life.agent_ended, PATIENCE_S)
        return self._drained(life, seconds + self._slow(ails))

    def _drained(self, life: Life, seconds: int) -> Drain:
        """By the record that it wrote of its drain."""
        step, saved = life.last
        if life.instance.manifest.job is None or not life.trains or life.killed:
            return Drain(seconds, step, saved)
        told = self._drain_record(life)
        kept = max(saved, told[0])
        return Drain(seconds, max(step, kept), kept, "" if told[1] else "drained; its last step isn't saved")

    def _drain_record(self, life: Life) -> tuple[int, bool]:
        """The step of the newest checkpoint, and whether the last step is in it. Raises Stuck."""
        body = self.groups[life.instance.group].node_object(
            life.instance.manifest.data_bucket, life.aws_id, "drain.json"
        )
        if body is None:
            raise life.stuck("it drained without a record", f"it said: {life.last_words()}")
        record = DrainRecord.load("the drain record", body)
        found = [hit for each in record.steps for hit in _STEP.findall(each.says) if each.name == "job"]
        return (int(found[-1]) if found else 0), bool(record.saved)

    def _unheard(self, life: Life, ails: Ails) -> Drain:
        """Without metadata no spot notice is heard; without a network the end is, and can't be told."""
        if "imds-lost" in ails or not life.trains:
            time.sleep(DEAF_S)
            step, saved = life.signs.step(life.resumed or 0), life.signs.saved()
            return Drain(None, step, saved, "hears nothing of its end")
        life.until("its job saves", lambda: life.signs.outcome() is not None, PATIENCE_S)
        told = life.signs.outcome() or {}
        step = int(told.get("step") or 0)
        return Drain(None, step, step if told.get("saved") else life.last[1], "saves, but can't tell AWS so")

    def strike(self, instance: Instance, at: int, kind: str, seconds: int) -> None:
        """What can be done to a real node is done to it."""
        life = self.lives.get(instance.id)
        if life is None or not life.node.up:
            return
        if kind == "kill-agent" and not life.agent_ended():
            if life.trains:
                life.train(TRAIN_STEPS, PATIENCE_S)
            life.killed = True
            life.kill_agent()
        else:
            self._befall(life, frozenset({kind}))

    def _befall(self, life: Life, ails: Ails) -> None:
        """The faults that it has now, and no others."""
        if not life.node.up:
            return
        if "imds-lost" in ails:
            life.node.imds.down()
        else:
            life.node.imds.up()
        if "network-split" in ails:
            life.node.cut()
        else:
            life.node.heal()

    def gone(self, instance: Instance, at: int, how: str) -> None:
        """Its power is cut, and the instance is gone from the emulated AWS."""
        life = self.lives.pop(instance.id, None)
        if life is None:
            return
        life.gate.close()
        self.net.remove(life.node)
        self.groups[instance.group].end(life.aws_id)

    def finish_s(self, instance: Instance, at: int) -> int | None:
        """A stand-in is never done."""
        return None

    def obey(self, words: Mapping[str, Override]) -> None:
        """They are put where nodes read them, before a node could."""
        self.words = words

    def _write_word(self, group: str, bucket: str, at: int) -> None:
        """As the operator's verb writes it: one record in force, or none."""
        word = self.words.get(group)
        records = Records(self.groups[group].clients("s3"), bucket)
        seen = records.override(group)
        if word is None:
            records.delete_override(group, seen.etag)
        elif seen.record is None or (seen.record.state, seen.record.until) != (word.state, word.until):
            now = datetime.fromtimestamp(at, UTC)
            records.write_override(group, OverrideRecord(word.state, word.until, "rehearsal", now), seen.etag)

    def _passed(self, began: float, ails: Ails) -> int:
        return math.ceil(time.monotonic() - began) + self._slow(ails)

    def _slow(self, ails: Ails) -> int:
        return SLOW_S if "api-throttled" in ails else 0


def _reads(instance: Instance) -> str:
    return f"s3.GetObject:groups/{instance.group}/manifest.json"


def _lifecycle(instance: Instance) -> str:
    return "spot" if instance.market == "spot" else "on-demand"


def _machine(instance: Instance, ails: Ails) -> Machine:
    """A recorded machine of its type; one card doesn't answer when its boot is to fail."""
    manifest = instance.manifest
    machine = Machine(instance.type, manifest.runtime, nodes=manifest.nodes, efa=manifest.efa)
    return replace(machine, listed=machine.cards - 1) if "boot-fails" in ails else machine
