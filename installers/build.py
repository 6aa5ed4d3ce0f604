"""Builds the installers for the system that it runs on: ``python installers/build.py``.

Linux: a .deb and a portable archive; Windows: an installer; macOS: a disk image; and with each its parts list (SBOM)
and checksums. It needs an environment with what constraints.txt and installers/requirements.txt name, torch as its
CPU build; installers/README.md has the commands.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from datetime import datetime, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from engine.kernels.build import BuildFailed
from installers.bundle import build_bundle, program_folder
from installers.bundled_model import NotFetched
from installers.checksums import write_checksums
from installers.linux.appimage import build_appimage
from installers.linux.archive import build_archive
from installers.linux.deb import build_deb
from installers.macos.dmg import build_dmg
from installers.parts_list import write_parts_list
from installers.product import COMMAND, NAME, ROOT, version
from installers.sizes import size_table
from installers.windows.nsis import build_nsis


def release_time() -> datetime:
    """Return the time of this version: SOURCE_DATE_EPOCH, else now."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    return datetime.now(timezone.utc) if seconds is None else datetime.fromtimestamp(int(seconds), timezone.utc)


def build_packages(bundle: Path, work: Path, dist: Path) -> list[Path]:
    """Wrap the bundle in every package of this system; the files made."""
    released = release_time()
    if sys.platform == "win32":
        return [build_nsis(bundle, work, dist)]
    if sys.platform == "darwin":
        return [build_dmg(bundle.parent / f"{NAME}.app", work, dist)]
    packages = [build_archive(bundle, work, dist, released)]
    if shutil.which("dpkg-deb"):
        packages.append(build_deb(bundle, work, dist, released.date()))
    if shutil.which("appimagetool"):
        packages.append(build_appimage(bundle, work, dist, released))
    return packages


def main(arguments: list[str] | None = None) -> int:
    """Build what is asked for; the exit code."""
    parser = argparse.ArgumentParser(prog="installers/build.py", description=f"Builds {NAME} {version()}.")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="where the packages go (default: dist)")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "installers", help="for what is made on the way")
    parser.add_argument("--bundle-only", action="store_true", help="make the folder and no packages")
    parser.add_argument("--keep-bundle", action="store_true", help="wrap the folder that an earlier build made")
    parser.add_argument("--sizes", action="store_true", help="only print what takes the space in that folder")
    options = parser.parse_args(arguments)
    os.environ["PYTHONUTF8"] = "1"  # of every Python that is run: Windows' own is a code page
    work, dist = options.work.resolve(), options.dist.resolve()
    bundle = work / "bundle" / COMMAND
    if options.sizes:
        print(size_table(program_folder(bundle)))
        return 0
    if not options.keep_bundle:
        try:
            build_bundle(work, bundle.parent)
        except (BuildFailed, NotFetched) as error:
            print(error, file=sys.stderr)
            return 1
    if options.bundle_only:
        print(bundle)
        return 0
    packages = build_packages(bundle, work, dist)
    packages.append(write_parts_list(dist))
    packages.append(write_checksums(packages, dist))
    for package in packages:
        print(f"{package.stat().st_size / 1e6:8.1f} MB  {package}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
