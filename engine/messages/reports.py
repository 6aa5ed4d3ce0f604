"""Reports that the engine's events carry: a loaded model, a finished reply and their figures.

Field names of `Timings` and `Memory` are those of ``tenon ask --json`` (llama.cpp's server uses the same names
where it has the thing).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from engine.errors import Allowed
from engine.messages.commands import SamplingOptions

StopReason = Literal["end", "stop", "length", "loop", "cancelled"]


@dataclass(frozen=True)
class Plan:
    """The mode that runs and why.

    Attributes:
        mode: ``--mode`` name.
        reason: One sentence.
        predicted_per_second: Tokens per second, None when nothing was measured to predict from.
    """

    mode: str
    reason: str
    predicted_per_second: float | None = None


MemoryUse = Literal["weights", "draft", "caches", "buffers", "engine", "others"]


@dataclass(frozen=True)
class MemoryShare:
    """Bytes that one use takes of a place.

    Attributes:
        use: ``weights``: the target's. ``draft``: the drafts' weights and caches. ``caches``: keys and values of a full
            context. ``buffers``: what a forward needs at its widest, and what streamed layers pass through.
            ``engine``: the process without a model. ``others``: what other programs held when the model was loaded.
        size_bytes: Number of bytes.
        layers: Number of the target's layers among weights, whole or without their experts.
        drafts: Number of drafts, if the use is theirs.
        part: Part of each layer in a few words, if experts are elsewhere; else empty.
    """

    use: MemoryUse
    size_bytes: int
    layers: int = 0
    part: str = ""
    drafts: int = 0


@dataclass(frozen=True)
class MemoryPlace:
    """Bytes that a loaded model takes of one place, as planned: a full context counts from the beginning.

    Attributes:
        place: ``ram``, ``disk`` or torch's name of a GPU.
        total_bytes: Size; 0 for the disk.
        shares: By use.
    """

    place: str
    total_bytes: int
    shares: tuple[MemoryShare, ...]


ThinkingControl = Literal["", "switch", "effort"]
ServerKind = Literal["", "tenon", "llama.cpp", "vllm", "sglang", "ollama", "lmstudio"]


@dataclass(frozen=True)
class ModelAdvice:
    """Sampling of a model in a chat where nobody asks for anything else.

    Attributes:
        sampling: The numbers that hold; no seed.
        own: Names of those that the model's makers advise; the others are the usual ones.
        thinking: Settings of its chat template: ``switch`` for thinking on or off, ``effort`` for how much; else empty.
        tools: The format of its tool calls (`engine.text.tool_calls`).
    """

    sampling: SamplingOptions = field(default_factory=SamplingOptions)
    own: tuple[str, ...] = ()
    thinking: ThinkingControl = ""
    tools: str = "hermes"


@dataclass(frozen=True)
class ModelReport:
    """A loaded model.

    Attributes:
        name: For the user.
        folder: Folder of its checkpoint.
        architecture: ``architectures[0]`` of its config.json.
        parameters: Number of weights.
        weights: The format in use: one of `LoadOptions`, or what a quantized file calls itself (``Q4_K_M``).
        context: Tokens of context in use.
        weight_bytes: Size of all weights, in memory or read from the disk as they are needed.
        load_ms: Time the load took.
        places: Places of target, draft and caches: a GPU first, then the host's memory, then the disk.
        kv_cache: Format of keys and values: ``full``, as wide as the activations, or ``q8_0``.
        threads: Threads of this processor that compute; 0 for a server's model.
        advice: Way of replying where nothing else is asked for.
        template_note: A sentence on what took the place of its chat template; empty where nothing did.
        only_continues: True if the model only continues texts and writes no chats.
    """

    name: str
    folder: str
    architecture: str
    parameters: int
    weights: str
    context: int
    weight_bytes: int
    load_ms: float
    places: tuple[MemoryPlace, ...] = ()
    kv_cache: str = "full"
    threads: int = 0
    advice: ModelAdvice = field(default_factory=ModelAdvice)
    template_note: str = ""
    only_continues: bool = False


@dataclass(frozen=True)
class MemberYield:
    """Yield of one of several drafters that vote.

    Attributes:
        name: The draft's name, or ``lookup``.
        weight: Weight of its vote now, the heaviest member's being 1.
        draft_n: Nodes of verified drafts that it guessed.
        draft_n_tested: Positions of the path at which it had a guess.
        draft_n_accepted: Accepted nodes that it guessed, alone or with others.
        acceptance_rate: Accepted / tested; None where nothing was tested.
    """

    name: str
    weight: float = 1.0
    draft_n: int = 0
    draft_n_tested: int = 0
    draft_n_accepted: int = 0
    acceptance_rate: float | None = None


@dataclass(frozen=True)
class Timings:
    """Speed of one reply, in the field's own words; None where a thing does not apply.

    ``acceptance_rate`` = accepted / path positions tested; a position is tested when its parent was accepted and it
    has drafted children. ``mean_acceptance_length`` (tau) = tokens emitted per target forward of decoding.
    ``draft_n`` and ``draft_n_accepted`` count nodes, ``draft_n_tested`` path positions, ``probe_n`` the rows of drafts
    that only ask what comes further on. ``plain_per_second`` is the speed that plain decoding would have had, by the
    rounds of this reply that had no draft, or else by those of the model's replies just before. ``thought_n`` of the
    ``predicted_n`` tokens are thoughts before the answer. ``members`` are drafters that vote; empty where there is one.
    ``shared`` means that the draft's figures are a server's for all who used it meanwhile.
    """

    prompt_n: int = 0
    prompt_ms: float = 0.0
    prompt_per_second: float | None = None
    cache_n: int = 0
    time_to_first_token_ms: float | None = None
    predicted_n: int = 0
    predicted_ms: float = 0.0
    predicted_per_second: float | None = None
    draft_n: int = 0
    draft_n_tested: int = 0
    draft_n_accepted: int = 0
    acceptance_rate: float | None = None
    mean_acceptance_length: float | None = None
    acceptance_by_position: tuple[float, ...] = ()
    target_forwards: int = 0
    draft_ms: float = 0.0
    verify_ms: float = 0.0
    load_ms: float | None = None
    plain_per_second: float | None = None
    thought_n: int = 0
    probe_n: int = 0
    members: tuple[MemberYield, ...] = ()
    shared: bool = False


@dataclass(frozen=True)
class RoundTexts:
    """Texts of a round's tokens, each for itself.

    A token that is part of a character is a replacement mark, and one that says nothing (the end of the text) empty.

    Attributes:
        root: The token that the draft goes on from.
        drafted: (N,) one text for each drafted token.
        emitted: One for each token that left the loop.
    """

    root: str
    drafted: tuple[str, ...]
    emitted: tuple[str, ...]


@dataclass(frozen=True)
class RoundRecord:
    """One round of decoding: a draft, its verification, and what they took.

    Attributes:
        position: The position of the root's successor, counted from the start of the prompt.
        tokens: (N,) the drafted tokens.
        parents: (N,) each node's parent, -1 for the root.
        scores: (N,) each node's cumulative log-probability under the drafter, or empty.
        probes: (P,) the node that each probe followed, -1 for the root.
        sources: (N,) for each node the members of a committee that guessed it, as `Timings.members` has them; or empty.
        weights: Weights of the members, when they drafted; empty where nobody voted.
        accepted: The nodes of the path that held, from the root down.
        emitted: Tokens that left the loop; the end of the reply may have cut them short.
        draft_ms: Time that the drafter took.
        verify_ms: Time that the target's forward and the rule of verification took.
        waited_ms: Part of it in which the forward waited for weights.
        texts: Texts of its tokens, if the request asked for them.
        beside: Rows that other replies had in the forward.
    """

    position: int
    tokens: tuple[int, ...]
    parents: tuple[int, ...]
    scores: tuple[float, ...]
    accepted: tuple[int, ...]
    emitted: tuple[int, ...]
    draft_ms: float
    verify_ms: float
    waited_ms: float = 0.0
    texts: RoundTexts | None = None
    probes: tuple[int, ...] = ()
    sources: tuple[tuple[int, ...], ...] = ()
    weights: tuple[float, ...] = ()
    beside: int = 0

    @property
    def drafted_rows(self) -> int:
        """Rows of the forward beside the root's: nodes and probes."""
        return len(self.tokens) + len(self.probes)

    @property
    def tested(self) -> int:
        """Positions of the path at which some drafted child was tested."""
        last = self.accepted[-1] if self.accepted else -1
        return len(self.accepted) + (last in self.parents)


@dataclass(frozen=True)
class Memory:
    """Memory of the process and its traffic during one reply, in bytes; ``resident_bytes`` is its resident set now."""

    resident_bytes: int = 0
    resident_peak_bytes: int = 0
    device_peak_bytes: dict[str, int] = field(default_factory=dict)
    disk_read_bytes: int = 0
    host_to_device_bytes: int = 0


@dataclass(frozen=True)
class TokenLogprob:
    """A token of a reply and what the model gave it.

    Attributes:
        said: Own bytes of the text in UTF-8, which may be part of a character.
        logprob: Natural logarithm of its probability, before temperature, filters and masks.
        top: The likeliest tokens at its place with theirs, the likeliest first.
    """

    said: bytes
    logprob: float
    top: tuple[tuple[bytes, float], ...] = ()


@dataclass(frozen=True)
class Reply:
    """A finished reply: what ``tenon ask --json`` prints.

    Attributes:
        prompt_ids: Tokens of the prompt; none where a server does not tell them, as of ``token_ids``.
        drafted_text: (start, end) of each stretch of the text that came from accepted drafts; not printed.
        new_characters: Length of the part of a looping reply that says something new.
        busy: Other programs took much of the processors meanwhile, so that its speed says little.
        stop_text: The string of the request that ended it, empty where another reason did; not printed.
        logprobs: Log-probabilities of its tokens but the last, if the request asked for them; not printed.
    """

    text: str
    prompt_ids: tuple[int, ...]
    token_ids: tuple[int, ...]
    mode: str
    model: str
    drafts: tuple[str, ...]
    weights: str
    devices: dict[str, str | None]
    stop_reason: StopReason
    plan: Plan
    timings: Timings
    memory: Memory
    drafted_text: tuple[tuple[int, int], ...] = ()
    busy: bool = False
    new_characters: int | None = None
    stop_text: str = ""
    logprobs: tuple[TokenLogprob, ...] = ()

    @property
    def prompt_tokens(self) -> int:
        """Number of tokens of the prompt."""
        return len(self.prompt_ids) or self.timings.cache_n + self.timings.prompt_n

    def as_json(self) -> dict[str, Any]:
        """Return the object of ``--json`` in plain types."""
        whole = asdict(self)
        del whole["plan"]["mode"]
        del whole["drafted_text"]
        del whole["new_characters"]
        del whole["stop_text"]
        del whole["logprobs"]
        del whole["memory"]["resident_bytes"]
        return whole


@dataclass(frozen=True)
class MemoryShortage:
    """The host's memory when there was not enough of it.

    Attributes:
        total_bytes: The machine's.
        others_bytes: Held by other programs.
        own_bytes: Held by the engine's process.
        short_bytes: Missing; 0 where that is not known.
    """

    total_bytes: int
    others_bytes: int
    own_bytes: int
    short_bytes: int = 0


@dataclass(frozen=True)
class BenchmarkRow:
    """One mode, measured.

    Attributes:
        mode: ``--mode`` name.
        tokens_per_second: Over all prompts; None where it could not run.
        predicted_per_second: The same as predicted before this mode was measured; None for nothing.
        first_token_ms: Median time to the first token.
        tokens_per_round: Tokens for each forward of the target.
        refusal: One sentence that says why it was not measured; then nothing else has a value.
        busy: True if other programs kept the machine busy during any of its replies.
        by_kind: Tokens per second for each kind of prompt.
        acceptance_rate: Acceptance rate of drafted positions that were tested.
        peak_bytes: The process's resident set at its peak so far.
        device_peak_bytes: Peak memory of each GPU.
    """

    mode: str
    tokens_per_second: float | None = None
    predicted_per_second: float | None = None
    first_token_ms: float | None = None
    tokens_per_round: float | None = None
    refusal: str | None = None
    busy: bool = False
    by_kind: dict[str, float] = field(default_factory=dict)
    acceptance_rate: float | None = None
    peak_bytes: int = 0
    device_peak_bytes: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class ErrorReport:
    """An error on its way to the user.

    Attributes:
        kind: The class name in engine/errors.py, ``InternalError`` for a bug.
        message: One sentence: what is wrong and what to do.
        details: For a developer; never chat text.
        exit_code: Exit code of the command line.
        context: Tokens of context that were asked for or in use when memory was short, or when the system ended the
            engine for it; 0 where the context was already cut to what fits, and for other errors.
        memory: Holders of memory, if the machine's memory was short.
        allowed: The value that would do, where one option stands in the way and that is known.
        about: Part of the request that it is about, as `TenonError` has it.
    """

    kind: str
    message: str
    details: str = ""
    exit_code: int = 1
    context: int = 0
    memory: MemoryShortage | None = None
    allowed: Allowed | None = None
    about: str = ""
