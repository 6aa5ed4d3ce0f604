"""Events of the engine, and messages between it and the process that prepares requests."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.messages.commands import Generate
from engine.messages.machine import MachineReport, PlanReport
from engine.messages.models import ModelPredicted, PairsFound
from engine.messages.reports import (
    ErrorReport,
    Memory,
    ModelAdvice,
    ModelReport,
    Plan,
    Reply,
    RoundRecord,
    ServerKind,
    Timings,
    TokenLogprob,
)


@dataclass(frozen=True)
class EngineReady:
    """The engine's libraries are imported and it takes commands.

    Attributes:
        gpu: The GPU that it can use, by torch's name for it (``cuda:0``); empty where there is none.
    """

    process_id: int
    version: str
    gpu: str = ""


@dataclass(frozen=True)
class Working:
    """A sign of life: layers are computed or bytes read, and nothing else says so."""


@dataclass(frozen=True)
class LoadProgress:
    """Bytes of weights read so far; the first has 0 of 0."""

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
class Pong:
    """The answer to a `Ping` of this number."""

    number: int


@dataclass(frozen=True)
class DraftChecked:
    """Result of the check that a draft fits a model.

    Attributes:
        problem: One sentence that says what does not fit; empty where all does.
        mode: The mode that it makes alone; empty where it does not fit.
    """

    request_id: str
    draft: str
    problem: str
    mode: str = ""


@dataclass(frozen=True)
class LoadedChecked:
    """Answer to `CheckLoaded`: False if something has to be loaded."""

    request_id: str
    loaded: bool


@dataclass(frozen=True)
class TokensCounted:
    """The number of tokens in a request's prompt."""

    request_id: str
    tokens: int


@dataclass(frozen=True)
class MeasuringProgress:
    """Progress of measuring the machine.

    Attributes:
        what: The next part that is measured.
        share: Share of the steps that are done, 0 to 1.
    """

    request_id: str
    what: str
    share: float


@dataclass(frozen=True)
class MachineReported:
    """Hardware of the machine."""

    request_id: str
    report: MachineReport


@dataclass(frozen=True)
class PlanMade:
    """Prediction for every mode, and the model's sampling where nothing else is asked for."""

    request_id: str
    plan: PlanReport
    advice: ModelAdvice = field(default_factory=ModelAdvice)


@dataclass(frozen=True)
class PlanChosen:
    """The mode that this reply starts in, and why."""

    request_id: str
    plan: Plan


@dataclass(frozen=True)
class ContextTrimmed:
    """The oldest turns were left out because the conversation outgrew the context."""

    request_id: str
    messages_left_out: int


@dataclass(frozen=True)
class Notice:
    """One sentence that the user should read beside this reply (a fallback that was taken, say)."""

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
        text: Added to it: whole characters only, possibly none yet.
        token_ids: The tokens of one round.
        drafted: Number of the first of them that were accepted from the draft; the others are the target's own.
        logprobs: Log-probabilities of them, if asked for; the token that ends the reply has none.
    """

    request_id: str
    text: str
    token_ids: tuple[int, ...]
    drafted: int = 0
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True)
class TextDrafted:
    """Text that the draft would say next, unconfirmed: to be shown as such after the reply's text.

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
        rounds: Drafts and verdicts since the last such event; of more than 64 rounds the latest, unless
            their texts were asked for.
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
    | Working
    | LoadProgress
    | ModelLoaded
    | ModelUnloaded
    | Pong
    | DraftChecked
    | LoadedChecked
    | TokensCounted
    | MeasuringProgress
    | MachineReported
    | PlanMade
    | ModelPredicted
    | PairsFound
    | PlanChosen
    | ContextTrimmed
    | Notice
    | PrefillProgress
    | TokensAdded
    | TextDrafted
    | StatisticsUpdated
    | Finished
    | Failed
)


@dataclass(frozen=True)
class ToPrepare:
    """A request to prepare.

    Attributes:
        request: The request.
        context: Tokens of context, prompt and reply together.
        formed: The grammar of its reply is wanted too.
        folder: The model.
        cache: Folder of what takes long to make of a tokenizer.
    """

    request: Generate
    context: int
    formed: bool
    folder: str
    cache: str


@dataclass(frozen=True)
class Prepared:
    """A request that was prepared.

    Attributes:
        prompt: Token ids of 4 bytes each, in the machine's order.
        events: Events for the user.
        grammar: Grammar of the reply, in llguidance's words; empty for none.
        mark: Text that the form begins after.
    """

    prompt: bytes
    events: tuple[Event, ...] = ()
    grammar: str = ""
    mark: str = ""


@dataclass(frozen=True)
class ToAsk:
    """A request to fit and to encode for a server.

    Attributes:
        request: The request.
        model: The server's name for the model.
        kind: Kind of the server.
        context: Tokens of prompt and reply together; None where nobody has said.
        scale: Tokens that the server counted before, over those estimated for the same.
        limit: Upper limit of the reply in tokens; None for none.
        counts: The number of the prompt's tokens alone is wanted.
    """

    request: Generate
    model: str
    kind: ServerKind
    context: int | None
    scale: float
    limit: int | None = None
    counts: bool = False


@dataclass(frozen=True)
class Encoded:
    """A request as a server gets it.

    Attributes:
        path: Path of the protocol.
        body: JSON.
        tokens: Tokens of the prompt by an estimate, before it is scaled.
        events: Events for the user.
    """

    path: str
    body: bytes
    tokens: int
    events: tuple[Event, ...] = ()
