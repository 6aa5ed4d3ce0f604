"""Commands to the engine: which model to run and how, what to do with it, and the files that a message carries."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from engine.messages.models import ModelOutline, OptionValue

Unit = Literal["", "page", "chapter"]

_FENCE = re.compile(r"`{3,}")

Role = Literal["system", "user", "assistant", "tool"]
PromptKind = Literal["chat", "code", "arithmetic", "instruction"]

# The model that ships with Tenon and answers where no other was chosen: its name, and what people see.
OWN_HEAD = "mtp"  # the draft that a model comes with, whatever files it is in
DEFAULT_MODEL = "smollm2"
# Port of the server unless another is named: TENO on a telephone's keys.
SERVER_PORT = 8366


@dataclass(frozen=True)
class Section:
    """A page or a chapter of a document."""

    label: str  # the page's number or the chapter's title
    start: int  # beginning in the attachment's text, in characters


@dataclass(frozen=True)
class Picture:
    """A picture in a message, as `engine.documents.pictures.read_picture` makes it."""

    sha256: str  # digest of size and pixels, as they are shown: by it a picture is known, wherever its file is
    width: int  # pixels, after it was turned as its file says
    height: int
    path: str = ""  # its file, which is read again when the model is to see it; empty if ``content`` has it
    content: bytes = b""  # what the file holds
    name: str = ""  # name for messages
    at: int = 0  # place in the message's content, in characters


@dataclass(frozen=True)
class Attachment:
    """A file attached to a message."""

    name: str  # the file's name, without folders, on one line
    size_bytes: int  # the file's size
    text: str  # text, with line feeds as line ends; paragraphs of a document have a blank line between them
    unit: Unit = ""  # kind of the sections of a document; empty for a file without any
    # In the order of the text, the first at its beginning. A page without text is one, too
    sections: tuple[Section, ...] = ()
    missing: str = ""  # sentences that say what of the file is not in the text; mostly empty
    picture: Picture | None = None  # the file if it is one, which has no text; in a `ChatMessage` they stand apart

    def marked(self, start: int, end: int) -> str:
        """Return a stretch of the text, with a line before each page or chapter that says which one it is."""
        if not self.sections:
            return self.text[start:end]
        starts = [section.start for section in self.sections]
        parts = [self.text[start : min(end, starts[0])].strip("\n")] if start < starts[0] else []
        for section, section_end in zip(self.sections, [*starts[1:], len(self.text)], strict=True):
            part = self.text[max(start, section.start) : min(end, section_end)].strip("\n")
            if part.strip():
                label = f"page {section.label}" if self.unit == "page" else section.label
                parts.append(part if part.startswith(label) else f"[{label}]\n{part}")
        return "\n\n".join(parts)


def with_attachments(text: str, attachments: Sequence[Attachment]) -> str:
    """Return a message as the model reads it: files but pictures as fenced blocks under their names, then the text."""
    files = [one for one in attachments if one.picture is None]
    parts = [fenced(with_missing(one, f"File: {one.name}"), one.marked(0, len(one.text))) for one in files]
    if text.strip():
        parts.append(text)
    return "\n\n".join(parts)


def with_missing(attachment: Attachment, heading: str) -> str:
    """Return a heading of a file's text, and below it what is missing there."""
    return f"{heading}\n{attachment.missing}" if attachment.missing else heading


def fenced(heading: str, content: str) -> str:
    """Return a block that its content cannot end: the fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in _FENCE.findall(content)), default=2)
    fence = "`" * (longest + 1)
    end = "" if content.endswith("\n") else "\n"
    return f"{heading}\n{fence}\n{content}{end}{fence}"


def cut_to(text: str, most: int) -> str:
    """Return a text, or its first ``most`` characters and a line that tells a model how many it lacks."""
    left = len(text) - most
    return f"{text[:most]}\n[{left} more characters are left out.]" if left > 0 else text


@dataclass(frozen=True)
class Tool:
    """A function that a model may ask its client to call."""

    name: str
    description: str = ""
    parameters: str = "{}"  # the JSON schema of its arguments, an object, as text


@dataclass(frozen=True)
class ToolCall:
    """A model's wish to call a tool."""

    name: str
    arguments: str  # JSON, as text
    id: str = ""  # by which the result is told from others


@dataclass(frozen=True)
class ToolUse:
    """Tools of a request."""

    offered: tuple[Tool, ...] = ()  # all of them
    required: bool = False  # the reply is a call
    only: str = ""  # the name of the one tool that may be called; empty for any
    parallel: bool = True  # a reply may have several calls


@dataclass(frozen=True)
class ChatMessage:
    """One turn of a conversation."""

    role: Role
    content: str
    # Files that are read before the content: whole where the context holds them, else the passages that match
    # what is asked
    attachments: tuple[Attachment, ...] = ()
    pictures: tuple[Picture, ...] = ()  # by their places in the content; files come before all of it
    # Passages are looked for that match the content; not for a wish of the program's own
    searches: bool = True
    calls: tuple[ToolCall, ...] = ()  # calls of tools, by the assistant
    answers: str = ""  # the id of the call that a tool's turn has the result of


@dataclass(frozen=True)
class LoadOptions:
    """Model to run and its options. Two equal values mean that nothing has to be loaded again."""

    model: str = DEFAULT_MODEL  # a local folder, a GGUF file, or the name of an installed or a bundled model
    # A LoRA adapter that is merged into the model as it loads, named like a model; empty for none. A model that is an
    # adapter itself is merged into the model that it names
    adapter: str = ""
    # Folders or names of what guesses tokens ahead, which vote if they are several; ``mtp`` for the layer that
    # the model comes with, ``lookup`` for what followed the same words earlier in the text, ``off`` for
    # nothing. Empty, the planner chooses
    drafts: tuple[str, ...] = ()
    # These drafts guess even if the model is faster without them, for the mode or the memory was named too
    insists: bool = False
    # Place of the layers: ``gpu`` for as many as fit there and the others on the CPU, ``gpu-copy`` for all on
    # the GPU, where those that do not fit are copied for each token, ``disk`` for what memory has no room
    # for, while a draft guesses. ``auto``: the planner chooses
    memory: str = "auto"
    # Values of modes' options by name (`ModeOption`); an option without one has its default
    mode_options: Mapping[str, OptionValue] = field(default_factory=dict, hash=False)
    # ``auto`` for what the file is in, or ``fp32``, ``bf16``, ``q8_0``, ``q4_k_m``, which convert
    weights: str = "auto"
    # Format of keys and values: ``full``, as wide as the activations; ``q8_0``, 8 bits, lossy and half of the
    # memory; ``auto``, 8 bits where the context does not fit otherwise
    kv_cache: str = "auto"
    threads: int | None = None  # CPU threads; None takes the usable physical cores
    context: int | None = None  # tokens of context; None takes the model's own length, capped by memory
    # Upper limit for the engine's process, its own code included; None takes what is free
    ram_budget_bytes: int | None = None
    vram_budget_bytes: int | None = None  # the same for a GPU's memory; 0 leaves the GPU alone
    # Drafts may run on a graphics chip that torch knows nothing of, where that was measured to be faster
    graphics_chip: bool = False
    # Most layers of the model that are to be in the GPU's memory; None takes what its budget allows
    gpu_layers: int | None = None


#: The least and the most of what is asked of sampling; of top-p the least itself is not allowed.
SAMPLING_RANGES = {
    "temperature": (0.0, 100.0),
    "top_k": (0, 1_000_000),
    "top_p": (0.0, 1.0),
    "min_p": (0.0, 1.0),
    "repetition_penalty": (0.01, 100.0),
    "presence": (-2.0, 2.0),
    "frequency": (-2.0, 2.0),
    "bias": (-100.0, 100.0),
}


@dataclass(frozen=True)
class SamplingOptions:
    """Sampling of the next token. None takes what the model's makers advise, else the default (`engine/advice.py`)."""

    temperature: float | None = None  # 0 is greedy
    top_k: int | None = None  # keep the k best tokens; 0 keeps all
    top_p: float | None = None  # keep the smallest set whose probability reaches this; 1 keeps all
    min_p: float | None = None  # keep tokens at least this share of the best one's probability; 0 keeps all
    # Divide (or multiply, when negative) logits of the last tokens (`Penalties.window`); 1 does nothing
    repetition_penalty: float | None = None
    seed: int | None = None  # keys the noise together with the position; None draws a new one for each reply


@dataclass(frozen=True)
class Penalties:
    """Numbers that are added to the logits of single tokens before one is drawn."""

    presence: float = 0.0  # taken from tokens that the reply has already, the prompt's not counted; -2 to 2
    frequency: float = 0.0  # the same as often as the reply has them
    bias: tuple[tuple[int, float], ...] = ()  # token ids, each with what is added to it; -100 to 100
    # Last tokens of prompt and reply that the repetition penalty looks at: llama.cpp's penalty_last_n, which
    # people's numbers are made for. Over the whole of a long chat it would punish every name, comma and line
    # end that was ever used
    window: int = 64


Effort = Literal["low", "medium", "high"]


@dataclass(frozen=True)
class Thinking:
    """Wishes for a model that can think before it answers. None leaves it to the model."""

    on: bool | None = None  # True if it thinks at all, for templates that know ``enable_thinking``
    effort: Effort | None = None  # for templates that know ``reasoning_effort``


@dataclass(frozen=True)
class OutputForm:
    """Form that a reply's text must have, after a thought where it begins with one."""

    # ``schema``: JSON of a JSON schema; ``regex``: a regular expression; ``grammar``: Lark's or llama.cpp's
    kind: Literal["schema", "regex", "grammar"]
    text: str  # the schema, the expression or the grammar


@dataclass(frozen=True)
class Load:
    """Load a model ahead of the first message. Answered by `ModelLoaded` or `Failed`."""

    request_id: str
    options: LoadOptions


@dataclass(frozen=True)
class KeptChat:
    """The place on the disk of what is read of a chat, so that it is not read again after a restart."""

    folder: str  # the chat's own; the engine never makes it: without it the chat is gone
    most_bytes: int  # of all such folders, which lie beside each other


@dataclass(frozen=True)
class EarlierReplies:
    """Replies of the same model that lookup guesses from, in memory alone; the reply is then one of them."""

    pool: str  # name of those whose replies are guessed from; others take no notice of them
    chat: str = ""  # the chat that it belongs to, for `ForgetReplies`


#: Messages and calls of a request together: each takes time on its way through the pipe, which holds Python's lock.
MOST_PARTS = 16_384


@dataclass(frozen=True)
class Generate:
    """Answer a conversation (or continue raw text), loading the model first where it is not the one in memory.

    Answered by any number of progress events and exactly one `Finished` or `Failed`.
    """

    request_id: str
    options: LoadOptions
    # The conversation, oldest first, ending with the user's turn; or with the start of the reply, which is
    # then continued: the reply's text is what is added to it
    messages: tuple[ChatMessage, ...] = ()
    # Text to continue without a chat template, or its token ids; then messages is empty
    raw_prompt: str | tuple[int, ...] | None = None
    # Control tokens that are written in the raw prompt are control tokens; else they are words
    parse_special: bool = False
    max_tokens: int | None = None  # upper limit of the reply; None means until the context is full
    sampling: SamplingOptions = field(default_factory=SamplingOptions)
    penalties: Penalties = field(default_factory=Penalties)  # beside the sampling
    stop: tuple[str, ...] = ()  # strings that end the reply; they are not part of its text
    # The rule of verification by its ``--verify`` name; the default is lossless under every setting
    verify: str = "sample-and-match"
    # Kind of the task, where it is known: the worth of a draft differs by it
    prompt_kind: PromptKind | None = None
    show_unconfirmed: bool = False  # `TextDrafted` is wanted
    stop_loops: bool = False  # a reply that repeats itself is ended, with the stop reason ``loop``
    # Wishes for a model that can think; others take no notice
    thinking: Thinking = field(default_factory=Thinking)
    round_texts: bool = False  # every round is wanted with the texts of its tokens, for whoever draws them
    whole: bool = False  # no turn may be left out: a conversation that outgrows the context is an error
    left_out: int = 0  # older turns that whoever sends it has left out, because it had more than `MOST_PARTS`
    # Each token is drawn among those that keep to it; with the default rule of verification alone
    form: OutputForm | None = None
    # Tools that may be called. The reply's text has calls in the format of the model's template
    # (`ModelAdvice.tools`), with its marks; their arguments keep to the tools' schemas
    tools: ToolUse = field(default_factory=ToolUse)
    # Log-probabilities of the tokens are wanted, and of so many likeliest ones at each place; with the
    # default rule of verification alone
    logprobs: int | None = None
    kept: KeptChat | None = None  # None keeps nothing of it on the disk
    earlier: EarlierReplies | None = None  # None guesses from its own text alone, and leaves nothing to others
    lets_others_first: bool = False  # requests that do not say so go before it while it waits

    @property
    def pictures(self) -> list[Picture]:
        """Pictures of all its messages."""
        return [picture for turn in self.messages for picture in turn.pictures]

    def with_pictures(self, change: Callable[[Picture], Picture]) -> Generate:
        """Return the request with another picture in the place of each."""
        if not self.pictures:
            return self
        turns = [replace(turn, pictures=tuple(map(change, turn.pictures))) for turn in self.messages]
        return replace(self, messages=tuple(turns))

    @property
    def texts(self) -> list[str]:
        """All its texts but those that end the reply."""
        raw, turns = self.raw_prompt, self.messages
        texts = [raw if isinstance(raw, str) else "", "" if self.form is None else self.form.text]
        texts += [turn.content for turn in turns]
        texts += [file.text for turn in turns for file in turn.attachments]
        texts += [text for turn in turns for call in turn.calls for text in (call.name, call.arguments)]
        texts += [text for tool in self.tools.offered for text in (tool.name, tool.description, tool.parameters)]
        return texts

    @property
    def size_bytes(self) -> int:
        """Bytes of all its texts in UTF-8, and 4 for each token of a raw prompt."""
        if isinstance(self.raw_prompt, tuple):
            return 4 * len(self.raw_prompt)
        text = "".join(self.texts)
        return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))

    @property
    def formed(self) -> bool:
        """True if its reply may have to keep to a form, of itself or of tools."""
        return self.form is not None or bool(self.tools.offered)


@dataclass(frozen=True)
class CountTokens:
    """Say how many tokens the prompt of a request has, and answer nothing to it; the context is no limit.

    Answered by `TokensCounted` or `Failed`.
    """

    request_id: str
    request: Generate

    @property
    def options(self) -> LoadOptions:
        """Names the model, which is loaded where it is not the one in memory."""
        return self.request.options


@dataclass(frozen=True)
class CheckDrafts:
    """Say of some drafts whether they fit a model; neither is loaded, and what is loaded stays.

    Answered by one `DraftChecked` for each draft, or by `Failed` when the model itself cannot be read or the check
    was cancelled.
    """

    request_id: str
    options: LoadOptions  # names the model
    drafts: tuple[str, ...]  # folders or names


@dataclass(frozen=True)
class CheckLoaded:
    """Say whether the model in memory answers requests with these options as it is. Replies that run go on.

    If it does, the rows and states that it has kept of a chat are read from the disk before the answer.

    Answered by `LoadedChecked`, or by `Failed` when it was cancelled.
    """

    request_id: str
    options: LoadOptions
    kept: KeptChat | None = None  # the chat; None for none


@dataclass(frozen=True)
class ReportMachine:
    """Say what this machine has; what is loaded stays.

    Answered by `MeasuringProgress` while speeds are measured, then by `MachineReported`, or by `Failed`.
    """

    request_id: str
    measure: bool = False  # measure its speeds, though they are known; else those that are kept are told


@dataclass(frozen=True)
class MakePlan:
    """Predict every mode for a model, as if no other were in memory; nothing is loaded, and what is loaded stays.

    Answered by `PlanMade`, or by `Failed` where the model cannot be read.
    """

    request_id: str
    # The model, its draft, and what else is settled; every mode is planned, whichever these stand for
    options: LoadOptions


@dataclass(frozen=True)
class PredictModels:
    """Say of some models what they would do on this machine; nothing is loaded.

    Answered by one `ModelPredicted` for each, in the order given, or by `Failed` when it was cancelled.
    """

    request_id: str
    models: tuple[ModelOutline, ...]
    options: LoadOptions = field(default_factory=LoadOptions)  # settled by the user for all of them


@dataclass(frozen=True)
class FindPairs:
    """Say which installed drafts work with which installed models. Answered by `PairsFound` or `Failed`."""

    request_id: str


@dataclass(frozen=True)
class Cancel:
    """Stop a request, running or waiting. Seen within 300 ms, during load and prefill too."""

    request_id: str


@dataclass(frozen=True)
class Unload:
    """Free the model's memory."""


@dataclass(frozen=True)
class ForgetReplies:
    """Guess no more from what was said in a chat."""

    earlier: EarlierReplies  # an empty name of a chat stands for all chats
    erased: bool = False  # True to drop also what the model in memory has read of it
    kept: KeptChat | None = None  # place of an erased chat; None if it may be any that has no place


@dataclass(frozen=True)
class Ping:
    """A question that `Pong` answers once all commands before it are done: whether the engine's thread still runs."""

    number: int


@dataclass(frozen=True)
class Shutdown:
    """End the engine's thread after the running request has been cancelled."""


Request = (
    Load | Generate | CountTokens | CheckDrafts | CheckLoaded | ReportMachine | MakePlan | PredictModels | FindPairs
)
"""Commands that are answered, and can be cancelled until then."""
Command = Request | Cancel | Unload | ForgetReplies | Ping | Shutdown
