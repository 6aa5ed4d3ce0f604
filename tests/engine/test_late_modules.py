"""Modules whose loading is put off until something of them is used."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from engine.late_modules import LateModules


def test_a_late_module_is_loaded_by_its_first_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "late_of_tests.py").write_text("import late_inner_of_tests\nvalue = 7\n")
    (tmp_path / "late_inner_of_tests.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [LateModules(["late_of_tests", "no_such_module_of_tests"]), *sys.meta_path])
    for _ in range(2):
        import late_of_tests  # type: ignore[import-not-found]

    assert "late_inner_of_tests" not in sys.modules
    assert late_of_tests.value == 7
    assert "late_inner_of_tests" in sys.modules
    with pytest.raises(AttributeError):
        _ = late_of_tests.nothing
    with pytest.raises(ModuleNotFoundError):
        import no_such_module_of_tests  # type: ignore[import-not-found]  # noqa: F401
