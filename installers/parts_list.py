"""The parts list (SBOM) of a bundle in CycloneDX's format: which packages are inside, in which version."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from installers.components import components, normalized
from installers.product import COMMAND, LICENCE, NAME, architecture, system, version


def write_parts_list(dist: Path) -> Path:
    """Write it.

    cyclonedx-bom describes the whole environment that the bundle was built in; what stayed outside is taken out.

    Raises:
        CalledProcessError: cyclonedx-bom is not installed, or fails.
    """
    done = subprocess.run(
        [sys.executable, "-m", "cyclonedx_py", "environment", "--output-format", "JSON", "--output-reproducible",
         sys.executable],
        check=True, capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
    target = dist / f"{COMMAND}-{version()}-{system()}-{architecture()}.cdx.json"
    found = of_the_bundle(json.loads(done.stdout), {component.name for component in components()})
    target.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8", newline="\n")
    return target


def of_the_bundle(document: dict[str, object], inside: set[str]) -> dict[str, object]:
    """Return a CycloneDX document of an environment, cut down to a bundle's packages.

    Args:
        document: Document that cyclonedx-bom wrote.
        inside: Normalized names of the packages in the bundle.

    Raises:
        ValueError: the environment lacks one of them.
    """
    listed = document.get("components", [])
    assert isinstance(listed, list)
    kept = [entry for entry in listed if normalized(entry["name"]) in inside]
    missing = inside - {normalized(entry["name"]) for entry in kept}
    if missing:
        raise ValueError(f"The parts list lacks {', '.join(sorted(missing))}.")
    for entry in kept:
        entry.pop("externalReferences", None)  # where the build fetched it from, which is nobody's business
        entry["purl"] = f"pkg:pypi/{normalized(entry['name'])}@{entry['version']}".replace("+", "%2B")
    references = {entry["bom-ref"] for entry in kept}
    depends = document.get("dependencies", [])
    assert isinstance(depends, list)
    edges = [
        {**entry, "dependsOn": [other for other in entry.get("dependsOn", []) if other in references]}
        for entry in depends
        if entry["ref"] in references
    ]
    own = {"type": "application", "bom-ref": COMMAND, "name": NAME, "version": version(),
           "licenses": [{"license": {"id": LICENCE}}]}  # fmt: skip
    metadata = document.get("metadata", {})
    assert isinstance(metadata, dict)
    return {**document, "metadata": {**metadata, "component": own}, "components": kept, "dependencies": edges}
