"""The apt repository, with a key of its own and packages of a few bytes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from installers.linux.apt_repository import add_packages

pytestmark = pytest.mark.skipif(
    any(shutil.which(name) is None for name in ("reprepro", "gpg", "gpgv", "dpkg-deb")),
    reason="reprepro or gpg is not installed",
)
KEY = "tenon-test@example.org"


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    home = tmp_path / "gpg"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("GNUPGHOME", str(home))
    options = ["--batch", "--passphrase", "", "--quick-generate-key", KEY, "ed25519", "sign"]
    subprocess.run(["gpg", *options], check=True, capture_output=True)
    return KEY


def package(folder: Path, version: str, architecture: str) -> Path:
    control = folder / f"{version}-{architecture}" / "DEBIAN" / "control"
    control.parent.mkdir(parents=True)
    control.write_text(
        f"Package: tenon\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: A <a@example.org>\n"
        "Section: utils\nPriority: optional\nDescription: stand-in\n"
    )
    target = folder / f"tenon_{version}_{architecture}.deb"
    subprocess.run(["dpkg-deb", "--build", str(control.parents[1]), str(target)], check=True, capture_output=True)
    return target


def test_packages_are_listed_and_signed(tmp_path: Path, key: str) -> None:
    folder = tmp_path / "repository"
    add_packages(folder, [package(tmp_path, "0.1.0", name) for name in ("amd64", "arm64")], key)
    add_packages(folder, [package(tmp_path, "0.2.0~rc1", "amd64")], key)
    release = folder / "dists" / "stable"
    keyring = folder / "tenon-archive-keyring.gpg"
    subprocess.run(["gpgv", "--keyring", str(keyring), str(release / "InRelease")], check=True, capture_output=True)
    listed = (release / "main" / "binary-amd64" / "Packages").read_text(encoding="utf-8")
    assert "Version: 0.2.0~rc1\n" in listed
    assert "Version: 0.1.0\n" in (release / "main" / "binary-arm64" / "Packages").read_text(encoding="utf-8")
    (file,) = (line.split()[1] for line in listed.splitlines() if line.startswith("Filename:"))
    assert (folder / file).is_file()
    assert "Signed-By: /usr/share/keyrings/tenon-archive-keyring.gpg\n" in (folder / "tenon.sources").read_text()
