"""Content of the page of models, put together from what the store knows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from app.bridge.models.offers import draft_offer, page_of
from app.bridge.models.store import ModelStore
from app.bridge.workspace import Workspace
from app.chat.engine_options import load_options
from app.chat.model_entries import (
    CopyOffer,
    Fit,
    InstalledEntry,
    ListedModel,
    ModelDetails,
    copy_offer,
    copy_reference,
    fit_of,
    may_copy,
    one_to_take,
)
from app.chat.modes import BASE_MODEL
from app.ui import figures
from app.ui.machine.words import speed_and_source
from app.ui.models.cards import CardContent
from app.ui.models.installed import InstalledContent
from app.ui.models.model_table import RowContent
from app.ui.models.wording import (
    about_words,
    best_mode,
    first_word,
    fit_title,
    gpu_words,
    joined,
    licence_title,
    loss_words,
    memory_words,
    mixture_words,
    source_of,
)
from app.words import mark, tr
from engine.hub.titles import title_of_model
from engine.messages import OWN_HEAD, Basis, DownloadStatus, DraftPair, PlanReport, Prediction
from engine.sentences import paragraph

_SOURCES: dict[Basis, str] = {
    "guess": mark("Speeds are predicted: this machine is not measured yet."),
    "busy": mark("Speeds are predicted from measurements made while other programs were busy, which will be repeated."),
    "rest": mark("Speeds are predicted from measurements made here."),
}


USUAL = "usual"
#: Orders of the lists, with their titles.
ORDERS = {
    USUAL: mark("Usual order"),
    "name": mark("Sort by name"),
    "size": mark("Sort by size"),
    "speed": mark("Sort by speed here"),
    "fit": mark("Sort by fit here"),
}


class ModelShelf:
    """Asks the store, keeps what a search has found."""

    def __init__(self, workspace: Workspace, store: ModelStore) -> None:
        self._workspace = workspace
        self._store = store
        self._catalogue = {model.reference: model for model in store.offers.catalogue()}
        # The models of the table, before filters
        self.listed: tuple[ListedModel, ...] = tuple(self._catalogue.values())
        self._words: list[str] = []  # words that are searched for
        self.order = USUAL  # order of all lists, a key of `ORDERS`
        self.read_share = 0.0  # part that has been read of a model being checked or imported

    def model(self, reference: str) -> ListedModel:
        """One of those in the table."""
        return next(model for model in self.listed if model.reference == reference)

    def search(self, text: str) -> None:
        """Show models with these words, here and of the catalogue; the hub's follow when it has answered."""
        self._words = text.lower().split()
        self.listed = tuple(
            model for model in self._catalogue.values() if self._has_words(model.reference, model.title, *model.repos)
        )

    def _has_words(self, *names: str) -> bool:
        return all(word in " ".join(names).lower() for word in self._words)

    def draft_pays(self, model: ListedModel) -> bool:
        """Return True if the model is predicted to be fastest with a draft."""
        prediction = self._store.forecasts.known.get(model.reference)
        return prediction is not None and prediction.with_draft and bool(model.drafts)

    def cards(self, asked: str, plainly: bool = False) -> tuple[CardContent, ...]:
        """Recommendations for this computer; ``asked`` is the model that the hub is being asked for.

        If ``plainly``, nothing is said of modes and experts.
        """
        contents = []
        recommended = self._store.recommended()
        taken = one_to_take(recommended)
        for found in recommended:
            model = found.model
            installed = self._copy_of(model)
            draft_bytes = 0
            if self.draft_pays(model):
                draft = self._catalogue[model.drafts[0]]
                draft_bytes = 0 if self._copy_of(draft) else draft.size_bytes or 0
            contents.append(
                CardContent(
                    model,
                    self._known(model) or self._store.forecasts.known[model.reference],
                    tr(found.strength.value),
                    "" if installed is None else installed.ref,
                    self._download_of(model),
                    draft_bytes,
                    model.reference == taken,
                    model.reference == asked,
                    plainly,
                    self._workspace.settings.connection_bytes_per_s,
                    model.type if installed is None else installed.type,
                )
            )
        return tuple(contents)

    def machine_words(self) -> str:
        """Line on this computer, and the origin of its figures."""
        forecasts = self._store.forecasts
        found = next((known for known in forecasts.known.values() if known.room_bytes), None)
        if found is None or (forecasts.under_way and not self._store.recommended()):
            return tr("Checking what runs here...")
        room = figures.size(found.room_bytes)
        here = (
            tr("About {room} of memory for models, the rest for other programs; and a GPU.", room=room)
            if self._workspace.model.state.gpu
            else tr("About {room} of memory for models, the rest for other programs.", room=room)
        )
        return paragraph(here, tr(_SOURCES[found.basis]))

    def downloads(self) -> list[DownloadStatus]:
        """Return the downloads on their way, and those that could not be begun."""
        store = self._store
        return [*store.downloads.entries.values(), *(missed.entry for missed in store.offers.missed.values())]

    def queue_words(self) -> str:
        """Return the number of downloads on their way, in words."""
        count = self._store.downloads.under_way
        if not count:
            return ""
        left = figures.size(self._store.downloads.remaining_bytes)
        return tr("%n in the queue, {left} to come", n=count, left=left)

    def installed_rows(self) -> tuple[InstalledContent, ...]:
        """Installed models, with what is known of them."""
        store = self._store
        rows = []
        for entry in store.installed.entries:
            speed = self._speed_of(entry)
            reading = self.read_share if entry.name == store.installed.reads else None
            pairs = tuple(pair for pair in store.pairs if pair.draft == entry.name and not entry.bundled)
            draft = self._missing_draft(entry)
            mtp = DraftPair(entry.name, OWN_HEAD, "head", "") in store.pairs
            offer, copying = self._copy_offer(entry), store.copies.entries.get(entry.name)
            content = InstalledContent(entry, store.in_use(entry), speed, reading, pairs, draft, mtp, offer, copying)
            rows.append(content)
        rows = [row for row in rows if self._has_words(row.entry.name, row.entry.title, row.entry.repo)]
        rows.sort(key=lambda row: self._rank(row.entry.title, row.entry.size_bytes, self._prediction_of(row.entry)))
        if store.installed.reads and store.entry(store.installed.reads) is None:
            coming = InstalledEntry(store.installed.reads, "", recorded=False)
            rows.append(InstalledContent(coming, read_share=self.read_share))
        return tuple(rows)

    def _copy_offer(self, entry: InstalledEntry) -> CopyOffer | None:
        """Return a smaller copy that could be made of a model, unless there is one."""
        if not may_copy(entry) or any(other.made_from == entry.name for other in self._store.installed.entries):
            return None
        return copy_offer(self._prediction_of(entry), self._store.forecasts.known.get(copy_reference(entry.ref)))

    def rows(self, chat: bool, draft: bool, memory: bool, asked: str) -> tuple[RowContent, ...]:
        """Return the rows of the table.

        Args:
            draft: Only models that something can guess for.
            memory: Only models that are known to fit in memory.
            asked: Reference of the model that the hub is being asked for.
        """
        found = []
        for model in self.listed:
            prediction = self._known(model)
            fits = prediction is not None and fit_of(prediction) in (Fit.EASY, Fit.FITS)
            if (chat and not model.chat) or (draft and not model.has_draft) or (memory and not fits):
                continue
            size = self._store.forecasts.sizes.get(model.reference, model.size_bytes)
            state = tr("Asking...") if model.reference == asked else self._state_of(model)
            found.append(RowContent(model, prediction, size, state))
        found.sort(key=lambda row: self._rank(row.model.title, row.size_bytes, row.prediction))
        return tuple(found)

    def _rank(self, title: str, size_bytes: int | None, prediction: Prediction | None) -> tuple[float | str, ...]:
        """Return a key to sort by in the order that is chosen; what is not known comes last."""
        if self.order == "name":
            return (title.casefold(),)
        if self.order == "size":
            return (math.inf if size_bytes is None else size_bytes,)
        speed = -1.0 if prediction is None else prediction.tokens_per_second or 0.0
        if self.order == "fit":
            return (math.inf if prediction is None else list(Fit).index(fit_of(prediction)), -speed)
        return (-speed,) if self.order == "speed" else ()

    def plan_installed(self) -> None:
        """Ask for the plans of installed models, which have their speeds."""
        for entry in self._store.installed.entries:
            if entry.kind == "target" and not entry.problem and not entry.server:
                self._workspace.plans.ask(load_options(self._workspace.settings, entry.ref))

    def _plan_of(self, entry: InstalledEntry) -> PlanReport | None:
        return self._workspace.plans.of(load_options(self._workspace.settings, entry.ref))

    def _speed_of(self, entry: InstalledEntry) -> str:
        """Return the speed of the mode that an installed model takes, and what it comes from."""
        plan = self._plan_of(entry)
        best = None if plan is None else plan.taken
        if best is None or best.tokens_per_second is None:
            return ""
        if plan is not None and not plan.measured:
            return joined(figures.speed(best.tokens_per_second), source_of("guess"))
        return speed_and_source(best)

    def _known(self, model: ListedModel) -> Prediction | None:
        """Return a model's prediction, which has the speed of the plan if it is installed."""
        prediction, copy = self._store.forecasts.known.get(model.reference), self._copy_of(model)
        return prediction if copy is None else self._planned(prediction, copy)

    def _prediction_of(self, entry: InstalledEntry) -> Prediction | None:
        return self._planned(self._store.forecasts.known.get(entry.ref), entry)

    def _planned(self, prediction: Prediction | None, entry: InstalledEntry) -> Prediction | None:
        plan = self._plan_of(entry)
        if prediction is None or plan is None or plan.taken is None:
            return prediction
        return replace(prediction, mode=plan.chosen, tokens_per_second=plan.taken.tokens_per_second)

    def details(self, model: ListedModel) -> ModelDetails:
        """Return what there is to know of a model that can be fetched."""
        copy, prediction = self._copy_of(model), self._known(model)
        own = (OWN_HEAD,) if model.own_head else ()
        drafts = [draft_offer(reference) for reference in (*own, *model.drafts, *model.heads)]
        size_bytes = self._store.forecasts.sizes.get(model.reference, model.size_bytes)
        parameters = ""
        if model.parameters:
            count = figures.digits(model.parameters / 1e9, 2)
            parameters = mixture_words(model) or tr("{count} billion", count=count)
        facts = (
            (tr("Publisher"), model.owner),
            (tr("Licence"), licence_title(model.licence) or tr("no licence stated")),
            (tr("Parameters"), parameters),
            *self._facts(
                size_bytes if copy is None else copy.size_bytes,
                model.type if copy is None else copy.type,
                model.context,
                prediction,
                tr("Base model") if not model.chat else "",
            ),
            (tr("Speed here"), self._speed_of(copy) if copy is not None else _speed_words(prediction)),
            (tr("Drafts that fit it"), joined(*(draft.title for draft in drafts)) or tr("None known")),
            *_worth_of_draft(prediction.dear if prediction else ""),
        )
        page = page_of(model.repos[-1]) if model.repos else ""
        return ModelDetails(model.title, about_words(model), _told(facts), page)

    def details_here(self, entry: InstalledEntry) -> ModelDetails:
        """Return what there is to know of an installed model."""
        model = next((model for model in self._catalogue.values() if entry.comes_from(model)), None)
        if model is not None:
            listed = self.details(model)
            return replace(listed, facts=(*listed.facts, (tr("Place"), entry.place or entry.ref)))
        pairs = [pair for pair in self._store.pairs if pair.target == entry.name and not pair.problem]
        facts = (
            (tr("Publisher"), entry.repo.partition("/")[0]),
            (tr("Licence"), licence_title(entry.licence)),
            *self._facts(
                entry.size_bytes,
                entry.type,
                entry.context,
                self._prediction_of(entry),
                tr(BASE_MODEL) if entry.only_continues else "",
            ),
            (tr("Speed here"), self._speed_of(entry)),
            (tr("Drafts that fit it"), joined(*(title_of_model(pair.draft) for pair in pairs)) or tr("None known")),
            *_worth_of_draft(next((pair.dear for pair in pairs if pair.dear), "")),
            (tr("Loss"), loss_words(entry)),
            (tr("Place"), "" if entry.bundled else entry.place or entry.ref),
        )
        known = tuple((name, words) for name, words in facts if words)
        return ModelDetails(entry.title, "", known, page_of(entry.repo) if entry.repo else "")

    def _facts(
        self, size_bytes: int | None, type_: str, context: int | None, prediction: Prediction | None, made_for: str
    ) -> tuple[tuple[str, str], ...]:
        memory = ""
        if prediction is not None:
            runs = joined(fit_title(prediction), memory_words(prediction), gpu_words(prediction))
            memory = prediction.problem or runs
        return (
            (tr("Size"), "" if size_bytes is None else figures.size(size_bytes)),
            (tr("Type"), joined(type_, made_for)),
            (tr("Context"), "" if context is None else tr("{tokens} tokens", tokens=figures.whole(context))),
            (tr("Memory here"), memory),
        )

    def _missing_draft(self, entry: InstalledEntry) -> ListedModel | None:
        """Return the catalogue's smallest draft for an installed model that has none here."""
        model = next((model for model in self._catalogue.values() if entry.comes_from(model)), None)
        if model is None or entry.kind != "target" or not model.drafts:
            return None
        drafts = [self._catalogue[draft] for draft in model.drafts]
        here = any(self._copy_of(draft) is not None or self._download_of(draft) for draft in drafts)
        return None if here else drafts[0]

    def draft_for(self, name: str) -> ListedModel | None:
        """Return the draft to fetch for an installed model."""
        entry = self._store.entry(name)
        return None if entry is None else self._missing_draft(entry)

    def _state_of(self, model: ListedModel) -> str:
        if self._copy_of(model) is not None:
            return tr("Installed")
        download = self._download_of(model)
        return "" if download is None or download.state == "failed" else figures.percent(download.share)

    def can_get(self, model: ListedModel) -> bool:
        """Return True if a model can be fetched: it is neither here nor on its way."""
        return not model.problem and not self._state_of(model)

    def _copy_of(self, model: ListedModel) -> InstalledEntry | None:
        entries = self._store.installed.entries
        return next((entry for entry in entries if not entry.problem and entry.comes_from(model)), None)

    def _download_of(self, model: ListedModel) -> DownloadStatus | None:
        return next((entry for entry in self.downloads() if entry.repo in model.repos), None)


def _speed_words(prediction: Prediction | None) -> str:
    """Return a predicted speed and its source; empty where there is none."""
    if prediction is None or prediction.tokens_per_second is None:
        return ""
    speed = figures.speed(prediction.tokens_per_second)
    return joined(speed, best_mode(prediction), first_word(prediction), source_of(prediction.basis))


def _worth_of_draft(dear: str) -> tuple[tuple[str, str], ...]:
    """Return the fact that a draft does not pay here, or nothing."""
    return ((tr("Worth of its draft"), dear),) if dear else ()


def _told(facts: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((name, words or tr("not known")) for name, words in facts)
