"""A stand-in for the engine's process: no torch, and told by the prompt how to behave.

The last line of the last message is the script, ``word`` or ``word number``:

    say N       N tokens as fast as they go, then Finished (the default is ``say 3``)
    slow N      N tokens, one in 20 ms
    loop N      N tokens, and the stop of a reply that repeats itself, where that is wanted
    fail        two tokens, then Failed
    deaf        tokens for ever, whatever is asked
    die         two tokens, then kill -9 of itself
    hang        two tokens, then nothing, and no answer to anything
    read        prefill progress for ever, until cancelled
    echo        the roles and contents it was given
    think N     a thought of N words, then an answer of two
    guess       unconfirmed text where it is wanted, then what came of it and the rule of verification
    draft       the draft and the memory budget it was given
    gpu N       N tokens, and a notice in the middle that the GPU failed
    short       out of memory with more than 2,048 tokens of context
    rounds      whether it was asked for the texts of its rounds

The machine has no GPU and is measured in a moment; every mode but LLMCad can run. A model called ``no-plan`` has none.
Every model is predicted to run, and the pairs of drafts and models are `PAIRS`.

A model called ``broken`` is not there, one called ``damaged`` cannot be read, one called ``long`` takes a minute. A
draft called ``misfit`` fits nothing.
"""

from __future__ import annotations

import os
import queue
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path

from engine.errors import CheckpointError, ModelNotFound, WeightsCorrupt
from engine.hub.catalogue import catalogue_model
from engine.hub.titles import title_of_model
from engine.messages import (
    Cancel,
    CheckDrafts,
    CheckLoaded,
    Command,
    ContextTrimmed,
    CountTokens,
    DraftChecked,
    DraftPair,
    EngineReady,
    ErrorReport,
    Event,
    Failed,
    FindPairs,
    Finished,
    Generate,
    Load,
    LoadedChecked,
    LoadOptions,
    LoadProgress,
    MachineReported,
    MakePlan,
    MeasuringProgress,
    Memory,
    MemoryShortage,
    ModelLoaded,
    ModelPredicted,
    ModelReport,
    ModelUnloaded,
    Notice,
    PairsFound,
    Ping,
    Plan,
    PlanMade,
    Pong,
    Prediction,
    PredictModels,
    PrefillProgress,
    Reply,
    ReportMachine,
    Request,
    Shutdown,
    StatisticsUpdated,
    StopReason,
    TextDrafted,
    Timings,
    TokensAdded,
    TokensCounted,
    Unload,
    with_attachments,
)
from engine.messages.pipe import receive, send
from engine.modes import named_drafts
from tests.support.machine_scene import machine, plan

SERVE = "tests.support.fake_engine:serve"
CONTEXT = 4096
_GPU_FAILED = "The GPU stopped working, so the model's layers move to the CPU and the reply goes on there."
PAIRS = (
    DraftPair("big", "small", "draft", ""),
    DraftPair("big", "misfit", "draft", "The draft was made for another vocabulary."),
)


class Stopped(Exception):
    """Raised inside a script when its request is cancelled."""


def serve(connection: Connection) -> None:
    """Answer commands until the pipe ends or Shutdown comes."""
    waiting: queue.SimpleQueue[Command | None] = queue.SimpleQueue()
    cancelled: set[str] = set()
    lock = threading.Lock()

    def listen() -> None:
        try:
            while True:
                command = receive(connection)
                if isinstance(command, Cancel):
                    cancelled.add(command.request_id)
                elif isinstance(command, Shutdown):
                    os._exit(0)
                else:
                    waiting.put(command)
        except (EOFError, OSError):
            os._exit(0)

    def emit(event: Event) -> None:
        with lock:
            send(connection, event)

    threading.Thread(target=listen, daemon=True).start()
    fake = FakeEngine(emit, cancelled.__contains__)
    emit(EngineReady(os.getpid(), "fake"))
    while (command := waiting.get()) is not None:
        fake.answer(command)


def serve_stubbornly(connection: Connection) -> None:
    """Say hello, then do nothing, and do not end either."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    send(connection, EngineReady(os.getpid(), "fake"))
    while True:
        time.sleep(1.0)


def serve_after_a_while(connection: Connection) -> None:
    """Like a computer on which the imports take long."""
    time.sleep(0.6)
    serve(connection)


def needed(options: LoadOptions) -> tuple[object, ...]:
    """What has to be in memory for these options."""
    return options.model, named_drafts(options.drafts), options.ram_budget_bytes


class FakeEngine:
    """Holds the name of a model and plays scripts."""

    def __init__(self, emit: Callable[[Event], None], is_cancelled: Callable[[str], bool]) -> None:
        self.emit = emit
        self.is_cancelled = is_cancelled
        self.model = ""
        self.loaded: tuple[object, ...] | None = None
        self.measured = False

    def answer(self, command: Command) -> None:
        if isinstance(command, Unload):
            self.unload()
        if isinstance(command, Ping):
            self.emit(Pong(command.number))
        if not isinstance(command, Request):
            return
        try:
            self.check(command.request_id)
            if isinstance(command, CheckDrafts):
                self.check_drafts(command)
                return
            if isinstance(command, CheckLoaded):
                self.emit(LoadedChecked(command.request_id, needed(command.options) == self.loaded))
                return
            if isinstance(command, ReportMachine):
                self.report_machine(command)
                return
            if isinstance(command, MakePlan):
                if Path(command.options.model).name == "no-plan":
                    raise ModelNotFound("There is no model in that folder: choose another.")
                self.emit(PlanMade(command.request_id, plan(measured=self.measured)))
                return
            if isinstance(command, PredictModels):
                self.predict(command)
                return
            if isinstance(command, FindPairs):
                self.emit(PairsFound(command.request_id, PAIRS))
                return
            news = self.load(command.request_id, command.options)
            if news or isinstance(command, Load):
                report = ModelReport(title_of_model(self.model), self.model, "Fake", 1, "fp32", CONTEXT, 4, 1.0)
                self.emit(ModelLoaded(command.request_id, report))
            if isinstance(command, Generate):
                self.generate(command)
            elif isinstance(command, CountTokens):
                self.emit(TokensCounted(command.request_id, 10))
        except Stopped:
            self.fail(command.request_id, "Cancelled", "The request was stopped.")
        except CheckpointError as error:
            self.fail(command.request_id, type(error).__name__, error.message)

    def load(self, request_id: str, options: LoadOptions) -> bool:
        """Load a model, unless it is the one in memory; returns whether it was loaded."""
        ref, wanted = options.model, needed(options)
        if wanted == self.loaded:
            return False
        self.unload()
        name = Path(ref).name
        for step in range(600 if name == "long" else 10):
            self.emit(LoadProgress(request_id, step, 600))
            if name == "long":
                self.pause(request_id, 0.1)
        if name == "broken":
            raise ModelNotFound("There is no model in that folder: choose another.")
        if name == "damaged":
            raise WeightsCorrupt("The GGUF file damaged is cut short; download it again.")
        self.model, self.loaded = ref, wanted
        return True

    def report_machine(self, command: ReportMachine) -> None:
        if command.measure:
            for step in range(4):
                self.emit(MeasuringProgress(command.request_id, "memory", step / 4))
                self.pause(command.request_id, 0.03)
            self.measured = True
        self.emit(MachineReported(command.request_id, machine(measured=self.measured)))

    def unload(self) -> None:
        self.loaded = None
        if self.model:
            self.model = ""
            self.emit(ModelUnloaded())

    def predict(self, command: PredictModels) -> None:
        """Every model runs, the larger the slower; one of 70b comes from the disk, a base one only continues texts."""
        for model in command.models:
            size = re.search(r"([\d.]+)b", model.reference.lower())
            known = catalogue_model(model.reference)
            billions = float(size[1]) if size else known.parameters / 1e9 if known else 1.0
            large = billions > 50
            prediction = Prediction(
                "llmcad" if large else "lookup",
                0.3 if large else 40 / billions,
                int(billions * 1e9),
                16_000_000_000,
                from_disk=large,
                basis="rest",
            )
            self.emit(ModelPredicted(command.request_id, model.reference, prediction))

    def check_drafts(self, command: CheckDrafts) -> None:
        for draft in command.drafts:
            misfit = Path(draft).name == "misfit"
            problem = "The draft was made for another vocabulary." if misfit else ""
            self.emit(DraftChecked(command.request_id, draft, problem, "" if misfit else "dovetail"))

    def generate(self, request: Generate) -> None:
        asked = str(request.raw_prompt or request.messages[-1].content)
        word, _, number = (asked.splitlines() or ["say 1"])[-1].partition(" ")
        count = int(number) if number.isdigit() else 3
        said: list[str] = []
        reason: StopReason = "end"
        try:
            for text in self.tokens(request, word, count):
                said.append(text)
                self.emit(TokensAdded(request.request_id, text, (len(said),)))
                if len(said) % 5 == 1:
                    self.emit(self.statistics(request.request_id, len(said)))
                if word != "deaf":
                    self.check(request.request_id)
        except Stopped:
            reason = "cancelled"
        if word == "loop" and request.stop_loops and reason == "end":
            reason = "loop"
        if word == "fail" and reason == "end":
            self.fail(request.request_id, "InternalError", "Tenon made a mistake.")
            return
        if word == "short" and (request.options.context or CONTEXT) > 2048:
            memory = MemoryShortage(16_000_000_000, 8_000_000_000, 6_000_000_000, 500_000_000)
            sentence = "The cache does not fit any more: close other programs, or choose a smaller context."
            report = ErrorReport("OutOfMemory", sentence, "no room", context=CONTEXT, memory=memory)
            self.emit(Failed(request.request_id, report))
            return
        timings = Timings(
            prompt_n=10,
            predicted_n=len(said),
            predicted_ms=20.0 * max(len(said) - 1, 0),
            predicted_per_second=50.0,
            acceptance_rate=0.5,
        )
        plan = Plan("lookup", "for the test")
        ids = tuple(range(len(said)))
        self.emit(
            Finished(
                request.request_id,
                Reply(
                    "".join(said), tuple(range(10)), ids, "lookup", self.model, (), "fp32", {}, reason,
                    plan, timings, Memory(resident_bytes=1000),
                ),
            )
        )  # fmt: skip

    def tokens(self, request: Generate, word: str, count: int) -> Iterator[str]:
        request_id = request.request_id
        if word == "read":
            for step in range(100_000):
                self.emit(PrefillProgress(request_id, step % 100, 100))
                self.pause(request_id, 0.01)
        self.emit(PrefillProgress(request_id, 10, 10))
        if word == "echo":
            for message in request.messages:
                yield f"{message.role}:{with_attachments(message.content, message.attachments)}|"
        elif word == "think":
            yield from (
                "<thi",
                "nk>\n",
                *(f"t{number} " for number in range(count)),
                "</think>",
                "\n\nan ",
                "answer",
            )
        elif word == "guess":
            if request.show_unconfirmed:
                self.emit(TextDrafted(request_id, "w0 w1 and a wrong guess"))
            self.pause(request_id, 0.1)
            yield "w0 "
            yield f"w1 {request.verify}"
        elif word == "draft":
            yield f"draft:{', '.join(request.options.drafts) or None} budget:{request.options.ram_budget_bytes}"
        elif word == "rounds":
            yield f"round_texts:{request.round_texts}"
        elif word == "trim":
            self.emit(ContextTrimmed(request_id, 4))
            self.emit(Notice(request_id, "A notice."))
            yield "trimmed"
        elif word in ("fail", "die", "hang"):
            yield "one "
            yield "two "
            while word == "hang":
                time.sleep(1.0)
            time.sleep(0.1)
            if word == "die":
                os.kill(os.getpid(), signal.SIGKILL)
        elif word == "deaf":
            for number in range(100_000):
                yield f"w{number} "
                time.sleep(0.02)
        else:
            for number in range(count):
                if word == "gpu" and number == count // 2:
                    self.emit(Notice(request_id, _GPU_FAILED))
                yield f"w{number} "
                if word == "slow":
                    self.pause(request_id, 0.02)

    def statistics(self, request_id: str, tokens: int) -> StatisticsUpdated:
        timings = Timings(predicted_n=tokens, predicted_per_second=50.0, time_to_first_token_ms=12.0)
        return StatisticsUpdated(request_id, "lookup", timings, Memory(resident_bytes=1000), 10, CONTEXT)

    def pause(self, request_id: str, seconds: float) -> None:
        time.sleep(seconds)
        self.check(request_id)

    def check(self, request_id: str) -> None:
        if self.is_cancelled(request_id):
            raise Stopped

    def fail(self, request_id: str, kind: str, message: str) -> None:
        self.emit(Failed(request_id, ErrorReport(kind, message)))
