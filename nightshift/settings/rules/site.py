"""Rules of the site: region, zone, time zone, addresses, mails."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network, ip_network

from nightshift.catalog.regions import REGIONS, zone_problem
from nightshift.catalog.suggest import unknown
from nightshift.plan import zones
from nightshift.settings.problem import Problem, shown
from nightshift.settings.rules.common import repeated
from nightshift.settings.scope import Scope
from nightshift.settings.site import OwnNetwork, Site

_OWN_LONGEST, _OWN_SHORTEST = 24, 16
_SSH_WIDEST = 8
_PRIVATE = tuple(
    IPv4Network(block) for block in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")
)
"""RFC 1918 and RFC 6598; a VPC takes others too, and then cannot reach whoever owns them."""


def findings(scope: Scope) -> Iterator[Problem]:
    """The site's problems."""
    if scope.region and scope.region not in REGIONS:
        why = unknown("region", scope.region, REGIONS, "Nightshift")
        yield Problem(("region",), why.removeprefix("region: "))
    if scope.site is None:
        return
    if scope.region in REGIONS and (why := zone_problem(scope.site.zone, scope.region)):
        yield Problem(("site", "zone"), why)
    if why := zones.zone_problem(scope.site.timezone):
        yield Problem(("site", "timezone"), why)
    yield from _network(scope.site)
    yield from _ssh(scope.site)
    yield from _mails(scope.site)


def _network(site: Site) -> Iterator[Problem]:
    if not isinstance(site.network, OwnNetwork):
        return
    path, text = ("site", "network", "cidr"), site.network.cidr
    block = _block(text)
    if isinstance(block, str):
        yield Problem(path, block)
    elif not _OWN_SHORTEST <= block.prefixlen <= _OWN_LONGEST:
        yield Problem(path, f"given {shown(text)}, expected a block of /{_OWN_SHORTEST} to /{_OWN_LONGEST}")
    elif not any(block.subnet_of(private) for private in _PRIVATE):
        yield Problem(path, f"given {shown(text)}, expected a private block such as 10.77.0.0/16")


def _ssh(site: Site) -> Iterator[Problem]:
    if site.ssh is None:
        return
    yield from repeated(("site", "ssh", "from"), site.ssh.sources, "the network")
    for index, text in enumerate(site.ssh.sources):
        block = _block(text)
        path = ("site", "ssh", "from", index)
        if isinstance(block, str):
            yield Problem(path, block)
        elif block.prefixlen < _SSH_WIDEST:
            yield Problem(
                path,
                f"given {shown(text)}, expected /{_SSH_WIDEST} or narrower; "
                "name your own network, or leave ssh out and use `nightshift connect`",
            )


def _block(text: str) -> IPv4Network | str:
    """The block, or what is wrong with it."""
    example = "203.0.113.0/24"
    try:
        block = ip_network(text, strict=False)
    except ValueError:
        return f"given {shown(text)}, expected an IPv4 network such as {example}"
    if not isinstance(block, IPv4Network) or "/" not in text:
        return f"given {shown(text)}, expected an IPv4 network with its length such as {example}"
    if str(block) != text:
        return f"given {shown(text)}, which has bits behind its length; did you mean {block}?"
    return block


def _mails(site: Site) -> Iterator[Problem]:
    yield from repeated(("site", "alerts"), site.alerts, "the address")
    if site.budget:
        yield from repeated(("site", "budget", "notify"), site.budget.notify, "the address")
