"""The sidebar: search, the list of chats, and the places of the window with the download that runs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QFontMetrics, QKeyEvent, QKeySequence, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolButton, QVBoxLayout, QWidget

from app.chat.search import SearchResults
from app.ui import figures
from app.ui.painting import paint_box, paint_words, painted, place, smooth
from app.ui.pane import PaneEdge
from app.ui.parts import PlainLabel, filled, push_button, search_field
from app.ui.places import CHAT, MODELS, PLACES
from app.ui.sidebar.conversation_list import ConversationList
from app.ui.sidebar.conversation_model import ConversationModel, Row
from app.ui.theme.icons import scale_icon, themed_icon
from app.ui.theme.theme import TextStyle, Theme
from app.words import tr
from engine.sentences import paragraph

_HEIGHT_PX = 40
_SIDE_PX = 10
_BAR_PX = 4
_WORDS_PX = 28  # as high as the line of words is, above the bar
SETTINGS = "settings"
_ROW_PX = 34
SIDEBAR_PX = 256
_BOUNDS_PX = (200, 420)
_PAUSE_MS = 150  # in typing, before messages are searched


class DownloadLine(QToolButton):
    """Hidden while nothing comes."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._name = ""
        self._share = 0.0
        self.setProperty("kind", "nav")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Downloads"))
        self.hide()

    def show_download(self, name: str, share: float, words: str) -> None:
        """Show how a download stands.

        Args:
            share: Part that is here, 0 to 1.
            words: The same with sizes and times, and how many wait, for the tool tip and for screen readers.
        """
        self._name, self._share = name, share
        self.setAccessibleName(tr("Downloading {name}, {share}", name=name, share=self.share))
        self.setAccessibleDescription(words)
        self.setToolTip(words)
        self.show()
        self.update()

    @property
    def share(self) -> str:
        """Share that is here, as it is shown."""
        return figures.percent(self._share)

    def sizeHint(self) -> QSize:
        return QSize(100, self._theme.type.px(_HEIGHT_PX))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = smooth(self)
        room, words_px = self.width() - 2 * _SIDE_PX, self._theme.type.px(_WORDS_PX)
        share_px = QFontMetrics(self._theme.font(TextStyle.SMALL)).horizontalAdvance(self.share)
        box = painted(self, _SIDE_PX + room - share_px, 0, share_px + 1, words_px)
        paint_words(painter, self._theme, box, self.share, TextStyle.SMALL, "sub")
        box = painted(self, _SIDE_PX, 0, room - share_px - 8, words_px)
        style, elide = TextStyle.SMALL_MEDIUM, Qt.TextElideMode.ElideMiddle
        paint_words(painter, self._theme, box, self._name, style, "sub", elide=elide)
        for role, width in (("press", room), ("acc", room * self._share)):
            bar = painted(self, _SIDE_PX, words_px, width, _BAR_PX)
            paint_box(painter, self._theme, bar, _BAR_PX / 2, role)


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
        self.hint = PlainLabel(self, kind="small")
        self.hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.hint.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.set_chosen(False)

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self._theme.type.side(_ROW_PX))

    def set_chosen(self, chosen: bool) -> None:
        """Show whether the place's page is shown."""
        self.setChecked(chosen)
        self.setIcon(themed_icon(self._theme, self._icon, "acc" if chosen else "sub"))

    def set_hint(self, text: str) -> None:
        """Text at the right end: a shortcut, or how much goes on there."""
        self.hint.setText(text)
        self.hint.setProperty("kind", "badge" if text.isdigit() else "small")
        self.hint.style().polish(self.hint)
        self._place_hint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_hint()

    def _place_hint(self) -> None:
        size = self.hint.sizeHint()
        width = max(size.width(), size.height()) if self.hint.text() else 0  # one figure has a round badge
        top = (self.height() - size.height()) // 2
        place(self.hint, self.width() - width - 8, top, width, size.height())


class PlacesNav(QWidget):
    """Models, This machine, Other programs, Settings."""

    requested = Signal(str)  # a place of `app.ui.places`, or "settings"

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "foot")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.rows: dict[str, NavRow] = {}
        self.download = DownloadLine(theme, self)
        self.download.clicked.connect(partial(self.requested.emit, MODELS))
        column = filled(QVBoxLayout(self), self.download, margins=(8, 9, 8, 8), spacing=0)
        rows = [(place.name, place.icon, tr(place.title)) for place in PLACES]
        for name, icon, title in (*rows, (SETTINGS, "settings", tr("Settings"))):
            row = self.rows[name] = NavRow(theme, icon, title, self)
            row.setSizePolicy(row.sizePolicy().Policy.Expanding, row.sizePolicy().Policy.Fixed)
            row.clicked.connect(partial(self._clicked, name))
            column.addWidget(row)
        self.rows[SETTINGS].set_hint(key_words("Ctrl+,"))

    def choose(self, place: str) -> None:
        """Mark the place that is shown."""
        for name, row in self.rows.items():
            row.set_chosen(name == place)

    def _clicked(self, name: str) -> None:
        self.rows[name].set_chosen(not self.rows[name].isChecked())  # the place's change decides
        self.requested.emit(name)


class KeyHint(PlainLabel):
    """The shortcut at the right end of a button or a field."""

    def __init__(self, text: str, host: QWidget) -> None:
        super().__init__(text, host)
        self.setProperty("kind", "small")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        host.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and isinstance(event, QResizeEvent):
            size = self.sizeHint()
            host = event.size()
            place(self, host.width() - size.width() - 12, 0, size.width(), host.height())
        return False


class Sidebar(QWidget):
    """New chat, search, the list, and the other pages."""

    new_requested = Signal()
    search_changed = Signal(str)  # titles are looked through at once
    search_paused = Signal(str)  # messages when the typing rests
    search_left = Signal()
    width_chosen = Signal(int)  # px at 100 %

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._width_px = SIDEBAR_PX
        self._chosen: int | None = None
        self._elsewhere = False  # another page than the chat's is shown
        self.setProperty("kind", "sidebar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.new_button = push_button("  " + tr("New chat"), self, self.new_requested, kind="new")
        self.new_button.setAccessibleName(tr("New chat"))
        self.new_button.setIcon(themed_icon(theme, "square-pen", "text"))
        scale_icon(theme, self.new_button, 16)
        self.new_button.setAccessibleDescription(key_words("Ctrl+N"))
        KeyHint(key_words("Ctrl+N"), self.new_button)
        self.search = search_field(theme, tr("Search chats"), self, clears=False)
        if self.isRightToLeft():  # words of the other direction would begin under the hint
            self.search.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute)
        self._search_hint = KeyHint(key_words("Ctrl+K"), self.search)
        self.search.textChanged.connect(self._search_changed)
        self.search.installEventFilter(self)
        self.model = ConversationModel(self)
        self.list = ConversationList(theme, self.model, self)
        self._sentence = ""
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self._search_paused)
        self._empty = PlainLabel(self, kind="sub", wrap=True)
        self._empty.setContentsMargins(16, 8, 16, 8)
        fields = filled(QVBoxLayout(), self.new_button, self.search, margins=(12, 12, 12, 9), spacing=8)
        column = filled(QVBoxLayout(self), fields, self._empty, (self.list, 1), margins=(0, 0, 1, 0), spacing=0)
        self.nav = PlacesNav(theme, self)
        column.addWidget(self.nav)
        self.edge = PaneEdge(theme, self, tr("Width of the chats: left and right change it"), at_left=False)
        self.edge.width_wanted.connect(self._choose_width)
        self._explain()

    def sizeHint(self) -> QSize:
        return QSize(self._theme.type.px(self._width_px), 400)

    def set_width(self, width_px: int) -> None:
        """Have another width, in px at 100 %, as far as that is allowed."""
        least, most = _BOUNDS_PX
        self._width_px = min(max(width_px, least), most)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.edge.place()

    @Slot(int)
    def _choose_width(self, width_px: int) -> None:
        self.set_width(round(width_px / self._theme.type.scale))
        self.width_chosen.emit(self._width_px)

    def show_rows(self, rows: list[Row], folders: Sequence[str] = ()) -> None:
        """Show these, with every folder that there is."""
        self.list.show_rows(rows, folders)
        if self.search.text().strip():
            self._pause.start()
        self._explain()

    def show_results(self, results: SearchResults) -> None:
        """Show the messages that were found under the titles."""
        self._sentence = results.sentence
        self.model.show_hits(results.hits)
        self.list.select_conversation(self.list.current)
        self._explain()

    def _explain(self) -> None:
        searching = bool(self.search.text().strip())
        nothing = tr("Nothing found.") if searching else tr("Your chats will be listed here.")
        words = [self._sentence] if self._sentence and searching else []
        if self.model.first_row() is None and not self._pause.isActive():
            words.append(nothing)
        self._empty.setText(paragraph(*words))
        self._empty.setVisible(bool(words))

    @property
    def explanation(self) -> str:
        """Text above the list; empty where there is none."""
        return "" if self._empty.isHidden() else self._empty.text()

    def select(self, conversation_id: int | None) -> None:
        """Mark the conversation that is shown; None for a blank one."""
        self._chosen = conversation_id
        self.list.select_conversation(None if self._elsewhere else conversation_id)

    def choose_place(self, name: str) -> None:
        """Mark the page that is shown: one row at a time is marked, of the chats or of the pages."""
        self.nav.choose(name)
        self._elsewhere = name != CHAT
        self.select(self._chosen)

    def focus_search(self) -> None:
        """Put the keyboard into the search field."""
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Escape leaves the search, Enter opens the first result, Down goes to the list."""
        if watched is self.search and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() == Qt.Key.Key_Escape:
                self.search.clear()
                self.search_left.emit()
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.search.text().strip():
                if self._pause.isActive():
                    self._pause.stop()
                    self._search_paused()
                self.list.open_first()
                return True
            if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.list.setFocus(Qt.FocusReason.TabFocusReason)
                return True
        return False

    @Slot(str)
    def _search_changed(self, text: str) -> None:
        self._search_hint.setVisible(not text)
        self._pause.stop()
        self._sentence = ""
        self.model.show_hits(())
        self.search_changed.emit(text)

    @Slot()
    def _search_paused(self) -> None:
        self.search_paused.emit(self.search.text().strip())
