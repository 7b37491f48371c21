"""Commands during a boot: while one runs the boot's heartbeat is called, so that a notice ends the wait."""

from __future__ import annotations

import threading

from bootstrap.readiness.commands import Answer, Command, Commands
from bootstrap.start.rooms import Heartbeat

TURN_S = 0.1


class Attentive:
    """Runs what `inner` runs. What the heartbeat raises is raised here; the command is left to its own
    deadline then, since it only looks at the machine and holds nothing that a drain needs."""

    def __init__(self, inner: Commands, beat: Heartbeat) -> None:
        self._inner, self._beat = inner, beat

    def run(self, command: Command, deadline_s: float) -> Answer:
        """The answer."""
        answers: list[Answer] = []
        errors: list[BaseException] = []

        def act() -> None:
            try:
                answers.append(self._inner.run(command, deadline_s))
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=act, name=command[0], daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(TURN_S)
            self._beat("")
        if errors:
            raise errors[0]
        return answers[0]
