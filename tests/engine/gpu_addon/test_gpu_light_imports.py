from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_fetching_gpu_support_needs_no_torch_and_starting_without_it_no_network_library() -> None:
    root = Path(__file__).resolve().parents[3]
    for modules, unwanted in (
        ("engine.cli.gpu, engine.gpu_addon.installation, engine.gpu_addon.addon", "torch transformers"),
        ("engine.gpu_addon.check", "torch httpx2 huggingface_hub numpy"),
    ):
        program = f"import sys, {modules}; sys.exit(bool(set({unwanted!r}.split()) & set(sys.modules)))"
        assert subprocess.run([sys.executable, "-c", program], cwd=root, check=False).returncode == 0
