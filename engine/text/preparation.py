"""Preparation of a request before the engine's turn: its prompt in tokens, and the form of its reply.

What is small is done in this process, where its size bounds how long it holds Python's lock: beside other replies in a
thread. All else, and whatever compiles a form, is done in a process with bounds of time and memory
(`engine/preparer.py`), and is given up when its sender leaves.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event as Flag
from types import MappingProxyType
from typing import Any, TypeVar

from engine import errors
from engine.errors import EmptyPrompt, RequestTooLarge, TenonError
from engine.freed_memory import give_back_memory
from engine.messages import (
    ChatMessage,
    ContextTrimmed,
    ErrorReport,
    Event,
    Failed,
    Generate,
    Notice,
    PictureLayout,
    Prepared,
    ToPrepare,
)
from engine.messages.pipe import packed, unpacked
from engine.preparer import SLOW, Beyond
from engine.sentences import mark, say
from engine.text.context_window import CutShort, check_length, fit_with_attachments, say_cut
from engine.text.output_form import FORMS, TokenMask, form_grammar
from engine.text.pictures import marked
from engine.text.reasoning import without_thoughts
from engine.text.tokenizer import Tokenizer, read_tokenizer

#: Bytes of text that are prepared in this process: 30 ms of a usual processor beside replies that are being written,
#: and a quarter of a second where there are none.
SMALL_BYTES, ALONE_BYTES = 32 << 10, 256 << 10
Result = TypeVar("Result")
_NO_SWITCH = mark("The chat template of this model has no such setting for thinking, so it has no effect.")


@dataclass(frozen=True)
class Ready:
    """A request whose turn may begin."""

    prompt: list[int]  # token ids
    events: Sequence[Event]  # what the user is told of it
    mask: TokenMask | None  # keeps the reply to its form; None where it has none


class Preparation:
    """Prepares the requests of one model.

    Args:
        folder: The model, where a process reads the tokenizer for itself.
        cache: Folder of what takes long to make of a tokenizer.
    """

    def __init__(self, tokenizer: Tokenizer, folder: Path, cache: Path) -> None:
        self._tokenizer = tokenizer
        self._places = str(folder), str(cache)
        self._closed = Flag()
        # A plain chat never waits behind a long text or a form.
        self._quick, self._slow = (ThreadPoolExecutor(1, f"tenon-prepare-{lane}") for lane in ("quick", "slow"))

    def steps(
        self,
        request: Generate,
        context: int,
        alone: bool = False,
        counts: bool = False,
        layouts: Mapping[str, PictureLayout] = MappingProxyType({}),
    ) -> Generator[Future[Ready], None, Ready]:
        """Prepare a request beside the engine's turns: yield what is waited for, and give it up when this is closed.

        Args:
            request: One that `check_request` has passed.
            context: Tokens of context, prompt and reply together.
            alone: No other reply is being written.
            counts: The prompt alone is wanted.
            layouts: Layouts of the request's pictures, by their digests.

        Raises:
            RequestTooLarge: It takes too much time or memory.
            TenonError: The prompt does not fit, or the form is none.
        """
        raw = request.raw_prompt
        if isinstance(raw, tuple):
            check_length(len(raw), context)
        formed = request.formed and not counts
        size = request.size_bytes
        small = size <= (ALONE_BYTES if alone and not formed else SMALL_BYTES)
        if size > 2 * context and any(turn.attachments for turn in request.messages):
            small = False  # files that do not fit: the slow preparer searches them by meaning
        asked = ToPrepare(request, context, formed, *self._places, dict(layouts))
        if small and alone and not formed:
            return self._ready(asked, small)  # nobody waits meanwhile, and threads cost time
        lane = self._quick if small and not formed else self._slow
        try:
            return (yield from beside(lane, partial(self._ready, asked, small)))
        finally:
            if not small and not self._closed.is_set():
                self._slow.submit(give_back_memory)  # after the next one at the latest the request is gone

    def beside(self, work: Callable[[Callable[[], bool]], Result]) -> Generator[Future[Result], None, Result]:
        """Return the result of other work for a request, which is done as that of large requests is."""
        return (yield from beside(self._slow, work))

    def close(self) -> None:
        """Give up what is on its way."""
        self._closed.set()
        for lane in (self._quick, self._slow):
            lane.shutdown(wait=False, cancel_futures=True)
        SLOW.end()  # both have the tokenizer of this model
        FORMS.end()

    def _ready(self, asked: ToPrepare, small: bool, left: Callable[[], bool] = lambda: False) -> Ready:
        def gone() -> bool:
            return left() or self._closed.is_set()

        if asked.formed:
            FORMS.start()  # while another process looks what the form costs
        if small:
            found = prepared(asked, self._tokenizer, gone)
        else:
            template = self._tokenizer.template
            if template is not None and template.trouble == "endless":
                template.render([])
            bare = asked.request.with_pictures(lambda one: replace(one, content=b""))  # their layouts are enough
            found = ask_slowly(f"{__name__}:answer", replace(asked, request=bare), gone)
        mask = None
        if found.grammar:
            mask = TokenMask(self._tokenizer, self._places, found.grammar, found.mark)
            mask.begin(gone)
        raw = asked.request.raw_prompt
        ids = list(raw) if isinstance(raw, tuple) else memoryview(found.prompt).cast("i").tolist()
        return Ready(ids, found.events, mask)


def waited_for(future: Future[Result]) -> Generator[Future[Result], None, Result]:
    """Return what a future brings; yield it while others have their turn, and cancel it when this is closed."""
    try:
        while not future.done():
            yield future
        return future.result()
    finally:
        future.cancel()


def beside(lane: Executor, work: Callable[[Callable[[], bool]], Result]) -> Generator[Future[Result], None, Result]:
    """Return the result of some work on a lane; the work is told whether nobody waits for it any more."""
    left = Flag()
    try:
        return (yield from waited_for(lane.submit(work, left.is_set)))
    finally:
        left.set()


def ask_slowly(work: str, question: object, gone: Callable[[], bool]) -> Any:
    """Return the message that some work of the slow preparer, which ends with `answered`, makes of another message.

    Raises:
        RequestTooLarge: It takes too much time or memory.
        TenonError: The work raised it.
    """
    try:
        found = unpacked(SLOW.ask(work, packed(question), gone))
    except Beyond:
        raise RequestTooLarge(
            "To prepare this request takes more than {seconds} s or {size} MiB, so it is not answered: make it "
            "smaller.",
            about="prompt",
            seconds=round(SLOW.time_s),
            size=SLOW.memory_bytes >> 20,
        ) from None
    if isinstance(found, Failed):
        kind: type[TenonError] = getattr(errors, found.error.kind)
        raise kind(found.error.message, found.error.details, found.error.allowed, found.error.about)
    return found


def answered(question: bytes, work: Callable[[Any], object]) -> bytes:
    """Answer a question of `ask_slowly` in a preparer's process."""
    try:
        return packed(work(unpacked(question)))
    except TenonError as error:
        kind = type(error).__name__
        report = ErrorReport(
            kind, error.message, error.details, error.exit_code, allowed=error.allowed, about=error.about
        )
        return packed(Failed("", report))


def answer(question: bytes) -> bytes:
    """Do in a preparer's process what `Preparation` does with small requests."""
    return answered(question, lambda asked: prepared(asked, read_tokenizer(asked.folder, asked.cache)))


def prepared(asked: ToPrepare, tokenizer: Tokenizer, gone: Callable[[], bool] = lambda: False) -> Prepared:
    """Return the prompt of a request, and the grammar of its reply, which has been compiled once within its bounds.

    Raises:
        TenonError: The prompt does not fit, or the form is none or too large.
    """
    events: list[Event] = []
    request = asked.request
    prompt: list[int] = []
    if not isinstance(request.raw_prompt, tuple):  # which are tokens already
        prompt = fit_prompt(request, tokenizer, asked.context, events.append, asked.layouts)
    grammar = mark = ""
    if asked.formed:
        template = tokenizer.template
        reasoning = None if template is None or request.raw_prompt is not None else template.reasoning
        answer = "" if reasoning is None or opening(request) else reasoning.answer
        grammar, mark = form_grammar(tokenizer, request.form, request.tools, answer, gone)
    return Prepared(array("i", prompt).tobytes(), tuple(events), grammar, mark)


def opening(request: Generate) -> str:
    """Return the start of the reply if the conversation ends with one that is to be continued, else nothing."""
    return request.messages[-1].content if continues(request.messages) else ""


def continues(messages: Sequence[ChatMessage]) -> bool:
    """Return whether a conversation ends with the start of the reply."""
    return bool(messages) and messages[-1].role == "assistant" and not messages[-1].calls


def fit_prompt(
    request: Generate,
    tokenizer: Tokenizer,
    context: int,
    emit: Callable[[Event], None],
    layouts: Mapping[str, PictureLayout] = MappingProxyType({}),
) -> list[int]:
    """Token ids of the prompt, cut to the context where it is a conversation.

    Args:
        request: One that `check_request` has passed.
        context: Tokens of context, prompt and reply together.
        emit: Takes what the person is told of it.
        layouts: Layouts of the request's pictures, by their digests.

    Raises:
        PromptTooLong: its last message does not fit even alone.
    """
    if request.raw_prompt is not None:
        raw, special = request.raw_prompt, request.parse_special
        if raw == "":
            prompt = tokenizer.beginning
        else:
            prompt = tokenizer.encode(raw, special, context) if isinstance(raw, str) else list(raw)
        if not prompt:  # characters that no token of the vocabulary stands for
            raise EmptyPrompt("The message is empty: write a question first.")
        check_length(len(prompt), context, isinstance(prompt, CutShort))
        return prompt
    if tokenizer.template_note:
        emit(Notice(request.request_id, tokenizer.template_note))
    begun = opening(request)
    turns = [
        replace(turn, content=without_thoughts(turn.content)) if turn.role == "assistant" else turn
        for turn in (request.messages[:-1] if continues(request.messages) else request.messages)
    ]
    if any(turn.pictures for turn in turns):
        turns = [marked(turn) for turn in turns]
    known = "" if tokenizer.template is None else tokenizer.template.thinking
    if (request.thinking.on is not None and known != "switch") or (
        request.thinking.effort is not None and known != "effort"
    ):
        emit(Notice(request.request_id, say(_NO_SWITCH)))
    render = partial(
        tokenizer.render,
        opening=begun,
        thinking=request.thinking,
        tools=request.tools.offered,
        most=context,
        layouts=layouts,
    )
    # If nothing may be left out, room for one token of reply is enough.
    most = 1 if request.whole else request.max_tokens
    found = fit_with_attachments(turns, render, lambda text: len(tokenizer.encode(text, control=False)), context, most)
    if request.whole and (found.messages_left_out or found.cut):
        whole = render(turns)
        check_length(len(whole), context, isinstance(whole, CutShort), any(turn.pictures for turn in turns))
    if found.cut:
        emit(Notice(request.request_id, say_cut(found.cut)))
    if found.sources:
        emit(Notice(request.request_id, found.sources))
    if left_out := request.left_out + found.messages_left_out:
        emit(ContextTrimmed(request.request_id, left_out))
    return found.prompt
