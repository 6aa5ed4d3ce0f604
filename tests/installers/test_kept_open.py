"""The modules of a program whose file another version replaces while it runs."""

from __future__ import annotations

import importlib
import os
import runpy
import sys
import zipfile
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from installers.product import ROOT

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="nothing is replaced elsewhere")


def write_library(path: Path, *names: str) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(f"{name}.py", f"said = {path.name!r}\n")


def test_late_imports_come_from_the_file_that_was_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, library, other = (tmp_path / name for name in ("tenon", "library.zip", "new.zip"))
    program.write_text("the one that runs")
    write_library(library, "tenon_early_module", "tenon_late_module")
    write_library(other, "something_else")
    monkeypatch.syspath_prepend(str(library))
    importlib.import_module("tenon_early_module")
    importers = ModuleType("pyimod02_importers")
    archive = SimpleNamespace(_filename=str(program))  # as PyInstaller's ZlibArchiveReader
    vars(importers)["pyz_archive"] = archive
    monkeypatch.setitem(sys.modules, "pyimod02_importers", importers)
    monkeypatch.setattr(sys, "path_importer_cache", {str(library): sys.path_importer_cache[str(library)]})

    runpy.run_path(str(ROOT / "installers" / "hooks" / "kept_open.py"))
    (tmp_path / "new").write_text("another one")
    os.replace(tmp_path / "new", program)
    os.replace(other, library)

    assert Path(archive._filename).read_text() == "the one that runs"
    late = importlib.import_module("tenon_late_module")
    assert late.said == "library.zip"
    for name in ("tenon_early_module", "tenon_late_module"):
        del sys.modules[name]
    for kept in (archive._filename, sys.path_importer_cache[str(library)].archive):  # type: ignore[union-attr]
        os.close(int(Path(kept).name))
