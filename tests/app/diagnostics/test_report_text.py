from __future__ import annotations

from pathlib import Path

from app.diagnostics.installation import installation_text, system_line, version_of
from app.diagnostics.report_text import report_text, technical_text
from engine.messages import ErrorReport

REPORT = ErrorReport("OutOfMemory", "The model does not fit.", f"wanted 2 GB\nin {Path.home()}/models/large")


def test_the_technical_text_holds_the_error_and_the_system() -> None:
    lines = technical_text(REPORT, "tenon 1, Linux").splitlines()
    assert lines == [
        "OutOfMemory: The model does not fit.",
        "  wanted 2 GB",
        "  in ~/models/large",
        "tenon 1, Linux",
    ]


def test_the_whole_report_holds_the_ends_of_the_logs() -> None:
    text = report_text(REPORT, "tenon 1", {"window": f"a line about {Path.home()}", "engine": ""})
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
