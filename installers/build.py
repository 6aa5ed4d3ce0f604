"""Builds the installers for the system it runs on: ``python installers/build.py``.

Needs an environment with what constraints.txt names (torch as its CPU build), PyInstaller and cyclonedx-bom.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from installers.bundle import build_bundle


def main() -> int:
    work, dist = Path("build/installers").resolve(), Path("dist").resolve()
    print(build_bundle(work, dist))
    return 0


if __name__ == "__main__":
    sys.exit(main())
