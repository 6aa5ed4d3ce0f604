"""Panel of an empty chat at the first start: the model that answers already, and models that suit this computer."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer, Signal, SignalInstance, Slot
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.bridge.workspace import Workspace
from app.chat.engine_state import EnginePhase, EngineState
from app.ui import figures
from app.ui.models.cards import CardGrid
from app.ui.models.get_model import Getting
from app.ui.models.page_content import ModelShelf
from app.ui.parts import STRETCH, Flow, PlainLabel, filled, order_tabs, push_button
from app.ui.place_page import SectionHead
from app.ui.theme.icons import app_icon, scale_icon, themed_icon
from app.ui.theme.theme import Theme
from app.words import tr
from engine.messages import DEFAULT_MODEL
from engine.sentences import paragraph

_WIDTH_PX = 936
_MARGIN_PX, _NARROW_MARGIN_PX = 32, 12
_NARROW_PX = 720
_TOP_PX = 48
_REFRESH_MS = 80
_ICON_PX = 64
_HERO_NARROW_PX = 480  # the words need all of it


class Hero(QWidget):
    """Says hello."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        title = PlainLabel(tr("Welcome to Tenon"), self, kind="display", wrap=True)
        self.lead = PlainLabel(self, kind="lead", wrap=True)
        words = filled(QVBoxLayout(), title, self.lead, spacing=2)
        row = filled(QHBoxLayout(self), margins=(0, 0, 0, 4), spacing=20)
        self._icon = PlainLabel(self)
        self._icon.setPixmap(app_icon().pixmap(QSize(_ICON_PX, _ICON_PX), self.devicePixelRatioF()))
        row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addLayout(words, 1)

    def show_engine(self, state: EngineState) -> None:
        """Say who answers."""
        if state.phase is EnginePhase.STOPPED or state.sentence:
            words = tr("Get a model below, or open one that you have.")
        elif state.model_ref == DEFAULT_MODEL:
            words = tr(
                "Write below: {model} answers at once. It is very small: quick, often wrong.",
                model=state.model_name,
            )
        else:
            words = tr("Write below: {model} answers on this computer.", model=state.model_name)
        self.lead.setText(paragraph(words, tr("What you write stays here.")))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._icon.setVisible(self.width() >= _HERO_NARROW_PX)

    def minimumSizeHint(self) -> QSize:
        return QSize(_ICON_PX, super().minimumSizeHint().height())


class WelcomePanel(QScrollArea):
    """Shows what is known so far; nothing on it waits for anything else, and the composer below takes words at once."""

    chat_requested = Signal(str)  # an installed model's reference
    file_requested = Signal()
    models_requested = Signal()
    network_requested = Signal()
    download_begun = Signal()

    def __init__(self, theme: Theme, workspace: Workspace) -> None:
        super().__init__()
        self._theme = theme
        self._workspace = workspace
        self._store = workspace.model_store
        self._looked = False
        self._tabs: list[QWidget] = []
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("Welcome to Tenon"))
        content = QWidget()
        content.setProperty("kind", "column")
        self.setWidget(content)
        self._shelf = ModelShelf(workspace, self._store)
        self.getting = Getting(theme, self._store, self._shelf, self)
        self.hero = Hero(content)  # says hello, and who answers
        self.head = SectionHead(tr("Better models for this computer"), content)
        self.cards = CardGrid(theme, content)  # the models that suit this computer
        self.links = (
            self._link("folder-open", tr("I have a model file"), self.file_requested),
            self._link("package", tr("All models"), self.models_requested),
            self._link("link", tr("Proxy or mirror"), self.network_requested),
        )
        links = Flow(8)
        for link in self.links:
            links.addWidget(link)
        promise = PlainLabel(
            tr("No account and no telemetry. Models come from Hugging Face."), content, kind="sub", wrap=True
        )
        self._column = filled(
            QVBoxLayout(content), self.hero, self.head, self.cards, links, promise, STRETCH, spacing=14
        )
        self._later = QTimer(self, singleShot=True, interval=_REFRESH_MS)
        self._later.timeout.connect(self.refresh)
        self._connect()

    def _connect(self) -> None:
        store = self._store
        for signal in (
            store.downloads.changed, store.installed.changed, store.forecasts.changed, self.getting.changed,
            store.offers.missed_changed, self._workspace.machine.changed,
        ):  # fmt: skip
            signal.connect(self._refresh_soon)
        self._workspace.model.changed.connect(self._engine_changed)
        store.downloads.changed.connect(self._tell_download)
        self.cards.get_requested.connect(self._get)
        self.cards.details_requested.connect(self._show_details)
        self.cards.retry_requested.connect(self.getting.go_on)
        self.cards.chat_requested.connect(self.chat_requested)

    @Slot()
    def refresh(self) -> None:
        """Show everything as it is now."""
        self.hero.show_engine(self._workspace.model.state)
        if not self._store.forecasts.under_way or self._choosing:
            # The accent is the composer's: what to do first is to write.
            self.cards.show_cards(self._shelf.cards(self.getting.asked, plainly=True))
        self.head.say(self._words())
        self._order_tabs()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._look()
        self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        least = _NARROW_MARGIN_PX if self.width() < _NARROW_PX else _MARGIN_PX
        side = max(least, (self.viewport().width() - self._theme.type.px(_WIDTH_PX)) // 2)
        self._column.setContentsMargins(side, self._theme.type.px(_TOP_PX) if least == _MARGIN_PX else 8, side, 12)

    def _look(self) -> None:
        """Ask the engine what suits this computer, once it can tell."""
        up = self._workspace.model.state.phase not in (EnginePhase.STARTING, EnginePhase.STOPPED)
        if up and not self._looked and self.isVisible():
            self._looked = True
            self._store.look_around()

    @Slot(object)
    def _engine_changed(self, state: EngineState) -> None:
        self._look()
        self._refresh_soon()

    @property
    def _choosing(self) -> bool:
        """True if a card has to change; else none does while another model may take its place under the pointer."""
        asking = any(card.content is not None and card.content.asked for card in self.cards.cards.values())
        return bool(asking or self.getting.asked or self._shelf.downloads())

    def _words(self) -> str:
        known, found = self._store.forecasts.known, bool(self.cards.cards)
        measuring = self._workspace.machine.measuring
        if measuring.running:
            share = figures.percent(measuring.share)
            return tr("Measuring its speed, {share}. You need not wait.", share=share)
        if found:
            return self._shelf.machine_words()
        if self._workspace.model.state.phase is EnginePhase.STOPPED:
            return tr("It could not be examined. Everything else still works.")
        if not known or self._store.forecasts.under_way:
            return tr("They appear once Tenon knows which models run here.")
        return tr(
            "None of the recommended models fits in its memory and says a first word within 10 seconds; the page "
            "Models has all models."
        )

    @Slot()
    def _refresh_soon(self) -> None:
        if self.isVisible() and not self._later.isActive():
            self._later.start()

    @Slot(str)
    def _get(self, reference: str) -> None:
        content = self.cards.cards[reference].content
        if content is not None:
            self.getting.get(content.model, with_draft=content.draft_bytes > 0, ask=False)

    @Slot(str)
    def _show_details(self, reference: str) -> None:
        self.getting.show(self._shelf.model(reference))

    @Slot()
    def _tell_download(self) -> None:
        if self.isVisible() and self._store.downloads.entries:
            self.download_begun.emit()

    def _order_tabs(self) -> None:
        """Let Tab go from the top to the bottom; called whenever cards came or went."""
        order: list[QWidget] = []
        for card in self.cards.cards.values():
            order += [card.info, card.button]
        order += self.links
        if order != self._tabs:
            self._tabs = order
            order_tabs(order)

    def _link(self, icon: str, text: str, asks: SignalInstance) -> QPushButton:
        button = push_button(f" {text}", self.widget(), asks, kind="link")
        button.setAccessibleName(text)
        button.setIcon(themed_icon(self._theme, icon, "acc"))
        scale_icon(self._theme, button, 16)
        return button
