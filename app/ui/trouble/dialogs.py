"""Dialogs of trouble: the details of an error, with what memory would be enough, and the program's versions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Slot
from PySide6.QtGui import QGuiApplication, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QPlainTextEdit,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.chat.troubles import title_of
from app.diagnostics import components
from app.ui.bars import HATCHED, LegendBar
from app.ui.figures import gigabytes
from app.ui.form_fields import LongTextEdit
from app.ui.opener import show_folder
from app.ui.painting import painted, smooth
from app.ui.parts import STRETCH, PlainLabel, filled, push_button
from app.ui.theme.focus_ring import RingedDialog
from app.ui.theme.icons import app_icon, scale_icon, themed_icon
from app.ui.theme.theme import TextStyle, Theme
from app.version import version_of
from app.words import tr
from engine.messages import ErrorReport, MemoryShortage

if TYPE_CHECKING:
    from app.diagnostics import Diagnostics

_COPIED_MS = 1_500
_SIDE_PX = 20
_LABEL_PX = 48
_BAR_PX = 16
_ROW_PX = 24
_WIDTH_PX = 592
_MOST_LINES = 12
_LEAST_TEXT_PX = 72
_ABOUT_WIDTH_PX = 520
_HEIGHT_PX = 480
_ICON_PX = 48


class DetailsFoot(QFrame):
    """A button that copies, and one that closes the dialog.

    Args:
        details: Asked for the text to copy.
        dialog: The dialog that it closes.
    """

    def __init__(self, theme: Theme, details: Callable[[], str], dialog: QDialog) -> None:
        super().__init__(dialog)
        self._details = details
        self.setProperty("kind", "dialog-foot")
        self.copy_button = push_button("", self, self._copy, default=False)
        self.copy_button.setIcon(themed_icon(theme, "copy"))
        scale_icon(theme, self.copy_button, 16)
        self._name_copy()
        self.close_button = push_button(tr("Close"), self, dialog.close, kind="primary", default=True)
        self._line = filled(
            QHBoxLayout(self),
            *(self.copy_button, STRETCH, self.close_button),
            margins=(_SIDE_PX, 10, _SIDE_PX, 10),
            spacing=8,
        )

    def add(self, button: QToolButton) -> None:
        """Put one more button after the one that copies."""
        self._line.insertWidget(1, button)

    @Slot()
    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._details())
        self.copy_button.setText(" " + tr("Copied"))
        QTimer.singleShot(_COPIED_MS, self, self._name_copy)

    @Slot()
    def _name_copy(self) -> None:
        self.copy_button.setText(" " + tr("Copy details"))


class ShortageBar(LegendBar):
    """Other programs, Tenon, what was free, and what was missing."""

    def __init__(self, theme: Theme, memory: MemoryShortage, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        free = max(0, memory.total_bytes - memory.others_bytes - memory.own_bytes)
        parts = (
            (
                memory.others_bytes,
                HATCHED,
                tr("other programs {size} GB", size=gigabytes(memory.others_bytes)),
            ),
            (memory.own_bytes, "acc", tr("Tenon {size} GB", size=gigabytes(memory.own_bytes))),
            (free, "press", tr("free {size} GB", size=gigabytes(free))),
            (memory.short_bytes, "red", tr("missing {size} GB", size=gigabytes(memory.short_bytes))),
        )
        self._parts = [part for part in parts if part[0] > 0]
        parts_in_words = ", ".join(words for _, _, words in self._parts)
        self.setAccessibleName(tr("Memory: {parts}", parts=parts_in_words))
        self.setToolTip(self.accessibleName())

    def sizeHint(self) -> QSize:
        px = self._theme.type.px
        return QSize(300, px(_ROW_PX) + self.legend_px((words for _, _, words in self._parts), px(_LABEL_PX)))

    def paintEvent(self, event: QPaintEvent) -> None:
        px, color = self._theme.type.px, self._theme.color
        painter = smooth(self)
        painter.setFont(self._theme.font(TextStyle.UI_BOLD))
        painter.setPen(color("text"))
        painter.drawText(painted(self, 0, 0, px(_LABEL_PX), px(_ROW_PX)), Qt.AlignmentFlag.AlignVCenter, "RAM")
        track = QRectF(px(_LABEL_PX), (px(_ROW_PX) - _BAR_PX) / 2, 0, _BAR_PX)
        track.setRight(self.width())
        whole = sum(size for size, _, _ in self._parts)
        self.paint_bar(painter, track, [(size, role) for size, role, _ in self._parts], whole)
        legend = [(role, words) for _, role, words in self._parts]
        self.paint_legend(painter, px(_ROW_PX), legend, px(_LABEL_PX))


class DetailsDialog(RingedDialog):
    """Title, sentence, who held the memory where it is about that, and technical details without chat text.

    Args:
        diagnostics: Makes the texts.
    """

    def __init__(
        self, theme: Theme, report: ErrorReport, diagnostics: Diagnostics, parent: QWidget | None = None
    ) -> None:
        super().__init__(theme, tr("What happened"), parent)
        self._theme = theme
        self._report = report
        self._diagnostics = diagnostics
        title = PlainLabel(tr(title_of(report)), self, kind="title", wrap=True)
        self._sentence = PlainLabel(report.message, self, kind="sub", wrap=True)
        self._sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        body = filled(QVBoxLayout(), title, self._sentence, margins=(_SIDE_PX, 14, _SIDE_PX, 14), spacing=6)
        if report.memory is not None:
            filled(body, 4, ShortageBar(theme, report.memory, self))
        filled(body, 6, (self._make_card(), 1))
        self.foot = self._make_foot()
        filled(QVBoxLayout(self), (body, 1), self.foot, margins=0, spacing=0)
        self.foot.close_button.setFocus()
        self.resize(self.sizeHint())

    def sizeHint(self) -> QSize:
        room = self.room(32)
        width = min(self._theme.type.px(_WIDTH_PX), room.width())
        layout = self.layout()
        assert layout is not None
        wanted = layout.totalHeightForWidth(width) - self.text.sizeHint().height() + self._text_height
        return QSize(width, min(wanted, room.height()))

    def _make_card(self) -> QFrame:
        card = QFrame(self)
        card.setProperty("kind", "card")
        head = QFrame(card)
        head.setProperty("kind", "card-head")
        head.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        name = PlainLabel(tr("Technical details"), head, kind="meter")
        privacy = PlainLabel(tr("no chat text included"), head, kind="meter")
        filled(QHBoxLayout(head), name, STRETCH, privacy, margins=(12, 8, 12, 8))
        self.text = LongTextEdit(card)
        self.text.setPlainText(self._diagnostics.technical(self._report))
        self.text.setProperty("kind", "details")
        self.text.setReadOnly(True)
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setFont(self._theme.font(TextStyle.CODE_SMALL))
        self.text.setAccessibleName(tr("Technical details"))
        self.text.setTabChangesFocus(True)
        lines = min(_MOST_LINES, self.text.document().lineCount() + 3)
        self.text.setMinimumHeight(self._theme.type.px(_LEAST_TEXT_PX))
        self._text_height = lines * self.text.fontMetrics().lineSpacing() + 16
        filled(QVBoxLayout(card), head, (self.text, 1), margins=1, spacing=0)
        return card

    def _make_foot(self) -> DetailsFoot:
        foot = DetailsFoot(self._theme, lambda: self._diagnostics.whole(self._report), self)
        self.folder_button = QToolButton(foot)
        self.folder_button.setProperty("kind", "quiet")
        self.folder_button.setText(tr("Open log folder"))
        self.folder_button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.folder_button.clicked.connect(self._open_folder)
        foot.add(self.folder_button)
        return foot

    @Slot()
    def _open_folder(self) -> None:
        problem = show_folder(self._diagnostics.log_folder)
        if problem:
            self.text.setPlainText(problem)


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
        super().resizeEvent(event)
        self._told.setMinimumHeight(self._told.heightForWidth(self._told.width()))

    def sizeHint(self) -> QSize:
        px = self._theme.type.px
        return QSize(px(_ABOUT_WIDTH_PX), px(_HEIGHT_PX)).boundedTo(self.room(32))

    def _text(self, words: str, name: str) -> QPlainTextEdit:
        text = QPlainTextEdit(words, self)
        text.setProperty("kind", "card")
        text.setReadOnly(True)
        text.setTabChangesFocus(True)
        text.setAccessibleName(name)
        return text
