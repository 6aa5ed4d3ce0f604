"""The scrolling middle of the dialog: a page of sections and rows, or what was found on all pages."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from app.settings.pages import PAGES, Action, Item, Note, Page, Row, Section, matches
from app.settings.setting import Names
from app.settings.settings import Settings
from app.ui.painting import place
from app.ui.parts import PlainLabel
from app.ui.settings.fields import Fields
from app.ui.settings.rows import NARROW_PX, ActionRow, NoteRow, SettingRow, TokenRow
from app.ui.theme.theme import Theme
from app.words import tr

_HEAD_PX = 38
_TITLE_PX = 44
_SIDE_PX = 12

ItemView = SettingRow | ActionRow | NoteRow
_STACK_SIDE_PX = 20


class SectionHead(QWidget):
    """The title of a section; the first one of a page also says what the columns are."""

    def __init__(self, theme: Theme, title: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.title = PlainLabel(title, self, kind="group")
        self.chosen = PlainLabel(tr("Chosen"), self, kind="group")
        self.in_use = PlainLabel(tr("In use now"), self, kind="group")
        self.with_columns = False

    def fit(self, width: int) -> int:
        """Lay out for a width; returns the height."""
        px = self._theme.type.px
        height = px(self._theme.spaced(_HEAD_PX))
        wide = width >= px(NARROW_PX) and self.with_columns
        for label in (self.chosen, self.in_use):
            label.setVisible(wide)
        words_width = min(px(236), round(width * 0.33))
        place(self.title, _SIDE_PX, 0, words_width if wide else width - 2 * _SIDE_PX, height, width)
        place(self.chosen, _SIDE_PX + words_width + 16, 0, px(200), height, width)
        in_use_width = px(108)
        self.in_use.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        place(self.in_use, width - 4 - 28 - 12 - in_use_width, 0, in_use_width, height, width)
        return height

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(0, self.height() - 1, self.width(), 1, self._theme.color("line"))


class PageView(QWidget):
    """Made when it is shown first, or searched."""

    edited = Signal(str)  # the name of a setting
    reset = Signal(str)
    requested = Signal(str)  # the name of an action

    def __init__(self, theme: Theme, page: Page, fields: Fields, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.page = page
        self.rows: dict[str, SettingRow] = {}  # rows of the settings on it, by name
        self.action_rows: dict[str, ActionRow] = {}  # the other rows, by name
        self.title = PlainLabel(tr(page.title), self, kind="section")
        self.title.hide()
        self._fields = fields
        self._sections = [
            (
                SectionHead(theme, tr(section.title), self),
                section,
                [(item, self._make(item)) for item in section.items],
            )
            for section in page.sections
        ]

    def item_views(self) -> Iterator[SettingRow | ActionRow]:
        """Items from top to bottom."""
        for _, _, items in self._sections:
            yield from (view for _, view in items if not isinstance(view, NoteRow))

    def show_items(self, typed: str, advanced: bool, per_model: bool) -> bool:
        """Show what is asked for; return whether there is any of it here.

        A search looks through advanced settings too; ``per_model`` asks for what a model can have of its own alone.
        """
        self.title.setVisible(bool(typed))
        found = columns = False
        for head, section, items in self._sections:
            shown = []
            for item, view in items:
                wanted = self._wanted(item, section, typed, advanced, per_model)
                view.setVisible(wanted)
                shown += [item] if wanted else []
            head.setVisible(bool(shown))
            head.with_columns = bool(shown) and isinstance(shown[0], Row) and not columns
            columns = columns or head.with_columns
            found = found or bool(shown)
        return found

    def fit(self, width: int) -> int:
        """Lay out for a width; returns the height."""
        top = 0
        if not self.title.isHidden():
            height = self._theme.type.px(_TITLE_PX)
            place(self.title, _SIDE_PX, 0, width - 2 * _SIDE_PX, height, width)
            top += height
        for head, _, items in self._sections:
            for view in (head, *(view for _, view in items)):
                if not view.isHidden():
                    # Known before the parts are laid out: a row asks its own width.
                    view.resize(width, view.height())
                    height = view.fit(width)
                    view.setGeometry(0, top, width, height)
                    top += height
        return top

    def _make(self, item: Item) -> ItemView:
        if isinstance(item, Note):
            return NoteRow(self._theme, tr(item.words), self)
        if isinstance(item, Action):
            return self._make_action(item)
        setting = Settings.declared()[item.name]
        row = SettingRow(self._theme, tr(setting.title), tr(setting.help_text), self)
        field = self._fields.make(item.name, row)
        row.put_field(field)
        name = item.name
        field.edited.connect(lambda: self.edited.emit(name))
        row.reset.connect(lambda: self.reset.emit(name))
        self.rows[name] = row
        return row

    def _make_action(self, action: Action) -> ActionRow:
        title, help_text = tr(action.title), tr(action.help_text)
        if action.button:
            row = ActionRow(self._theme, title, help_text, tr(action.button), self)
            row.requested.connect(lambda: self.requested.emit(action.name))
        else:
            row = TokenRow(self._theme, title, help_text, self)
        self.action_rows[action.name] = row
        return row

    def _wanted(self, item: Item, section: Section, typed: str, advanced: bool, per_model: bool) -> bool:
        if per_model and not (isinstance(item, Row) and item.per_model):
            return False
        if typed:
            return matches(typed, tr(self.page.title), tr(section.title), *_texts(item))
        return advanced or isinstance(item, Note) or not item.advanced


def _texts(item: Item) -> tuple[str, ...]:
    if isinstance(item, Note):
        return (tr(item.words),)
    if isinstance(item, Action):
        return (tr(item.title), tr(item.help_text))
    setting = Settings.declared()[item.name]
    choices = setting.control.titles if isinstance(setting.control, Names) else ()
    # People know many settings by their English names.
    return (tr(setting.title), tr(setting.help_text), setting.title, *(tr(words) for _, words in choices))


class PageStack(QScrollArea):
    """Pages are made when they are shown first, so that the dialog opens at once."""

    made = Signal(object)  # PageView

    def __init__(self, theme: Theme, fields: Fields, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._fields = fields
        self._pages: dict[int, PageView] = {}
        self._head: QWidget | None = None
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._column = QWidget(self)
        self._column.setProperty("kind", "column")
        self.nothing = PlainLabel(self._column, kind="sub", wrap=True)
        self.nothing.setText(tr("No setting was found: try another word, or choose another page."))
        self.setWidget(self._column)

    def show_page(self, number: int, typed: str, advanced: bool, per_model: bool) -> None:
        """Show a page, or where something was typed what is found of it on all of them; see `PageView.show_items`."""
        found = False
        for other in range(len(PAGES)):
            wanted = bool(typed) or other == number
            if wanted or other in self._pages:
                page = self.page(other)
                shown = wanted and page.show_items(typed, advanced, per_model)
                page.setVisible(shown)
                found = found or shown
        self.nothing.setVisible(not found)
        self.arrange()
        self.verticalScrollBar().setValue(0)

    def put_head(self, head: QWidget | None) -> None:
        """Take in what scrolls away above the pages; None gives it back to whoever asks for it."""
        self._head = head
        if head is not None:
            head.setParent(self._column)
            head.show()

    def page(self, number: int) -> PageView:
        """Return a page, and make it if needed."""
        if number not in self._pages:
            page = PageView(self._theme, PAGES[number], self._fields, self._column)
            self._pages[number] = page
            self.made.emit(page)
        return self._pages[number]

    def pages(self) -> Iterator[PageView]:
        """Pages that were made, in their order."""
        for number in sorted(self._pages):
            yield self._pages[number]

    def rows(self) -> Iterator[tuple[str, SettingRow]]:
        """Yield the rows of settings that were made."""
        for page in self.pages():
            yield from page.rows.items()

    def controls(self) -> Iterator[QWidget]:
        """Widgets that take the focus, from top to bottom."""
        for page in self.pages():
            for view in page.item_views():
                if isinstance(view, SettingRow):
                    yield from (*view.field.controls, view.reset_button)
                elif isinstance(view, TokenRow):
                    yield from (view.edit, view.keep_button, view.forget_button)
                elif view.button is not None:
                    yield view.button

    def arrange(self) -> None:
        """Lay the shown pages out below one another."""
        width = self.width() - 2 * _STACK_SIDE_PX  # the scroll bar stands in the margin
        top = 0
        if self._head is not None:
            height = self._head.sizeHint().height()
            self._head.setGeometry(0, 0, self.width(), height)
            top = height
        for page in self.pages():
            if not page.isHidden():
                height = page.fit(width)
                page.setGeometry(_STACK_SIDE_PX, top, width, height)
                top += height
        if not self.nothing.isHidden():
            height = self.nothing.heightForWidth(width - 24)
            self.nothing.setGeometry(_STACK_SIDE_PX + 12, top + 16, width - 24, height)
            top += height + 32
        self._column.resize(self.viewport().width(), top + 16)

    def viewportEvent(self, event: QEvent) -> bool:
        """Words wrap elsewhere in another width, which a scroll bar that comes or goes changes too."""
        if event.type() == QEvent.Type.Resize:
            self.arrange()
        return super().viewportEvent(event)
