"""Where a node's machine begins: nothing set is a real node, and every place can be put elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from bootstrap.start.edges import EDGES, Edge, NodeEdges, node_edges
from bootstrap.storage.place import Roots


def test_nothing_set_is_a_real_node() -> None:
    assert node_edges({}) == NodeEdges()
    assert NodeEdges().roots == Roots(Path("/dev"), Path("/sys"), Path("/proc"), Path("/data"))
    assert NodeEdges().runtimes == Path("/opt/nightshift/runtimes")


@pytest.mark.parametrize("edge", EDGES, ids=lambda edge: edge.variable)
def test_each_place_can_be_put_elsewhere_alone(edge: Edge) -> None:
    variable = edge.variable
    value = "0.5" if variable == "NIGHTSHIFT_POLL_S" else "/elsewhere"
    assert node_edges({variable: value}) != NodeEdges()
    assert node_edges({variable: ""}) == NodeEdges(), "an empty variable is one that isn't set"


@pytest.mark.parametrize("seconds", ["0", "-1", "soon", "nan", "inf", "3600"])
def test_seconds_that_are_none_are_refused_in_words(seconds: str) -> None:
    with pytest.raises(ValueError, match=r"NIGHTSHIFT_POLL_S: given .*, expected seconds"):
        node_edges({"NIGHTSHIFT_POLL_S": seconds})
