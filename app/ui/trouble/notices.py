"""Notices of trouble: errors and their remedies, the bar while chats are not saved, and the commands of Help."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.bridge.workspace import Workspace
from app.chat.engine_state import EnginePhase, EngineState
from app.chat.troubles import BAD_END, Remedy, remedy_of, setting_of, smaller_context, title_of
from app.ui import figures
from app.ui.chat_page.page import ChatPage
from app.ui.commands import CommandGroup, Commands
from app.ui.notices import Toast
from app.ui.opener import show_folder
from app.ui.parts import IconLabel, PlainLabel, filled, push_button, turn
from app.ui.screen_reader import announce
from app.ui.theme.theme import Theme
from app.words import tr
from engine.errors import NewerDatabase, StorageError
from engine.messages import ErrorReport

_NARROW_PX = 640
_ICON_PX = 20
# More dialogs than this in one session would keep the user from what still works.
_MOST_DIALOGS = 3
_NOT_SAVED = (StorageError.__name__, NewerDatabase.__name__)
_COMMANDS = {
    Remedy.MODELS: "models",
    Remedy.MACHINE: "machine",
    Remedy.SETTINGS: "settings",
    Remedy.OTHER_FILE: "import-chats",
    Remedy.WRITE: "write",
}


class UnsavedBar(QFrame):
    """Nobody can close it: it goes when all is saved.

    Args:
        mend: Does what the remedy of a report says.
        tell: Shows a report's details.
    """

    def __init__(
        self,
        theme: Theme,
        mend: Callable[[ErrorReport], object],
        tell: Callable[[ErrorReport], object],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._mend_report = mend
        self._tell_of = tell
        self._report: ErrorReport | None = None
        self.setProperty("kind", "unsaved")
        icon = IconLabel(theme, "circle-alert", "red", _ICON_PX, self)
        self._title = PlainLabel(self, kind="strong", wrap=True)
        self._sentence = PlainLabel(self, kind="sub", wrap=True)
        self.folder_button = push_button(tr("Open the data folder"), self, self._mend)
        self.details_button = push_button(tr("Show details"), self, self._tell, kind="link")
        words = filled(QVBoxLayout(), self._title, self._sentence, spacing=2)
        top = Qt.AlignmentFlag.AlignTop
        row = filled(QHBoxLayout(), (icon, 0, top), (words, 1), spacing=10)
        buttons = filled(QHBoxLayout(), self.folder_button, self.details_button, spacing=4)
        self._row = filled(
            QBoxLayout(QBoxLayout.Direction.LeftToRight, self),
            (row, 1),
            buttons,
            margins=(16, 8, 12, 8),
            spacing=10,
        )
        theme.changed.connect(self.updateGeometry)
        self.hide()

    @property
    def text(self) -> str:
        """The sentence; empty where all is saved."""
        return "" if self._report is None else self._report.message

    def say(self, report: ErrorReport | None) -> None:
        """Say why something is not saved; None where all is."""
        self._report = report
        self.setVisible(report is not None)
        if report is not None:
            self._title.setText(tr(title_of(report)))
            self._sentence.setText(report.message)
            self.setAccessibleName(f"{self._title.text()}. {report.message}")
            announce(self, self.accessibleName(), urgent=True)

    def sizeHint(self) -> QSize:
        """Fit the bar to its words at the window's width; buttons stand below them if that is small."""
        parent = self.parentWidget()
        assert parent is not None
        width = parent.width()
        turn(self._row, width < self._theme.type.px(_NARROW_PX))
        for button in (self.folder_button, self.details_button):
            button.ensurePolished()
            button.setMinimumWidth(button.sizeHint().width())
        return QSize(width, self._row.totalHeightForWidth(width))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.updateGeometry()

    @Slot()
    def _mend(self) -> None:
        if self._report is not None:
            self._mend_report(self._report)

    @Slot()
    def _tell(self) -> None:
        if self._report is not None:
            self._tell_of(self._report)


class TroubleDesk(QObject):
    """Belongs to a window.

    Args:
        workspace: Told what to do otherwise.
        page: Page whose replies have trouble.
        toast: Tells of trouble that no reply has.
        commands: Commands of the window; those of Help are added.
    """

    setting_wanted = Signal(str)  # its name: settings are to open there

    def __init__(self, theme: Theme, workspace: Workspace, page: ChatPage, toast: Toast, commands: Commands) -> None:
        super().__init__(page)
        self._theme = theme
        self._workspace = workspace
        self._diagnostics = workspace.diagnostics
        self._page = page
        self._toast = toast
        self._commands = commands
        self.unsaved = UnsavedBar(theme, self._mend_saving, self.show_details, page.window())
        self._of_engine = ""  # the sentence of the trouble that a loaded model ends
        self._uncaught = 0
        self._open = False
        workspace.trouble.connect(self.tell)
        workspace.power.remark.connect(self._remark)
        workspace.trouble_over.connect(self._over)
        workspace.model.changed.connect(self._engine_changed)
        page.trouble_met.connect(self._tell_of_engine)
        page.transcript.message_views.trouble_requested.connect(self._mend_reply)
        about = CommandGroup.HELP
        commands.add("log-folder", tr("Open log folder"), self._open_logs, about)
        told = tr("Versions, system and hardware, for a report")
        commands.add("copy-installation", tr("Copy details of this installation"), self._copy, about, tip=told)
        commands.add("about", tr("About Tenon"), self._show_about, about)

    @Slot(object)
    def tell(self, report: ErrorReport) -> None:
        """Tell of trouble that no reply has: title, sentence, the remedy, and the way to the details."""
        if report.kind in _NOT_SAVED:
            self.unsaved.say(report)
            self._page.transcript.message_views.set_saved(False)
            return
        remedy = remedy_of(report)
        self._toast.say(
            report.message,
            figures.remedy_words(remedy, report) if remedy is not Remedy.DETAILS else "",
            lambda: self._mend(report, remedy),
            lasting=True,
            title=tr(title_of(report)),
            on_details=lambda: self.show_details(report),
        )

    @Slot(object)
    def _tell_of_engine(self, report: ErrorReport) -> None:
        self._of_engine = report.message
        self.tell(report)

    @Slot(object)
    def _engine_changed(self, state: EngineState) -> None:
        if state.phase in (EnginePhase.READY, EnginePhase.IDLE) and self._of_engine:
            self._over(self._of_engine)
            self._of_engine = ""

    @Slot(str)
    def _over(self, sentence: str) -> None:
        """Forget trouble that is mended."""
        if self.unsaved.text == sentence:
            self.unsaved.say(None)
            self._page.transcript.message_views.set_saved(True)
        self._toast.take_back(sentence)

    @Slot(object)
    def tell_uncaught(self, report: ErrorReport) -> None:
        """Show an exception that nobody caught: one dialog at a time, and few in a session."""
        if not self._open and self._uncaught < _MOST_DIALOGS:
            self._uncaught += 1
            self.show_details(report)

    def tell_bad_end(self, details: str) -> None:
        """Tenon did not end as it should last time."""
        sentence = tr("Your chats are safe. You can look at the details and report them.")
        self.tell(ErrorReport(BAD_END, sentence, details))

    def show_details(self, report: ErrorReport) -> None:
        """Open the dialog with everything that is known."""
        # Here and not above: a window without trouble starts without it.
        from app.ui.trouble.dialogs import DetailsDialog

        dialog = DetailsDialog(self._theme, report, self._diagnostics, self._page.window())
        dialog.finished.connect(self._closed)
        self._open = True
        dialog.open()

    @Slot(int, object, object)
    def _mend_reply(self, message_id: int, report: ErrorReport, remedy: Remedy) -> None:
        self._mend(report, remedy, message_id)

    def _mend_saving(self, report: ErrorReport) -> None:
        self._mend(report, Remedy.DATA_FOLDER)

    def _mend(self, report: ErrorReport, remedy: Remedy, message_id: int | None = None) -> None:
        """Do what a button says; then answer again where a reply had the trouble."""
        if remedy is Remedy.DETAILS:
            self.show_details(report)
        elif remedy is Remedy.SETTINGS and setting_of(report):
            self.setting_wanted.emit(setting_of(report))
        elif remedy in _COMMANDS:
            self._commands[_COMMANDS[remedy]].trigger()
        elif remedy is Remedy.OTHER_MODEL:
            self._commands["write"].trigger()  # the chat is in view, and its header
            self._page.header.model_button.click()
        elif remedy is Remedy.DATA_FOLDER:
            self._say_problem(show_folder(self._diagnostics.data_folder))
        else:
            self._change_what_failed(report, remedy)
            self._again(message_id)

    def _change_what_failed(self, report: ErrorReport, remedy: Remedy) -> None:
        settings = self._workspace.settings
        if remedy in (Remedy.SMALLER_CONTEXT, Remedy.CONTEXT, Remedy.LARGER_CONTEXT):
            tokens = report.allowed.value if report.allowed else smaller_context(report.context)
            settings.set_for_model(settings.model, "context", tokens)
            self._toast.say(tr("This model's context has {tokens} tokens from now on.", tokens=figures.whole(tokens)))
        elif remedy is Remedy.MEMORY_BUDGET:
            assert report.allowed is not None
            settings.choose_for(settings.model, report.allowed.option, report.allowed.value)
            size = figures.gigabytes(report.allowed.value)
            self._toast.say(tr("The memory budget is {size} GB from now on.", size=size))
        elif remedy is Remedy.NO_DRAFT:
            self._workspace.drafts.choose("")

    def _again(self, message_id: int | None) -> None:
        if message_id is None:
            self._workspace.settings_applied()
        else:
            self._page.try_again(message_id)

    def _say_problem(self, sentence: str) -> None:
        if sentence:
            self._toast.say(sentence, lasting=True)

    @Slot(int)
    def _closed(self, result: int) -> None:
        self._open = False

    @Slot(str)
    def _remark(self, sentence: str) -> None:
        if self._toast.fades or not self._toast.isVisible():  # an error that is told matters more
            self._toast.say(sentence)

    @Slot()
    def _open_logs(self) -> None:
        self._say_problem(show_folder(self._diagnostics.log_folder))

    @Slot()
    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._diagnostics.installation())
        self._toast.say(tr("The details of this installation are copied."))

    @Slot()
    def _show_about(self) -> None:
        from app.ui.trouble.dialogs import AboutDialog

        AboutDialog(self._theme, self._diagnostics, self._page.window()).open()
