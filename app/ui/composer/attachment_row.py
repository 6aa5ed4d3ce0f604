"""The files that go along with the next message: a chip each, which takes its file away when it is pressed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QMimeData, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget

from app.ui.buttons import icon_button
from app.ui.figures import extent
from app.ui.painting import in_lines, place
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle
from app.words import tr
from engine.messages import Attachment

_GAP_PX = 6
_CHIP_PX = 28
_WIDEST_NAME_PX = 220


class AttachmentRow(QWidget):
    """Row of chips on as many lines as they take, hidden without files."""

    changed = Signal()
    given_up = Signal(int)  # key of a file that was being read

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._attachments: tuple[Attachment, ...] = ()
        self._pending: dict[int, str] = {}
        self._chips: list[QToolButton] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._restyle)
        self.hide()

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """The files, in the order they came."""
        return self._attachments

    @property
    def pending(self) -> dict[int, str]:
        """Names of files that are still being read, by their keys."""
        return self._pending

    def set_attachments(self, attachments: Sequence[Attachment]) -> None:
        """Replace the files."""
        if tuple(attachments) != self._attachments:
            self._attachments = tuple(attachments)
            self._show()

    def set_pending(self, pending: dict[int, str]) -> None:
        """Replace the files that are still being read."""
        if pending != self._pending:
            self._pending = dict(pending)
            self._show()

    def _show(self) -> None:
        for chip in self._chips:
            chip.hide()
            chip.deleteLater()
        read = [self._chip(one.name, extent(one), self._remove, one.missing) for one in self._attachments]
        coming = [self._chip(name, tr("being read"), self._give_up) for name in self._pending.values()]
        self._chips = [*read, *coming]
        self.setVisible(bool(self._chips))
        self._place()
        self.changed.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width may need another number of lines."""
        super().resizeEvent(event)
        self._place()

    def _chip(self, name: str, remark: str, pressed: Callable[[], None], missing: str = "") -> QToolButton:
        button = tr("Remove {name}", name=name)
        tip = "\n".join(filter(None, (button, missing)))
        chip = icon_button(self._theme, "x", button, self, pressed, 14, tip=tip)
        chip.setAccessibleDescription(missing)
        chip.setProperty("kind", "file")
        chip.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        metrics = QFontMetrics(self._theme.font(TextStyle.SMALL))
        shown = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, _WIDEST_NAME_PX)
        chip.setText(f" {shown}, {remark}")
        chip.show()
        return chip

    @Slot()
    def _remove(self) -> None:
        at = next(number for number, chip in enumerate(self._chips) if chip is self.sender())
        self.set_attachments((*self._attachments[:at], *self._attachments[at + 1 :]))

    @Slot()
    def _give_up(self) -> None:
        at = next(number for number, chip in enumerate(self._chips) if chip is self.sender())
        self.given_up.emit(list(self._pending)[at - len(self._attachments)])

    @Slot()
    def _restyle(self) -> None:
        if self._chips:
            self._show()

    def _place(self) -> None:
        top, height = 0, self._theme.type.px(_CHIP_PX)
        widths = [min(chip.sizeHint().width(), self.width()) for chip in self._chips]
        places = in_lines(widths, self.width(), _GAP_PX)
        for chip, width, (left, line) in zip(self._chips, widths, places, strict=True):
            top = line * (height + _GAP_PX)
            place(chip, int(left), top, width, height)
        self.setFixedHeight(top + height if self._chips else 0)


def local_files(data: QMimeData) -> list[Path]:
    """Files of this machine that are dropped or pasted; none where it is anything else."""
    urls = data.urls() if data.hasUrls() else []
    return [Path(url.toLocalFile()) for url in urls] if all(url.isLocalFile() for url in urls) else []
