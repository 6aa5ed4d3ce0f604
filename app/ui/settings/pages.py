"""The scrolling middle of the dialog: a page of sections and rows, or what was found on all pages."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from app.settings.pages import PAGES, Action, Item, Note, Page, Row, Section, matches
from app.settings.setting import Names
from app.settings.settings import Settings
from app.ui.parts import STRETCH, PlainLabel, filled
from app.ui.settings.fields import Fields
from app.ui.settings.rows import (
    BUTTON_PX,
    FIELD_PX,
    GAP_PX,
    IN_USE_PX,
    NARROW_PX,
    SIDE_PX,
    UNLIMITED_PX,
    WORDS_PX,
    ActionRow,
    LinedRow,
    NoteRow,
    SettingRow,
    TokenRow,
)
from app.ui.theme.theme import Theme
from app.words import tr

_HEAD_PX = 38
_TITLE_PX = 44

ItemView = SettingRow | ActionRow | NoteRow
_STACK_SIDE_PX = 20


class SectionHead(LinedRow):
    """The title of a section; the first one of a page also says what the columns are."""

    def __init__(self, theme: Theme, title: str, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.with_columns = False
        self._narrow = False
        self.title = PlainLabel(title, self, kind="group", wrap=True)
        self.chosen = PlainLabel(tr("Chosen"), self, kind="group")
        self.in_use = PlainLabel(tr("In use now"), self, kind="group")
        self.in_use.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        parts = ((self.title, WORDS_PX), (self.chosen, FIELD_PX), (self.in_use, IN_USE_PX))
        end = 4 + BUTTON_PX + GAP_PX
        filled(QHBoxLayout(self), *parts, margins=(SIDE_PX, 0, end, 0), spacing=GAP_PX)

    def arrange(self, narrow: bool) -> None:
        px = self._theme.type.px
        self._narrow = narrow
        self.setMinimumHeight(px(self._theme.spaced(_HEAD_PX)))
        self.show_columns(self.with_columns)
        self.chosen.setMaximumWidth(px(FIELD_PX))

    def show_columns(self, shown: bool) -> None:
        """Say what the columns are, where there are some."""
        self.with_columns = shown
        wide = shown and not self._narrow
        for label in (self.chosen, self.in_use):
            label.setVisible(wide)
        self.title.setMaximumWidth(self._theme.type.px(WORDS_PX) if wide else UNLIMITED_PX)


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
        self.title = PlainLabel(tr(page.title), self, kind="section", wrap=True)
        self.title.setIndent(SIDE_PX)
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
        views = (view for head, _, items in self._sections for view in (head, *(one for _, one in items)))
        filled(QVBoxLayout(self), self.title, *views, margins=0, spacing=0)

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
            head.show_columns(bool(shown) and isinstance(shown[0], Row) and not columns)
            columns = columns or head.with_columns
            found = found or bool(shown)
        return found

    def arrange(self, narrow: bool) -> None:
        """Take the sizes of the theme; where it is narrow, parts of rows stand below one another."""
        self.title.setMinimumHeight(self._theme.type.px(_TITLE_PX))
        for head, _, items in self._sections:
            for view in (head, *(view for _, view in items)):
                view.arrange(narrow)

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
        self._narrow = False
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidgetResizable(True)
        self._content = QWidget(self)
        self._content.setProperty("kind", "column")
        self.column = filled(QVBoxLayout(self._content), margins=(0, 0, 0, 16))  # the dialog's head may be put into it
        self.nothing = PlainLabel(self._content, kind="sub", wrap=True)
        self.nothing.setText(tr("No setting was found: try another word, or choose another page."))
        self.nothing.setContentsMargins(12, 16, 12, 16)
        self._views = QVBoxLayout()
        self.column.addLayout(self._views)  # before it is filled, or PySide keeps the items of what moves
        filled(self._views, self.nothing, STRETCH, margins=(_STACK_SIDE_PX, 0, _STACK_SIDE_PX, 0), spacing=0)
        self.setWidget(self._content)

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
        self.verticalScrollBar().setValue(0)

    def page(self, number: int) -> PageView:
        """Return a page, and make it if needed."""
        if number not in self._pages:
            page = PageView(self._theme, PAGES[number], self._fields, self._content)
            page.arrange(self._narrow)
            self._views.insertWidget(sum(other < number for other in self._pages), page)
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
        """Take the sizes of the theme."""
        self._narrow = self._has_no_room()
        for page in self.pages():
            page.arrange(self._narrow)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._narrow != self._has_no_room():
            self.arrange()

    def _has_no_room(self) -> bool:
        return self.width() - 2 * _STACK_SIDE_PX < self._theme.type.px(NARROW_PX)
