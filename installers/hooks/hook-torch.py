"""PyInstaller: torch without its sources, tests, headers and the parts that only compile or train on many machines.

Takes the place of the hook that comes with PyInstaller, which brings all of torch, compiled and as sources.
"""

from __future__ import annotations

from PyInstaller.utils.hooks import collect_dynamic_libs, collect_submodules

from installers.contents import torch_module_wanted

module_collection_mode = "pyz"
warn_on_missing_hiddenimports = False
hiddenimports = collect_submodules("torch", filter=torch_module_wanted)
binaries = collect_dynamic_libs("torch", search_patterns=["*.so", "*.so.*", "*.dll", "*.dylib"])
