"""Memory of target, draft and caches: a bar for each device, with a legend."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.ui import figures
from app.ui.figures import gigabytes
from app.ui.legend_bar import HATCHED, LegendBar
from app.ui.painting import smooth
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle
from app.words import mark, tr
from engine.messages import MemoryPlace, MemoryShare, MemoryUse

_ROW_PX = 22
_BAR_PX = 9
_LABEL_PX = 40
_GAP_PX = 10
_COLORS: dict[MemoryUse, str] = {
    "draft": "map",
    "weights": "acc",
    "caches": "g2",
    "buffers": "g3",
    "engine": "g3",
    "others": HATCHED,
}
_NAMES = {"ram": "RAM", "disk": mark("Disk")}
_USES: dict[MemoryUse, str] = {
    "weights": mark("weights"),
    "draft": mark("draft"),
    "caches": mark("caches"),
    "buffers": mark("buffers"),
    "engine": mark("engine alone"),
    "others": mark("others"),
}
_NONE_ON_DISK = mark("none, everything fits in memory")
_NO_MODEL = mark("No model is in memory.")


def share_words(share: MemoryShare) -> str:
    """Return a share in the legend's words."""
    name = share.part or tr(_USES[share.use])
    if share.layers and not share.part:
        name = tr("%n layer(s)", share.layers)
    elif share.drafts > 1:
        name = tr("%n draft(s)", share.drafts)
    return f"{name} {gigabytes(share.size_bytes)}"


class MemoryBar(LegendBar):
    """A bar for the memory of each place, and a line for the disk."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._places: tuple[MemoryPlace, ...] = ()
        self._disk_bytes_per_second = 0.0
        self._describe()

    def set_places(self, places: tuple[MemoryPlace, ...], disk_bytes_per_second: float = 0.0) -> None:
        """Show other places, and how fast the disk is read."""
        if (places, disk_bytes_per_second) != (self._places, self._disk_bytes_per_second):
            self._places, self._disk_bytes_per_second = places, disk_bytes_per_second
            self._describe()
            self.restyle()

    def restyle(self) -> None:
        """Take the theme's colours and sizes again."""
        self.setFixedHeight(self.sizeHint().height())
        self.update()

    def sizeHint(self) -> QSize:
        """Return a size as high as the rows and legends are at this width."""
        px = self._theme.type.px
        height = px(_ROW_PX) if not self._places else 0
        for place in self._places:
            height += px(_ROW_PX)
            if place.place != "disk":
                height += self.legend_px(map(share_words, place.shares))
        if self._places and self._places[-1].place != "disk":
            height += px(_ROW_PX)
        return QSize(300, height)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint every place, and the disk."""
        painter = smooth(self)
        if not self._places:
            self._words(painter, 0.0, "", _NO_MODEL)
            return
        top = 0.0
        for place in self._places:
            if place.place != "disk":
                top = self._paint_place(painter, place, top)
        self._words(painter, top, tr("Disk"), self._disk_words())

    # --- painting ---------------------------------------------------------------------------------------------

    def _paint_place(self, painter: QPainter, place: MemoryPlace, top: float) -> float:
        px = self._theme.type.px
        own = sum(share.size_bytes for share in place.shares if share.use != "others")
        words = tr("{part} of {whole}", part=gigabytes(own), whole=figures.digits(place.total_bytes / 1e9, 3))
        right = self._words(painter, top, tr(_NAMES.get(place.place, "GPU")), words, "text")
        row = float(px(_ROW_PX))
        track = QRectF(px(_LABEL_PX), top + (row - _BAR_PX) / 2, 0, _BAR_PX)
        track.setRight(self.width() - max(right, px(64)) - 10)
        self.paint_bar(
            painter,
            track,
            [(share.size_bytes, _COLORS[share.use]) for share in place.shares],
            place.total_bytes,
        )
        legend = [(_COLORS[share.use], share_words(share)) for share in place.shares]
        return top + row + self.paint_legend(painter, top + row, legend)

    def _words(self, painter: QPainter, top: float, label: str, words: str, role: str = "mute") -> float:
        """Paint a line of words with its label; return the words' width in px."""
        box = QRectF(0, top, self.width(), self._theme.type.px(_ROW_PX))
        painter.setFont(self._theme.font(TextStyle.SMALL_BOLD))
        painter.setPen(self._theme.color("text"))
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, label)
        taken = QFontMetricsF(painter.font()).horizontalAdvance(label)
        painter.setFont(self._theme.font(TextStyle.SMALL_MEDIUM if role == "text" else TextStyle.SMALL))
        painter.setPen(self._theme.color(role))
        metrics = QFontMetricsF(painter.font())
        text = metrics.elidedText(words, Qt.TextElideMode.ElideRight, self.width() - taken - _GAP_PX)
        flags = Qt.AlignmentFlag.AlignVCenter | (
            Qt.AlignmentFlag.AlignRight if label else Qt.AlignmentFlag.AlignLeft
        )
        painter.drawText(box, flags, text)
        return metrics.horizontalAdvance(text)

    # --- words ------------------------------------------------------------------------------------------------

    def _disk_words(self) -> str:
        disk = next((place for place in self._places if place.place == "disk"), None)
        if disk is None:
            return tr(_NONE_ON_DISK)
        words = ", ".join(tr("{share} read for each step", share=share_words(share)) for share in disk.shares)
        if self._disk_bytes_per_second > 0:
            words += f", {figures.rate(self._disk_bytes_per_second)}"
        return words

    def _describe(self) -> None:
        lines = []
        for place in self._places:
            if place.place != "disk":
                own = sum(share.size_bytes for share in place.shares if share.use != "others")
                shares = ", ".join(share_words(share) for share in place.shares)
                name = tr(_NAMES.get(place.place, "GPU"))
                total = figures.digits(place.total_bytes / 1e9, 3)
                lines.append(
                    tr(
                        "{place}: {part} of {whole} GB: {shares}",
                        place=name,
                        part=gigabytes(own),
                        whole=total,
                        shares=shares,
                    )
                )
        words = "\n".join([*lines, f"{tr('Disk')}: {self._disk_words()}"]) if self._places else tr(_NO_MODEL)
        self.setAccessibleName(tr("Where it lives: {places}", places=words))
        self.setToolTip(words)
