"""From a click on Get to the queue: the hub is asked, the user too where there is something to decide."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from app.bridge.models.store import ModelStore
from app.chat.model_entries import ListedModel, Missed, OfferEntry
from app.ui.models.get_dialog import GetDialog
from app.ui.theme.theme import Theme

# A download of this size fills disks, and takes a quarter of an hour at 50 Mbit/s.
_LARGE_BYTES = 5_000_000_000


class Getting(QObject):
    """One model at a time.

    Attributes:
        asked: Reference of the model that the hub is being asked for; empty for none.
        dialog: The one that is open.
    """

    changed = Signal()
    trouble = Signal(str)  # one sentence

    def __init__(self, theme: Theme, store: ModelStore, window: QWidget) -> None:
        super().__init__(window)
        self._theme = theme
        self._store = store
        offers = self._offers = store.offers
        self._window = window
        self._model: ListedModel | None = None
        self._with_draft = False
        self._ask = False
        self._draft_for = ""
        self.asked = ""
        self.dialog: GetDialog | None = None
        offers.offered.connect(self._take)
        offers.refused.connect(self._refuse)
        store.access.told.connect(self._token_kept)

    def get(self, model: ListedModel, with_draft: bool, ask: bool, draft_for: str = "") -> None:
        """Get a model.

        Args:
            model: The model to get.
            with_draft: True if its first draft comes along, unless the user says otherwise.
            ask: True to show what would come first; what is gated or large is shown in any case.
            draft_for: Name of an installed model that it is to guess for; empty for none.
        """
        self._model, self._with_draft, self._ask, self._draft_for = model, with_draft, ask, draft_for
        self.asked = model.reference
        self._offers.forget_missed(model.title)
        self.changed.emit()
        self._offers.look_up(model.reference)

    @Slot(str)
    def go_on(self, name: str) -> None:
        """Let a download go on that was held, that failed, or that never began."""
        missed = self._offers.missed.get(name)
        if missed is None:
            self._store.downloads.resume(name)
        else:
            self.get(missed.model, missed.with_draft, ask=False, draft_for=missed.draft_for)

    @Slot(object)
    def _take(self, offer: OfferEntry) -> None:
        model = self._model
        if model is None or offer.reference != model.reference:
            return
        self.asked = ""
        self.changed.emit()
        if self.dialog is not None:
            self.dialog.show_offer(offer)
            return
        large = offer.size_bytes > _LARGE_BYTES
        if not self._ask and not large and not (offer.gated and not offer.has_token):
            drafts = (offer.drafts[0].reference,) if self._with_draft and offer.drafts else ()
            self._offers.fetch(offer, drafts, self._draft_for)
            return
        forecast = self._store.forecasts.known.get(model.reference)
        dialog = self.dialog = GetDialog(self._theme, model, forecast, offer, self._with_draft, self._window)
        dialog.quantization_wanted.connect(self._another_quantization)
        dialog.token_given.connect(self._store.access.keep)
        dialog.accepted.connect(self._fetch)
        dialog.finished.connect(self._closed)
        dialog.open()

    @Slot(str, str)
    def _refuse(self, reference: str, sentence: str) -> None:
        model = self._model
        if model is None or reference != model.reference:
            return  # another page asked for it
        self.asked = ""
        if self.dialog is not None:
            self.dialog.say_trouble(sentence)
        else:
            self._offers.miss(Missed(model, self._with_draft, self._draft_for, sentence))
            self.trouble.emit(sentence)
        self.changed.emit()

    @Slot(str)
    def _another_quantization(self, quantization: str) -> None:
        if self._model is not None:
            self._offers.look_up(self._model.reference, quantization)

    @Slot(str)
    def _token_kept(self, problem: str) -> None:
        if self.dialog is not None:
            if problem:
                self.dialog.say_trouble(problem)
            elif self._store.access.known:
                self.dialog.go_on()

    @Slot()
    def _fetch(self) -> None:
        if self.dialog is not None:
            self._with_draft = bool(self.dialog.drafts)
            self._offers.fetch(self.dialog.offer, self.dialog.drafts, self._draft_for)

    @Slot()
    def _closed(self) -> None:
        self.dialog = None
