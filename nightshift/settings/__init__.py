"""The stack file: what a user declares, read and checked in one place."""

from nightshift.settings.errors import SettingsError
from nightshift.settings.models import Stack
from nightshift.settings.reading import from_config, read_stack

__all__ = ["SettingsError", "Stack", "from_config", "read_stack"]
