"""What the window says of models wherever the person is: how many come, what came, and what went wrong."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from app.ui.places import CHAT, MODELS, Places
from app.ui.sidebar.places_nav import PlacesNav
from app.ui.toast import Toast
from app.words import tr

if TYPE_CHECKING:
    from app.bridge.models.store import ModelStore


class ModelNews(QObject):
    """A figure at the sidebar's foot, and notices."""

    def __init__(self, store: ModelStore, nav: PlacesNav, toast: Toast, places: Places) -> None:
        super().__init__(places)
        self._store = store
        self._nav = nav
        self._toast = toast
        self._places = places
        store.downloads.changed.connect(self._count)
        store.downloads.failed.connect(self._tell_failure)
        store.ready.connect(self._tell_ready)

    @Slot()
    def _count(self) -> None:
        count = self._store.downloads.under_way
        self._nav.rows[MODELS].set_hint(str(count) if count else "")

    @Slot(str, str)
    def _tell_ready(self, name: str, ref: str) -> None:
        entry = self._store.entry(name)
        sentence = tr("{name} is ready.", name=name)
        if entry is not None and entry.kind == "target":
            self._toast.say(sentence, tr("Chat with it"), partial(self._use, ref))
        else:
            self._toast.say(sentence)

    @Slot(str, str)
    def _tell_failure(self, name: str, message: str) -> None:
        sentence = tr("{name} is not here yet. {message}", name=name, message=message)
        self._toast.say(sentence, tr("Try again"), partial(self._store.downloads.resume, name), lasting=True)

    def _use(self, ref: str) -> None:
        self._store.use(ref)
        self._places.go(CHAT)
