"""The page of the launch campaign's figures."""

from __future__ import annotations

from typing import Any

HEAD = """# What a launched job survives

How a job is launched: [launch.md](launch.md). Figures of `python -m tests.campaigns.launches --out
docs/launches.json` (root): two nodes in namespaces of one machine, one rank each, gloo, real processes;
{about}.

Seconds from the blow to the first step of new processes, p50 / p100 of those that came back within {limit} s;
*hung*: those that didn't. Blows fall at a random moment, one to two seconds after a step. *best*: torchrun in
a loop, elastic (`--nnodes=1:2`), with every cure that is known (`TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1`,
`is_host`, `--local-addr`, 15 s for the process group, short keep-alives, 10 s for shutdown). *default*:
torchrun in a loop, `--nnodes=2`, c10d, a fixed id, 100 restarts. Both have a fixed host; ours elects one. The
command plays all of them at the same time.

| blow | ours: n | hung | p50 / p100 | best: n | hung | p50 / p100 | default: n | hung | p50 / p100 |
|---|---|---|---|---|---|---|---|---|---|
"""

ROWS = (
    ("a worker is killed", "a worker is killed", "a worker is killed"),
    ("torchrun is killed", "torchrun is killed", ""),
    ("the node's agent is killed", "", ""),
    ("a node is lost", "a node is lost", ""),
    ("the leader is lost", "the host is lost and back", ""),
    ("a late node joins", "a late node joins", ""),
    ("a notice during a save: the other goes on", "", ""),
    ("a notice during the job's boot: the other goes on", "", ""),
    ("a notice during a save: until nothing of it runs", "", ""),
    ("a notice during the job's boot: until nothing of it runs", "", ""),
    ("launch, cold", "", ""),
)

TAIL = """
After each blow to ours it's also asked whether a process of before is left, and whether a noticed node's part
ended `drained` and saved within 60 s. Problems found: {problems}.

Up to ten of a lost node's seconds are the lease. An agent that is killed and a node that comes back import
torch anew, which is most of their time; a relaunch doesn't. systemd's RestartSec (5 s) isn't in it. When
plain's host is lost nobody goes on until it's back (here after 5 s); ours goes on without it. {plain}
"""


def page(result: dict[str, Any]) -> str:
    """All of it, from what the campaign wrote."""
    ours, plain = _events(result, "ours"), _events(result, "plain")
    lines = []
    for event, best, default in ROWS:
        cells = [
            _cells(ours.get(event)),
            _cells(plain.get(f"best: {best}")),
            _cells(plain.get(f"default: {default}")),
        ]
        lines.append(f"| {event} | {' | '.join(cells)} |")
    head = HEAD.format(about=result.get("about", "nothing is known of it"), limit=150)
    problems = result.get("ours", {}).get("problems", [])
    counts = result.get("plain", {}).get("counts", {})
    said = "; ".join(f"plain {words}: {number} times" for words, number in sorted(counts.items()))
    tail = TAIL.format(problems="; ".join(problems) or "none", plain=f"{said}." if said else "")
    notes = result.get("notes", "")
    return head + "\n".join(lines) + "\n" + tail.rstrip() + "\n" + (f"\n{notes}\n" if notes else "")


def _events(result: dict[str, Any], lane: str) -> dict[str, Any]:
    return result.get(lane, {}).get("events", {})


def _cells(found: dict[str, Any] | None) -> str:
    if found is None:
        return " | | "
    return f"{found['n']} | {found['hung']} | {found['p50']} / {found['p100']}"
