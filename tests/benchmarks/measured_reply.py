"""A reply as benchmarks keep it, and the process that makes replies: Tenon's engine, as the window starts it."""

from __future__ import annotations

import multiprocessing
import time
from dataclasses import dataclass, replace
from types import TracebackType

import psutil

from engine.drafting.kinds import kind_of
from engine.messages import (
    ChatMessage,
    EarlierReplies,
    Failed,
    Finished,
    Generate,
    LoadOptions,
    RoundRecord,
    SamplingOptions,
    StatisticsUpdated,
    TokensAdded,
)
from engine.messages.pipe import receive, send
from engine.model_file import open_draft, open_model
from engine.modes import MODES, in_mode
from engine.process import serve


@dataclass(frozen=True)
class MeasuredReply:
    """One reply.

    Attributes:
        token_ids: Tokens of the reply.
        decoded: Tokens behind the first forward's.
        decode_s: Time of these.
        tau: Tokens emitted per target forward of decoding, None where it was not counted.
        prompt_ids: Tokens of the prompt.
        busy: True if other programs took much of the processors meanwhile.
        cpu_s: Time of all cores together that the whole reply took.
        token_s: For each token behind the first, the time since the one before; those of one round share its time.
        rounds: Drafts and verdicts; of an event with more than 64 rounds only the latest 64.
    """

    token_ids: tuple[int, ...]
    decoded: int
    decode_s: float
    tau: float | None
    prompt_ids: tuple[int, ...]
    busy: bool
    cpu_s: float
    token_s: tuple[float, ...]
    rounds: tuple[RoundRecord, ...]

    @property
    def tokens_per_s(self) -> float:
        """Decoding speed, the prompt left out."""
        return self.decoded / self.decode_s


class TenonChild:
    """Tenon's engine, as the window's child process runs it.

    Args:
        options: The model to load.
    """

    def __init__(self, options: LoadOptions) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, far = context.Pipe()
        self._process = context.Process(target=serve, args=(far,))
        self._process.start()
        far.close()
        self._options = options

    def __enter__(self) -> TenonChild:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()
        self._process.join()

    def sampled(
        self,
        prompt: str,
        max_tokens: int,
        mode: str,
        temperature: float = 0.0,
        seed: int = 7,
        earlier: EarlierReplies | None = None,
    ) -> MeasuredReply:
        """Answer a prompt in a mode that needs no other load, with a seed that is the same if nobody says otherwise."""
        before_s = self._cpu_s()
        drafts = self._options.drafts
        if mode in MODES:  # of drafts that are there for several modes, those that it takes
            model = open_model(self._options.model)
            drafts = tuple(draft for draft in drafts if kind_of(open_draft(draft, model)).kind in MODES[mode].drafts)
            drafts = drafts if MODES[mode].takes_several else drafts[:1]
        send(
            self._connection,
            Generate(
                request_id="benchmark",
                options=in_mode(mode, replace(self._options, drafts=drafts)),
                messages=(ChatMessage("user", prompt),),
                max_tokens=max_tokens,
                sampling=SamplingOptions(temperature=temperature, seed=seed),
                earlier=earlier,
            ),
        )
        token_s: list[float] = []
        rounds: list[RoundRecord] = []
        before: float | None = None
        while True:
            event = receive(self._connection)
            if isinstance(event, TokensAdded) and event.token_ids:
                now, count = time.perf_counter(), len(event.token_ids)
                if before is not None:
                    token_s += [(now - before) / count] * count
                before = now
            if isinstance(event, StatisticsUpdated):
                rounds += event.rounds
            if isinstance(event, Failed):
                raise RuntimeError(f"{event.error.message} {event.error.details}")
            if isinstance(event, Finished):
                break
        timings = event.reply.timings
        return MeasuredReply(
            token_ids=event.reply.token_ids,
            decoded=timings.predicted_n - 1,
            decode_s=timings.predicted_ms / 1e3,
            tau=timings.mean_acceptance_length,
            prompt_ids=event.reply.prompt_ids,
            busy=event.reply.busy,
            cpu_s=self._cpu_s() - before_s,
            token_s=tuple(token_s),
            rounds=tuple(rounds),
        )

    def _cpu_s(self) -> float:
        times = psutil.Process(self._process.pid).cpu_times()
        return float(times.user + times.system)
