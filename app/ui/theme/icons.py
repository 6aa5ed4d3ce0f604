"""Icons from SVG files, tinted in the colours of the theme in use at the moment they are painted."""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QByteArray, QObject, QRect, QRectF, QSize, Qt, Slot
from PySide6.QtGui import QIcon, QIconEngine, QPainter, QPixmap, QPixmapCache
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView

from app.ui.theme.theme import ASSETS, Theme

ICON_FOLDER = ASSETS / "icons"


@cache
def _svg(name: str) -> str:
    return (ICON_FOLDER / f"{name}.svg").read_text(encoding="utf-8")


def tinted_pixmap(name: str, color: str, size_px: int, ratio: float = 1.0) -> QPixmap:
    """Return an icon of assets/icons in one colour (``#RRGGBB``), ``ratio`` device pixels per px."""
    key = f"tenon-{name}-{color}-{size_px}-{ratio}"
    pixmap = QPixmap()
    if QPixmapCache.find(key, pixmap):
        return pixmap
    side = round(size_px * ratio)
    pixmap = QPixmap(side, side)
    pixmap.fill(Qt.GlobalColor.transparent)
    try:
        svg = _svg(name).replace("currentColor", color)
    except OSError:  # no descriptor is left: nothing is drawn this time
        return pixmap
    with QPainter(pixmap) as painter:
        QSvgRenderer(QByteArray(svg.encode())).render(painter, QRectF(0, 0, side, side))
    pixmap.setDevicePixelRatio(ratio)
    QPixmapCache.insert(key, pixmap)
    return pixmap


class TintedIconEngine(QIconEngine):
    """Paints an SVG in a role's colour, so that a change of theme needs no new icons."""

    def __init__(self, theme: Theme, name: str, role: str) -> None:
        super().__init__()
        self._theme = theme
        self._name = name
        self._role = role

    def clone(self) -> QIconEngine:
        """Return a copy for a detached QIcon."""
        return TintedIconEngine(self._theme, self._name, self._role)

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        """Paint the icon centred in a square of the rectangle's shorter side."""
        side = min(rect.width(), rect.height())
        ratio = painter.device().devicePixelRatioF()
        pixmap = tinted_pixmap(self._name, self._color(mode), side, ratio)
        painter.drawPixmap(rect.x() + (rect.width() - side) // 2, rect.y() + (rect.height() - side) // 2, pixmap)

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        """Return the icon at a ratio of 1."""
        return self.scaledPixmap(size, mode, state, 1.0)

    def scaledPixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State, scale: float) -> QPixmap:
        """Return the icon for a screen's ratio; the size is in logical px (tried with Qt 6.8 and 6.11)."""
        side = max(1, min(size.width(), size.height()))
        return tinted_pixmap(self._name, self._color(mode), side, scale)

    def _color(self, mode: QIcon.Mode) -> str:
        role = "mute" if mode == QIcon.Mode.Disabled else self._role
        return str(getattr(self._theme.palette, role))


def themed_icon(theme: Theme, name: str, role: str = "sub") -> QIcon:
    """Return an icon of assets/icons in the colour of a role of `Palette`; it follows the theme."""
    return QIcon(TintedIconEngine(theme, name, role))


class _ScaledIcon(QObject):
    """Keeps the icon of a button, and the button where it has a side, as large as the text asks for."""

    def __init__(self, theme: Theme, widget: QAbstractButton | QAbstractItemView, icon_px: int, side_px: int) -> None:
        super().__init__(widget)
        self._theme = theme
        self._widget = widget
        self._icon_px = icon_px
        self._side_px = side_px
        theme.changed.connect(self._fit)
        self._fit()

    @Slot()
    def _fit(self) -> None:
        icon = self._theme.type.px(self._icon_px)
        self._widget.setIconSize(QSize(icon, icon))
        if self._side_px:
            side = self._theme.type.side(self._side_px)
            self._widget.setFixedSize(side, side)


def scale_icon(theme: Theme, widget: QAbstractButton | QAbstractItemView, icon_px: int, side_px: int = 0) -> None:
    """Have the icons of a widget, and its side unless the layout has it (0), grow with the text."""
    _ScaledIcon(theme, widget, icon_px, side_px)


def app_icon() -> QIcon:
    """Tenon's own icon: a simpler drawing at 16 and 24 px."""
    icon = QIcon()
    for size, name in (
        (16, "tenon-small"),
        (24, "tenon-small"),
        (32, "tenon"),
        (64, "tenon"),
        (256, "tenon"),
    ):
        icon.addPixmap(tinted_pixmap(name, "", size))
    return icon
