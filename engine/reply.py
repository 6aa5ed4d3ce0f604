"""A reply from its prompt to its finish: choose the mode, run the loop, report."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from itertools import repeat
from math import inf

from engine import messages
from engine.advice import settled_sampler
from engine.decoding.costs import Costs
from engine.decoding.loop import Decoding, Hooks
from engine.decoding.sequence import AskedRows, TokenSequence
from engine.decoding.statistics import ReplyClock
from engine.drafting.committee import Member
from engine.drafting.fallback_drafter import FallbackDrafter
from engine.drafting.kind import Drafting
from engine.drafting.lookup import EarlierTexts
from engine.errors import Cancelled, InvalidOption
from engine.loaded_model import LoadedModel
from engine.model.sampling import LoggedSampler, MaskedSampler
from engine.modes.mode import Values
from engine.planning.hardware import device_peak_bytes, own_memory, preparers_bytes
from engine.planning.probes.host import OtherWork
from engine.planning.profile import Spoken
from engine.request import begun_thought, last_question
from engine.run import Run
from engine.sentences import figure, mark, say
from engine.text.output_form import TokenMask
from engine.text.pictures import plain
from engine.text.preparation import Ready, opening
from engine.text.reasoning import thought_tokens
from engine.text.repetition import LoopWatch, loop_start, repeated_from
from engine.text.stop import ReplyText
from engine.text.tokenizer import TURN_BEGINNINGS
from engine.verifying import RULES, Verifier
from engine.vision.seen_picture import read_ahead

_STATISTICS_EVERY_S = 0.25
_UNCONFIRMED_EVERY_S = 0.1
# The first pieces of a prompt are small, and slower than the others.
_READING_SHOWN_S = 1.0
# Tokens of a usual reply, the share of plain decoding's time that a draft saves at best, and seconds that count for
# nothing: so long may a draft read a prompt.
_USUAL_REPLY, _SAVED, _UNNOTICED_S = 400, 0.5, 0.5
# A reply goes on without its drafts if it has less than this share of plain decoding's speed after so many tokens, and
# has lost so many seconds.
_LOSING, _TRIED, _LOST_S = 0.5, 30, 2.0
# Fewest tokens of a reply whose speed says something: its first rounds read pages for the first time.
_TELLING_TOKENS = 24
_LEFT = mark(
    "The reply goes on without the draft: with it, it had {speed} tokens per second, and plain decoding has {plain}."
)
_LOSSY = mark("Typical acceptance is lossy: the reply may differ from what the model alone would say.")


class ReplyRun:
    """Answers one request that `check_request` has passed.

    Args:
        model: The loaded model, one of whose sequences keeps the text of this reply.
        request: The conversation or raw prompt, and how to sample.
        run: Run of the request, whose planner learns from the reply.
        load_ms: Time the load took, or None if the model was in memory already.
        earlier: Earlier replies that it may guess from, and joins; None for none.
        emit: Takes events.
        check: Raises `Cancelled` if the request is to stop.
    """

    def __init__(
        self,
        model: LoadedModel,
        request: messages.Generate,
        run: Run,
        load_ms: float | None,
        earlier: EarlierTexts | None,
        emit: Callable[[messages.Event], None],
        check: Callable[[], None],
    ) -> None:
        self._model = model
        self._request = request
        self._emit = emit
        self._check = check
        self._clock = ReplyClock(load_ms=load_ms)
        self._run, self._planner, self._plan, self._mode = run, run.planner, run.plan, run.mode
        self._machine = run.planner.machine
        loaded = {draft.reference: draft for draft in model.drafts}
        self._drafts = [loaded[draft.name] for draft in run.drafts]
        self._drafting: list[FallbackDrafter] = []
        self._reading: tuple[float, int] | None = None  # when the prompt's reading began, and the tokens there then
        self._chances = model.match_chances
        self._earlier = earlier
        self._crossed_before = model.link.to_device_bytes
        self._read_before = model.placement.disk_read_bytes
        self._sampler = settled_sampler(request.sampling, model.generation_config, request.raw_prompt is None)
        tools, template = request.tools, model.tokenizer.template
        reasoning = None if template is None or request.raw_prompt is not None else template.reasoning
        self._mask: TokenMask | None = None
        self._log: LoggedSampler | None = None
        self._logprobs: list[messages.TokenLogprob] = []
        decode: Callable[[Sequence[int]], str] = model.tokenizer.decode
        reader = None
        if template is not None and reasoning is not None:
            reader = reasoning.reader(opening(request))
            calls = template.calls.marks if tools.offered else ()
            decode = model.tokenizer.decode_with((*reasoning.marks, *calls))
        watch = LoopWatch(decode, last_question(request)) if request.stop_loops else None
        self._reply = ReplyText(
            decode,
            model.tokenizer.end_ids,
            request.stop,
            request.max_tokens,
            None if watch is None else watch.add,
            reader,
            TURN_BEGINNINGS if template is None and request.raw_prompt is None else (),
        )
        self._follows = request.raw_prompt is not None or bool(opening(request))
        self._prompt: list[int] = []
        self._words: Sequence[int] = ()  # the same, with a token of the vocabulary for each row of a picture
        self._drafted: list[tuple[int, int]] = []
        self._last_update = time.perf_counter()
        self._last_unconfirmed = 0.0
        self._others = OtherWork()
        self._busy = False

    def run(self, alone: bool = True) -> Generator[AskedRows | Future[Ready] | None, None, None]:
        """Run the loop, a file, a piece of the prompt or a round a step; end with `Finished`, also when cancelled.

        The caller computes the rows of each step before the next one, and waits for the preparation of the request.

        Args:
            alone: True if no other reply is being written.

        Raises:
            TenonError: The prompt does not fit.
        """
        self._check_tokens()
        model, layouts = self._model, self._model.layouts(self._request)
        ready = yield from model.preparation.steps(self._request, model.plan.context, alone, layouts=layouts)
        self._prompt, self._mask = ready.prompt, ready.mask
        anchors = model.tokenizer.marks([one.anchor for one in layouts.values()])
        self._words = plain(self._prompt, next(iter(anchors.values()), 0))
        for event in ready.events:
            self._emit(event)
        self._sampler = replace(self._sampler, penalties=self._request.penalties, begins=len(self._prompt))
        if self._follows:
            self._reply.follow(self._words[-1:])
        else:
            thought = begun_thought(self._words, self._model.tokenizer)
            self._reply.begin(thought)
            if thought and self._mask is not None:
                self._mask.await_thought()
        modes = self._planner.plan.taking(self._plan.mode, self._plan.reason).message
        self._emit(messages.PlanChosen(self._request.request_id, self._plan, modes, self._model.report.places))
        if not RULES[self._request.verify].lossless:
            self._emit(messages.Notice(self._request.request_id, say(_LOSSY)))
        mode = self._mode
        values = self._values()
        cost = self._recalled_cost(mode.drafting_name(values))
        self._clock.plain_share = self._planner.plain_share(self._model.plan)
        self._clock.recalled_plain_s = self._plain_s(cost)
        self._chances = self._model.match_chances.of_another_reply(self._earlier)
        place = self._request.earlier
        own = None if self._earlier is None or place is None else self._earlier.chat(place.chat)
        chat = self._model.chat_on_disk(self._request.kept)
        sequence = self._model.sequences.open(self._prompt, chat)
        try:
            if chat is not None:
                if trouble := self._model.sequences.trouble():
                    self._notice(trouble)
                yield from chat.read(sequence, self._prompt)
            if layouts:
                unread = sequence.see(model.picture_rows(self._request, layouts), self._prompt)
                for step in read_ahead(unread, model.preparation.beside):
                    self._check()
                    yield step
            drafters = self._drafters(sequence, values)
            recipe = mode.recipe(self._verifier(), drafters, values, cost, self._model.committee, self._chances)
            hooks = Hooks(self._check, self._prefilled, self._emitted)
            decoding = Decoding(sequence, recipe, self._prompt, self._reply, self._clock, hooks, self._words)
            while (asked := decoding.ask()) is not None:
                yield asked
                decoding.take(asked)
        except Cancelled:
            self._reply.close(None)
        finally:
            sequence.see({}, ())
            self._model.sequences.close(sequence)
        self._clock.recalled_plain_s = self._plain_s(cost)  # a short reply has few plain rounds of its own
        self._show((), self._reply.take_fresh())
        self._update_statistics()
        self._busy = self._others.busy
        self._learn()
        self._emit(messages.Finished(self._request.request_id, self._finished()))
        if self._earlier is not None and own is not None:
            self._earlier.add(own, [*self._words, *self._reply.token_ids])

    def _check_tokens(self) -> None:
        """Refuse ids of the request that are no tokens of the model."""
        last, raw = self._model.target.config.vocabulary_size - 1, self._request.raw_prompt
        prompt = raw if isinstance(raw, tuple) else ()
        biases = [token for token, _ in self._request.penalties.bias]
        for about, token in (*zip(repeat("prompt"), prompt), *zip(repeat("bias"), biases)):
            if not 0 <= token <= last:
                raise InvalidOption(
                    "There is no token {token} in this model: its tokens have the numbers from 0 to {last}.",
                    about=about,
                    token=token,
                    last=last,
                )

    def _verifier(self) -> Verifier:
        """Return the rule, with a sampler that keeps to the form and notes its picks if that is wanted."""
        sampler = self._sampler
        if self._mask is not None:
            sampler = MaskedSampler(**vars(sampler), mask=self._mask)
        if self._request.logprobs is not None:
            sampler = self._log = LoggedSampler(**vars(self._sampler), inner=sampler, top=self._request.logprobs)
        return RULES[self._request.verify].verifier(sampler)

    def _learn(self) -> None:
        """Refine the predictions for the model's next replies, if this reply is like them and was not disturbed."""
        if loop_start(self._reply.token_ids) is not None:
            return
        model, timings = self._model, self._clock.timings()
        self._chances.keep()
        repeats = model.placement.repeats
        rounds, kind = [record for record in self._clock.rounds if not record.beside], self._request.prompt_kind
        tells = kind is not None or (
            timings.predicted_n >= _TELLING_TOKENS and len(rounds) == len(self._clock.rounds) and not self._busy
        )
        spoken = None
        if tells and self._reply.stop_reason and timings.predicted_ms > 0:
            spoken = Spoken(timings.predicted_n - 1, timings.predicted_ms / 1e3, self._busy)
        if spoken is not None or not self._busy:
            self._planner.learn(
                rounds,
                model.report.weights,
                model.plan.placement,
                self._mode,
                self._run.drafts,
                self._request.options.mode_options,
                kind,
                self._chances if self._mode.finds_matches(self._values()) else None,
                None if repeats is None else repeats.take(),
                spoken,
            )
            model.settle_anew()

    def _values(self) -> Values:
        model = self._model
        # More rows of a mixture read more experts.
        streamed = model.placement.streamed_bytes > 0 and model.target.config.mixture is None
        return self._mode.values(self._request.options.mode_options, streamed)

    def _recalled_cost(self, drafting: str) -> Costs:
        """Return the cost of a mode's rounds; earlier sessions' measurements stand in until this one has its own."""
        model = self._model
        cost = model.round_costs[drafting]
        if not cost.measured:
            profile = self._planner.profile(model.report.weights)
            if cost.flat and model.target.config.mixture is None:  # more rows of a mixture read more experts
                # The predicted shape: one wide forward that was measured would say nothing about narrower ones.
                cost.expect_streamed(*self._machine.streamed_s(model.plan))
            else:
                cost.expect(profile.forward_seconds(model.plan.placement))
            if not model.match_chances.known:
                model.match_chances = profile.chances()
        return cost

    def _plain_s(self, cost: Costs) -> float | None:
        """Return the seconds of a forward without a draft, by this session's replies, else by earlier ones."""
        known = cost.mean_plain_s()
        if known is not None:
            return known
        profile, position = self._planner.profile(self._model.report.weights), len(self._prompt)
        here = profile.plain_seconds(self._model.plan.placement, position)
        if here is not None or (there := self._planner.plain_seconds(position)) is None:
            return here
        return there / self._clock.plain_share

    def _drafters(self, sequence: TokenSequence, values: Values) -> list[Member]:
        """Return the drafters of the loaded drafts that the mode uses; if one fails, the user is told once."""
        if self._mode.growth is None:
            return []
        matches = None if self._mode.takes_several else self._chances
        wanted = Drafting(
            self._mode.growth(values),
            matches,
            self._mode.finds_matches(values),
            self._unconfirmed,
            lambda: sequence.cache,
            self._reading_s(),
        )
        texts = dict(zip(self._model.drafts, sequence.drafts, strict=True))
        self._drafting = [
            FallbackDrafter(texts[draft](wanted), draft.link, self._notice, self._model.is_apart(draft.link))
            for draft in self._drafts
        ]
        return [
            Member(draft.reference, draft.kind, drafter)
            for draft, drafter in zip(self._drafts, self._drafting, strict=True)
        ]

    def _reading_s(self) -> float:
        """Return the seconds that a draft may take to read the prompt: a reply of usual length saves no more."""
        plain_s = self._clock.recalled_plain_s
        tokens = min(self._request.max_tokens or inf, _USUAL_REPLY)
        return inf if plain_s is None else max(_UNNOTICED_S, _SAVED * plain_s * tokens)

    def _leave_losing_drafts(self) -> None:
        timings = self._clock.timings()
        count, speed, plain = timings.predicted_n, timings.predicted_per_second, timings.plain_per_second
        if (
            count < _TRIED
            or not speed
            or not plain
            or speed >= _LOSING * plain
            or count / speed - count / plain < _LOST_S
        ):
            return
        for drafter in self._drafting:
            drafter.give_up(say(_LEFT, speed=figure(speed, ".1f"), plain=figure(plain, ".1f")))

    def _notice(self, sentence: str) -> None:
        self._emit(messages.Notice(self._request.request_id, sentence))

    def _prefilled(self, done: int, total: int) -> None:
        begun, first = self._reading = self._reading or (time.perf_counter(), done)
        seconds = time.perf_counter() - begun
        left_s = seconds / (done - first) * (total - done) if done > first and seconds >= _READING_SHOWN_S else None
        self._emit(messages.PrefillProgress(self._request.request_id, done, total, left_s))

    def _emitted(self, tokens: Sequence[int], drafted: int) -> None:
        first = len(self._reply.token_ids) - len(tokens)
        self._drafted.append((first, first + drafted))
        logprobs = self._logged(tokens)
        self._logprobs += logprobs
        self._show(tokens, self._reply.take_fresh(), drafted, logprobs)
        now = time.perf_counter()
        if now - self._last_update >= _STATISTICS_EVERY_S:
            self._last_update = now
            self._leave_losing_drafts()
            self._update_statistics()

    def _unconfirmed(self, tokens: Sequence[int]) -> None:
        """Show the draft's present guess."""
        now = time.perf_counter()
        if not self._request.show_unconfirmed or now - self._last_unconfirmed < _UNCONFIRMED_EVERY_S:
            return
        self._last_unconfirmed = now
        text = self._reply.preview(tokens)
        if text:
            self._emit(messages.TextDrafted(self._request.request_id, text))

    def _logged(self, tokens: Sequence[int]) -> list[messages.TokenLogprob]:
        """Return log-probabilities of emitted tokens, if they are wanted."""
        if self._log is None:
            return []
        said, ends = self._model.token_texts.said, self._model.tokenizer.end_ids
        begin = len(self._reply.token_ids) - len(tokens)
        found = []
        for at, pick in enumerate(self._log.take(len(tokens)), begin):
            first = at == 0 and not self._follows
            top = tuple((said(token, first), value) for token, value in pick.top)
            if pick.token_id not in ends:
                found.append(messages.TokenLogprob(said(pick.token_id, first), pick.logprob, top))
        return found

    def _show(
        self, tokens: Sequence[int], text: str, drafted: int = 0, logprobs: Sequence[messages.TokenLogprob] = ()
    ) -> None:
        """Send tokens, ``drafted`` of them from the draft, and the text that they complete."""
        if tokens or text:
            event = messages.TokensAdded(self._request.request_id, text, tuple(tokens), drafted, tuple(logprobs))
            self._emit(event)

    def _update_statistics(self) -> None:
        self._emit(
            messages.StatisticsUpdated(
                self._request.request_id,
                self._plan.mode,
                self._timings(),
                self._memory(),
                context_used=len(self._prompt) + len(self._reply.token_ids),
                context_limit=self._model.plan.context,
                rounds=self._take_rounds(),
            )
        )

    def _timings(self) -> messages.Timings:
        thought = thought_tokens(self._reply.text, self._reply.ends)
        return replace(self._clock.timings(), thought_n=thought)

    def _take_rounds(self) -> tuple[messages.RoundRecord, ...]:
        """Return the rounds since the last event, with the texts of their tokens if that is wanted."""
        rounds = self._clock.take_rounds(self._request.round_texts)
        if not self._request.round_texts:
            return rounds
        texts, written, begins = self._model.token_texts, self._reply.token_ids, len(self._prompt)

        def said(first: int, tokens: Sequence[int]) -> tuple[str, ...]:
            known = zip(range(first, first + len(tokens)), tokens, strict=True)
            return tuple(texts.text_in(written, at) if at < len(written) else texts.text(token) for at, token in known)

        return tuple(
            replace(
                record,
                texts=messages.RoundTexts(
                    root=texts.text_in(written, record.position - begins - 1),
                    drafted=tuple(map(texts.text, record.tokens)),
                    emitted=said(record.position - begins, record.emitted),
                ),
            )
            for record in rounds
        )

    def _promised(self) -> messages.Plan:
        """Return the plan with what it promised for a text of this length."""
        if self._plan.promise is None:
            return self._plan
        model, timings = self._model, self._clock.timings()
        load = model.plan.keeping([draft in self._drafts for draft in model.drafts])
        first_s = self._machine.first_token_s(self._mode, load, self._run.drafts, timings.prompt_n)
        rows = 1 + self._planner.plan.mode(self._plan.mode).draft_nodes
        tokens = len(self._prompt) + timings.predicted_n
        together = any(record.beside for record in self._clock.rounds)  # with prompts of whatever length
        model.longest_prompt = max(model.longest_prompt, model.plan.context if together else len(self._prompt))
        held = model.plan.holds_bytes(model.target.config, tokens, model.longest_prompt, rows)
        promise = replace(self._plan.promise, first_token_s=first_s, memory_bytes=held - preparers_bytes())
        return replace(self._plan, promise=promise)

    def _finished(self) -> messages.Reply:
        return messages.Reply(
            text=self._reply.text,
            prompt_ids=tuple(self._words),
            token_ids=tuple(self._reply.token_ids),
            mode=self._plan.mode,
            model=self._request.options.model,
            drafts=tuple(draft.reference for draft in self._drafts),
            weights=self._model.report.weights,
            devices={
                "target": self._model.target_devices,
                "draft": ", ".join(dict.fromkeys(str(draft.link.device) for draft in self._drafts)) or None,
            },
            stop_reason=self._reply.stop_reason or "cancelled",
            plan=self._promised(),
            timings=self._timings(),
            memory=self._memory(),
            drafted_text=self._drafted_text(),
            busy=self._busy,
            new_characters=self._new_characters(),
            stop_text=self._reply.stop_text,
            logprobs=tuple(self._logprobs),
        )

    def _new_characters(self) -> int | None:
        if self._reply.stop_reason != "loop":
            return None
        return (0, *self._reply.ends)[repeated_from(self._reply.token_ids)]

    def _memory(self) -> messages.Memory:
        link = self._model.link
        peaks = {} if link.device.type == "cpu" else {str(link.device): device_peak_bytes(link.device)}
        return replace(
            own_memory(),
            device_peak_bytes=peaks,
            disk_read_bytes=self._model.placement.disk_read_bytes - self._read_before,
            host_to_device_bytes=link.to_device_bytes - self._crossed_before,
        )

    def _drafted_text(self) -> tuple[tuple[int, int], ...]:
        """Return the places of accepted drafts in the text."""
        ends = (0, *self._reply.ends)
        return tuple((ends[start], ends[end]) for start, end in self._drafted if ends[start] < ends[end])
