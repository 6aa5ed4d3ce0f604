"""The .deb and the archive around a bundle of a few bytes."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
import tarfile
from argparse import _SubParsersAction
from configparser import RawConfigParser
from datetime import date, datetime, timezone
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from app.ui.display import _ANYWHERE, _WAYLAND
from app.version import HOMEPAGE
from engine.cli import _parser
from installers.bundle import _tidy
from installers.contents import of_the_system
from installers.linux.appimage import write_appdir
from installers.linux.archive import build_archive
from installers.linux.deb import (
    DEPENDS,
    build_deb,
    control,
    copyright_file,
    debian_architecture,
    debian_version,
    files_around,
    glibc_needed,
)
from installers.linux.desktop import SERVICE, desktop_entry, man_page, metainfo, mime_types
from installers.product import FILE_TYPES, ICON_SIZES_PX, IDENTIFIER, KEYWORDS, NAME, ROOT, SUMMARY, version
from installers.release_notes import release_notes

DAY = date(2026, 11, 21)

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="made on Linux")


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    folder = tmp_path / "bundle" / "tenon"
    inner = folder / "_internal" / "lib"
    inner.mkdir(parents=True)
    (folder / "tenon").write_text("#!/bin/sh\necho a stand-in\n", encoding="utf-8")
    (folder / "tenon").chmod(0o755)
    (inner / "data.txt").write_text("data", encoding="utf-8")
    (folder / "_internal" / "libx.so").symlink_to("lib/data.txt")
    return folder


def test_the_control_file() -> None:
    lines = control(123, "2.31").splitlines()
    fields = dict(line.split(": ", 1) for line in lines if not line.startswith(" "))
    assert fields["Package"] == "tenon"
    assert fields["Version"] == version()
    assert fields["Architecture"] == debian_architecture()
    assert fields["Installed-Size"] == "123"
    assert fields["Depends"].startswith("libc6 (>= 2.31), ")
    assert fields["Description"].lower() == SUMMARY.lower()
    prose = [line for line in lines if line.startswith(" ")]
    assert all(len(line) <= 80 for line in prose)
    assert prose[0].startswith(" Tenon runs")
    assert all(line == " ." or line[1] != " " for line in prose)


@pytest.mark.skipif(shutil.which("dpkg") is None, reason="dpkg is not installed")
def test_a_candidate_sorts_before_its_release() -> None:
    order = ["0.1.9", *map(debian_version, ("0.2.0a1", "0.2.0rc1", "0.2.0rc2", "0.2.0"))]
    assert order[2] == "0.2.0~rc1"
    for earlier, later in pairwise(order):
        subprocess.run(["dpkg", "--compare-versions", earlier, "lt", later], check=True)


def test_what_the_window_needs_is_depended_on_or_inside() -> None:
    # libxkbcommon0 is in the bundle; the others are the system's.
    assert {*_ANYWHERE.values(), *_WAYLAND.values()} - set(DEPENDS) == {"libxkbcommon0"}
    assert all(of_the_system(library) for library in _WAYLAND)


def test_the_desktop_entry() -> None:
    parser = RawConfigParser(delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string(desktop_entry())
    entry = dict(parser["Desktop Entry"])
    assert entry["Name"] == NAME
    assert entry["Exec"] == "tenon %f"
    assert entry["Icon"] == "tenon"
    assert entry["Keywords"] == "".join(f"{word};" for word in KEYWORDS)
    assert entry["MimeType"] == "".join(f"{kind.mime};" for kind in FILE_TYPES)


@pytest.mark.skipif(shutil.which("desktop-file-validate") is None, reason="desktop-file-utils are not installed")
def test_the_desktop_entry_is_valid(tmp_path: Path) -> None:
    path = tmp_path / "tenon.desktop"
    path.write_text(desktop_entry(), encoding="utf-8")
    done = subprocess.run(["desktop-file-validate", str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("appstreamcli") is None, reason="appstream is not installed")
def test_the_metainfo_is_valid(tmp_path: Path) -> None:
    path = tmp_path / f"{IDENTIFIER}.metainfo.xml"
    path.write_text(metainfo(DAY), encoding="utf-8")
    done = subprocess.run(
        ["appstreamcli", "validate", "--no-net", str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_the_service_is_valid(tmp_path: Path) -> None:
    path = tmp_path / "tenon-serve.service"
    path.write_text(SERVICE.replace("ExecStart=tenon ", f"ExecStart={shutil.which('true')} "), encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "--user", "verify", str(path)],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_the_metainfo_names_the_version() -> None:
    root = ElementTree.fromstring(metainfo(DAY))
    release = root.find("releases/release")
    assert release is not None
    assert release.attrib == {"version": version(), "date": "2026-11-21"}
    assert len(release.findall("description/ul/li")) == len(release_notes()) > 0
    assert root.findtext("launchable") == "tenon.desktop"


def test_the_metainfo_shows_pictures_that_are_there() -> None:
    images = [image.text or "" for image in ElementTree.fromstring(metainfo(DAY)).iter("image")]
    assert images
    for image in images:
        assert image.startswith(f"{HOMEPAGE}/screenshots/")
        assert (ROOT / "assets" / "screenshots" / image.rpartition("/")[2]).is_file()


def test_the_file_types_are_known_by_suffix_and_bytes() -> None:
    space = "{http://www.freedesktop.org/standards/shared-mime-info}"
    root = ElementTree.fromstring(mime_types())
    globs = [entry.attrib["pattern"] for entry in root.iter(f"{space}glob")]
    magics = [entry.attrib["value"] for entry in root.iter(f"{space}match")]
    assert globs == ["*.gguf"]
    assert magics == ["GGUF"]


def test_the_man_page_has_every_command() -> None:
    (commands,) = (action for action in _parser()._actions if isinstance(action, _SubParsersAction))
    for name in commands.choices:
        assert f".TP\n.B {name}\n" in man_page(DAY)


@pytest.mark.skipif(shutil.which("man") is None, reason="man is not installed")
def test_the_man_page_formats_without_complaint(tmp_path: Path) -> None:
    path = tmp_path / "tenon.1"
    path.write_text(man_page(DAY), encoding="utf-8")
    done = subprocess.run(["man", "-l", "--warnings", str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "self-test" in done.stdout


def test_everything_around_the_bundle(tmp_path: Path) -> None:
    files_around(tmp_path, DAY)
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if not path.is_dir()}
    assert found == {
        "usr/bin/tenon",
        "usr/share/applications/tenon.desktop",
        "usr/share/doc/tenon/changelog.gz",
        "usr/share/doc/tenon/copyright",
        "usr/share/icons/hicolor/scalable/apps/tenon.svg",
        *(f"usr/share/icons/hicolor/{side}x{side}/apps/tenon.png" for side in ICON_SIZES_PX),
        "usr/share/man/man1/tenon.1.gz",
        f"usr/share/metainfo/{IDENTIFIER}.metainfo.xml",
        "usr/share/mime/packages/tenon.xml",
        "usr/share/systemd/user/tenon-serve.service",
    }
    assert str((tmp_path / "usr/bin/tenon").readlink()) == "../lib/tenon/tenon"
    page = gzip.decompress((tmp_path / "usr/share/man/man1/tenon.1.gz").read_bytes())
    assert page.startswith(b".TH TENON 1")
    assert copyright_file().startswith("Format: ")


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg is not installed")
def test_the_package_holds_the_bundle(bundle: Path, tmp_path: Path) -> None:
    made = build_deb(bundle, tmp_path / "work", tmp_path / "dist", DAY)
    listing = subprocess.run(["dpkg-deb", "--contents", str(made)], capture_output=True, text=True, check=True)
    rows = [line.split(maxsplit=5) for line in listing.stdout.splitlines()]
    assert {row[1] for row in rows} == {"root/root"}
    modes = {row[5]: row[0] for row in rows}
    assert modes["./usr/lib/tenon/tenon"] == "-rwxr-xr-x"
    assert modes["./usr/lib/tenon/_internal/lib/data.txt"] == "-rw-r--r--"
    assert modes["./usr/lib/tenon/_internal/libx.so -> lib/data.txt"] == "lrwxrwxrwx"
    assert modes["./usr/bin/tenon -> ../lib/tenon/tenon"] == "lrwxrwxrwx"
    assert all(mode == "drwxr-xr-x" for place, mode in modes.items() if place.endswith("/"))
    name = subprocess.run(["dpkg-deb", "--field", str(made), "Package"], capture_output=True, text=True, check=True)
    assert name.stdout == "tenon\n"
    assert (bundle / "_internal" / "lib" / "data.txt").read_text(encoding="utf-8") == "data"


def test_only_programs_are_executable(bundle: Path) -> None:
    inner = bundle / "_internal"
    for name in ("libssl.so.3", "torch_shm_manager", "lib/x.cpython-311-x86_64-linux-gnu.so"):
        (inner / name).touch(mode=0o755)
    (inner / "lib" / "data.txt").chmod(0o600)
    _tidy(inner)
    files = [path for path in bundle.rglob("*") if path.is_file() and not path.is_symlink()]
    assert {path.name for path in files if path.stat().st_mode & 0o111} == {"tenon", "torch_shm_manager"}
    assert all(path.stat().st_mode & 0o444 == 0o444 for path in files)


def test_the_archive_runs_where_it_is_unpacked(bundle: Path, tmp_path: Path) -> None:
    released = datetime.fromtimestamp(1_700_000_000, timezone.utc)
    made = build_archive(bundle, tmp_path / "work", tmp_path / "dist", released)
    again = build_archive(bundle, tmp_path / "work", tmp_path / "again", released)
    target = tmp_path / "a näme with spaces"
    with tarfile.open(made) as archive:
        entries = archive.getmembers()
        assert {(entry.uname, entry.uid, entry.mtime) for entry in entries} == {("root", 0, 1_700_000_000)}
        archive.extractall(target)
    with tarfile.open(again) as archive:
        assert [entry.name for entry in archive.getmembers()] == [entry.name for entry in entries]
    folder = next(target.iterdir())
    assert folder.name.startswith(f"tenon-{version()}-linux-")
    assert (folder / "_internal" / "libx.so").read_text(encoding="utf-8") == "data"
    assert (folder / "README.txt").is_file()
    assert (folder / "share" / "applications" / "tenon.desktop").is_file()
    assert (folder / "LICENSE").is_file()
    done = subprocess.run([str(folder / "tenon")], capture_output=True, text=True, check=True)
    assert done.stdout == "a stand-in\n"


def test_an_appdir_has_what_appimagetool_asks_for(bundle: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tenon.AppDir"
    write_appdir(bundle, folder, datetime(2026, 11, 21, tzinfo=timezone.utc))
    done = subprocess.run([str(folder / "AppRun")], capture_output=True, text=True, check=True)
    assert done.stdout == "a stand-in\n"
    entry = (folder / "tenon.desktop").read_text(encoding="utf-8")
    assert "\nExec=tenon %f\n" in entry
    assert "\nIcon=tenon\n" in entry
    assert (folder / ".DirIcon").read_text(encoding="utf-8").lstrip().startswith("<svg")
    assert all(path.exists() for path in folder.rglob("*"))


def test_the_c_library_that_a_bundle_needs(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"\0GLIBC_9.9\0")
    (tmp_path / "a.so").write_bytes(b"\x7fELF..\0GLIBC_2.17\0GLIBC_2.4\0xGLIBC_2.40\0GLIBC_2.3.4\0")
    assert glibc_needed(tmp_path) == "2.17"
