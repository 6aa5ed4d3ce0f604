"""The window's tests speak English as the window does, plurals with it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QTranslator

from app import words
from app.ui.language import CONTEXT, TRANSLATIONS

_ENGLISH = QTranslator()
_ENGLISH.load(str(TRANSLATIONS / "tenon_en.qm"))


def _translated(text: str, n: int) -> str:
    return _ENGLISH.translate(CONTEXT, text, None, n) or text


@pytest.fixture(autouse=True)
def english() -> None:
    """Each test begins in English, whatever the one before it spoke."""
    words.speak(_translated)
