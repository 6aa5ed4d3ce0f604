"""Base of the dialogs of the page of models: words, then buttons, the first one of which does it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.chat.model_entries import ImportEntry, RemovalEntry
from app.ui import figures
from app.ui.boxes import STRETCH, filled
from app.ui.buttons import push_button
from app.ui.inert_text import PlainLabel
from app.ui.models.wording import joined
from app.ui.theme.focus_ring import RingedDialog
from app.ui.theme.theme import Theme
from app.ui.tick_box import RadioBox, TickBox
from app.words import tr
from engine.messages import DownloadStatus

_WIDTH_PX = 460
_EDGE_PX = 20


#: What comes again in a moment is not asked about.
WORTH_ASKING_BYTES = 50_000_000


class ModelDialog(RingedDialog):
    """Sheet above the window.

    Attributes:
        column: The layout to fill.
        accept_button: Does what the dialog is about.
    """

    def __init__(self, theme: Theme, title: str, accept: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, title, parent)
        self._theme = theme
        content = QWidget(self)
        self.column = filled(QVBoxLayout(content), margins=(_EDGE_PX, 18, _EDGE_PX, 8), spacing=10)
        self._heading = PlainLabel(title, content, kind="section", wrap=True)
        self.column.addWidget(self._heading)
        self.area = QScrollArea(self)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setWidgetResizable(True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setWidget(content)
        self.area.setAccessibleName(title)
        self.cancel_button = push_button(tr("Cancel"), self, self.reject)
        self.accept_button = push_button(accept, self, self.accept, kind="primary", default=True)
        buttons = filled(
            QHBoxLayout(),
            *(STRETCH, self.cancel_button, self.accept_button),
            margins=(_EDGE_PX, 12, _EDGE_PX, 16),
            spacing=8,
        )
        filled(QVBoxLayout(self), (self.area, 1), buttons, margins=0, spacing=0)

    def add_words(self, words: str, kind: str = "sub") -> QLabel:
        """Add a paragraph and return its label."""
        label = PlainLabel(words, self, kind=kind, wrap=True)
        self.column.addWidget(label)
        return label

    def fit(self) -> None:
        """Make the dialog as high as its words, within the window around it."""
        parent = self.parentWidget()
        room = parent.window().size() if parent is not None else None
        width = self._theme.type.px(_WIDTH_PX)
        if room is not None:
            width = min(width, room.width() - 32)
        for label in self.findChildren(QLabel):  # its font decides on how high it is
            label.ensurePolished()
        self.column.activate()
        height = self.column.totalHeightForWidth(width) + self._theme.type.px(32) + 32
        if room is not None:
            height = min(height, max(260, room.height() - 40))
        self.resize(width, height)


class GivingUpDialog(ModelDialog):
    """Asks."""

    def __init__(self, theme: Theme, entry: DownloadStatus, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Give up {name}?", name=entry.name), tr("Give up"), parent)
        size = figures.size(entry.done_bytes)
        self.add_words(
            tr("{size} of it are here and would be removed. Paused, it can go on later.", size=size)
        )
        self.cancel_button.setText(tr("Keep it"))
        self.column.addStretch(1)
        self.fit()


class ImportDialog(ModelDialog):
    """Asks whether to copy."""

    def __init__(self, theme: Theme, entry: ImportEntry, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Add {name}", name=entry.name), tr("Add"), parent)
        self.entry = entry
        self.add_words(joined(entry.format, figures.size(entry.size_bytes)))
        self.add_words(entry.paths[0], "small")
        self.link = RadioBox(theme, tr("Use the files where they are"), self)
        self.link.setChecked(True)
        self.column.addWidget(self.link)
        self.add_words(
            tr("Takes no room; the model is gone when the files are moved or their disk is not there."),
            "small",
        )
        size, free = figures.size(entry.size_bytes), figures.size(entry.free_bytes)
        self.copy = RadioBox(theme, tr("Copy them, {size}", size=size), self)
        self.column.addWidget(self.copy)
        self.add_words(tr("{free} are free on the disk of Tenon's models.", free=free), "small")
        self.column.addStretch(1)
        self.fit()

    @property
    def copies(self) -> bool:
        """True if the files are to be copied."""
        return self.copy.isChecked()


class RemovalDialog(ModelDialog):
    """Asks; the button says what is freed."""

    def __init__(
        self, theme: Theme, removal: RemovalEntry, in_use: bool, parent: QWidget | None = None
    ) -> None:
        super().__init__(theme, tr("Remove {name}?", name=removal.name), "", parent)
        self.removal = removal
        if in_use:
            self.add_words(
                tr("It is in use: it leaves memory first, and the built-in model answers from then on.")
            )
        if removal.kept_location:
            self.add_words(tr("Its files stay in {place}.", place=removal.kept_location))
        self.boxes: dict[str, TickBox] = {}
        for draft, freed_bytes in removal.drafts:
            words = tr("Its draft {name} too, {size}", name=draft, size=figures.size(freed_bytes))
            box = self.boxes[draft] = TickBox(theme, words, self)
            box.setChecked(True)
            box.toggled.connect(self._say_size)
            self.column.addWidget(box)
        self.add_words(tr("Chats with it stay as they are."))
        self.column.addStretch(1)
        self._say_size()
        self.fit()

    @property
    def drafts(self) -> tuple[str, ...]:
        """Drafts to be removed along."""
        return tuple(draft for draft, box in self.boxes.items() if box.isChecked())

    def _say_size(self) -> None:
        freed = self.removal.freed_bytes + sum(
            freed_bytes for draft, freed_bytes in self.removal.drafts if draft in self.drafts
        )
        words = tr("Remove, frees {size}", size=figures.size(freed)) if freed > 1_000_000 else tr("Remove")
        self.accept_button.setText(words)
