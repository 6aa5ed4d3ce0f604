"""Content of the page of models, put together from what the store knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.bridge.models.store import ModelStore
from app.bridge.workspace import Workspace
from app.chat.engine_options import load_options
from app.chat.model_entries import Fit, InstalledEntry, ListedModel, fit_of
from app.ui import figures
from app.ui.machine.words import speed_and_source
from app.ui.models.cards import CardContent
from app.ui.models.installed import InstalledContent
from app.ui.models.model_table import RowContent
from app.words import mark, tr
from engine.messages import OWN_HEAD, Basis, DownloadStatus, DraftPair, PlanReport, Prediction
from engine.sentences import paragraph

_SOURCES: dict[Basis, str] = {
    "guess": mark("Speeds are guesses until this machine is measured."),
    "busy": mark("Speeds were measured while other programs were busy, and will be measured again."),
    "rest": mark("Speeds are predicted from measurements made here."),
}


class ModelShelf:
    """Asks the store, keeps what a search has found."""

    def __init__(self, workspace: Workspace, store: ModelStore) -> None:
        self._workspace = workspace
        self._store = store
        self._catalogue = {model.reference: model for model in store.offers.catalogue()}
        # The models of the table, before filters
        self.listed: tuple[ListedModel, ...] = tuple(self._catalogue.values())
        self.read_share = 0.0  # part that has been read of a model being checked or imported

    def model(self, reference: str) -> ListedModel:
        """One of those in the table."""
        return next(model for model in self.listed if model.reference == reference)

    def search(self, text: str) -> None:
        """Show the catalogue's models with these words; the hub's follow when it has answered."""
        words = text.lower().split()
        self.listed = tuple(
            model
            for model in self._catalogue.values()
            if all(word in f"{model.reference} {model.title} {' '.join(model.repos)}".lower() for word in words)
        )

    def take_found(self, models: Sequence[ListedModel]) -> None:
        """Results of a search."""
        self.listed = tuple(models)

    def draft_pays(self, model: ListedModel) -> bool:
        """Return True if the model is predicted to be fastest with a draft."""
        prediction = self._store.forecasts.known.get(model.reference)
        return prediction is not None and prediction.with_draft and bool(model.drafts)

    def cards(self, asked: str, plainly: bool = False) -> tuple[CardContent, ...]:
        """Recommendations for this computer; ``asked`` is the model that the hub is being asked for.

        If ``plainly``, nothing is said of modes, formats and experts, and no button stands out.
        """
        contents = []
        primary = not plainly
        known = self._store.forecasts.known
        for found in self._store.recommended():
            model = found.model
            installed = self._copy_of(model)
            draft_bytes = 0
            if self.draft_pays(model):
                draft = self._catalogue[model.drafts[0]]
                draft_bytes = 0 if self._copy_of(draft) else draft.size_bytes or 0
            download = self._download_of(model)
            contents.append(
                CardContent(
                    model,
                    self._known(model) or known[model.reference],
                    tr(found.strength.value),
                    "" if installed is None else installed.ref,
                    download,
                    draft_bytes,
                    primary and installed is None and download is None,
                    model.reference == asked,
                    plainly,
                )
            )
            primary = primary and not contents[-1].primary
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
            prediction = store.forecasts.known.get(entry.ref)
            base = prediction is not None and prediction.only_continues
            speed = self._speed_of(entry)
            reading = self.read_share if entry.name == store.installed.reads else None
            pairs = tuple(pair for pair in store.pairs if pair.draft == entry.name and not entry.bundled)
            draft = self._missing_draft(entry)
            mtp = DraftPair(entry.name, OWN_HEAD, "head", "") in store.pairs
            rows.append(InstalledContent(entry, store.in_use(entry), speed, reading, pairs, draft, mtp, base))
        if store.installed.reads and store.entry(store.installed.reads) is None:
            coming = InstalledEntry(store.installed.reads, "", recorded=False)
            rows.append(InstalledContent(coming, read_share=self.read_share))
        return tuple(rows)

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
        return tuple(found)

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
        return speed_and_source(best)

    def _known(self, model: ListedModel) -> Prediction | None:
        """Return a model's prediction, which has the speed of the plan if it is installed."""
        prediction, copy = self._store.forecasts.known.get(model.reference), self._copy_of(model)
        plan = None if copy is None else self._plan_of(copy)
        if prediction is None or plan is None or plan.taken is None:
            return prediction
        return replace(prediction, mode=plan.chosen, tokens_per_second=plan.taken.tokens_per_second)

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

    def _copy_of(self, model: ListedModel) -> InstalledEntry | None:
        entries = self._store.installed.entries
        return next((entry for entry in entries if not entry.problem and entry.comes_from(model)), None)

    def _download_of(self, model: ListedModel) -> DownloadStatus | None:
        return next((entry for entry in self.downloads() if entry.repo in model.repos), None)
