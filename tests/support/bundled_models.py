"""Empty files in the place of the bundled models, for tests of who offers them and not of what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.hub import bundled
from engine.messages import DEFAULT_MODEL


def lay_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be the default model and its drafts, of no content, and nothing else.

    Args:
        folder: The folder to put them into.
        monkeypatch: Brings the real ones back.
    """
    monkeypatch.setattr(bundled, "assets_folder", lambda: folder)
    for name, file in (
        (DEFAULT_MODEL, "SmolLM2-135M-Instruct.Q4_1.gguf"),
        (f"{DEFAULT_MODEL}-draft", "config.json"),
        (f"{DEFAULT_MODEL}-medusa", "config.json"),
        (f"{DEFAULT_MODEL}-prompt-tokens", "adapter_config.json"),
    ):
        (folder / "models" / name).mkdir(parents=True)
        (folder / "models" / name / file).touch()
