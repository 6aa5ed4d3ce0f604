from __future__ import annotations

from pathlib import Path

import pytest

from app.chat.engine_state import EnginePhase, EngineState
from app.diagnostics import WINDOW, Diagnostics, installation_text, log_file, system_line
from app.version import version_of
from engine.messages import ErrorReport

REPORT = ErrorReport("OutOfMemory", "The model does not fit.", f"wanted 2 GB\nin {Path.home()}/models/large")


@pytest.fixture
def diagnostics(tmp_path: Path) -> Diagnostics:
    return Diagnostics(tmp_path, tmp_path, lambda: EngineState(EnginePhase.IDLE, "", ""))


def test_the_technical_text_holds_the_error_and_the_system(diagnostics: Diagnostics) -> None:
    lines = diagnostics.technical(REPORT).splitlines()
    assert lines[:3] == ["OutOfMemory: The model does not fit.", "  wanted 2 GB", "  in ~/models/large"]
    assert lines[3].startswith("tenon ")


def test_the_whole_report_holds_the_ends_of_the_logs(diagnostics: Diagnostics) -> None:
    log_file(diagnostics.log_folder, WINDOW).write_text(f"a line about {Path.home()}")
    text = diagnostics.whole(REPORT)
    assert "--- window.log\na line about ~\n" in text
    assert "engine.log" not in text


def test_the_installation_names_versions_and_hardware() -> None:
    line = system_line("cuda:0")
    assert line.startswith("tenon ")
    assert "GB RAM" in line
    assert line.endswith("GPU cuda:0")
    assert system_line("").endswith("no GPU")
    assert "GPU" not in system_line(None)
    assert f"torch {version_of('torch')}" in installation_text(None).splitlines()
    assert version_of("no-such-package") == ""
