"""A node's people as the agent has them: logins that fail a boot, notebooks that never do, words in time."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bootstrap.manifest import BootManifest, BootVolume
from bootstrap.people.accounts import Login, LoginError
from bootstrap.people.logins import Ground, Made
from bootstrap.people.shells import PROFILE
from bootstrap.readiness.verdict import Finding
from bootstrap.start import people as module
from bootstrap.start.agent import DONE
from bootstrap.start.install import GIVEN_UP
from bootstrap.start.notebook_record import NotebookKeeper
from bootstrap.start.people import USERS, NodePeople
from bootstrap.start.wiring import NodeRooms
from nightshift.plan.people import uid_of
from nightshift.records.notebook import Notebook, NotebookRecord
from tests.bootstrap.support.agent import (
    MANIFEST,
    NIGHT,
    NOW,
    USER,
    Bench,
    bench,
    declare,
    drain_record,
    ends,
    refusal,
)

KEY = f"nodes/{USER}/notebook.json"
HOME = BootVolume("home", 1, "xfs", "site", blank=True)
ADA, GRACE = (Login(name, uid_of(name), Path("/data/home") / name) for name in ("ada", "grace"))


@pytest.fixture(name="node")
def _node(tmp_path: Path) -> Generator[Bench]:
    with bench(tmp_path / "run") as made:
        yield made


def people(node: Bench, **changes: Any) -> NodePeople:
    """Of a node whose accounts lie beside its /run."""
    edges = replace(node.node.edges, accounts=node.node.edges.run_dir / "root")
    return NodePeople(replace(node.node, edges=edges), replace(MANIFEST, **changes))


@pytest.fixture(name="makes")
def _makes(monkeypatch: pytest.MonkeyPatch) -> Callable[[Made], list[tuple[str, ...]]]:
    """What making logins comes to; for whom they were made."""

    def set_(made: Made) -> list[tuple[str, ...]]:
        asked: list[tuple[str, ...]] = []

        def make(names: tuple[str, ...], _ground: Ground) -> Made:
            asked.append(tuple(names))
            return made

        monkeypatch.setattr(module, "make_logins", make)
        return asked

    return set_


def recorded(node: Bench) -> NotebookRecord | None:
    body = node.client.objects.get(KEY)
    return NotebookRecord.load(KEY, body) if body else None


def test_logins_are_made_after_all_else_is_proven_and_only_where_there_are_users(node: Bench) -> None:
    def names(manifest: BootManifest) -> list[str]:
        checks = NodeRooms(node.node, manifest).checks(Path("/python"), lambda _says: None)
        return [each.name for each in checks]

    assert names(replace(MANIFEST, users=("ada",)))[-1] == USERS
    assert USERS not in names(replace(MANIFEST, notebook=True))


def test_logins_that_stand_are_a_passed_check(node: Bench, makes: Callable[[Made], Any]) -> None:
    asked = makes(Made([ADA, GRACE]))
    finding = people(node, users=("grace", "ada")).check()
    assert asked == [("grace", "ada")]
    assert (finding.check, finding.passed, finding.found) == (USERS, True, "2 of them")


def test_logins_that_cannot_be_made_fail_the_check_with_every_reason(
    node: Bench, makes: Callable[[Made], Any]
) -> None:
    problems = [LoginError("ada", "number 5 free", "it is eve's", "rename"), LoginError("x", "a", "b", "c")]
    makes(Made([GRACE], problems))
    finding = people(node, users=("ada", "grace", "x")).check()
    assert not finding.passed
    assert finding.expected == "a login and a home for each of ada, grace, x"
    assert finding.found == "ada: it is eve's, expected number 5 free; x: b, expected a"
    assert finding.remedy == "rename; c"


def test_a_group_without_a_login_is_not_ready_and_says_why(node: Bench) -> None:
    node.rooms.finding = Finding(USERS, False, "a login for ada", "number 5 is eve's", "rename")
    assert node.run() == GIVEN_UP
    assert node.readiness is not None
    assert node.readiness.failed == USERS
    assert node.readiness.says == "users: expected a login for ada, found number 5 is eve's; rename"


def test_homes_are_where_the_groups_volumes_are(node: Bench) -> None:
    made = people(node, volumes=(BootVolume("corpora", 1, "xfs", "site", True), HOME), users=("ada",))
    assert made._ground.homes == Path("/data/home")
    assert people(node)._ground.homes == node.node.edges.run_dir / "root" / "home"


def test_notebooks_begin_once_the_node_is_in_service_and_the_job_has_begun(node: Bench) -> None:
    declare(node, replace(MANIFEST, notebook=True))
    fakes = node.rooms.people
    began: list[list[str]] = []

    def begun(python: Path) -> None:
        began.append([*node.client.names(), *node.rooms.did])

    fakes.begin = begun
    fakes.look = ends(node)
    assert node.run() == DONE
    assert "complete_lifecycle_action" in began[0]
    assert began[0][-1] == "begin", "the job's"


def test_the_notebooks_record_is_kept_true_while_the_node_works(node: Bench) -> None:
    declare(node, replace(MANIFEST, notebook=True))
    node.rooms.people.keep = ends(node)
    assert node.run() == DONE


def test_without_notebooks_nothing_looks_for_any(node: Bench) -> None:
    node.rooms.during["begin"] = ends(node, 0.05)
    assert node.run() == DONE
    assert set(node.rooms.people.looks) <= {"begin"}


def test_a_drain_ends_notebooks_before_volumes_and_says_so_in_its_record(node: Bench) -> None:
    declare(node, replace(MANIFEST, notebook=True))
    node.rooms.people.has_notebooks = True
    node.rooms.during["begin"] = ends(node)
    assert node.run() == DONE
    assert node.rooms.did[-4:] == ["notebooks", "unmount", "release", "close"]
    assert [each.name for each in drain_record(node).steps] == ["job", "kill", "notebooks", "unmount", "run"]
    assert "the group ends this node" in node.rooms.people.words[-1]


def test_everyone_at_a_terminal_hears_of_the_end_of_the_shift(node: Bench) -> None:
    declare(node, replace(MANIFEST, shifts=(NIGHT,)))
    node.client.now = NOW.replace(hour=6, minute=46) + timedelta(days=1)
    tell = node.rooms.people.tell

    def heard(text: str) -> None:
        tell(text)
        ends(node)()

    node.rooms.people.tell = heard
    assert node.run() == DONE
    first = node.rooms.people.words[0]
    assert "07:00" in first
    assert first.endswith("; all that runs here ends in 14 min, save your work")


def test_a_notebook_without_a_login_is_told_to_operators_and_raises_nothing(
    node: Bench, makes: Callable[[Made], Any]
) -> None:
    makes(Made([], [LoginError("notebook", "number 5 free", "it is eve's", "take another image")]))
    here = people(node, notebook=True)
    here.begin(Path("/python"))
    here.look()
    here.keep()
    record = recorded(node)
    assert record is not None
    (told,) = record.notebooks
    assert (told.user, told.port, told.token) == ("notebook", 8888, "")
    assert told.problem == (
        "no login: notebook: expected number 5 free, found it is eve's; take another image"
    )


def test_volumes_that_are_gone_leave_each_user_with_the_reason(
    node: Bench, makes: Callable[[Made], Any]
) -> None:
    makes(Made([], [LoginError("ada, grace", "a volume at /data/home", "nothing mounted", "see why")]))
    here = people(node, notebook=True, users=("grace", "ada"))
    here.begin(Path("/python"))
    here.look()
    here.keep()
    record = recorded(node)
    assert record is not None
    assert [(each.user, each.port) for each in record.notebooks] == [("ada", 8888), ("grace", 8889)]
    assert all("nothing mounted" in each.problem for each in record.notebooks)


def test_shells_of_people_find_the_runtime_and_one_that_cannot_be_told_is_no_reason_to_go(
    node: Bench,
) -> None:
    people(node, notebook=True).begin(Path("/runtime/bin/python3"))
    root = node.node.edges.run_dir / "root"
    assert not root.exists(), "only where people log in"
    people(node, users=("ada",)).begin(Path("/runtime/bin/python3"))
    assert "/runtime/bin" in (root / PROFILE).read_text()
    (root / PROFILE).unlink()
    (root / PROFILE).mkdir()
    people(node, users=("ada",)).begin(Path("/runtime/bin/python3"))
    assert (root / PROFILE).is_dir()


def test_before_it_begins_there_is_nothing_to_see_to_keep_or_end(node: Bench) -> None:
    here = people(node, notebook=True)
    here.look()
    here.keep()
    here.leave("it ends")
    assert here.end(1).done
    here.close()
    assert KEY not in node.client.objects


def test_notebooks_made_while_the_node_ends_are_never_started(
    node: Bench, makes: Callable[[Made], Any], tmp_path: Path
) -> None:
    makes(Made([replace(ADA, home=tmp_path)]))
    node.node = replace(node.node, edges=replace(node.node.edges, logs=tmp_path / "logs"))
    here = people(node, notebook=True, users=("ada",))
    here.begin(Path("/python"))
    here.leave("it ends")
    here.look()
    assert here._notebooks is not None
    assert not (tmp_path / "logs").exists(), "nothing was begun"


def keeper(node: Bench) -> NotebookKeeper:
    return NotebookKeeper(node.node, "vit")


ONE = Notebook("ada", 8888, "q" * 43)


def test_a_record_is_written_when_it_changes_and_under_the_nodes_own_name(node: Bench) -> None:
    kept = keeper(node)
    for _ in range(3):
        kept.keep([ONE])
    assert [each["Key"] for each in node.client.named("put_object")] == [KEY]
    kept.keep([replace(ONE, problem="given up")])
    record = recorded(node)
    assert record is not None
    assert (record.node, record.group, record.notebooks[0].problem) == ("i-0abc", "vit", "given up")


def test_a_record_is_emptied_at_the_end_and_nothing_is_written_after(node: Bench) -> None:
    kept = keeper(node)
    kept.keep([ONE])
    kept.forget()
    kept.close()
    kept.keep([ONE])
    record = recorded(node)
    assert record is not None
    assert record.notebooks == ()
    assert ONE.token not in node.client.objects[KEY].decode()


def test_a_record_that_was_never_tried_is_not_emptied_and_one_that_may_stand_is(node: Bench) -> None:
    never = keeper(node)
    never.forget()
    never.close()
    assert KEY not in node.client.objects
    kept = keeper(node)
    node.client.refuse["put_object"] = refusal("RequestTimeout")
    with pytest.raises(type(refusal("x"))):
        kept.keep([ONE])
    del node.client.refuse["put_object"]
    kept.forget()
    kept.close()
    assert KEY in node.client.objects


def test_an_end_waits_for_no_record(node: Bench) -> None:
    kept = keeper(node)
    kept.keep([ONE])
    node.client.refuse["put_object"] = refusal("ServiceUnavailable")
    began = time.monotonic()
    kept.forget()
    assert time.monotonic() - began < 1
    kept.close()
