"""A stand-in for `importlib.metadata` that loads the real one when something is asked of it.

Pydantic imports it to look for plugins, also where they are turned off; it brings email, csv and zipfile
along, a tenth of what a short verb takes. The standard library's own lazy loader doesn't help: an import
statement asks the module for its spec, and that loads it.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

NAME = "importlib.metadata"


class _Late(ModuleType):
    """Everything it is asked for comes from the real module."""

    def entry_points(self, **wanted: Any) -> Any:
        """The only name that is bound at import time and not used then."""
        return _real().entry_points(**wanted)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(_real(), name)


def _real() -> ModuleType:
    if isinstance(sys.modules.get(NAME), _Late):
        del sys.modules[NAME]
    return import_module(NAME)


def put_off_metadata() -> None:
    """Put the stand-in where imports look, unless the real one is loaded already."""
    sys.modules.setdefault(NAME, _Late(NAME))
