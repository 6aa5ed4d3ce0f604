"""The button that leads back to the end of the transcript."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.ui.buttons import LabelledButton
from app.ui.theme.icons import scale_icon, themed_icon
from app.ui.theme.theme import Theme
from app.words import tr

_MARGIN_PX = 12


class JumpButton(LabelledButton):
    """Floats above the lower edge of its parent."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._host = parent
        self.setProperty("kind", "labelled")
        self.setText(" " + tr("Jump to latest"))
        self.setAccessibleName(tr("Jump to latest"))
        self.setToolTip(tr("Jump to latest (Ctrl+End)"))
        self.setIcon(themed_icon(theme, "arrow-down"))
        scale_icon(theme, self, 16)
        self.hide()

    def offer(self, wanted: bool) -> None:
        """Show it in the middle of the lower edge, or hide it and hand its focus on."""
        if wanted:
            size, host = self.sizeHint(), self._host.size()
            left, top = (host.width() - size.width()) // 2, host.height() - size.height() - _MARGIN_PX
            self.setGeometry(left, top, size.width(), size.height())
            self.raise_()
        elif self.hasFocus():
            self._host.setFocus()
        self.setVisible(wanted)
