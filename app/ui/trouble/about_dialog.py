"""About Tenon: its version, this installation, and whose software it is made with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from app.diagnostics.licences import components
from app.ui.boxes import filled
from app.ui.inert_text import PlainLabel
from app.ui.theme.focus_ring import RingedDialog
from app.ui.theme.icons import app_icon
from app.ui.theme.theme import Theme
from app.ui.trouble.details_foot import DetailsFoot
from app.version import version_of
from app.words import tr

if TYPE_CHECKING:
    from app.diagnostics.report import Diagnostics

_WIDTH_PX = 520
_HEIGHT_PX = 480
_SIDE_PX = 20
_ICON_PX = 48


class AboutDialog(RingedDialog):
    """Version, installation and licences, to be read and copied.

    Args:
        diagnostics: Says what is installed.
    """

    def __init__(self, theme: Theme, diagnostics: Diagnostics, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("About Tenon"), parent)
        self._theme = theme
        icon = PlainLabel(self)
        icon.setPixmap(app_icon().pixmap(QSize(_ICON_PX, _ICON_PX), self.devicePixelRatioF()))
        version = version_of("tenon")
        name = PlainLabel(tr("Tenon {version}", version=version) if version else "Tenon", self, kind="title")
        told = tr("Runs language models on this computer. Nothing you write leaves it.")
        self._told = PlainLabel(told, self, kind="sub", wrap=True)
        words = filled(QVBoxLayout(), name, self._told, spacing=2)
        head = filled(QHBoxLayout(), (icon, 0, Qt.AlignmentFlag.AlignTop), (words, 1), spacing=14)
        self.installation = self._text(diagnostics.installation(), tr("This installation"))
        stated = tr("stated in its own files")
        lines = (f"{one.name} {one.version}".strip() + f": {one.licence or stated}" for one in components())
        self.licences = self._text("\n".join(lines), tr("Licences"))
        body = filled(QVBoxLayout(), head, margins=(_SIDE_PX, 16, _SIDE_PX, 16), spacing=6)
        for title, text, stretch in (
            (tr("This installation"), self.installation, 2),
            (tr("Licences"), self.licences, 3),
        ):
            label = PlainLabel(title, self, kind="label")
            label.setBuddy(text)
            filled(body, 6, label, (text, stretch))
        self.foot = DetailsFoot(theme, self.installation.toPlainText, self)
        filled(QVBoxLayout(self), (body, 1), self.foot, margins=0, spacing=0)
        self.foot.close_button.setFocus()
        self.resize(self.sizeHint())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give a wrapped sentence its room, above the texts below it."""
        super().resizeEvent(event)
        self._told.setMinimumHeight(self._told.heightForWidth(self._told.width()))

    def sizeHint(self) -> QSize:
        """As the texts need, where the window has room for it."""
        px = self._theme.type.px
        return QSize(px(_WIDTH_PX), px(_HEIGHT_PX)).boundedTo(self.room(32))

    def _text(self, words: str, name: str) -> QPlainTextEdit:
        text = QPlainTextEdit(words, self)
        text.setProperty("kind", "card")
        text.setReadOnly(True)
        text.setTabChangesFocus(True)
        text.setAccessibleName(name)
        return text
