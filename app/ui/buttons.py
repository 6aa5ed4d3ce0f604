"""Buttons with words, and buttons with an icon, each made in one call."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QMargins, QSize, Qt, SignalInstance
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget

from app.ui.theme.icons import scale_icon, themed_icon
from app.ui.theme.theme import Theme

_Pressed = Callable[..., object] | SignalInstance | None


class LabelledButton(QToolButton):
    """A button with an icon and words beside it, and as much room before as after them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)

    def sizeHint(self) -> QSize:
        """Size without the two spaces that Qt adds after the words."""
        size = super().sizeHint()
        if self.toolButtonStyle() is not Qt.ToolButtonStyle.ToolButtonTextBesideIcon:
            return size
        return size.shrunkBy(QMargins(0, 0, 2 * self.fontMetrics().horizontalAdvance(" "), 0))


def push_button(
    words: str,
    parent: QWidget | None,
    pressed: _Pressed = None,
    kind: str = "",
    default: bool | None = None,
) -> QPushButton:
    """Return a button with words, whose look the style sheet has by ``kind``.

    ``default`` is True for the one that Enter presses in a dialog, False for one that Enter never presses.
    """
    button = QPushButton(words, parent)
    if kind:
        button.setProperty("kind", kind)
    if default:
        button.setDefault(True)
    elif default is not None:
        button.setAutoDefault(False)
    if pressed is not None:
        button.clicked.connect(pressed)
    return button


def icon_button(
    theme: Theme,
    icon: str,
    name: str,
    parent: QWidget | None,
    pressed: _Pressed = None,
    icon_px: int = 16,
    side_px: int = 0,
    tip: str = "",
) -> QToolButton:
    """Return a button with an icon.

    Args:
        icon: File name in assets/icons without its ending.
        pressed: A signal or a slot.
        side_px: Side of the button; 0 leaves it to the layout.
        tip: Tool tip; empty for its name.
    """
    button = QToolButton(parent)
    button.setIcon(themed_icon(theme, icon))
    scale_icon(theme, button, icon_px, side_px)
    button.setAccessibleName(name)
    button.setToolTip(tip or name)
    if pressed is not None:
        button.clicked.connect(pressed)
    return button
