"""PyInstaller: torch without its sources, tests, headers and the parts that only compile or train on many machines.

Takes the place of the hook that comes with PyInstaller, which brings all of torch, compiled and as sources.
"""

from __future__ import annotations

from PyInstaller.utils.hooks import collect_data_files, collect_dynamic_libs

from installers.contents import modules_of, source_wanted, torch_module_wanted

module_collection_mode = "pyz"
warn_on_missing_hiddenimports = False
hiddenimports = [name for name in modules_of("torch") if torch_module_wanted(name)]
binaries = collect_dynamic_libs("torch", search_patterns=["*.so", "*.so.*", "*.dll", "*.dylib"])
# torch looks for this program when it is imported.
datas = collect_data_files("torch", includes=["bin/torch_shm_manager*"])
datas += [
    entry
    for entry in collect_data_files("torch", include_py_files=True, includes=["**/*.py"])
    if source_wanted(entry[0])
]
