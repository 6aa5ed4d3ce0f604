"""A reply as benchmarks keep it, and the process that makes replies: Tenon's engine, as the window starts it."""

from __future__ import annotations

import multiprocessing
from dataclasses import dataclass, replace
from functools import partial
from types import TracebackType

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
)
from engine.messages.pipe import receive, send
from engine.model_file import open_draft, open_model
from engine.modes import MODES, in_mode
from engine.process import serve
from tests.support.slow_disk import serve_from


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
        rounds: Drafts and verdicts; of an event with more than 64 rounds only the latest 64.
        mode: The mode that it ran in.
    """

    token_ids: tuple[int, ...]
    decoded: int
    decode_s: float
    tau: float | None
    prompt_ids: tuple[int, ...]
    busy: bool
    rounds: tuple[RoundRecord, ...]
    mode: str

    @property
    def tokens_per_s(self) -> float:
        """Decoding speed, the prompt left out."""
        return self.decoded / self.decode_s


class TenonChild:
    """Tenon's engine, as the window's child process runs it.

    Args:
        options: The model to load.
        disk: Speed of the disk in GB/s; None for the machine's own.
    """

    def __init__(self, options: LoadOptions, disk: float | None = None) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, far = context.Pipe()
        self._process = context.Process(target=partial(serve_from, disk) if disk else serve, args=(far,))
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
        options: LoadOptions | None = None,
    ) -> MeasuredReply:
        """Answer a prompt in a mode, with a seed that is the same if nobody says otherwise.

        Args:
            prompt: The user's message.
            max_tokens: Most tokens of the reply.
            mode: Name of the mode.
            temperature: 0 is greedy.
            seed: Seed of the noise.
            earlier: Chats in which lookup finds words too.
            options: What is loaded in the place of what was loaded at first.
        """
        options = options or self._options
        drafts = options.drafts
        if mode in MODES:  # of drafts that are there for several modes, those that it takes
            model = open_model(options.model)
            drafts = tuple(draft for draft in drafts if kind_of(open_draft(draft, model)).kind in MODES[mode].drafts)
            drafts = drafts if MODES[mode].takes_several else drafts[:1]
        send(
            self._connection,
            Generate(
                request_id="benchmark",
                options=in_mode(mode, replace(options, drafts=drafts)),
                messages=(ChatMessage("user", prompt),),
                max_tokens=max_tokens,
                sampling=SamplingOptions(temperature=temperature, seed=seed),
                earlier=earlier,
            ),
        )
        rounds: list[RoundRecord] = []
        while True:
            event = receive(self._connection)
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
            rounds=tuple(rounds),
            mode=event.reply.mode,
        )
