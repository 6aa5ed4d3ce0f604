"""Engine: one owner thread runs torch; commands go in through a queue, events come out through a callback."""

from __future__ import annotations

import gc
import logging
import queue
import secrets
import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import inf
from os import getpid
from typing import TYPE_CHECKING, TypeAlias

from engine import messages, small_torch
from engine.advice import read_advice
from engine.drafting.lookup import EarlierTexts
from engine.engine_process import EngineProcess, run_engine
from engine.errors import Cancelled, OutOfDeviceMemory, OutOfMemory, PromptTooLong, TenonError, WeightsUnreadable
from engine.files import file_trouble
from engine.freed_memory import give_back_memory
from engine.hub.endpoints import is_remote
from engine.kernels import layer, sampling
from engine.loaded_model import LoadedModel, load_model, version
from engine.model_file import open_model
from engine.placement.device import is_full
from engine.planning.hardware import (
    expect_documents,
    find_gpu,
    give_back_device_memory,
    held_bytes,
    measure_report,
    memory_shortage,
    read_report,
)
from engine.planning.pairs import draft_problems, pairs
from engine.planning.planner import predictions
from engine.reply import ReplyRun
from engine.request import check_request
from engine.run import Run, check, check_sight, forecast, settle
from engine.scheduler import Scheduler, Steps
from engine.sentences import say
from engine.small_torch import TorchNeeded

if TYPE_CHECKING:
    from engine.remote.remote_model import RemoteModel

_log = logging.getLogger(__name__)

_PROGRESS_EVERY_S = 0.05
_SIGN_OF_LIFE_S = 2.0
_LOOK_S = 0.1  # between two looks whether a request is to stop
# Rest after which chats are written to the disk, and the time for that before a model leaves the memory
_IDLE_S, _LAST_S = 2.0, 0.2
# Pools of earlier replies that are kept
_MOST_EARLIER = 8
# Questions about files and plans, which need no turn: they are answered while a model is loaded or replies.
_ABOUT_FILES = messages.CheckDrafts | messages.FindPairs | messages.MakePlan
# Commands that need a model in memory, or a server's
_OfModel: TypeAlias = messages.Load | messages.Generate | messages.CountTokens


class Engine:
    """Runs requests in the order they came, and replies of one model side by side, in forwards that they share.

    The same object runs inside the window's process, inside a child process, or for the command line.
    """

    def __init__(self, on_event: Callable[[messages.Event], None]) -> None:
        """Start the owner thread.

        Args:
            on_event: Called with each event, one at a time: from the owner thread, or those that draft or read files
                beside it.
        """
        one_at_a_time = threading.Lock()

        def say_event(event: messages.Event) -> None:
            with one_at_a_time:
                on_event(event)

        self._on_event = say_event
        self._commands: queue.SimpleQueue[messages.Command] = queue.SimpleQueue()
        self._cancelled: set[str] = set()
        self._closing = threading.Event()
        self._scheduler = Scheduler(self._check_stop, self._go_on)
        self._looking = ThreadPoolExecutor(1, "tenon-files")
        self._hands_back = False  # True once a command needed torch, which this process does not have
        self._steps = 0  # layers, pieces of a load and other steps of work
        self._waiting: list[messages.Command] = []
        self._pings: list[messages.Ping] = []
        self._refused_beside = 0  # open replies when the first that waits could not join them
        self._model: LoadedModel | RemoteModel | None = None
        self._earlier: dict[tuple[str, str], EarlierTexts] = {}  # by the model's digest and the pool's name
        self._bare_bytes = 0  # bytes that the process held before it loaded the model; 0 without a model
        self._thread = threading.Thread(target=self._run, name="tenon-engine")
        self._thread.start()
        threading.Thread(target=self._give_signs_of_life, name="tenon-engine-life", daemon=True).start()

    def submit(self, command: messages.Command) -> None:
        """Hand in a command and return at once. A `Cancel` overtakes everything that waits."""
        if isinstance(command, messages.Cancel):
            self._cancelled.add(command.request_id)
            if not self._hands_back:
                return
        if isinstance(command, messages.Shutdown):
            self._closing.set()
        if isinstance(command, _ABOUT_FILES) and not self._closing.is_set():
            self._looking.submit(self._look, command)
        else:
            self._commands.put(command)

    def close(self) -> None:
        """Cancel the running requests, end the owner thread and wait for it."""
        self.submit(messages.Shutdown())
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _look(self, command: _ABOUT_FILES) -> None:
        self._scheduler.running = command.request_id
        for _ in self._serve(command):
            pass

    def _run(self) -> None:
        # The GPU itself is not asked: that would take memory on it before anything runs there.
        self._on_event(messages.EngineReady(getpid(), version(), str(find_gpu() or "")))
        while True:
            command = self._due()
            if command is None:
                self._step()
            elif isinstance(command, messages.Shutdown):
                if self._model is not None:
                    self._write_chats(_LAST_S)
                    self._model.release()
                self._model = None
                self._looking.shutdown()
                return
            elif self._hands_back:
                self._hand_back(command)
            elif isinstance(command, messages.Unload):
                self._unload()
            elif isinstance(command, messages.Request):
                self._scheduler.add(command.request_id, self._serve(command))
                self._step()

    def _due(self) -> messages.Command | None:
        """Return the command whose turn it is, or None while open replies go on before it.

        A command that cannot be served beside the open replies waits until one of these ends, and others wait after
        it, except a count of tokens and a look at the memory, which take no room.
        """
        open_ = len(self._scheduler)
        while not self._commands.empty() or not (self._waiting or open_):
            if self._commands.empty():
                self._answer_pings()
            self._line_up(self._next())
        if self._waiting and self._hands_back:
            return self._waiting.pop(0)
        # If a reply has ended since, there may be room now.
        if open_ and (not self._waiting or self._refused_beside == open_ or not self._joins(self._waiting[0])):
            self._refused_beside = open_
            return None
        self._refused_beside = 0
        return self._waiting.pop(0)

    def _next(self) -> messages.Command:
        """Wait for a command; when none comes for a while, write what chats have been read to the disk."""
        while isinstance(self._model, LoadedModel) and self._model.sequences.unwritten:
            with suppress(queue.Empty):
                return self._commands.get(timeout=_IDLE_S)
            self._write_chats(inf)
        return self._commands.get()

    def _write_chats(self, seconds: float) -> None:
        """Write what was read of chats to the disk, until the time is over or a command comes."""
        ends = time.monotonic() + seconds

        def check() -> None:
            if time.monotonic() > ends or not self._commands.empty():
                raise Cancelled("")

        if isinstance(self._model, LoadedModel):
            with suppress(Cancelled):
                self._model.sequences.write(check)

    def _line_up(self, command: messages.Command) -> None:
        """Put a command after those that came before it, but before requests that let others go first."""
        if isinstance(command, messages.Ping):
            self._pings.append(command)
            return
        if isinstance(command, messages.ForgetReplies) and not self._hands_back:
            for (_, pool), texts in self._earlier.items():
                if pool == command.earlier.pool:
                    texts.forget(command.earlier.chat)
            if command.erased and isinstance(self._model, LoadedModel):
                self._model.forget(command.kept, everything=not command.earlier.chat)
            return
        behind = len(self._waiting)
        if (
            isinstance(command, messages.CountTokens | messages.CheckLoaded)
            and len(self._scheduler)
            and self._joins(command)
        ):
            behind = 0  # it takes no room
        elif not _lets_others_first(command):
            behind = next((at for at, one in enumerate(self._waiting) if _lets_others_first(one)), behind)
        if behind == 0:
            self._refused_beside = 0
        self._waiting.insert(behind, command)

    def _earlier_texts(self, model: LoadedModel, place: messages.EarlierReplies | None) -> EarlierTexts | None:
        """Return the earlier replies of a model that a reply may guess from; None for none."""
        if place is None or not model.digest:
            return None
        found = self._earlier[model.digest, place.pool] = self._earlier.pop((model.digest, place.pool), EarlierTexts())
        while len(self._earlier) > _MOST_EARLIER:
            del self._earlier[next(iter(self._earlier))]  # of the model that was used longest ago
        return found

    def _answer_pings(self) -> None:
        """Answer the pings, because all commands are done."""
        if self._hands_back and self._pings:
            self._looking.submit(int).result()  # the answers of looks that began before
            self._unload()  # before another process loads a model
        for ping in self._pings:
            self._on_event(messages.HandedBack(ping) if self._hands_back else messages.Pong(ping.number))
        self._pings.clear()

    def _joins(self, command: messages.Command) -> bool:
        """Return whether a command may run beside the open replies: of the same model, with room for its cache."""
        if isinstance(command, messages.CheckLoaded) and command.kept is None:
            return True
        if not isinstance(command, messages.Generate | messages.CountTokens | messages.CheckLoaded) or (
            self._model is None
        ):
            return False
        if isinstance(command, messages.CountTokens):
            command = command.request
        elif not self._model.has_room(len(self._scheduler)):
            return False
        return self._in_memory(command.options)

    def _step(self) -> None:
        """Take turns until another command comes, or one that waits may have room."""
        while len(self._scheduler):
            self._scheduler.turn()
            refused = self._refused_beside == len(self._scheduler)
            if not self._commands.empty() or (self._waiting and not refused):
                return

    def _serve(self, command: messages.Request) -> Steps:
        """Run a request to its end, whatever happens: a reply in steps, anything else in one."""
        try:
            self._check()
            if isinstance(command, messages.CheckDrafts):
                for draft, problem, mode in draft_problems(command.options, command.drafts):
                    self._on_event(messages.DraftChecked(command.request_id, draft, problem, mode))
                    self._check()
            elif isinstance(command, messages.CheckLoaded):
                loaded = self._in_memory(command.options)
                if loaded and isinstance(self._model, LoadedModel):
                    yield from self._model.bring_in(command.kept)
                self._on_event(messages.LoadedChecked(command.request_id, loaded))
            elif isinstance(command, messages.ReportMachine):
                self._report_machine(command)
            elif isinstance(command, messages.MakePlan):
                bare = self._bare_bytes  # set as soon as a load begins
                held = held_bytes() - bare if bare else 0
                opened = open_model(command.options.model, adapter=command.options.adapter)
                plan = forecast(command.options, held)
                self._on_event(messages.PlanMade(command.request_id, plan, read_advice(opened)))
            elif isinstance(command, messages.PredictModels):
                for prediction in predictions(command, self._check):
                    self._on_event(prediction)
            elif isinstance(command, messages.FindPairs):
                self._on_event(messages.PairsFound(command.request_id, pairs(self._check)))
            elif is_remote(command.options.model):
                yield from self._serve_remote(command)
            elif isinstance(command, messages.Load):
                model, *_ = self._load(command)
                self._on_event(messages.ModelLoaded(command.request_id, model.report))
            elif isinstance(command, messages.CountTokens):
                check_request(command.request)
                check_sight(command.request)
                model, *_ = self._load(command)
                layouts = model.layouts(command.request)
                ready = yield from model.preparation.steps(command.request, sys.maxsize, counts=True, layouts=layouts)
                self._on_event(messages.TokensCounted(command.request_id, len(ready.prompt)))
            else:
                check_request(command)
                check_sight(command)
                if command.sampling.seed is None:  # settled here, since the reply may go on in another process
                    sampling = replace(command.sampling, seed=secrets.randbits(32))
                    command = replace(command, sampling=sampling)
                documents = any(message.attachments or message.pictures for message in command.messages)
                model, run, load_ms = self._load(command, documents)
                if len(self._scheduler) > 1 and (why := model.without_pipeline()):
                    self._on_event(messages.Notice(command.request_id, why))
                if load_ms is not None:
                    self._on_event(messages.ModelLoaded(command.request_id, model.report))
                earlier = self._earlier_texts(model, command.earlier)
                reply = ReplyRun(model, command, run, load_ms, earlier, self._on_event, self._check)
                yield from reply.run(alone=len(self._scheduler) == 1)
        except TenonError as error:
            self._fail(command, error)
            alone = len(self._scheduler) == 1 and not isinstance(command, _ABOUT_FILES)
            if alone and isinstance(error, WeightsUnreadable):
                self._unload()  # the next request begins with a load, which finds or makes a complete file
        except MemoryError as error:
            message = say("The machine ran out of memory: close other programs, or choose a smaller model or context.")
            self._fail(command, OutOfMemory(message, _traceback(error)))
        except OSError as error:
            trouble = file_trouble(error)
            self._fail(command, type(trouble)(trouble.message, _traceback(error)))
        except (Exception, TorchNeeded) as error:
            if small_torch.installed():  # whatever it is, an engine with torch has another chance
                _log.info("An engine with torch goes on: %s", _traceback(error))
                self._hands_back = True
                self._hand_back(command)
                return
            if is_full(error):
                message = say(
                    "The GPU ran out of memory: give it less of the model with a smaller GPU memory "
                    "budget, or close other programs that use it."
                )
                self._fail(command, OutOfDeviceMemory(message, _traceback(error)))
                return
            # A bug must end the reply and not the engine; the traceback goes to the details, without chat text.
            message = say("Tenon made a mistake and stopped this reply: try again, and report it if it comes back.")
            report = messages.ErrorReport("InternalError", message, _traceback(error))
            self._on_event(messages.Failed(command.request_id, report))
        finally:
            self._cancelled.discard(command.request_id)

    def _hand_back(self, command: messages.Command) -> None:
        """Give up a command for an engine with torch."""
        self._on_event(messages.HandedBack(command))
        if isinstance(command, messages.Request) and command.request_id in self._cancelled:
            self._on_event(messages.HandedBack(messages.Cancel(command.request_id)))

    def _serve_remote(self, command: _OfModel) -> Steps:
        """Run a request for a model of a server."""
        # Not above: with HTTP they take a tenth of the start of a model that is here.
        from engine.remote.remote_model import RemoteModel
        from engine.remote.remote_reply import RemoteReply

        load_ms = None
        if not isinstance(command, messages.Load):
            check_request(command if isinstance(command, messages.Generate) else command.request)
        if not isinstance(self._model, RemoteModel) or not self._model.serves(command.options):
            self._unload()
            self._model = RemoteModel(command.options, self._check)
            load_ms = self._model.report.load_ms
            for note in self._model.notes:
                self._on_event(messages.Notice(command.request_id, note))
        model = self._model
        if isinstance(command, messages.CountTokens):
            tokens = yield from model.count(command.request)
            self._on_event(messages.TokensCounted(command.request_id, tokens))
            return
        if load_ms is not None or isinstance(command, messages.Load):
            self._on_event(messages.ModelLoaded(command.request_id, model.report))
        if isinstance(command, messages.Generate):
            yield from RemoteReply(model, command, load_ms, self._on_event, self._check).run()

    def _check(self) -> None:
        """Note that the running request goes on, or raise `Cancelled` if it is to stop."""
        self._go_on()
        self._check_stop()

    def _go_on(self) -> None:
        self._steps += 1

    def _give_signs_of_life(self) -> None:
        """Report life while work goes on that reports nothing by itself: a pass of a large model may take minutes."""
        before = (0, 0)
        while not self._closing.wait(_SIGN_OF_LIFE_S):
            if before != (before := (self._steps, self._disk_read_bytes())):
                self._on_event(messages.Working())

    def _disk_read_bytes(self) -> int:
        """Return the bytes read for forwards; no name here outlives the call, else an unloaded model would stay."""
        model = self._model
        return model.placement.disk_read_bytes if isinstance(model, LoadedModel) else 0

    def _check_stop(self) -> None:
        """Raise `Cancelled` if the running request is to stop."""
        if self._closing.is_set() or self._scheduler.running in self._cancelled:
            raise Cancelled(say("The request was stopped."))

    def _report_machine(self, command: messages.ReportMachine) -> None:
        if not command.measure:
            report = read_report()
        else:

            def progress(what: str, share: float) -> None:
                self._on_event(messages.MeasuringProgress(command.request_id, what, share))

            if small_torch.installed():
                report = self._measured_with_torch(command)
            else:
                report = measure_report(progress, self._check, again=True)
            if isinstance(self._model, LoadedModel):
                self._model.run.planner.renew()
                self._model.settle_anew()
        self._on_event(messages.MachineReported(command.request_id, report))

    def _measured_with_torch(self, command: messages.ReportMachine) -> messages.MachineReport:
        """Measure this machine in a process of its own, whose memory goes with it."""
        events: queue.SimpleQueue[messages.Event | int | None] = queue.SimpleQueue()
        process = EngineProcess(partial(run_engine, torch=True), events.put, events.put)
        try:
            process.send(command)
            while True:
                self._check()
                with suppress(queue.Empty):
                    event = events.get(timeout=_LOOK_S)
                    if isinstance(event, messages.MachineReported):
                        return event.report
                    if isinstance(event, messages.MeasuringProgress):
                        self._on_event(event)
                    elif not isinstance(event, messages.EngineReady | messages.Working):
                        raise TorchNeeded("measuring")  # it failed, and shall say so where it is seen
        finally:
            process.close()

    def _in_memory(self, options: messages.LoadOptions) -> bool:
        """Return whether nothing has to be loaded for these options."""
        try:
            return self._model is not None and bool(self._model.serves(options))
        except TenonError:
            return False

    def _load(self, command: _OfModel, documents: bool = False) -> tuple[LoadedModel, Run, float | None]:
        """Return the model for a command, its run, and the time of loading the model if that was needed.

        Documents count in the model's memory from their first request on, until another model is loaded.
        """
        options, request_id = command.options, command.request_id
        check(options)
        if isinstance(self._model, LoadedModel) and (run := self._model.serves(options)) is not None:
            self._need(run, command)
            if documents:
                expect_documents(True)
            if len(self._scheduler) == 1 and self._model.leave_drafts(run):
                _give_back()
                self._on_event(messages.ModelLoaded(request_id, self._model.report))
            return self._model, run, None
        expect_documents(documents)
        self._on_event(messages.LoadProgress(request_id, 0, 0))
        # Two models may not fit at once, so the old one goes before the new one comes.
        self._unload()
        run = settle(options)
        self._need(run, command)
        self._bare_bytes = held_bytes()
        last = 0.0

        def progress(done: int, total: int) -> None:
            nonlocal last
            now = time.perf_counter()
            if done == total or now - last >= _PROGRESS_EVERY_S:
                last = now
                self._on_event(messages.LoadProgress(request_id, done, total))

        model = self._model = load_model(run, progress, self._check)
        model.tell = lambda sentence: self._on_event(messages.Notice(self._scheduler.running, sentence))
        for note in model.notes:
            self._on_event(messages.Notice(request_id, note))
        return model, run, model.report.load_ms

    @staticmethod
    def _need(run: Run, command: messages.Request) -> None:
        """Raise `TorchNeeded` if this process cannot carry out a command."""
        if small_torch.installed() and run.needs_torch(command):
            raise TorchNeeded(run.options.model)

    def _unload(self) -> None:
        if self._model is not None:
            self._write_chats(_LAST_S)
            self._model.release()
            self._model, self._bare_bytes = None, 0
            self._scheduler.end_drafting()
            layer.forget_scratch()
            sampling.forget_scratch()
            _give_back()
            self._on_event(messages.ModelUnloaded())

    def _fail(self, command: messages.Request, error: TenonError) -> None:
        """Report an error, with a context that would do where one is known and the model has it.

        If the host's memory was short, the report also says who holds it.
        """
        report = messages.ErrorReport(
            type(error).__name__,
            error.message,
            error.details,
            error.exit_code,
            allowed=error.allowed,
            about=error.about,
        )
        if isinstance(error, OutOfMemory):
            asked = (
                None if isinstance(command, (messages.ReportMachine, messages.FindPairs)) else command.options.context
            )
            context = asked or (0 if self._model is None else self._model.report.context)
            # The memory of other programs does not matter if the budget is too small.
            memory = memory_shortage(error.short_bytes) if error.allowed is None else None
            report = replace(report, context=context, memory=memory)
        elif isinstance(error, PromptTooLong) and error.allowed is not None:
            tokens = self._context_for(error.allowed.value)
            report = replace(report, allowed=replace(error.allowed, value=tokens) if tokens else None)
        self._on_event(messages.Failed(command.request_id, report))

    def _context_for(self, needed: int) -> int:
        """Return a context that holds so many tokens, as the model and memory have it; 0 if there is none.

        A model that is in memory is not read from the disk for the sake of a longer context.
        """
        if not isinstance(self._model, LoadedModel):
            return 0
        own, streams = self._model.target.config.context_length, self._model.plan.placement.streams
        for tokens in sorted({min(1 << (needed - 1).bit_length(), own), needed}, reverse=True):
            if needed <= tokens <= own:
                with suppress(TenonError):  # the files may have gone since
                    options = replace(self._model.run.options, context=tokens)
                    taken = forecast(options, held_bytes() - self._bare_bytes).taken
                    if taken is not None and (streams or not taken.disk_bytes_per_round):
                        return tokens
        return 0


def _lets_others_first(command: messages.Command) -> bool:
    """Return whether it is a request of a program, which a user's may overtake."""
    return isinstance(command, messages.Generate) and command.lets_others_first


def _give_back() -> None:
    gc.collect()
    give_back_device_memory()
    give_back_memory()


def _traceback(error: BaseException) -> str:
    """Return the place of a bug. The error's own text is left out: it may quote the chat."""
    frames = traceback.extract_tb(error.__traceback__)
    return "".join([*traceback.format_list(frames), type(error).__name__])
