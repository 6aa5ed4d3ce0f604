"""The window's tests speak English as the window does, plurals with it, and write figures as in the United States."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QLocale, QTranslator

from app import words
from app.ui.language import CONTEXT, TRANSLATIONS

_ENGLISH = QTranslator()
_ENGLISH.load(str(TRANSLATIONS / "tenon_en.qm"))


def _translated(text: str, n: int) -> str:
    return _ENGLISH.translate(CONTEXT, text, None, n) or text


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    """Each test begins in English, whatever the one before it spoke and the system speaks."""
    words.speak(_translated)
    before = QLocale()
    QLocale.setDefault(QLocale("en_US"))
    yield
    QLocale.setDefault(before)
