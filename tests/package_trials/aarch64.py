"""Resolves the app's packages for a 64-bit ARM board, from any machine: ``python -m tests.package_trials.aarch64``.

pip evaluates markers such as ``platform_machine`` for the machine that it runs on, so the packages that are needed are
worked out here, round by round, and pip only finds their wheels. Nothing is installed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.markers import Marker
from packaging.requirements import Requirement

from installers.components import LEFT_OUT, asked_for, normalized
from installers.environment import Machine, constraints

RESULT = Path(__file__).with_suffix(".txt")
PYTHON = "3.11"
GLIBC = (2, 31)
BOARD = Machine("Linux", "aarch64", GLIBC, f"cp{PYTHON.replace('.', '')}")
# Wheels that ask for no newer C library than the oldest board has.
_PLATFORMS = [f"manylinux_2_{minor}_aarch64" for minor in range(GLIBC[1], 16, -1)] + ["manylinux2014_aarch64"]
_BOARD = {
    "implementation_name": "cpython",
    "os_name": "posix",
    "platform_machine": "aarch64",
    "platform_python_implementation": "CPython",
    "platform_system": "Linux",
    "python_full_version": f"{PYTHON}.0",
    "python_version": PYTHON,
    "sys_platform": "linux",
    "extra": "",
}
# torch's build for the CPU, which its makers keep in an index of their own, asks for none of these.
_CUDA = ("nvidia-", "cuda-", "triton")


@dataclass(frozen=True)
class Wheel:
    """A file that the board would install."""

    name: str  # normalized
    file: str  # name, with the platform that it is for
    needs: tuple[str, ...]  # requirements in its metadata


def on_the_board(marker: Marker | None) -> bool:
    """Return True if a requirement counts on the board."""
    return marker is None or marker.evaluate(_BOARD)


def next_names(wheels: list[Wheel], known: set[str]) -> list[str]:
    """Names of the packages that the board needs for these and that are not known yet."""
    found = set()
    for wheel in wheels:
        for requirement in map(Requirement, wheel.needs):
            name = normalized(requirement.name)
            cuda = wheel.name == "torch" and name.startswith(_CUDA)
            if on_the_board(requirement.marker) and not cuda and name not in LEFT_OUT:
                found.add(name)
    return sorted(found - known)


def find_wheels(names: list[str]) -> list[Wheel]:
    """Ask pip for the wheels of these packages, without what they need themselves.

    Raises:
        CalledProcessError: one of them has no wheel for the board.
    """
    with tempfile.TemporaryDirectory() as folder:
        report, pins = Path(folder) / "report.json", Path(folder) / "constraints.txt"
        pins.write_text(constraints(BOARD), encoding="utf-8")
        tags = [part for platform in _PLATFORMS for part in ("--platform", platform)]
        abis = [part for abi in (f"cp{PYTHON.replace('.', '')}", "abi3", "none") for part in ("--abi", abi)]
        subprocess.run(
            [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--no-deps", "--quiet",
             "--only-binary=:all:", "--target", folder, "--report", str(report), "--implementation", "cp",
             "--python-version", PYTHON, *abis, *tags, "--constraint", str(pins), *names],
            check=True,
        )  # fmt: skip
        found: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))["install"]
    return [
        Wheel(
            normalized(entry["metadata"]["name"]),
            entry["download_info"]["url"].rpartition("/")[2],
            tuple(entry["metadata"].get("requires_dist", ())),
        )
        for entry in found
    ]


def resolve() -> list[Wheel]:
    """Every wheel that the app needs on the board, by name."""
    wheels: list[Wheel] = []
    names = sorted({normalized(Requirement(text).name) for text in asked_for()})
    while names:
        found = find_wheels(names)
        wheels += found
        names = next_names(found, {wheel.name for wheel in wheels})
    return sorted(wheels, key=lambda wheel: wheel.name)


def wrong_platform(wheel: Wheel) -> bool:
    """Return True if a wheel is neither for every machine nor for the board's."""
    tag = wheel.file.removesuffix(".whl").rpartition("-")[2]
    return tag != "any" and "aarch64" not in tag


def main() -> int:
    """Resolve, say what was found and keep it; the exit code."""
    parser = argparse.ArgumentParser(prog="tests.package_trials.aarch64", description=__doc__)
    parser.add_argument("--keep", action="store_true", help=f"write the result to {RESULT.name}")
    options = parser.parse_args()
    try:
        wheels = resolve()
    except subprocess.CalledProcessError:
        print("A package has no wheel for the board; pip says above which.", file=sys.stderr)
        return 1
    text = "".join(f"{wheel.file}\n" for wheel in wheels)
    print(text, end="")
    if options.keep:
        system = f"Python {PYTHON}, glibc {GLIBC[0]}.{GLIBC[1]}, aarch64"
        head = f"# {system}: python -m tests.package_trials.aarch64 --keep\n"
        RESULT.write_text(head + text, encoding="utf-8")
    strange = [wheel.file for wheel in wheels if wrong_platform(wheel)]
    if strange:
        print(f"Not for this architecture: {', '.join(strange)}", file=sys.stderr)
    return 1 if strange else 0


if __name__ == "__main__":
    sys.exit(main())
