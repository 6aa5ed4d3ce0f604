"""Files that are dragged over the window and dropped on it: models are opened, all others go with the message."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QDropEvent, QFontMetrics, QHideEvent, QPainter, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import QApplication, QWidget

from app.chat.model_entries import model_path
from app.ui.composer.prompt_edit import local_files
from app.ui.painting import smooth
from app.ui.shell import paint_veil
from app.ui.theme.icons import tinted_pixmap
from app.ui.theme.theme import TextStyle, Theme
from app.words import tr

_GAP_PX = 12
_EDGE_PX = 4
_LEAST_PX = 76
_ICON_PX = 24
# While files are dragged in from another program none of these comes.
_GOES_ON = (QEvent.Type.MouseMove, QEvent.Type.MouseButtonPress, QEvent.Type.KeyPress)


class FileDrops(QWidget):
    """Lies over the window while files are dragged there and shows where they go; the pointer passes through it.

    Args:
        window: Takes the drops, wherever no part of it takes them first.
        composer: Takes attached files.
    """

    attached = Signal(object)  # list of Path
    models_dropped = Signal(object)  # list of Path

    def __init__(self, theme: Theme, window: QWidget, composer: QWidget) -> None:
        super().__init__(window)
        self._theme = theme
        self._window = window
        self._composer = composer
        app = QApplication.instance()
        assert app is not None
        self._app = app
        self.models: list[Path] = []
        self.others: list[Path] = []
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take what is dragged over the window; a program that ends while it drags tells nothing of it."""
        kind = event.type()
        if kind in _GOES_ON:
            self.hide()
            return False
        if watched is not self._window:
            return False
        if kind in (QEvent.Type.DragEnter, QEvent.Type.DragMove, QEvent.Type.Drop):
            assert isinstance(event, QDropEvent)
            files = local_files(event.mimeData())
            if not files:
                return False
            event.acceptProposedAction()
            if kind == QEvent.Type.DragEnter:
                self._show(files)
            elif kind == QEvent.Type.Drop:
                self._drop(files)
            return True
        if kind == QEvent.Type.DragLeave:
            self.hide()
        return False

    def zones(self) -> list[tuple[QRect, str, str, str]]:
        """Each place that files go to: where it is, its icon, what happens there, and to what."""
        whole = self.rect().adjusted(_EDGE_PX, _EDGE_PX, -_EDGE_PX, -_EDGE_PX)
        field = QRect(self._composer.mapTo(self._window, QPoint(0, 0)), self._composer.size())
        field = field if self._composer.isVisible() else whole
        if field.height() < self._theme.type.px(_LEAST_PX):
            field.setTop(field.bottom() - self._theme.type.px(_LEAST_PX) + 1)
        above = QRect(whole)
        if self.others and field != whole:
            above.setBottom(field.top() - _GAP_PX)
        zones = []
        if self.models:
            zones.append((above, "package", tr("Open as a model, in a new chat"), _names(self.models)))
        if self.others:
            zones.append((field, "paperclip", tr("Attach to your message"), _names(self.others)))
        return zones

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_veil(self)
        painter = smooth(self)
        for rect, icon, words, names in self.zones():
            painter.setPen(QPen(self._theme.color("acc"), 2, Qt.PenStyle.DashLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(rect).adjusted(1, 1, -1, -1), 10, 10)
            self._paint_plate(painter, rect, icon, words, names)

    def _paint_plate(self, painter: QPainter, rect: QRect, icon: str, words: str, names: str) -> None:
        room = rect.width() - 6 * _GAP_PX
        lines = []
        for style, color, text in ((TextStyle.UI_BOLD, "text", words), (TextStyle.SMALL, "sub", names)):
            font = self._theme.font(style)
            metrics = QFontMetrics(font)
            lines.append((font, metrics, color, metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, room)))
        height = sum(metrics.height() for _, metrics, _, _ in lines)
        icon_px = _ICON_PX if rect.height() >= 3 * height + 4 * _GAP_PX else 0
        height += icon_px + (8 if icon_px else 0)
        width = max(metrics.horizontalAdvance(text) for _, metrics, _, text in lines)
        plate = QRect(0, 0, width + 4 * _GAP_PX, height + 2 * _GAP_PX)
        plate.moveCenter(rect.center())
        painter.setPen(self._theme.color("line"))
        painter.setBrush(self._theme.color("raised"))
        painter.drawRoundedRect(QRectF(plate), 10, 10)
        top = plate.top() + _GAP_PX
        if icon_px:
            pixmap = tinted_pixmap(icon, self._theme.palette.acct, icon_px, self.devicePixelRatioF())
            painter.drawPixmap(plate.center().x() - icon_px // 2, top, pixmap)
            top += icon_px + 8
        for font, metrics, color, text in lines:
            painter.setFont(font)
            painter.setPen(self._theme.color(color))
            box = QRect(plate.left(), top, plate.width(), metrics.height())
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
            top += metrics.height()

    def showEvent(self, event: QShowEvent) -> None:
        self._app.installEventFilter(self)

    def hideEvent(self, event: QHideEvent) -> None:
        self._app.removeEventFilter(self)

    def _show(self, files: list[Path]) -> None:
        self.models = [path for path in files if model_path(path) is not None]
        self.others = [path for path in files if path not in self.models]
        self.setGeometry(self._window.rect())
        self.raise_()
        self.show()
        self.update()

    def _drop(self, files: list[Path]) -> None:
        self._show(files)  # what was dragged may have come in by another part of the window
        self.hide()
        if self.models:
            self.models_dropped.emit(self.models)
        if self.others:
            self.attached.emit(self.others)


def _names(paths: list[Path]) -> str:
    first = paths[0].name
    return first if len(paths) == 1 else tr("{name} and %n more", len(paths) - 1, name=first)
