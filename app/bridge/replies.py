"""Replies in the making: from a stored prompt to the engine, and its events back into messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.bridge.engine_client import EngineClient, Question
from app.bridge.journal import Journal
from app.bridge.model_in_engine import OF_CHATS, OF_PROGRAMS, ModelInEngine
from app.bridge.tools import ToolDesk
from app.chat.conversation import ConversationOptions, Message, MessageState, ToolStep
from app.chat.engine_options import reply_options
from app.chat.library import Library
from app.chat.reply import ReplyQueue, Ticket, history_for, newest, reply_after, text_for, with_notice
from app.settings.settings import Settings
from app.words import tr
from engine.errors import EngineStopped, TenonError
from engine.messages import (
    EarlierReplies,
    EngineReady,
    ErrorReport,
    Event,
    Failed,
    Finished,
    ForgetReplies,
    Generate,
    KeptChat,
    PrefillProgress,
    SamplingOptions,
    TextDrafted,
    TokensAdded,
    ToolCall,
    ToolUse,
)
from engine.text.reply_parts import Spoken
from engine.text.tool_calls import DESCRIBED, FORMATS
from engine.tools.calling import MadeCall, OfferedTool, asks_again

# A kill of the window may cost 200 ms of text: what waits for this, then for the window and the writer's thread.
_SAVE_MS = 25
# On a memory card: each time writes 4 KiB or more.
_SAVE_SELDOM_MS = 100
# After the disk has refused.
_RETRY_MS = 5_000


class Replies(QObject):
    """Runs one reply at a time.

    A reply's message is in the library and on its way to the disk before `add` is called; it is sent to the
    engine when `stored` says that it has arrived there.
    """

    message_changed = Signal(object)  # Message: state, statistics, notices, error; its content at the end
    text_changed = Signal(object)  # Message, at each piece of its text
    unconfirmed_changed = Signal(int, int, str)  # conversation id, message id, text in place of the last
    prefill_progress = Signal(int, int, float, object)  # conversation id, message id, fraction, seconds left or None
    told = Signal(int, object)  # message id, Event of its request
    asked = Signal()  # a reply is wanted: what only waits for a quiet moment gives way
    completed = Signal(int)  # conversation id: its reply came to its end, and no other waits
    waits = Signal()  # a reply was added while all of them are held

    def __init__(
        self,
        library: Library,
        journal: Journal,
        settings: Settings,
        client: EngineClient,
        model: ModelInEngine,
        tools: ToolDesk,
        kept: Callable[[int, str], KeptChat | None] = lambda conversation_id, model: None,
        blind: Callable[[str], str] = lambda model: "",
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._library = library
        self._journal = journal
        self._settings = settings
        self._client = client
        self._model = model
        self._tools = tools
        self.kept = kept  # place of what a model reads of a conversation; None for none
        self._blind = blind  # says that a model does not see pictures; empty if it may
        self._queue = ReplyQueue()
        self._not_stored: set[int] = set()  # replies whose prompt is still on its way to the disk
        self._question: Question | None = None  # the request that the engine works on
        self._kept_characters = 0  # of the reply when that request was made
        self._offered: dict[str, OfferedTool] = {}  # tools of that reply
        self._continues = False  # whether it goes on within the reply's text
        self._spoken: Spoken | None = None  # parts its text from its calls
        self._saving = False
        self._saved_characters = 0  # of the running reply, on the disk or on their way there
        self._refused = False  # by the disk, so the reply is to be saved as a whole
        self._save_timer = QTimer(self, singleShot=True)
        self._save_timer.timeout.connect(self._save_text)
        client.event_received.connect(self._receive)
        client.stopped.connect(self._engine_stopped)
        tools.steps_changed.connect(self._take_steps)
        tools.done.connect(self._go_on)

    @property
    def active_conversation(self) -> int | None:
        """The conversation whose reply runs; None also while it is being stopped."""
        reply = self._running_reply()
        return reply.conversation_id if reply is not None and reply.state.unfinished else None

    @property
    def busy(self) -> bool:
        """True if the engine works on a reply, or on ending one, or is kept free of them."""
        return self._queue.running is not None or self._queue.held

    def hold(self) -> None:
        """Start no reply before `release`: the engine is to do something else undisturbed."""
        self._queue.held = True

    def release(self) -> None:
        """Let the replies that waited start."""
        self._queue.held = False
        if self._queue.waiting:
            self._queue.resume()
            self._model.ensure_engine()
            self._start_next()

    def add(self, ticket: Ticket) -> None:
        """Queue a reply, and start the engine if it is gone."""
        self.asked.emit()
        self._not_stored.add(ticket.reply_id)
        self._queue.add(ticket)
        self._queue.resume()
        self._model.ensure_engine()
        self._start_next()
        if self._queue.held:
            self.waits.emit()

    def stored(self, reply_id: int) -> None:
        """Go on with a reply whose prompt is on the disk."""
        self._not_stored.discard(reply_id)
        running = self._queue.running
        if running is not None and running.reply_id == reply_id and self._question is None:
            self._send(running)

    def stop(self, conversation_id: int) -> None:
        """Stop the running reply of a conversation and those that wait; what was written stays."""
        for ticket in self._queue.take_out(conversation_id):
            self._change_by_id(ticket, MessageState.STOPPED)
        if (reply_id := self._tools.stop(conversation_id)) is not None:
            self._change_by_id(Ticket(conversation_id, reply_id), MessageState.STOPPED)
        running, reply = self._queue.running, self._running_reply()
        if running is None or running.conversation_id != conversation_id:
            return
        if reply is not None and reply.state.unfinished:
            self._change_by_id(running, MessageState.STOPPED)
            if self._question is not None:
                self._question.cancel()
                self._model.cancel_load()
            else:
                self._done(running)

    def forget(self, conversation_id: int, erased: bool = False) -> None:
        """Guess no more from what was said in a conversation; if it was erased, the model drops what it read of it."""
        kept = self.kept(conversation_id, "") if erased else None
        self._client.send(ForgetReplies(_place(conversation_id), erased, kept))

    def forget_all(self, erased: bool = False) -> None:
        """Guess no more from anything that was said; if it was erased, the model drops all that it read."""
        for pool in (OF_CHATS, OF_PROGRAMS):
            self._client.send(ForgetReplies(EarlierReplies(pool), erased))

    def stop_all(self) -> None:
        """Stop every reply, running or queued."""
        running = (self._queue.running,) if self._queue.running is not None else ()
        for ticket in (*self._queue.waiting, *running, *self._tools.open):
            self.stop(ticket.conversation_id)

    def close(self) -> None:
        """Stop everything and save what there is."""
        self._save_timer.stop()
        running = self._queue.running
        for ticket in (*((running,) if running else ()), *self._queue.waiting, *self._tools.open):
            reply = self._library.message(ticket.conversation_id, ticket.reply_id)
            if reply is not None and reply.state.unfinished:
                self._change(replace(reply, state=MessageState.STOPPED))

    # --- from the queue to the engine ---------------------------------------------------------------------

    def _start_next(self) -> None:
        ticket = self._queue.start_next()
        if ticket is None:
            if not self.busy:
                self._model.load_if_chosen()
            return
        self._question = None
        self._change_by_id(ticket, MessageState.WAITING, save=False)
        if ticket.reply_id not in self._not_stored:
            self._send(ticket)

    def _send(self, ticket: Ticket) -> None:
        messages = self._library.path_to(ticket.conversation_id, ticket.reply_id)
        self._kept_characters = messages[-1].kept_characters
        conversation = self._library.conversation(ticket.conversation_id)
        own = conversation.options if conversation is not None else ConversationOptions()
        model = messages[-1].model or self._settings.model
        options = reply_options(self._settings, model, own)
        sampling = self._sampling_of(messages[-1], options.sampling)
        turns, left_out = newest(() if own.continues else history_for(ticket.reply_id, messages, options.system_prompt))
        self._offered, self._spoken = ({} if own.continues else self._tools.offered()), None
        offered = [] if ticket.without_tools else [one.for_model for one in self._offered.values()]
        self._continues = bool(turns) and turns[-1].role == "assistant"
        if self._blind(model) and any(turn.pictures for turn in turns[:-1]):
            turns = (*(replace(turn, pictures=()) for turn in turns[:-1]), *turns[-1:])
            reply = self._library.message(ticket.conversation_id, ticket.reply_id) or messages[-1]
            self._change(with_notice(reply, tr("This model does not see the pictures of earlier messages.")))
        request = Generate(
            request_id="",
            options=self._model.options_for(model, own),
            messages=turns,
            left_out=left_out,
            raw_prompt=text_for(ticket.reply_id, messages) if own.continues else None,
            max_tokens=options.max_tokens,
            sampling=sampling,
            kept=self.kept(ticket.conversation_id, model),
            earlier=_place(ticket.conversation_id) if self._settings.guess_from_replies else None,
            verify=Generate.verify if self._offered else options.verify,
            show_unconfirmed=self._settings.unconfirmed_shown and not self._offered,
            tools=ToolUse(tuple(offered)),
            round_texts=True,  # the inspector may be opened when the reply is long done
            thinking=options.thinking,
            stop_loops=options.stop_loops and not _goes_on_in_a_loop(messages[-1]),
        )
        self._saved_characters = len(messages[-1].content)
        self._question = self._model.ask(request).each(self._hear)

    def _sampling_of(self, reply: Message, wanted: SamplingOptions) -> SamplingOptions:
        """Return a reply's sampling; another answer to the same message gets another seed."""
        first, *_ = self._library.alternatives(reply.conversation_id, reply.id) or (reply.id,)
        if first == reply.id or reply.kept_characters:
            return wanted
        if wanted.temperature == 0.0:
            said = tr("At temperature 0 every answer is the same: set a higher one for another answer.")
        elif wanted.seed is not None:
            said = tr(
                "This answer has a new seed: with the fixed one, {seed}, it would be the first answer again.",
                seed=wanted.seed,
            )
        else:
            return wanted
        self._change(with_notice(reply, said))
        return replace(wanted, seed=None)

    def _done(self, ticket: Ticket) -> None:
        self._save_timer.stop()
        self._question = None
        if self._queue.finish(ticket.reply_id):
            self._start_next()
            if not self.busy and not any(one.reply_id == ticket.reply_id for one in self._tools.open):
                self.completed.emit(ticket.conversation_id)

    # --- from the engine to the message -------------------------------------------------------------------

    @Slot(object)
    def _receive(self, event: Event) -> None:
        if isinstance(event, EngineReady) and self._queue.halted:  # started again, and not by a message
            self._queue.resume()
            self._start_next()

    def _hear(self, event: Event) -> None:
        running, reply = self._queue.running, self._running_reply()
        if running is None:
            return
        ended = isinstance(event, (Finished, Failed))
        if reply is not None and (ended or reply.state.unfinished):
            self._apply(reply, event)
        if ended:
            self._done(running)
        self.told.emit(running.reply_id, event)

    def _apply(self, reply: Message, event: Event) -> None:
        if isinstance(event, TokensAdded):
            spoken = self._parts_of(reply)
            self._add_text(reply, event.text if spoken is None else spoken.add(event.text))
        elif isinstance(event, TextDrafted):
            self.unconfirmed_changed.emit(reply.conversation_id, reply.id, event.text)
        elif isinstance(event, PrefillProgress):
            fraction = event.done_tokens / event.total_tokens if event.total_tokens > 0 else 0.0
            self.prefill_progress.emit(reply.conversation_id, reply.id, min(fraction, 1.0), event.seconds_left)
        else:
            if isinstance(event, Finished) and (spoken := self._parts_of(reply)) is not None:
                event = _without_calls(reply, event, spoken.end(event.reply.stop_reason == "length"))
            changed = reply_after(reply, event, self._model.context)
            if isinstance(event, Finished) and self._spoken is not None:
                changed = self._with_calls(changed, event, self._spoken.calls)
            if changed is not reply:
                told = changed.notices != reply.notices
                self._change(changed, save=told or isinstance(event, (Finished, Failed)))

    def _add_text(self, reply: Message, text: str) -> None:
        if not text:
            self.unconfirmed_changed.emit(reply.conversation_id, reply.id, "")  # void, whatever the token is
            return
        if reply.state is not MessageState.STREAMING:
            reply = replace(reply, state=MessageState.STREAMING)
            self._change(reply, save=False)
        reply = replace(reply, content=reply.content + text)
        self._library.put_message(reply)
        if not self._save_timer.isActive():
            self._save_text()
        self.text_changed.emit(reply)

    # --- tools --------------------------------------------------------------------------------------------

    def _parts_of(self, reply: Message) -> Spoken | None:
        """Return what parts the running reply's text from its calls; the model's format is known once it is loaded."""
        if self._spoken is None and self._offered:
            report = self._model.report
            form = DESCRIBED if report is None else FORMATS.get(report.advice.tools, DESCRIBED)
            tools = [one.for_model for one in self._offered.values()]
            self._spoken = Spoken(reply.content, self._continues, form, tools)
        return self._spoken

    def _with_calls(self, reply: Message, finished: Finished, calls: list[ToolCall]) -> Message:
        """Return a reply that waits for its calls, or one that has ended with them: too many, or cut short."""
        if finished.reply.stop_reason not in ("end", "stop") or reply.state is not MessageState.COMPLETE:
            return reply
        turn = max((step.turn for step in reply.steps), default=-1) + 1
        if self._queue.running is not None and self._queue.running.without_tools:
            return with_notice(reply, tr("The model asked for a tool again in place of an answer.")) if calls else reply
        made = [
            MadeCall(step.turn, step.name, step.arguments, step.result, step.state not in ("done", "refused"))
            for step in reply.steps
        ]
        place = next((step.place for step in reply.steps if step.turn == turn - 1), 0)
        over = bool(calls) and turn >= self._settings.tool_turns
        if over or (made and asks_again(calls, made, reply.content[place:])):
            if over:
                said = tr(
                    "After {count} rounds of calls the model had to answer without tools; the settings have the limit.",
                    count=turn,
                )
                reply = with_notice(reply, said)
            self._go_on(reply.conversation_id, reply.id, without_tools=True)
            return replace(reply, state=MessageState.QUEUED, kept_characters=len(reply.content))
        if not calls:
            return reply
        steps = (*reply.steps, *(self._step_of(call, turn, len(reply.content)) for call in calls))
        self._tools.begin(Ticket(reply.conversation_id, reply.id), steps, self._offered)
        return replace(reply.with_steps(steps), state=MessageState.QUEUED, kept_characters=len(reply.content))

    def _step_of(self, call: ToolCall, turn: int, place: int) -> ToolStep:
        one = self._offered.get(call.name)
        step = ToolStep(turn, place, call.name, call.arguments)
        if one is None:
            return replace(step, title=call.name, state="failed", result=tr("There is no tool of this name."))
        return replace(step, title=one.title, reads_only=one.tool.reads_only)

    @Slot(int, int, object)
    def _take_steps(self, conversation_id: int, reply_id: int, steps: tuple[ToolStep, ...]) -> None:
        reply = self._library.message(conversation_id, reply_id)
        if reply is not None and reply.details is not None:
            self._change(reply.with_steps(steps))

    @Slot(int, int)
    def _go_on(self, conversation_id: int, reply_id: int, without_tools: bool = False) -> None:
        """Let a reply go on after its calls, once their results are on the disk."""
        self._journal.save(conversation_id, (reply_id,), lambda: self.stored(reply_id))
        self.add(Ticket(conversation_id, reply_id, without_tools))

    @Slot(str)
    def _engine_stopped(self, sentence: str) -> None:
        reply = self._running_reply()
        self._save_timer.stop()
        self._question = None
        cut = reply is not None and reply.state.unfinished
        if reply is not None and cut:
            context = self._model.context if self._client.ran_out_of_memory else 0
            trouble = ErrorReport(EngineStopped.__name__, sentence, context=context) if sentence else None
            self._change(replace(reply, state=MessageState.INTERRUPTED, error=sentence, trouble=trouble))
        ended = self._queue.halt()
        stopped = ended is not None and not cut and bool(self._queue.waiting)
        # Killed because it did not stop, or gone with a reply that was stopped: the others need not wait for the next
        # message. With a reply that it cut they do, or one death after another would take them all along.
        if not sentence or stopped:
            self._queue.resume()
            self._model.ensure_engine()
            self._start_next()

    # --- messages -----------------------------------------------------------------------------------------

    @Slot()
    def _save_text(self) -> None:
        """Have what the running reply has got since last time on the disk."""
        reply = self._running_reply()
        if reply is None or self._saving or len(reply.content) == self._saved_characters:
            return
        self._save_timer.start(_SAVE_SELDOM_MS if self._journal.slow_disk else _SAVE_MS)
        if self._refused:
            self._refused = False
            self._change(reply)  # which the journal tries again by itself
            return
        place, self._saved_characters = self._saved_characters, len(reply.content)
        self._saving = True
        self._journal.add_text(reply, place, self._text_saved)

    def _text_saved(self, error: TenonError | None) -> None:
        self._saving = False
        if error is not None:
            self._refused = True
            self._saved_characters = -1  # unlike any length: there is something to save
            self._save_timer.start(_RETRY_MS)
        elif not self._save_timer.isActive():
            self._save_text()

    def _running_reply(self) -> Message | None:
        """Return the reply that the engine works on, or None if it was stopped for another request."""
        running = self._queue.running
        reply = self._library.message(running.conversation_id, running.reply_id) if running else None
        if reply is None or reply.state is MessageState.QUEUED:
            return None
        return reply if self._question is None or reply.kept_characters == self._kept_characters else None

    def _change_by_id(self, ticket: Ticket, state: MessageState, save: bool = True) -> None:
        reply = self._library.message(ticket.conversation_id, ticket.reply_id)
        if reply is not None:
            self._change(replace(reply, state=state), save)

    def _change(self, reply: Message, save: bool = True) -> None:
        self._library.put_message(reply)
        if save:
            running = self._queue.running
            if running is not None and running.reply_id == reply.id:
                self._saved_characters = len(reply.content)
            self._journal.save(reply.conversation_id, (reply.id,))
        self.message_changed.emit(reply)


def _without_calls(reply: Message, finished: Finished, rest: str) -> Finished:
    """Return the end of a reply whose text is what was shown of it, and the rest."""
    text, said = reply.content[reply.kept_characters :] + rest, finished.reply
    whole = text == said.text
    drafted, new = (said.drafted_text, said.new_characters) if whole else ((), None)
    return replace(finished, reply=replace(said, text=text, drafted_text=drafted, new_characters=new))


def _goes_on_in_a_loop(reply: Message) -> bool:
    """Return True if the user lets a reply go on that was stopped because it repeated itself."""
    return bool(reply.kept_characters) and reply.details is not None and reply.details.stop_reason == "loop"


def _place(conversation_id: int) -> EarlierReplies:
    return EarlierReplies(OF_CHATS, str(conversation_id))
