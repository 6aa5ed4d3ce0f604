"""The list of chats: its rows' menus, dragging chats into folders, and renaming in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import (
    QItemSelectionModel,
    QMimeData,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QAction,
    QContextMenuEvent,
    QDrag,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QAbstractItemView,
    QApplication,
    QFrame,
    QListView,
    QMenu,
    QStyle,
    QWidget,
)

from app.ui.sidebar.conversation_delegate import ConversationDelegate
from app.ui.sidebar.conversation_model import ARCHIVE_GROUP, HIT_ROLE, ID_ROLE, ConversationModel, Row
from app.ui.theme.theme import Theme
from app.words import tr

CHAT_TYPE = "application/x-tenon-chat"
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_DELETE = (Qt.Key.Key_Delete, Qt.Key.Key_Backspace)
_COMMANDS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier


def carried(conversation_id: int) -> QMimeData:
    """Return the data of a drag, which no other program takes."""
    data = QMimeData()
    data.setData(CHAT_TYPE, str(conversation_id).encode())
    return data


def chat_of(data: QMimeData) -> int | None:
    """Return the chat that is dragged, or None."""
    number = bytes(data.data(CHAT_TYPE).data()).decode("ascii", "ignore") if data.hasFormat(CHAT_TYPE) else ""
    return int(number) if number.isdigit() else None


class ChatDrag(QListView):
    """The part of the list that carries chats; a head and the chats under it both stand for their folder."""

    archive_requested = Signal(int, bool)
    move_requested = Signal(int, str)  # the folder; empty for none

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setDropIndicatorShown(False)

    def row_at(self, index: QModelIndex | QPersistentModelIndex) -> Row | None:
        """Row of an index; None for no row."""
        raise NotImplementedError

    def mark_drop(self, at: int) -> None:
        """Show where what is dragged would land; -1 for nowhere."""
        raise NotImplementedError

    def startDrag(self, actions: Qt.DropAction) -> None:
        row = self.row_at(self.currentIndex())
        if row is not None and row.conversation_id is not None and row.hit is None:
            drag = QDrag(self)
            drag.setMimeData(carried(row.conversation_id))
            drag.exec(Qt.DropAction.MoveAction)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if chat_of(event.mimeData()) is not None:
            event.acceptProposedAction()
        else:
            event.ignore()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        if chat_of(event.mimeData()) is None:
            event.ignore()
            return
        index = self.indexAt(event.position().toPoint())
        row = self.row_at(index)
        into = row is not None and bool(row.folder or _is_archive(row))
        self.mark_drop(index.row() if into else -1)
        event.acceptProposedAction()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.mark_drop(-1)

    def dropEvent(self, event: QDropEvent) -> None:
        """Put the chat into the folder under it, into the archive, or out of its folder."""
        self.mark_drop(-1)
        conversation_id = chat_of(event.mimeData())
        if conversation_id is None:
            event.ignore()
            return
        event.acceptProposedAction()
        row = self.row_at(self.indexAt(event.position().toPoint()))
        if _is_archive(row):
            self.archive_requested.emit(conversation_id, True)
        else:
            self.move_requested.emit(conversation_id, "" if row is None else row.folder)


def _is_archive(row: Row | None) -> bool:
    return row is not None and (row.group == ARCHIVE_GROUP or row.archived)


class RowMenu(QMenu):
    """Runs what is chosen after it has closed, so that a field or a dialog can have the keyboard."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.triggered.connect(self._run)

    def offer(self, title: str, slot: Callable[[], object], keys: str = "") -> QAction:
        """Add an entry."""
        action = QAction(f"{title}\t{keys}" if keys else title, self)
        action.setData(slot)
        self.addAction(action)
        return action

    def _run(self, action: QAction) -> None:
        slot = action.data()
        if slot is not None:
            slot()


def folder_menu(rows: ConversationList, row: Row, folders: Sequence[str]) -> RowMenu:
    """Menu of the folders that a chat can be moved to."""
    menu = RowMenu(rows)
    menu.setTitle(tr("Move to folder"))
    number = row.conversation_id
    menu.offer(tr("New folder..."), partial(rows.new_folder_requested.emit, number))
    if row.folder:
        menu.offer(tr("Remove from the folder"), partial(rows.move_requested.emit, number, ""))
    if folders:
        menu.addSeparator()
    for folder in folders:
        # An ampersand would be taken for the mark of a key.
        entry = menu.offer(folder.replace("&", "&&"), partial(rows.move_requested.emit, number, folder))
        entry.setCheckable(folder == row.folder)
        entry.setChecked(folder == row.folder)
    return menu


def chat_menu(rows: ConversationList, row: Row, folders: Sequence[str]) -> RowMenu:
    """Menu of a chat."""
    menu = RowMenu(rows)
    number = row.conversation_id
    assert number is not None
    menu.offer(tr("Rename"), partial(rows.rename, number), "F2")
    pin = tr("Unpin") if row.pinned else tr("Pin")
    menu.offer(pin, partial(rows.pin_requested.emit, number, not row.pinned))
    menu.addMenu(folder_menu(rows, row, folders))
    menu.offer(tr("Chat settings..."), partial(rows.options_requested.emit, number))
    menu.addSeparator()
    menu.offer(tr("Export..."), partial(rows.export_requested.emit, number))
    archive = tr("Restore from the archive") if row.archived else tr("Archive")
    menu.offer(archive, partial(rows.archive_requested.emit, number, not row.archived))
    menu.offer(tr("Delete"), partial(rows.delete_requested.emit, number), "Del")
    return menu


def head_menu(rows: ConversationList, row: Row) -> RowMenu:
    """Menu of a folder."""
    menu = RowMenu(rows)
    fold = tr("Unfold") if row.folded else tr("Fold")
    menu.offer(fold, partial(rows.fold_toggled.emit, row.group))
    menu.offer(tr("Rename folder"), partial(rows.rename_folder, row.folder), "F2")
    menu.offer(
        tr("Delete folder, keep its chats"),
        partial(rows.folder_delete_requested.emit, row.folder),
        "Del",
    )
    return menu


class ConversationList(ChatDrag):
    """Conversations in folders, and grouped by day."""

    chosen = Signal(int)
    clicked_on = Signal()  # a chat was clicked on, and stays chosen
    hit_chosen = Signal(object)  # SearchHit
    delete_requested = Signal(int)
    delete_asked = Signal(int)  # by a key, which is easily pressed in error
    pin_requested = Signal(int, bool)
    export_requested = Signal(int)
    options_requested = Signal(int)
    new_folder_requested = Signal(int)
    folder_delete_requested = Signal(str)
    fold_toggled = Signal(str)  # the group

    def __init__(self, theme: Theme, model: ConversationModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._conversations = model
        self._waiting: list[Row] | None = None
        self._folders: list[str] = []
        self.current: int | None = None  # the conversation that is shown
        self.setProperty("kind", "conversations")
        self.setModel(model)
        self._delegate = ConversationDelegate(theme, self)
        self._delegate.closeEditor.connect(self._editor_closed)
        self.setItemDelegate(self._delegate)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed | QAbstractItemView.EditTrigger.DoubleClicked)
        self.setAccessibleName(tr("Chats"))
        self.selectionModel().currentChanged.connect(self._current_changed)
        theme.changed.connect(self.scheduleDelayedItemsLayout)

    def show_rows(self, rows: list[Row], folders: Sequence[str] = ()) -> None:
        """Replace the rows, but for messages that were found; while a title is edited this waits.

        ``folders`` are all there are, listed or not.
        """
        self._folders = list(folders)
        if self.state() == QAbstractItemView.State.EditingState:
            self._waiting = rows
            return
        head = self.row_at(self.currentIndex())
        self._conversations.show_rows(rows)
        self.select_conversation(self.current)
        if head is not None and head.group:
            self._stay_on(head)

    def select_conversation(self, conversation_id: int | None) -> None:
        """Mark the conversation that is shown, without choosing it again."""
        self.current = conversation_id
        if self.state() == QAbstractItemView.State.EditingState:
            return  # moving the current row would end the editing
        hit = self.currentIndex().data(HIT_ROLE) if self.currentIndex().isValid() else None
        if hit is not None and hit.conversation_id == conversation_id:
            return  # the message that was found stays marked
        at = self._conversations.row_of(conversation_id)
        selection, on = self.selectionModel(), self.row_at(self.currentIndex())
        blocked = self.blockSignals(True)
        chosen = QItemSelectionModel.SelectionFlag.ClearAndSelect
        if on is not None and on.group and self.hasFocus():  # the keyboard stays on the head
            selection.clearSelection()
            if at is not None:
                selection.select(self._conversations.index(at), chosen)
        elif at is None:
            selection.clear()
        else:
            selection.setCurrentIndex(self._conversations.index(at), chosen)
        self.blockSignals(blocked)

    def open_first(self) -> None:
        """Open the chat, or the message found, that is listed first; the keyboard goes there, too."""
        rows = [self._conversations.row(at) for at in range(self._conversations.rowCount())]
        at = next((at for at, row in enumerate(rows) if row.conversation_id is not None), None)
        if at is None:
            return
        self.setFocus(Qt.FocusReason.TabFocusReason)
        self._make_current(at, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        self._open(rows[at])

    def _open(self, row: Row) -> None:
        if row.hit is not None:
            self.hit_chosen.emit(row.hit)
        elif row.conversation_id is not None:
            self.chosen.emit(row.conversation_id)

    def rename(self, conversation_id: int) -> None:
        """Edit a title in place."""
        at = self._conversations.row_of(conversation_id)
        if at is not None:
            self._make_current(at)  # editing a title does not choose its chat
            self.edit(self._conversations.index(at))

    def rename_folder(self, folder: str) -> None:
        """Edit a folder's name in place."""
        at = self._conversations.head_of(folder)
        if at is not None:
            self._make_current(at)
            self.edit(self._conversations.index(at))

    def menu(self, conversation_id: int) -> QMenu:
        """Return a chat's menu."""
        return chat_menu(self, self._row_of(conversation_id), self._folders)

    def folder_menu(self, conversation_id: int) -> QMenu:
        """Menu of the folders that a chat can be moved to."""
        return folder_menu(self, self._row_of(conversation_id), self._folders)

    def head_menu(self, folder: str) -> QMenu:
        """Return a folder's menu."""
        at = self._conversations.head_of(folder)
        assert at is not None
        return head_menu(self, self._conversations.row(at))

    # --- events -----------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._delegate.keyboard = True
        row, key = self.row_at(self.currentIndex()), event.key()
        if row is None or self.state() == QAbstractItemView.State.EditingState:
            super().keyPressEvent(event)  # the field passes on the key that ends it
        elif row.group:
            self._press_on_head(row, event)
        elif row.hit is not None:
            if key in _ENTER:
                self._open(row)
            elif key not in _DELETE:
                super().keyPressEvent(event)
        elif key in _DELETE and row.conversation_id is not None:
            self.delete_asked.emit(row.conversation_id)
        elif key in _ENTER:
            self._open(row)
        elif key == Qt.Key.Key_Left and row.folder:
            at = self._conversations.head_of(row.folder)
            if at is not None:
                self._make_current(at)
        elif event.text().isprintable() and event.text().strip() and not event.modifiers() & _COMMANDS:
            event.ignore()  # what is typed belongs to the message
        else:
            super().keyPressEvent(event)

    def _press_on_head(self, row: Row, event: QKeyEvent) -> None:
        key = event.key()
        if key in (*_ENTER, Qt.Key.Key_Space) or key == (Qt.Key.Key_Right if row.folded else Qt.Key.Key_Left):
            self.fold_toggled.emit(row.group)
        elif key in _DELETE and row.folder:
            self.folder_delete_requested.emit(row.folder)
        elif key not in (Qt.Key.Key_Left, Qt.Key.Key_Right, *_DELETE):
            super().keyPressEvent(event)

    def selectionCommand(
        self, index: QModelIndex | QPersistentModelIndex, event: object = None
    ) -> QItemSelectionModel.SelectionFlag:
        """Being on a head leaves the mark on the chat that is shown."""
        row = self.row_at(index)
        if row is not None and row.group:
            return QItemSelectionModel.SelectionFlag.NoUpdate
        return super().selectionCommand(index, event)  # type: ignore[arg-type]

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._delegate.keyboard = event.reason() in (
            Qt.FocusReason.TabFocusReason,
            Qt.FocusReason.BacktabFocusReason,
            Qt.FocusReason.ShortcutFocusReason,
        )
        if not self.currentIndex().isValid() and self._delegate.keyboard:
            row = self._conversations.first_row()
            if row is not None:
                flag = QItemSelectionModel.SelectionFlag.NoUpdate
                blocked = self.blockSignals(True)
                self.selectionModel().setCurrentIndex(self._conversations.index(row), flag)
                self.blockSignals(blocked)
        super().focusInEvent(event)

    def _menu_rect(self, index: QModelIndex) -> QRect:
        row = self.visualRect(index)
        return QStyle.visualRect(self.layoutDirection(), row, self._delegate.menu_rect(row))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._delegate.keyboard = False
        place = event.position().toPoint()
        index = self.indexAt(place)
        row = self.row_at(index)
        left = event.button() == Qt.MouseButton.LeftButton
        if self._has_menu(row) and self._menu_rect(index).contains(place):
            if left and row is not None:
                self._menu_of(row).popup(self._below(index))
            return
        if row is not None and row.group:
            if left:
                self._make_current(index.row())
                self.fold_toggled.emit(row.group)
            return
        if left:  # the right one is for the menu, which may be another chat's than the one that is read
            super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let the user write in the chat that was clicked on, unless its title is being edited."""
        super().mouseReleaseEvent(event)
        row = self.row_at(self.indexAt(event.position().toPoint()))
        edits = self.state() == QAbstractItemView.State.EditingState
        if edits or event.button() != Qt.MouseButton.LeftButton or QApplication.activePopupWidget() is not None:
            return
        if row is not None and row.conversation_id is not None and row.conversation_id == self.current:
            self.clicked_on.emit()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Take a double click on a head as two clicks."""
        row = self.row_at(self.indexAt(event.position().toPoint()))
        if row is not None and row.group:
            self.mousePressEvent(event)
        else:
            super().mouseDoubleClickEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        by_mouse = event.reason() == QContextMenuEvent.Reason.Mouse
        index = self.indexAt(event.pos()) if by_mouse else self.currentIndex()
        row = self.row_at(index)
        if row is not None and self._has_menu(row):
            self._menu_of(row).popup(event.globalPos() if by_mouse else self._below(index))

    def row_at(self, index: QModelIndex | QPersistentModelIndex) -> Row | None:
        """Row of an index; None for no row."""
        return self._conversations.row(index.row()) if index.isValid() else None

    def _row_of(self, conversation_id: int) -> Row:
        at = self._conversations.row_of(conversation_id)
        return Row("", conversation_id) if at is None else self._conversations.row(at)

    @staticmethod
    def _has_menu(row: Row | None) -> bool:
        return row is not None and row.hit is None and bool(row.folder or row.conversation_id is not None)

    def _menu_of(self, row: Row) -> QMenu:
        return self.head_menu(row.folder) if row.conversation_id is None else self.menu(row.conversation_id)

    def _make_current(
        self, at: int, flag: QItemSelectionModel.SelectionFlag = QItemSelectionModel.SelectionFlag.NoUpdate
    ) -> None:
        """Put the keyboard on a row, which chooses nothing."""
        index = self._conversations.index(at)
        blocked = self.blockSignals(True)
        self.selectionModel().setCurrentIndex(index, flag)
        self.blockSignals(blocked)
        self.scrollTo(index)
        self.viewport().update()

    def _stay_on(self, head: Row) -> None:
        """Keep the keyboard on a head that was folded or unfolded."""
        for at in range(self._conversations.rowCount()):
            if self._conversations.row(at).group == head.group:
                self._make_current(at)

    def mark_drop(self, at: int) -> None:
        """Show where what is dragged would land; -1 for nowhere."""
        if at != self._delegate.drop_row:
            self._delegate.drop_row = at
            self.viewport().update()

    def _below(self, index: QModelIndex) -> QPoint:
        rect = self._menu_rect(index)
        return self.viewport().mapToGlobal(rect.bottomLeft())

    @Slot(QModelIndex, QModelIndex)
    def _current_changed(self, current: QModelIndex, previous: QModelIndex) -> None:
        hit = current.data(HIT_ROLE) if current.isValid() else None
        if hit is not None:
            if not self.signalsBlocked():
                self.hit_chosen.emit(hit)
            return
        conversation_id = current.data(ID_ROLE) if current.isValid() else None
        if conversation_id is None or conversation_id == self.current or self.signalsBlocked():
            return
        self.current = conversation_id
        self.chosen.emit(conversation_id)

    @Slot(QWidget, QAbstractItemDelegate.EndEditHint)
    def _editor_closed(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self._conversations.show_rows(waiting)
        self.select_conversation(self.current)
