"""The folders that models lie in: Tenon's own, with a way to another disk, and those of others, which are only read."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QFileDialog, QGridLayout, QPushButton, QVBoxLayout, QWidget

from app.bridge.models.store import ModelStore
from app.chat.model_entries import FolderEntry
from app.ui import figures
from app.ui.boxes import filled
from app.ui.buttons import push_button
from app.ui.inert_text import ElidedLabel, PlainLabel
from app.ui.models.model_dialog import ModelDialog
from app.ui.share_bar import ShareBar
from app.ui.theme.theme import Theme
from app.words import tr


class MoveDialog(ModelDialog):
    """Before Tenon's models are moved: how much that is, and what waits meanwhile."""

    def __init__(self, theme: Theme, target: str, size_bytes: int, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Move the models?"), tr("Move"), parent)
        self.add_words(target, "label")
        size = figures.size(size_bytes)
        self.add_words(
            tr("{size} are copied there, compared, and then deleted where they are now.", size=size)
        )
        self.add_words(tr("The model in memory leaves it first and comes back afterwards."))
        self.column.addStretch(1)
        self.fit()


class FoldersDialog(ModelDialog):
    """Shows them, and asks the store for what the user wants.

    Attributes:
        own: The buttons of Tenon's own folder, by what they do.
        taken_out: The buttons that take an added folder out, by its path.
    """

    def __init__(self, theme: Theme, store: ModelStore, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Folders of models"), tr("Done"), parent)
        self._store = store
        self._folders = store.folders
        self.own: dict[str, QPushButton] = {}
        self.taken_out: dict[str, QPushButton] = {}
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
        self.column.addStretch(1)
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
        dialog = MoveDialog(self._theme, target, size_bytes, self.parentWidget())
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
