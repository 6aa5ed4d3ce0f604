"""Commands for the look of the window: panels, marks and the size of text; and the window as it was left."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from app.bridge.workspace import Workspace
from app.ui.chat_page.page import ChatPage
from app.ui.commands import CommandGroup, Commands
from app.ui.inspector.dock import InspectorDock
from app.ui.shell import Shell
from app.ui.theme.theme import Theme, apply_appearance
from app.words import tr

_SCALE_STEP = 10


class ViewCommands(QObject):
    """Declares them and keeps what they change in the settings."""

    def __init__(
        self, theme: Theme, workspace: Workspace, shell: Shell, page: ChatPage, inspector: InspectorDock
    ) -> None:
        super().__init__(shell)
        self._theme = theme
        self._settings = workspace.settings
        self._page = page
        self._shell = shell
        self._inspector = inspector
        page.transcript.message_views.set_drafted_shown(self._settings.drafted_shown)
        shell.shown_changed.connect(self._keep_sidebar_shown)
        inspector.shown_changed.connect(self._inspector_shown)

    def add_commands(self, commands: Commands) -> None:
        """Declare what can be done."""
        view = CommandGroup.VIEW
        commands.add("show-chats", tr("Show or hide the chats"), self._shell.toggle, view, ("Ctrl+B",))
        self._inspector_action = commands.add("inspector", tr("Inspector"), self._show_inspector, view,
                                              ("F12", "Ctrl+I"), checkable=True)  # fmt: skip
        told = tr("Marks what a draft guessed and the model accepted, in finished replies")
        drafted = commands.add("mark-drafts", tr("Mark accepted drafts"), self._show_drafted, view, ("Ctrl+D",),
                               tip=told, checkable=True)  # fmt: skip
        self._drafted_action = drafted
        told = tr("For models that are read from the disk: what the draft expects, in grey")
        guesses = commands.add("show-guesses", tr("Show guesses while they are unconfirmed"), self._show_guesses,
                               view, tip=told, checkable=True)  # fmt: skip
        self._guesses_action = guesses
        self.take_settings()
        commands.add("larger-text", tr("Larger text"), lambda: self._scale_by(_SCALE_STEP), view, ("Ctrl++", "Ctrl+="))
        commands.add("smaller-text", tr("Smaller text"), lambda: self._scale_by(-_SCALE_STEP), view, ("Ctrl+-",))
        commands.add("usual-text", tr("Usual size of text"), lambda: self._scale(100), view, ("Ctrl+0",))
        commands.add("light", tr("Light theme"), lambda: self._choose_theme("light"), view)
        commands.add("dark", tr("Dark theme"), lambda: self._choose_theme("dark"), view)
        commands.add("as-system", tr("Theme as the system"), lambda: self._choose_theme("system"), view)
        latest = self._page.transcript.jump_to_latest
        commands.add("latest", tr("Jump to the latest message"), latest, view, ("Ctrl+End", "Alt+End"))

    @Slot()
    def take_settings(self) -> None:
        """Show what the settings say by now."""
        self._drafted_action.setChecked(self._settings.drafted_shown)
        self._guesses_action.setChecked(self._settings.unconfirmed_shown)

    def _choose_theme(self, name: str) -> None:
        self._settings.theme = name
        apply_appearance(self._theme, self._settings)

    @Slot(bool)
    def _show_inspector(self, shown: bool) -> None:
        if shown != self._inspector.open:
            self._inspector.toggle()

    @Slot(bool)
    def _inspector_shown(self, shown: bool) -> None:
        self._page.header.set_inspector_shown(shown)
        self._inspector_action.setChecked(shown)

    @Slot(bool)
    def _keep_sidebar_shown(self, shown: bool) -> None:
        self._settings.sidebar_shown = shown

    @Slot(int)
    def keep_sidebar_width(self, width_px: int) -> None:
        """Keep the width that the user gave the list of chats."""
        self._settings.sidebar_width = width_px

    @Slot(bool)
    def _show_drafted(self, shown: bool) -> None:
        self._settings.drafted_shown = shown
        self._page.transcript.message_views.set_drafted_shown(shown)

    @Slot(bool)
    def _show_guesses(self, shown: bool) -> None:
        self._settings.unconfirmed_shown = shown

    def _scale_by(self, percent: int) -> None:
        self._scale(self._settings.font_scale + percent)

    def _scale(self, percent: int) -> None:
        percent = min(150, max(90, percent))
        self._settings.font_scale = percent
        self._theme.set_scale(percent / 100)


class LastPlace(QObject):
    """Opens the chat at once and remembers what is opened from then on."""

    def __init__(self, workspace: Workspace, page: ChatPage, inspector: InspectorDock) -> None:
        super().__init__(page)
        self._settings = workspace.settings
        self._inspector = inspector
        last = self._settings.last_chat
        if last == workspace.shown_chat.brought_down:
            self._settings.last_chat = 0
        elif workspace.library.conversation(last) is not None:
            page.open(last)
        page.conversation_shown.connect(self._chat_shown)
        inspector.shown_changed.connect(self._inspector_shown)

    def open_inspector(self) -> None:
        """Open the inspector if it was open. It takes a moment, so the window is painted first."""
        if self._settings.inspector_shown:
            self._inspector.show_again()

    @Slot(object)
    def _chat_shown(self, conversation_id: int | None) -> None:
        self._settings.last_chat = conversation_id or 0

    @Slot(bool)
    def _inspector_shown(self, shown: bool) -> None:
        self._settings.inspector_shown = shown
