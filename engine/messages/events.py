"""Events of the engine, and messages between it and the process that prepares requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.messages.commands import Command, Generate
from engine.messages.machine import MachineReport, PlanReport
from engine.messages.models import ModelPredicted, PairsFound
from engine.messages.reports import (
    ErrorReport,
    Memory,
    MemoryPlace,
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
    """The engine's libraries are imported and it takes commands."""

    process_id: int
    version: str
    gpu: str = ""  # the GPU that it can use, by torch's name for it (``cuda:0``); empty where there is none


@dataclass(frozen=True)
class HandedBack:
    """A command that only a process with torch can carry out, or that came after such a one; nothing of it is done.

    `EngineProcess` starts that process and sends it the command; it tells this event once, before it does.
    """

    command: Command


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
    """Result of the check that a draft fits a model."""

    request_id: str
    draft: str
    problem: str  # one sentence that says what does not fit; empty where all does
    mode: str = ""  # the mode that it makes alone; empty where it does not fit


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
    """Progress of measuring the machine."""

    request_id: str
    what: str  # the next part that is measured
    share: float  # share of the steps that are done, 0 to 1


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
    modes: PlanReport | None = None  # every mode as the choice was made; None for a server's model
    places: tuple[MemoryPlace, ...] = ()  # the model in memory


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
    seconds_left: float | None = None  # until all of it is read, at the speed so far; None before that is known


@dataclass(frozen=True)
class TokensAdded:
    """New tokens of the reply."""

    request_id: str
    text: str  # added to it: whole characters only, possibly none yet
    token_ids: tuple[int, ...]  # the tokens of one round
    # Number of the first of them that were accepted from the draft; the others are the target's own
    drafted: int = 0
    # Log-probabilities of them, if asked for; the token that ends the reply has none
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
    """Live figures, four times a second at most."""

    request_id: str
    mode: str
    timings: Timings
    memory: Memory
    context_used: int  # tokens of the context in use, prompt and reply
    context_limit: int  # tokens of context there are
    # Drafts and verdicts since the last such event; of more than 64 rounds the latest, unless their texts
    # were asked for
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
    | HandedBack
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
class PictureLayout:
    """The place of a picture among the tokens of a prompt, for one model."""

    key: str  # names the picture, and what encodes it
    mark: str  # text by which chat templates say that a picture is there
    text: str  # text that takes the place of the mark
    anchor: str  # token in that text where a run of rows stands
    runs: tuple[int, ...]  # rows of each run, in order
    follows: bool = False  # True if rows follow their anchors, False if they take their places


@dataclass(frozen=True)
class ToPrepare:
    """A request to prepare."""

    request: Generate
    context: int  # tokens of context, prompt and reply together
    formed: bool  # the grammar of its reply is wanted too
    folder: str  # the model
    cache: str  # folder of what takes long to make of a tokenizer
    layouts: Mapping[str, PictureLayout] = field(default_factory=dict, hash=False)  # by the pictures' digests


@dataclass(frozen=True)
class Prepared:
    """A request that was prepared."""

    prompt: bytes  # token ids of 4 bytes each, in the machine's order
    events: tuple[Event, ...] = ()  # events for the user
    grammar: str = ""  # grammar of the reply, in llguidance's words; empty for none
    mark: str = ""  # text that the form begins after


@dataclass(frozen=True)
class ToAsk:
    """A request to fit and to encode for a server."""

    request: Generate
    model: str  # the server's name for the model
    kind: ServerKind  # kind of the server
    context: int | None  # tokens of prompt and reply together; None where nobody has said
    scale: float  # tokens that the server counted before, over those estimated for the same
    limit: int | None = None  # upper limit of the reply in tokens; None for none
    counts: bool = False  # the number of the prompt's tokens alone is wanted


@dataclass(frozen=True)
class Encoded:
    """A request as a server gets it."""

    path: str  # path of the protocol
    body: bytes  # JSON
    tokens: int  # tokens of the prompt by an estimate, before it is scaled
    events: tuple[Event, ...] = ()  # events for the user
