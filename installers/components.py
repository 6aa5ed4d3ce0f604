"""The packages that a bundle is made of: what pyproject.toml asks for, and what that asks for in turn."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

from installers.product import ROOT

# Asked for by packages of the bundle, and left out of it: the hub's other protocol, which is off, command lines, the
# algebra of torch's compiler, windows to draw in, and what they do without. HEIC's library has an encoder in it whose
# licence is GPL-2.0, which does not go with Tenon's.
LEFT_OUT = frozenset({
    "hf-xet", "pillow-heif", "typer", "rich", "shellingham", "annotated-doc", "setuptools",
    "networkx", "requests", "urllib3", "charset-normalizer", "sympy", "mpmath", "rendercanvas",
})  # fmt: skip
_LICENCE_FILE = re.compile(r"(licen[cs]e|copying|notice|authors)", re.IGNORECASE)


@dataclass(frozen=True)
class Component:
    """A package in the bundle."""

    name: str  # normalized, as indexes compare names
    version: str  # the installed one
    distribution: Distribution  # metadata

    def licence_files(self) -> list[Path]:
        """Return the files with a package's terms."""
        files = self.distribution.files or []
        found = [file for file in files if _LICENCE_FILE.search(file.name) and file.suffix != ".py"]
        # Tests and vendored code have many more; those beside the metadata are the package's own.
        own = [file for file in found if ".dist-info" in file.parts[0]]
        return [Path(str(file.locate())) for file in own or found if file.suffix != ".pyc"]


def normalized(name: str) -> str:
    """Return a package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def asked_for(part: str = "dependencies") -> list[str]:
    """Return the requirements in pyproject.toml: the app's, or those of an extra such as ``dev``."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    block = re.search(rf"^{part} = \[\n(.*?)^\]", text, re.MULTILINE | re.DOTALL)
    assert block is not None
    return re.findall(r'^\s*"([^"]+)"', block[1], re.MULTILINE)


def components() -> list[Component]:
    """Every package of the bundle, by name.

    Raises:
        PackageNotFoundError: one that pyproject.toml asks for is not installed.
    """
    found: dict[str, Component] = {}
    wanted = [(Requirement(text), True) for text in asked_for()]
    while wanted:
        requirement, direct = wanted.pop()
        name = normalized(requirement.name)
        if name in found or name in LEFT_OUT:
            continue
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        try:
            installed = distribution(requirement.name)
        except PackageNotFoundError:
            if direct:
                raise
            continue  # asked for by something that does without it
        found[name] = Component(name, installed.version, installed)
        wanted += [(Requirement(text), False) for text in installed.requires or ()]
    return [found[name] for name in sorted(found)]
