"""Builds the bundle: the app as one folder that needs no Python."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

from engine.kernels.build import BuildFailed, library_name, provide_library
from installers.bundled_model import fetch_model
from installers.components import components
from installers.contents import of_the_system
from installers.icons import write_icns, write_ico
from installers.linux.icu import slim
from installers.product import COMMAND, LICENCE, NAME, ROOT, SUMMARY, version

# Symbols that only a debugger reads: a fifth of torch's library. The others come stripped, or were patched for their
# wheel, after which strip may break them.
_STRIPPED = (
    "torch/lib/libtorch_cpu.so", "torch/lib/libtorch_python.so", "torch/lib/libc10.so",
    "tokenizers/tokenizers.abi3.so", "cryptography/hazmat/bindings/_rust.abi3.so", "safetensors/*.so", "yaml/*.so",
    "libpython3*", "python3*/lib-dynload/*.so",
)  # fmt: skip


def build_bundle(work: Path, dist: Path) -> Path:
    """Build the bundle, and return its folder; on macOS the ``.app`` lies beside it.

    Raises:
        CalledProcessError: PyInstaller failed.
        BuildFailed: the kernels could not be built, or libraries of Qt are missing on this system.
        NotFetched: the bundled model could not be had.
    """
    fetch_model()
    native = work / "native"
    shutil.rmtree(native, ignore_errors=True)
    native.mkdir(parents=True)
    provide_library(native / library_name())
    _write_metadata(native / f"{COMMAND}-{version()}.dist-info")
    _copy_licences(native / "licences")
    write_ico(native / "tenon.ico")
    write_icns(native / "tenon.icns")
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "TENON_BUNDLE_PARTS": str(native)}
    environment["PYTHONHASHSEED"] = "0"  # equal bytes from equal sources
    subprocess.run(
        [sys.executable, "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN", "--distpath", str(dist),
         "--workpath", str(work), str(ROOT / "installers" / "tenon.spec")],
        check=True, cwd=ROOT, env=environment,
    )  # fmt: skip
    folder = dist / COMMAND
    _tidy(folder / "_internal")
    if sys.platform == "linux" and (missing := missing_libraries(folder / "_internal")):
        raise BuildFailed(f"This system lacks {', '.join(missing)}: install what .ci/run names, and build again.")
    return folder


def missing_libraries(inner: Path) -> list[str]:
    """Return the libraries that a bundle loads and that are neither in it nor left to the system, by name."""
    inside = [path for path in inner.rglob("*.so*") if not path.is_symlink()]
    said = subprocess.run(["readelf", "--dynamic", *map(str, inside)], check=True, capture_output=True, text=True)
    needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", said.stdout)) - {path.name for path in inside}
    return sorted(name for name in needed if not of_the_system(name))


def _write_metadata(folder: Path) -> None:
    """Write the metadata that the app reads its own version from."""
    folder.mkdir()
    lines = ("Metadata-Version: 2.1", f"Name: {COMMAND}", f"Version: {version()}", f"Summary: {SUMMARY}",
             f"License: {LICENCE}")  # fmt: skip
    (folder / "METADATA").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _copy_licences(folder: Path) -> None:
    """Copy the terms of everything inside into a folder for each package."""
    own = folder / COMMAND
    own.mkdir(parents=True)
    shutil.copyfile(ROOT / "LICENSE", own / "LICENSE")
    for component in components():
        for number, file in enumerate(component.licence_files()):
            target = folder / component.name / file.name
            if target.exists():
                target = target.with_name(f"{number}-{file.name}")
            target.parent.mkdir(exist_ok=True)
            shutil.copyfile(file, target)


def _tidy(inner: Path) -> None:
    """Take away what nothing uses, and let everyone read the rest."""
    for path in inner.iterdir():
        # To a library that was left out, or to one of torch's: those find each other, and GPU support that is fetched
        # later must find its own.
        if path.is_symlink() and (not path.exists() or path.readlink().parts[0] == "torch"):
            path.unlink()
    if sys.platform == "linux":
        for pattern in _STRIPPED:
            for library in inner.glob(pattern):
                subprocess.run(["strip", "--strip-unneeded", str(library)], check=True)
        for library in inner.glob("PySide6/Qt/lib/libicudata.so.*"):
            slim(library)
    for path in (inner.parent, *inner.parent.rglob("*")):
        if path.is_symlink():
            continue
        program = path.stat().st_mode & stat.S_IXUSR and ".so" not in path.name
        path.chmod(0o755 if program or path.is_dir() else 0o644)


def program_folder(folder: Path) -> Path:
    """Folder with the program and its inner folder: on macOS the ``.app``."""
    return folder.with_name(f"{NAME}.app") if sys.platform == "darwin" else folder
