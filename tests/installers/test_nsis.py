"""The Windows installer: its list of files, and that makensis compiles it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest

from installers.product import FILE_TYPES, NAME, version
from installers.windows import nsis
from installers.windows.nsis import SCRIPT, build_nsis, bundle_files, file_list
from tests.package_trials.windows_installer import listed, names_on_windows, write_stand_in

FILES = (f"{NAME}.exe", "_internal/a/b.dll", "_internal/a/c/Bücher $5.txt", "_internal/z.txt")


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    folder = tmp_path / "a bundle"
    for name in FILES:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
    return folder


def macro(text: str, name: str) -> list[str]:
    found = re.search(rf"!macro {name}\n(.*?)!macroend", text, re.DOTALL)
    assert found is not None
    return [line.strip() for line in found[1].splitlines()]


def installed(lines: list[str]) -> list[str]:
    """Replay SetOutPath and File: where each file ends up."""
    folder, places = "", []
    for line in lines:
        command, _, value = line.partition(" ")
        value = value.strip('"')
        if command == "SetOutPath":
            folder = value
        else:
            assert command == "File"
            places.append(f"{folder}\\{PurePosixPath(value).name}")
    return places


def test_every_file_is_installed_and_removed_and_nothing_else(bundle: Path) -> None:
    text = file_list(bundle, bundle_files(bundle))
    expected = sorted("$INSTDIR\\" + name.replace("/", "\\").replace("$", "$$") for name in FILES)
    assert sorted(installed(macro(text, "install_files"))) == [place.replace("$$", "$") for place in expected]
    removal = macro(text, "uninstall_files")
    deleted = [line[8:-1] for line in removal if line.startswith("Delete ")]
    assert sorted(deleted) == expected
    assert "/r" not in " ".join(removal)


def test_folders_go_after_what_is_in_them(bundle: Path) -> None:
    removal = macro(file_list(bundle, bundle_files(bundle)), "uninstall_files")
    folders = [line[7:-1] for line in removal if line.startswith("RMDir ")]
    assert folders == [
        "$INSTDIR\\_internal\\a\\c",
        "$INSTDIR\\_internal\\a",
        "$INSTDIR\\_internal",
    ]
    assert removal.index('RMDir "$INSTDIR\\_internal\\a\\c"') > max(
        number for number, line in enumerate(removal) if line.startswith("Delete ")
    )


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_links_are_no_files(bundle: Path) -> None:
    (bundle / "link").symlink_to("_internal/z.txt")
    assert len(bundle_files(bundle)) == len(FILES)


def test_file_types_are_offered_and_taken_back(bundle: Path) -> None:
    text = file_list(bundle, bundle_files(bundle))
    register, unregister = macro(text, "register_file_types"), macro(text, "unregister_file_types")
    for kind in FILE_TYPES:
        assert any(f'{kind.suffix}\\OpenWithProgids"' in line for line in register)
        assert any(line.startswith("DeleteRegValue") and kind.suffix in line for line in unregister)
    assert all(" HKCU " in line for line in (*register, *unregister))


def test_the_script_asks_for_no_rights_and_keeps_data_unless_told() -> None:
    text = SCRIPT.read_text(encoding="utf-8")
    assert "RequestExecutionLevel user" in text
    assert "HKLM" not in text
    assert "SetShellVarContext all" not in text
    question = next(line for line in text.splitlines() if "Delete your conversations" in line)
    assert "MB_DEFBUTTON2" in question
    assert "/SD IDNO IDNO done" in question


@pytest.mark.skipif(shutil.which("makensis") is None, reason="makensis is not installed")
def test_it_compiles(bundle: Path, tmp_path: Path) -> None:
    made = build_nsis(bundle, tmp_path / "work", tmp_path / "dist")
    assert made.name == f"tenon-{version()}-windows-x86_64-setup.exe"
    assert made.read_bytes()[:2] == b"MZ"


@pytest.mark.skipif(shutil.which("makensis") is None, reason="makensis is not installed")
def test_a_candidate_compiles(bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nsis, "version", lambda: "0.2.0rc1")
    made = build_nsis(bundle, tmp_path / "work", tmp_path / "dist")
    assert made.name == "tenon-0.2.0rc1-windows-x86_64-setup.exe"


@pytest.mark.skipif(sys.platform == "win32", reason="the command is a shell's")
@pytest.mark.skipif(shutil.which("makensis") is None, reason="makensis is not installed")
def test_programs_installer_and_uninstaller_are_signed(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed = tmp_path / "signed"
    monkeypatch.setenv(nsis.SIGNING, f"basename -a >>{signed}")
    made = build_nsis(bundle, tmp_path / "work", tmp_path / "dist")
    names = signed.read_text(encoding="utf-8").splitlines()
    assert [names[0], names[-1], len(names)] == [f"{NAME}.exe", made.name, 3]  # between them the uninstaller
    monkeypatch.setenv(nsis.SIGNING, "false")
    with pytest.raises(subprocess.CalledProcessError):
        build_nsis(bundle, tmp_path / "work", tmp_path / "dist")


@pytest.mark.skipif(shutil.which("makensis") is None, reason="makensis is not installed")
def test_a_file_that_is_gone_fails_the_build(bundle: Path, tmp_path: Path) -> None:
    text = file_list(bundle, [*bundle_files(bundle), PurePosixPath("gone.dll")])
    (tmp_path / "files.nsh").write_text(text, encoding="utf-8-sig")
    done = subprocess.run(
        [
            "makensis",
            "-V1",
            f"-DFILE_LIST={tmp_path / 'files.nsh'}",
            f"-DOUTPUT={tmp_path / 'x.exe'}",
            str(SCRIPT),
        ],
        capture_output=True,
        check=False,
        env={**os.environ},
    )
    assert done.returncode != 0


@pytest.mark.skipif(
    shutil.which("makensis") is None or shutil.which("7z") is None, reason="makensis or 7z is not installed"
)
def test_what_is_in_the_installer_is_the_bundle(bundle: Path, tmp_path: Path) -> None:
    made = build_nsis(bundle, tmp_path / "work", tmp_path / "dist")
    assert listed(made) == {PurePosixPath(name) for name in FILES}
    write_stand_in(names_on_windows([PurePosixPath("tenon"), PurePosixPath("_internal/x")]), tmp_path / "other")
    assert bundle_files(tmp_path / "other") == [PurePosixPath(f"{NAME}.exe"), PurePosixPath("_internal/x")]
