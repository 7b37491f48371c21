"""The program in order: read the stack file, read what stands, decide, declare."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi.runtime import config as pulumi_config

from bootstrap.artifact import Artifact, MissingPart, build
from bootstrap.start.user_data import UserDataTooLong
from infra.artifacts import Artifacts, artifacts_spec
from infra.boot import boot_manifest, user_data_b64
from infra.budget import Budget, budget_spec
from infra.clients import AwsSettings, CannotReadAws, Clients, aws_settings
from infra.decide import Decision, GroupDecision, Refused, decide
from infra.identity import Identity
from infra.live import LiveSite, read_live
from infra.network import Network
from infra.node_group import NodeGroup
from infra.observability import Observability, observability_spec
from infra.snapshots import SnapshotPolicies, snapshots_spec
from infra.volumes import Volumes
from nightshift.plan.errors import PlanError
from nightshift.settings import SettingsError, Stack, from_config

Exports = dict[str, object]


@dataclass(frozen=True)
class Site:
    """Everything that is known before the first resource is declared."""

    stack: Stack
    live: LiveSite
    decision: Decision
    artifact: Artifact
    user_data: Mapping[str, str]


def prepare(clients: Callable[[AwsSettings], Callable[[str], Any]] = Clients) -> Site:
    """Read and decide. Raises pulumi.RunError with every problem: nothing is declared by then."""
    try:
        return _prepare(clients)
    except (SettingsError, Refused, PlanError) as error:
        raise pulumi.RunError(_stopped(error.problems)) from None
    except (CannotReadAws, MissingPart, UserDataTooLong) as error:
        raise pulumi.RunError(_stopped((str(error),))) from None


def _prepare(clients: Callable[[AwsSettings], Callable[[str], Any]]) -> Site:
    raw, secret = raw_config()
    stack = from_config(raw, pulumi.get_stack(), secret)
    aws = aws_settings(pulumi.Config("aws").get, stack.region)
    live = read_live(stack, clients(aws))
    decision = decide(stack, live)
    endpoint = aws.endpoints.get("ec2") or os.environ.get("AWS_ENDPOINT_URL", "")
    artifact = build()
    user_data = {name: user_data_b64(decision.site, name, artifact, endpoint) for name in stack.groups}
    return Site(stack, live, decision, artifact, user_data)


def raw_config() -> tuple[Mapping[str, object], list[str]]:
    """Pulumi's config by full keys, and the keys it decrypted; unknown keys too, so that none goes unseen."""
    whole = {**pulumi_config.get_config_env(), **pulumi_config.CONFIG.get()}
    return whole, [key for key in whole if pulumi_config.is_config_secret(key)]


def _stopped(problems: tuple[str, ...]) -> str:
    noun = "problem" if len(problems) == 1 else "problems"
    listed = "\n".join(f"  {problem}" for problem in problems)
    return f"stack {pulumi.get_stack()}: {len(problems)} {noun}, nothing was changed\n{listed}"


def announce(decision: Decision) -> None:
    """Tell the operator what the change does right now."""
    for note in decision.notes:
        pulumi.log.info(note)
    for warning in decision.warnings:
        pulumi.log.warn(warning)


def compose(given: Site) -> Exports:
    """Declare everything; returns the stack's outputs."""
    site, live, stack = given.decision.site, given.live, given.stack
    network = Network("network", given.decision.network, site=site, live=live)
    volumes = Volumes("volumes", given.decision.volumes, site=site, live=live)
    SnapshotPolicies("snapshots", snapshots_spec(stack, site), site=site, live=live)
    artifacts = Artifacts(
        "artifacts", artifacts_spec(site, given.artifact, _manifests(given)), site=site, live=live
    )
    fetched = dict(zip(sorted(stack.groups), artifacts.ready[1:], strict=True))
    groups = {
        name: _group(given, decided, network, (*network.ready, artifacts.ready[0], fetched[name]))
        for name, decided in given.decision.groups.items()
    }
    group_names = {name: group.group_name for name, group in groups.items()}
    Observability(
        "observability", observability_spec(stack, site), site=site, live=live, group_names=group_names
    )
    if (budget := budget_spec(stack, site)) is not None:
        Budget("budget", budget, site=site, live=live)
    return {
        "site": site.name,
        "region": site.region,
        "zone": site.zone,
        "data_bucket": artifacts.data_bucket,
        "artifacts_bucket": artifacts.artifacts_bucket,
        "groups": group_names,
        "volumes": volumes.ids,
        "next_events": _next_events(given),
    }


def _manifests(given: Site) -> dict[str, str]:
    return {
        name: boot_manifest(given.stack, name, decided.plan, given.decision.site).to_json()
        for name, decided in given.decision.groups.items()
    }


def _group(
    given: Site, decided: GroupDecision, network: Network, needs: tuple[pulumi.Resource, ...]
) -> NodeGroup:
    name, site = decided.spec.group, given.decision.site
    identity = Identity(f"{name}-identity", decided.identity, site=site, live=given.live)
    private = network.private_subnet_id if decided.plan.private_subnet else None
    return NodeGroup(
        name,
        decided.spec,
        site=site,
        live=given.live,
        user_data_b64=given.user_data[name],
        profile_arn=identity.profile_arn,
        vpc_id=network.vpc_id,
        subnet_id=private or network.subnet_id,
        fence_id=network.fence_id,
        needs=(*needs, *identity.ready),
    )


def _next_events(given: Site) -> dict[str, str]:
    """When each group changes next, in its own zone and words."""
    found = {
        name: decided.calendar.next_event(given.live.now) for name, decided in given.decision.groups.items()
    }
    return {name: f"{event.kind} at {event.local}" for name, event in found.items() if event is not None}
