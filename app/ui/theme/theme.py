"""Theme: the colours, fonts and style sheet in use, following the system's light or dark setting."""

from __future__ import annotations

import os
import sys
from collections import OrderedDict
from enum import Enum
from functools import cache
from math import ceil
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QByteArray, QObject, QPointF, QRectF, Qt, QTimer, Signal, SignalInstance, Slot
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QInputDevice, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QStyle, QStyleFactory, QToolTip, QWidget

from app.chat.formula import Formula, FormulaShape
from app.settings.settings import Settings
from app.ui.theme.palette import DARK, LIGHT, Palette

if TYPE_CHECKING:
    from pygments.lexer import Lexer

    from app.bridge.pictures import Pictures

ASSETS = Path(__file__).resolve().parents[3] / "assets"
_SHEET = Template((ASSETS / "window.qss").read_text(encoding="utf-8"))
_MOST_SHAPES = 2_000
_MOST_PIXMAPS = 300
_GATHER_MS = 30  # formulas that come together change the transcript together
_EDGE_PX = 1  # a smooth edge needs a pixel beyond the shape
# Points of the general font as the systems deliver it. Pixels say nothing: Qt scales the window by their density.
_WINDOWS_POINTS = 9.0
_MACOS_POINTS = 13.0
_QT_POINTS = 9.0
_DESKTOP_POINTS = {
    "gnome": 11.0, "unity": 11.0, "budgie": 11.0,
    "kde": 10.0, "xfce": 10.0, "mate": 10.0, "x-cinnamon": 10.0, "lxqt": 11.0,
}  # fmt: skip
_LARGEST = 2.0
SMALLEST_SCALE = 0.9
LARGEST_SCALE = 1.5
_COMPACT = 0.75
# The window is laid out for up to this, whatever system and setting come to.
_LARGEST_TEXT = 2.0
_DARK = {"light": False, "dark": True, "system": None}


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


#: Least side of what a finger presses, in px: WCAG 2.2, success criterion 2.5.5.
_FINGER_PX = 44


class Typography:
    """Fonts of the system in the sizes of the scale.

    Args:
        scale: 1.0 is 100 %.
        family: Family of text; empty takes the system's own.
        code_family: Family of code; empty takes the system's fixed-width one.
        touch: True if what is pressed is as large as a finger asks for.
    """

    def __init__(self, scale: float = 1.0, family: str = "", code_family: str = "", touch: bool = False) -> None:
        self.scale = scale
        self._least_side = _FINGER_PX if touch else 0
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
        self.medium_weight = 500 if "medium" in styles else 400  # 500 where the family has it, else 400

    @property
    def family(self) -> str:
        """Family of text."""
        return self._general.family()

    @property
    def code_family(self) -> str:
        """Family of code."""
        return self._fixed.family()

    def px(self, size: float) -> int:
        """Return a length of text in px, scaled with the font size setting."""
        return round(size * self.scale)

    def side(self, size: float) -> int:
        """Return the height or width of what is pressed, in px."""
        return max(self.px(size), self._least_side)

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
        font.setWeight(QFont.Weight(self.medium_weight if weight == 500 else weight))
        self._fonts[style] = font
        return QFont(font)


def stylesheet(palette: Palette, type_scale: Typography) -> str:
    """Return the style sheet of a theme at a font size."""
    px, finger = type_scale.px, type_scale.side(0)
    colors = {name: value for name, value in vars(palette).items() if isinstance(value, str)}
    return _SHEET.substitute(
        colors,
        medium=type_scale.medium_weight,
        display=px(TextStyle.DISPLAY.value[0]),
        page=px(TextStyle.PAGE.value[0]),
        section=px(TextStyle.SECTION.value[0]),
        reading=px(TextStyle.READING.value[0]),
        small=px(TextStyle.SMALL.value[0]),
        # Heights without borders and padding.
        button=max(px(30), finger - 2),
        row_button=max(px(26), finger - 2),
        field=max(px(30), finger - 2),
        field2=max(px(28), finger - 4),
        segment=max(px(24), finger - 2),
        nav=max(px(34), finger),
        menu=max(6, (finger - type_scale.line_height(TextStyle.UI)) // 2),
        check=finger,
        quiet=max(0, finger - 8),
    )


def set_kind(widget: QWidget, kind: str) -> None:
    """Give a widget another kind."""
    if widget.property("kind") != kind:
        widget.setProperty("kind", kind)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


class Typesets(Protocol):
    """Source of the shapes of formulas, now or later."""

    answered: SignalInstance  # Formula; FormulaShape, or None where it cannot be read

    def ask(self, formula: Formula) -> None:
        """Have a formula typeset."""


class Formulas(QObject):
    """Shapes that are known, and pictures of them. Without a typesetter every formula stays its source."""

    changed = Signal(object)  # frozenset of the formulas whose shapes have come

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._typesetter: Typesets | None = None
        self._shapes: OrderedDict[Formula, FormulaShape | None] = OrderedDict()
        self._asked: set[Formula] = set()
        self._fresh: set[Formula] = set()
        self._pixmaps: OrderedDict[tuple[object, ...], QPixmap] = OrderedDict()
        self._gather = QTimer(self, singleShot=True, interval=_GATHER_MS)
        self._gather.timeout.connect(self._tell)

    def use(self, typesetter: Typesets) -> None:
        """Ask this one from now on."""
        self._typesetter = typesetter
        typesetter.answered.connect(self._take)

    def shape(self, formula: Formula) -> FormulaShape | None:
        """Shape of a formula; None where it cannot be read, or is not known yet: then `changed` follows."""
        if formula in self._shapes:
            self._shapes.move_to_end(formula)
        elif formula not in self._asked and self._typesetter is not None:
            self._asked.add(formula)
            self._typesetter.ask(formula)
        return self._shapes.get(formula)

    def awaited(self, formula: Formula) -> bool:
        """Return True if the formula's shape is still to come."""
        return formula in self._asked

    def paint(self, painter: QPainter, origin: QPointF, shape: FormulaShape, em_px: float, color: QColor) -> None:
        """Paint a shape from the left end of its baseline on; ``color`` is for what has none of its own."""
        ratio = painter.device().devicePixelRatioF()
        key = (shape.svg, em_px, color.rgba(), ratio)
        pixmap = self._pixmaps.get(key)
        if pixmap is None:
            pixmap = _pixmap(shape, em_px, color, ratio)
            self._pixmaps[key] = pixmap
            if len(self._pixmaps) > _MOST_PIXMAPS:
                self._pixmaps.popitem(last=False)
        else:
            self._pixmaps.move_to_end(key)
        top = origin.y() - shape.ascent * em_px
        painter.drawPixmap(
            QPointF(round(origin.x() * ratio) / ratio - _EDGE_PX, round(top * ratio) / ratio - _EDGE_PX),
            pixmap,
        )

    @Slot(object, object)
    def _take(self, formula: Formula, shape: FormulaShape | None) -> None:
        self._asked.discard(formula)
        self._shapes[formula] = shape
        if len(self._shapes) > _MOST_SHAPES:
            self._shapes.popitem(last=False)
        if shape is not None:
            self._fresh.add(formula)
            if not self._gather.isActive():
                self._gather.start()

    @Slot()
    def _tell(self) -> None:
        fresh, self._fresh = frozenset(self._fresh), set()
        self.changed.emit(fresh)


def _pixmap(shape: FormulaShape, em_px: float, color: QColor, ratio: float) -> QPixmap:
    width, height = shape.width * em_px, (shape.ascent + shape.descent) * em_px
    pixmap = QPixmap(max(1, ceil((width + 2 * _EDGE_PX) * ratio)), max(1, ceil((height + 2 * _EDGE_PX) * ratio)))
    pixmap.fill(Qt.GlobalColor.transparent)
    svg = shape.svg.replace("black", color.name())
    edge = _EDGE_PX * ratio
    box = QRectF(edge, edge, width * ratio, height * ratio)
    with QPainter(pixmap) as painter:
        QSvgRenderer(QByteArray(svg.encode())).render(painter, box)
    pixmap.setDevicePixelRatio(ratio)
    return pixmap


class MakesLexers(Protocol):
    """Source of lexers, now or later."""

    made: SignalInstance  # the language; its lexer

    def make(self, language: str) -> None:
        """Have a lexer made of a language that there is one for."""


class Lexers(QObject):
    """Lexers that are known. Without a maker all code stays plain."""

    came = Signal(str)  # the language, in lower case

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._maker: MakesLexers | None = None
        self._lexers: dict[str, Lexer] = {}
        self._asked: set[str] = set()

    def use(self, maker: MakesLexers) -> None:
        """Ask this one from now on."""
        self._maker = maker
        maker.made.connect(self._take)

    def lexer(self, language: str) -> Lexer | None:
        """Return the lexer of a language, or None if there is none or it is still to come (then `came` follows)."""
        language = language.lower()
        if self._maker is not None and language not in self._asked and title_of(language):
            self._asked.add(language)
            self._maker.make(language)
        return self._lexers.get(language)

    @Slot(str, object)
    def _take(self, language: str, lexer: Lexer) -> None:
        self._lexers[language] = lexer
        self.came.emit(language)


def title_of(language: str) -> str:
    """Return the name of a language that has a lexer, or an empty text."""
    return _titles().get(language.lower(), "")


@cache
def _titles() -> dict[str, str]:
    from pygments.lexers import get_all_lexers

    return {alias.lower(): name for name, aliases, _, _ in get_all_lexers(plugins=False) for alias in aliases}


def usual_points(platform: str, desktop: str) -> float:
    """Size of the general font, in points, where nobody has changed it.

    Args:
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


def has_touch_screen() -> bool:
    """Return True if fingers may press what the window shows."""
    return any(device.type() is QInputDevice.DeviceType.TouchScreen for device in QInputDevice.devices())


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
    """

    changing = Signal()  # soon, which costs by the widget
    changed = Signal()

    def __init__(self, scale: float = 1.0, dark: bool | None = None, family: str = "", code_family: str = "") -> None:
        super().__init__()
        self._fixed = dark
        self._families = (family, code_family)
        self.compact = False  # True if rows and messages stand closer together
        self.touch = has_touch_screen()  # True if there is one: then nothing waits for a pointer above it
        self._scale = scale
        self._system_scale = system_text_scale()
        self.type = self._typography()
        self.formulas = Formulas(self)  # formulas as pictures, in these colours and sizes
        self.lexers = Lexers(self)  # part code into its words, so that they can be coloured
        self.pictures: Pictures | None = None  # makes those of messages as large as they are shown
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
        return Typography(min(_LARGEST_TEXT, self._scale * self._system_scale), *self._families, self.touch)

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
        self.changing.emit()
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


def apply_appearance(theme: Theme, settings: Settings) -> None:
    """Light or dark, size of text and density, as they are set now; at once, and only what is another."""
    theme.set_dark(_DARK[settings.theme])
    theme.set_scale(min(LARGEST_SCALE, max(SMALLEST_SCALE, settings.font_scale / 100)))
    theme.set_compact(settings.density == "compact")
