"""The dialog of settings, and the actions of its rows: nothing is changed before Apply."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QCloseEvent, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QMessageBox, QVBoxLayout, QWidget

from app.bridge.models.servers import HubAccess
from app.bridge.saved_settings import SettingsDesk
from app.bridge.workspace import Workspace
from app.chat.engine_options import load_options
from app.chat.engine_state import EnginePhase, EngineState
from app.settings.pages import EVERY_MODEL, PAGES, PendingSettings
from app.settings.settings import Settings
from app.settings.settings_file import ImportedSettings
from app.ui import figures
from app.ui.opener import show_folder
from app.ui.parts import PlainQuestion, filled, order_tabs
from app.ui.settings.fields import ChoiceField, Fields
from app.ui.settings.layout import Foot, Head, PageList
from app.ui.settings.pages import PageStack, PageView
from app.ui.settings.rows import ActionRow, FieldChoices, RowStates, SettingRow, TokenRow
from app.ui.theme.focus_ring import RingedDialog
from app.ui.theme.theme import Theme
from app.words import tr
from engine.errors import InvalidOption
from engine.messages import LoadOptions

_SIZE = QSize(946, 760)
_LEAST = QSize(340, 320)
_MARGIN_PX = 40
_NARROW_PX = 720
_FOLDERS = {"models_folder": "models", "data_folder": "data"}
_FILE_NAME = "tenon-settings.json"


class ClosingQuestion(PlainQuestion):
    """Apply them, discard them, or go on."""

    def __init__(self, dialog: QWidget) -> None:
        super().__init__(tr("Settings"), tr("Some changes are not applied yet."), dialog)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.apply = self.addButton(tr("Apply changes"), QMessageBox.ButtonRole.AcceptRole)
        self.discard = self.addButton(tr("Discard changes"), QMessageBox.ButtonRole.DestructiveRole)
        self.addButton(tr("Go on editing"), QMessageBox.ButtonRole.RejectRole)
        self.setDefaultButton(self.apply)


class SettingsDialog(RingedDialog):
    """A page of rows at a time, a search over all of them, and what Apply would do at the foot."""

    applied = Signal(bool)  # the settings are others now; whether the model may have to be loaded again

    def __init__(self, theme: Theme, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Settings"), parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)  # `SettingsOpening` deletes it
        self._theme = theme
        self._workspace = workspace
        self._desk = workspace.settings_desk
        self.pending = PendingSettings(workspace.settings)  # choices that are not in force yet
        self._said = ""
        self._checked: LoadOptions | None = None
        self._loads = False  # whether the model has to be loaded again for what was checked
        self.setMinimumSize(_LEAST)
        settings = workspace.settings
        self.page_list = PageList(theme, PAGES, self)  # at the side; in a narrow dialog its box is in the head
        self.head = Head(theme, settings.model, workspace.model.state.model_name, self.page_list.box, self)
        self.head.level.choose(settings.settings_level)
        self.choices = FieldChoices(workspace, self.pending, self)
        self._states = RowStates(workspace, self.pending, self.choices)
        fields = Fields(theme, self._desk.limits(), self.choices.by_name())
        self.stack = PageStack(theme, fields, self)
        self.foot = Foot(theme, self)
        line = filled(QHBoxLayout(self), self.page_list, margins=0, spacing=0)
        self._right = QVBoxLayout()
        line.addLayout(self._right, 1)  # before it is filled, or PySide keeps the item of the head, which moves
        filled(self._right, self.head, (self.stack, 1), self.foot, spacing=0)
        self._connect()
        self._show_page()
        self.resize(self.sizeHint())
        self.head.search.setFocus()

    def sizeHint(self) -> QSize:
        wanted = QSize(self._theme.type.px(_SIZE.width()), self._theme.type.px(_SIZE.height()))
        return wanted.boundedTo(self.room(_MARGIN_PX)).expandedTo(_LEAST)

    @property
    def scope(self) -> str:
        """The model that values are chosen for, or `EVERY_MODEL`; on a page without such values always that."""
        return self.head.scope.current if self._offers_scope() else EVERY_MODEL

    @property
    def _typed(self) -> str:
        return self.head.search.text().strip()

    def _offers_scope(self) -> bool:
        return bool(self._typed) or PAGES[self.page_list.current].per_model

    def row(self, name: str) -> SettingRow:
        """Return the row of a setting, and make its page if needed."""
        return self.stack.page(_page_of(name)).rows[name]

    def go(self, page_name: str) -> None:
        """Show a page by its name."""
        self.page_list.choose(next(n for n, page in enumerate(PAGES) if page.name == page_name))

    def go_to_row(self, name: str) -> None:
        """Show the page of a setting, with the focus in its row: of a number, where it is typed."""
        self.page_list.choose(_page_of(name))
        self.row(name).field.controls[-1].setFocus(Qt.FocusReason.OtherFocusReason)

    def say(self, sentence: str) -> None:
        """Say something at the foot, until something else is changed."""
        self._said = sentence
        self._refresh()

    def choose(self, imported: ImportedSettings) -> None:
        """Choose what a file says; Apply brings it into force."""
        self._said = ""
        self._states.not_allowed.clear()
        self.pending.choose(imported.values, imported.unknown)
        self._refresh()

    def _connect(self) -> None:
        self.page_list.chosen.connect(self._page_chosen)
        self.head.search.textChanged.connect(self._show_page)
        self.head.level.chosen.connect(self._level_chosen)
        self.head.scope.chosen.connect(self._show_page)
        self.stack.made.connect(self._page_made)
        self.foot.undo_button.clicked.connect(self._undo)
        self.foot.apply_button.clicked.connect(self.apply)
        self._workspace.model.changed.connect(self._engine_changed)
        self._theme.changed.connect(self._restyle)
        self.choices.changed.connect(self._choices_changed)
        self._workspace.plans.answered.connect(self._refresh)
        if self._workspace.advice() is None:
            self._workspace.plans.ask_for_chosen()
        QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self, self._search)
        self.finished.connect(self.choices.stop)

    # --- pages ------------------------------------------------------------------------------------------------

    @Slot()
    def _page_chosen(self) -> None:
        self.head.search.clear()
        self._show_page()

    @Slot()
    def _show_page(self) -> None:
        advanced = self.head.level.current == "advanced"
        self.head.scope.setVisible(self._offers_scope())
        self._refresh()
        self.stack.show_page(self.page_list.current, self._typed, advanced, self.scope != EVERY_MODEL)
        self._order_tabs()

    def _order_tabs(self) -> None:
        """Let Tab go from the left to the right and from top to bottom, whenever a page was made."""
        foot = (self.foot.undo_button, self.foot.apply_button)
        order_tabs([self.page_list.list, *self.head.controls(), *self.stack.controls(), *foot])

    @Slot()
    def _search(self) -> None:
        self.head.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.head.search.selectAll()

    @Slot(object)
    def _page_made(self, page: PageView) -> None:
        page.edited.connect(self._edited)
        page.reset.connect(self._reset)
        self._refresh_rows(page.rows)

    @Slot(str)
    def _level_chosen(self, level: str) -> None:
        self._workspace.settings.settings_level = level
        self._show_page()

    # --- values -----------------------------------------------------------------------------------------------

    @Slot(str)
    def _edited(self, name: str) -> None:
        self._said = ""
        self._states.not_allowed.pop(name, None)
        try:
            self.pending.set(name, self.row(name).field.value(), self.scope)
        except InvalidOption as error:
            self._states.not_allowed[name] = error.message
        self._refresh()

    @Slot(str)
    def _reset(self, name: str) -> None:
        self._said = ""
        self._states.not_allowed.pop(name, None)
        self.pending.reset(name, self.scope)
        row = self.row(name)
        had_focus = row.reset_button.hasFocus()
        self._refresh()
        if had_focus:
            row.field.controls[0].setFocus(Qt.FocusReason.TabFocusReason)

    @Slot()
    def _undo(self) -> None:
        self._said = ""
        self._states.not_allowed.clear()
        self.pending.undo()
        self._refresh()

    @Slot()
    def apply(self) -> None:
        """Bring what is chosen into force."""
        self._said = ""
        before = load_options(self.pending.applied)
        self.pending.apply()
        self.applied.emit(load_options(self.pending.applied) != before)
        self._refresh()

    @Slot()
    def _refresh(self) -> None:
        self._refresh_rows(dict(self.stack.rows()))
        self._check_memory()
        changes = self.pending.changes()
        state, load_ms = self._workspace.model.state, self._desk.load_ms()
        said = [
            self._said,
            tr("The model is being loaded.") if state.phase is EnginePhase.LOADING else state.sentence,
        ]
        if load_ms is not None and self._loads:
            seconds = figures.ratio(load_ms / 1000)
            told = tr("The model is loaded again, which took {seconds} s the last time.", seconds=seconds)
            said.insert(0, told)
        self.foot.show_changes(len(changes), [sentence for sentence in said if sentence])

    def _check_memory(self) -> None:
        """Ask whether the model has to be loaded again for what is chosen."""
        options = load_options(self.pending.chosen)
        if options == self._checked:
            return
        self._checked, self._loads = options, False
        if options != load_options(self.pending.applied):
            self._workspace.model.check(options, partial(self._memory_checked, options))

    def _memory_checked(self, options: LoadOptions, there: bool) -> None:
        if options == self._checked and there == self._loads:
            self._loads = not there
            self._refresh()

    def _refresh_rows(self, rows: dict[str, SettingRow]) -> None:
        in_use = {**self._desk.in_use(), **self._states.numbers_in_force()}
        for name, row in rows.items():
            self._states.show(name, row, self.scope, in_use)

    # --- what happens around it -------------------------------------------------------------------------------

    @Slot(object)
    def _engine_changed(self, state: EngineState) -> None:
        self._checked = None
        self._states.ask_reasons()
        self._refresh()

    @Slot()
    def _choices_changed(self) -> None:
        for _, row in self.stack.rows():
            if isinstance(row.field, ChoiceField):
                row.field.refresh()

    @Slot()
    def _restyle(self) -> None:
        for _, row in self.stack.rows():
            row.field.fit()
        self.stack.arrange()
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Lay out for the width: in a narrow dialog the pages are a field, and the head scrolls with the rows."""
        narrow = self.width() < self._theme.type.px(_NARROW_PX)
        if narrow is (self.head.parent() is self):
            focused = self.focusWidget()
            (self.stack.column if narrow else self._right).insertWidget(0, self.head)
            self.head.show()
            if focused is not None and self.head.isAncestorOf(focused):
                focused.setFocus()
            self._order_tabs()
        self.page_list.setVisible(not narrow)
        beside = self.width() - (0 if narrow else self.page_list.width())
        self.head.fit(beside, narrow)
        self.foot.fit(beside)

    # --- closing ----------------------------------------------------------------------------------------------

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask what becomes of changes that were not applied."""
        event.ignore()
        self.reject()

    def reject(self) -> None:
        """Close; ask what becomes of changes that were not applied."""
        if not self.pending.changes():
            super().reject()
            return
        question = ClosingQuestion(self)
        question.apply.clicked.connect(self._apply_and_close)
        question.discard.clicked.connect(self._discard_and_close)
        question.open()

    @Slot()
    def _apply_and_close(self) -> None:
        self.apply()
        super().reject()

    @Slot()
    def _discard_and_close(self) -> None:
        self.pending.undo()
        super().reject()


def _page_of(name: str) -> int:
    for number, page in enumerate(PAGES):
        if any(getattr(item, "name", "") == name for item in page.items()):
            return number
    raise KeyError(name)


class DeskActions(QObject):
    """Connects the dialog's pages, as they are made, with the desk."""

    erase_wanted = Signal()

    def __init__(self, dialog: SettingsDialog, desk: SettingsDesk, access: HubAccess) -> None:
        super().__init__(dialog)
        self._dialog = dialog
        self._desk = desk
        self._access = access
        self._token: TokenRow | None = None
        self._readings: ActionRow | None = None
        dialog.stack.made.connect(self._page_made)
        for page in dialog.stack.pages():
            self._page_made(page)
        desk.exported.connect(self._exported)
        desk.imported.connect(self._imported)
        desk.readings_measured.connect(self._readings_measured)
        access.told.connect(self._token_told)

    @Slot(object)
    def _page_made(self, page: PageView) -> None:
        page.requested.connect(self._do)
        for name, row in page.action_rows.items():
            if name in _FOLDERS:
                row.show_detail(str(self._desk.folder(_FOLDERS[name])))
            elif name == "erase_readings":
                self._readings = row
                self._desk.measure_readings()
            elif isinstance(row, TokenRow):
                self._token = row
                row.kept.connect(self._access.keep)
                row.forgotten.connect(self._access.forget)
                row.show_known(self._access.known, "")
                self._access.look()

    @Slot(str)
    def _do(self, name: str) -> None:
        if name in _FOLDERS:
            self._open_folder(self._desk.folder(_FOLDERS[name]))
        elif name == "reset_settings":
            self._dialog.choose(ImportedSettings({}, {}))
        elif name == "export_settings":
            self._export()
        elif name == "import_settings":
            self._import()
        elif name == "erase_readings":
            self._desk.measure_readings(erase=True)
        elif name == "erase_everything":
            self.erase_wanted.emit()

    def _open_folder(self, folder: Path) -> None:
        """Show a folder in the system's own window; one that nothing is in yet is not there."""
        if not folder.is_dir():
            self._dialog.say(tr("{folder} is not there yet: nothing was put into it.", folder=folder))
        elif problem := show_folder(folder):
            self._dialog.say(problem)

    def _export(self) -> None:
        kinds = tr("Settings (*.json)")
        path, _ = QFileDialog.getSaveFileName(self._dialog, tr("Export settings"), _FILE_NAME, kinds)
        if path:
            self._desk.export(Path(path))

    def _import(self) -> None:
        kinds = tr("Settings (*.json)")
        path, _ = QFileDialog.getOpenFileName(self._dialog, tr("Import settings"), "", kinds)
        if path:
            self._desk.read(Path(path))

    @Slot(str, str)
    def _exported(self, path: str, sentence: str) -> None:
        self._dialog.say(sentence or tr("The settings in use are saved as {file}.", file=Path(path).name))

    @Slot(object, str)
    def _imported(self, found: ImportedSettings | None, sentence: str) -> None:
        if found is None:
            self._dialog.say(sentence)
            return
        self._dialog.choose(found)
        if found.rejected:
            names = ", ".join(_title(name) for name in found.rejected)
            self._dialog.say(
                tr(
                    "Left out, because they no longer exist or their values are not allowed: {names}.",
                    names=names,
                )
            )
        elif not self._dialog.pending.changes():
            self._dialog.say(tr("The file has the settings that are already in use."))

    @Slot(float)
    def _readings_measured(self, size_bytes: float) -> None:
        if self._readings is not None:
            self._readings.show_detail(figures.size(int(size_bytes)) if size_bytes else tr("Nothing"))

    @Slot(str)
    def _token_told(self, problem: str) -> None:
        if self._token is not None:
            self._token.show_known(self._access.known, problem)


def _title(name: str) -> str:
    """Title of a setting in the dialog; one without a row has its name in the file."""
    setting = Settings.declared().get(name)
    return tr(setting.title) if setting is not None and setting.title else name
