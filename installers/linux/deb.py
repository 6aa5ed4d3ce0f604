"""The package for Debian, Ubuntu and their relatives."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
from datetime import date
from pathlib import Path

from installers.linux.desktop import write_share
from installers.product import (
    COMMAND,
    CONTACT,
    DESCRIPTION,
    LICENCE,
    PUBLISHER,
    ROOT,
    SUMMARY,
    architecture,
    version,
)

# A library that needs a symbol of a version names the version in its string table.
_NEEDED = re.compile(rb"\0GLIBC_(\d+)\.(\d+)(?:\.\d+)?(?=\0)")
# Packages that hold the libraries which the bundle leaves to the system (contents.py).
DEPENDS = (
    "libstdc++6", "libgcc-s1", "libegl1", "libgl1", "libopengl0", "libglib2.0-0", "libdbus-1-3", "libfontconfig1",
    "libfreetype6", "libx11-6", "libx11-xcb1", "libxcb1", "libwayland-client0", "libwayland-cursor0", "xkb-data",
)  # fmt: skip
# Without the first nothing is fetched, without the second no link and no folder opens.
RECOMMENDS = ("ca-certificates", "xdg-utils")
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def glibc_needed(bundle: Path) -> str:
    """Return the least version of glibc that everything in a folder runs with, such as ``2.36``."""
    newest = (2, 0)
    for path in bundle.rglob("*"):
        if path.is_symlink() or not path.is_file():
            continue
        with path.open("rb") as file:
            if file.read(4) != b"\x7fELF":
                continue
            for found in _NEEDED.finditer(file.read()):
                newest = max(newest, (int(found[1]), int(found[2])))
    return ".".join(map(str, newest))


def debian_architecture() -> str:
    """Return this machine's architecture by Debian's name."""
    return _ARCHITECTURES[architecture()]


def debian_version(own: str) -> str:
    """Return a version by Debian's rules, which sort ``0.2.0~rc1`` before ``0.2.0`` and ``0.2.0rc1`` after it."""
    return re.sub(r"(?<=\d)(?=[a-z])", "~", own)


def control(installed_kb: int, glibc: str) -> str:
    """Return the package's control file; ``glibc`` is the least version that it runs with."""
    fields = {
        "Package": COMMAND,
        "Version": debian_version(version()),
        "Architecture": debian_architecture(),
        "Maintainer": CONTACT,
        "Installed-Size": str(installed_kb),
        "Depends": ", ".join((f"libc6 (>= {glibc})", *DEPENDS)),
        "Recommends": ", ".join(RECOMMENDS),
        "Section": "utils",
        "Priority": "optional",
        "Description": SUMMARY[0].lower() + SUMMARY[1:],
    }
    return "".join(f"{name}: {value}\n" for name, value in fields.items()) + _folded(DESCRIPTION)


def _folded(paragraphs: tuple[str, ...]) -> str:
    lines: list[str] = []
    for paragraph in paragraphs:
        line = ""
        for word in paragraph.split():
            if len(line) + len(word) > 76:
                lines.append(line)
                line = ""
            line += f" {word}"
        lines += [line, " ."]
    return "\n".join(lines[:-1]) + "\n"


def copyright_file() -> str:
    """Return the terms, in Debian's machine-readable format."""
    return f"""Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: {COMMAND}

Files: *
Copyright: {PUBLISHER}
License: {LICENCE}

License: {LICENCE}
 On Debian systems the full text is in /usr/share/common-licenses/Apache-2.0.

Files: usr/lib/{COMMAND}/_internal/*
Copyright: the authors of each package
License: various
 The packages inside, among them Python, PyTorch (BSD-3-Clause), Qt and PySide6 (LGPL-3.0-only), tokenizers
 (Apache-2.0) and NumPy (BSD-3-Clause), come under terms of their own, which lie in
 /usr/lib/{COMMAND}/_internal/licences, a folder for each.
"""


def files_around(root: Path, released: date) -> None:
    """Write everything of the package but the bundle and the control file."""
    share = root / "usr" / "share"
    write_share(share, released)
    about = share / "doc" / COMMAND
    about.mkdir(parents=True)
    (about / "copyright").write_text(copyright_file(), encoding="utf-8")
    (about / "changelog.gz").write_bytes(gzip.compress((ROOT / "CHANGELOG.md").read_bytes(), mtime=0))
    program = root / "usr" / "bin" / COMMAND
    program.parent.mkdir(parents=True)
    program.symlink_to(f"../lib/{COMMAND}/{COMMAND}")


def build_deb(bundle: Path, work: Path, dist: Path, released: date) -> Path:
    """Wrap the bundle."""
    root = work / "deb"
    shutil.rmtree(root, ignore_errors=True)
    files_around(root, released)
    # Hard links: a second copy of half a gigabyte would only be read once.
    shutil.copytree(bundle, root / "usr" / "lib" / COMMAND, symlinks=True, copy_function=os.link)
    for folder in (path for path in (root, *root.rglob("*")) if path.is_dir() and not path.is_symlink()):
        folder.chmod(0o755)
    sizes = (path.lstat().st_size for path in root.rglob("*") if not path.is_dir())
    (root / "DEBIAN").mkdir()
    (root / "DEBIAN" / "control").write_text(control(sum(sizes) // 1024, glibc_needed(bundle)), encoding="utf-8")
    target = dist / f"{COMMAND}_{version()}_{debian_architecture()}.deb"
    dist.mkdir(parents=True, exist_ok=True)
    # xz: every release that is still maintained reads it.
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "-z6", "--build", str(root), str(target)], check=True)
    shutil.rmtree(root)
    return target
