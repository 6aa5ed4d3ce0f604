"""Resolves all that pip would take on 64-bit ARM boards, from any machine: ``python -m tests.package_trials.aarch64``.

uv does it, because pip evaluates markers such as ``platform_machine`` for the machine that it runs on. A version counts
only if it has a wheel for the board. Nothing is installed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from installers.environment import ROOT, Machine, constraints

RESULT = Path(__file__).with_suffix(".txt")
BOARD = Machine("Linux", "aarch64", (2, 31), "cp311")  # the oldest C library
# The systems that boards have, each with what the tests need; uv knows glibc up to 2.40, where Debian 13 has 2.41.
WITH_TESTS = tuple(
    Machine("Linux", "aarch64", (2, glibc), f"cp{python}")
    for python, glibc in ((310, 36), (311, 36), (312, 39), (313, 40), (314, 40))
)


def resolve(board: Machine, *options: str) -> list[str]:
    """Return every package that pip would install on a board, as ``name==version``.

    Raises:
        CalledProcessError: two ask for versions that exclude each other, or one has no wheel for the board.
        FileNotFoundError: uv is not installed.
    """
    assert board.glibc is not None
    with tempfile.TemporaryDirectory() as folder:
        pins = Path(folder) / "constraints.txt"
        pins.write_text(constraints(board), encoding="utf-8")
        done = subprocess.run(
            ["uv", "pip", "compile", "--quiet", "--no-header", "--no-annotate", "--only-binary", ":all:",
             "--python-platform", f"aarch64-manylinux_2_{board.glibc[1]}", "--python-version", f"3.{board.python[3:]}",
             "--constraint", str(pins), *options, str(ROOT / "pyproject.toml")],
            stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
    return done.stdout.splitlines()


def of_cuda(package: str) -> bool:
    """Return True if a package serves an NVIDIA card alone."""
    return package.startswith(("nvidia", "cuda", "triton"))


def main() -> int:
    """Resolve for each system, print a table's rows, and keep the packages of the oldest; the exit code."""
    try:
        for board, options in ((BOARD, ()), *((board, ("--extra", "dev")) for board in WITH_TESTS)):
            found = resolve(board, *options)
            assert board.glibc is not None
            system = f"3.{board.python[3:]}{'' if options else ', without `dev`'} | 2.{board.glibc[1]}"
            special = [one.partition("==")[2] for one in found if one.startswith(("pyside6", "torch="))]
            print(f"| {system} | {len(found)} | {' | '.join(special)} |")
            if any(map(of_cuda, found)):
                print(f"For an NVIDIA card: {', '.join(filter(of_cuda, found))}", file=sys.stderr)
                return 1
            if board is BOARD:
                lines = ["# Python 3.11, glibc 2.31, aarch64: python -m tests.package_trials.aarch64", *found, ""]
                RESULT.write_text("\n".join(lines), encoding="utf-8")
    except FileNotFoundError:
        print("This needs uv: pip install uv.", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError:
        print("There are no such packages for this board; uv says above which are missing.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
