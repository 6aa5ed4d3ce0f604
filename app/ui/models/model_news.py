"""News of models wherever the user is: how many come, what came, and what went wrong."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal, Slot

from app.bridge.models.store import ModelStore
from app.ui.commands import CommandGroup, Commands
from app.ui.models.wording import download_words
from app.ui.notices import Toast
from app.ui.places import MODELS, PlaceStack
from app.ui.sidebar.sidebar import PlacesNav
from app.words import tr
from engine.hub.titles import title_of_model

if TYPE_CHECKING:
    from app.ui.models.models_page import ModelsPage


class ModelNews(QObject):
    """The queue at the sidebar's foot, and notices."""

    chat_requested = Signal(str)  # reference of a model

    def __init__(self, store: ModelStore, nav: PlacesNav, toast: Toast, places: PlaceStack) -> None:
        super().__init__(places)
        self._store = store
        self._nav = nav
        self._toast = toast
        self._places = places
        store.downloads.changed.connect(self._show_queue)
        store.downloads.failed.connect(self._tell_failure)
        store.ready.connect(self._tell_ready)

    def add_commands(self, commands: Commands) -> None:
        """Declare what can be done with models from anywhere."""
        commands.add("search-models", tr("Search models"), self._search, CommandGroup.MODEL)

    @Slot()
    def _search(self) -> None:
        page = self._page()
        page.area.ensureWidgetVisible(page.table)
        page.area.ensureWidgetVisible(page.search)
        page.search.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _page(self) -> ModelsPage:
        from app.ui.models.models_page import ModelsPage  # with the first of these commands

        self._places.go(MODELS)
        page = self._places.page(MODELS)
        assert isinstance(page, ModelsPage)
        return page

    @Slot()
    def _show_queue(self) -> None:
        """Show the number of downloads beside the page's name, and the first of them above it."""
        under_way = [entry for entry in self._store.downloads.entries.values() if entry.under_way]
        self._nav.rows[MODELS].set_hint(str(len(under_way)) if under_way else "")
        if not under_way:
            self._nav.download.hide()
            return
        receiving = next((entry for entry in under_way if entry.state == "receiving"), under_way[0])
        title = title_of_model(receiving.name)
        words = f"{title}\n{download_words(receiving)}"
        if len(under_way) > 1:
            words += "\n" + tr("%n more in the queue", n=len(under_way) - 1)
        self._nav.download.show_download(title, receiving.share, words)

    @Slot(str, str)
    def _tell_ready(self, name: str, ref: str) -> None:
        entry = self._store.entry(name)
        sentence = tr("{name} is ready.", name=title_of_model(name))
        if entry is not None and entry.kind == "target":
            self._toast.say(sentence, tr("Chat with it"), partial(self.chat_requested.emit, ref))
        else:
            self._toast.say(sentence)

    @Slot(str, str)
    def _tell_failure(self, name: str, message: str) -> None:
        sentence = tr("{name} is not here yet. {message}", name=title_of_model(name), message=message)
        self._toast.say(sentence, tr("Try again"), partial(self._store.downloads.resume, name), lasting=True)
