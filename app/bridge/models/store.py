"""Store of models for the Models page and the menu of models."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.engine_client import EngineClient, Question
from app.bridge.model_in_engine import ModelInEngine
from app.bridge.models.copies import Copies
from app.bridge.models.folders import Folders
from app.bridge.models.installed import Installed
from app.bridge.models.offers import Downloads, Forecasts, Offers
from app.bridge.models.servers import HubAccess, Servers
from app.chat.model_entries import InstalledEntry, Recommendation
from app.settings.settings import Settings
from app.storage.kept_values import KeptChoice
from app.words import tr
from engine.hub.model_folders import current_reference
from engine.messages import DEFAULT_MODEL, DraftPair, Event, FindPairs, ModelUnloaded, PairsFound, Unload


class ModelStore(QObject):
    """The parts, and what concerns more than one of them."""

    ready = Signal(str, str)  # name and reference of a model that came
    pairs_changed = Signal()
    model_wanted = Signal(str)  # a reference to be used from now on
    settings_changed = Signal()  # of the engine

    def __init__(
        self,
        settings: Settings,
        client: EngineClient,
        model: ModelInEngine,
        choice: KeptChoice,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._client = client
        self._model = model
        self.downloads = Downloads(self)
        self.installed = Installed(self)
        self.copies = Copies(self)
        self.folders = Folders(self)
        self.servers = Servers(self)
        self.offers = Offers(self.downloads, self)
        self.access = HubAccess(self)
        self.forecasts = Forecasts(settings, client, self)
        self._choice = choice
        # Installed drafts and the installed models that they work with, as far as the engine has said
        self.pairs: tuple[DraftPair, ...] = ()
        self._paired: tuple[InstalledEntry, ...] = ()  # what pairs were asked of
        self._pairing: Question | None = None
        self._leaving: tuple[str, ...] = ()
        self._moves_to = ""  # waits for the model in memory to leave
        self._arriving: set[str] = set()
        self._pairs_wanted: set[tuple[str, str]] = set()
        self.downloads.arrived.connect(self._arrived)
        self.downloads.measured.connect(self._keep_connection)
        self.copies.made.connect(self._arrived)
        self.installed.changed.connect(self._tell_arrived)
        self.installed.changed.connect(self.find_pairs)
        self.offers.pair_wanted.connect(lambda target, draft: self._pairs_wanted.add((target, draft)))
        self.installed.removed.connect(self.forecasts.forget)  # the disk has more room now
        self.folders.others_changed.connect(self.installed.refresh)
        self.servers.changed.connect(self.installed.refresh)
        self.folders.moved.connect(self._follow)
        client.event_received.connect(self._receive)
        client.stopped.connect(self._engine_stopped)

    def start(self) -> None:
        """Look at what is installed, and let downloads of an earlier run go on."""
        self.folders.start()
        self._settings.follow_models(current_reference)
        self.installed.refresh()
        self.downloads.resume_left_ones()

    def look_around(self) -> None:
        """Look for changes when the page is shown, and predict what is not predicted yet."""
        self.installed.refresh()
        self.servers.ask_again()
        self.forecasts.ask(self.offers.catalogue())
        self.look_at_installed()

    def recommended(self) -> tuple[Recommendation, ...]:
        """Return the catalogue's models that suit this computer, as far as that is known."""
        forecasts = self.forecasts
        return self._choice.choose(self.offers.catalogue(), forecasts.known, not forecasts.under_way)

    @Slot()
    def predict_again(self) -> None:
        """Predict everything again after the machine was measured."""
        if self.forecasts.known:
            self.forecasts.forget()
            self.forecasts.ask(self.offers.catalogue())
            self.look_at_installed()

    def look_at_installed(self) -> None:
        """Find out of what is installed, where that is not known yet, how fast it is and what goes with what."""
        self.forecasts.ask_installed(self.installed.entries)
        self.find_pairs()

    def entry(self, name: str) -> InstalledEntry | None:
        """Return an installed model by its name."""
        return next((entry for entry in self.installed.entries if entry.name == name), None)

    def in_use(self, entry: InstalledEntry) -> bool:
        """Return True if it answers, or guesses for what answers, from the next message on."""
        return entry.ref in (self._settings.model, *self._settings.drafts_of(self._settings.model))

    @Slot()
    def find_pairs(self) -> None:
        """Ask the engine which drafts work with which models, where others are installed than it was asked about."""
        entries = self.installed.entries
        if entries == self._paired or len(entries) < 2:
            return
        self._paired = entries
        if self._pairing is not None:
            self._pairing.drop()
        self._pairing = self._client.ask(FindPairs("")).done(self._take_pairs)

    def remove(self, name: str, drafts: Sequence[str] = ()) -> None:
        """Remove a model and drafts with it; one that is loaded leaves memory first, and the bundled one takes over."""
        names = (name, *drafts)
        refs = {entry.ref for entry in self.installed.entries if entry.name in names}
        loaded = self._model.holds_any(refs)
        if loaded:
            self._leaving = names
            self._client.send(Unload())
        self._settings.forget_models(refs)
        if self._settings.model in refs:
            self.model_wanted.emit(DEFAULT_MODEL)
        else:
            self.settings_changed.emit()
        if not loaded:
            self.installed.remove(names)

    def forget_server(self, name: str) -> None:
        """Forget a server; where one of its models answers, the bundled one takes over."""
        refs = {entry.ref for entry in self.installed.entries if entry.server == name}
        chosen = self._settings.model in refs
        self._settings.forget_models(refs)
        self.servers.forget(name)
        if chosen:
            self.model_wanted.emit(DEFAULT_MODEL)

    def obstacle_to_moving(self) -> str:
        """Reason why Tenon's models cannot be moved now, in one sentence; empty where nothing stands in the way."""
        if self.downloads.under_way:
            return tr("Downloads are under way: pause them, or wait for them.")
        if self.copies.entries:
            return tr("A smaller copy is being made: wait for that, or cancel it.")
        if self.installed.reads:
            return tr("{name} is still being read: wait for that, or stop it.", name=self.installed.reads)
        return ""

    def move(self, target: str) -> None:
        """Move Tenon's own models to a folder; one that is loaded leaves memory first, and comes back afterwards."""
        obstacle = self.obstacle_to_moving()
        if obstacle:
            self.folders.refused.emit(obstacle)
            return
        self.downloads.let_go()
        if self._model.options is None:
            self.folders.move(target)
        else:
            self._moves_to = target
            self._client.send(Unload())

    @Slot()
    def _follow(self) -> None:
        """Follow the models to another folder, in whatever names them."""
        self._settings.follow_models(current_reference)
        self.forecasts.forget()
        self.installed.refresh()
        self.downloads.resume_left_ones()
        self.model_wanted.emit(self._settings.model)

    def close(self) -> None:
        """Save what is under way and end every thread. May be called twice."""
        self.offers.close()
        self.access.close()
        self.forecasts.close()
        self.copies.close()
        self.installed.close()
        self.folders.close()
        self.servers.close()
        self.downloads.close()

    @Slot(object)
    def _keep_connection(self, bytes_per_s: int) -> None:
        self._settings.connection_bytes_per_s = bytes_per_s

    @Slot(str)
    def _arrived(self, name: str) -> None:
        self._arriving.add(name)
        self.installed.refresh()

    @Slot()
    def _tell_arrived(self) -> None:
        here = {entry.name: entry for entry in self.installed.entries}
        for target, draft in [pair for pair in self._pairs_wanted if here.keys() >= set(pair)]:
            self._pairs_wanted.remove((target, draft))
            self._settings.remember_drafts(here[target].ref, (here[draft].ref,))
            if self.in_use(here[target]):
                self.settings_changed.emit()
        for name in self._arriving & here.keys():
            self._arriving.remove(name)
            self.ready.emit(name, here[name].ref)

    @Slot(object)
    def _receive(self, event: Event) -> None:
        if isinstance(event, ModelUnloaded):
            self._remove_what_leaves()

    def _take_pairs(self, found: PairsFound) -> None:
        if found.pairs != self.pairs:
            self.pairs = found.pairs
            self.pairs_changed.emit()

    @Slot(str)
    def _engine_stopped(self, sentence: str) -> None:
        self._paired = ()
        self._remove_what_leaves()

    def _remove_what_leaves(self) -> None:
        target, self._moves_to = self._moves_to, ""
        if target:
            self.folders.move(target)
        names, self._leaving = self._leaving, ()
        if names:
            self.installed.remove(names)
