"""Numbers and names on docs/operate.md are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

from bootstrap.launch.secrets import FOR_GIT, GIT_SSH_KEY, GIT_TOKEN, variable_of, variables_of
from bootstrap.storage.devices import LINK_PREFIX
from infra.alarms import BOOT_FAILURES
from infra.node_group import DELETE_MARGIN_MIN
from nightshift.plan import names
from nightshift.plan.quotas import QUOTA_CODES
from nightshift.settings.group import Group

PAGE = (Path(__file__).parents[2] / "docs" / "operate.md").read_text(encoding="utf-8")


def test_every_quota_has_its_link() -> None:
    assert all(f"/ec2/quotas/{code})" in PAGE for code in QUOTA_CODES.values())


def test_the_longest_wait_of_a_destroy_is_as_said() -> None:
    waits = [int(Group.model_fields[name].default.removesuffix("m")) for name in ("boot", "drain")]
    whole = sum(waits) + DELETE_MARGIN_MIN
    assert f"`boot` + `drain` + {DELETE_MARGIN_MIN} minutes at most, {whole} with the defaults" in PAGE


def test_the_tag_of_the_budget_is_the_one_that_everything_carries() -> None:
    assert f"TagKey={names.TAG_SITE},Status=Active" in PAGE


def test_the_data_bucket_is_called_so() -> None:
    assert "`nightshift-mylab-data-...`" in PAGE
    assert names.bucket_name("mylab", "data", "123456789012", "us-east-1").startswith(
        "nightshift-mylab-data-"
    )


def test_the_secrets_on_the_page_give_the_variables_that_it_says() -> None:
    assert variables_of("lab/wandb", '{"WANDB_API_KEY": "x"}') == {"WANDB_API_KEY": "x"}
    named = dict(re.findall(r"--name (\S+) --secret-string (\S+)", PAGE))
    assert [variable_of(name) for name in ("lab/git-token", "lab/git-ssh-key")] == [GIT_TOKEN, GIT_SSH_KEY]
    assert {"lab/wandb", "lab/git-token", "lab/git-ssh-key"} == set(named)
    assert variable_of("lab/wandb-api-key") == "WANDB_API_KEY"
    assert all(f"`{variable}`" in PAGE for variable in FOR_GIT)


def test_the_stack_file_comes_before_what_reads_it() -> None:
    steps = {int(number): said for number, said in re.findall(r"^(\d+)\. (.*)", PAGE, re.MULTILINE)[:10]}
    assert list(steps) == list(range(1, 11))
    before = PAGE[PAGE.index(f"1. {steps[1]}") : PAGE.index(f"4. {steps[4]}")]
    assert "-s mylab" not in before, "nothing reads the file before step 4"
    subjects = {
        3: "bucket",
        4: "stack file",
        5: "Quotas",
        6: "passphrase",
        9: "mail",
        10: "Cost allocation tag",
    }
    assert all(word in steps[number] for number, word in subjects.items()), (
        "other sections name them by number"
    )


def test_sessions_go_by_connect_and_only_what_runs_is_installed() -> None:
    assert "aws ssm " not in PAGE
    assert not re.search(r"`make setup`", PAGE)


def test_the_first_night_is_told_by_the_codes_numbers() -> None:
    assert BOOT_FAILURES == 3
    assert "Three failed boots within an hour\ntake the group to zero" in PAGE
    assert f"at `boot` ({Group.model_fields['boot'].default} if absent)" in PAGE


def test_a_volumes_disk_is_found_as_the_node_finds_it() -> None:
    assert f"/dev/disk/by-id/{LINK_PREFIX}vol0123456789abcdef0" in PAGE
