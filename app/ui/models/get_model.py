"""From a click on Get to the queue: what comes, how large it is, and whether terms have to be accepted first."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QWidget

from app.bridge.models.store import ModelStore
from app.chat.model_entries import ListedModel, Missed, OfferEntry
from app.ui import figures
from app.ui.form_fields import ListBox, TickBox
from app.ui.models.dialogs import ModelDialog
from app.ui.models.wording import forecast_words, joined, licence_title, mixture_words
from app.ui.parts import STRETCH, PlainLabel, filled
from app.ui.theme.icons import themed_icon
from app.ui.theme.theme import Theme
from app.words import tr
from engine.messages import Prediction

# A download of this size fills disks, and takes a quarter of an hour at 50 Mbit/s.
_LARGE_BYTES = 5_000_000_000


class GetDialog(ModelDialog):
    """Asks; what is to be fetched is read off it when it was accepted."""

    quantization_wanted = Signal(str)  # another one than what is shown
    token_given = Signal(str)

    def __init__(
        self,
        theme: Theme,
        model: ListedModel,
        forecast: Prediction | None,
        offer: OfferEntry,
        draft_wanted: bool,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(theme, tr("Get {title}", title=model.title), "", parent)
        self.offer = offer
        here = "" if forecast is None or forecast.tokens_per_second is None else forecast_words(forecast)
        for words in (tr(model.about) if model.about else "", joined(here, mixture_words(model))):
            if words:
                self.add_words(words)
        self._facts = self.add_words("")
        self._room = self.add_words("")
        self.quantizations = ListBox(theme, self)
        self.quantizations.addItems(list(offer.quantizations))
        self.quantizations.setAccessibleName(tr("Quantization"))
        self._choice = self._row(tr("Quantization"), self.quantizations)
        self.quantizations.activated.connect(self._another_quantization)
        self.draft_boxes: dict[str, TickBox] = {}
        for draft in offer.drafts:
            size = tr("about {size}", size=figures.size(draft.size_bytes)) if draft.size_bytes else ""
            words = (
                tr("With the draft head {title}", title=draft.title)
                if draft.is_head
                else tr("With the draft {title}, {size}", title=draft.title, size=size)
            )
            wanted = draft_wanted and draft is offer.drafts[0]
            box = self.draft_boxes[draft.reference] = TickBox(theme, words, self)
            box.setChecked(wanted)
            box.toggled.connect(self._say_size)
            self.column.addWidget(box)
        if offer.drafts:
            self.add_words(
                tr("A draft guesses tokens that the model then checks several at a time: the same text, sooner."),
                "small",
            )
        self.token = QLineEdit(self)
        self.page_button = QPushButton(" " + tr("Open its page"), self)
        self.page_button.setAccessibleName(tr("Open its page"))
        for field in (self.token, self.page_button):
            field.setVisible(offer.gated)
        if offer.gated:
            self._explain_gate()
        self.trouble = self.add_words("", "bad")
        self.trouble.hide()
        self.column.addStretch(1)
        self.show_offer(offer)
        self.fit()

    def show_offer(self, offer: OfferEntry) -> None:
        """Show what the hub says of another quantization."""
        self.offer = offer
        self._facts.setText(
            joined(
                tr("From {repo}", repo=offer.repo),
                licence_title(offer.licence) or tr("no licence stated"),
                offer.quantization,
            )
        )
        self.quantizations.setCurrentText(offer.quantization)
        for widget in self._choice:
            widget.setVisible(len(offer.quantizations) > 1)
        self.accept_button.setEnabled(True)
        self._say_size()

    def say_trouble(self, sentence: str) -> None:
        """Say what does not work; the dialog stays."""
        self.trouble.setText(sentence)
        self.trouble.setVisible(bool(sentence))
        self.accept_button.setEnabled(True)
        self.fit()

    @property
    def drafts(self) -> tuple[str, ...]:
        """Choice of what is fetched along."""
        return tuple(reference for reference, box in self.draft_boxes.items() if box.isChecked())

    @Slot()
    def accept(self) -> None:
        """Keep the token first where one was typed; the download begins when it is kept."""
        token = self.token.text().strip()
        if token:
            self.accept_button.setEnabled(False)
            self.token_given.emit(token)
        else:
            super().accept()

    @Slot()
    def go_on(self) -> None:
        """Go on after the token was kept."""
        self.token.clear()
        super().accept()

    @Slot()
    def _say_size(self) -> None:
        sizes = {draft.reference: draft.size_bytes or 0 for draft in self.offer.drafts}
        total = self.offer.size_bytes + sum(sizes[draft] for draft in self.drafts)
        self.accept_button.setText(tr("Download {size}", size=figures.size(total)))
        free, left = figures.size(self.offer.free_bytes), self.offer.free_bytes - total
        self._room.setText(
            tr("{free} are free on the disk.", free=free)
            if left < 0
            else tr("{free} are free on the disk; {left} stay free.", free=free, left=figures.size(left))
        )

    @Slot(int)
    def _another_quantization(self, number: int) -> None:
        wanted = self.quantizations.itemText(number)
        if wanted != self.offer.quantization:
            self.accept_button.setEnabled(False)
            self.quantization_wanted.emit(wanted)

    def _explain_gate(self) -> None:
        """Instructions for a model whose owner wants terms accepted."""
        self.add_words(tr("Its owner asks you to accept terms first"), "label")
        self.add_words(
            tr(
                "Sign in on its page and accept the terms there, make an access token in the hub's settings, and "
                "paste it here. It is kept in the system's keyring."
            )
        )
        self.page_button.setIcon(themed_icon(self._theme, "link", "text"))
        self.page_button.clicked.connect(self._open_page)
        self.page_button.setToolTip(self.offer.page)
        line = filled(QHBoxLayout(), self.page_button, STRETCH)
        self.column.addLayout(line)
        self.add_words(self.offer.page, "small").setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.token.setEchoMode(QLineEdit.EchoMode.Password)
        self.token.setAccessibleName(tr("Access token"))
        self.token.setPlaceholderText(
            tr("An access token is saved already; paste another one to replace it")
            if self.offer.has_token
            else tr("Access token, starts with hf_")
        )
        self.column.addWidget(self.token)

    @Slot()
    def _open_page(self) -> None:
        QDesktopServices.openUrl(QUrl(self.offer.page))

    def _row(self, words: str, field: QWidget) -> tuple[QWidget, QWidget]:
        label = PlainLabel(words, self)
        label.setBuddy(field)
        line = filled(QHBoxLayout(), label, (field, 1), spacing=12)
        self.column.addLayout(line)
        return label, field


class Getting(QObject):
    """One model at a time."""

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
        self.asked = ""  # reference of the model that the hub is being asked for; empty for none
        self.dialog: GetDialog | None = None  # the one that is open
        offers.offered.connect(self._take)
        offers.refused.connect(self._refuse)
        store.access.told.connect(self._token_kept)

    def get(self, model: ListedModel, with_draft: bool, ask: bool, draft_for: str = "") -> None:
        """Get a model, for an installed one to be guessed for where that is named.

        Args:
            with_draft: True if its first draft comes along, unless the user says otherwise.
            ask: True to show what would come first; what is gated or large is shown in any case.
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
