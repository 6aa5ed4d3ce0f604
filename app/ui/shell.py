"""Layout of sidebar, page and inspector: side by side, or a panel over the page in a narrow window."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QWidget

from app.ui.painting import place
from app.ui.pane import Pane
from app.ui.sidebar.sidebar import Sidebar
from app.ui.theme.theme import Theme
from app.ui.transcript.message_column import NARROW_PX

INSPECTOR_NARROW_PX = 900
_INSPECTOR_PX = (360, 520)
# Less than this is no page: the inspector gives way to it, down to its smallest width, and then stands above it.
_PAGE_PX = 400


def paint_veil(widget: QWidget) -> None:
    """Paint the veil of the design over a whole widget."""
    veil = QColor("#101816")
    veil.setAlphaF(0.32)
    QPainter(widget).fillRect(widget.rect(), veil)


class ModalScrim(QWidget):
    """Covers a window from when Qt says that a dialog blocks it until Qt says that none does."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.WindowBlocked:
            self.setGeometry(self._window.rect())
            self.raise_()
            self.show()
        elif kind == QEvent.Type.WindowUnblocked:
            self.hide()
        elif kind == QEvent.Type.Resize:
            self.setGeometry(self._window.rect())
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_veil(self)


class Scrim(QWidget):
    """Darkens the page behind a panel; a click closes the panel."""

    clicked = Signal()

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_veil(self)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.clicked.emit()


class Shell(QWidget):
    """Lays out sidebar, page and inspector.

    The sidebar's own choice (shown or not) belongs to wide windows; in a narrow one it is an overlay that closes
    when a chat is chosen.
    """

    shown_changed = Signal(bool)
    focus_left = Signal()
    inspector_closed = Signal()

    def __init__(self, theme: Theme, sidebar: Sidebar, page: QWidget, shown: bool) -> None:
        super().__init__()
        self._sidebar = sidebar
        self._page = page
        self._inspector: QWidget | None = None
        self._inspector_width = _INSPECTOR_PX[0]
        page.setParent(self)
        self._scrim = Scrim(self)
        self._scrim.hide()
        self._scrim.clicked.connect(self.close_overlay)
        sidebar.setParent(self)
        sidebar.width_chosen.connect(self._take_width)
        self._left = Pane(shown, self)
        self._right = Pane(False, self)
        for pane in (self._left, self._right):
            pane.moved.connect(self._arrange)
        theme.changed.connect(self._arrange)

    @property
    def narrow(self) -> bool:
        """True if the sidebar is an overlay."""
        return self._left.narrow

    @property
    def overlay_visible(self) -> bool:
        """True if a panel stands above the page."""
        return any(pane.narrow and pane.visible for pane in (self._left, self._right))

    @property
    def inspector_covers(self) -> bool:
        """True if the inspector has no room beside the page, and is to stand above it."""
        return self._right.narrow

    @Slot()
    def toggle(self) -> None:
        """Show or hide the sidebar."""
        self._left.set_visible(not self._left.visible)
        if self._left.overlay and self._right.overlay:
            self.inspector_closed.emit()  # one panel above the page is enough
        if not self._left.narrow:
            self.shown_changed.emit(self._left.shown)
        self._measure()

    def show_sidebar(self) -> None:
        """Make sure that it is to be seen, at once."""
        if not self._left.visible:
            self.toggle()
        self._left.settle()

    def show_inspector(self, panel: QWidget, width: int) -> None:
        """Show a panel at the right."""
        if panel is not self._inspector:
            self._inspector = panel
            panel.setParent(self)
        self._inspector_width = _bounded(width)
        self._measure()
        if self._right.narrow and self._left.overlay:
            self._left.set_visible(False)
        self._right.set_visible(True)

    def hide_inspector(self) -> None:
        """Put the panel at the right away."""
        self._right.set_visible(False)

    def set_inspector_width(self, width: int) -> int:
        """Give the panel at the right another width, and return the one that it may have."""
        self._inspector_width = _bounded(width)
        self._measure()
        self._arrange()
        return self._inspector_width

    @Slot()
    def _take_width(self) -> None:
        self._measure()
        self._arrange()

    @Slot()
    def close_overlay(self) -> None:
        """Put away what stands above the page."""
        if self._left.narrow and self._left.overlay:
            self._left.set_visible(False)
        if self._right.narrow and self._right.overlay:
            self.inspector_closed.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out again; passing 720 px puts the sidebar's overlay away."""
        super().resizeEvent(event)
        self._measure()
        for pane in (self._left, self._right):
            if not pane.moving:
                pane.share = 1.0 if pane.visible else 0.0
        self._arrange()

    def _measure(self) -> None:
        """See which panels have to be overlays at this width. The inspector stays open, beside the page or above."""
        was_narrow, self._left.narrow = self._left.narrow, self.width() < NARROW_PX
        if was_narrow != self._left.narrow:
            self._left.overlay = False
        taken = self._sidebar.sizeHint().width() if self._left.shown and not self._left.narrow else 0
        visible = self._right.visible
        cramped = self.width() - taken - _INSPECTOR_PX[0] < _PAGE_PX
        self._right.narrow = self.width() < INSPECTOR_NARROW_PX or cramped
        self._right.shown = visible and not self._right.narrow
        self._right.overlay = visible and self._right.narrow

    @Slot()
    def _arrange(self) -> None:
        left = self._place_sidebar()
        right = self._place_inspector(left)
        place(self._page, left, 0, self.width() - left - right, self.height())
        self._scrim.setGeometry(self.rect())
        self._scrim.setVisible(any(pane.narrow and pane.share > 0 for pane in (self._left, self._right)))

    def _place_sidebar(self) -> int:
        """Place it and return what it takes from the page, in px."""
        width = self._sidebar.sizeHint().width()
        shown = round(width * self._left.share)
        place(self._sidebar, shown - width, 0, width, self.height())
        self._show(self._sidebar, shown > 0)
        return 0 if self._left.narrow else shown

    def _place_inspector(self, left: int) -> int:
        """Place it and return what it takes from the page, in px."""
        if self._inspector is None:
            return 0
        width = self._inspector_width
        if self._right.narrow:
            width = min(width, self.width())
        else:
            width = max(_INSPECTOR_PX[0], min(width, self.width() - left - _PAGE_PX))
        shown = round(width * self._right.share)
        place(self._inspector, self.width() - shown, 0, width, self.height())
        self._show(self._inspector, shown > 0)
        if shown > 0 and self._right.narrow:
            self._inspector.raise_()
        return 0 if self._right.narrow else shown

    def _show(self, panel: QWidget, visible: bool) -> None:
        focused = QApplication.focusWidget()
        if not visible and focused is not None and panel.isAncestorOf(focused):
            self.focus_left.emit()  # before it hides, or Qt hands the focus to whatever comes next
        panel.setVisible(visible)


def _bounded(width: int) -> int:
    return min(max(width, _INSPECTOR_PX[0]), _INSPECTOR_PX[1])
