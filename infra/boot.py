"""What a group's nodes are told: the manifest, read on every boot, and the user data of the first."""

from __future__ import annotations

import base64

from bootstrap.artifact import Artifact
from bootstrap.manifest import BootIdle, BootJob, BootManifest, BootShift, BootVolume
from bootstrap.start.user_data import NodeConfig, dns_suffix, render_user_data
from infra.artifacts import manifest_key
from infra.options import SiteContext
from nightshift.plan import names
from nightshift.plan.capacity import CapacityPlan
from nightshift.settings.group import Group
from nightshift.settings.models import Stack
from nightshift.settings.to_plan import minutes, zone_of


def boot_manifest(stack: Stack, group: str, plan: CapacityPlan, site: SiteContext) -> BootManifest:
    """The manifest of one group; volumes in the order of their names, which is the order they're taken in."""
    wanted = stack.groups[group]
    return BootManifest(
        site=site.name,
        group=group,
        group_name=names.group_name(site.name, group),
        region=site.region,
        zone=site.zone,
        nodes=wanted.nodes,
        instance_types=plan.types,
        efa=plan.efa,
        runtime=wanted.runtime,
        timezone=zone_of(stack.site, wanted),
        shifts=tuple(BootShift(shift.days, shift.start, shift.end) for shift in wanted.shifts),
        volumes=tuple(_volume(stack, name) for name in sorted(wanted.volumes)),
        boot_s=60 * minutes(wanted.boot),
        drain_s=60 * minutes(wanted.drain),
        data_bucket=names.bucket_name(site.name, "data", site.account, site.region),
        log_group=names.log_group_name(site.name),
        idle=_idle(wanted),
        job=_job(wanted),
        notebook=wanted.notebook,
        users=wanted.users,
        gpu_hours_monthly=wanted.gpu_hours_monthly,
    )


def _volume(stack: Stack, name: str) -> BootVolume:
    volume = stack.volumes[name]
    blank = volume.adopt is None and volume.source is None
    return BootVolume(name, volume.size_gib, volume.filesystem, volume.per, blank)


def _idle(group: Group) -> BootIdle | None:
    idle = group.idle
    return BootIdle(idle.below_percent, 60 * minutes(idle.lasting), idle.then) if idle else None


def _job(group: Group) -> BootJob | None:
    job = group.job
    return BootJob(job.repo, job.ref, job.run, job.secrets, job.when_done) if job else None


def user_data_b64(site: SiteContext, group: str, artifact: Artifact, endpoint: str) -> str:
    """User data as the template wants it; nothing in it changes with a shift. Raises UserDataTooLong."""
    text = render_user_data(
        NodeConfig(
            site=site.name,
            group=group,
            group_name=names.group_name(site.name, group),
            region=site.region,
            suffix=dns_suffix(site.partition),
            bucket=names.bucket_name(site.name, "artifacts", site.account, site.region),
            data_bucket=names.bucket_name(site.name, "data", site.account, site.region),
            manifest_key=manifest_key(group),
            artifact_key=artifact.key,
            artifact_sha256=artifact.sha256,
            hook=names.HOOK_READY,
            endpoint=endpoint,
        )
    )
    return base64.b64encode(text.encode()).decode()
