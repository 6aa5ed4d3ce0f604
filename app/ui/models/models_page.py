"""The page of models: what suits this computer, what is on its way, what is here, and everything to be had."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QIcon, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QToolButton, QWidget

from app.bridge.workspace import Workspace
from app.chat.model_entries import ListedModel
from app.ui import figures
from app.ui.form_fields import ListBox
from app.ui.models.cards import CardGrid
from app.ui.models.dialogs import WORTH_ASKING_BYTES, FoldersDialog
from app.ui.models.downloads import DownloadList
from app.ui.models.get_model import DetailsDialog, Getting
from app.ui.models.installed import InstalledList, Keeping
from app.ui.models.model_table import ModelTable
from app.ui.models.page_content import ORDERS, ModelShelf
from app.ui.parts import Flow, LabelledButton, PlainLabel, order_tabs, push_button, search_field
from app.ui.place_page import PlacePage, SectionHead
from app.ui.sheet import Sheet
from app.ui.theme.icons import scale_icon, themed_icon
from app.ui.theme.theme import Theme
from app.words import tr
from engine.hub.titles import title_of_model

_TYPING_PAUSE_MS = 350
_REFRESH_MS = 80
_ROWS_AT_FIRST = 8


class ModelsPage(PlacePage):
    """Shows what the model store knows, and asks it for what the user wants."""

    def __init__(self, theme: Theme, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Models"), parent)
        self._store = workspace.model_store
        self.shelf = ModelShelf(workspace, self._store)
        self.getting = Getting(theme, self._store, self.shelf, self)
        self._searched = ""
        self._all_rows = False
        self._tabs: list[QWidget] = []
        self.folder_button = self._head_button("folder-open", tr("Add from a folder"))
        self.file_button = self._head_button("folder-plus", tr("Add a file"))
        self.file_button.setToolTip(tr("Add a GGUF file"))
        self.server_button = self._head_button("link", tr("Add a server"))
        self.places_button = self._head_button("hard-drive", tr("Folders..."))
        self.machine_head = SectionHead(tr("For this machine"), self)
        self.cards = CardGrid(theme, self)
        self.download_head = SectionHead(tr("Downloads"), self)
        self.downloads = DownloadList(theme, self)
        self.installed_head = SectionHead(tr("On this computer"), self)
        self.keeping = Keeping(theme, self._store, self)
        self.installed = InstalledList(theme, tr("On this computer"), self.keeping, self)
        self.remote_head = SectionHead(tr("On servers"), self)
        self.remote = InstalledList(theme, tr("On servers"), self.keeping, self)
        self._build_search(theme)
        self.table = ModelTable(theme, self)
        self.more_button = push_button("", self, self._show_all_rows)
        for widget in (
            self._search_row, self.offline, self.machine_head, self.cards, self.download_head, self.downloads,
            self.installed_head, self.installed, self.remote_head, self.remote, self.search_head, self._filter_row,
            self.table, self.more_button,
        ):  # fmt: skip
            self.column.addWidget(widget)
        self.column.addStretch(1)
        self._later = QTimer(self, singleShot=True, interval=_REFRESH_MS)
        self._later.timeout.connect(self.refresh)
        self._pause = QTimer(self, singleShot=True, interval=_TYPING_PAUSE_MS)
        self._pause.timeout.connect(self._search_hub)
        self._connect(workspace)

    def _build_search(self, theme: Theme) -> None:
        self.search_head = SectionHead(tr("More models"), self)
        self._search_row = QWidget(self)
        flow = Flow(8, self._search_row)
        self.search = search_field(theme, tr("Search models"), self._search_row)
        self.search.setMinimumWidth(theme.type.px(300))
        flow.addWidget(self.search)
        self.order = ListBox(theme, self._search_row, letters=18)
        for order, title in ORDERS.items():
            self.order.addItem(tr(title), order)
        self.order.setAccessibleName(tr("Order of the models"))
        self.order.activated.connect(self._sort)
        flow.addWidget(self.order)
        self._filter_row = QWidget(self)
        filters = Flow(8, self._filter_row)
        self.chat_filter = self._filter(tr("Chat models"), True)
        self.draft_filter = self._filter(tr("Has a draft"), False)
        self.memory_filter = self._filter(tr("Fits in memory"), False)
        for button in (self.chat_filter, self.draft_filter, self.memory_filter):
            filters.addWidget(button)
        self.offline = PlainLabel(self, kind="warning", wrap=True)
        self.offline.hide()

    def _connect(self, workspace: Workspace) -> None:
        store = self._store
        for signal in (
            store.downloads.changed, store.copies.changed, store.installed.changed, store.forecasts.changed,
            store.pairs_changed, store.offers.missed_changed, workspace.model.changed, workspace.plans.answered,
        ):  # fmt: skip
            signal.connect(self._refresh_soon)
        store.installed.changed.connect(self._look_at_installed)
        store.installed.progressed.connect(self._read_on)
        store.downloads.refused.connect(self._say_trouble)
        store.offers.found.connect(self._take_found)
        self.getting.trouble.connect(self._say_trouble)
        self.getting.changed.connect(self._refresh_soon)
        self.search.textChanged.connect(self._typed)
        self.cards.get_requested.connect(self._get_card)
        self.cards.chat_requested.connect(self.chat_requested)
        for rows in (self.installed, self.remote):
            rows.use_requested.connect(self.chat_requested)
            rows.details_requested.connect(self._show_installed)
        self.table.get_requested.connect(self._get_row)
        for models in (self.table, self.cards):
            models.details_requested.connect(self._show_details)
        self.downloads.pause_requested.connect(store.downloads.pause)
        self.downloads.resume_requested.connect(self.getting.go_on)
        self.cards.retry_requested.connect(self.getting.go_on)
        self.downloads.cancel_requested.connect(self._give_up)
        self.installed.draft_requested.connect(self._get_draft)
        self.keeping.said.connect(self.said)
        self.folder_button.clicked.connect(self.keeping.add_folder)
        self.file_button.clicked.connect(self.keeping.add_file)
        self.server_button.clicked.connect(self.keeping.add_server)
        self.places_button.clicked.connect(self._open_folders)

    # --- what is shown ----------------------------------------------------------------------------------------

    @Slot()
    def refresh(self) -> None:
        """Show everything as it is now."""
        shelf = self.shelf
        self.cards.show_cards(() if self._searched else shelf.cards(self.getting.asked))
        self.machine_head.setVisible(not self._searched)
        self.machine_head.say(shelf.machine_words())
        entries = shelf.downloads()
        self.downloads.show_entries(entries)
        self.download_head.setVisible(bool(entries))
        self.download_head.say(shelf.queue_words())
        contents_here = shelf.installed_rows()
        here = [row for row in contents_here if not row.entry.server]
        elsewhere = [row for row in contents_here if row.entry.server]
        for head, models, contents in (
            (self.installed_head, self.installed, here),
            (self.remote_head, self.remote, elsewhere),
        ):
            models.show_contents(contents)
            head.setVisible(bool(contents))
        rows = shelf.rows(
            self.chat_filter.isChecked(),
            self.draft_filter.isChecked(),
            self.memory_filter.isChecked(),
            self.getting.asked,
        )
        # Models that there are better ones than are below the fold, but for those that are searched for.
        first = [row for row in rows if self._searched or not row.model.older]
        shown = rows if self._all_rows or self._searched else tuple(first[:_ROWS_AT_FIRST])
        self.table.show_rows(shown)
        nothing = tr("Nothing found: try fewer words or filters.")
        self.search_head.say(tr("%n model(s)", n=len(rows)) if rows else nothing)
        self.more_button.setVisible(len(shown) < len(rows))
        self.more_button.setText(tr("Show all %n model(s)", n=len(rows)))
        self._place_downloads()
        self._order_tabs()

    def _place_downloads(self) -> None:
        """Show the downloads above the lists, and while something is searched for below its results."""
        above = self.more_button if self._searched else self.cards
        if self.column.indexOf(self.download_head) != self.column.indexOf(above) + 1:
            for widget in (self.downloads, self.download_head):
                self.column.removeWidget(widget)
                self.column.insertWidget(self.column.indexOf(above) + 1, widget)

    def _order_tabs(self) -> None:
        """Let Tab go from the top to the bottom; called whenever rows or cards came or went."""
        order: list[QWidget] = [self.sidebar_button, *self._head_buttons, self.search, self.order]
        for card in self.cards.cards.values():
            order += [card.info, card.button]
        downloads = [button for row in self.downloads.rows.values() for button in (row.hold, row.cancel)]
        order += [] if self._searched else downloads
        for installed in (*self.installed.rows.values(), *self.remote.rows.values()):
            order += [installed.copy, installed.cancel, installed.use, installed.more]
        order += [self.chat_filter, self.draft_filter, self.memory_filter]
        for row in self.table.rows:
            order += [row.button, row.info]
        order.append(self.more_button)
        order += downloads if self._searched else []
        if order != self._tabs:
            self._tabs = order
            order_tabs(order)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self.focusWidget() is None:  # or the first button would take the focus, and its ring
            self.area.setFocus(Qt.FocusReason.OtherFocusReason)
        self.shelf.plan_installed()
        self.refresh()
        self._store.look_around()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for style in (Qt.ToolButtonStyle.ToolButtonTextBesideIcon, Qt.ToolButtonStyle.ToolButtonIconOnly):
            for button in self._head_buttons:
                button.setToolButtonStyle(style)
            if self.head_width <= self.width():
                break
        self.search.setFixedWidth(min(self._theme.type.px(320), max(200, self.width() - 48)))

    @Slot()
    def _refresh_soon(self) -> None:
        if self.isVisible() and not self._later.isActive():
            self._later.start()

    @property
    def _head_buttons(self) -> tuple[QToolButton, ...]:
        return self.folder_button, self.file_button, self.server_button, self.places_button

    @Slot(str, float)
    def _read_on(self, name: str, share: float) -> None:
        self.shelf.read_share = share
        self._refresh_soon()

    @Slot()
    def _look_at_installed(self) -> None:
        if self.isVisible():
            self._store.look_at_installed()
            self.shelf.plan_installed()

    @Slot()
    def _show_all_rows(self) -> None:
        self._all_rows = True
        self.refresh()

    @Slot()
    def _open_folders(self) -> None:
        FoldersDialog(self._theme, self._store, self).open()

    # --- searching --------------------------------------------------------------------------------------------

    @Slot(str)
    def _typed(self, text: str) -> None:
        self._searched = text.strip()
        self.shelf.search(self._searched)
        self.offline.hide()
        self._pause.stop()
        if self._searched:
            self._pause.start()
        self.refresh()

    @Slot()
    def _search_hub(self) -> None:
        self._store.offers.search(self._searched)

    @Slot(str, object, str)
    def _take_found(self, text: str, models: Sequence[ListedModel], problem: str) -> None:
        if text != self._searched:
            return
        self.shelf.listed = tuple(models)
        self.offline.setText(tr("{problem} The catalogue and your own models are still here.", problem=problem))
        self.offline.setVisible(bool(problem))
        self._store.forecasts.ask(self.shelf.listed, on_hub=True)
        self.refresh()

    # --- getting ----------------------------------------------------------------------------------------------

    @Slot(str)
    def _get_card(self, reference: str) -> None:
        content = self.cards.cards[reference].content
        if content is not None:
            self.getting.get(content.model, with_draft=content.draft_bytes > 0, ask=False)

    @Slot(int)
    def _sort(self, number: int) -> None:
        self.shelf.order = self.order.itemData(number)
        self.refresh()

    @Slot(str)
    def _show_details(self, reference: str) -> None:
        self.getting.show(self.shelf.model(reference))

    @Slot(str)
    def _show_installed(self, name: str) -> None:
        entry = self._store.entry(name)
        if entry is not None:
            DetailsDialog(self._theme, self.shelf.details_here(entry), "", self).open()

    @Slot(str)
    def _get_row(self, reference: str) -> None:
        model = self.shelf.model(reference)
        self.getting.get(model, with_draft=self.shelf.draft_pays(model), ask=True)

    @Slot(str)
    def _get_draft(self, name: str) -> None:
        draft = self.shelf.draft_for(name)
        if draft is not None:
            self.getting.get(draft, with_draft=False, ask=False, draft_for=name)

    @Slot(str)
    def _give_up(self, name: str) -> None:
        self._store.offers.forget_missed(name)
        entry = self._store.downloads.entries.get(name)
        if entry is None:
            return
        if entry.done_bytes < WORTH_ASKING_BYTES:
            self._store.downloads.cancel(name)
            return
        size = figures.size(entry.done_bytes)
        dialog = Sheet(
            self._theme,
            tr("Discard the download of {name}?", name=title_of_model(entry.name)),
            tr("Discard"),
            self,
            tr("{size} of it are here and would be removed. Paused, it can go on later.", size=size),
        )
        dialog.cancel_button.setText(tr("Keep it"))
        dialog.accepted.connect(partial(self._store.downloads.cancel, name))
        dialog.open()

    @Slot(str)
    def _say_trouble(self, sentence: str) -> None:
        self.said.emit(sentence, True)

    # --- parts ------------------------------------------------------------------------------------------------

    def _head_button(self, icon: str, text: str) -> QToolButton:
        button = LabelledButton(self)
        button.setProperty("kind", "labelled")
        button.setIcon(themed_icon(self._theme, icon, "text"))
        scale_icon(self._theme, button, 16)
        button.setText(f" {text}")
        button.setAccessibleName(text)
        button.setToolTip(text)
        self.head.addWidget(button)
        return button

    def _filter(self, text: str, on: bool) -> QToolButton:
        """Make a switch that filters the table, with a check mark and a fill when it is on."""
        button = LabelledButton(self._filter_row)
        button.setProperty("kind", "filter")
        button.setText(text)
        button.setAccessibleName(text)
        scale_icon(self._theme, button, 16)
        button.setCheckable(True)
        check = themed_icon(self._theme, "check", "acct")
        button.toggled.connect(lambda checked: button.setIcon(check if checked else QIcon()))
        button.toggled.connect(lambda checked: button.setText(f" {text}" if checked else text))
        button.setChecked(on)
        button.toggled.connect(self._refresh_soon)
        return button
