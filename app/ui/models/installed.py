"""The models of this computer: use one, import, check its files, show its folder, remove it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QPoint, Signal, Slot
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QMenu,
    QVBoxLayout,
    QWidget,
)

from app.bridge.models.store import ModelStore
from app.chat.model_entries import (
    CopyOffer,
    CopyStatus,
    ImportEntry,
    InstalledEntry,
    ListedModel,
    RemovalEntry,
    ServerEntry,
)
from app.chat.modes import BASE_MODEL
from app.ui import figures
from app.ui.bars import ShareBar
from app.ui.models.cards import Tag
from app.ui.models.dialogs import ImportDialog, RemovalDialog, ServerDialog
from app.ui.models.downloads import RowList, RuledRow
from app.ui.models.wording import copy_words, copying_words, joined, kind_title, licence_title, loss_words
from app.ui.opener import show_folder
from app.ui.parts import STRETCH, ElidedLabel, PlainLabel, filled, icon_button, push_button
from app.ui.sheet import Sheet
from app.ui.theme.theme import Theme
from app.words import tr
from engine.hub.titles import title_of_model
from engine.messages import DraftPair
from engine.sentences import paragraph


@dataclass(frozen=True)
class InstalledContent:
    """Content of a row."""

    entry: InstalledEntry  # the model
    in_use: bool = False  # True if it answers, or guesses for what answers
    speed: str = ""  # the predicted speed in words; empty for none
    # Part of it that has been read, where it is being checked; None where it is not
    read_share: float | None = None
    pairs: tuple[DraftPair, ...] = ()  # pairs as a draft, as far as they are known
    draft: ListedModel | None = None  # a draft that could be fetched for it; None for none
    own_head: bool = False  # True if it comes with a layer that drafts (MTP), as far as that is known
    offer: CopyOffer | None = None  # a smaller copy that could be made; None for none
    copying: CopyStatus | None = None  # a smaller copy that is being made; None for none


class InstalledRow(RuledRow):
    """One model."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.content: InstalledContent | None = None
        self.name = ElidedLabel(kind="label", parent=self)
        self.kind = Tag(theme, self)
        self.detail = ElidedLabel(kind="small", parent=self)
        self.problem = PlainLabel(self, kind="bad", wrap=True)
        self.fits = PlainLabel(self, kind="notice", wrap=True)
        self.misfits = PlainLabel(self, kind="small", wrap=True)
        self.misfits.setEnabled(False)
        self.bar = ShareBar(theme, tr("Reading its files"), self)
        self.copy_bar = ShareBar(theme, tr("Making a smaller copy"), self)
        self.copy_words = PlainLabel(self, kind="sub", wrap=True)
        self.copy = push_button(tr("Make a smaller copy"), self, kind="row")
        self.cancel = push_button(tr("Cancel"), self, kind="row")
        copy_line = filled(QHBoxLayout(), self.copy, self.cancel, STRETCH, spacing=8)
        self.state = Tag(theme, self)
        self.use = push_button(tr("Chat with it"), self, kind="row")
        self.more = icon_button(theme, "ellipsis", "", self, side_px=28)
        line = filled(QHBoxLayout(), self.name, self.kind, STRETCH, spacing=8)
        words = filled(QVBoxLayout(), line, self.detail, self.problem, self.fits, self.misfits, self.bar, spacing=2)
        for widget in (self.copy_words, self.copy_bar):
            words.addWidget(widget)
        words.addLayout(copy_line)
        filled(QHBoxLayout(self), (words, 1), self.state, self.use, self.more, margins=(16, 8, 8, 8), spacing=8)

    def show_content(self, content: InstalledContent) -> None:
        """Show how it stands."""
        if content == self.content:
            return
        self.content = content
        entry, name = content.entry, content.entry.title
        self.name.setText(name)
        if entry.only_continues:
            self.kind.show_words(tr("Base model"), tip=tr(BASE_MODEL))
        else:
            self.kind.show_words(kind_title(entry), icon="link")
        size = "" if entry.size_bytes is None else figures.size(entry.size_bytes)
        self.detail.setText(
            tr("Being added")
            if not entry.ref
            else joined(
                content.speed,
                tr("built in, a very small model: quick, often wrong") if entry.bundled else "",
                entry.type,
                size,
                loss_words(entry),
                tr("with a draft of its own (MTP)") if content.own_head else "",
                licence_title(entry.licence),
                entry.place
                if entry.server
                else tr("from {source}", source=entry.source)
                if entry.source
                else tr("used in place")
                if entry.in_place
                else "",
            )
        )
        self.detail.setVisible(bool(self.detail.text()))
        self.problem.setText(entry.problem)
        self.problem.setVisible(bool(entry.problem))
        self._show_pairs(content.pairs)
        reading = content.read_share is not None
        self.bar.setVisible(reading)
        if content.read_share is not None:
            self.bar.show_share(content.read_share)
        self._show_copy(content)
        self.state.show_words(tr("In use") if content.in_use else "", "good", "check")
        usable = entry.kind == "target" and not entry.problem and bool(entry.ref)
        self.use.setVisible(usable)
        self.use.setAccessibleName(tr("Chat with {title}", title=name))
        self.more.setVisible(bool(entry.ref) or content.read_share is not None)
        self.more.setAccessibleName(tr("More about {name}", name=name))
        self.more.setToolTip(tr("More about {name}", name=name))

    def _show_copy(self, content: InstalledContent) -> None:
        """Offer a smaller copy where it pays, or show how far one is."""
        offer, copying = content.offer, content.copying
        title = content.entry.title
        offered = offer is not None and offer.pays and copying is None
        self.copy.setVisible(offered)
        self.copy_words.setVisible(offered or copying is not None)
        if offered and offer is not None:
            self.copy_words.setText(copy_words(offer))
            self.copy.setAccessibleName(tr("Make a smaller copy of {title}", title=title))
        for widget in (self.copy_bar, self.cancel):
            widget.setVisible(copying is not None)
        if copying is not None:
            self.copy_bar.show_share(copying.share)
            self.copy_words.setText(copying_words(copying))
            self.cancel.setAccessibleName(tr("Cancel the smaller copy of {title}", title=title))

    def _show_pairs(self, pairs: Collection[DraftPair]) -> None:
        """Show a menu of the models it guesses for; those it cannot are greyed, with the reason."""
        good = [pair for pair in pairs if not pair.problem]
        # A model that is no draft by its kind could be one for anything: only pairs that work are worth a line then.
        entry = self.content.entry if self.content is not None else None
        bad = [pair for pair in pairs if pair.problem and entry is not None and entry.kind != "target"]
        self.fits.setText(tr("Can draft for {models}", models=joined(*(title_of_model(pair.target) for pair in good))))
        self.fits.setVisible(bool(good))
        self.misfits.setText(
            "\n".join(
                tr("Not for {model}: {reason}", model=title_of_model(pair.target), reason=pair.problem) for pair in bad
            )
        )
        self.misfits.setVisible(bool(bad))


class Keeping(QObject):
    """Has it done by the store, asks where there is something to decide, and says what came of it."""

    said = Signal(str, bool)  # a sentence, and whether it stays

    def __init__(self, theme: Theme, store: ModelStore, window: QWidget) -> None:
        super().__init__(window)
        self._theme = theme
        self._store = store
        self._window = window
        installed = store.installed
        installed.problem.connect(self._say_trouble)
        installed.import_refused.connect(self._say_trouble)
        installed.looked_at.connect(self._ask_import)
        installed.imported.connect(self._say_imported)
        installed.removal_planned.connect(self._ask_removal)
        installed.removed.connect(self._say_removed)
        installed.verified.connect(self._say_verified)
        store.copies.made.connect(self._say_copied)
        store.copies.refused.connect(self._say_trouble)
        store.servers.problem.connect(self._say_trouble)
        self.verify, self.stop_reading = installed.verify, installed.stop_reading
        self.plan_removal, self.cancel_copy = installed.plan_removal, store.copies.cancel

    @Slot()
    def add_folder(self) -> None:
        """Choose a folder with a model and add it."""
        folder = QFileDialog.getExistingDirectory(self._window, tr("Add a model's folder"))
        if folder:
            self._store.installed.look_at([folder])

    @Slot()
    def add_file(self) -> None:
        """Choose a GGUF file, or the files of one model, and add it."""
        kinds = tr("Models (*.gguf *.safetensors *.json *.model *.bin)")
        paths, _ = QFileDialog.getOpenFileNames(self._window, tr("Add a model's file"), "", kinds)
        if paths:
            self._store.installed.look_at(paths)

    @Slot()
    def add_server(self) -> None:
        """Ask for a server and add it."""
        self.change_server("", "")

    def change_server(self, address: str, name: str) -> None:
        """Ask for a server, with fields filled in, and add it."""
        dialog = ServerDialog(self._theme, self._store.servers, self._window, address, name)
        dialog.added.connect(self._say_server_added)
        dialog.open()

    def ask_forgetting(self, server: str) -> None:
        """Ask whether a server is to be forgotten."""
        mine = [entry for entry in self._store.installed.entries if entry.server == server]
        in_use = any(map(self._store.in_use, mine))
        used = [tr("It is in use: the built-in model answers from then on.")] if in_use else []
        dialog = Sheet(
            self._theme,
            tr("Forget {server}?", server=server),
            tr("Forget"),
            self._window,
            tr("Its models disappear from the list, and its key is deleted from the keyring. Chats stay."),
            *used,
        )
        dialog.accepted.connect(lambda: self._store.forget_server(server))
        dialog.open()

    @Slot(object)
    def _say_server_added(self, entry: ServerEntry) -> None:
        added = tr("{server} is added, with %n model(s).", n=entry.models, server=entry.name)
        self.said.emit(paragraph(added, entry.warning), bool(entry.warning))

    @Slot(object)
    def _ask_import(self, entry: ImportEntry) -> None:
        dialog = ImportDialog(self._theme, entry, self._window)
        dialog.accepted.connect(lambda: self._store.installed.bring_in(entry, dialog.copies))
        dialog.open()

    @Slot(object)
    def _ask_removal(self, removal: RemovalEntry) -> None:
        entry = self._store.entry(removal.name)
        in_use = entry is not None and self._store.in_use(entry)
        dialog = RemovalDialog(self._theme, removal, in_use, self._window)
        dialog.accepted.connect(lambda: self._store.remove(removal.name, dialog.drafts))
        dialog.open()

    def show_folder(self, ref: str) -> None:
        """Show where a model lies in the system's own window."""
        place = Path(ref)
        problem = show_folder(place.parent if place.suffix else place)
        if problem:
            self._say_trouble(problem)

    @Slot(str)
    def _say_trouble(self, sentence: str) -> None:
        self.said.emit(sentence, True)

    def make_copy(self, name: str) -> None:
        """Make a smaller copy of a model."""
        entry = self._store.entry(name)
        if entry is not None:
            self._store.copies.make(entry)

    @Slot(str)
    def _say_copied(self, name: str) -> None:
        self.said.emit(tr("The smaller copy {name} is ready.", name=title_of_model(name)), False)

    @Slot(str)
    def _say_imported(self, name: str) -> None:
        self.said.emit(tr("{name} is added.", name=title_of_model(name)), False)

    @Slot(str, object)
    def _say_removed(self, name: str, freed_bytes: int) -> None:
        size = figures.size(freed_bytes)
        title = title_of_model(name)
        self.said.emit(tr("{name} is removed; {size} are free again.", name=title, size=size), False)

    @Slot(str, tuple)
    def _say_verified(self, name: str, bad: tuple[str, ...]) -> None:
        name = title_of_model(name)
        if bad:
            files = ", ".join(bad)
            self.said.emit(tr("{name} is damaged: {files}. Get or add it again.", name=name, files=files), True)
        else:
            self.said.emit(tr("{name}: all files are what they were.", name=name), False)


class InstalledList(RowList[InstalledRow]):
    """A list of the models of this computer, or of servers.

    Args:
        keeping: Does what the rows and their menus ask for, but for what the page itself shows.
    """

    use_requested = Signal(str)  # reference
    draft_requested = Signal(str)  # name of the model that it is for
    details_requested = Signal(str)  # name

    def __init__(self, theme: Theme, title: str, keeping: Keeping, parent: QWidget) -> None:
        super().__init__(theme, title, parent)
        self._keeping = keeping

    def show_contents(self, contents: Sequence[InstalledContent]) -> None:
        """Show these."""
        self._keep([content.entry.name for content in contents], self._make)
        for content in contents:
            self.rows[content.entry.name].show_content(content)

    def menu_of(self, name: str) -> QMenu:
        """Menu of a model's other actions."""
        content, keeping = self.rows[name].content, self._keeping
        assert content is not None
        entry = content.entry
        menu = QMenu(self)
        if content.read_share is not None:
            menu.addAction(tr("Stop"), keeping.stop_reading)
        if not entry.ref:  # on its way
            return menu
        menu.addAction(tr("About {title}", title=entry.title), lambda: self.details_requested.emit(name))
        if entry.bundled:
            return menu
        if entry.server:
            menu.addAction(tr("Change the server..."), lambda: keeping.change_server(entry.place, entry.server))
            words = tr("Forget {server}...", server=entry.server)
            menu.addAction(words, lambda: keeping.ask_forgetting(entry.server))
            return menu
        if content.draft is not None:
            words = tr("Get its draft {title}", title=content.draft.title)
            menu.addAction(words, lambda: self.draft_requested.emit(name))
        if content.offer is not None and content.copying is None:
            words = tr("Make a smaller copy: {words}", words=copy_words(content.offer))
            menu.addAction(words, lambda: keeping.make_copy(name))
        if content.read_share is None and entry.recorded and not entry.problem:
            menu.addAction(tr("Check its files"), lambda: keeping.verify(name))
        menu.addAction(tr("Show its folder"), lambda: keeping.show_folder(entry.place or entry.ref))
        if entry.source:  # it is not Tenon's to remove
            return menu
        menu.addSeparator()
        menu.addAction(tr("Remove..."), lambda: keeping.plan_removal(name))
        return menu

    def _make(self, name: str) -> InstalledRow:
        row = InstalledRow(self._theme, self)
        row.use.clicked.connect(lambda: self._use(row))
        row.more.clicked.connect(lambda: self._open_menu(name, row.more))
        row.copy.clicked.connect(lambda: self._keeping.make_copy(name))
        row.cancel.clicked.connect(lambda: self._keeping.cancel_copy(name))
        return row

    def _use(self, row: InstalledRow) -> None:
        if row.content is not None:
            self.use_requested.emit(row.content.entry.ref)

    def _open_menu(self, name: str, button: QWidget) -> None:
        menu = self.menu_of(name)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(button.mapToGlobal(QPoint(button.width() - menu.sizeHint().width(), button.height() + 4)))
