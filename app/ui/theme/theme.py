"""Theme: the colours, fonts and style sheet in use, following the system's light or dark setting."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QStyle, QStyleFactory, QToolTip

from app.ui.theme.formulas import Formulas
from app.ui.theme.lexers import Lexers
from app.ui.theme.palette import DARK, LIGHT, Palette
from app.ui.theme.stylesheet import stylesheet
from app.ui.theme.system_text import system_text_scale
from app.ui.theme.typography import TextStyle, Typography

SMALLEST_SCALE = 0.9
LARGEST_SCALE = 1.5
_COMPACT = 0.75
# The window is laid out for up to this, whatever system and setting come to.
_LARGEST_TEXT = 2.0


def system_is_dark() -> bool:
    """Return True if the system asks for a dark theme; where it does not say, its palette is read."""
    scheme = QGuiApplication.styleHints().colorScheme()
    if scheme == Qt.ColorScheme.Unknown:
        palette = QGuiApplication.palette()
        window = palette.color(QPalette.ColorRole.Window).lightness()
        return window < palette.color(QPalette.ColorRole.WindowText).lightness()
    return scheme == Qt.ColorScheme.Dark


class Theme(QObject):
    """Colours and fonts for every widget.

    Args:
        scale: Font size, 0.9 to 1.5, of what the system's own size of text comes to.
        dark: True or False fixes the theme; None follows the system.
        family: Text family; empty takes the system's.
        code_family: Code family; empty takes the system's.

    Attributes:
        formulas: Formulas as pictures, in these colours and sizes.
        lexers: Part code into its words, so that they can be coloured.
        compact: True if rows and messages stand closer together.
    """

    changed = Signal()

    def __init__(
        self, scale: float = 1.0, dark: bool | None = None, family: str = "", code_family: str = ""
    ) -> None:
        super().__init__()
        self._fixed = dark
        self._families = (family, code_family)
        self.compact = False
        self._scale = scale
        self._system_scale = system_text_scale()
        self.type = self._typography()
        self.formulas = Formulas(self)
        self.lexers = Lexers(self)
        self.palette: Palette = DARK if (system_is_dark() if dark is None else dark) else LIGHT
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._follow_system)

    def color(self, role: str) -> QColor:
        """Return the colour of a role of `Palette`."""
        return QColor(getattr(self.palette, role))

    def font(self, style: TextStyle) -> QFont:
        """Return a font of the type scale."""
        return self.type.font(style)

    def set_dark(self, dark: bool | None) -> None:
        """Fix the theme, or follow the system again with None."""
        self._fixed = dark
        self._follow_system()

    def set_scale(self, scale: float) -> None:
        """Change the font size; values outside 90 to 150 % are cut."""
        scale = min(LARGEST_SCALE, max(SMALLEST_SCALE, scale))
        if scale != self._scale:
            self._scale = scale
            self.type = self._typography()
            self.apply()

    def _typography(self) -> Typography:
        return Typography(min(_LARGEST_TEXT, self._scale * self._system_scale), *self._families)

    def spaced(self, room_px: float) -> float:
        """Return a height or a distance at the density in use."""
        return room_px * _COMPACT if self.compact else room_px

    def set_compact(self, compact: bool) -> None:
        """Change the density."""
        if compact != self.compact:
            self.compact = compact
            self.apply()

    def apply(self) -> None:
        """Style the whole application and tell every widget that paints by itself."""
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        if not app.styleSheet():  # with one the style has no name, and another would restyle every widget
            app.setStyle(QStyleFactory.create("Fusion"))
        palette = self._qt_palette()
        if app.palette() != palette:
            app.setPalette(palette)
        app.setFont(self.font(TextStyle.UI))
        QToolTip.setPalette(palette)
        QToolTip.setFont(self.font(TextStyle.SMALL))
        sheet = stylesheet(self.palette, self.type)
        if app.styleSheet() != sheet:  # setting it polishes every widget there is
            app.setStyleSheet(sheet)
        self.changed.emit()

    @Slot()
    def _follow_system(self) -> None:
        dark = system_is_dark() if self._fixed is None else self._fixed
        if dark != self.palette.dark:
            self.palette = DARK if dark else LIGHT
            self.apply()

    def _qt_palette(self) -> QPalette:
        role = QPalette.ColorRole
        palette = QPalette()
        colors = {
            role.Window: "bg",
            role.WindowText: "text",
            role.Base: "bg",
            role.AlternateBase: "surf",
            role.Text: "text",
            role.Button: "raised",
            role.ButtonText: "text",
            role.BrightText: "red",
            role.Highlight: "acc",
            role.HighlightedText: "onacc",
            role.Link: "acc",
            role.LinkVisited: "acc",
            role.PlaceholderText: "mute",
            role.ToolTipBase: "raised",
            role.ToolTipText: "text",
            role.Light: "raised",
            role.Midlight: "hover",
            role.Mid: "line",
            role.Dark: "btn",
            role.Shadow: "line",
        }
        for key, name in colors.items():
            palette.setColor(key, self.color(name))
        for key in (role.WindowText, role.Text, role.ButtonText):
            palette.setColor(QPalette.ColorGroup.Disabled, key, self.color("mute"))
        return palette


def animation_ms(wanted_ms: int) -> int:
    """Length of an animation in ms: 0 where the system asks for less motion."""
    hint = QApplication.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration)
    return wanted_ms if hint > 0 else 0
