"""Works of others that Tenon brings along, and their licences."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata

# Packages that pyproject.toml asks for, and those that the last of them brings along.
_PACKAGES = (
    "torch", "huggingface-hub", "httpx2", "filelock", "keyring", "tokenizers", "safetensors", "gguf",
    "numpy", "Jinja2", "psutil", "platformdirs", "Pygments", "PySide6-Essentials", "pyqtgraph",
    "ziamath", "ziafont", "latex2mathml", "pypdfium2", "python-docx", "lxml", "starlette", "uvicorn", "llguidance",
)  # fmt: skip
_LONGEST = 60


@dataclass(frozen=True)
class Component:
    """A piece of software."""

    name: str
    version: str  # installed version; empty where it has none
    licence: str  # by its usual name; empty where the package does not say


def components() -> list[Component]:
    """Installed works by name; Tenon itself and the bundled model first."""
    found = [
        Component("Lucide icons", "", "ISC"),
        Component("STIX Two Math", "", "OFL-1.1"),
    ]
    for package in _PACKAGES:
        try:
            about = metadata.metadata(package)
        except metadata.PackageNotFoundError:
            continue
        found.append(Component(str(about["Name"]), str(about["Version"]), _licence(about)))
    model = Component("SmolLM2 135M Instruct by Hugging Face, converted by QuantFactory", "", "Apache-2.0")
    return [Component("Tenon", "", "Apache-2.0"), model, *sorted(found, key=lambda one: one.name.lower())]


def _licence(about: metadata.PackageMetadata) -> str:
    """Return the short name of a licence; some packages put its whole text where the name belongs."""
    for field in ("License-Expression", "License"):
        lines = "".join(about.get_all(field) or []).strip().splitlines()
        if len(lines) == 1 and len(lines[0]) <= _LONGEST:
            return lines[0]
    named = [line for line in about.get_all("Classifier") or [] if line.startswith("License ::")]
    return ", ".join(line.rpartition("::")[2].strip() for line in named)
