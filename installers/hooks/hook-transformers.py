"""PyInstaller: of transformers only what reads configs and tokenizers.

Its packages find out what is in them by listing their folders and reading the sources, so those of the models that are
kept go along as files; the compiled modules are what runs.
"""

from __future__ import annotations

from PyInstaller.utils.hooks import collect_data_files, copy_metadata

from installers.contents import modules_of, source_wanted, transformers_module_wanted

module_collection_mode = "pyz"
warn_on_missing_hiddenimports = False
hiddenimports = [name for name in modules_of("transformers") if transformers_module_wanted(name)]
datas = [
    entry
    for entry in collect_data_files("transformers", include_py_files=True, includes=["models/**/*.py"])
    if source_wanted(entry[0])
]
# It asks for the versions of these when it is imported.
for name in ("transformers", "tokenizers", "huggingface-hub", "safetensors", "numpy", "packaging", "pyyaml",
             "regex", "tqdm", "torch", "filelock"):  # fmt: skip
    datas += copy_metadata(name)
