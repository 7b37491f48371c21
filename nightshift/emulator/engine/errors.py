"""What can be missing or go wrong with the engine, each error with what, why and what to do."""


class EngineError(Exception):
    """Base of this room's errors: a message for people, never a traceback for a user's machine."""


class ToolchainError(EngineError):
    """The engine cannot be had here. `what` is missing, `why`, and `remedy` says what to do about it."""

    def __init__(self, what: str, why: str, remedy: str) -> None:
        super().__init__(f"{what}\n  why: {why}\n  what to do: {remedy}")
        self.what, self.why, self.remedy = what, why, remedy


class ProviderError(EngineError):
    """The provider behind the engine did not start or died."""


class WorkspaceError(EngineError):
    """A stack file or project folder that the engine cannot work with."""
