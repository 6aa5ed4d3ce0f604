"""A blank chat: a greeting with a few things to ask, and the lines above the composer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QPushButton, QVBoxLayout, QWidget

from app.chat.engine_state import EngineState
from app.chat.suggestions import suggestions
from app.help import Article, about_tenon, help_library
from app.ui.parts import Flow, PlainLabel, filled, in_columns, push_button
from app.ui.theme.icons import themed_icon
from app.ui.theme.theme import Theme
from app.words import tr
from engine.errors import ModelNotFound
from engine.messages import DEFAULT_MODEL

_WIDTH_PX = 660
_HELP_LINKS = 3


class EmptyState(QWidget):
    """Content in the transcript's place until there is one."""

    example_chosen = Signal(str)
    models_wanted = Signal()  # the page of models
    demonstration_wanted = Signal()
    help_wanted = Signal(str)  # an article's name; empty for the contents

    def __init__(self, theme: Theme, engine: EngineState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setProperty("kind", "page")
        self._title = PlainLabel(self, kind="display", wrap=True)
        self._lead = PlainLabel(self, kind="lead", wrap=True)
        for label in (self._title, self._lead):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.better = push_button("", self, self.models_wanted)
        self.buttons = [QPushButton(text, self) for text in suggestions(engine)]
        self._grid = QGridLayout()
        self._grid.setSpacing(8)
        self._columns = 0
        for button in self.buttons:
            button.setProperty("kind", "example")
            button.clicked.connect(partial(self._choose, button))
        self.help_buttons = [QPushButton(self) for _ in range(_HELP_LINKS + 1)]
        self.help_buttons[-1].setText(tr("All help"))
        self._help = QWidget(self)
        links = Flow(parent=self._help)
        self.demonstration = push_button(tr("See what Tenon gains"), self._help, self.demonstration_wanted, kind="link")
        self.demonstration.setToolTip(tr("The same prompt, plain and automatic, side by side"))
        links.addWidget(self.demonstration)
        for number, link in enumerate(self.help_buttons):
            link.setProperty("kind", "link")
            link.clicked.connect(partial(self._open_help, number))
            links.addWidget(link)
        self._articles: tuple[str, ...] = ("",) * (_HELP_LINKS + 1)
        self._inner = QWidget(self)
        filled(
            QVBoxLayout(self._inner),
            *(self._title, 8, self._lead, 12, (self.better, 0, Qt.AlignmentFlag.AlignHCenter), 24),
            *(self._grid, 16, self._help),
            margins=0,
            spacing=0,
        )
        self.set_engine(engine)
        theme.changed.connect(self._place)

    def set_engine(self, state: EngineState) -> None:
        """Say what answers."""
        self._title.setText(
            tr("A model that continues texts") if state.only_continues else tr("What would you like to know?")
        )
        bundled = state.model_ref == DEFAULT_MODEL
        missing = bundled and state.trouble is not None and state.trouble.kind == ModelNotFound.__name__
        self._lead.setText(
            tr("There is no model on this computer yet.")
            if missing
            else tr("{model}, a very small model: quick, often wrong.", model=state.model_name)
            if bundled
            else tr(
                "{model} answers on {server}. What you write is sent there.",
                model=state.model_name,
                server=state.server.name,
            )
            if state.server is not None
            else tr(
                "{model} continues a text that you begin. It was not made for chats.",
                model=state.model_name,
            )
            if state.only_continues
            else tr("{model} answers on this computer. What you write stays here.", model=state.model_name)
        )
        for button, text in zip(self.buttons, suggestions(state), strict=True):
            button.setText(text)
        self.better.setText(tr("Get a model") if missing else tr("Get a better one"))
        self.better.setVisible(bundled)
        self.demonstration.setVisible(not (missing or state.only_continues or state.server))
        self._place()

    def offer_help(self, articles: Sequence[Article]) -> None:
        """Offer articles, as many as there are links to them."""
        for button, article in zip(self.help_buttons, articles, strict=False):
            button.setText(article.title)
        self._articles = (*(article.name for article in articles), "")
        self._place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._place()

    @Slot()
    def _place(self) -> None:
        width = min(self._theme.type.px(_WIDTH_PX), self.width() - 32)
        layout = self._inner.layout()
        assert layout is not None
        self._arrange(width)
        for shown in range(len(self.buttons), -2, -1):  # as many examples as there is room for, then no help
            for number, button in enumerate(self.buttons):
                button.setVisible(number < shown)
            self._help.setVisible(shown >= 0)
            self._grid.invalidate()
            layout.invalidate()
            height = layout.heightForWidth(width)
            if height <= self.height() - 16:
                break
        top = max(16, (self.height() - height) * 2 // 5)
        self._inner.setGeometry((self.width() - width) // 2, top, width, height)

    def _arrange(self, width: int) -> None:
        """Put the examples into two columns if their words are whole there, else into one."""
        widths = [button.sizeHint().width() for button in self.buttons]
        fits = max(widths[::2]) + max(widths[1::2]) + self._grid.spacing() <= width
        columns = 2 if fits else 1
        if columns == self._columns:
            return
        self._columns = columns
        in_columns(self._grid, self.buttons, columns)

    def _open_help(self, number: int) -> None:
        self.help_wanted.emit(self._articles[number])

    def _choose(self, button: QPushButton) -> None:
        self.example_chosen.emit(button.text())


class ContinueLine(QWidget):
    """Says what becomes of what is written, and offers the other way; hidden where the model has a way of chatting."""

    chosen = Signal(bool)  # the chat is to be one text, or to go in turns

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._continues = False
        self.said = PlainLabel(self, kind="small")
        self.button = push_button("", self, self._choose, kind="link")
        row = Flow(4, self)
        row.addWidget(self.said)
        row.addWidget(self.button)
        theme.changed.connect(self._level)
        self.hide()

    def show_chat(self, only_continues: bool, continues: bool) -> None:
        """Fit the line to a chat, which may be one text, of a model that may have no way of writing a chat."""
        self._continues = continues
        self.said.setText(
            tr("The model goes on with your text.") if continues else tr("This model only continues texts.")
        )
        self.button.setText(tr("Chat instead") if continues else tr("Continue a text"))
        self._level()
        self.setVisible(only_continues or continues)

    @Slot()
    def _level(self) -> None:
        """Bring the sentence to the height of the button's words."""
        self.said.setMinimumHeight(self.button.sizeHint().height())

    @Slot()
    def _choose(self) -> None:
        self.chosen.emit(not self._continues)


class HelpLine(QPushButton):
    """Hidden but for questions that are plainly about Tenon."""

    opened = Signal(str)  # an article's name

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(tr("Help"), parent)
        self.setProperty("kind", "link")
        self.setIcon(themed_icon(theme, "info", "acc"))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.article: Article | None = None  # the article that it leads to; None while it is hidden
        self.clicked.connect(self._open)
        self.hide()

    def answer(self, question: str) -> None:
        """Offer an article where the question is plainly about Tenon; hide elsewhere."""
        found = help_library().search(question, 1) if about_tenon(question) else []
        self.article = found[0] if found else None
        if self.article is not None:
            self.setText(tr("Help has an answer: {title}", title=self.article.title))
        self.setVisible(self.article is not None)

    @Slot()
    def _open(self) -> None:
        if self.article is not None:
            self.opened.emit(self.article.name)
