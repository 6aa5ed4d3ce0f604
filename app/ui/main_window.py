"""The main window: puts the parts together and wires them."""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QPoint, QSize, Qt, Slot
from PySide6.QtGui import QCloseEvent, QKeyEvent, QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QMainWindow

from app.chat.conversation import Message
from app.chat.search import SearchHit
from app.ui.app_menu import AppMenu
from app.ui.chat_files import ChatFiles
from app.ui.chat_page import ChatPage
from app.ui.inspector.dock import InspectorDock
from app.ui.settings_dialog import SettingsDialog
from app.ui.shell import Shell
from app.ui.sidebar.sidebar import Sidebar
from app.ui.theme.focus_ring import FocusRing
from app.ui.theme.icons import app_icon
from app.ui.theme.theme import Theme
from app.ui.toast import Toast

if TYPE_CHECKING:
    from app.bridge.workspace import Workspace

_SIZE = QSize(1280, 820)
_LEAST = QSize(380, 360)
_SCALE_STEP = 10


class MainWindow(QMainWindow):
    """Composition and shortcuts; everything else lives in the parts."""

    def __init__(self, theme: Theme, workspace: Workspace) -> None:
        super().__init__()
        self._theme = theme
        self._workspace = workspace
        self._message_deleted = False  # whether the notice with Undo tells of a message
        self.setWindowTitle("Tenon")
        self.setWindowIcon(app_icon())
        self.setMinimumSize(_LEAST)
        self.sidebar = Sidebar(theme)
        self.page = ChatPage(theme, workspace)
        self.shell = Shell(theme, self.sidebar, self.page, workspace.settings.sidebar_shown)
        self.setCentralWidget(self.shell)
        self.toast = Toast(theme, self)
        self.inspector = InspectorDock(theme, workspace, self.shell, self.page)
        self.menu = AppMenu(theme, self)
        self.files = ChatFiles(workspace, self)
        self.ring = FocusRing(self, theme)
        self._connect()
        self._add_shortcuts()
        self._connect_menu()
        self._order_tabs()
        self._restore_geometry()
        self.page.transcript.set_drafted_shown(workspace.settings.drafted_shown)
        self._show_conversations()
        self.page.composer.setFocus()

    # --- wiring -----------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        workspace, sidebar, page = self._workspace, self.sidebar, self.page
        workspace.conversations_changed.connect(self._conversations_changed)
        workspace.message_added.connect(self._mark_busy)
        workspace.message_changed.connect(self._mark_busy)
        workspace.notice.connect(self._show_notice)
        sidebar.new_requested.connect(self.new_chat)
        sidebar.chosen.connect(self._open)
        sidebar.renamed.connect(workspace.rename)
        sidebar.delete_requested.connect(self.delete)
        sidebar.pin_requested.connect(workspace.pin)
        sidebar.hit_chosen.connect(self._open_hit)
        sidebar.search_changed.connect(self._show_conversations)
        sidebar.search_paused.connect(self._search_messages)
        sidebar.search_left.connect(self._focus_composer)
        page.conversation_shown.connect(self._conversation_shown)
        page.said.connect(self._say)
        page.header.sidebar_toggled.connect(self.shell.toggle)
        page.header.new_requested.connect(self.new_chat)
        page.header.inspector_toggled.connect(self.inspector.toggle)
        page.inspect_requested.connect(self.inspector.show_reply)
        self.inspector.shown_changed.connect(self._inspector_shown)
        page.header.menu_requested.connect(self._open_menu)
        self.shell.focus_left.connect(self._focus_composer)
        self.toast.focus_left.connect(self._focus_composer)
        self.shell.shown_changed.connect(self._keep_sidebar_shown)
        page.message_deleted.connect(self._offer_message_back)
        self.toast.action_requested.connect(self._undo)

    def _add_shortcuts(self) -> None:
        for keys, slot in (
            ("Ctrl+N", self.new_chat),
            ("Ctrl+K", self._search),
            ("Ctrl+L", self._focus_composer),
            ("Ctrl+End", self.page.transcript.jump_to_latest),
            ("Ctrl+Q", self.close),
        ):
            QShortcut(QKeySequence(keys), self, slot)

    def _connect_menu(self) -> None:
        menu, settings = self.menu, self._workspace.settings
        menu.set_stored(self.page.current is not None)
        menu.drafted.setChecked(settings.drafted_shown)
        menu.guesses.setChecked(settings.unconfirmed_shown)
        menu.rename.triggered.connect(self._rename_current)
        menu.delete_chat.triggered.connect(self._delete_current)
        menu.export_chat.triggered.connect(self._export_current)
        menu.export_all.triggered.connect(self.files.export_all)
        menu.import_chats.triggered.connect(self.files.import_chats)
        self.files.said.connect(self._say)
        menu.chats.triggered.connect(self.shell.toggle)
        menu.inspector.triggered.connect(self.inspector.toggle)
        menu.drafted.toggled.connect(self._show_drafted)
        menu.guesses.toggled.connect(self._show_guesses)
        menu.larger.triggered.connect(self._larger)
        menu.smaller.triggered.connect(self._smaller)
        menu.usual_size.triggered.connect(self._usual_size)
        menu.speed.triggered.connect(self.open_settings)

    def _order_tabs(self) -> None:
        """From the left to the right; buttons inside replies come last, the latest at the very end."""
        header, composer = self.page.header, self.page.composer
        order = [
            self.sidebar.new_button,
            self.sidebar.search,
            self.sidebar.list,
            header.sidebar_button,
            header.model_button,
            header.new_button,
            header.inspector_button,
            header.menu_button,
            *self.page.empty_state.buttons,
            self.page.transcript,
            composer.prompt,
            composer.attach_button,
            composer.mode_button,
            composer.send_button,
        ]
        for before, after in pairwise(order):
            self.setTabOrder(before, after)

    # --- conversations ----------------------------------------------------------------------------------------

    @Slot()
    def new_chat(self) -> None:
        """A blank chat, ready for typing."""
        self.page.open(self._workspace.new_conversation())
        self.shell.close_overlay()
        self._focus_composer()

    @Slot(int)
    def delete(self, conversation_id: int) -> None:
        """Delete a chat and offer to bring it back."""
        title = next((c.title for c in self._workspace.conversations() if c.id == conversation_id), "")
        self._workspace.delete(conversation_id)
        self.page.forget(conversation_id)
        self._show_conversations()
        short = title if len(title) <= 40 else title[:39] + "…"
        self._message_deleted = False
        self.toast.say(f"“{short}” is deleted.", "Undo")

    @Slot(str)
    def _offer_message_back(self, sentence: str) -> None:
        self._message_deleted = True
        self.toast.say(sentence, "Undo")

    @Slot()
    def _undo(self) -> None:
        """Bring back what the notice told of."""
        if self._message_deleted:
            conversation_id = self._workspace.undo_delete_message()
            if conversation_id is not None and conversation_id != self.page.current:
                self.page.open(conversation_id)
            return
        conversation_id = self._workspace.undo_delete()
        if conversation_id is not None:
            self._show_conversations()
            self.page.open(conversation_id)

    @Slot(int)
    def _open(self, conversation_id: int) -> None:
        if conversation_id != self.page.current:
            self.page.open(conversation_id)
        self.shell.close_overlay()

    @Slot(object)
    def _open_hit(self, hit: SearchHit) -> None:
        """Show a message that was found, in its chat."""
        if self._workspace.conversation(hit.conversation_id) is None:
            return
        self._open(hit.conversation_id)
        self.page.show_message(hit.message_id)

    @Slot(str)
    def _search_messages(self, typed: str) -> None:
        self.sidebar.show_results(self._workspace.search(typed))

    @Slot()
    def _conversations_changed(self) -> None:
        self._show_conversations()
        self.page.refresh_title()

    @Slot()
    def _show_conversations(self) -> None:
        found = self._workspace.conversations(self.sidebar.search.text().strip())
        self.sidebar.show_conversations(found, date.today())
        self.sidebar.select(self.page.current)

    @Slot(object)
    def _conversation_shown(self, conversation_id: int | None) -> None:
        self.sidebar.select(conversation_id)
        self.menu.set_stored(conversation_id is not None)

    @Slot(object)
    def _mark_busy(self, message: Message) -> None:
        if message.role == "assistant":
            self.sidebar.set_state(message.conversation_id, message.state)

    @Slot()
    def _rename_current(self) -> None:
        if self.page.current is not None:
            self.shell.show_sidebar()
            self.sidebar.list.rename(self.page.current)

    @Slot()
    def _delete_current(self) -> None:
        if self.page.current is not None:
            self.delete(self.page.current)

    @Slot()
    def _export_current(self) -> None:
        if self.page.current is not None:
            self.files.export_chat(self.page.current)

    @Slot()
    def _open_menu(self) -> None:
        button = self.page.header.menu_button
        place = QPoint(button.width() - self.menu.sizeHint().width(), button.height() + 6)
        self.menu.popup(button.mapToGlobal(place))

    # --- window -----------------------------------------------------------------------------------------------

    @Slot()
    def _search(self) -> None:
        self.shell.show_sidebar()
        self.sidebar.focus_search()

    @Slot()
    def _focus_composer(self) -> None:
        self.page.composer.prompt.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot(bool)
    def _keep_sidebar_shown(self, shown: bool) -> None:
        self._workspace.settings.sidebar_shown = shown

    @Slot(bool)
    def _inspector_shown(self, shown: bool) -> None:
        self.page.header.set_inspector_shown(shown)
        self.menu.inspector.setChecked(shown)

    @Slot(bool)
    def _show_drafted(self, shown: bool) -> None:
        self._workspace.settings.drafted_shown = shown
        self.page.transcript.set_drafted_shown(shown)

    @Slot(bool)
    def _show_guesses(self, shown: bool) -> None:
        self._workspace.settings.unconfirmed_shown = shown

    @Slot()
    def open_settings(self) -> None:
        """Show how fast and with how much memory replies are made, to be changed."""
        gpu = self._workspace.engine_state().gpu
        about_gpu = () if gpu != "" else ("vram_budget_bytes", "gpu_layers")
        reasons = dict.fromkeys(about_gpu, "There is no GPU that Tenon can use here.")
        dialog = SettingsDialog(self._theme, self._workspace.settings, reasons, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.accepted.connect(self._workspace.settings_applied)
        dialog.open()

    @Slot()
    def _larger(self) -> None:
        self._scale(self._workspace.settings.font_scale + _SCALE_STEP)

    @Slot()
    def _smaller(self) -> None:
        self._scale(self._workspace.settings.font_scale - _SCALE_STEP)

    @Slot()
    def _usual_size(self) -> None:
        self._scale(100)

    def _scale(self, percent: int) -> None:
        percent = min(150, max(90, percent))
        self._workspace.settings.font_scale = percent
        self._theme.set_scale(percent / 100)

    @Slot(str)
    def _show_notice(self, sentence: str) -> None:
        self._say(sentence, True)

    @Slot(str, bool)
    def _say(self, sentence: str, lasting: bool) -> None:
        self.toast.say(sentence, lasting=lasting)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab ends up here whichever widget has the focus."""
        with self.ring.move_by_keyboard():
            return super().focusNextPrevChild(forward)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes the overlay, else it stops the reply."""
        if event.key() == Qt.Key.Key_Escape:
            if self.shell.overlay_visible:
                self.shell.close_overlay()
            else:
                self.page.stop()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the toast in its corner, above the composer where they would meet."""
        super().resizeEvent(event)
        self.toast.place(self.page.composer.height() + 48)

    def showEvent(self, event: QShowEvent) -> None:
        """The toast stands above the composer, whose height is known now."""
        super().showEvent(event)
        self.toast.place(self.page.composer.height() + 48)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Save the geometry, then everything else."""
        saved = self.saveGeometry().toBase64()
        self._workspace.settings.window_geometry = bytes(saved.data()).decode("ascii")
        self._workspace.close()
        super().closeEvent(event)

    def _restore_geometry(self) -> None:
        self.resize(_SIZE)
        saved = self._workspace.settings.window_geometry
        if saved:
            self.restoreGeometry(QByteArray.fromBase64(saved.encode("ascii", "ignore")))
