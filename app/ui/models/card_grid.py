"""Cards side by side: three, two or one in a row, by the width there is."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from app.ui.models.card import CardContent, ModelCard
from app.ui.theme.theme import Theme

_LEAST_PX = 250
_GAP_PX = 16
_MOST_COLUMNS = 3


class CardGrid(QWidget):
    """Keeps a card as long as its model is shown, so that the keyboard's focus stays where it is."""

    get_requested = Signal(str)
    retry_requested = Signal(str)
    chat_requested = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.cards: dict[str, ModelCard] = {}
        self._columns = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(_GAP_PX)

    def show_cards(self, contents: Sequence[CardContent]) -> None:
        """Show these."""
        wanted = [content.model.reference for content in contents]
        for reference in [known for known in self.cards if known not in wanted]:
            card = self.cards.pop(reference)
            card.hide()
            card.deleteLater()
        same = list(self.cards) == wanted
        for content in contents:
            card_shown = self.cards.get(content.model.reference)
            if card_shown is not None:
                card_shown.show_content(content)
                continue
            card = ModelCard(self._theme, content, self)
            card.get_requested.connect(self.get_requested)
            card.retry_requested.connect(self.retry_requested)
            card.chat_requested.connect(self.chat_requested)
            self.cards[content.model.reference] = card
        if not same:
            self.cards = {reference: self.cards[reference] for reference in wanted}
            self._columns = 0
            self._arrange()
        self.setVisible(bool(contents))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """More or fewer columns."""
        super().resizeEvent(event)
        self._arrange()

    @property
    def columns(self) -> int:
        """Number of cards in a row."""
        return self._columns

    def _arrange(self) -> None:
        least = self._theme.type.px(_LEAST_PX)
        columns = max(1, min(_MOST_COLUMNS, (self.width() + _GAP_PX) // (least + _GAP_PX)))
        if columns == self._columns:
            return
        self._columns = columns
        for number, card in enumerate(self.cards.values()):
            self._grid.addWidget(card, number // columns, number % columns)
        for column in range(_MOST_COLUMNS):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)
