from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QLocale


@pytest.fixture(autouse=True)
def american_figures() -> Iterator[None]:
    """Figures and dates as in the United States, whatever the system's are."""
    before = QLocale()
    QLocale.setDefault(QLocale("en_US"))
    yield
    QLocale.setDefault(before)
