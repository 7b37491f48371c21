"""Real nodes for one rehearsal: what they need is made, and all of it is gone afterwards."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager

from nightshift.emulator.sandbox.network import Network
from nightshift.rehearsal.clients import clients_of
from nightshift.rehearsal.real import stand_in
from nightshift.rehearsal.real.sandbox_fleet import SandboxFleet
from nightshift.rehearsal.real.site import AwsGroup, back
from nightshift.rehearsal.real.writers import Writers
from nightshift.rehearsal.world.model import World


@contextmanager
def real_nodes(
    world: World, groups: tuple[str, ...], endpoint: str, say: Callable[[str], None]
) -> Generator[tuple[SandboxFleet, Writers]]:
    """The nodes of these groups (short names) are real. Raises SandboxError where they can't be made.

    Ended however this process ends: what a killed run leaves, the next sandbox sweeps.
    """
    clients = clients_of(endpoint, world.region)
    mine = [group for group in world.groups if group.manifest.group in groups]
    with ExitStack() as stack:
        stack.callback(back, endpoint)
        for group in mine:
            made = stand_in.make_secrets(
                clients("secretsmanager"), group.manifest.job.secrets if group.manifest.job else ()
            )
            stack.callback(stand_in.drop_secrets, clients("secretsmanager"), made)
        aws = {group.manifest.group: AwsGroup(clients, endpoint, group.name) for group in mine}
        for each in aws.values():
            stack.callback(each.close)
        net = stack.enter_context(Network(cloud=endpoint))
        fleet = SandboxFleet(net, endpoint, aws, say)
        writers = Writers(lambda: [life.node for life in list(fleet.lives.values())])
        stack.callback(writers.close)
        writers.start()
        yield fleet, writers
