"""Where the sidebar and the page stand: side by side, or the sidebar over the page in a narrow window."""

from __future__ import annotations

from PySide6.QtCore import QEasingCurve, QVariantAnimation, Signal, Slot
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QWidget

from app.ui.sidebar.sidebar import Sidebar
from app.ui.theme.theme import Theme, animation_ms
from app.ui.transcript.transcript import NARROW_PX

_SLIDE_MS = 160


class Scrim(QWidget):
    """Darkens the page behind the sidebar; a click closes it."""

    clicked = Signal()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the veil."""
        veil = QColor("#101816")
        veil.setAlphaF(0.32)
        QPainter(self).fillRect(self.rect(), veil)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Close what is above."""
        self.clicked.emit()


class Shell(QWidget):
    """Lays out sidebar and page.

    The sidebar's own choice (shown or not) belongs to wide windows; in a narrow one it is an overlay that closes
    when a chat is chosen.
    """

    shown_changed = Signal(bool)
    focus_left = Signal()

    def __init__(self, theme: Theme, sidebar: Sidebar, page: QWidget, shown: bool) -> None:
        super().__init__()
        self._theme = theme
        self._sidebar = sidebar
        self._page = page
        self._shown = shown
        self._overlay = False
        self._share = 1.0 if shown else 0.0
        page.setParent(self)
        self._scrim = Scrim(self)
        self._scrim.hide()
        self._scrim.clicked.connect(self.close_overlay)
        sidebar.setParent(self)
        self._motion = QVariantAnimation(self)
        self._motion.setEasingCurve(QEasingCurve.Type.InOutCubic)
        self._motion.valueChanged.connect(self._slide)
        self._motion.finished.connect(self._settle)
        theme.changed.connect(self._arrange)

    @property
    def narrow(self) -> bool:
        """Whether the sidebar is an overlay."""
        return self.width() < NARROW_PX

    @property
    def sidebar_visible(self) -> bool:
        """Whether the sidebar is to be seen."""
        return self._overlay if self.narrow else self._shown

    @Slot()
    def toggle(self) -> None:
        """Show or hide the sidebar."""
        if self.narrow:
            self._overlay = not self._overlay
        else:
            self._shown = not self._shown
            self.shown_changed.emit(self._shown)
        self._start()

    def show_sidebar(self) -> None:
        """Make sure that it is to be seen, at once."""
        if not self.sidebar_visible:
            self.toggle()
        self._motion.stop()
        self._slide(1.0)
        self._settle()

    @Slot()
    def close_overlay(self) -> None:
        """In a narrow window: put the sidebar away."""
        if self.narrow and self._overlay:
            self.toggle()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out again; passing 720 px puts an overlay away."""
        super().resizeEvent(event)
        if event.oldSize().isValid() and (event.oldSize().width() < NARROW_PX) != self.narrow:
            self._overlay = False
        if self._motion.state() != QVariantAnimation.State.Running:
            self._share = 1.0 if self.sidebar_visible else 0.0
        self._arrange()

    def _start(self) -> None:
        goal = 1.0 if self.sidebar_visible else 0.0
        self._motion.stop()
        duration = animation_ms(_SLIDE_MS)
        if not duration:
            self._slide(goal)
            return
        self._motion.setDuration(duration)
        self._motion.setStartValue(self._share)
        self._motion.setEndValue(goal)
        self._motion.start()

    @Slot(object)
    def _slide(self, share: float) -> None:
        self._share = float(share)
        self._arrange()

    @Slot()
    def _settle(self) -> None:
        self._share = 1.0 if self.sidebar_visible else 0.0
        self._arrange()

    @Slot()
    def _arrange(self) -> None:
        width = self._sidebar.sizeHint().width()
        shown = round(width * self._share)
        self._sidebar.setGeometry(shown - width, 0, width, self.height())
        focused = QApplication.focusWidget()
        if shown <= 0 and focused is not None and self._sidebar.isAncestorOf(focused):
            self.focus_left.emit()  # before it hides, or Qt hands the focus to whatever comes next
        self._sidebar.setVisible(shown > 0)
        left = 0 if self.narrow else shown
        self._page.setGeometry(left, 0, self.width() - left, self.height())
        self._scrim.setGeometry(self.rect())
        self._scrim.setVisible(self.narrow and shown > 0)
