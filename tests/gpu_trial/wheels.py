"""Collects what the trial needs beside Python, torch and numpy: ``python -m tests.gpu_trial.wheels FOLDER``.

Wheels of Python 3.10 to 3.13 on Linux with x86_64, in the versions of constraints.txt where these are for it, and the
kernel library as it is built here. Packages that come with torch, or that only the window or the network need, are left
out.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from engine.kernels.build import build_library, library_name

_MOST_BYTES = 60_000_000
_ROOT = Path(__file__).resolve().parents[2]
_PYTHONS = ("3.10", "3.11", "3.12", "3.13")
_PLATFORMS = (
    "manylinux2014_x86_64",
    "manylinux_2_17_x86_64",
    "manylinux_2_28_x86_64",
    "manylinux_2_31_x86_64",
)
# Imported by the engine or its tests, and transformers, which writes the checkpoints of the tests marked gpu.
_PACKAGES = (
    *("safetensors", "tokenizers", "gguf", "Jinja2", "psutil", "platformdirs", "huggingface-hub", "keyring"),
    *("httpx2", "filelock", "packaging", "regex", "pytest", "pytest-timeout", "hypothesis", "llguidance"),
)
_TRANSFORMERS = "transformers>=5.0"
# With torch, or for what the trial does not do: secrets and downloads.
_LEFT_OUT = ("numpy-", "cryptography-", "cffi-", "pycparser-", "hf_xet-", "secretstorage-", "pydantic")


def collect(folder: Path) -> int:
    """Fetch the wheels and build the library; returns the bytes of all.

    Raises:
        subprocess.CalledProcessError: pip did not get a package.
        BuildFailed: there is no compiler, or it fails.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for python in _PYTHONS:
        # The constraints' own versions are for Python 3.11 and later.
        constrained = [] if python == "3.10" else ["--constraint", str(_ROOT / "constraints.txt")]
        _download(folder, python, *constrained, *_PACKAGES)
    # Large, and one version does for all.
    _download(folder, _PYTHONS[0], "--no-deps", _TRANSFORMERS)
    for wheel in folder.glob("*.whl"):
        if wheel.name.lower().startswith(_LEFT_OUT):
            wheel.unlink()
    build_library(folder / library_name())
    return sum(path.stat().st_size for path in folder.iterdir())


def _download(folder: Path, python: str, *wanted: str) -> None:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    platforms = [word for platform in _PLATFORMS for word in ("--platform", platform)]
    kind = ["--only-binary", ":all:", "--python-version", python, "--implementation", "cp", *platforms]
    subprocess.run([*pip, *kind, "--dest", str(folder), *wanted], check=True)


def main() -> int:
    """Collect, and say how large it is; the exit code is 1 where it is too large to carry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    size = collect(folder)
    print(f"{size / 1e6:.1f} MB in {folder}, of {_MOST_BYTES / 1e6:.0f} MB that may be carried")
    return 0 if size <= _MOST_BYTES else 1


if __name__ == "__main__":
    sys.exit(main())
