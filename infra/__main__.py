"""Nightshift's Pulumi program."""

from __future__ import annotations

import pulumi

from infra.program import announce, compose, prepare

site = prepare()
announce(site.decision)
for name, value in compose(site).items():
    pulumi.export(name, value)
