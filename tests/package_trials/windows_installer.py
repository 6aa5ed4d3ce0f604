"""Compiles the Windows installer around a stand-in for a bundle, and compares what is in it with the bundle.

``python -m tests.package_trials.windows_installer BUNDLE`` needs makensis and 7z, and runs on any system: the
stand-in has the bundle's files by name, with a few bytes in each.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from installers.product import COMMAND
from installers.windows.nsis import PROGRAM, build_nsis, bundle_files

# Files that every installer of this kind brings beside its payload.
_OWN = ("$PLUGINSDIR/", "uninstall.exe")


def names_on_windows(files: Iterable[PurePosixPath]) -> list[PurePosixPath]:
    """Return a bundle's files, the program by the name that it has on Windows."""
    return [PurePosixPath(PROGRAM) if file == PurePosixPath(COMMAND) else file for file in files]


def write_stand_in(files: Iterable[PurePosixPath], folder: Path) -> None:
    """Files of these names, with a few bytes in each."""
    for file in files:
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(file), encoding="utf-8")


def listed(installer: Path) -> set[PurePosixPath]:
    """Return the payload of an installer, as 7z reads it.

    Raises:
        CalledProcessError: it is none, or damaged.
    """
    done = subprocess.run(["7z", "l", "-slt", "-sccUTF-8", str(installer)], capture_output=True, check=True)
    lines = done.stdout.decode("utf-8").splitlines()
    paths = [line.removeprefix("Path = ").replace("\\", "/") for line in lines if line.startswith("Path = ")]
    return {PurePosixPath(path) for path in paths[1:] if not path.startswith(_OWN)}  # the first is the file itself


def main() -> int:
    """Compile, compare and say what differs; the exit code."""
    files = names_on_windows(bundle_files(Path(sys.argv[1])))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_stand_in(files, folder / "bundle")
        installer = build_nsis(folder / "bundle", folder / "work", folder / "dist")
        inside, size_bytes = listed(installer), installer.stat().st_size
    for file in sorted(set(files) ^ inside):
        print(f"{'missing' if file not in inside else 'too much'}: {file}")
    same = set(files) == inside
    print(f"{len(inside)} files in an installer of {size_bytes} bytes, {'all' if same else 'NOT'} those of the bundle")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
