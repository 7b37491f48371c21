"""The words of the report that a reader may not know."""

from __future__ import annotations

from collections.abc import Mapping

GLOSSARY: Mapping[str, str] = {
    "stack": "what one stack file declares and deploys: groups, volumes, calendars",
    "group": "nodes of one kind with one calendar; AWS keeps as many of them as the group's size says",
    "node": "one machine, from its launch to its end; a shift may launch several one after the other",
    "size": "how many nodes a group is to have now (AWS: its desired capacity); 0 outside its shifts",
    "shift": "a time in which the calendar wants the group up",
    "scheduled action": "what sets a group's size at the start and the end of a shift",
    "operator's word": "hold, wake or sleep, said over the calendar by a person; also called an override",
    "drained": "ended as planned: the job was stopped and saved, the volumes given back",
    "saved": "written to the volume as a checkpoint, from which the next node goes on",
    "two writers": "two nodes that write to one volume at once, which would spoil it; it must never happen",
    "alarm": "watches a group; some only send a mail, some set the group's size to 0",
    "fault": "something that goes wrong on purpose, such as a crash; how each must end is a table of its own",
    "rule": "what must hold whatever happens, looked at over and over while the time is played",
    "seed": "the number from which all chance comes: the same seed plays the same again",
    "modelled": "not run: how long a node's steps take is drawn from a table of times",
    "real": "run as processes on this machine: boot, job, saves and drain",
    "spot": "spare machines of AWS, cheaper, which AWS may take back",
}
"""Each with what it means here."""
