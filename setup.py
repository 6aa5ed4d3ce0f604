"""Builds the kernel library along with the package. All else stands in pyproject.toml."""

from __future__ import annotations

import runpy
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
build = runpy.run_path(str(ROOT / "engine" / "kernels" / "build.py"))


class BuildKernels(build_ext):
    """Builds a plain shared library in place of a Python extension, and goes on without one."""

    def get_ext_filename(self, fullname: str) -> str:
        """Return the library's path within the package."""
        return str(Path(*fullname.split(".")[:-1]) / build["library_name"]())

    def build_extension(self, ext: Extension) -> None:
        """Build it, or say in a sentence why it is left out."""
        try:
            build["provide_library"](Path(self.get_ext_fullpath(ext.name)).resolve())
        except build["BuildFailed"] as failure:
            print(f"Tenon is installed without its own kernels: {failure}")


setup(
    ext_modules=[Extension("engine.kernels.tenon_kernels", sources=[], optional=True)],
    cmdclass={"build_ext": BuildKernels},
)
