"""What each group's nodes are told: the boot manifest, and the few fields of user data. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bootstrap.manifest import BootIdle, BootJob, BootManifest, BootShift, BootVolume
from bootstrap.start.config import NodeConfig
from bootstrap.start.user_data import dns_suffix
from infra.alarms import minutes
from infra.artifacts import manifest_key
from infra.options import SiteContext
from nightshift.plan import names
from nightshift.settings.group import Group, Idle, Job
from nightshift.settings.models import Stack


def boot_manifest(stack: Stack, group: str, site: SiteContext, types: Sequence[str]) -> BootManifest:
    """The manifest of `group`, whose nodes are one of `types`."""
    wanted = stack.groups[group]
    return BootManifest(
        site=site.name,
        group=group,
        group_name=names.group_name(site.name, group),
        region=site.region,
        zone=site.zone,
        nodes=wanted.nodes,
        instance_types=tuple(types),
        efa=wanted.efa,
        runtime=wanted.runtime,
        timezone=wanted.timezone or stack.site.timezone,
        shifts=tuple(BootShift(shift.days, shift.start, shift.end) for shift in wanted.shifts),
        volumes=_volumes(stack, wanted),
        boot_s=60 * minutes(wanted.boot),
        drain_s=60 * minutes(wanted.drain),
        data_bucket=names.bucket_name(site.name, "data", site.account, site.region),
        log_group=names.log_group_name(site.name),
        idle=_idle(wanted.idle),
        job=_job(wanted.job),
        notebook=wanted.notebook,
        users=wanted.users,
        gpu_hours_monthly=wanted.gpu_hours_monthly,
    )


def node_config(
    group: str, site: SiteContext, artifact_key: str, artifact_sha256: str, endpoint: str = ""
) -> NodeConfig:
    """What user data carries. Raises KeyError for a partition whose endpoints aren't known."""
    return NodeConfig(
        site=site.name,
        group=group,
        group_name=names.group_name(site.name, group),
        region=site.region,
        suffix=dns_suffix(site.partition),
        bucket=names.bucket_name(site.name, "artifacts", site.account, site.region),
        data_bucket=names.bucket_name(site.name, "data", site.account, site.region),
        manifest_key=manifest_key(group),
        artifact_key=artifact_key,
        artifact_sha256=artifact_sha256,
        hook=names.HOOK_READY,
        endpoint=endpoint.rstrip("/"),
    )


def _volumes(stack: Stack, group: Group) -> tuple[BootVolume, ...]:
    """A volume from a snapshot, or one taken over, was never blank: nothing formats it."""
    named = ((name, stack.volumes[name]) for name in group.volumes)
    return tuple(
        BootVolume(name, volume.size_gib, volume.filesystem, volume.per, not (volume.source or volume.adopt))
        for name, volume in named
    )


def _idle(idle: Idle | None) -> BootIdle | None:
    return BootIdle(idle.below_percent, 60 * minutes(idle.lasting), idle.then) if idle else None


def _job(job: Job | None) -> BootJob | None:
    return BootJob(job.repo, job.ref, job.run, job.secrets, job.when_done) if job else None
