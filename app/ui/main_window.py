"""The main window: puts the parts together and wires them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QByteArray, QPoint, QSize, Qt, Slot
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import QMainWindow, QMessageBox

from app.bridge.workspace import Workspace
from app.ui.chat_page.find import FindInChat
from app.ui.chat_page.message_commands import MessageCommands
from app.ui.chat_page.page import ChatPage
from app.ui.chat_settings.dialog import ChatSettings
from app.ui.chats.actions import ChatShelf
from app.ui.chats.files import ChatFiles
from app.ui.command_palette import CommandPalette
from app.ui.commands import AppMenu, CommandGroup, Commands, ShortcutTable
from app.ui.comparison_dialog import Comparisons
from app.ui.file_drops import FileDrops
from app.ui.first_run import FirstRun
from app.ui.help import HelpOpening
from app.ui.inspector.dock import InspectorDock
from app.ui.models.model_news import ModelNews
from app.ui.notices import DoneNotice, Toast
from app.ui.opener import Opener
from app.ui.parts import PlainQuestion, order_tabs
from app.ui.place_page import PlacePage
from app.ui.places import CHAT, MODELS, PLACES, PlaceStack
from app.ui.screen_reader import ReplyAnnouncements, install_roles
from app.ui.settings.opening import SettingsOpening
from app.ui.shell import ModalScrim, Shell
from app.ui.sidebar.sidebar import SETTINGS, Sidebar
from app.ui.theme.focus_ring import FocusRing
from app.ui.theme.icons import app_icon
from app.ui.theme.theme import Theme
from app.ui.touch import Fingers
from app.ui.trouble.notices import TroubleDesk
from app.ui.view_commands import LastPlace, ViewCommands
from app.words import tr

_SIZE = QSize(1280, 820)
_LEAST = QSize(380, 360)


class MainWindow(QMainWindow):
    """Composition; everything else lives in the parts."""

    def __init__(self, theme: Theme, workspace: Workspace) -> None:
        super().__init__()
        install_roles()
        self.fingers = Fingers(self) if theme.touch else None  # before anything that scrolls is made
        self._theme = theme
        self._workspace = workspace
        self._said_of_page = ""
        self._gives_up = False
        self.setWindowTitle("Tenon")
        self.setWindowIcon(app_icon())
        self.setMinimumSize(_LEAST)
        self.sidebar = Sidebar(theme)
        self.sidebar.set_width(workspace.settings.sidebar_width)
        self.page = ChatPage(theme, workspace)
        self.places = PlaceStack(self.page)
        self.shell = Shell(theme, self.sidebar, self.places, workspace.settings.sidebar_shown)
        self.setCentralWidget(self.shell)
        self.toast = Toast(theme, self)
        self.inspector = InspectorDock(theme, workspace, self.shell, self.page)
        self.files = ChatFiles(workspace, self, self.toast)
        self.shelf = ChatShelf(theme, workspace, self.sidebar, self.page, self.toast, self.files)
        self.chat_settings = ChatSettings(theme, workspace, self.sidebar, self.page)
        self.comparisons = Comparisons(theme, workspace, self.page)
        self.view = ViewCommands(theme, workspace, self.shell, self.page, self.inspector)
        self.news = ModelNews(workspace.model_store, self.sidebar.nav, self.toast, self.places)
        self.opener = Opener(workspace, self)
        self.drops = FileDrops(theme, self, self.page.composer)
        self.messages = MessageCommands(workspace, self.page, self.sidebar, self.shelf)
        self.find_in_chat = FindInChat(theme, self.page, self.sidebar, self.shelf)
        self.settings = SettingsOpening(theme, workspace, self)
        self.first_run = FirstRun(theme, workspace, self.page, self.shelf, self.settings)
        self.commands = Commands(self)
        self.help = HelpOpening(theme, workspace, self.places, self.commands, self.settings.find, self)
        self.palette_box = CommandPalette(theme, self.commands, self.help.for_palette, self)
        self._add_commands()
        self.trouble = TroubleDesk(theme, workspace, self.page, self.toast, self.commands)
        self.setMenuWidget(self.trouble.unsaved)  # above everything, on each page
        for place in PLACES:
            self.places.register(place.name, partial(place.make, theme, workspace))
        self.menu = AppMenu(self.commands, self)
        self.done = DoneNotice(workspace, self)
        self.done.chat_wanted.connect(self.shelf.open)
        self.announcements = ReplyAnnouncements(workspace, self.page)
        self.last_place = LastPlace(workspace, self.page, self.inspector)
        self.ring = FocusRing(self, theme)
        self.scrim = ModalScrim(self)
        self._connect()
        self._order_tabs()
        self._restore_geometry()
        self.shelf.show_conversations()
        self.page.composer.setFocus()

    # --- wiring -----------------------------------------------------------------------------------------------

    def _add_commands(self) -> None:
        commands, chats = self.commands, CommandGroup.CHAT
        self.shelf.add_commands(commands)
        self.chat_settings.add_commands(commands)
        commands.add("write", tr("Write a message"), self._focus_composer, chats, ("Ctrl+L",))
        commands.add("quit", tr("Close Tenon"), self.close, chats, ("Ctrl+Q",))
        self.messages.add_commands(commands)
        self.find_in_chat.add_commands(commands)
        self.view.add_commands(commands)
        speed = CommandGroup.MODEL
        for place in PLACES:
            title = tr(place.command or place.title)
            commands.add(place.name, title, self._way_to(place.name), speed, place.keys)
        self.comparisons.add_commands(commands)
        self.opener.add_commands(commands)
        self.news.add_commands(commands)
        commands.add("settings", tr("Settings..."), self.settings.open, speed, ("Ctrl+,",))
        help_, open_palette = CommandGroup.HELP, self.palette_box.open
        commands.add("palette", tr("All commands"), open_palette, help_, ("Ctrl+Shift+P",))
        self.first_run.add_commands(commands)
        self.help.add_commands(commands)
        commands.add("shortcuts", tr("Keyboard shortcuts"), self.show_shortcuts, help_, ("Ctrl+/",))

    def _way_to(self, place: str) -> Callable[[], None]:
        return lambda: self._go(place)

    def _connect(self) -> None:
        workspace, sidebar, page = self._workspace, self.sidebar, self.page
        workspace.notice.connect(self._show_notice)
        workspace.settings_unsaved.connect(self.toast.say_behind_trouble)
        workspace.shelf.changed.connect(self.toast.check)
        workspace.machine.said.connect(self._say)
        sidebar.width_chosen.connect(self.view.keep_sidebar_width)
        sidebar.search_left.connect(self._focus_composer)
        sidebar.nav.requested.connect(self._go)
        self.places.made.connect(self._page_made)
        self.places.changed.connect(self._place_changed)
        self.shelf.chat_wanted.connect(self._show_chat)
        self.shelf.sidebar_wanted.connect(self.shell.show_sidebar)
        self.files.said.connect(self._say)
        self.trouble.setting_wanted.connect(self.settings.open_row)
        self.settings.erase_wanted.connect(self.shelf.ask_to_erase_everything)
        self.settings.applied.connect(self.view.take_settings)
        self.settings.applied.connect(page.show_draft)
        page.said.connect(self._say_of_page)
        page.went_on.connect(self._take_back)
        page.hold(self.toast)
        page.composer.cancelled.connect(self._escape)
        page.header.sidebar_toggled.connect(self.shell.toggle)
        page.header.new_requested.connect(self.shelf.new_chat)
        page.header.inspector_toggled.connect(self.inspector.toggle)
        page.inspect_requested.connect(self.inspector.show_reply)
        page.help_requested.connect(self.help.open_article)
        self.help.offered.connect(page.empty_state.offer_help)
        self.help.offer()
        page.header.menu_requested.connect(self._open_menu)
        page.header.model_button.more_requested.connect(self._way_to(MODELS))
        page.header.model_button.server_requested.connect(self._add_server)
        page.empty_state.models_wanted.connect(self._way_to(MODELS))
        page.empty_state.demonstration_wanted.connect(self.comparisons.demonstrate)
        page.header.model_button.file_requested.connect(self.opener.choose_file)
        page.header.model_button.folder_requested.connect(self.opener.choose_folder)
        page.attaching.models_offered.connect(self.opener.open_models)
        self.opener.chat_requested.connect(self.shelf.chat_with)
        self.opener.said.connect(self._say)
        self.drops.models_dropped.connect(self.opener.open_models)
        self.drops.attached.connect(self._attach)
        self.news.chat_requested.connect(self.shelf.chat_with)
        self.shell.focus_left.connect(self._focus_composer)
        self.toast.focus_left.connect(self._focus_composer)

    def _order_tabs(self) -> None:
        """Let Tab go from the left to the right, and through the buttons of replies last, the newest at the end."""
        header, composer = self.page.header, self.page.composer
        order = [
            self.sidebar.new_button,
            self.sidebar.search,
            self.sidebar.list,
            self.sidebar.nav.download,
            *self.sidebar.nav.rows.values(),
            self.sidebar.edge,
            header.sidebar_button,
            header.options_button,
            header.model_button,
            header.new_button,
            header.inspector_button,
            header.menu_button,
            self.page.empty_state.better,
            *self.page.empty_state.buttons,
            *self.page.empty_state.help_buttons,
            self.page.transcript,
            composer.prompt,
            composer.attach_button,
            composer.draft_button,
            composer.send_button,
        ]
        order_tabs(order)

    # --- places -----------------------------------------------------------------------------------------------

    @Slot(str)
    def _go(self, place: str) -> None:
        """Show what a row of the sidebar's foot leads to."""
        if place == SETTINGS:
            self.settings.open()
            return
        self.places.go(place)
        self.shell.close_overlay()

    @Slot(object)
    def _attach(self, paths: list[Path]) -> None:
        """Files were dropped for the message that is typed."""
        self._show_chat()
        self.page.attaching.attach(paths)

    @Slot(object)
    def _page_made(self, page: PlacePage) -> None:
        page.sidebar_toggled.connect(self.shell.toggle)
        page.said.connect(self._say_of_page)
        page.chat_requested.connect(self.shelf.chat_with)

    @Slot()
    def _add_server(self) -> None:
        """Show the models, and ask for a server to have more of them from."""
        from app.ui.models.models_page import ModelsPage

        self._go(MODELS)
        page = self.places.page(MODELS)
        assert isinstance(page, ModelsPage)
        page.keeping.add_server()

    @Slot()
    def _show_chat(self) -> None:
        self.places.go(CHAT)
        self.shell.close_overlay()

    @Slot(str)
    def _place_changed(self, place: str) -> None:
        self.sidebar.choose_place(place)
        self._workspace.tools.show(self.page.current if place == CHAT else None)
        self._take_back()
        self.toast.leave_page()
        page = self.places.currentWidget()
        assert isinstance(page, (ChatPage, PlacePage))
        page.hold(self.toast)
        if place != CHAT:
            self.inspector.close()  # it is about a reply

    @Slot()
    def show_shortcuts(self) -> None:
        """Show what can be done by keys."""
        ShortcutTable(self._theme, self.commands, self).open()

    # --- window -----------------------------------------------------------------------------------------------

    @Slot()
    def _open_menu(self) -> None:
        button = self.page.header.menu_button
        place = QPoint(button.width() - self.menu.sizeHint().width(), button.height() + 6)
        self.menu.popup(button.mapToGlobal(place))

    @Slot()
    def _focus_composer(self) -> None:
        self.places.go(CHAT)
        self.page.composer.prompt.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot(str, bool)
    def _say(self, sentence: str, lasting: bool) -> None:
        self.toast.say(sentence, lasting=lasting)

    @Slot(str)
    def _show_notice(self, sentence: str) -> None:
        self.toast.say(sentence, lasting=True)

    @Slot(str, bool)
    def _say_of_page(self, sentence: str, lasting: bool) -> None:
        self._said_of_page = sentence
        self._say(sentence, lasting)

    @Slot()
    def _take_back(self) -> None:
        self.toast.take_back(self._said_of_page)

    @Slot()
    def _escape(self) -> None:
        """Close the overlay, leave another page for the chat, stop the reply or close the notice: one of these."""
        if self.shell.overlay_visible:
            self.shell.close_overlay()
        elif self.places.current != CHAT:
            self._focus_composer()
        elif self.page.composer.send_button.stops:
            self.page.stop()
        else:
            self.toast.dismiss()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab ends up here whichever widget has the focus."""
        with self.ring.move_by_keyboard():
            return super().focusNextPrevChild(forward)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Send what is typed without a field to the composer."""
        if event.key() == Qt.Key.Key_Escape:
            self._escape()
        elif self.places.current == CHAT and _is_typed(event):
            self._focus_composer()
            self.page.composer.prompt.insertPlainText(event.text())
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Save the geometry, then everything else; ask first where something cannot be saved."""
        if self._workspace.unsaved and not self._gives_up:
            event.ignore()
            self._ask_to_close()
            return
        saved = self.saveGeometry().toBase64()
        self._workspace.settings.window_geometry = bytes(saved.data()).decode("ascii")
        self._workspace.close()
        super().closeEvent(event)

    @Slot()
    def close_anyway(self) -> None:
        """Close without a question: the system wants it."""
        self._gives_up = True
        self.close()

    def _ask_to_close(self) -> None:
        asked = tr("Some messages are in memory only, and are lost when Tenon closes.")
        question = PlainQuestion(tr("Close Tenon"), asked, self)
        question.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        question.setInformativeText(self._workspace.unsaved)
        lose = question.addButton(tr("Close without saving"), QMessageBox.ButtonRole.DestructiveRole)
        question.setDefaultButton(question.addButton(tr("Stay"), QMessageBox.ButtonRole.RejectRole))
        lose.clicked.connect(self.close_anyway)
        question.open()

    def _restore_geometry(self) -> None:
        self.resize(_SIZE)
        saved = self._workspace.settings.window_geometry
        if saved:
            self.restoreGeometry(QByteArray.fromBase64(saved.encode("ascii", "ignore")))


def _is_typed(event: QKeyEvent) -> bool:
    """Return True if a key that nothing has taken writes a letter."""
    commands = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
    return bool(event.text().strip()) and event.text().isprintable() and not event.modifiers() & commands
