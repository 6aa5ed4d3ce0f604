"""State of a panel at a side of the window: shown or hidden, and how much is seen while it slides."""

from __future__ import annotations

from PySide6.QtCore import QEasingCurve, QObject, QVariantAnimation, Signal, Slot

from app.ui.theme.theme import animation_ms

_SLIDE_MS = 160


class Pane(QObject):
    """A choice for wide windows, another one for narrow ones, where the panel is an overlay.

    Attributes:
        shown: The choice where the panel stands beside the page.
        overlay: The choice where it is an overlay.
        narrow: True if it is one now.
        share: Part of the panel that is seen, 0 to 1.
    """

    moved = Signal()

    def __init__(self, shown: bool, parent: QObject) -> None:
        super().__init__(parent)
        self.shown = shown
        self.overlay = False
        self.narrow = False
        self.share = 1.0 if shown else 0.0
        self._motion = QVariantAnimation(self)
        self._motion.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._motion.valueChanged.connect(self._slide)
        self._motion.finished.connect(self.settle)

    @property
    def visible(self) -> bool:
        """True if it is to be seen."""
        return self.overlay if self.narrow else self.shown

    @property
    def moving(self) -> bool:
        """True if it slides."""
        return self._motion.state() == QVariantAnimation.State.Running

    def set_visible(self, visible: bool) -> None:
        """Slide to where it is, or is not, to be seen."""
        if self.narrow:
            self.overlay = visible
        else:
            self.shown = visible
        self._motion.stop()
        duration = animation_ms(_SLIDE_MS)
        if not duration:
            self.settle()
            return
        self._motion.setDuration(duration)
        self._motion.setStartValue(self.share)
        self._motion.setEndValue(1.0 if visible else 0.0)
        self._motion.start()

    @Slot()
    def settle(self) -> None:
        """Be there at once."""
        self._motion.stop()
        self._slide(1.0 if self.visible else 0.0)

    @Slot(object)
    def _slide(self, share: float) -> None:
        self.share = float(share)
        self.moved.emit()
