"""The sidebar's foot: the ways to the pages beside the chats, and to the settings."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent
from PySide6.QtWidgets import QToolButton, QVBoxLayout, QWidget

from app.ui.boxes import filled
from app.ui.inert_text import PlainLabel
from app.ui.painting import place
from app.ui.places import MODELS, PLACES
from app.ui.sidebar.download_line import DownloadLine
from app.ui.theme.icons import scale_icon, themed_icon
from app.ui.theme.theme import Theme
from app.words import tr

SETTINGS = "settings"
_ROW_PX = 34


def key_words(keys: str) -> str:
    """In the words of the system and of the language: "Ctrl+N" -> "Ctrl N"."""
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText).replace("+", " ")


class NavRow(QToolButton):
    """An icon, a name, and a word at the right end."""

    def __init__(self, theme: Theme, icon: str, title: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._icon = icon
        self.setProperty("kind", "nav")
        self.setText(f"  {title}")
        self.setAccessibleName(title)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        scale_icon(theme, self, 16)
        self.setCheckable(True)
        self._hint = PlainLabel(self, kind="small")
        self._hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._hint.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.set_chosen(False)

    def sizeHint(self) -> QSize:
        """Return a size as high as the design says."""
        return QSize(super().sizeHint().width(), self._theme.type.px(_ROW_PX))

    def set_chosen(self, chosen: bool) -> None:
        """Show whether the place's page is shown."""
        self.setChecked(chosen)
        self.setIcon(themed_icon(self._theme, self._icon, "acc" if chosen else "sub"))

    def set_hint(self, text: str) -> None:
        """Text at the right end: a shortcut, or how much goes on there."""
        self._hint.setText(text)
        self._hint.setProperty("kind", "badge" if text.isdigit() else "small")
        self._hint.style().polish(self._hint)
        self._place_hint()

    @property
    def hint(self) -> str:
        """Text at the right end."""
        return self._hint.text()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the hint at the end."""
        super().resizeEvent(event)
        self._place_hint()

    def _place_hint(self) -> None:
        size = self._hint.sizeHint()
        width = max(size.width(), size.height()) if self._hint.text() else 0  # one figure has a round badge
        top = (self.height() - size.height()) // 2
        place(self._hint, self.width() - width - 8, top, width, size.height())


class PlacesNav(QWidget):
    """Models, This machine, Other programs, Settings."""

    requested = Signal(str)  # a place of `app.ui.places`, or "settings"

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "foot")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.rows: dict[str, NavRow] = {}
        self.download = DownloadLine(theme, self)
        self.download.clicked.connect(self._download_clicked)
        column = filled(QVBoxLayout(self), self.download, margins=(8, 9, 8, 8), spacing=0)
        rows = [(place.name, place.icon, tr(place.title)) for place in PLACES]
        for name, icon, title in (*rows, (SETTINGS, "settings", tr("Settings"))):
            row = self.rows[name] = NavRow(theme, icon, title, self)
            row.setSizePolicy(row.sizePolicy().Policy.Expanding, row.sizePolicy().Policy.Fixed)
            row.clicked.connect(self._clicked)
            column.addWidget(row)
        self.rows[SETTINGS].set_hint(key_words("Ctrl+,"))

    def choose(self, place: str) -> None:
        """Mark the place that is shown."""
        for name, row in self.rows.items():
            row.set_chosen(name == place)

    def _download_clicked(self) -> None:
        self.requested.emit(MODELS)

    def _clicked(self) -> None:
        sender = self.sender()
        name = next(name for name, row in self.rows.items() if row is sender)
        self.rows[name].set_chosen(not self.rows[name].isChecked())  # the place's change decides
        self.requested.emit(name)
