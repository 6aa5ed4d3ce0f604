"""The portable archive: unpacked anywhere, it runs."""

from __future__ import annotations

import io
import shutil
import tarfile
from datetime import datetime
from pathlib import Path

from installers.linux.desktop import write_share
from installers.product import COMMAND, NAME, ROOT, architecture, version

README = f"""{NAME} {version()}

Start it by a double-click on `{COMMAND}` in this folder, or type ./{COMMAND} in a terminal.
The folder may lie anywhere and have any name; to remove {NAME}, delete it.
Conversations and models are in ~/.local/share/{COMMAND}, settings in ~/.config/{COMMAND}.

The folder share has entries for menus, file managers and man: copy what is in it into
~/.local/share, and put {COMMAND} into PATH.

On a Debian or Ubuntu without a desktop, Qt needs some libraries; {NAME} names those that are missing.
The terms of everything inside are in _internal/licences.
"""


def build_archive(bundle: Path, work: Path, dist: Path, released: datetime) -> Path:
    """Pack the bundle, and what a desktop reads about it, in a folder ``share``.

    All files have the time of the version, so that equal files give an equal archive.
    """
    share = work / "share"
    shutil.rmtree(share, ignore_errors=True)
    write_share(share, released.date())
    name = f"{COMMAND}-{version()}-linux-{architecture()}"
    dist.mkdir(parents=True, exist_ok=True)
    target = dist / f"{name}.tar.gz"

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        entry.mtime = int(released.timestamp())
        return entry

    with tarfile.open(target, "w:gz", compresslevel=6) as archive:
        archive.add(bundle, name, filter=plain)
        archive.add(share, f"{name}/share", filter=plain)
        for file, data in (
            ("README.txt", README.encode("utf-8")),
            ("LICENSE", (ROOT / "LICENSE").read_bytes()),
        ):
            entry = tarfile.TarInfo(f"{name}/{file}")
            entry.size, entry.mode = len(data), 0o644
            archive.addfile(plain(entry), io.BytesIO(data))
    return target
