"""Erasing everything: what goes and what stays, a second step before it is done, and the window without it."""

from __future__ import annotations

from PySide6.QtCore import QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.bridge.workspace import Workspace
from app.ui.boxes import STRETCH, filled
from app.ui.buttons import push_button
from app.ui.chat_page.page import ChatPage
from app.ui.commands import CommandGroup, Commands
from app.ui.form_fields import TickBox
from app.ui.inert_text import PlainLabel
from app.ui.notices import Toast
from app.ui.sidebar.sidebar import Sidebar
from app.ui.theme.focus_ring import RingedDialog
from app.ui.theme.icons import tinted_pixmap
from app.ui.theme.theme import Theme, apply_appearance
from app.words import tr

_WIDTH_PX = 460
_SIDE_PX = 20
_ICON_PX = 20


class EraseDialog(RingedDialog):
    """The button that erases can be pressed once the word beside it has been typed.

    Args:
        chats: Number of them, archived ones too.
    """

    confirmed = Signal(bool)  # whether the settings go along

    def __init__(self, theme: Theme, chats: int, parent: QWidget) -> None:
        super().__init__(theme, tr("Erase everything"), parent)
        self._theme = theme
        self._window = parent.window()
        self._word = tr("erase")
        icon = PlainLabel(self)
        icon.setPixmap(tinted_pixmap("circle-alert", theme.palette.red, _ICON_PX, self.devicePixelRatioF()))
        icon.setFixedWidth(_ICON_PX)
        title = PlainLabel(tr("Erase %n chat(s) for good?", n=chats), self, kind="title", wrap=True)
        head = filled(QHBoxLayout(), (icon, 0, Qt.AlignmentFlag.AlignTop), (title, 1), spacing=10)
        sentences = (
            tr(
                "All chats with their attachments, what is typed and not sent, folders, presets, the system "
                "prompt, the search index and every backup are erased from this computer. "
                "This cannot be undone."
            ),
            tr("Models stay. Files that you have exported stay where you saved them."),
        )
        self._texts = [PlainLabel(sentence, self, kind="sub", wrap=True) for sentence in sentences]
        self.with_settings = TickBox(theme, tr("Put all settings back to their defaults, too"), self)
        asked = PlainLabel(tr("Type “{word}” to go on:", word=self._word), self, kind="label")
        self.field = QLineEdit(self)
        self.field.setAccessibleName(tr("Type “{word}” to go on:", word=self._word))
        self.field.textChanged.connect(self._typed)
        asked.setBuddy(self.field)
        self.cancel_button = push_button(tr("Cancel"), self, self.reject, default=True)
        self.erase_button = push_button(
            tr("Erase everything"), self, self._erase, kind="danger", default=False
        )
        self.erase_button.setEnabled(False)
        self.field.returnPressed.connect(self._erase)
        buttons = filled(QHBoxLayout(), STRETCH, self.cancel_button, self.erase_button, spacing=8)
        self._column = filled(
            QVBoxLayout(self),
            head,
            *self._texts,
            *(self.with_settings, 4, asked, self.field, 6, buttons),
            margins=(_SIDE_PX, 18, _SIDE_PX, 16),
            spacing=10,
        )
        self.resize(self.sizeHint())
        self.field.setFocus()

    def sizeHint(self) -> QSize:
        room = self._window.width() - 40
        width = min(self._theme.type.px(_WIDTH_PX), max(320, room))
        return QSize(width, self._column.totalHeightForWidth(width))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for text in self._texts:
            text.setMinimumHeight(text.heightForWidth(self.width() - 2 * _SIDE_PX))

    @Slot()
    def _typed(self) -> None:
        self.erase_button.setEnabled(self.field.text().strip().casefold() == self._word.casefold())

    @Slot()
    def _erase(self) -> None:
        if self.erase_button.isEnabled():
            self.accept()
            self.confirmed.emit(self.with_settings.isChecked())


class Erasing(QObject):
    """Asks, has it done, and empties what the window holds itself."""

    def __init__(
        self, theme: Theme, workspace: Workspace, sidebar: Sidebar, page: ChatPage, toast: Toast
    ) -> None:
        super().__init__(page)
        self._theme = theme
        self._workspace = workspace
        self._sidebar = sidebar
        self._page = page
        self._toast = toast
        workspace.archive.erased.connect(self._tell)
        workspace.archive.copies_erased.connect(self._tell_of_copies)

    def add_commands(self, commands: Commands) -> None:
        """Declare the command."""
        title = tr("Erase everything...")
        commands.add("erase-everything", title, self.ask, CommandGroup.CHAT, (), "trash-2")

    @Slot()
    def ask(self) -> None:
        """Ask whether it is to be done."""
        chats = len(self._workspace.library.all_conversations())
        dialog = EraseDialog(self._theme, chats, self._page.window())
        dialog.confirmed.connect(self.erase)
        dialog.open()

    @Slot(bool)
    def erase(self, with_settings: bool) -> None:
        """Do it."""
        self._sidebar.search.clear()
        self._toast.dismiss()  # its Undo would find nothing
        self._workspace.erase_everything(with_settings)
        self._page.open(None)
        if with_settings:
            apply_appearance(self._theme, self._workspace.settings)

    @Slot()
    def _tell(self) -> None:
        self._toast.say(tr("Everything is erased."))

    @Slot(int)
    def _tell_of_copies(self, count: int) -> None:
        self._toast.say(tr("It is erased in %n backup(s), too.", count))
