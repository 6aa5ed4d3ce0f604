"""The AppImage: the bundle as one file that runs from anywhere. Not built yet where Tenon is developed.

It is made where appimagetool is in PATH: https://docs.appimage.org/packaging-guide/manual.html
"""

from __future__ import annotations

import os
import shutil
import subprocess
from datetime import datetime
from pathlib import Path

from installers.linux.desktop import write_share
from installers.product import COMMAND, architecture, version


def write_appdir(bundle: Path, folder: Path, released: datetime) -> None:
    """Lay out what goes into the image, anew, with links to the bundle's files."""
    shutil.rmtree(folder, ignore_errors=True)
    write_share(folder / "usr" / "share", released.date())
    shutil.copytree(bundle, folder / "usr" / "lib" / COMMAND, symlinks=True, copy_function=os.link)
    for name, target in (
        ("AppRun", f"usr/lib/{COMMAND}/{COMMAND}"),
        (f"{COMMAND}.desktop", f"usr/share/applications/{COMMAND}.desktop"),
        (f"{COMMAND}.svg", f"usr/share/icons/hicolor/scalable/apps/{COMMAND}.svg"),
        (".DirIcon", f"{COMMAND}.svg"),
    ):
        (folder / name).symlink_to(target)


def build_appimage(bundle: Path, work: Path, dist: Path, released: datetime) -> Path:
    """Make the image.

    Raises:
        CalledProcessError: appimagetool failed.
    """
    folder = work / f"{COMMAND}.AppDir"
    write_appdir(bundle, folder, released)
    dist.mkdir(parents=True, exist_ok=True)
    target = dist / f"{COMMAND}-{version()}-linux-{architecture()}.AppImage"
    subprocess.run(["appimagetool", "--no-appstream", str(folder), str(target)], check=True)
    shutil.rmtree(folder)
    return target
