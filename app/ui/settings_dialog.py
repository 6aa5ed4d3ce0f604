"""A dialog with a row for each setting that has a title."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QStyle,
    QVBoxLayout,
    QWidget,
)

from app.settings.settings import Settings
from app.ui.setting_control import Field, make_field, show_value, value_of
from app.ui.theme.theme import Theme

_WIDTH_PX = 620
_FIELD_PX = 210
_SIDE_PX = 20
_GAP_PX = 8
_NARROW_PX = 500
_BUTTONS_PX = 76


class SettingsDialog(QDialog):
    """Changes nothing before Apply.

    Args:
        theme: Sizes and colours.
        settings: What is changed.
        reasons: Why a setting has no effect here, by its name; its row says so and cannot be changed.
    """

    def __init__(
        self, theme: Theme, settings: Settings, reasons: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._settings = settings
        self._fields: dict[str, Field] = {}
        self._rows: list[QBoxLayout] = []
        self._helps: list[QLabel] = []
        self.setWindowTitle("Speed and memory")
        self.setProperty("kind", "dialog")
        rows = QWidget()
        rows.setProperty("kind", "column")
        self._column = QVBoxLayout(rows)
        self._column.setContentsMargins(_SIDE_PX, 8, _SIDE_PX, 8)
        self._column.setSpacing(14)
        for name, setting in Settings.declared().items():
            if setting.title:
                self._column.addLayout(self._make_row(rows, name, reasons.get(name, "")))
        self._column.addStretch(1)
        scroll = QScrollArea(self)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(rows)
        self.reset_button = QPushButton("Reset all", self)
        self.reset_button.clicked.connect(self._reset)
        self.cancel_button = QPushButton("Cancel", self)
        self.cancel_button.clicked.connect(self.reject)
        self.apply_button = QPushButton("Apply", self)
        self.apply_button.setProperty("kind", "primary")
        self.apply_button.setDefault(True)
        self.apply_button.clicked.connect(self._apply)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(_SIDE_PX, 12, _SIDE_PX, 14)
        buttons.addWidget(self.reset_button)
        buttons.setSpacing(8)
        buttons.addStretch()
        buttons.addWidget(self.cancel_button)
        buttons.addWidget(self.apply_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 12, 0, 0)
        column.setSpacing(0)
        column.addWidget(scroll, 1)
        column.addLayout(buttons)
        self._show({name: getattr(settings, name) for name in self._fields})
        self.resize(self.sizeHint())

    @property
    def fields(self) -> dict[str, Field]:
        """The fields by the names of their settings."""
        return self._fields

    def sizeHint(self) -> QSize:
        """As high as the rows, as far as the window around it lets it."""
        parent = self.parentWidget()
        room = QSize(10_000, 10_000) if parent is None else parent.size()
        width = min(self._theme.type.px(_WIDTH_PX), room.width() - 40)
        wanted = QSize(width, self._column.totalHeightForWidth(width) + self._theme.type.px(_BUTTONS_PX))
        return wanted.boundedTo(QSize(max(360, room.width() - 40), max(300, room.height() - 40)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow dialog a field goes below its words."""
        super().resizeEvent(event)
        narrow = self.width() < self._theme.type.px(_NARROW_PX)
        direction = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        for row in self._rows:
            row.setDirection(direction)
        room = self.width() - 2 * _SIDE_PX - self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent)
        room -= 0 if narrow else self._theme.type.px(_FIELD_PX) + _GAP_PX
        for words in self._helps:  # Qt's layouts forget wrapped lines when the direction changes
            words.setFixedHeight(words.heightForWidth(room))

    def _make_row(self, parent: QWidget, name: str, reason: str) -> QBoxLayout:
        setting = Settings.declared()[name]
        title = QLabel(setting.title, parent)
        title.setProperty("kind", "label")
        help_text = QLabel(reason or setting.help_text, parent)
        help_text.setProperty("kind", "small")
        help_text.setWordWrap(True)
        self._helps.append(help_text)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(title)
        words.addWidget(help_text)
        field = make_field(self._theme, setting, parent)
        title.setBuddy(field)
        field.setEnabled(not reason)
        field.setToolTip(reason)
        field.setFixedWidth(self._theme.type.px(_FIELD_PX))
        self._fields[name] = field
        row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        row.setSpacing(_GAP_PX)
        row.addLayout(words, 1)
        row.addWidget(field, 0, Qt.AlignmentFlag.AlignVCenter)
        self._rows.append(row)
        return row

    def _show(self, values: Mapping[str, object]) -> None:
        for name, value in values.items():
            show_value(self._fields[name], value)

    @Slot()
    def _reset(self) -> None:
        self._show({name: Settings.declared()[name].default for name in self._fields})

    @Slot()
    def _apply(self) -> None:
        for name, field in self._fields.items():
            if field.isEnabled():
                setattr(self._settings, name, value_of(field))
        self.accept()
