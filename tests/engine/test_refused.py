"""Edits that would cost data or running nodes: refused with the ways out, before anything changes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nightshift.emulator.engine.results import Result
from tests.engine.conftest import Deploy
from tests.engine.support.looking import everything
from tests.engine.support.nodes import shift_begins, shift_ends
from tests.engine.support.site import Deployed, Document

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("engine-refused")]
Edit = Callable[[Document], object]


@pytest.fixture(scope="module")
def site(deploy: Deploy) -> Deployed:
    """The lab with a group of two nodes besides."""
    site = deploy("lab")
    site.cloud.control("clock", {"now": "2026-12-02T13:00:00Z"})
    site.base["groups"]["pair"] = {
        "types": ["g5.12xlarge"],
        "nodes": 2,
        "shifts": [{"days": ["wed"], "from": "20:00", "to": "23:00"}],
    }
    site.edit(lambda config: None)
    site.up()
    return site


def _without_volume(config: Document) -> None:
    del config["volumes"]["imagenet"]
    config["groups"]["vit"]["volumes"].remove("imagenet")


def _renamed_volume(config: Document) -> None:
    config["volumes"]["pictures"] = config["volumes"].pop("imagenet")
    config["groups"]["vit"]["volumes"] = ["pictures", "runs"]


def _other_zone(config: Document) -> None:
    config["site"]["zone"] = "us-east-1b"


def _smaller(config: Document) -> None:
    config["volumes"]["runs"]["size_gib"] = 100


def _meeting(config: Document) -> None:
    config["groups"]["desk"]["shifts"][0]["to"] = "20:30"


def _adopting_nothing(config: Document) -> None:
    config["volumes"]["old"] = {"size_gib": 10, "adopt": "vol-0123456789abcdef0"}
    config["groups"]["desk"]["volumes"].append("old")


AT_ALL_TIMES: dict[str, tuple[Edit, tuple[str, ...]]] = {
    "a volume removed": (_without_volume, ('"imagenet"', "vol-", "nightshift retire imagenet")),
    "a volume renamed": (_renamed_volume, ('"imagenet"', "vol-", "adopt: vol-")),
    "a volume in another zone": (
        _other_zone,
        ('"imagenet"', '"runs"', "zone: us-east-1a", "nightshift retire runs"),
    ),
    "a volume made smaller": (_smaller, ('"runs"', "200 GiB", "100 GiB")),
    "a volume that meets itself": (_meeting, ("groups.vit.volumes", "runs", "desk")),
    "a volume that nobody has": (_adopting_nothing, ('"old"', "vol-0123456789abcdef0")),
}


@pytest.mark.parametrize(("edit", "words"), AT_ALL_TIMES.values(), ids=AT_ALL_TIMES)
def test_data_is_never_at_stake(site: Deployed, edit: Edit, words: tuple[str, ...]) -> None:
    refused(site, edit, words)


def _fewer(config: Document) -> None:
    config["groups"]["pair"]["nodes"] = 1
    config["groups"]["pair"]["shifts"][0]["to"] = "22:00"


def _no_pair(config: Document) -> None:
    del config["groups"]["pair"]


def test_running_nodes_are_never_at_stake(site: Deployed) -> None:
    shift_begins(site, "pair", 2)
    refused(site, _fewer, ("group pair", "nodes: 1", "2 nodes", "nightshift sleep pair"))
    refused(site, _no_pair, ("group pair", "no longer names it", "2 nodes", "nightshift sleep pair"))
    shift_ends(site, "pair")
    site.edit(lambda config: None)
    site.up()


def test_every_reason_is_named_at_once(site: Deployed) -> None:
    def both(config: Document) -> None:
        _without_volume(config)
        _smaller(config)

    refused(site, both, ('"imagenet"', '"runs"', "2 problems"))


def refused(site: Deployed, edit: Edit, words: tuple[str, ...]) -> None:
    """With and without a preview first: no change of cloud or state, the words said, no traceback."""
    cloud, state = everything(site), site.resources()
    site.edit(edit)
    for result in (site.workspace.up(), _with_preview(site)):
        assert result.exit_code != 0
        assert "Traceback" not in result.output
        assert [word for word in words if word not in " ".join(result.output.split())] == [], result.output
    assert everything(site) == cloud
    after = site.resources()
    assert [(state.get(urn), each) for urn, each in after.items() if state.get(urn) != each] == []
    assert after.keys() == state.keys()


def _with_preview(site: Deployed) -> Result:
    return site.workspace.start("up", "--yes").finish()
