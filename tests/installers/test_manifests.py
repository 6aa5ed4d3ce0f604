"""The manifests for other package managers."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from app.version import HOMEPAGE
from installers.manifests.__main__ import TEMPLATES, manifests
from installers.product import COMMAND, IDENTIFIER, version


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """The files of a release that are named in the templates, of a few bytes each."""
    for path in TEMPLATES.rglob("*"):
        for name in re.findall(r"@SHA256 (\S+)@\W", path.read_text(encoding="utf-8") if path.is_file() else ""):
            file = tmp_path / name.replace("@VERSION@", version())
            file.write_bytes(file.name.encode())
    return tmp_path


def test_everything_is_filled_in(release: Path) -> None:
    found = manifests(release)
    assert len(found) == 6
    files = {path.name for path in release.iterdir()}
    ends = ("linux-x86_64.tar.gz", "linux-aarch64.tar.gz", "macos-aarch64.dmg", "windows-x86_64-setup.exe")
    assert files == {f"tenon-{version()}-{end}" for end in ends}
    text = "\n".join(found.values())
    assert re.findall(r"@\w+@|@SHA", text) == []
    for file in files:
        assert hashlib.sha256(file.encode()).hexdigest() in text
    addresses = re.findall(r"https?://[^\s\"')#]+", re.sub(r"#.*", "", text))
    assert all(address.startswith(HOMEPAGE) for address in addresses)


def test_a_file_that_is_not_there_ends_it(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        manifests(tmp_path)


def test_the_manifests_in_yaml_are_whole(release: Path) -> None:
    found = {name: yaml.safe_load(text) for name, text in manifests(release).items() if name.endswith("yaml")}
    flatpak = found[f"flatpak/{IDENTIFIER}.yaml"]
    assert (flatpak["id"], flatpak["command"]) == (IDENTIFIER, COMMAND)
    winget = [value for name, value in found.items() if name.startswith("winget/")]
    assert {value["PackageVersion"] for value in winget} == {version()}


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_the_recipe_for_arch_is_sound(release: Path, tmp_path: Path) -> None:
    path = tmp_path / "PKGBUILD"
    path.write_text(manifests(release)["aur/PKGBUILD"], encoding="utf-8")
    # makepkg reads the variables, sets these two, and does not run a file of its own.
    ignored = "SC2034,SC2154,SC2148"
    done = subprocess.run(
        ["shellcheck", "-s", "bash", "-e", ignored, str(path)], capture_output=True, text=True, check=False
    )
    assert done.stdout == ""


@pytest.mark.skipif(shutil.which("ruby") is None, reason="ruby is not installed")
def test_the_cask_is_ruby(release: Path, tmp_path: Path) -> None:
    path = tmp_path / "tenon.rb"
    path.write_text(manifests(release)["homebrew/tenon.rb"], encoding="utf-8")
    subprocess.run(["ruby", "-c", str(path)], check=True, capture_output=True)
