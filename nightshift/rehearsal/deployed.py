"""The world of a stack, from a deployment that goes no further than up."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from nightshift.emulator.cloud.process import start_cloud
from nightshift.emulator.engine.errors import EngineError
from nightshift.emulator.engine.toolchain import ensure_toolchain
from nightshift.emulator.engine.workspace import Workspace
from nightshift.rehearsal.clients import clients_of
from nightshift.rehearsal.ending import as_ctrl_c
from nightshift.rehearsal.world.model import World
from nightshift.rehearsal.world.read import read_world

if TYPE_CHECKING:
    from nightshift.settings.models import Stack


def deployed_world(stack: Stack, stack_file: Path, project: Path, say: Callable[[str], None]) -> World:
    """Deploy to an emulated AWS and read what stands. Raises EngineError, CloudError or Unplayable."""
    toolchain = ensure_toolchain(say)
    with ExitStack() as opened:
        opened.enter_context(as_ctrl_c())
        cloud = opened.enter_context(start_cloud())
        workspace = opened.enter_context(Workspace(toolchain, stack_file, project, cloud.endpoint))
        say("up ... (normally about 60 s)")
        result = workspace.up()
        if not result.ok:
            raise EngineError(f"up failed:\n{result.diagnostics}")
        return read_world(clients_of(cloud.endpoint, stack.region), stack.name, stack.region)
