"""Pictures of messages: small ones that open, and the large view."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Slot
from PySide6.QtGui import QImage, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.ui.figures import extent
from app.ui.painting import paint_box, paint_words, smooth
from app.ui.parts import STRETCH, PlainLabel, filled, push_button
from app.ui.theme.focus_ring import RingedDialog
from app.ui.theme.theme import TextStyle, Theme
from app.words import tr
from engine.messages import Attachment

_RADIUS_PX = 8
_EDGE_PX = 16


class PictureButton(QAbstractButton):
    """A picture as large as there is room. Pressed, it is shown in the large view."""

    def __init__(self, theme: Theme, attachment: Attachment, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.attachment = attachment
        self.setAccessibleName(tr("Picture {name}", name=attachment.name))
        self.setAccessibleDescription(extent(attachment))
        self.setToolTip(f"{attachment.name}, {extent(attachment)}")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.clicked.connect(self._open)
        if theme.pictures is not None:
            theme.pictures.came.connect(self.update)

    def fit(self, width: int, height: int) -> QSize:
        """Size in a box: never larger than the picture, and large enough for a finger."""
        picture = self.attachment.picture
        assert picture is not None
        whole, room = QSize(picture.width, picture.height), QSize(width, height)
        if whole.width() > width or whole.height() > height:
            whole.scale(room, Qt.AspectRatioMode.KeepAspectRatio)
        least = min(self._theme.type.side(28), width)
        self.setFixedSize(whole.expandedTo(QSize(least, least)))
        return self.size()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = smooth(self), self._theme
        picture = self.attachment.picture
        assert picture is not None
        whole = QSize(picture.width, picture.height)
        size = whole.scaled(self.size(), Qt.AspectRatioMode.KeepAspectRatio)
        made = None if theme.pictures is None else theme.pictures.image(picture, size * self.devicePixelRatioF())
        paint_box(painter, theme, self.rect(), _RADIUS_PX, "surf", "line")
        if isinstance(made, QImage):
            shown = QRectF(QPointF(0, 0), size.expandedTo(QSize(1, 1)))
            shown.moveCenter(QRectF(self.rect()).center())
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            around = QPainterPath()
            around.addRoundedRect(shown, _RADIUS_PX, _RADIUS_PX)
            painter.setClipPath(around)
            painter.drawImage(shown, made)
            return
        if made is not None and made != self.accessibleDescription():
            self.setAccessibleDescription(made)
            self.setToolTip(made)
        words = tr("Not there") if made else "…"
        paint_words(painter, theme, self.rect(), words, TextStyle.SMALL, "sub", Qt.AlignmentFlag.AlignCenter)

    @Slot()
    def _open(self) -> None:
        PictureView(self._theme, self.attachment, self.window()).open()


class PictureView(RingedDialog):
    """A picture as large as the window around it has room for. Escape, Enter and a press on it close it."""

    def __init__(self, theme: Theme, attachment: Attachment, parent: QWidget) -> None:
        super().__init__(theme, attachment.name, parent)
        self.picture = PictureButton(theme, attachment, self)
        self.picture.clicked.disconnect()
        self.picture.clicked.connect(self.accept)
        self.picture.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        close = push_button(tr("Close"), self, self.accept, kind="primary", default=True)
        words = PlainLabel(self.picture.toolTip(), self, kind="sub", wrap=True)
        foot = filled(QHBoxLayout(), (words, 1), close, spacing=12)
        edges = (_EDGE_PX, _EDGE_PX, _EDGE_PX, 12)
        centre = (self.picture, 0, Qt.AlignmentFlag.AlignCenter)
        filled(QVBoxLayout(self), centre, STRETCH, foot, margins=edges, spacing=12)
        close.ensurePolished()
        room = self.room(4 * _EDGE_PX) - QSize(0, close.sizeHint().height() + 12 + theme.type.px(20))
        self.picture.fit(room.width(), room.height())
        close.setFocus()
