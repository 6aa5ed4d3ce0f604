"""The bundle itself, built and run without any Python around it. Minutes, and only where PyInstaller is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from installers.product import COMMAND, MODELS, ROOT, version

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(find_spec("PyInstaller") is None, reason="PyInstaller is not installed"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the release workflow does this elsewhere"),
]


def test_a_bundle_answers_without_python(tmp_path: Path) -> None:
    from installers.bundle import build_bundle

    bundle = build_bundle(tmp_path / "work", tmp_path / "a büild with spaces")
    inner = bundle / "_internal"
    assert list(inner.rglob("*.packed")) == []
    assert list(inner.rglob("direct_url.json")) == []
    assert [path for path in bundle.rglob("*") if path.is_symlink() and not path.exists()] == []
    assert {path.name for path in (inner / "assets" / "models").iterdir()} <= set(MODELS)
    assert len(list(inner.glob("assets/models/smollm2/*.gguf"))) == 1
    assert (inner / "licences" / "torch").is_dir()
    assert list(inner.rglob("platforminputcontexts/libibus*")) != []  # Fcitx is reached by it too
    environment = {
        "HOME": str(tmp_path),
        "PATH": os.devnull,
        "LANG": "C.UTF-8",
        "TMPDIR": str(tmp_path),
        "QT_QPA_PLATFORM": "offscreen",
    }
    servers = tmp_path / "servers.json"
    command = {"command": sys.executable, "args": [str(ROOT / "tests/engine/tools/mcp_servers.py"), "good"]}
    servers.write_text(json.dumps({"mcpServers": {"good": command}}))
    for arguments, expected in (
        (["--version"], f"tenon {version()}"),
        (["--self-test"], "result        passed"),
        (["models", "list"], "smollm2"),
        (["ask", "--max-tokens", "1", "--mcp", str(servers), "Hello"], "\n"),
    ):
        done = subprocess.run(
            [str(bundle / COMMAND), *arguments],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert expected in done.stdout
        assert done.stderr == ""
        assert "\nnotice" not in done.stdout, done.stdout  # such as that the kernels do not fit
