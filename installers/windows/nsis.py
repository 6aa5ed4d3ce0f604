"""Wraps the bundle in an installer for Windows, with makensis, which runs on Linux too."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from installers.icons import write_ico
from installers.product import COMMAND, FILE_TYPES, NAME, PUBLISHER, SUMMARY, numbers, version

SCRIPT = Path(__file__).with_name("tenon.nsi")
PROGRAM = f"{NAME}.exe"
SIGNING = "TENON_SIGN_COMMAND"
"""Environment variable with a command that signs the file whose path is put behind it, such as ``signtool sign /sha1
THUMBPRINT /fd sha256 /tr ADDRESS /td sha256``: programs, installer and uninstaller. Without it nothing is signed."""

UNINSTALL_KEY = rf"Software\Microsoft\Windows\CurrentVersion\Uninstall\{NAME}"
_CLASSES = r"Software\Classes"


def bundle_files(bundle: Path) -> list[PurePosixPath]:
    """Every file of a bundle, relative to it, sorted."""
    found = (path for path in bundle.rglob("*") if path.is_file() and not path.is_symlink())
    return sorted(PurePosixPath(path.relative_to(bundle).as_posix()) for path in found)


def file_list(bundle: Path, files: Iterable[PurePosixPath]) -> str:
    """Return the macros that install and uninstall exactly these files and register the file types.

    A removal by list never takes a file that somebody else put into the folder.

    Args:
        bundle: Folder of the files while the installer is built.
        files: Relative to it.
    """
    files = list(files)
    install, uninstall = [], []
    folder: PurePosixPath | None = None
    for file in files:
        if file.parent != folder:
            folder = file.parent
            install.append(f'SetOutPath "$INSTDIR{_below(folder)}"')
        install.append(f'File "{bundle / file}"')
        uninstall.append(f'Delete "$INSTDIR{_below(file)}"')
    folders = {parent for file in files for parent in file.parents if parent != PurePosixPath(".")}
    deepest_first = sorted(folders, key=lambda path: (-len(path.parts), path))
    uninstall += [f'RMDir "$INSTDIR{_below(path)}"' for path in deepest_first]
    register, unregister = _file_type_lines()
    return "".join(
        _macro(name, lines)
        for name, lines in (
            ("install_files", install),
            ("uninstall_files", uninstall),
            ("register_file_types", register),
            ("unregister_file_types", unregister),
        )
    )


def _file_type_lines() -> tuple[list[str], list[str]]:
    """Tenon is offered under "Open with"; a program that has the type already keeps it."""
    register, unregister = [], []
    for kind in FILE_TYPES:
        program_id = f"{NAME}{kind.suffix}"
        key = rf"{_CLASSES}\{program_id}"
        register += [
            f'WriteRegStr HKCU "{key}" "" "{kind.title}"',
            rf'WriteRegStr HKCU "{key}\DefaultIcon" "" "$INSTDIR\{PROGRAM},0"',
            rf"""WriteRegStr HKCU "{key}\shell\open\command" "" '"$INSTDIR\{PROGRAM}" "%1"'""",
            rf'WriteRegStr HKCU "{_CLASSES}\{kind.suffix}\OpenWithProgids" "{program_id}" ""',
        ]
        unregister += [
            f'DeleteRegKey HKCU "{key}"',
            rf'DeleteRegValue HKCU "{_CLASSES}\{kind.suffix}\OpenWithProgids" "{program_id}"',
        ]
    return register, unregister


def _below(path: PurePosixPath) -> str:
    return "".join(f"\\{_literal(part)}" for part in path.parts)


def _literal(text: str) -> str:
    """Return a text for a quoted NSIS string, where a dollar begins a variable."""
    return text.replace("$", "$$")


def _macro(name: str, lines: Iterable[str]) -> str:
    return f"!macro {name}\n" + "".join(f"  {line}\n" for line in lines) + "!macroend\n\n"


def build_nsis(bundle: Path, work: Path, dist: Path) -> Path:
    """Build the installer, on Windows.

    Raises:
        CalledProcessError: makensis found a fault, or a file could not be signed; their words are on standard output.
    """
    work.mkdir(parents=True, exist_ok=True)
    dist.mkdir(parents=True, exist_ok=True)
    listed, icon = work / "files.nsh", work / "tenon.ico"
    # makensis tells UTF-8 from an old code page by the mark at the beginning.
    listed.write_text(file_list(bundle, bundle_files(bundle)), encoding="utf-8-sig")
    write_ico(icon)
    target = dist / f"{COMMAND}-{version()}-windows-x86_64-setup.exe"
    defines = {
        "NAME": NAME, "VERSION": version(), "NUMBERS": numbers(version()), "SUMMARY": SUMMARY,
        "PUBLISHER": PUBLISHER, "PROGRAM": PROGRAM, "DATA": COMMAND, "UNINSTALL_KEY": UNINSTALL_KEY,
        "OUTPUT": str(target), "ICON": str(icon), "FILE_LIST": str(listed),
    }  # fmt: skip
    signing = os.environ.get(SIGNING)
    if signing:
        defines["SIGN"] = signing
        for program in bundle.glob("*.exe"):
            subprocess.run(f'{signing} "{program}"', shell=True, check=True)
    command = ["makensis", "-V2", "-WX", "-INPUTCHARSET", "UTF8"]
    command += [f"-D{name}={value}" for name, value in defines.items()]
    subprocess.run([*command, str(SCRIPT)], check=True)
    return target
