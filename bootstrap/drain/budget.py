"""How the time that is left is shared, so that a job that hangs never costs the unmount. Pure.

Later steps have their time kept for them: each may take what is left less what is kept for those after it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bootstrap.storage.place import Waits

STOP_S = 95.0
"""Of systemd's TimeoutStopSec=110 (start/install.py): what a stopped unit's drain may take; then the log's
last lines are sent."""
LEAST_S = 5.0
"""A drain never plans with less, whatever the notice says: it does what it can until the power goes."""
KEPT_SHARE, KEPT_MOST_S = 0.3, 150.0
_UNMOUNT, _TELL, _DETACH = 0.6, 0.2, 0.2


@dataclass(frozen=True)
class Shares:
    """Seconds. `job_s` for the job to save and end, `kill_s` for its processes to be gone, `unmount_s` for
    sync and unmount of all volumes together, `tell_s` for records and hook, `detach_s` at the end."""

    job_s: float
    kill_s: float
    unmount_s: float
    tell_s: float
    detach_s: float

    @property
    def kept_s(self) -> float:
        """What is kept for all that comes after the job."""
        return self.kill_s + self.unmount_s + self.tell_s + self.detach_s


def share(left_s: float) -> Shares:
    """Of `left_s` seconds, 30 % but at most 150 s are kept for what comes after the job: of a spot notice's
    120 s it has 84 s, of a planned 600 s it has 450 s."""
    whole = max(LEAST_S, left_s)
    kept = min(KEPT_SHARE * whole, KEPT_MOST_S)
    kill = min(10.0, 0.2 * kept)
    rest = kept - kill
    return Shares(whole - kept, kill, _UNMOUNT * rest, _TELL * rest, _DETACH * rest)


def waits_for(unmount_s: float, detach_s: float) -> Waits:
    """Storage's own deadlines within the shares. SIGTERM to who holds a volume, SIGKILL soon after: the job
    itself has had its time."""
    usual = Waits()
    return replace(
        usual,
        sync_s=min(usual.sync_s, 0.5 * unmount_s),
        umount_s=min(usual.umount_s, 0.25 * unmount_s),
        term_s=min(usual.term_s, 0.1 * unmount_s),
        kill_s=min(usual.kill_s, 0.1 * unmount_s),
        detach_s=min(usual.detach_s, detach_s),
    )
