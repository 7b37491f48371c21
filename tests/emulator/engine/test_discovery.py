"""Where the Terraform provider and the official tools are looked for, and what a lack of them says."""

from pathlib import Path

import pytest

from nightshift.emulator.engine import official, terraform
from nightshift.emulator.engine.errors import ToolchainError


def _provider(root: Path, version: str = "5.100.0", host: str = "registry.example.org") -> Path:
    folder = root / host / "hashicorp" / "aws" / version / terraform.terraform_platform()
    folder.mkdir(parents=True)
    path = folder / f"terraform-provider-aws_v{version}_x5"
    path.write_text("")
    path.chmod(0o755)
    return path


def _find(environment: dict[str, str], roots: tuple[Path, ...] = ()) -> terraform.TerraformProvider:
    return terraform.find_provider(environment, tuple(str(root) for root in roots))


def test_the_variable_wins(tmp_path: Path) -> None:
    given = _provider(tmp_path / "a", "5.90.0")
    _provider(tmp_path / "b")
    found = _find({terraform.VARIABLE: str(given), "HOME": str(tmp_path)}, (tmp_path / "b",))
    assert found == terraform.TerraformProvider(given, "5.90.0")


@pytest.mark.parametrize("place", [".terraform.d/plugins", ".terraform.d/plugin-cache"])
def test_terraforms_own_folders_are_searched(tmp_path: Path, place: str) -> None:
    path = _provider(tmp_path / place)
    assert _find({"HOME": str(tmp_path)}).path == path


def test_the_plugin_cache_variable_is_searched(tmp_path: Path) -> None:
    path = _provider(tmp_path / "cache")
    assert _find({"HOME": str(tmp_path), "TF_PLUGIN_CACHE_DIR": str(tmp_path / "cache")}).path == path


@pytest.mark.parametrize(
    "text",
    [
        'provider_installation {{\n  filesystem_mirror {{\n path = "{0}"\n include = ["*/*"]\n  }}\n}}\n',
        'plugin_cache_dir = "{0}"\n',
    ],
)
def test_the_configuration_file_is_read(tmp_path: Path, text: str) -> None:
    path = _provider(tmp_path / "mirror")
    config = tmp_path / "rc"
    config.write_text(text.format(tmp_path / "mirror"))
    assert _find({"HOME": str(tmp_path), "TF_CLI_CONFIG_FILE": str(config)}).path == path


def test_a_mirror_below_a_system_folder_is_found(tmp_path: Path) -> None:
    path = _provider(tmp_path / "system" / "plugins")
    assert _find({"HOME": str(tmp_path)}, (tmp_path / "system",)).path == path


def test_the_newest_fitting_version_is_taken_by_number(tmp_path: Path) -> None:
    _provider(tmp_path, "5.99.0")
    _provider(tmp_path, "6.1.0")
    newest = _provider(tmp_path, "5.100.0")
    assert _find({"HOME": str(tmp_path)}, (tmp_path,)) == terraform.TerraformProvider(newest, "5.100.0")


def test_nothing_found_says_where_and_what_to_do(tmp_path: Path) -> None:
    _provider(tmp_path, "6.1.0")
    with pytest.raises(ToolchainError) as caught:
        _find({"HOME": str(tmp_path)}, (tmp_path,))
    error = caught.value
    assert str(tmp_path) in error.why
    assert "found only 6.1.0" in error.why
    assert terraform.VARIABLE in error.remedy
    assert "what to do: " in str(error)


@pytest.mark.parametrize("name", ["missing", "terraform-provider-aws_v6.1.0_x5"])
def test_a_variable_that_names_the_wrong_thing_is_refused(tmp_path: Path, name: str) -> None:
    if name != "missing":
        (tmp_path / name).touch(0o755)
    with pytest.raises(ToolchainError, match=terraform.VARIABLE):
        _find({terraform.VARIABLE: str(tmp_path / name)})


def _cli(folder: Path, version: str, host: bool = True) -> dict[str, str]:
    folder.mkdir()
    (folder / "pulumi").write_text(f"#!/bin/sh\necho v{version}\n")
    (folder / "pulumi").chmod(0o755)
    if host:
        (folder / "pulumi-language-python").touch(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin", "HOME": str(folder), "NIGHTSHIFT_CACHE": str(folder / "cache")}


def test_an_official_cli_with_its_language_host_is_taken(tmp_path: Path) -> None:
    cli = official.find_cli(_cli(tmp_path / "bin", "3.274.1"))
    assert cli == official.OfficialCli(tmp_path / "bin" / "pulumi", "3.274.1")


@pytest.mark.parametrize(("version", "host"), [("3.100.0", True), ("3.274.1", False), ("", True)])
def test_an_old_or_lame_cli_is_not(tmp_path: Path, version: str, host: bool) -> None:
    assert official.find_cli(_cli(tmp_path / "bin", version, host)) is None


def test_an_installed_plugin_is_found_and_a_refused_install_is_not_tried_again(tmp_path: Path) -> None:
    environment = _cli(tmp_path / "bin", "3.274.1")
    cli = official.find_cli(environment)
    assert cli is not None
    said: list[str] = []
    home, why = official.find_plugin(cli, said.append, environment)
    assert home is None
    assert "could not be installed" in why
    assert said
    assert official.find_plugin(cli, pytest.fail, environment) == (None, why)
    plugin = tmp_path / "home" / "plugins" / f"resource-aws-v{official.version('pulumi-aws')}"
    plugin.mkdir(parents=True)
    (plugin / "pulumi-resource-aws").touch(0o755)
    environment["PULUMI_HOME"] = str(tmp_path / "home")
    assert official.find_plugin(cli, pytest.fail, environment) == (tmp_path / "home", "")
