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
class Promise:
    """Figures of a reply as they were planned before it was written."""

    tokens_per_second: float | None = None  # speed of the mode over all kinds of text
    first_token_s: float | None = None  # seconds to the first token, for the tokens of the prompt that were read
    memory_bytes: int | None = None  # bytes of the host's memory that the engine's process holds with this text
    rough: bool = False  # made from what was measured while other programs kept the machine busy


@dataclass(frozen=True)
class Plan:
    """The mode that runs and why."""

    mode: str  # ``--mode`` name
    reason: str  # one sentence
    promise: Promise | None = None  # None when nothing was measured to predict from


MemoryUse = Literal["weights", "draft", "caches", "states", "buffers", "engine", "others"]


@dataclass(frozen=True)
class MemoryShare:
    """Bytes that one use takes of a place."""

    # ``weights``: the target's. ``draft``: the drafts' weights and caches. ``caches``: keys and values of a
    # full context. ``states``: those of layers that have a state in place of keys and values, with all that are kept
    # so that other texts go on from them. ``buffers``: what a forward needs at its widest, and what streamed
    # layers pass through. ``engine``: the process without a model. ``others``: what other programs held when the
    # model was loaded
    use: MemoryUse
    size_bytes: int  # number of bytes, of caches when they are full
    layers: int = 0  # number of the target's layers among weights, whole or without their experts
    part: str = ""  # part of each layer in a few words, if experts are elsewhere; else empty
    drafts: int = 0  # number of drafts, if the use is theirs
    text_bytes: int = 0  # bytes among these that come as a text fills the context


@dataclass(frozen=True)
class MemoryPlace:
    """Bytes that a loaded model takes of one place, as planned, with a full context."""

    place: str  # ``ram``, ``disk`` or torch's name of a GPU
    total_bytes: int  # size; 0 for the disk
    shares: tuple[MemoryShare, ...]  # by use


ThinkingControl = Literal["", "switch", "effort"]
ServerKind = Literal["", "tenon", "llama.cpp", "vllm", "sglang", "ollama", "lmstudio"]


@dataclass(frozen=True)
class ModelAdvice:
    """Sampling of a model in a chat where nobody asks for anything else."""

    sampling: SamplingOptions = field(default_factory=SamplingOptions)  # the numbers that hold; no seed
    own: tuple[str, ...] = ()  # names of those that the model's makers advise; the others are the usual ones
    # Settings of its chat template: ``switch`` for thinking on or off, ``effort`` for how much; else empty
    thinking: ThinkingControl = ""
    tools: str = "hermes"  # the format of its tool calls (`engine.text.tool_calls`)


@dataclass(frozen=True)
class ModelReport:
    """A loaded model."""

    name: str  # for the user
    folder: str  # folder of its checkpoint
    architecture: str  # ``architectures[0]`` of its config.json
    parameters: int  # number of weights
    # The format in use: one of `LoadOptions`, or what a quantized file calls itself (``Q4_K_M``)
    weights: str
    context: int  # tokens of context in use
    weight_bytes: int  # size of all weights, in memory or read from the disk as they are needed
    load_ms: float  # time the load took
    # Places of target, draft and caches: a GPU first, then the host's memory, then the disk
    places: tuple[MemoryPlace, ...] = ()
    kv_cache: str = "full"  # format of keys and values: ``full``, as wide as the activations, or ``q8_0``
    threads: int = 0  # threads of this processor that compute; 0 for a server's model
    # Way of replying where nothing else is asked for
    advice: ModelAdvice = field(default_factory=ModelAdvice)
    template_note: str = ""  # a sentence on what took the place of its chat template; empty where nothing did
    only_continues: bool = False  # True if the model only continues texts and writes no chats
    sees: bool = False  # True if it takes pictures


@dataclass(frozen=True)
class MemberYield:
    """Yield of one of several drafters that vote."""

    name: str  # the draft's name, or ``lookup``
    weight: float = 1.0  # weight of its vote now, the heaviest member's being 1
    draft_n: int = 0  # nodes of verified drafts that it guessed
    draft_n_tested: int = 0  # positions of the path at which it had a guess
    draft_n_accepted: int = 0  # accepted nodes that it guessed, alone or with others
    acceptance_rate: float | None = None  # accepted / tested; None where nothing was tested


@dataclass(frozen=True)
class Timings:
    """Speed of one reply, in the field's own words; None where a thing does not apply.

    ``acceptance_rate`` = accepted / path positions tested; a position is tested when its parent was accepted and it
    has drafted children. ``mean_acceptance_length`` (tau) = tokens emitted per target forward of decoding.
    ``draft_n`` and ``draft_n_accepted`` count nodes, ``draft_n_tested`` path positions, ``probe_n`` the rows of drafts
    that only ask what comes further on. ``predicted_per_second`` counts the tokens after the first, which comes out of
    the prompt's forward, as measurements of modes do. ``plain_per_second`` is the same as plain decoding would have had
    it, by the rounds of this reply that had no draft, or else by those of the replies just before. ``thought_n`` of the
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
    """

    root: str  # the token that the draft goes on from
    drafted: tuple[str, ...]  # (N,) one text for each drafted token
    emitted: tuple[str, ...]  # one for each token that left the loop


@dataclass(frozen=True)
class RoundRecord:
    """One round of decoding: a draft, its verification, and what they took."""

    position: int  # the position of the root's successor, counted from the start of the prompt
    tokens: tuple[int, ...]  # (N,) the drafted tokens
    parents: tuple[int, ...]  # (N,) each node's parent, -1 for the root
    scores: tuple[float, ...]  # (N,) each node's cumulative log-probability under the drafter, or empty
    accepted: tuple[int, ...]  # the nodes of the path that held, from the root down
    emitted: tuple[int, ...]  # tokens that left the loop; the end of the reply may have cut them short
    draft_ms: float  # time that the drafter took
    verify_ms: float  # time that the target's forward and the rule of verification took
    waited_ms: float = 0.0  # part of it in which the forward waited for weights
    texts: RoundTexts | None = None  # texts of its tokens, if the request asked for them
    probes: tuple[int, ...] = ()  # (P,) the node that each probe followed, -1 for the root
    # (N,) for each node the members of a committee that guessed it, as `Timings.members` has them; or empty
    sources: tuple[tuple[int, ...], ...] = ()
    weights: tuple[float, ...] = ()  # weights of the members, when they drafted; empty where nobody voted
    beside: int = 0  # rows that other replies had in the forward

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
    """A token of a reply and what the model gave it."""

    said: bytes  # own bytes of the text in UTF-8, which may be part of a character
    logprob: float  # natural logarithm of its probability, before temperature, filters and masks
    # The likeliest tokens at its place with theirs, the likeliest first
    top: tuple[tuple[bytes, float], ...] = ()


@dataclass(frozen=True)
class Reply:
    """A finished reply: what ``tenon ask --json`` prints."""

    text: str
    # Tokens of the prompt; none where a server does not tell them, as of ``token_ids``
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
    # (start, end) of each stretch of the text that came from accepted drafts; not printed
    drafted_text: tuple[tuple[int, int], ...] = ()
    busy: bool = False  # other programs took much of the processors meanwhile, so that its speed says little
    new_characters: int | None = None  # length of the part of a looping reply that says something new
    # The string of the request that ended it, empty where another reason did; not printed
    stop_text: str = ""
    # Log-probabilities of its tokens but the last, if the request asked for them; not printed
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
    """The host's memory when there was not enough of it."""

    total_bytes: int  # the machine's
    others_bytes: int  # held by other programs
    own_bytes: int  # held by the engine's process
    short_bytes: int = 0  # missing; 0 where that is not known


@dataclass(frozen=True)
class BenchmarkRow:
    """One mode, measured."""

    mode: str  # ``--mode`` name
    tokens_per_second: float | None = None  # over all prompts; None where it could not run
    # The same as it was promised before; None for nothing
    predicted_per_second: float | None = None
    # What was promised too much or too little, as a share of what came: of speed, first token and memory
    errors: dict[str, float] = field(default_factory=dict)
    first_token_ms: float | None = None  # median time to the first token
    tokens_per_round: float | None = None  # tokens for each forward of the target
    # One sentence that says why it was not measured; then nothing else has a value
    refusal: str | None = None
    busy: bool = False  # True if other programs kept the machine busy during any of its replies
    by_kind: dict[str, float] = field(default_factory=dict)  # tokens per second for each kind of prompt
    acceptance_rate: float | None = None  # acceptance rate of drafted positions that were tested
    peak_bytes: int = 0  # the process's resident set at its peak so far
    device_peak_bytes: dict[str, int] = field(default_factory=dict)  # peak memory of each GPU


@dataclass(frozen=True)
class ErrorReport:
    """An error on its way to the user."""

    kind: str  # the class name in engine/errors.py, ``InternalError`` for a bug
    message: str  # one sentence: what is wrong and what to do
    details: str = ""  # for a developer; never chat text
    exit_code: int = 1  # exit code of the command line
    # Tokens of context that were asked for or in use when memory was short, or when the system ended the
    # engine for it; 0 where the context was already cut to what fits, and for other errors
    context: int = 0
    memory: MemoryShortage | None = None  # holders of memory, if the machine's memory was short
    # The value that would do, where one option stands in the way and that is known
    allowed: Allowed | None = None
    about: str = ""  # part of the request that it is about, as `TenonError` has it
