"""The record by which operators find a node's notebooks: kept true, and emptied when the node ends."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import datetime, timezone

from bootstrap.aws import AwsError
from bootstrap.start.node import Node
from nightshift.records.notebook import Notebook, NotebookRecord
from nightshift.records.store import Records

CLOSE_S = 5.0


class NotebookKeeper:
    """Of one agent. Written only when it changes."""

    def __init__(self, node: Node, group: str) -> None:
        self._node, self._group = node, group
        self._since = datetime.now(timezone.utc)
        self._lock = threading.Lock()
        self._written: NotebookRecord | None = None
        self._tried = False
        self._closing: threading.Thread | None = None

    def keep(self, notebooks: Sequence[Notebook]) -> None:
        """Raises one of AwsError; the next call tries again."""
        with self._lock:
            if self._closing is None:
                self._tried = True
                self._write(notebooks)

    def forget(self) -> None:
        """Nobody is to find the token of a node that is gone. Returns at once."""
        self._closing = threading.Thread(target=self._forget, name="no notebooks", daemon=True)
        self._closing.start()

    def close(self) -> None:
        """`forget` is done, as far as that goes soon."""
        if self._closing is not None:
            self._closing.join(CLOSE_S)

    def _forget(self) -> None:
        """After a `keep` that is under way."""
        with self._lock:
            if not self._tried:
                return
            try:
                self._write(())
            except AwsError as error:
                self._node.say(f"the notebooks' record can't be emptied: {error}")

    def _write(self, notebooks: Sequence[Notebook]) -> None:
        node = self._node
        record = NotebookRecord(node.instance.id, self._group, self._since, tuple(notebooks))
        if record == self._written:
            return
        records = Records(node.aws.client("s3", brief=True), node.config.data_bucket)
        records.write_notebook(node.aws.user_id(), record)
        self._written = record
