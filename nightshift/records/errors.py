"""What can go wrong with a record, in words a person can act on."""

from __future__ import annotations


class RecordsError(Exception):
    """A record can't be read or written; the message says which, why and what to do."""


class Unreadable(RecordsError):
    """An object stands there that isn't a record of a known version."""

    def __init__(self, where: str, why: str, way: str = "Delete the object or write it anew.") -> None:
        super().__init__(f"{where}: {why}; expected a record of version 1. {way}")
        self.where = where
        self.why = why


class ChangedMeanwhile(RecordsError):
    """Somebody else wrote the record after it was read."""

    def __init__(self, where: str) -> None:
        super().__init__(f"{where}: somebody changed it after it was read. Look again, then repeat the verb.")


class NoBucket(RecordsError):
    """The site's data bucket doesn't exist, so nothing can be written."""

    def __init__(self, bucket: str) -> None:
        super().__init__(f"bucket {bucket} doesn't exist: the site isn't deployed")
