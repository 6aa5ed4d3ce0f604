"""One reply from request to finish: fit the prompt, choose the mode, run the loop, report."""

from __future__ import annotations

import secrets
import sys
import time
from collections.abc import Callable, Sequence

import psutil

from engine.decoding.loop import Hooks, decode
from engine.decoding.statistics import ReplyClock
from engine.errors import Cancelled, EmptyPrompt, InvalidOption
from engine.loaded_model import LoadedModel
from engine.messages import (
    ContextTrimmed,
    Event,
    Finished,
    Generate,
    Memory,
    Notice,
    PlanChosen,
    PrefillProgress,
    Reply,
    StatisticsUpdated,
    TokensAdded,
)
from engine.model.sampling import Sampler
from engine.modes import MODES
from engine.planning.planner import choose_plan
from engine.text.context_window import check_length, fit_conversation
from engine.text.stop import ReplyText
from engine.verifying.sample_and_match import SampleAndMatch

_STATISTICS_EVERY_S = 0.25
_NO_TEMPLATE = "This model brings no chat template, so the conversation is given to it as plain text."


def check_request(request: Generate) -> None:
    """Refuse a request that makes no sense, before anything is loaded.

    Raises:
        EmptyPrompt: there is nothing to answer.
        InvalidOption: a value is out of its range, or the text is no text.
    """
    last = request.raw_prompt if request.raw_prompt is not None else _last_content(request)
    if not last.strip():
        raise EmptyPrompt("The message is empty: write a question first.")
    if request.max_tokens is not None and request.max_tokens < 1:
        raise InvalidOption(f"The limit of tokens is {request.max_tokens}, but it must be at least 1.")
    Sampler(**{name: value for name, value in vars(request.sampling).items() if value is not None})
    for text in (request.raw_prompt or "", *request.stop, *(message.content for message in request.messages)):
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise InvalidOption(
                "The message holds bytes that are not UTF-8 text: convert it to UTF-8 first."
            ) from error


def run_reply(
    model: LoadedModel,
    request: Generate,
    load_ms: float | None,
    emit: Callable[[Event], None],
    check: Callable[[], None],
) -> None:
    """Answer a request that `check_request` has passed; ends with `Finished`, also when cancelled.

    Args:
        model: The loaded model; its cache keeps what this reply adds.
        request: The conversation or raw prompt, and how to sample.
        load_ms: Time the load took, None when the model was in memory already.
        emit: Takes events.
        check: Raises `Cancelled` when the request is to stop.

    Raises:
        TenonError: the prompt does not fit, or a sampling value is out of range.
    """
    clock = ReplyClock(load_ms=load_ms)
    plan = choose_plan(request.options.mode)
    sampler = model.sampler(request.sampling, fresh_seed=secrets.randbits(32))
    prompt = _prompt(model, request, emit)
    emit(PlanChosen(request.request_id, plan))

    context = model.target.context
    reply = ReplyText(model.tokenizer.decode, model.tokenizer.end_ids, request.stop, request.max_tokens)
    last_update = time.perf_counter()

    def update_statistics() -> None:
        used = len(prompt) + len(reply.token_ids)
        emit(StatisticsUpdated(request.request_id, plan.mode, clock.timings(), read_memory(), used, context))

    def prefilled(done: int, total: int) -> None:
        emit(PrefillProgress(request.request_id, done, total))

    def emitted(tokens: Sequence[int]) -> None:
        nonlocal last_update
        emit(TokensAdded(request.request_id, reply.take_fresh(), tuple(tokens)))
        now = time.perf_counter()
        if now - last_update >= _STATISTICS_EVERY_S:
            last_update = now
            update_statistics()

    recipe = MODES[plan.mode].recipe(SampleAndMatch(sampler))
    try:
        decode(model.target, recipe, prompt, reply, clock, Hooks(check, prefilled, emitted))
    except Cancelled:
        reply.close(None)
    late_text = reply.take_fresh()
    if late_text:
        emit(TokensAdded(request.request_id, late_text, ()))
    update_statistics()
    emit(
        Finished(
            request.request_id,
            Reply(
                text=reply.text,
                prompt_ids=tuple(prompt),
                token_ids=tuple(reply.token_ids),
                mode=plan.mode,
                model=request.options.model,
                draft=request.options.draft,
                weights=model.report.weights,
                devices={"target": "cpu", "draft": None},
                stop_reason=reply.stop_reason or "cancelled",
                plan=plan,
                timings=clock.timings(),
                memory=read_memory(),
            ),
        )
    )


def read_memory() -> Memory:
    """This process's resident set, now and at its peak."""
    information = psutil.Process().memory_info()
    if sys.platform == "win32":
        peak = information.peak_wset
    else:
        import resource

        # Linux counts in KiB, macOS in bytes.
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Memory(resident_bytes=information.rss, resident_peak_bytes=max(peak, information.rss))


def _prompt(model: LoadedModel, request: Generate, emit: Callable[[Event], None]) -> list[int]:
    """Token ids of the prompt, cut to the context where it is a conversation."""
    context = model.target.context
    if request.raw_prompt is not None:
        prompt = model.tokenizer.encode(request.raw_prompt)
        check_length(len(prompt), context)
        return prompt
    if not model.tokenizer.has_chat_template:
        emit(Notice(request.request_id, _NO_TEMPLATE))
    fitted = fit_conversation(request.messages, model.tokenizer.render, context, request.max_tokens)
    if fitted.messages_left_out:
        emit(ContextTrimmed(request.request_id, fitted.messages_left_out))
    return fitted.token_ids


def _last_content(request: Generate) -> str:
    return request.messages[-1].content if request.messages else ""
