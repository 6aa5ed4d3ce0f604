"""PyInstaller: the folders of fonts that formulas are typeset with, which are opened as packages of files."""

from __future__ import annotations

hiddenimports = ["ziamath.fonts", "ziafont.fonts"]
