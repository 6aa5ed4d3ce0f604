"""PyInstaller: PDFium itself, which its package opens by its place in the folder."""

from __future__ import annotations

from PyInstaller.utils.hooks import collect_dynamic_libs

binaries = collect_dynamic_libs("pypdfium2_raw")
