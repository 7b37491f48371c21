"""The rehearsal as JSON: the keys that docs/cli.md promises for `rehearse`."""

from __future__ import annotations

from nightshift.cli.when import iso
from nightshift.rehearsal.report.headline import headline
from nightshift.rehearsal.report.lanes import always_minutes
from nightshift.rehearsal.report.nights import Night, nights
from nightshift.rehearsal.story import Break, FaultEnd, GroupInfo, NodeLife, Story, local

Json = dict[str, object]


def data(story: Story) -> Json:
    """JSON-ready; instants are UTC, money is USD, lengths have their unit in the key's name."""
    bill, told = story.bill, nights(story)
    head = headline(story, told)
    return {
        "stack": story.stack,
        "seed": story.seed,
        "weeks": _weeks(story.weeks),
        "start": _instant(story.start),
        "end": _instant(story.end),
        "timezone": story.timezone,
        "ok": story.ok,
        "headline": head.sentence,
        "rehearsed": head.rehearsed,
        "real_nodes": story.real_nodes,
        "modelled_nodes": sum(1 for node in story.nodes if not node.real),
        "steps_trained": story.steps_trained,
        "steps_lost": story.steps_lost,
        "two_writer_seconds": story.two_writer_seconds,
        "billed_minutes": bill.billed_minutes,
        "forecast_minutes": bill.forecast_minutes,
        "always_on_minutes": always_minutes(story),
        "bill_usd": round(bill.usd, 2),
        "forecast_usd": round(bill.forecast_usd, 2),
        "always_on_usd": round(bill.always_on_usd, 2),
        "differences": [
            {
                "why": one.why,
                "group": one.group,
                "minutes": one.minutes,
                "usd": round(one.usd, 2),
                "unserved": one.unserved,
                "shifts": [_instant(at) for at in one.shifts],
            }
            for one in bill.differences
        ],
        "faults_by_seed": story.by_seed,
        "faults": [_fault(fault) for fault in story.faults],
        "invariants": [
            {"name": one.name, "says": one.says, "checked": one.checked, "looked_at": one.looked_at}
            for one in story.invariants
        ],
        "invariants_broken": [_break(one) for one in story.broken],
        "groups": [_group(name, info) for name, info in story.groups.items()],
        "shifts": [_shift(night) for night in told],
        "nodes": [_node(node) for node in story.nodes],
        "seconds": round(story.seconds, 2),
        "provider": story.provider,
        "compressed": story.compressed,
        "replay": story.replay,
    }


def _weeks(value: float) -> int | float:
    return round(value) if abs(value - round(value)) < 0.01 else round(value, 2)


def _instant(at: int | None) -> str | None:
    return None if at is None else iso(local(at, "UTC"))


def _fault(fault: FaultEnd) -> Json:
    return {
        "fault": fault.fault,
        "what": fault.what,
        "struck": _instant(fault.struck),
        "group": fault.group,
        "must": fault.must,
        "ended": fault.ended,
        "steps_lost": fault.steps_lost,
        "minutes_lost": fault.minutes_lost,
        "ok": fault.ok,
    }


def _break(one: Break) -> Json:
    return {"rule": one.rule, "at": _instant(one.at), "says": one.says, "replay": one.replay}


def _group(name: str, info: GroupInfo) -> Json:
    return {
        "name": name,
        "kind": info.kind,
        "nodes": info.nodes,
        "timezone": info.zone,
        "save_seconds": info.save_s or None,
    }


def _shift(night: Night) -> Json:
    return {
        "group": night.group,
        "start": _instant(night.start),
        "end": _instant(night.end),
        "verdict": night.verdict,
        "in_service_minutes": night.up_s // 60,
        "nodes": [node.id for node in night.nodes],
        "steps": night.steps,
        "steps_lost": night.steps_lost,
        "usd": round(night.usd, 2),
        "why": list(night.why),
    }


def _node(node: NodeLife) -> Json:
    return {
        "id": node.id,
        "group": node.group,
        "type": node.type,
        "market": node.market,
        "real": node.real,
        "launched": _instant(node.launched),
        "ended": _instant(node.ended),
        "how": node.how,
        "why": node.why,
        "steps_from": node.steps_from,
        "steps_to": node.steps_to,
        "billed_minutes": round(node.billed_s / 60, 2),
        "usd": round(node.usd, 2),
    }
