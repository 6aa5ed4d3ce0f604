"""The type scale: named sizes and line heights in px at 100 %, and fonts made from them."""

from __future__ import annotations

from enum import Enum

from PySide6.QtGui import QFont, QFontDatabase


class TextStyle(Enum):
    """A named style: size and line height in px at 100 %, and weight."""

    DISPLAY = (28, 36, 600)
    PAGE = (24, 32, 600)
    HEADING_1 = (20, 28, 600)
    HEADING_2 = (18, 26, 600)
    HEADING_3 = (16, 24, 600)
    SECTION = (15, 22, 600)
    READING = (15, 23, 400)
    TABLE = (14, 20, 400)
    UI = (13, 18, 400)
    UI_MEDIUM = (13, 18, 500)
    UI_BOLD = (13, 18, 600)
    SMALL = (12, 16, 400)
    SMALL_MEDIUM = (12, 16, 500)
    SMALL_BOLD = (12, 16, 600)
    CODE = (13, 20, 400)
    CODE_SMALL = (12, 18, 400)
    INLINE_CODE = (13, 23, 400)


CODE_STYLES = frozenset({TextStyle.CODE, TextStyle.CODE_SMALL, TextStyle.INLINE_CODE})


class Typography:
    """Fonts of the system in the sizes of the scale.

    Args:
        scale: 1.0 is 100 %.
        family: Family of text; empty takes the system's own.
        code_family: Family of code; empty takes the system's fixed-width one.
    """

    def __init__(self, scale: float = 1.0, family: str = "", code_family: str = "") -> None:
        self.scale = scale
        self._fonts: dict[TextStyle, QFont] = {}
        general = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
        fixed = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        if family:
            general.setFamilies([family])
        if code_family:
            fixed.setFamilies([code_family])
        fixed.setStyleHint(QFont.StyleHint.Monospace)
        self._general = general
        self._fixed = fixed
        styles = {style.lower() for style in QFontDatabase.styles(general.family())}
        # Segoe UI has no 500, and Qt would take the heavier neighbour.
        self._medium = 500 if "medium" in styles else 400

    @property
    def family(self) -> str:
        """Family of text."""
        return self._general.family()

    @property
    def code_family(self) -> str:
        """Family of code."""
        return self._fixed.family()

    @property
    def medium_weight(self) -> int:
        """500 where the family has it, else 400."""
        return self._medium

    def px(self, size: float) -> int:
        """Return a length of text in px, scaled with the font size setting."""
        return round(size * self.scale)

    def line_height(self, style: TextStyle) -> int:
        """Line height of a style in px."""
        return self.px(style.value[1])

    def font(self, style: TextStyle) -> QFont:
        """Return a new font in a style."""
        known = self._fonts.get(style)
        if known is not None:
            return QFont(known)
        size, _, weight = style.value
        font = QFont(self._fixed if style in CODE_STYLES else self._general)
        font.setPixelSize(self.px(size))
        font.setWeight(QFont.Weight(self._medium if weight == 500 else weight))
        self._fonts[style] = font
        return QFont(font)
