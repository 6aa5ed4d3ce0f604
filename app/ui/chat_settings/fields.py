"""Fields of a chat's own settings: presets, choices, and whether the model thinks first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QHBoxLayout, QMenu, QVBoxLayout, QWidget

from app.bridge.workspace import Workspace
from app.chat.conversation import ConversationOptions
from app.chat.modes import Choice
from app.ui.form_fields import ListBox, TickBox
from app.ui.parts import PlainLabel, filled, icon_button, turn
from app.ui.sheet import NameDialog
from app.ui.theme.icons import themed_icon
from app.ui.theme.theme import Theme
from app.words import mark, tr
from engine.messages import Thinking, ThinkingControl

#: Room that the fields with a list keep.
LETTERS = 8
_CHOICES: dict[ThinkingControl, tuple[tuple[str, Thinking], ...]] = {
    "switch": ((mark("On"), Thinking(on=True)), (mark("Off"), Thinking(on=False))),
    "effort": (
        (mark("Low"), Thinking(effort="low")),
        (mark("Medium"), Thinking(effort="medium")),
        (mark("High"), Thinking(effort="high")),
    ),
}


class ChoiceList(ListBox):
    """One of some choices; those that cannot be are listed with the reason and cannot be chosen."""

    def __init__(self, theme: Theme, name: str, parent: QWidget, first: str = "") -> None:
        super().__init__(theme, parent, LETTERS)
        self.setAccessibleName(name)
        self._first = first

    def show_choices(self, choices: Sequence[Choice], chosen: str | None) -> None:
        """Fill the list, and show what is chosen; None is the first entry, where there is one for no choice."""
        self.clear()
        if self._first:
            self.addItem(self._first, None)
        for choice in choices:
            self.addItem(choice.title, choice.key)
            at = self.count() - 1
            self.setItemData(at, choice.problem or choice.detail, Qt.ItemDataRole.ToolTipRole)
            rows = self.model()
            if choice.problem and choice.key != chosen and isinstance(rows, QStandardItemModel):
                rows.item(at).setEnabled(False)
        self.setCurrentIndex(max(0, self.findData(chosen)))

    def chosen(self) -> str | None:
        """Return the key of the choice, or None for the first entry."""
        key = self.currentData()
        return None if key is None else str(key)


class PresetRow(QWidget):
    """A list of presets, and a menu of what can be done with them.

    Args:
        options: Says what would be kept now.
    """

    chosen = Signal(object)  # ConversationOptions

    def __init__(
        self, theme: Theme, workspace: Workspace, options: Callable[[], ConversationOptions], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._workspace = workspace
        self._options = options
        label = PlainLabel(tr("Preset"), self, kind="label")
        self.names = ListBox(theme, self, LETTERS)
        self.names.setAccessibleName(tr("Preset"))
        label.setBuddy(self.names)
        self.names.activated.connect(self._choose)
        tip = tr("Keep, rename or delete a preset")
        self.more_button = icon_button(
            theme, "ellipsis", tr("More for presets"), self, self._open_menu, side_px=32, tip=tip
        )
        self.for_new_chats = TickBox(theme, tr("New chats start with this preset"), self)
        self.for_new_chats.toggled.connect(self._give_to_new_chats)
        field = filled(QHBoxLayout(), (self.names, 1), self.more_button, spacing=4)
        self._row = filled(QHBoxLayout(), label, (field, 1), spacing=12)
        filled(QVBoxLayout(self), self._row, self.for_new_chats, margins=0, spacing=8)
        workspace.shelf.presets_changed.connect(self._fill)
        self._fill()

    @property
    def name(self) -> str:
        """The preset that is shown; empty for none."""
        return str(self.names.currentData() or "")

    def set_narrow(self, narrow: bool) -> None:
        """Put the list below its label, or beside it."""
        turn(self._row, narrow)

    def forget(self) -> None:
        """Show no preset."""
        self._show("")

    def show_like(self, options: ConversationOptions) -> None:
        """Show the preset that says just this; none where there is none, or nothing is said."""
        same = (preset.name for preset in self._workspace.shelf.presets() if preset.options == options)
        self._show("" if options.empty else next(same, ""))

    def menu(self) -> QMenu:
        """Menu of actions on presets."""
        menu, name = QMenu(self), self.name
        keep = menu.addAction(themed_icon(self._theme, "plus"), tr("Save as new preset..."), self._ask_to_save)
        keep.setToolTip(tr("Saves the values below"))
        shown = name.replace("&", "&&")  # else it marks a key
        if name:
            menu.addAction(tr("Save in “{name}”", name=shown), partial(self._save, name))
            menu.addSeparator()
            menu.addAction(
                themed_icon(self._theme, "pencil"), tr("Rename “{name}”...", name=shown), self._ask_to_rename
            )
            menu.addAction(themed_icon(self._theme, "trash-2"), tr("Delete “{name}”", name=shown), self._delete)
        return menu

    @Slot()
    def _open_menu(self) -> None:
        self.menu().popup(self.more_button.mapToGlobal(QPoint(0, self.more_button.height() + 4)))

    @Slot()
    def _fill(self) -> None:
        name = self.name
        self.names.clear()
        self.names.addItem(tr("None"), "")
        for preset in self._workspace.shelf.presets():
            self.names.addItem(preset.name, preset.name)
        self._show(name)

    def _show(self, name: str) -> None:
        self.names.setCurrentIndex(max(0, self.names.findData(name)))
        self._show_for_new_chats()

    def _show_for_new_chats(self) -> None:
        given = self._workspace.settings.new_chat_preset
        blocked = self.for_new_chats.blockSignals(True)
        self.for_new_chats.setChecked(bool(self.name) and given == self.name)
        self.for_new_chats.blockSignals(blocked)
        self.for_new_chats.setEnabled(bool(self.name))

    @Slot(int)
    def _choose(self, at: int) -> None:
        self._show_for_new_chats()
        preset = next((one for one in self._workspace.shelf.presets() if one.name == self.name), None)
        self.chosen.emit(ConversationOptions() if preset is None else preset.options)

    @Slot(bool)
    def _give_to_new_chats(self, given: bool) -> None:
        self._workspace.settings.new_chat_preset = self.name if given else ""

    def _ask(self, title: str, button: str, name: str, then: Callable[[str], object]) -> None:
        NameDialog(self._theme, title, button, name, then, self).open()

    @Slot()
    def _ask_to_save(self) -> None:
        self._ask(tr("Name of the new preset"), tr("Save"), "", self._save)

    @Slot()
    def _ask_to_rename(self) -> None:
        self._ask(tr("Another name for the preset"), tr("Rename"), self.name, self._rename)

    def _save(self, name: str) -> None:
        self._show(self._workspace.shelf.save_preset(name, self._options()).name)

    def _rename(self, name: str) -> None:
        before = self.name
        given = self._workspace.settings.new_chat_preset == before
        self._workspace.shelf.rename_preset(before, name)
        if given:
            self._workspace.settings.new_chat_preset = name
        self._show(name)

    @Slot()
    def _delete(self) -> None:
        name = self.name
        if self._workspace.settings.new_chat_preset == name:
            self._workspace.settings.new_chat_preset = ""
        self._workspace.shelf.delete_preset(name)


class ThinkingField(ListBox):
    """Thinking on or off, or how much; at first as the model does it by itself."""

    def __init__(self, theme: Theme, control: ThinkingControl, parent: QWidget) -> None:
        super().__init__(theme, parent, LETTERS)
        self.setAccessibleName(tr("Thinking"))
        self.addItem(tr("Model's default"), Thinking())
        for title, thinking in _CHOICES[control]:
            self.addItem(tr(title), thinking)

    def show_thinking(self, thinking: Thinking) -> None:
        """Show a choice; one that the model does not know is as the model does."""
        found = (at for at in range(self.count()) if self.itemData(at) == thinking)
        self.setCurrentIndex(next(found, 0))

    def thinking(self) -> Thinking:
        """Choice that is set."""
        chosen: Thinking = self.currentData()
        return chosen
