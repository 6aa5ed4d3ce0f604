"""Models that could be fetched: the catalogue, what the hub finds, the content of their downloads, and these."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal, Slot

from app.bridge.engine_client import EngineClient, Question
from app.bridge.worker import Worker, nothing
from app.chat.engine_options import load_options
from app.chat.model_entries import (
    DraftOffer,
    InstalledEntry,
    ListedModel,
    Missed,
    OfferEntry,
    copy_reference,
    may_copy,
)
from app.settings.settings import Settings
from engine.errors import EngineStopped, TenonError
from engine.hub import hub_endpoint
from engine.hub.catalogue import CatalogueModel, catalogue, catalogue_model, search_catalogue
from engine.hub.model_folders import models_folder
from engine.hub.titles import names_base, title_of_model
from engine.messages import (
    DownloadStatus,
    ErrorReport,
    LoadOptions,
    ModelOutline,
    ModelPredicted,
    Prediction,
    PredictModels,
)

if TYPE_CHECKING:
    from engine.hub.connection import FoundModel, Hub
    from engine.hub.download import DownloadPlan
    from engine.hub.download_queue import DownloadQueue
    from engine.hub.offer import Offer

_CLOSE_S = 2.0
# A download that has brought less says little of the connection.
_MEASURED_BYTES = 20_000_000

_MOST_RESULTS = 20
_CHAT_WORDS = ("instruct", "chat", "-it", "conversational")
# So few at once that a message which is sent meanwhile waits for hardly anything.
_AT_ONCE = 3


def connect() -> Hub:
    """Return the hub that models come from; importing its client library takes a while."""
    from engine.hub.connection import Hub

    return Hub()


class Downloads(QObject):
    """Owns the queue, which is made when the first download is, or when one was left by an earlier run."""

    changed = Signal()
    arrived = Signal(str)  # name of a model that is whole and in its place
    failed = Signal(str, str)  # name, and why
    refused = Signal(str)  # why something could not be done
    measured = Signal(object)  # speed of the connection while a download ran, in bytes per second

    _told = Signal(object)  # DownloadStatus, from whichever thread changes it

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.entries: dict[str, DownloadStatus] = {}  # by name, in the queue's order
        self._worker = Worker("models-downloads", self)
        self._queue: DownloadQueue | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._bytes_per_s = 0  # latest speed of a download; 0 before the first
        self._told.connect(self._take, Qt.ConnectionType.QueuedConnection)

    def resume_left_ones(self) -> None:
        """Let what an earlier run left go on."""
        self._worker.run(self._statuses_of_left_ones, self._take_all, self._refuse)

    def add(self, plans: Sequence[DownloadPlan], refused: Callable[[TenonError], None]) -> None:
        """Put models at the end of the queue, one after the other.

        ``refused`` is called where there is no room for one of them.
        """
        self._worker.run(lambda: self._add(plans), nothing, refused)

    def pause(self, name: str) -> None:
        """Hold a download; what has come stays."""
        self._ask(lambda queue: queue.pause(name))

    def resume(self, name: str) -> None:
        """Let a held or failed download go on."""
        self._ask(lambda queue: queue.resume(name))

    def cancel(self, name: str) -> None:
        """Give a download up and remove what has come of it."""
        self._ask(lambda queue: queue.cancel(name))

    @Slot()
    def reconnect(self) -> None:
        """Let what comes go on over a new connection: the mirror or the proxy changed."""
        if self._queue is not None:
            self._queue.reconnect()

    def let_go(self) -> None:
        """Hold nothing of the models' folder any more; `resume_left_ones` takes it up again."""
        queue, self._queue = self._queue, None
        if queue is not None:
            queue.close(_CLOSE_S)

    @property
    def under_way(self) -> int:
        """Number of downloads that come or will come by themselves."""
        return sum(entry.under_way for entry in self.entries.values())

    @property
    def remaining_bytes(self) -> int:
        """Bytes that these are still to bring."""
        return sum(entry.total_bytes - entry.done_bytes for entry in self.entries.values() if entry.under_way)

    def close(self) -> None:
        """Stop; what ran goes on when the program starts again. May be called twice."""
        with self._lock:
            self._closed = True
        self._worker.close(_CLOSE_S)
        if self._queue is not None:
            self._queue.close(_CLOSE_S)

    # --- in the worker's thread ----------------------------------------------------------------------------

    def _statuses_of_left_ones(self) -> tuple[DownloadStatus, ...]:
        # Looked up without importing what downloads.
        if not any((models_folder() / ".incoming").glob("*/download.json")):
            return ()
        return self._made_queue().statuses()

    def _made_queue(self) -> DownloadQueue:
        if self._queue is None:
            from engine.hub.download_queue import DownloadQueue

            self._queue = DownloadQueue(models_folder(), connect, self._tell)
        return self._queue

    def _add(self, plans: Sequence[DownloadPlan]) -> None:
        for plan in plans:
            self._made_queue().add(plan)

    def _ask(self, question: Callable[[DownloadQueue], None]) -> None:
        self._worker.run(lambda: question(self._made_queue()), nothing, self._refuse)

    def _tell(self, status: DownloadStatus) -> None:
        with self._lock:  # or the window's thread could destroy this object meanwhile
            if not self._closed:
                self._told.emit(status)

    # --- in the window's thread ---------------------------------------------------------------------------

    def _take_all(self, statuses: tuple[DownloadStatus, ...]) -> None:
        for status in statuses:
            self.entries.setdefault(status.name, status)
        self.changed.emit()

    @Slot(object)
    def _take(self, status: DownloadStatus) -> None:
        before = self.entries.get(status.name)
        if status.state in ("done", "cancelled"):
            self.entries.pop(status.name, None)
        else:
            self.entries[status.name] = status
        self.changed.emit()
        if status.bytes_per_s and status.done_bytes >= _MEASURED_BYTES:
            self._bytes_per_s = int(status.bytes_per_s)
        if status.state == "done" and self._bytes_per_s:
            self.measured.emit(self._bytes_per_s)
        if status.state == "done":
            self.arrived.emit(status.name)
        elif status.state == "failed" and (before is None or before.state != "failed"):
            self.failed.emit(status.name, status.message)

    def _refuse(self, error: TenonError) -> None:
        self.refused.emit(error.message)


class Offers(QObject):
    """Asks the hub, and hands what is wanted to the downloads."""

    found = Signal(str, object, str)  # the text, tuple[ListedModel, ...], and why the hub was not asked, or empty
    offered = Signal(object)  # OfferEntry
    refused = Signal(str, str)  # reference and why it cannot be fetched
    missed_changed = Signal()
    pair_wanted = Signal(str, str)  # names that a model and its draft will have here

    def __init__(self, downloads: Downloads, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._downloads = downloads
        self._worker = Worker("models-hub", self)
        self._offers: dict[tuple[str, str], Offer] = {}
        self._searches = 0
        # Models that did not come as far as the downloads, by their names among them
        self.missed: dict[str, Missed] = {}

    def catalogue(self) -> tuple[ListedModel, ...]:
        """Return the catalogue, which needs no network."""
        return tuple(map(listed, catalogue()))

    def search(self, text: str) -> None:
        """Look in the catalogue and on the hub; `found` follows, unless another search comes first."""
        self._searches += 1
        number = self._searches
        known = tuple(map(listed, search_catalogue(text)))

        def then(results: tuple[FoundModel, ...]) -> None:
            if number == self._searches:
                ours = {repo for model in known for repo in model.repos}
                others = tuple(_found(result) for result in results if result.repo not in ours)
                self.found.emit(text, (*known, *others), "")

        def failed(error: TenonError) -> None:
            if number == self._searches:
                self.found.emit(text, known, error.message)

        self._worker.run(lambda: self._search(text, number), then, failed)

    def look_up(self, reference: str, quantization: str = "") -> None:
        """Ask what fetching a model would bring; `offered` or `refused` follows."""
        queued_bytes = self._downloads.remaining_bytes

        def then(offer: tuple[Offer, OfferEntry]) -> None:
            self._offers[reference, offer[1].quantization] = offer[0]
            self.offered.emit(offer[1])

        self._worker.run(
            lambda: _look_up(reference, quantization, queued_bytes),
            then,
            lambda error: self.refused.emit(reference, error.message),
        )

    def fetch(self, offer: OfferEntry, drafts: tuple[str, ...] = (), draft_for: str = "") -> None:
        """Put what was offered into the queue, with drafts after it.

        ``draft_for`` names an installed model that it is to guess for itself; empty for none.
        """
        plan = self._offers[offer.reference, offer.quantization].plan
        if draft_for:
            self.pair_wanted.emit(draft_for, plan.name)

        def failed(error: TenonError) -> None:
            self.refused.emit(offer.reference, error.message)

        if not drafts:
            self._downloads.add((plan,), failed)
            return

        def then(plans: tuple[DownloadPlan, ...]) -> None:
            for draft in plans:
                self.pair_wanted.emit(plan.name, draft.name)
            self._downloads.add((plan, *plans), failed)

        self._worker.run(lambda: tuple(_ask(draft).plan for draft in drafts), then, failed)

    def miss(self, missed: Missed) -> None:
        """Keep what did not come as far as the downloads, to be tried again."""
        self.missed[missed.entry.name] = missed
        self.missed_changed.emit()

    def forget_missed(self, name: str) -> None:
        """Forget a missed offer, which is tried again or given up."""
        if self.missed.pop(name, None) is not None:
            self.missed_changed.emit()

    def close(self) -> None:
        """Ask nothing more. May be called twice."""
        self._worker.close()

    def _search(self, text: str, number: int) -> tuple[FoundModel, ...]:
        if number != self._searches:  # typed on meanwhile
            return ()
        from engine.hub.connection import search

        with closing(connect()) as hub:
            return search(hub, text, limit=_MOST_RESULTS)


def listed(model: CatalogueModel) -> ListedModel:
    """Return a model of the catalogue, as it is shown."""
    return ListedModel(
        reference=model.name,
        title=model.title,
        owner=model.safetensors_repo.partition("/")[0],
        licence=model.licence,
        type=model.type,
        context=model.context_length,
        size_bytes=model.typical_bytes(),
        parameters=model.parameters,
        active_parameters=model.active_parameters,
        # The original weights may be; what is fetched are the quantized ones.
        gated=False,
        drafts=model.drafts,
        heads=model.heads,
        own_head=model.own_head,
        about=model.about,
        sees=model.sees,
        catalogued=True,
        older=model.older,
        tried=bool(model.tried_as),
        repos=(model.safetensors_repo, model.gguf_repo),
    )


def _found(model: FoundModel) -> ListedModel:
    owner, _, name = model.repo.partition("/")
    return ListedModel(
        reference=model.repo,
        title=title_of_model(model.repo),
        owner=owner,
        licence=model.licence or "",
        parameters=model.parameters,
        context=model.context_length,
        gated=model.gated,
        chat=not names_base(name) and (model.has_template or any(word in name.lower() for word in _CHAT_WORDS)),
        problem=model.problem or "",
        repos=(model.repo,),
    )


def _ask(reference: str, quantization: str = "") -> Offer:
    from engine.hub.offer import make_offer

    with closing(connect()) as hub:
        return make_offer(hub, models_folder(), reference, quantization=quantization or None)


def _look_up(reference: str, quantization: str, queued_bytes: int) -> tuple[Offer, OfferEntry]:
    from engine.hub.connection import find_token
    from engine.hub.model_folders import free_bytes

    offer = _ask(reference, quantization)
    plan = offer.plan
    return offer, OfferEntry(
        reference=reference,
        name=plan.name,
        repo=plan.repo,
        licence=plan.licence or "",
        size_bytes=plan.size_bytes,
        gated=offer.gated,
        page=offer.page,
        quantization=plan.quantization or "",
        quantizations=offer.alternatives,
        drafts=tuple(map(draft_offer, offer.drafts)),
        free_bytes=max(0, free_bytes(models_folder()) - queued_bytes),
        has_token=find_token() is not None,
        tower_bytes=plan.tower_bytes,
    )


def page_of(repo: str) -> str:
    """Return the address of a repository's page."""
    return f"{hub_endpoint()}/{repo}"


def draft_offer(reference: str) -> DraftOffer:
    """Drafts that could be fetched along with a model, by its reference in the catalogue."""
    model = catalogue_model(reference)
    if model is None:
        return DraftOffer(reference, title_of_model(reference), is_head=True)
    return DraftOffer(reference, model.title, size_bytes=model.typical_bytes())


class Forecasts(QObject):
    """Asks for each model once, and again when something changed that decides."""

    changed = Signal()

    def __init__(self, settings: Settings, client: EngineClient, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._client = client
        self._worker = Worker("models-outlines", self)
        self._hub_worker = Worker("models-hub-outlines", self)
        self.known: dict[str, Prediction] = {}  # predictions by reference
        self.sizes: dict[str, int] = {}  # bytes to fetch for a model of the hub, by reference
        self._asked: set[str] = set()
        self._waiting: list[ModelOutline] = []
        self._running: list[ModelOutline] = []  # those that the engine was asked about
        self._question: Question | None = None
        self._settled: LoadOptions | None = None  # what the user had settled when these were asked
        self._outlining = 0  # models of the catalogue that are on their way to be asked about
        self._looks = 0

    def ask(self, models: Sequence[ListedModel], on_hub: bool = False) -> None:
        """Predict these, as far as that was not done with these settings; `changed` follows as answers come.

        With ``on_hub`` the hub is asked for what is not of the catalogue; what was asked of it before and is not
        answered is given up.
        """
        options = self._options()
        if options != self._settled:
            self._settled = options
            self.forget()
        if on_hub:
            self._looks += 1
        for model in models:
            if model.problem or model.reference in self._asked:
                continue
            if model.catalogued:
                self._asked.add(model.reference)
                self._outlining += 1
                self._worker.run(partial(_outlined, model), self._take_outlined, self._take_none)
            elif on_hub:
                work = partial(self._asked_of_hub, model, self._looks)
                self._hub_worker.run(work, self._take_of_hub, partial(self._refuse, model))

    def ask_installed(self, entries: Sequence[InstalledEntry]) -> None:
        """Predict models that are here."""
        for entry in entries:
            usable = entry.kind == "target" and not (entry.problem or entry.bundled or entry.server)
            if usable and entry.ref not in self._asked:
                self._asked.add(entry.ref)
                self._waiting.append(ModelOutline(entry.ref, entry.place or entry.ref))
                if may_copy(entry):
                    self._waiting.append(
                        ModelOutline(copy_reference(entry.ref), entry.place or entry.ref, smaller=True)
                    )
        self._send()

    @Slot()
    def forget(self) -> None:
        """Something changed that decides: the budgets, the machine's measured speeds, the room on the disk.

        Known predictions stay until there is another answer.
        """
        self._asked.clear()
        self._waiting.clear()
        self._running = []
        if self._question is not None:
            self._question.drop()

    @property
    def under_way(self) -> bool:
        """True if answers are still to come, so that what is best may change."""
        return bool(self._running) or bool(self._waiting) or self._outlining > 0

    def close(self) -> None:
        """Ask nothing more. May be called twice."""
        self._worker.close()
        self._hub_worker.close()

    def _asked_of_hub(self, model: ListedModel, number: int) -> tuple[ModelOutline, int | None] | None:
        if number != self._looks:  # another search came meanwhile
            return None
        from engine.hub.offer import find_or_outline, outlined_bytes

        with closing(connect()) as hub:
            place = find_or_outline(model.reference, hub)
        return ModelOutline(model.reference, str(place)), outlined_bytes(place)

    def _take_outlined(self, outline: ModelOutline) -> None:
        self._outlining -= 1
        self._take(outline)

    def _take_none(self, error: TenonError) -> None:
        """Note that a model of the catalogue has no figures."""
        self._outlining -= 1

    def _take(self, outline: ModelOutline) -> None:
        self._waiting.append(outline)
        self._send()

    def _take_of_hub(self, found: tuple[ModelOutline, int | None] | None) -> None:
        if found is None:
            return
        outline, size_bytes = found
        self._asked.add(outline.reference)
        if size_bytes is not None:
            self.sizes[outline.reference] = size_bytes
        self.changed.emit()
        self._take(outline)

    def _refuse(self, model: ListedModel, error: TenonError) -> None:
        self.known[model.reference] = Prediction(problem=error.message)
        self.changed.emit()

    def _options(self) -> LoadOptions:
        """Facts that hold for every model, whichever is chosen."""
        own = load_options(self._settings)
        return LoadOptions(
            weights=own.weights,
            context=own.context,
            ram_budget_bytes=own.ram_budget_bytes,
            vram_budget_bytes=own.vram_budget_bytes,
            graphics_chip=own.graphics_chip,
        )

    def _send(self) -> None:
        if self._running or not self._waiting:
            return
        self._running, self._waiting = self._waiting[:_AT_ONCE], self._waiting[_AT_ONCE:]
        self._question = self._client.ask(PredictModels("", tuple(self._running), self._options()))
        self._question.done(self._take_prediction).failed(self._fail)

    def _take_prediction(self, predicted: ModelPredicted) -> None:
        self.known[predicted.reference] = predicted.prediction
        self._running = [outline for outline in self._running if outline.reference != predicted.reference]
        self._send()
        self.changed.emit()

    def _fail(self, error: ErrorReport) -> None:
        """Keep open questions for the next engine; this object does not start one, for it may have been the cause."""
        lost, self._running = self._running, []
        if error.kind != EngineStopped.__name__:
            self._send()
            return
        self._asked.difference_update(outline.reference for outline in (*lost, *self._waiting))
        self._waiting.clear()


def _outlined(model: ListedModel) -> ModelOutline:
    from engine.hub.offer import find_or_outline

    draft = str(find_or_outline(model.drafts[0])) if model.drafts else None
    return ModelOutline(model.reference, str(find_or_outline(model.reference)), draft)
