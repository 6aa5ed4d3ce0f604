"""Factor by which the system sets its text larger than usual."""

from __future__ import annotations

import os
import sys

from PySide6.QtGui import QFont, QFontDatabase

# Points of the general font as the systems deliver it. Pixels say nothing: Qt scales the window by their density.
_WINDOWS_POINTS = 9.0
_MACOS_POINTS = 13.0
_QT_POINTS = 9.0
_DESKTOP_POINTS = {
    "gnome": 11.0, "unity": 11.0, "budgie": 11.0,
    "kde": 10.0, "xfce": 10.0, "mate": 10.0, "x-cinnamon": 10.0, "lxqt": 11.0,
}  # fmt: skip
_LARGEST = 2.0


def usual_points(platform: str, desktop: str) -> float:
    """Size of the general font, in points, where nobody has changed it.

    Args:
        platform: Platform as ``sys.platform`` names it.
        desktop: ``XDG_CURRENT_DESKTOP``, names with colons between them; empty where there is none.
    """
    if platform == "win32":
        return _WINDOWS_POINTS
    if platform == "darwin":
        return _MACOS_POINTS
    known = [_DESKTOP_POINTS[name] for name in desktop.lower().split(":") if name in _DESKTOP_POINTS]
    return known[0] if known else _QT_POINTS


def system_text_scale(font: QFont | None = None) -> float:
    """Return the system's text size as a multiple of the usual one, 1 to 2.

    Less than 1 counts as 1: where Qt knows nothing of a desktop its own small font is no wish of the user's.

    Args:
        font: The general font; None asks the system.
    """
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont) if font is None else font
    usual = usual_points(sys.platform, os.environ.get("XDG_CURRENT_DESKTOP", ""))
    return min(_LARGEST, max(1.0, font.pointSizeF() / usual))
