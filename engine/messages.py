"""What goes into the engine and what comes out: frozen, picklable dataclasses and nothing else.

Commands go in through a queue, events come out; both cross a process boundary, so nothing here holds a tensor,
a lock or a function. Field names of `Timings` and `Memory` are those of ``tenon ask --json`` (llama.cpp's server
uses the same names where it has the thing).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Role = Literal["system", "user", "assistant"]
StopReason = Literal["end", "stop", "length", "cancelled"]


@dataclass(frozen=True)
class ChatMessage:
    """One turn of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True)
class LoadOptions:
    """Which model to run and how. Two equal values mean that nothing has to be loaded again.

    Attributes:
        model: A local folder, an installed model's name, or ``guide``.
        draft: The draft model's folder or name; None for none, or in a mode that needs one for the bundled one.
        draft_width: Nodes of a drafted tree that are expanded at each level, 1 to 64.
        draft_depth: Its longest path, 1 to 16.
        draft_nodes: Nodes of it that the target verifies in a round beside the root, 1 to 64.
        mode: A name from the table of modes, or ``auto``.
        weights: ``auto``, ``fp32``, ``bf16``, ``int8`` or ``int4``.
        threads: CPU threads; None takes the usable physical cores.
        context: Tokens of context; None takes the model's own length, capped by memory.
        fallback_threshold: LLMCad's alpha at the start of a reply, above 0 and at most 1: the target verifies when the
            most confident branch of the draft has become less likely than this.
        branching: LLMCad: whether drafts are trees; else the likeliest token follows the likeliest token.
        adaptive_fallback: LLMCad: whether confidence decides when to verify; else a draft has a fixed length.
        draft_ahead: LLMCad: whether the draft goes on while the target loads its weights.
        ram_budget_bytes: Upper limit for the engine's process, its own code included; None takes what is free.
        vram_budget_bytes: The same for a GPU's memory; 0 leaves the GPU alone.
    """

    model: str = "guide"
    draft: str | None = None
    mode: str = "auto"
    weights: str = "auto"
    threads: int | None = None
    context: int | None = None
    ram_budget_bytes: int | None = None
    vram_budget_bytes: int | None = None
    draft_width: int = 10
    draft_depth: int = 7
    draft_nodes: int = 15
    fallback_threshold: float = 0.01
    branching: bool = True
    adaptive_fallback: bool = True
    draft_ahead: bool = True


@dataclass(frozen=True)
class SamplingOptions:
    """How the next token is drawn. None takes the checkpoint's own generation_config.json.

    Attributes:
        temperature: 0 is greedy.
        top_k: Keep the k best tokens; 0 keeps all.
        top_p: Keep the smallest set whose probability reaches this; 1 keeps all.
        min_p: Keep tokens at least this share of the best one's probability; 0 keeps all.
        repetition_penalty: Divide (or multiply, when negative) logits of tokens already seen; 1 does nothing.
        seed: Keys the noise together with the position; None draws a new one for each reply.
    """

    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    repetition_penalty: float | None = None
    seed: int | None = None


# --- commands -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Load:
    """Load a model ahead of the first message. Answered by `ModelLoaded` or `Failed`."""

    request_id: str
    options: LoadOptions


@dataclass(frozen=True)
class Generate:
    """Answer a conversation (or continue raw text), loading the model first where it is not the one in memory.

    Answered by any number of progress events and exactly one `Finished` or `Failed`.

    Attributes:
        messages: The conversation, oldest first, ending with the person's turn; or with the start of the reply, which
            is then continued: the reply's text is what is added to it.
        raw_prompt: Text to continue without a chat template; then messages is empty.
        max_tokens: Upper limit of the reply; None means until the context is full.
        stop: Strings that end the reply; they are not part of its text.
        verify: The rule of verification by its ``--verify`` name; the default is lossless under every setting.
        show_unconfirmed: Whether `TextDrafted` is wanted.
        offer_topics: The bundled guide may hold back an answer that it is not sure of and offer the nearest topics
            instead. Token ids stay the model's own, and a notice says what was done.
    """

    request_id: str
    options: LoadOptions
    messages: tuple[ChatMessage, ...] = ()
    raw_prompt: str | None = None
    max_tokens: int | None = None
    sampling: SamplingOptions = field(default_factory=SamplingOptions)
    stop: tuple[str, ...] = ()
    verify: str = "sample-and-match"
    show_unconfirmed: bool = False
    offer_topics: bool = False


@dataclass(frozen=True)
class Cancel:
    """Stop a request, running or waiting. Seen within 300 ms, during load and prefill too."""

    request_id: str


@dataclass(frozen=True)
class Unload:
    """Free the model's memory."""


@dataclass(frozen=True)
class Shutdown:
    """End the engine's thread after the running request has been cancelled."""


Command = Load | Generate | Cancel | Unload | Shutdown


# --- reports --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """The mode that runs and why.

    Attributes:
        mode: Its ``--mode`` name.
        reason: One sentence.
        predicted_per_second: Tokens per second, None when nothing was measured to predict from.
    """

    mode: str
    reason: str
    predicted_per_second: float | None = None


@dataclass(frozen=True)
class ModelReport:
    """A loaded model.

    Attributes:
        name: What to show for it.
        folder: Where its checkpoint lies.
        architecture: ``architectures[0]`` of its config.json.
        parameters: Number of weights.
        weights: The format in use.
        context: Tokens of context in use.
        weight_bytes: Size of the weights in memory.
        load_ms: Time the load took.
    """

    name: str
    folder: str
    architecture: str
    parameters: int
    weights: str
    context: int
    weight_bytes: int
    load_ms: float


@dataclass(frozen=True)
class Timings:
    """Speed of one reply, in the field's own words; None where a thing does not apply.

    ``acceptance_rate`` = accepted / path positions tested; a position is tested when its parent was accepted and it
    has drafted children. ``mean_acceptance_length`` (tau) = tokens emitted per target forward of decoding.
    ``draft_n`` and ``draft_n_accepted`` count nodes.
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
    draft_n_accepted: int = 0
    acceptance_rate: float | None = None
    mean_acceptance_length: float | None = None
    acceptance_by_position: tuple[float, ...] = ()
    target_forwards: int = 0
    draft_ms: float = 0.0
    verify_ms: float = 0.0
    load_ms: float | None = None


@dataclass(frozen=True)
class RoundRecord:
    """One round of decoding: a draft, its verification, and what they took.

    Attributes:
        position: The position of the root's successor, counted from the start of the prompt.
        tokens: (N,) the drafted tokens.
        parents: (N,) each node's parent, -1 for the root.
        scores: (N,) each node's cumulative log-probability under the drafter, or empty.
        accepted: The nodes of the path that held, from the root down.
        emitted: Tokens that left the loop; the end of the reply may have cut them short.
        draft_ms: Time that the drafter took.
        verify_ms: Time that the target's forward and the rule of verification took.
    """

    position: int
    tokens: tuple[int, ...]
    parents: tuple[int, ...]
    scores: tuple[float, ...]
    accepted: tuple[int, ...]
    emitted: tuple[int, ...]
    draft_ms: float
    verify_ms: float

    @property
    def tested(self) -> int:
        """Positions of the path at which some drafted child was tested."""
        last = self.accepted[-1] if self.accepted else -1
        return len(self.accepted) + (last in self.parents)


@dataclass(frozen=True)
class Memory:
    """Memory and traffic of one reply, in bytes. ``resident_bytes`` is the process's resident set now."""

    resident_bytes: int = 0
    resident_peak_bytes: int = 0
    device_peak_bytes: dict[str, int] = field(default_factory=dict)
    disk_read_bytes: int = 0
    host_to_device_bytes: int = 0


@dataclass(frozen=True)
class Reply:
    """A finished reply: what ``tenon ask --json`` prints.

    Attributes:
        drafted_text: (start, end) of each stretch of the text that came from accepted drafts; not printed.
    """

    text: str
    prompt_ids: tuple[int, ...]
    token_ids: tuple[int, ...]
    mode: str
    model: str
    draft: str | None
    weights: str
    devices: dict[str, str | None]
    stop_reason: StopReason
    plan: Plan
    timings: Timings
    memory: Memory
    drafted_text: tuple[tuple[int, int], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The object of ``--json``: plain types, the keys of ARCHITECTURE.md's Statistics."""
        whole = asdict(self)
        del whole["plan"]["mode"]
        del whole["drafted_text"]
        del whole["memory"]["resident_bytes"]
        return whole


@dataclass(frozen=True)
class ErrorReport:
    """An error on its way to the person.

    Attributes:
        kind: The class name in engine/errors.py, ``InternalError`` for a bug.
        message: One sentence: what is wrong and what to do.
        details: For a developer; never chat text.
        exit_code: What the command line returns.
    """

    kind: str
    message: str
    details: str = ""
    exit_code: int = 1


# --- events ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EngineReady:
    """The engine's libraries are imported and it takes commands."""

    process_id: int
    version: str


@dataclass(frozen=True)
class LoadProgress:
    """Bytes of weights read so far."""

    request_id: str
    done_bytes: int
    total_bytes: int


@dataclass(frozen=True)
class ModelLoaded:
    """The model is in memory."""

    request_id: str
    report: ModelReport


@dataclass(frozen=True)
class ModelUnloaded:
    """No model is in memory."""


@dataclass(frozen=True)
class PlanChosen:
    """The mode that this reply starts in, and why."""

    request_id: str
    plan: Plan


@dataclass(frozen=True)
class ModeChanged:
    """The mode changed in mid-reply, and why."""

    request_id: str
    mode: str
    reason: str


@dataclass(frozen=True)
class ContextTrimmed:
    """The oldest turns were left out because the conversation outgrew the context."""

    request_id: str
    messages_left_out: int


@dataclass(frozen=True)
class Notice:
    """One sentence that the person should read beside this reply (a fallback that was taken, say)."""

    request_id: str
    text: str


@dataclass(frozen=True)
class PrefillProgress:
    """Tokens of the prompt read so far; what the cache already held counts as read."""

    request_id: str
    done_tokens: int
    total_tokens: int


@dataclass(frozen=True)
class TokensAdded:
    """New tokens of the reply.

    Attributes:
        text: What they add to it: whole characters only, possibly none yet.
        token_ids: The tokens of one round.
        drafted: How many of them, the first ones, were accepted from the draft; the others are the target's own.
    """

    request_id: str
    text: str
    token_ids: tuple[int, ...]
    drafted: int = 0


@dataclass(frozen=True)
class TextDrafted:
    """What the draft would say next, unconfirmed: to be shown as such behind the reply's text.

    It replaces what the last such event said, and `TokensAdded` or the reply's end makes it void.
    """

    request_id: str
    text: str


@dataclass(frozen=True)
class StatisticsUpdated:
    """Live figures, four times a second at most.

    Attributes:
        context_used: Tokens of the context in use, prompt and reply.
        context_limit: Tokens of context there are.
        rounds: What was drafted and what held since the last such event; of more than 64 rounds the latest.
    """

    request_id: str
    mode: str
    timings: Timings
    memory: Memory
    context_used: int
    context_limit: int
    rounds: tuple[RoundRecord, ...] = ()


@dataclass(frozen=True)
class Finished:
    """The reply is complete, or was stopped; then ``reply.stop_reason`` says ``cancelled``."""

    request_id: str
    reply: Reply


@dataclass(frozen=True)
class Failed:
    """The request ended with an error. What was generated before stays valid.

    A request that is cancelled before its prompt was ready (waiting, or while the model loads) fails with the kind
    ``Cancelled``, which is nothing to show.
    """

    request_id: str
    error: ErrorReport


Event = (
    EngineReady
    | LoadProgress
    | ModelLoaded
    | ModelUnloaded
    | PlanChosen
    | ModeChanged
    | ContextTrimmed
    | Notice
    | PrefillProgress
    | TokensAdded
    | TextDrafted
    | StatisticsUpdated
    | Finished
    | Failed
)
