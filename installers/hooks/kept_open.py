"""Runs first in the bundle: keeps the archives of modules open, so that an update does not take them away.

A package manager puts the new version's file in the place of the one that runs, and PyInstaller's importer opens that
file by its name for each import, with the old one's table of contents.
"""

import os
import sys
import zipimport

import pyimod02_importers


def _kept_open(path: str) -> str:
    """Another name of a file, which stays that of this one; the same name where the system has no such names."""
    name = f"/proc/self/fd/{os.open(path, os.O_RDONLY)}"
    return name if os.path.exists(name) else path


if sys.platform.startswith("linux"):
    pyimod02_importers.pyz_archive._filename = _kept_open(pyimod02_importers.pyz_archive._filename)
    for importer in tuple(sys.path_importer_cache.values()):
        if isinstance(importer, zipimport.zipimporter):  # of base_library.zip
            importer.archive = _kept_open(importer.archive)
