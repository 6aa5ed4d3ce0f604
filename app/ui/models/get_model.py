"""A model in detail, and from there or from a click on Get to the queue: what comes, how large it is, its terms."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.bridge.models.store import ModelStore
from app.chat.model_entries import DraftOffer, ListedModel, Missed, ModelDetails, OfferEntry
from app.ui import figures
from app.ui.form_fields import ListBox, TickBox
from app.ui.models.page_content import ModelShelf
from app.ui.models.wording import joined, licence_title
from app.ui.parts import STRETCH, PlainLabel, filled, push_button
from app.ui.sheet import Sheet
from app.ui.theme.icons import themed_icon
from app.ui.theme.theme import Theme
from app.words import tr

# A download of this size fills disks, and takes a quarter of an hour at 50 Mbit/s.
_LARGE_BYTES = 5_000_000_000


class DetailsDialog(Sheet):
    """Facts about a model, for a person who decides on it.

    Args:
        accept: Words of the button that goes on; empty if there is nothing to do but to close it.
    """

    def __init__(self, theme: Theme, details: ModelDetails, accept: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, details.title, accept or tr("Done"), parent)
        self.cancel_button.setVisible(bool(accept))
        self._page = details.page
        if details.about:
            self.add_words(details.about)
        table = QGridLayout()
        table.setHorizontalSpacing(16)
        table.setVerticalSpacing(4)
        table.setColumnStretch(1, 1)
        self.facts: dict[str, PlainLabel] = {}  # what is told, by its name
        for row, (name, words) in enumerate(details.facts):
            fact = self.facts[name] = PlainLabel(words, self, wrap=True)
            fact.setAccessibleName(f"{name}: {words}")
            table.addWidget(PlainLabel(name, self, kind="sub"), row, 0, Qt.AlignmentFlag.AlignTop)
            table.addWidget(fact, row, 1)
        self.column.addLayout(table)
        self.page_button = push_button(" " + tr("Open its page"), self, self._open_page)
        self.page_button.setAccessibleName(tr("Open its page"))
        self.page_button.setIcon(themed_icon(theme, "link", "text"))
        self.page_button.setToolTip(details.page)
        self.page_button.setVisible(bool(details.page))
        self.column.addLayout(filled(QHBoxLayout(), self.page_button, STRETCH))
        if details.page:
            self.add_words(details.page, "small").setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )

    @Slot()
    def _open_page(self) -> None:
        QDesktopServices.openUrl(QUrl(self._page))


class GetDialog(DetailsDialog):
    """Shows a model, asks for what the hub says of it, and then what is to be fetched, which is read off it."""

    offer_wanted = Signal()
    quantization_wanted = Signal(str)  # another one than what is shown
    token_given = Signal(str)

    def __init__(self, theme: Theme, details: ModelDetails, draft_wanted: bool, parent: QWidget | None = None) -> None:
        super().__init__(theme, details, tr("Get"), parent)
        self.offer: OfferEntry | None = None  # what the hub says; None before it is asked
        self._draft_wanted = draft_wanted
        self._facts = self.add_words("")
        self._space_left = self.add_words("")
        self.quantizations = ListBox(theme, self)
        self.quantizations.setAccessibleName(tr("Quantization"))
        self._choice = self._row(tr("Quantization"), self.quantizations)
        self.quantizations.activated.connect(self._another_quantization)
        self.draft_boxes: dict[str, TickBox] = {}
        self._boxes = filled(QVBoxLayout())
        self.column.addLayout(self._boxes)
        self._why = self.add_words(
            tr("A draft guesses tokens that the model then checks several at a time: the same text, sooner."),
            "small",
        )
        self._gate = (
            self.add_words(tr("Its owner asks you to accept terms first"), "label"),
            self.add_words(
                tr(
                    "Sign in on its page and accept the terms there, make an access token in the hub's settings, and "
                    "paste it here. It is kept in the system's keyring."
                )
            ),
        )
        self.token = QLineEdit(self)
        self.token.setEchoMode(QLineEdit.EchoMode.Password)
        self.token.setAccessibleName(tr("Access token"))
        self.column.addWidget(self.token)
        for widget in (self._facts, self._space_left, *self._choice, self._why, *self._gate, self.token):
            widget.hide()
        self.trouble = self.add_words("", "bad")
        self.trouble.hide()
        self.fit()

    def show_asking(self) -> None:
        """Say that the hub is being asked."""
        self.trouble.hide()
        self.accept_button.setText(tr("Asking..."))
        self.accept_button.setEnabled(False)

    def show_offer(self, offer: OfferEntry) -> None:
        """Show what the hub says, of another quantization too."""
        first, self.offer, self._page = self.offer is None, offer, offer.page
        self._facts.setText(
            joined(
                tr("From {repo}", repo=offer.repo),
                licence_title(offer.licence) or tr("no licence stated"),
                offer.quantization,
                tr("sees pictures, for which {size} come along", size=figures.size(offer.tower_bytes))
                if offer.tower_bytes
                else "",
            )
        )
        if first:
            self.quantizations.addItems(list(offer.quantizations))
            self._offer_drafts(offer.drafts)
            self.token.setPlaceholderText(
                tr("An access token is saved already; paste another one to replace it")
                if offer.has_token
                else tr("Access token, starts with hf_")
            )
        self.quantizations.setCurrentText(offer.quantization)
        self._facts.show()
        self._space_left.show()
        self._why.setVisible(bool(self.draft_boxes))
        for widget in self._choice:
            widget.setVisible(len(offer.quantizations) > 1)
        for widget in (*self._gate, self.token):
            widget.setVisible(offer.gated)
        self.accept_button.setEnabled(True)
        self._say_size()
        if first:
            self.fit()

    def _offer_drafts(self, drafts: Sequence[DraftOffer]) -> None:
        for draft in drafts:
            size = tr("about {size}", size=figures.size(draft.size_bytes)) if draft.size_bytes else ""
            words = (
                tr("With the draft head {title}", title=draft.title)
                if draft.is_head
                else tr("With the draft {title}, {size}", title=draft.title, size=size)
            )
            box = self.draft_boxes[draft.reference] = TickBox(self._theme, words, self)
            box.setChecked(self._draft_wanted and draft is drafts[0])
            box.toggled.connect(self._say_size)
            self._boxes.addWidget(box)

    def say_trouble(self, sentence: str) -> None:
        """Say what does not work; the dialog stays."""
        self.trouble.setText(sentence)
        self.trouble.setVisible(bool(sentence))
        self.accept_button.setEnabled(True)
        if self.offer is None:
            self.accept_button.setText(tr("Try again"))
        self.fit()

    @property
    def drafts(self) -> tuple[str, ...]:
        """Choice of what is fetched along."""
        return tuple(reference for reference, box in self.draft_boxes.items() if box.isChecked())

    @Slot()
    def accept(self) -> None:
        """Ask the hub first, then keep the token where one was typed; the download begins when it is kept."""
        if self.offer is None:
            self.offer_wanted.emit()
            return
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
        if self.offer is None:
            return
        sizes = {draft.reference: draft.size_bytes or 0 for draft in self.offer.drafts}
        total = self.offer.size_bytes + sum(sizes[draft] for draft in self.drafts)
        self.accept_button.setText(tr("Download {size}", size=figures.size(total)))
        free, left = figures.size(self.offer.free_bytes), self.offer.free_bytes - total
        self._space_left.setText(
            tr("{free} are free on the disk.", free=free)
            if left < 0
            else tr("{free} are free on the disk; {left} stay free.", free=free, left=figures.size(left))
        )

    @Slot(int)
    def _another_quantization(self, number: int) -> None:
        wanted = self.quantizations.itemText(number)
        if self.offer is not None and wanted != self.offer.quantization:
            self.accept_button.setEnabled(False)
            self.quantization_wanted.emit(wanted)

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

    def __init__(self, theme: Theme, store: ModelStore, shelf: ModelShelf, window: QWidget) -> None:
        super().__init__(window)
        self._theme = theme
        self._store = store
        self._shelf = shelf
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

    def show(self, model: ListedModel) -> None:
        """Show a model in detail, to be got from there unless it is here or on its way."""
        if self._shelf.can_get(model):
            self._open(model, self._shelf.draft_pays(model), "")
        else:
            DetailsDialog(self._theme, self._shelf.details(model), "", self._window).open()

    def _open(self, model: ListedModel, with_draft: bool, draft_for: str) -> GetDialog:
        self._model, self._with_draft, self._draft_for, self.asked = model, with_draft, draft_for, ""
        self.changed.emit()
        dialog = self.dialog = GetDialog(self._theme, self._shelf.details(model), with_draft, self._window)
        dialog.offer_wanted.connect(self._ask_for_offer)
        dialog.quantization_wanted.connect(self._another_quantization)
        dialog.token_given.connect(self._store.access.keep)
        dialog.accepted.connect(self._fetch)
        dialog.finished.connect(self._closed)
        dialog.open()
        return dialog

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
        self._open(model, self._with_draft, self._draft_for).show_offer(offer)

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

    @Slot()
    def _ask_for_offer(self) -> None:
        if self._model is not None and self.dialog is not None:
            self.dialog.show_asking()
            self._offers.look_up(self._model.reference)

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
        if self.dialog is not None and self.dialog.offer is not None:
            self._with_draft = bool(self.dialog.drafts)
            self._offers.fetch(self.dialog.offer, self.dialog.drafts, self._draft_for)

    @Slot()
    def _closed(self) -> None:
        if self.dialog is not None and self.dialog.offer is None:
            self._model = None  # an answer that is still to come concerns nobody
        self.dialog = None
