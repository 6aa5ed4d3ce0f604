from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_fetching_models_needs_no_torch() -> None:
    program = (
        "import sys, engine.cli.models, engine.hub.download_queue, engine.hub.connection, engine.hub.local_import;"
        "sys.exit(bool({'torch', 'transformers'} & set(sys.modules)))"
    )
    root = Path(__file__).resolve().parents[3]
    assert subprocess.run([sys.executable, "-c", program], cwd=root, check=False).returncode == 0
