"""Dialogs of the page of models: importing, removing, the folders that models lie in, and a server to add."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import (
    QFileDialog,
    QGridLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.bridge.models.servers import Servers
from app.bridge.models.store import ModelStore
from app.chat.model_entries import FolderEntry, ImportEntry, RemovalEntry, ServerEntry
from app.ui import figures
from app.ui.bars import ShareBar
from app.ui.form_fields import RadioBox, TickBox
from app.ui.models.wording import joined
from app.ui.parts import ElidedLabel, PlainLabel, filled, push_button
from app.ui.sheet import Sheet
from app.ui.theme.theme import Theme
from app.words import tr
from engine.hub.titles import title_of_model

#: Fewer bytes than these are removed without a question: they are fetched again in a moment.
WORTH_ASKING_BYTES = 50_000_000
_LONGEST = {"address": 300, "key": 1000, "name": 40}


class ImportDialog(Sheet):
    """Asks whether to copy."""

    def __init__(self, theme: Theme, entry: ImportEntry, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Add {name}", name=title_of_model(entry.name)), tr("Add"), parent)
        self.entry = entry
        self.add_words(joined(entry.format, figures.size(entry.size_bytes)))
        self.add_words(entry.paths[0], "small")
        self.link = RadioBox(theme, tr("Use the files where they are"), self)
        self.link.setChecked(True)
        self.column.addWidget(self.link)
        self.add_words(
            tr("Takes no space; the model is gone when the files are moved or their disk is not connected."),
            "small",
        )
        size, free = figures.size(entry.size_bytes), figures.size(entry.free_bytes)
        self.copy = RadioBox(theme, tr("Copy them, {size}", size=size), self)
        self.column.addWidget(self.copy)
        self.add_words(tr("{free} are free on the disk of Tenon's models.", free=free), "small")
        self.fit()

    @property
    def copies(self) -> bool:
        """True if the files are to be copied."""
        return self.copy.isChecked()


class RemovalDialog(Sheet):
    """Asks; the button says what is freed."""

    def __init__(self, theme: Theme, removal: RemovalEntry, in_use: bool, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Remove {name}?", name=title_of_model(removal.name)), "", parent)
        self.removal = removal
        if in_use:
            self.add_words(tr("It is in use: it is unloaded first, and the built-in model answers from then on."))
        if removal.kept_location:
            self.add_words(tr("Its files stay in {place}.", place=removal.kept_location))
        self.boxes: dict[str, TickBox] = {}
        for draft, freed_bytes in removal.drafts:
            words = tr("Its draft {name} too, {size}", name=title_of_model(draft), size=figures.size(freed_bytes))
            box = self.boxes[draft] = TickBox(theme, words, self)
            box.setChecked(True)
            box.toggled.connect(self._say_size)
            self.column.addWidget(box)
        self.add_words(tr("Chats with it stay as they are."))
        self._say_size()
        self.fit()

    @property
    def drafts(self) -> tuple[str, ...]:
        """Drafts to be removed along."""
        return tuple(draft for draft, box in self.boxes.items() if box.isChecked())

    def _say_size(self) -> None:
        freed = self.removal.freed_bytes + sum(
            freed_bytes for draft, freed_bytes in self.removal.drafts if draft in self.drafts
        )
        words = tr("Remove, frees {size}", size=figures.size(freed)) if freed > 1_000_000 else tr("Remove")
        self.accept_button.setText(words)


def move_question(theme: Theme, target: str, size_bytes: int, parent: QWidget | None) -> Sheet:
    """Ask before Tenon's models are moved; say how much that is, and what waits meanwhile."""
    size = figures.size(size_bytes)
    return Sheet(
        theme,
        tr("Move the models?"),
        tr("Move"),
        parent,
        target,
        tr("{size} are copied there, compared, and then deleted where they are now.", size=size),
        tr("The model in memory is unloaded first and loaded again afterwards."),
    )


class FoldersDialog(Sheet):
    """Shows them, and asks the store for what the user wants."""

    def __init__(self, theme: Theme, store: ModelStore, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Folders of models"), tr("Done"), parent)
        self._store = store
        self._folders = store.folders
        self.own: dict[str, QPushButton] = {}  # the buttons of Tenon's own folder, by what they do
        self.taken_out: dict[str, QPushButton] = {}  # the buttons that take an added folder out, by its path
        self._shown: tuple[object, ...] = ()
        self.cancel_button.hide()
        self._rows = QWidget(self)
        self._grid = filled(QVBoxLayout(self._rows), margins=0, spacing=12)
        self.column.addWidget(self._rows)
        self.bar = ShareBar(theme, tr("Moving the models"), self)
        self.column.addWidget(self.bar)
        self.trouble = self.add_words("", "bad")
        self.trouble.hide()
        self.add_button = push_button(tr("Add a folder..."), self, self._add)
        self.column.addWidget(self.add_button)
        self.add_words(tr("Models of other programs are used where they are. Nothing there is ever changed."))
        self._folders.changed.connect(self.refresh)
        self._folders.checked.connect(self._confirm)
        self._folders.refused.connect(self._say_trouble)
        self.refresh()
        self._folders.look()
        self.fit()

    @Slot()
    def refresh(self) -> None:
        """Show them as they are now."""
        moving = self._folders.moving
        self.bar.setVisible(moving is not None)
        if moving is not None:
            self.bar.show_share(moving)
        shown = (self._folders.entries, moving is None, self._folders.unfinished)
        if shown == self._shown:
            return
        self._shown = shown
        while (item := self._grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.own, self.taken_out = {}, {}
        for entry in self._folders.entries:
            row = self._row(entry)
            self._grid.addWidget(row)
            row.show()  # now, for the height counts it
        self.fit()

    def _row(self, entry: FolderEntry) -> QWidget:
        row = QWidget(self._rows)
        grid = QGridLayout(row)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(0)
        title = PlainLabel(_title(entry), row, kind="label")
        place = ElidedLabel(kind="small", parent=row)
        place.setText(tr("Not found: {place}", place=entry.path) if entry.missing else entry.path)
        place.setToolTip(entry.path)
        grid.addWidget(title, 0, 0)
        grid.addWidget(place, 1, 0)
        grid.setColumnStretch(0, 1)
        column = 1
        for name, text, do in self._actions(entry):
            button = push_button(text, row, do, kind="row")
            button.setAccessibleName(f"{text} {_title(entry)}")
            grid.addWidget(button, 0, column, 2, 1)
            column += 1
            if entry.own:
                self.own[name] = button
            else:
                self.taken_out[entry.path] = button
        return row

    def _actions(self, entry: FolderEntry) -> list[tuple[str, str, Callable[[], object]]]:
        folders = self._folders
        if entry.added:
            return [("take-out", tr("Remove from the list"), partial(folders.forget, entry.path))]
        if not entry.own:
            return []
        if folders.moving is not None:
            return [("stop", tr("Stop"), folders.stop_moving)]
        if folders.unfinished:
            return [
                ("go-on", tr("Go on moving"), partial(folders.check, folders.unfinished)),
                ("give-up", tr("Stay here"), folders.give_up),
            ]
        return [("move", tr("Move..."), self._choose_target)]

    @Slot()
    def _add(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, tr("Add a folder of models"))
        if folder:
            self.trouble.hide()
            self._folders.add(folder)

    @Slot()
    def _choose_target(self) -> None:
        obstacle = self._store.obstacle_to_moving()
        if obstacle:
            self._say_trouble(obstacle)
            return
        folder = QFileDialog.getExistingDirectory(self, tr("Move the models to an empty folder"))
        if folder:
            self.trouble.hide()
            self._folders.check(folder)

    @Slot(str, object)
    def _confirm(self, target: str, size_bytes: int) -> None:
        dialog = move_question(self._theme, target, size_bytes, self.parentWidget())
        dialog.accepted.connect(partial(self._store.move, target))
        dialog.open()

    @Slot(str)
    def _say_trouble(self, sentence: str) -> None:
        self.trouble.setText(sentence)
        self.trouble.show()
        self.fit()


def _title(entry: FolderEntry) -> str:
    if entry.own:
        return tr("Tenon's own models")
    return entry.source or tr("Added")


class ServerDialog(Sheet):
    """Three fields. It stays open with a sentence where the server cannot be added.

    Args:
        servers: Ask and keep it.
        address: Text in the field at first.
    """

    added = Signal(object)  # ServerEntry

    def __init__(self, theme: Theme, servers: Servers, parent: QWidget, address: str = "", name: str = "") -> None:
        super().__init__(theme, tr("Add a server"), tr("Add"), parent)
        self._servers = servers
        self._asks = False
        self.add_words(
            tr(
                "vLLM, SGLang, llama.cpp, Ollama, LM Studio, another Tenon, or any other that speaks OpenAI's "
                "protocol. What you write to one of its models is sent to it."
            )
        )
        self.address = self._field("address", tr("Address"), address, "http://desk:8000")
        self.key = self._field("key", tr("Key"), "", tr("none, or the one already saved"))
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.name = self._field("name", tr("Name"), name, tr("the computer's name"))
        self.add_words(tr("The key is kept in the system's keyring and sent to this address alone."), "small")
        self.trouble = self.add_words("", "bad")
        self.trouble.hide()
        self.address.textChanged.connect(self._allow)
        servers.added.connect(self._close)
        servers.refused.connect(self._say_trouble)
        self._allow()
        self.fit()

    @Slot()
    def accept(self) -> None:
        """Ask the server; the dialog closes when it has answered."""
        self._asks = True
        self.trouble.hide()
        self.accept_button.setText(tr("Asking..."))
        self._allow()
        self._servers.add(self.address.text(), self.key.text(), self.name.text())

    def _field(self, name: str, title: str, text: str, placeholder: str) -> QLineEdit:
        label = PlainLabel(title, self, kind="label")
        field = QLineEdit(text, self)
        field.setAccessibleName(title)
        field.setMaxLength(_LONGEST[name])
        field.setPlaceholderText(placeholder)
        label.setBuddy(field)
        self.column.addWidget(label)
        self.column.addWidget(field)
        return field

    @Slot()
    def _allow(self) -> None:
        self.accept_button.setEnabled(bool(self.address.text().strip()) and not self._asks)

    @Slot(object)
    def _close(self, entry: ServerEntry) -> None:
        if self._asks:
            super().accept()
            self.added.emit(entry)

    @Slot(str)
    def _say_trouble(self, sentence: str) -> None:
        self._asks = False
        self.accept_button.setText(tr("Add"))
        self._allow()
        self.trouble.setText(sentence)
        self.trouble.show()
        self.fit()
