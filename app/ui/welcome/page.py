"""The welcome page: ask the guide at once, see what this computer is, and get a model that suits it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QLabel, QPushButton, QWidget

from app.ui import figures
from app.ui.flow import Flow
from app.ui.machine.cards import Cards
from app.ui.machine.words import card_words
from app.ui.models.card_grid import CardGrid
from app.ui.models.getting import Getting
from app.ui.models.model_shelf import ModelShelf
from app.ui.place_page import PlacePage
from app.ui.section_head import SectionHead
from app.ui.theme.icons import scale_icon, themed_icon
from app.ui.theme.theme import Theme
from app.ui.welcome.first_look import FirstLook, Look
from app.ui.welcome.guide_panel import GuidePanel
from app.ui.welcome.hero import Hero
from app.words import tr

if TYPE_CHECKING:
    from app.bridge.workspace import Workspace

_WIDTH_PX = 936
_NARROW_PX = 720
_REFRESH_MS = 80


class WelcomePage(PlacePage):
    """Shows what is known so far; nothing on it waits for anything else.

    Attributes:
        guide: Asking at once.
        look: What finds out about this computer.
        cards: The models that suit it.
        skip_button: Leaves for an empty chat.
    """

    asked = Signal(str)  # of the guide; empty opens a chat
    skipped = Signal()
    chat_requested = Signal(str)  # an installed model's reference
    file_requested = Signal()
    network_requested = Signal()
    download_begun = Signal()

    def __init__(self, theme: Theme, workspace: Workspace) -> None:
        super().__init__(theme, tr("Welcome to Tenon"))
        self._theme = theme
        self._workspace = workspace
        self._store = workspace.model_store
        self.title.hide()
        self.sidebar_button.hide()
        self.look = FirstLook(workspace, self)
        self.getting = Getting(theme, self._store.offers, self)
        self._shelf = ModelShelf(workspace, self._store)
        self._tabs: list[QWidget] = []
        self.skip_button = QPushButton(tr("Skip"), self)
        self.skip_button.setProperty("kind", "link")
        self.skip_button.clicked.connect(self.skipped)
        self.head.addWidget(self.skip_button)
        self.guide = GuidePanel(theme, self)
        self.machine_head = SectionHead(tr("This computer"), self)
        self.machine = Cards(theme, self)
        self.models_head = SectionHead(tr("Good models for it"), self)
        self.cards = CardGrid(theme, self)
        self.trouble = QLabel(self)
        self.trouble.setProperty("kind", "warning")
        self.trouble.setWordWrap(True)
        self.trouble.hide()
        self._foot = QWidget(self)
        self._build_foot()
        for widget in (
            Hero(self), self.guide, self.machine_head, self.machine, self.models_head, self.trouble, self.cards,
            self._foot,
        ):  # fmt: skip
            if isinstance(widget, SectionHead):
                self.column.addSpacing(8)
            self.column.addWidget(widget)
        self.column.addStretch(1)
        self._later = QTimer(self, singleShot=True, interval=_REFRESH_MS)
        self._later.timeout.connect(self.refresh)
        self._connect()

    def _build_foot(self) -> None:
        self._foot_row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self._foot)
        self._foot_row.setContentsMargins(0, 0, 0, 0)
        self.file_button = self._link("folder-open", tr("I have a model file"))
        self.file_button.clicked.connect(self.file_requested)
        self.network_button = self._link("link", tr("Proxy or mirror"))
        self.network_button.clicked.connect(self.network_requested)
        words = QLabel(tr("No account and no telemetry. Models come from Hugging Face."), self._foot)
        words.setProperty("kind", "sub")
        words.setWordWrap(True)
        links = Flow(8)
        links.addWidget(self.file_button)
        links.addWidget(self.network_button)
        self._foot_row.addLayout(links, 1)
        self._foot_row.addWidget(words, 1)
        words.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._foot_words = words

    def _connect(self) -> None:
        store = self._store
        for signal in (
            store.downloads.changed, store.installed.changed, store.forecasts.changed, self.look.changed,
            self.getting.changed,
        ):  # fmt: skip
            signal.connect(self._refresh_soon)
        store.downloads.changed.connect(self._tell_download)
        store.downloads.refused.connect(self._say_trouble)
        self.getting.trouble.connect(self._say_trouble)
        self.guide.asked.connect(self.asked)
        self.cards.get_requested.connect(self._get)
        self.cards.chat_requested.connect(self.chat_requested)

    @Slot()
    def refresh(self) -> None:
        """Show everything as it is now."""
        self.machine_head.say(self._machine_words())
        report = self._workspace.machine.report
        self.machine.setVisible(report is not None)
        if report is not None:  # one line of each is enough here
            self.machine.set_words(
                [replace(words, details=words.details[:1]) for words in card_words(report)]
            )
        if not self._store.forecasts.under_way or self._choosing:
            contents = self._shelf.cards(self.getting.asked)
            # The page's one accent is the guide's button.
            self.cards.show_cards([replace(content, primary=False, in_words=True) for content in contents])
        self.models_head.say(self._models_words())
        self._order_tabs()

    def showEvent(self, event: QShowEvent) -> None:
        """Ready for typing, and looking at the computer."""
        super().showEvent(event)
        self.guide.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self.look.begin()
        self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A column in the middle, not wider than it reads well."""
        super().resizeEvent(event)
        margins = self.column.contentsMargins()
        side = max(margins.left(), (self.width() - self._theme.type.px(_WIDTH_PX)) // 2)
        if side != margins.left():
            self.column.setContentsMargins(side, margins.top(), side, margins.bottom())
        narrow = self.width() < self._theme.type.px(_NARROW_PX)
        below, beside = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._foot_row.setDirection(below if narrow else beside)
        sideways = Qt.AlignmentFlag.AlignLeft if narrow else Qt.AlignmentFlag.AlignRight
        self._foot_words.setAlignment(sideways | Qt.AlignmentFlag.AlignVCenter)

    def _machine_words(self) -> str:
        if self.look.stage is Look.MEASURING:
            return tr(
                "Measuring its speed, {share}. You need not wait.", share=figures.percent(self.look.share)
            )
        if self.look.stage is Look.FAILED:
            return tr("It could not be looked at. Everything else works all the same.")
        if self.look.stage is Look.LOOKING:
            return tr("Looking at what it has. You need not wait.")
        return ""

    @property
    def _choosing(self) -> bool:
        """Whether a card has to change; else none does while another model may take its place under the pointer."""
        asking = any(card.content is not None and card.content.asked for card in self.cards.cards.values())
        return bool(asking or self.getting.asked or self._store.downloads.entries)

    def _models_words(self) -> str:
        known, found = self._store.forecasts.known.values(), bool(self.cards.cards)
        if not found and self.look.stage is Look.FAILED:
            return tr("See all of them on the page Models.")
        if not found and (not known or self._store.forecasts.under_way):
            return tr("They come as soon as it is known what runs here.")
        if not found:
            return tr("None of the usual ones fits in its memory; the page Models has all of them.")
        if all(prediction.measured for prediction in known):
            return tr("Speeds are predicted from measurements made here.")
        return tr("Speeds are guesses until this machine is measured.")

    @Slot()
    def _refresh_soon(self) -> None:
        if self.isVisible() and not self._later.isActive():
            self._later.start()

    @Slot(str)
    def _get(self, reference: str) -> None:
        content = self.cards.cards[reference].content
        if content is not None:
            self.trouble.hide()
            self.getting.get(content.model, with_draft=content.draft_bytes > 0, ask=False)

    @Slot()
    def _tell_download(self) -> None:
        if self.isVisible() and self._store.downloads.entries:
            self.download_begun.emit()

    @Slot(str)
    def _say_trouble(self, sentence: str) -> None:
        self.trouble.setText(tr("{problem} The small guide works without the net.", problem=sentence))
        self.trouble.show()

    def _order_tabs(self) -> None:
        """From the top to the bottom, whenever cards came or went."""
        order: list[QWidget] = [self.skip_button, self.guide.field, self.guide.button]
        order += [card.button for card in self.cards.cards.values()]
        order += [self.file_button, self.network_button]
        if order != self._tabs:
            self._tabs = order
            for before, after in pairwise(order):
                self.setTabOrder(before, after)

    def _link(self, icon: str, text: str) -> QPushButton:
        button = QPushButton(f" {text}", self._foot)
        button.setAccessibleName(text)
        button.setProperty("kind", "link")
        button.setIcon(themed_icon(self._theme, icon, "acc"))
        scale_icon(self._theme, button, 16)
        return button
