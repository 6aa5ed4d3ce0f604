"""The window itself, painted and used, while descriptors run out."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QPixmapCache
from PySide6.QtWidgets import QApplication

_QT = QCoreApplication.instance() or QApplication([])  # before the scenarios below make one without widgets

from app.ui.main_window import MainWindow  # noqa: E402
from app.ui.theme import icons  # noqa: E402
from app.ui.theme.theme import Theme  # noqa: E402
from tests.support.app_io_scenarios import InWindow  # noqa: E402


class Using(InWindow):
    """A chat is shown and answered, pages are opened, and all of it is painted."""

    def begin(self, folder: Path) -> None:
        super().begin(folder)
        self.workspace = self.opened()
        self.theme = Theme()
        self.theme.apply()
        self.window = MainWindow(self.theme, self.workspace)
        self.window.show()
        self.settled(self.workspace)
        icons._svg.cache_clear()
        QPixmapCache.clear()

    def act(self) -> None:
        self.window.shelf.open(self.workspace.library.conversations()[0].id)
        self._paint()
        self.chat = self.sent(self.workspace, None, "Now this.\nsay 5")
        self.window.shelf.open(self.chat)
        self.workspace.notice.emit("Something is said.")
        self._paint()

    def look(self) -> None:
        self._paint()
        assert not self.window.grab().toImage().isNull()
        self.answered(self.workspace, self.chat, "And now?\nsay 2")
        self.settled(self.workspace)

    def end(self) -> None:
        if hasattr(self, "window"):  # the run that lays out has none
            self.window.close()
            self.window.deleteLater()
        super().end()

    def _paint(self) -> None:
        self.window.update()
        for _ in range(3):
            QApplication.processEvents()
        self.window.grab()
