"""What a benchmark keeps of a reply, and the processes that make replies: Tenon's engine and its peer."""

from __future__ import annotations

import multiprocessing
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any

import psutil

from engine.messages import ChatMessage, Failed, Finished, Generate, LoadOptions, SamplingOptions, TokensAdded
from engine.messages.pipe import receive, send
from engine.process import serve


@dataclass(frozen=True)
class MeasuredReply:
    """One reply.

    Attributes:
        token_ids: What was said.
        reply_s: From the request to the last token; the model was loaded before.
        decoded: Tokens behind the first forward's.
        decode_s: Time of these.
        tau: Tokens emitted per target forward of decoding, None where it was not counted.
        acceptance_rate: As `Timings` has it, None where nothing was drafted.
        peak_bytes: Largest resident set of the process so far.
        prompt_ids: What was asked, where the process tells.
        busy: Whether other programs took much of the processors meanwhile.
        cpu_s: Time of all cores together that the whole reply took, where it was counted.
        token_s: For each token behind the first, the time since the one before; those of one round share its time.
    """

    token_ids: tuple[int, ...]
    reply_s: float
    decoded: int
    decode_s: float
    tau: float | None
    acceptance_rate: float | None
    peak_bytes: int
    prompt_ids: tuple[int, ...] = ()
    busy: bool = False
    cpu_s: float = 0.0
    token_s: tuple[float, ...] = ()

    @property
    def tokens_per_s(self) -> float:
        """Decoding speed, the prompt left out."""
        return self.decoded / self.decode_s


class Child(ABC):
    """A process with a model in it. Models that are not at work wait, so several can take turns.

    Args:
        serve_child: What the process runs, with its end of the pipe.
    """

    def __init__(self, serve_child: Callable[..., None], *arguments: Any) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, far = context.Pipe()
        self._process = context.Process(target=serve_child, args=(far, *arguments))
        self._process.start()
        far.close()

    def close(self) -> None:
        """End the process and wait for it."""
        self.connection.close()
        self._process.join()

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @abstractmethod
    def reply(self, prompt: str, max_tokens: int) -> MeasuredReply:
        """Answer a prompt, greedily."""


class TenonChild(Child):
    """Tenon's engine, as the window's child process runs it.

    Args:
        options: What to load.
    """

    def __init__(self, options: LoadOptions) -> None:
        super().__init__(serve)
        self._options = options

    def reply(self, prompt: str, max_tokens: int) -> MeasuredReply:
        """Answer a prompt, greedily; the first one loads the model."""
        return self.sampled(prompt, max_tokens, self._options.mode)

    def sampled(self, prompt: str, max_tokens: int, mode: str, temperature: float = 0.0) -> MeasuredReply:
        """Answer a prompt in a mode that needs no other load, with a seed that is always the same."""
        before_s = self._cpu_s()
        send(
            self.connection,
            Generate(
                request_id="benchmark",
                options=replace(self._options, mode=mode),
                messages=(ChatMessage("user", prompt),),
                max_tokens=max_tokens,
                sampling=SamplingOptions(temperature=temperature, seed=7),
            ),
        )
        token_s: list[float] = []
        before: float | None = None
        while True:
            event = receive(self.connection)
            if isinstance(event, TokensAdded) and event.token_ids:
                now, count = time.perf_counter(), len(event.token_ids)
                if before is not None:
                    token_s += [(now - before) / count] * count
                before = now
            if isinstance(event, Failed):
                raise RuntimeError(f"{event.error.message} {event.error.details}")
            if isinstance(event, Finished):
                break
        timings = event.reply.timings
        return MeasuredReply(
            token_ids=event.reply.token_ids,
            reply_s=(timings.prompt_ms + timings.predicted_ms) / 1e3,
            decoded=timings.predicted_n - 1,
            decode_s=timings.predicted_ms / 1e3,
            tau=timings.mean_acceptance_length,
            acceptance_rate=timings.acceptance_rate,
            peak_bytes=event.reply.memory.resident_peak_bytes,
            prompt_ids=event.reply.prompt_ids,
            busy=event.reply.busy,
            cpu_s=self._cpu_s() - before_s,
            token_s=tuple(token_s),
        )

    def _cpu_s(self) -> float:
        times = psutil.Process(self._process.pid).cpu_times()
        return float(times.user + times.system)


class PeerChild(Child):
    """transformers' assisted generation: the same target and the same draft, its own choice of everything else.

    It has no clock of its own, so the time of a reply of one token counts as the prompt's.

    Args:
        target: Folder.
        draft: Folder.
        dtype: Name of the weights' type in torch.
        threads: CPU threads.
    """

    def __init__(self, target: str, draft: str, dtype: str, threads: int) -> None:
        super().__init__(_assisted_generation, target, draft, dtype, threads)

    def reply(self, prompt: str, max_tokens: int) -> MeasuredReply:
        """Answer a prompt, greedily."""
        self.connection.send((prompt, max_tokens))
        return MeasuredReply(**self.connection.recv())


def _assisted_generation(connection: Connection, target: str, draft: str, dtype: str, threads: int) -> None:
    import resource

    import torch
    import transformers

    class Rounds:
        """Counts what is handed out: the prompt, then the tokens of each verifying forward together."""

        def __init__(self) -> None:
            self.count = -1

        def put(self, tokens: torch.Tensor) -> None:
            self.count += 1

        def end(self) -> None:
            """Nothing to flush."""

    torch.set_num_threads(threads)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    tokenizer = transformers.AutoTokenizer.from_pretrained(target)
    model, assistant = (
        transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, dtype)).eval()
        for folder in (target, draft)
    )

    def generate(inputs: Any, tokens: int) -> tuple[float, int, tuple[int, ...]]:
        """Seconds, verifying forwards and the reply."""
        rounds, begun = Rounds(), time.perf_counter()
        with torch.inference_mode():
            whole = model.generate(
                input_ids=inputs["input_ids"],
                attention_mask=inputs["attention_mask"],
                assistant_model=assistant,
                do_sample=False,
                max_new_tokens=tokens,
                streamer=rounds,
            )
        taken = time.perf_counter() - begun
        return taken, rounds.count, tuple(whole[0, inputs["input_ids"].shape[1] :].tolist())

    while True:
        try:
            prompt, max_tokens = connection.recv()
        except EOFError:
            return
        inputs = tokenizer.apply_chat_template(
            [{"role": "user", "content": prompt}],
            add_generation_prompt=True,
            return_tensors="pt",
            return_dict=True,
        )
        first_s, _, _ = generate(inputs, 1)
        reply_s, rounds, reply = generate(inputs, max_tokens)
        connection.send(
            {
                "token_ids": reply,
                "reply_s": reply_s,
                "decoded": len(reply) - 1,
                "decode_s": max(reply_s - first_s, 1e-3),
                "tau": len(reply) / rounds,
                "acceptance_rate": None,
                "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            }
        )
