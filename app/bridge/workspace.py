"""The one object that the window talks to."""

from __future__ import annotations

import gc
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.bridge.archive import Archive
from app.bridge.chats import OpenChat, Shelf, ShownChat, Titles
from app.bridge.comparison import Comparison
from app.bridge.engine_client import EngineClient
from app.bridge.engine_watch import EngineWatch, IdleMeasuring, IdleUnload
from app.bridge.gpu_addon import GpuAddon
from app.bridge.inspection import Inspection
from app.bridge.journal import Journal, UnsentMessages
from app.bridge.machine import Machine, PowerWatch
from app.bridge.model_in_engine import ModelInEngine
from app.bridge.models.installed import model_to_begin_with
from app.bridge.models.store import ModelStore
from app.bridge.pictures import Pictures
from app.bridge.plans import Drafts, Plans
from app.bridge.program_server import PhoneServer, ProgramServer
from app.bridge.replies import Replies
from app.bridge.saved_settings import Network, SavedSettings, SettingsDesk
from app.bridge.tools import ToolDesk
from app.bridge.turns import Turns
from app.bridge.typesetter import Typesetter
from app.bridge.worker import AttachmentReader, LexerMaker, Worker
from app.chat.conversation import Message
from app.chat.library import Library
from app.chat.modes import Choice, memory_choices, model_choices, toggled
from app.chat.search import SearchResults
from app.chat.troubles import report_of
from app.diagnostics import Diagnostics, log_folder
from app.settings.settings import Settings
from app.settings.settings_file import config_folder as usual_config_folder
from app.storage.database import Database, open_database, open_in_memory
from app.storage.kept_values import KeptChoice
from app.storage.pictures import keep_picture
from app.storage.readings import forget_other_readings, reading_folder
from app.words import tr
from engine.errors import StorageError
from engine.freed_memory import give_back_memory
from engine.hub.endpoints import is_remote
from engine.hub.model_folders import data_folder as usual_data_folder
from engine.hub.model_head import unseen
from engine.hub.model_move import finish_switch
from engine.hub.titles import title_of_model
from engine.messages import DEFAULT_MODEL, ErrorReport, KeptChat, ModelAdvice

_INTERVAL_MS = 500
_FULL_EVERY = 120  # rounds; a full collection takes tens of milliseconds
SEARCH_LIMIT = 50
_FILES_END_S = 10.0


class GarbageInWindowThread(QObject):
    """Collects garbage from a timer, and never from the threads of the engine and the disk.

    Python collects in whichever thread happens to allocate. Garbage can hold widgets and timers, and Qt crashes
    when those are destroyed outside their own thread: a timer stays registered with the event loop, which then
    calls an object that is gone.
    """

    _users = 0  # workspaces that are open; the collector is as before when the last one closes

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rounds = 0
        self._timer = QTimer(self, interval=_INTERVAL_MS)
        self._timer.timeout.connect(self._collect)
        self._timer.start()
        GarbageInWindowThread._users += 1
        gc.disable()

    def close(self) -> None:
        """Leave the collector to itself again, once nothing runs in other threads any more."""
        self._timer.stop()
        GarbageInWindowThread._users -= 1
        if GarbageInWindowThread._users == 0:
            gc.enable()

    @Slot()
    def _collect(self) -> None:
        self._rounds += 1
        if self._rounds % _FULL_EVERY == 0:
            gc.collect()
            give_back_memory()  # replies of all lengths leave gaps; it takes milliseconds
        elif gc.get_count()[0] > gc.get_threshold()[0]:
            gc.collect(1)  # all that is young: a millisecond or so


class Workspace(QObject):
    """Conversations, the running reply, the engine and the settings: makes the parts, and does what concerns several.

    The parts are its attributes, and the class of each says what it does. Nothing here waits for the engine, nor for
    the disk, except `close`, `search` and the first look into a conversation.

    Args:
        data_folder: Folder of the conversations; None for the usual one.
        config_folder: Folder of the settings; None for the usual one.
        client: Another engine than the usual child process.
    """

    notice = Signal(str)  # one sentence for the whole app
    settings_unsaved = Signal(str)  # a sentence, less urgent than that chats are not saved
    trouble = Signal(object)  # ErrorReport, beside any reply
    trouble_over = Signal(str)  # the sentence of one that is mended by itself

    def __init__(
        self,
        data_folder: Path | None = None,
        config_folder: Path | None = None,
        client: EngineClient | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._garbage = GarbageInWindowThread(self)
        self._notices: list[str] = []
        self._troubles: list[ErrorReport] = []
        self._writer = Worker("tenon-writer", self, _not_saved)
        self._files = Worker("tenon-files", self)  # at places that the user chooses, and that may hang
        self.saved_settings = SavedSettings(config_folder or usual_config_folder(), self._writer, self)
        self.saved_settings.problem.connect(self.settings_unsaved)
        self.settings = self.saved_settings.settings
        self._notices += self.saved_settings.problems
        finish_switch()  # before a model is looked for
        self._find_a_model()
        network = Network(self.settings)
        self._data_folder = data_folder or usual_data_folder()
        self._keep_conversations()
        self._client = client or EngineClient(parent=self, log_folder=log_folder())
        self.model = ModelInEngine(self.settings, self._client, self)
        self._worked = DEFAULT_MODEL  # the chosen model that was loaded last
        self.model.loaded.connect(self._remember_that_it_works)
        self.model.unusable.connect(self._give_up_model)
        self._answer_prompts()
        self._know_the_machine()
        self.inspection = Inspection(
            self.replies, self.model, self.plans, self._journal.save_trace, self._read_trace, self
        )
        self.gpu_addon = GpuAddon(self)
        self.typesetter = Typesetter(self)
        self.lexer_maker = LexerMaker(self)
        self.pictures = Pictures(self)
        saved = self._database.presence is not None
        keep = partial(keep_picture, self._data_folder) if saved else lambda attachment: attachment
        self.attachment_reader = AttachmentReader(keep, self)
        self.settings_desk = SettingsDesk(self.settings, self.model, self._files, network, self._data_folder, self)
        self.settings_desk.network_changed.connect(self.model_store.downloads.reconnect)
        if self.shown_chat.brought_down is not None:
            self._say_not_opened(self.shown_chat.brought_down)
        self._closed = False

    def _keep_conversations(self) -> None:
        """Open the database, and make what reads and writes it."""
        self._database = self._opened(self._data_folder)
        self.library = Library(self._database.conversations, self._read_messages)
        for conversation, deleted_at in self._database.trash:
            self.library.add_stored(conversation)
            self.library.hide(conversation.id, deleted_at)
        self.library.add_deleted(self._database.deleted)
        self._journal = Journal(self._database.writer, self.library, self._writer, self)
        self._journal.trouble.connect(self.trouble)
        self._journal.trouble_over.connect(self.trouble_over)
        self.unsent = UnsentMessages(self._journal, self._database.reader.unsent, self)
        self.unsent.problem.connect(self.notice)
        self.shown_chat = ShownChat(self._data_folder, self)

    def _answer_prompts(self) -> None:
        """Make what changes conversations and has the engine reply."""
        library, settings, journal, model = self.library, self.settings, self._journal, self.model
        self.tools = ToolDesk(self)
        self.tools.said.connect(self.notice)
        self.tools.waits.connect(self._say_that_it_asks)
        client, blind = self._client, self.blind
        self.replies = Replies(library, journal, settings, client, model, self.tools, self._kept, blind, self)
        self.shelf = Shelf(library, journal, self.replies, self._database.presets, self)
        self.open_chat = OpenChat(settings, library, self.shelf, model, self.shown_chat, self.replies, self)
        self.open_chat.shown.connect(self.tools.show)
        self.turns = Turns(
            library,
            journal,
            self.replies,
            self.shelf,
            self.open_chat,
            self.unsent,
            settings,
            self._database.first_free_id,
            self.blind,
            self,
        )
        self.titles = Titles(library, self.shelf, settings, self._client, self.replies, model, self)
        kept = self._database.presence is not None
        self.archive = Archive(
            self._database.writer,
            self._writer,
            self._files,
            kept,
            settings,
            lambda: self.replies.busy,
            self._journal.unsaved,
            self,
        )
        self.archive.imported.connect(self.shelf.take_in)
        journal.cleaned.connect(self.archive.forget_pictures)
        self.archive.problem.connect(self.notice)

    def _know_the_machine(self) -> None:
        """Make what knows models, drafts and speeds, and what measures them."""
        settings, client, replies, model = self.settings, self._client, self.replies, self.model
        self.plans = Plans(settings, client, self)
        self.machine = Machine(settings, client, replies, model, self.plans, self)
        choice = KeptChoice(self._data_folder, self._writer.run)
        self.model_store = ModelStore(settings, client, model, choice, self)
        self.drafts = Drafts(settings, client, self.plans, self.model_store.installed, self)
        self.drafts.chosen.connect(self.settings_applied)
        self.drafts.refused.connect(self.notice)
        self.machine.measured_speeds.connect(self.model_store.predict_again)
        self.model_store.pairs_changed.connect(self.plans.renew)
        self.model_store.folders.said.connect(self.notice)
        self.model_store.model_wanted.connect(self.choose_model)
        self.model_store.settings_changed.connect(self.settings_applied)
        self._keep_up()
        self.comparison = Comparison(self.library, settings, replies, model, self.machine, self)
        self.comparison.asked.connect(self.titles.give_way)
        self.comparison.asked.connect(self.idle_measuring.give_way)

    def _keep_up(self) -> None:
        """Make what goes on beside the chats: rest, measuring, the engine's watchdog, and battery."""
        settings, client, replies, model = self.settings, self._client, self.replies, self.model
        self.diagnostics = Diagnostics(log_folder(), self._data_folder, lambda: model.state)
        self.power = PowerWatch(self)
        replies.message_changed.connect(self.power.reply_changed)
        self.idle_unload = IdleUnload(settings, client, model, replies, self)
        self.idle_measuring = IdleMeasuring(client, model, replies, self.machine, self)
        self.engine_watch = EngineWatch(client, model, self)
        self.program_server, self.phone_server = (
            ProgramServer(settings, model, self),
            PhoneServer(settings, model, self),
        )
        for server in (self.program_server, self.phone_server):
            server.asked.connect(self.idle_measuring.give_way)

    @Slot()
    def start(self) -> None:
        """Start the engine and tell what opening the files brought up. Called once the window is shown."""
        for sentence in self._notices:
            self.notice.emit(sentence)
        for report in self._troubles:
            self.trouble.emit(report)
        self._notices.clear()
        self._troubles.clear()
        self.archive.backup_timer.start()
        self.model.load_in_background()
        self.model_store.start()

    def search(self, typed: str) -> SearchResults:
        """Messages of all conversations with all the words typed, the best first; milliseconds, from the disk."""
        try:
            return self._database.reader.search(typed, SEARCH_LIMIT)
        except StorageError as error:
            return SearchResults(sentence=error.message)

    def erase_everything(self, with_settings: bool = False) -> None:
        """Erase every conversation, preset and backup, and what settings say of them; no undo. See `Archive.erased`.

        Installed models stay, and all other settings too unless ``with_settings`` puts them back to their defaults.
        """
        self.shelf.clear()
        self.unsent.clear()
        self.archive.erase_everything()
        self.saved_settings.erase_aside()
        self.tools.erase_acts()
        # Words that the user wrote, and names of what is gone.
        personal = ("system_prompt", "folded_groups", "new_chat_preset", "last_chat")
        for name, setting in Settings.declared().items():
            if with_settings or name in personal:
                self.settings.assign(name, setting.default)
        for model in self.settings.by_model:
            self.settings.forget_for_model(model, "system_prompt")
        self.open_chat.show(None)
        self.settings_applied()

    # --- the chosen model ---------------------------------------------------------------------------------

    def local_models(self) -> list[Choice]:
        """Return the models that run on this computer."""
        return [model for model in self.models() if not is_remote(model.key)]

    def models(self) -> list[Choice]:
        """Return the bundled model, the installed ones and the folders used lately."""
        return model_choices(self.settings.recent_models, self.model_store.installed.entries)

    def blind(self, model: str) -> str:
        """Return a sentence that a model does not see pictures, and which ones do; empty if it may see."""
        entries = self.model_store.installed.entries
        chosen = next((one for one in entries if one.ref == model), None)
        if chosen is None or chosen.sees is not False:
            return ""
        return unseen(model, [one.title for one in entries if one.sees])

    @Slot(str)
    def choose_model(self, ref: str) -> None:
        """Use a model from the next message on, in new chats too, and load it in the background."""
        if ref != DEFAULT_MODEL:
            self.settings.remember_model(ref)
        self.settings.model = ref
        self.open_chat.take_model(ref)
        self.settings_applied()

    @Slot()
    def _remember_that_it_works(self) -> None:
        if self.model.options is not None and self.model.options.model == self.settings.model:
            self._worked = self.settings.model

    @Slot(str, object)
    def _give_up_model(self, ref: str, report: ErrorReport) -> None:
        """Let the model that worked last answer again; else each start would try the unusable one."""
        self.settings.forget_model(ref)
        others = self.settings.recent_models
        back = model_to_begin_with(DEFAULT_MODEL if self._worked == ref else self._worked, others)
        if back != ref:
            self.choose_model(back)
            self.trouble.emit(report)

    @Slot()
    def settings_applied(self) -> None:
        """Load again what the settings now ask for otherwise than it is in memory, after the running reply."""
        self.model.bring_in(lambda: self.replies.busy)
        if not self.settings.guess_from_replies:
            self.replies.forget_all()
        if not self.settings.readings_bytes and self._database.presence is not None:
            self._writer.run(lambda: forget_other_readings(self._data_folder, ()))

    def draft(self) -> tuple[str, ...]:
        """Return the drafts of the chat that is shown: its own, or those of the settings."""
        own = self.open_chat.options().drafts
        return self.settings.drafts_of(self.settings.model) if own is None else own

    def memory(self) -> str:
        """Return the place in memory of the chat that is shown: its own, or that of the settings."""
        return self.open_chat.options().memory or self.settings.of_model(self.settings.model).memory

    def choose_memory(self, memory: str) -> None:
        """Use a place in memory from the next message on; in the chat alone, where that has one of its own."""
        options = self.open_chat.options()
        if options.memory is not None:
            self.open_chat.set_options(replace(options, memory=memory))
        else:
            self.settings.choose_for(self.settings.model, "memory", memory)
            self.settings_applied()

    def memories(self, chosen: str) -> list[Choice]:
        """Return the places in memory, each with the reason where it cannot be chosen."""
        budget = self.settings.of_model(self.settings.model).vram_budget_bytes
        return memory_choices(chosen, self.model.state.gpu, budget, self.plans.chosen)

    def choose_draft(self, ref: str) -> None:
        """Use a draft from the next message on; in the chat alone, where that has drafts of its own."""
        options = self.open_chat.options()
        if options.drafts is not None:
            self.open_chat.set_options(replace(options, drafts=toggled(options.drafts, ref)))
        else:
            self.drafts.choose(ref)

    def advice(self) -> ModelAdvice | None:
        """Advice of the chat's model for its replies; None before a load or a plan tells."""
        report, options, ref = self.model.report, self.model.options, self.settings.model
        if report is not None and options is not None and options.model == ref:
            return report.advice
        return self.plans.advice_of(ref)

    @property
    def unsaved(self) -> str:
        """Reason why something of the chats is in memory alone; empty where all is on the disk."""
        if self._database.presence is None:
            return tr("Nothing of this session is saved.") if self.turns.began or self.unsent.typed else ""
        return self._journal.problem

    def close(self) -> None:
        """Save everything, end the engine and join every thread. May be called twice."""
        if self._closed:
            return
        self._closed = True
        self.replies.close()
        self.tools.close()
        self.program_server.close()
        self.phone_server.close()
        self.model_store.close()
        self.typesetter.close()
        self.attachment_reader.close()
        self.pictures.close()
        self.saved_settings.close()
        self._client.close()  # the writer works meanwhile
        self.gpu_addon.close()
        self.archive.close()
        self.shown_chat.end()
        self.power.close()
        for part in (self.idle_unload, self.idle_measuring, self.engine_watch):
            part.timer.stop()
        self.unsent.write()
        self._journal.close()
        self._files.finish(_FILES_END_S)
        self._database.reader.close()
        if self._database.presence is not None:
            self._database.presence.leave()
        self._garbage.close()

    def doubt_last_chat(self) -> None:
        """Tenon crashed while the chat that was open last was shown: it is not opened by itself."""
        if self.shown_chat.brought_down is None and self.settings.last_chat:
            self.shown_chat.brought_down = self.settings.last_chat
            self._say_not_opened(self.settings.last_chat)

    def _find_a_model(self) -> None:
        """Let another model answer where the built-in one is missing; the page of models helps where there is none."""
        chosen = self.settings.model
        found = model_to_begin_with(chosen, self.settings.recent_models)
        if found == chosen:
            return
        self.settings.model = found
        self._notices.append(
            tr(
                "The built-in model {model} is not here: {other} answers. The page Models has more.",
                model=title_of_model(chosen),
                other=title_of_model(found),
            )
        )

    def _say_not_opened(self, conversation_id: int) -> None:
        chat = self.library.conversation(conversation_id)
        if chat is not None:
            self._notices.append(
                tr(
                    "“{title}” was not opened by itself, because Tenon ended while it was shown: open it from the "
                    "list, or delete it.",
                    title=chat.title,
                )
            )

    @Slot(int)
    def _say_that_it_asks(self, conversation_id: int) -> None:
        chat = self.library.conversation(conversation_id)
        if chat is not None:
            self.notice.emit(tr("“{title}” wants to call a tool, and waits until it is open.", title=chat.title))

    def _read_messages(self, conversation_id: int) -> list[Message] | None:
        try:
            return self._database.reader.messages(conversation_id)
        except StorageError as error:
            self.notice.emit(error.message)
            return None

    def _kept(self, conversation_id: int, model: str) -> KeptChat | None:
        """Return the place of what a model reads of a chat; None if nothing of it is kept on the disk."""
        most = self.settings.readings_bytes
        if not most or is_remote(model) or self._database.presence is None:
            return None
        try:
            return KeptChat(str(reading_folder(self._data_folder, conversation_id)), most)
        except OSError:
            return None

    def _read_trace(self, message_id: int) -> bytes:
        with suppress(StorageError):
            return self._database.reader.trace(message_id)
        return b""

    def _opened(self, folder: Path) -> Database:
        try:
            database = open_database(folder)
        except StorageError as error:
            sentence = tr("{problem} Nothing of this session is saved.", problem=error.message)
            self._troubles.append(replace(report_of(error), message=sentence))
            return open_in_memory(folder)
        self._notices += database.notices
        return database


def _not_saved(details: str) -> StorageError:
    return StorageError(tr("Something could not be saved: restart Tenon, please."), details)
