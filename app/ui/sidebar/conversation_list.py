"""The list of conversations: choose, rename in place, delete, a menu for each row."""

from __future__ import annotations

from datetime import date

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction, QContextMenuEvent, QFocusEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QAbstractItemDelegate, QAbstractItemView, QFrame, QListView, QMenu, QWidget

from app.chat.conversation import Conversation
from app.ui.sidebar.conversation_delegate import ConversationDelegate
from app.ui.sidebar.conversation_model import HIT_ROLE, ID_ROLE, PINNED_ROLE, ConversationModel
from app.ui.theme.icons import themed_icon
from app.ui.theme.theme import Theme


class ConversationList(QListView):
    """Conversations grouped by day."""

    chosen = Signal(int)
    hit_chosen = Signal(object)  # SearchHit
    delete_requested = Signal(int)
    pin_requested = Signal(int, bool)

    def __init__(self, theme: Theme, model: ConversationModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._conversations = model
        self._waiting: tuple[list[Conversation], date] | None = None
        self._current: int | None = None
        self.setProperty("kind", "conversations")
        self.setModel(model)
        self._delegate = ConversationDelegate(theme, self)
        self._delegate.closeEditor.connect(self._editor_closed)
        self.setItemDelegate(self._delegate)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(
            QAbstractItemView.EditTrigger.EditKeyPressed | QAbstractItemView.EditTrigger.DoubleClicked
        )
        self.setAccessibleName("Chats")
        self.selectionModel().currentChanged.connect(self._current_changed)
        theme.changed.connect(self.scheduleDelayedItemsLayout)

    def show_conversations(self, conversations: list[Conversation], today: date) -> None:
        """Replace the rows; while a title is edited this waits."""
        if self.state() == QAbstractItemView.State.EditingState:
            self._waiting = (conversations, today)
            return
        self._conversations.show_conversations(conversations, today)
        self.select_conversation(self._current)

    @property
    def current(self) -> int | None:
        """The conversation that is shown."""
        return self._current

    def select_conversation(self, conversation_id: int | None) -> None:
        """Mark the conversation that is shown, without choosing it again."""
        self._current = conversation_id
        if self.state() == QAbstractItemView.State.EditingState:
            return  # moving the current row would end the editing
        hit = self.currentIndex().data(HIT_ROLE) if self.currentIndex().isValid() else None
        if hit is not None and hit.conversation_id == conversation_id:
            return  # the message that was found stays marked
        row = self._conversations.row_of(conversation_id)
        selection = self.selectionModel()
        blocked = self.blockSignals(True)
        if row is None:
            selection.clear()
        else:
            index = self._conversations.index(row)
            selection.setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        self.blockSignals(blocked)

    def rename(self, conversation_id: int) -> None:
        """Edit a title in place."""
        row = self._conversations.row_of(conversation_id)
        if row is not None:
            index = self._conversations.index(row)
            # Editing a title does not choose its chat.
            blocked = self.blockSignals(True)
            self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.NoUpdate)
            self.blockSignals(blocked)
            self.scrollTo(index)
            self.edit(index)

    def menu(self, conversation_id: int) -> QMenu:
        """A row's menu."""
        menu = QMenu(self)
        row = self._conversations.row_of(conversation_id)
        pinned = row is not None and bool(self._conversations.index(row).data(PINNED_ROLE))
        for title, icon, slot, keys in (
            ("Rename", "pencil", self.rename, "F2"),
            ("Unpin" if pinned else "Pin", "pin", self._unpin if pinned else self._pin, ""),
            ("Delete", "trash-2", self.delete_requested.emit, "Del"),
        ):
            words = f"{title}\t{keys}" if keys else title
            action = QAction(themed_icon(self._theme, icon), words, menu)
            action.setData((slot, conversation_id))
            menu.addAction(action)
        menu.triggered.connect(self._run_action)
        return menu

    # --- events -----------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Delete and Enter besides what a list knows."""
        self._delegate.keyboard = True
        current = self.currentIndex()
        conversation_id = current.data(ID_ROLE) if current.isValid() else None
        if current.isValid() and current.data(HIT_ROLE) is not None:
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.hit_chosen.emit(current.data(HIT_ROLE))
            elif event.key() not in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
                super().keyPressEvent(event)
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and conversation_id is not None:
            self.delete_requested.emit(conversation_id)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and conversation_id is not None:
            self.chosen.emit(conversation_id)
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show focus only where it came by the keyboard."""
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

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """The three dots do not choose a row."""
        self._delegate.keyboard = False
        index = self.indexAt(event.position().toPoint())
        dotted = index.isValid() and index.data(HIT_ROLE) is None
        if dotted and self._delegate.menu_rect(self.visualRect(index)).contains(event.position().toPoint()):
            conversation_id = index.data(ID_ROLE)
            if conversation_id is not None and event.button() == Qt.MouseButton.LeftButton:
                self._open_menu_at_row(conversation_id)
            return
        super().mousePressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Right click or the menu key."""
        by_mouse = event.reason() == QContextMenuEvent.Reason.Mouse
        index = self.indexAt(event.pos()) if by_mouse else self.currentIndex()
        conversation_id = index.data(ID_ROLE) if index.isValid() else None
        if conversation_id is not None and index.data(HIT_ROLE) is None:
            place = event.globalPos() if by_mouse else self._below(index)
            self.menu(conversation_id).popup(place)

    def _below(self, index: QModelIndex) -> QPoint:
        rect = self._delegate.menu_rect(self.visualRect(index))
        return self.viewport().mapToGlobal(rect.bottomLeft())

    def _open_menu_at_row(self, conversation_id: int) -> None:
        row = self._conversations.row_of(conversation_id)
        if row is not None:
            self.menu(conversation_id).popup(self._below(self._conversations.index(row)))

    def _pin(self, conversation_id: int) -> None:
        self.pin_requested.emit(conversation_id, True)

    def _unpin(self, conversation_id: int) -> None:
        self.pin_requested.emit(conversation_id, False)

    @Slot(QAction)
    def _run_action(self, action: QAction) -> None:
        slot, conversation_id = action.data()
        slot(conversation_id)

    @Slot(QModelIndex, QModelIndex)
    def _current_changed(self, current: QModelIndex, previous: QModelIndex) -> None:
        hit = current.data(HIT_ROLE) if current.isValid() else None
        if hit is not None:
            if not self.signalsBlocked():
                self.hit_chosen.emit(hit)
            return
        conversation_id = current.data(ID_ROLE) if current.isValid() else None
        if conversation_id is None or conversation_id == self._current or self.signalsBlocked():
            return
        self._current = conversation_id
        self.chosen.emit(conversation_id)

    @Slot(QWidget, QAbstractItemDelegate.EndEditHint)
    def _editor_closed(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self._conversations.show_conversations(*waiting)
        self.select_conversation(self._current)
