"""The torch that Tenon runs on without an add-on, from its metadata: importing it takes seconds."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from engine.errors import AddonUnusable


@dataclass(frozen=True)
class BundledTorch:
    """An installed torch."""

    version: str  # without what comes after a plus, which names the build
    # Kind of GPU that it was built for: ``CUDA``, ``ROCm`` or ``XPU``; None for processors alone
    gpu: str | None = None
    requires: frozenset[str] = frozenset()  # names of the packages that it needs, which are there, then


def bundled_torch(addons: Path) -> BundledTorch:
    """Return the torch of this environment or of the installed app, even if an add-on is found before it.

    Raises:
        AddonUnusable: there are no metadata of it.
    """
    path = [part for part in sys.path if not Path(part).is_relative_to(addons)]
    found = next(iter(distributions(name="torch", path=path)), None)
    if found is None:
        raise AddonUnusable(
            "This Tenon does not say which torch it runs on, so no GPU support can be chosen: install Tenon again."
        )
    needs = (Requirement(line) for line in found.requires or ())
    # Packages of its extras need not be there.
    names = frozenset(
        canonicalize_name(need.name) for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})
    )
    version = Version(found.version)
    return BundledTorch(version.public, _gpu(version.local or "", names), names)


def python_tag() -> str:
    """Return this Python, as wheels name it; in an installed app it is the app's own."""
    return f"cp{sys.version_info.major}{sys.version_info.minor}"


def _gpu(build: str, names: frozenset[str]) -> str | None:
    """By the build's name, else by the makers' libraries that it needs."""
    for title, mark, library in (
        ("CUDA", "cu", ("nvidia-", "cuda-")),
        ("ROCm", "rocm", ("rocm",)),
        ("XPU", "xpu", ("intel-",)),
    ):
        if build.startswith(mark) or any(name.startswith(library) for name in names):
            return title
    return None
