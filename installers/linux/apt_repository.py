"""A signed apt repository of a release's packages.

``python -m installers.linux.apt_repository --key ID FOLDER FILE...`` has reprepro make it, or add to one that is there.
It needs no program on the server.
"""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path

from app.version import HOMEPAGE
from installers.product import COMMAND, NAME, PUBLISHER, SUMMARY

SUITE = "stable"
COMPONENT = "main"
ADDRESS = f"{HOMEPAGE}/apt"
_KEYRING = f"{COMMAND}-archive-keyring.gpg"


def add_packages(folder: Path, packages: list[Path], key: str) -> None:
    """Put packages into a repository, which is made where there is none.

    Args:
        packages: The .deb files; one of the same version that is there already must be the same file.
        key: The signing key, as gpg names it; gpg asks for its password.

    Raises:
        CalledProcessError: reprepro or gpg refused; their words are on standard error.
    """
    settings = folder / "conf"
    settings.mkdir(parents=True, exist_ok=True)
    fields = {
        "Origin": PUBLISHER, "Label": NAME, "Suite": SUITE, "Codename": SUITE, "Architectures": "amd64 arm64",
        "Components": COMPONENT, "Description": SUMMARY, "SignWith": key,
    }  # fmt: skip
    text = "".join(f"{name}: {value}\n" for name, value in fields.items())
    (settings / "distributions").write_text(text, encoding="utf-8")
    reprepro = ["reprepro", "--basedir", str(folder), "includedeb", SUITE, *map(str, packages)]
    subprocess.run(reprepro, check=True)
    subprocess.run(["gpg", "--yes", "--output", str(folder / _KEYRING), "--export", key], check=True)
    (folder / f"{COMMAND}.sources").write_text(sources(), encoding="utf-8")


def sources() -> str:
    """Return the file for /etc/apt/sources.list.d; the key goes to the folder that it names."""
    fields = {
        "Types": "deb", "URIs": ADDRESS, "Suites": SUITE, "Components": COMPONENT,
        "Signed-By": f"/usr/share/keyrings/{_KEYRING}",
    }  # fmt: skip
    return "".join(f"{name}: {value}\n" for name, value in fields.items())


def main() -> None:
    """Add what the command line names."""
    parser = argparse.ArgumentParser(prog="installers.linux.apt_repository")
    parser.add_argument("--key", required=True, help="the signing key, as gpg names it")
    parser.add_argument("folder", type=Path, help="the repository")
    parser.add_argument("packages", type=Path, nargs="+", help="the .deb files")
    options = parser.parse_args()
    add_packages(options.folder, options.packages, options.key)


if __name__ == "__main__":
    main()
