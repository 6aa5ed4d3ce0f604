"""A popup with two-line rows to choose from: models, modes."""

from __future__ import annotations

from PySide6.QtCore import (
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QCloseEvent,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QRegion,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QFrame,
    QListWidget,
    QListWidgetItem,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.chat.modes import Choice
from app.ui import figures
from app.ui.painting import LEFT, RIGHT, in_row, paint_box, paint_words
from app.ui.parts import filled
from app.ui.theme.icons import tinted_pixmap
from app.ui.theme.theme import TextStyle, Theme
from app.words import tr

_PADDING_X_PX = 12
_ICON_PX = 16
_WIDEST_PX = 600
_GAP_PX = 12  # at least, between a title and its figure
_HIGHEST_PX = 480
_ELIDE = Qt.TextElideMode.ElideMiddle
_Index = QModelIndex | QPersistentModelIndex


class _ChoiceDelegate(QStyledItemDelegate):
    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    @property
    def _icon_px(self) -> int:
        return self._theme.type.px(_ICON_PX)

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        choice: Choice = index.data(Qt.ItemDataRole.UserRole)
        words = f"{choice.title}    {figure_words(choice)}"
        title = QFontMetrics(self._theme.font(TextStyle.UI_MEDIUM)).horizontalAdvance(words)
        small = QFontMetrics(self._theme.font(TextStyle.SMALL))
        beside = 2 * _PADDING_X_PX + self._icon_px + 10
        widest = self._theme.type.px(_WIDEST_PX)
        width = min(max(title, small.horizontalAdvance(choice.second_line)) + beside, widest)
        height = self._theme.type.side(50 if choice.second_line else 36)
        wrapped = _wrapped(small, choice.second_line, widest - beside)
        return QSize(width, height + max(0, wrapped - small.height()))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        choice: Choice = index.data(Qt.ItemDataRole.UserRole)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & (QStyle.StateFlag.State_MouseOver | QStyle.StateFlag.State_Selected):
            paint_box(painter, self._theme, option.rect, 6, "hover")
        left = option.rect.left() + _PADDING_X_PX
        box = QRect(left + self._icon_px + 10, option.rect.top(), 0, option.rect.height())
        box.setRight(option.rect.right() - _PADDING_X_PX + 2)
        half = QRect(box)
        if choice.second_line:
            half.setTop(box.top() + 6)
            half.setHeight(self._theme.type.px(50) // 2 - 6)
        if choice.checked:
            color, ratio = self._theme.palette.acc, painter.device().devicePixelRatioF()
            pixmap = tinted_pixmap("check", color, self._icon_px, ratio)
            at = QRect(left, half.center().y() - self._icon_px // 2 + 1, self._icon_px, self._icon_px)
            painter.drawPixmap(in_row(option, at).topLeft(), pixmap)
        style, figure = TextStyle.UI_MEDIUM, figure_words(choice)
        if figure and not choice.problem:
            paint_words(painter, self._theme, in_row(option, half), figure, style, "text", RIGHT)
            half.setRight(half.right() - QFontMetrics(self._theme.font(style)).horizontalAdvance(figure) - _GAP_PX)
        role = "mute" if choice.problem else "text"
        paint_words(painter, self._theme, in_row(option, half), choice.title, style, role, elide=_ELIDE)
        if choice.second_line:
            font = self._theme.font(TextStyle.SMALL)
            painter.setFont(font)
            painter.setPen(self._theme.color("mute" if choice.problem else "sub"))
            lower = box.adjusted(0, self._theme.type.px(50) // 2 - 2, 0, -4)
            text, metrics = choice.second_line, QFontMetrics(font)
            if not _wrapped(metrics, text, lower.width()):
                text = metrics.elidedText(text, _ELIDE, lower.width())
            painter.drawText(in_row(option, lower), LEFT | Qt.TextFlag.TextWordWrap, text)
        painter.restore()


def figure_words(choice: Choice) -> str:
    """Return the words at the right end of a row: its speed and how that compares with plain decoding."""
    if choice.speed is None:
        return ""
    speed = figures.speed(choice.speed.tokens_per_second or 0.0)
    speed = speed if choice.speed.measured else tr("{speed} predicted", speed=speed)
    return speed if choice.times is None else f"{speed}, {figures.times_plain(choice.times)}"


def _wrapped(metrics: QFontMetrics, text: str, width: int) -> int:
    """Height of a text that is wrapped between words, in px; 0 where one of them is wider than a line, as in a path."""
    box = metrics.boundingRect(QRect(0, 0, width, 1000), Qt.TextFlag.TextWordWrap, text)
    return box.height() if box.width() <= width else 0


class _ChoiceView(QListWidget):
    def add(self, choice: Choice) -> None:
        """Add a row; one that cannot be chosen can still be gone to, so that the reason can be read by every means."""
        item = QListWidgetItem(choice.title, self)
        item.setData(Qt.ItemDataRole.UserRole, choice)
        words = ". ".join(filter(None, (figure_words(choice), choice.second_line)))
        item.setToolTip(words)
        said = tr("{choice}, in use", choice=choice.title) if choice.checked else choice.title
        item.setData(Qt.ItemDataRole.AccessibleTextRole, said)
        reason = tr("Not possible: {reason}", reason=choice.problem) if choice.problem else words
        item.setData(Qt.ItemDataRole.AccessibleDescriptionRole, reason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.clicked.emit(self.currentIndex())
        elif event.key() == Qt.Key.Key_Escape:
            self.window().close()
        else:
            super().keyPressEvent(event)


class ChoicePopup(QFrame):
    """Opens beside its button, closes on a choice, on Escape and on a click elsewhere."""

    chosen = Signal(str)
    closed = Signal()

    def __init__(self, theme: Theme, name: str, choices: list[Choice], parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._theme = theme
        self._button: QWidget | None = None
        self._above = False
        self.choices: list[Choice] = []
        self._view = _ChoiceView(self)
        self._view.setProperty("kind", "choices")
        self._view.setFrameShape(QFrame.Shape.NoFrame)
        self._view.setItemDelegate(_ChoiceDelegate(theme, self))
        self._view.setAccessibleName(name)
        self._view.setMouseTracking(True)
        self._view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._view.setUniformItemSizes(False)
        self._view.clicked.connect(self._choose)
        filled(QVBoxLayout(self), self._view, margins=(5, 5, 5, 6))
        self._fill(choices, _row_in_use(choices))

    def closeEvent(self, event: QCloseEvent) -> None:
        """Tell the button."""
        self.closed.emit()
        super().closeEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the round box; the window itself is transparent."""
        painter = QPainter(self)
        if not self.mask().isEmpty():  # without a compositor the edge would be smoothed into black
            painter.fillRect(self.rect(), self._theme.color("btn"))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_box(painter, self._theme, self.rect(), 8, "raised", "btn")

    def show_choices(self, name: str, choices: list[Choice]) -> None:
        """Show other rows in this popup: the next list, or the same one with more known of it."""
        same = name == self._view.accessibleName()
        row = self._view.currentRow() if same else _row_in_use(choices)
        self._view.setAccessibleName(name)
        self._fill(choices, min(row, len(choices) - 1))
        if self._button is not None:
            self._place(self._button)

    def choose(self, key: str) -> None:
        """Choose a row as a click would; one that has a problem stays where it is."""
        choice = next(choice for choice in self.choices if choice.key == key)
        if choice.problem:
            return
        self.chosen.emit(key)
        if not choice.leads_on:
            self.close()

    def open_beside(self, button: QWidget, above: bool) -> None:
        """Open above or below a button, inside its window's screen."""
        self._button, self._above = button, above
        self._place(button)
        self.show()
        self._view.setFocus(Qt.FocusReason.PopupFocusReason)

    def _place(self, button: QWidget) -> None:
        sizes = [self._view.sizeHintForIndex(self._view.model().index(row, 0)) for row in range(self._view.count())]
        width = max(260, *(size.width() for size in sizes)) + 10
        height = min(sum(size.height() for size in sizes), _HIGHEST_PX) + 12
        self.resize(width, height)
        corner = button.mapToGlobal(QPoint(0, -height - 6 if self._above else button.height() + 6))
        if not self._above:
            corner.setX(corner.x() + (button.width() - width) // 2)
        screen = button.screen().availableGeometry()
        corner.setX(max(screen.left(), min(corner.x(), screen.right() - width)))
        corner.setY(max(screen.top(), min(corner.y(), screen.bottom() - height)))
        self.move(corner)
        if QGuiApplication.platformName() == "xcb":
            # Without a compositor X11 would show the transparent corners black.
            outline = QPainterPath()
            outline.addRoundedRect(QRectF(self.rect()), 8, 8)
            self.setMask(QRegion(outline.toFillPolygon().toPolygon()))

    @Slot(QModelIndex)
    def _choose(self, index: QModelIndex) -> None:
        if index.isValid():
            self.choose(self.choices[index.row()].key)

    def _fill(self, choices: list[Choice], row: int) -> None:
        self.choices = choices
        self._view.clear()
        for choice in choices:
            self._view.add(choice)
        self._view.setCurrentRow(row)


def _row_in_use(choices: list[Choice]) -> int:
    return next((row for row, choice in enumerate(choices) if choice.checked), 0)


class MenuButton(QAbstractButton):
    """A painted button with a popup of choices; a click leaves the focus where one types."""

    menu_requested = Signal()
    closed = Signal()  # the popup

    def __init__(self, theme: Theme, icon_px: int, width: QSizePolicy.Policy, parent: QWidget | None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._usual_icon_px = icon_px
        self.popup: ChoicePopup | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(width, QSizePolicy.Policy.Fixed)
        self.clicked.connect(self.menu_requested)
        theme.changed.connect(self.updateGeometry)

    @property
    def _icon_px(self) -> int:
        return self._theme.type.px(self._usual_icon_px)

    def _fill(self, usual: str) -> str:
        """Role of the colour behind its words."""
        return "press" if self.isDown() or self.popup is not None else "hover" if self.underMouse() else usual

    def _open_popup(self, name: str, choices: list[Choice], above: bool) -> None:
        self.popup = ChoicePopup(self._theme, name, choices, self)
        self.popup.chosen.connect(self._choose)
        self.popup.closed.connect(self._forget_popup)
        self.popup.open_beside(self, above)

    def _choose(self, key: str) -> None:
        raise NotImplementedError

    @Slot()
    def _forget_popup(self) -> None:
        self.popup = None
        self.closed.emit()
        self.update()
