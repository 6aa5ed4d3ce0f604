"""Resolves all that pip would take on a 64-bit ARM board, from any machine: ``python -m tests.package_trials.aarch64``.

pip evaluates markers such as ``platform_machine`` for the machine that it runs on, so the packages that are needed are
worked out here, round by round, and pip only finds their wheels. Nothing is installed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from installers.components import asked_for, normalized
from installers.environment import Machine, constraints

RESULT = Path(__file__).with_suffix(".txt")
BOARD = Machine("Linux", "aarch64", (2, 31), "cp311")  # the oldest C library


@dataclass(frozen=True)
class Wheel:
    """A file that the board would install."""

    name: str  # normalized
    file: str  # name, with the platform that it is for
    needs: tuple[str, ...]  # requirements in its metadata
    version: str = ""


def on_the_board(requirement: Requirement, extra: str = "", board: Machine = BOARD) -> bool:
    """Return True if a requirement counts on the board, with an extra of its package where one is named."""
    python = f"3.{board.python[3:]}"
    facts = {
        "implementation_name": "cpython",
        "os_name": "posix",
        "platform_machine": "aarch64",
        "platform_python_implementation": "CPython",
        "platform_system": "Linux",
        "python_full_version": f"{python}.0",
        "python_version": python,
        "sys_platform": "linux",
        "extra": extra,
    }
    return requirement.marker is None or requirement.marker.evaluate(facts)


def find_wheels(wanted: Iterable[str], board: Machine = BOARD) -> list[Wheel]:
    """Ask pip for the wheels of these requirements, without what they need themselves.

    Raises:
        CalledProcessError: one of them has no wheel for the board.
    """
    assert board.glibc is not None
    with tempfile.TemporaryDirectory() as folder:
        report, pins = Path(folder) / "report.json", Path(folder) / "constraints.txt"
        lines = map(Requirement, (line for line in constraints(board).splitlines() if not line.startswith("#")))
        # Without the markers, which pip would evaluate for this machine.
        pins.write_text("".join(f"{one.name}{one.specifier}\n" for one in lines if on_the_board(one, "", board)))
        # Wheels that ask for no newer C library than the board has.
        tags = [f"manylinux_2_{minor}_aarch64" for minor in range(board.glibc[1], 16, -1)] + ["manylinux2014_aarch64"]
        subprocess.run(
            [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--no-deps", "--quiet",
             "--only-binary=:all:", "--target", folder, "--report", str(report), "--implementation", "cp",
             "--python-version", f"3.{board.python[3:]}", "--constraint", str(pins),
             *(part for abi in (board.python, "abi3", "none") for part in ("--abi", abi)),
             *(part for tag in tags for part in ("--platform", tag)), *wanted],
            check=True,
        )  # fmt: skip
        found: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))["install"]
    return [
        Wheel(
            normalized(entry["metadata"]["name"]),
            entry["download_info"]["url"].rpartition("/")[2],
            tuple(entry["metadata"].get("requires_dist", ())),
            entry["metadata"]["version"],
        )
        for entry in found
    ]


def resolve(requirements: Iterable[str], board: Machine = BOARD) -> list[Wheel]:
    """Every wheel that pip would take on the board for these requirements and for what they need, by name.

    Raises:
        CalledProcessError: one of them has no wheel for the board, or two ask for versions that no wheel has.
    """
    asked: dict[str, tuple[SpecifierSet, frozenset[str]]] = {}  # by name: versions and extras
    wheels: dict[str, Wheel] = {}
    waiting = [(Requirement(text), "") for text in requirements]
    while waiting:
        changed = set()
        for requirement, extra in waiting:
            name = normalized(requirement.name)
            if on_the_board(requirement, extra, board):
                known = asked.get(name, (SpecifierSet(), frozenset()))
                asked[name] = known[0] & requirement.specifier, known[1] | requirement.extras
                have = wheels.get(name)
                fits = have is not None and Version(have.version) in asked[name][0]
                if not fits or asked[name][1] != known[1]:
                    changed.add(name)
        waiting = []
        for wheel in find_wheels((f"{name}{asked[name][0]}" for name in sorted(changed)), board) if changed else ():
            wheels[wheel.name] = wheel
            waiting += [(Requirement(text), extra) for text in wheel.needs for extra in ("", *asked[wheel.name][1])]
    return sorted(wheels.values(), key=lambda wheel: wheel.name)


def wrong_platform(wheel: Wheel) -> bool:
    """Return True if a wheel is neither for every machine nor for the board's."""
    tag = wheel.file.removesuffix(".whl").rpartition("-")[2]
    return tag != "any" and "aarch64" not in tag


def main() -> int:
    """Resolve, say what was found and keep it; the exit code."""
    parser = argparse.ArgumentParser(prog="tests.package_trials.aarch64", description=__doc__)
    parser.add_argument("--keep", action="store_true", help=f"write the result to {RESULT.name}")
    parser.add_argument("--python", default="3.11", help="the board's Python (3.11)")
    parser.add_argument("--glibc", default="2.31", help="the board's C library (2.31)")
    parser.add_argument("--dev", action="store_true", help="with what the tests need")
    options = parser.parse_args()
    glibc = tuple(map(int, options.glibc.split(".")))
    board = Machine("Linux", "aarch64", (glibc[0], glibc[1]), f"cp{options.python.replace('.', '')}")
    if board.refusal is not None:
        print(board.refusal, file=sys.stderr)
        return 1
    try:
        wheels = resolve(asked_for() + (asked_for("dev") if options.dev else []), board)
    except subprocess.CalledProcessError:
        print("A package has no wheel for the board; pip says above which.", file=sys.stderr)
        return 1
    text = "".join(f"{wheel.file}\n" for wheel in wheels)
    print(text, end="")
    if options.keep:
        system = f"Python {options.python}, glibc {options.glibc}, aarch64"
        RESULT.write_text(f"# {system}: python -m tests.package_trials.aarch64 --keep\n{text}", encoding="utf-8")
    strange = [wheel.file for wheel in wheels if wrong_platform(wheel)]
    if strange:
        print(f"Not for this architecture: {', '.join(strange)}", file=sys.stderr)
    return 1 if strange else 0


if __name__ == "__main__":
    sys.exit(main())
