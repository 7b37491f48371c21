"""The people of this node, as the agent has them: logins as a check, notebooks, a word to terminals."""

from __future__ import annotations

from pathlib import Path

from bootstrap.drain.volumes import Let
from bootstrap.launch.cage import Cages, cages
from bootstrap.manifest import BootManifest
from bootstrap.notebook.notebooks import Notebooks
from bootstrap.notebook.server import Server, Shared
from bootstrap.people.accounts import listed
from bootstrap.people.logins import Ground, Made, make_logins
from bootstrap.people.shells import write_profile
from bootstrap.people.word import tell_soon
from bootstrap.readiness.verdict import Finding
from bootstrap.start.edges import NodeEdges
from bootstrap.start.node import Node
from bootstrap.start.notebook_record import NotebookKeeper
from nightshift.plan.people import notebook_port, notebook_users
from nightshift.records.notebook import Notebook

USERS = "users"


class NodePeople:
    """One node's, for one manifest. `look` is for one thread, `keep` for one, the others for the agent's."""

    def __init__(self, node: Node, manifest: BootManifest) -> None:
        self._node, self._manifest = node, manifest
        volumes = tuple(each.name for each in manifest.volumes)
        roots = node.edges.roots
        self._ground = Ground(volumes, roots.data, roots.proc, node.edges.accounts)
        self._keeper = NotebookKeeper(node, manifest.group)
        self._python: Path | None = None
        self._notebooks: Notebooks | None = None
        self._left = False

    @property
    def has_notebooks(self) -> bool:
        """Whether the group declares any."""
        return self._manifest.notebook

    def check(self) -> Finding:
        """A login and a home for each of the group's users."""
        users, say = self._manifest.users, self._node.say
        made = make_logins(users, self._ground)
        for says in made.says:
            say(f"users: {says}")
        expected = "a login and a home for each of " + ", ".join(users)
        if made.problems:
            found = "; ".join(
                f"{each.name}: {each.found}, expected {each.expected}" for each in made.problems
            )
            remedy = "; ".join(dict.fromkeys(each.remedy for each in made.problems))
            return Finding(USERS, False, expected, found, remedy)
        say(f"users: {listed(made.logins)}")
        return Finding(USERS, True, expected, f"{len(made.logins)} of them", "")

    def begin(self, python: Path) -> None:
        """From now on `look` starts notebooks by the runtime's interpreter, and people's shells find it."""
        self._python = python
        if not self._manifest.users:
            return
        try:
            write_profile(python, self._node.edges.accounts)
        except OSError as error:
            self._node.say(f"users: their shells won't find the runtime's Python by its name: {error}")

    def look(self) -> None:
        """See to the notebooks. One that can't be is said and told to operators; nothing is raised for it."""
        if self._python is None:
            return
        if self._notebooks is None:
            self._notebooks = self._made(self._python)
            if self._left:
                self._notebooks.leave()
        self._notebooks.look()

    def keep(self) -> None:
        """Tell operators how notebooks are reached, when that has changed. Raises one of AwsError."""
        if self._notebooks is not None:
            self._keeper.keep(self._notebooks.records)

    def tell(self, text: str) -> None:
        """A word to everyone at a terminal; nobody waits for it."""
        tell_soon(text, self._node.edges.roots.dev)

    def leave(self, text: str) -> None:
        """What runs here ends: a word, notebooks are asked to end, operators find none. Returns at once."""
        self._left = True
        self.tell(text)
        if self._notebooks is not None:
            self._notebooks.leave()
            self._keeper.forget()

    def end(self, limit_s: float) -> Let:
        """Every process of a notebook is gone after it, or named."""
        if self._notebooks is None:
            return Let(True, "none was begun")
        return self._notebooks.end(limit_s)

    def end_left_over(self, limit_s: float) -> list[int]:
        """Kill what an earlier agent of this boot has left of any; what the kernel holds."""
        return notebook_cages(self._node.edges).whole.kill(limit_s)

    def close(self) -> None:
        """The record is emptied, as far as that goes soon."""
        self._keeper.close()

    def _made(self, python: Path) -> Notebooks:
        edges, users = self._node.edges, self._manifest.users
        shared = Shared(
            python=python,
            region=self._manifest.region,
            folder=edges.run_dir / "notebook",
            logs=edges.logs / "notebook",
            cages=notebook_cages(edges),
            clock=self._node.clock,
            say=self._node.say,
        )
        made = make_logins(notebook_users(users), self._ground)
        servers = [Server(each, notebook_port(users, each.name), shared) for each in made.logins]
        refused = self._refused(made)
        for says in made.says if not users else ():
            self._node.say(f"notebook: {says}")
        return Notebooks(servers, shared.cages.whole.kill, refused, self._node.clock)

    def _refused(self, made: Made) -> list[Notebook]:
        """Notebooks without a login to run by."""
        users, known = self._manifest.users, {each.name: str(each) for each in made.problems}
        there = {each.name for each in made.logins}
        found = []
        for name in (each for each in notebook_users(users) if each not in there):
            why = f"no login: {known.get(name, '; '.join(known.values()))}"
            self._node.say(f"notebook of {name}: {why}")
            found.append(Notebook(name, notebook_port(users, name), "", why))
        return found


def notebook_cages(edges: NodeEdges) -> Cages:
    """Of all notebooks, beside the job's."""
    return cages(edges.cgroup, edges.run_dir / "notebook")
