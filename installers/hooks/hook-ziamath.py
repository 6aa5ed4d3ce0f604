"""PyInstaller: the fonts and tables that formulas are typeset with."""

from __future__ import annotations

from PyInstaller.utils.hooks import collect_data_files

datas = [*collect_data_files("ziamath"), *collect_data_files("ziafont"), *collect_data_files("latex2mathml")]
hiddenimports = ["ziamath.fonts", "ziafont.fonts"]  # opened as packages of files
