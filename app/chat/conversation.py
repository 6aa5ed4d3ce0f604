"""Parts of a conversation: messages and their tree, of which one path is shown, options, and facts kept of replies."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, fields, replace
from enum import Enum
from heapq import heapify, heappop, heappush
from typing import Any, get_args

from app.chat.modes import draft_names, former_mode
from engine.json_text import read_json
from engine.messages import (
    DEFAULT_MODEL,
    Attachment,
    Effort,
    ErrorReport,
    Promise,
    Reply,
    Role,
    SamplingOptions,
    Thinking,
    Timings,
)
from engine.modes import MEMORY_TITLES

# A reply shorter than this says little about its mode's speed.
_FEWEST_TOKENS = 48


@dataclass(frozen=True)
class ConversationOptions:
    """Overrides of one conversation; None takes the setting."""

    system_prompt: str | None = None  # words that the model is told first; blank tells it nothing
    max_tokens: int | None = None  # longest reply in tokens; 0 is until the context is full
    # Sampling; a None in it takes the setting, and the model's own where there is none
    sampling: SamplingOptions = field(default_factory=SamplingOptions)
    drafts: tuple[str, ...] | None = None  # drafts of the replies, as `LoadOptions` has them
    memory: str | None = None  # place of the model's layers, as `LoadOptions` has it
    thinking: Thinking = field(default_factory=Thinking)  # wish to a model that can think before it answers
    # The chat is one text, which each reply goes on with; nothing in it is labelled as a turn
    continues: bool | None = None

    @property
    def empty(self) -> bool:
        """True if everything is as the settings say."""
        return self == ConversationOptions()

    def sampling_over(self, settings: SamplingOptions) -> SamplingOptions:
        """Return sampling: what is set here, and the settings for the rest."""
        own = {name: value for name, value in asdict(self.sampling).items() if value is not None}
        return replace(settings, **own)

    def to_json(self) -> str:
        """One JSON object with what is set."""
        values = {name: value for name, value in asdict(self).items() if value is not None}
        for part in ("sampling", "thinking"):
            values[part] = {name: value for name, value in values[part].items() if value is not None}
        return json.dumps(values, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> ConversationOptions:
        """Read `to_json`'s text; what is not understood is left at its default."""
        try:
            return cls.from_values(read_json(text))
        except ValueError:
            return cls()

    @classmethod
    def from_values(cls, values: Any) -> ConversationOptions:
        """Take what JSON gave; what is not understood is left at its default."""
        if not isinstance(values, dict):
            return cls()
        sampling = values.get("sampling")
        given = sampling if isinstance(sampling, dict) else {}
        numbers = {name.name: _number(given.get(name.name), name.name) for name in fields(SamplingOptions)}
        system_prompt = values.get("system_prompt")
        most = _number(values.get("max_tokens"), "top_k")
        drafts, memory = values.get("drafts"), values.get("memory")
        former = former_mode(values["mode"], DEFAULT_MODEL) if "mode" in values else None
        if former is not None:  # of an older version
            drafts, memory = list(former.drafts), former.memory
        if not isinstance(drafts, list) or not all(isinstance(draft, str) for draft in drafts):
            drafts = None
        return cls(
            system_prompt if isinstance(system_prompt, str) else None,
            None if most is None else int(most),
            SamplingOptions(**numbers),  # type: ignore[arg-type]
            None if drafts is None else tuple(drafts),
            memory if isinstance(memory, str) and memory in MEMORY_TITLES else None,
            _thinking(values.get("thinking")),
            True if values.get("continues") is True else None,
        )


@dataclass(frozen=True)
class Preset:
    """Options under a name, to give to other conversations."""

    name: str
    options: ConversationOptions


_WHOLE = ("top_k", "seed")
_LARGEST = 1 << 64  # seeds have so many bits


def _thinking(values: Any) -> Thinking:
    given = values if isinstance(values, dict) else {}
    on, effort = given.get("on"), given.get("effort")
    return Thinking(on if isinstance(on, bool) else None, effort if effort in get_args(Effort) else None)


def _number(value: Any, name: str) -> float | int | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < _LARGEST:
        return None
    if name in _WHOLE:
        return value if isinstance(value, int) else None
    return float(value)


@dataclass(frozen=True)
class ToolStep:
    """A call of a tool within a reply, and what came of it."""

    turn: int  # number of the model's turn that ended with it, from 0 on
    place: int  # characters of the reply's content before it
    name: str  # name by which the model knows the tool
    arguments: str  # JSON
    title: str = ""  # name of the tool for the user
    # ``asks`` before the user has answered, ``runs``, ``done``, ``failed``, or ``refused`` by the user
    state: str = "asks"
    result: str = ""  # text that came, or a sentence that says why none did
    seconds: float = 0.0  # time that it took
    reads_only: bool = False  # its server says that it changes nothing


@dataclass(frozen=True)
class ReplyDetails:
    """The engine's own account of one reply; settings say what was asked, this says what was done."""

    mode: str  # the mode that ran, by its ``--mode`` name
    mode_reason: str  # the planner's reason for it
    model: str  # the model that ran: a name, a folder or a file
    draft: str | None  # names of the drafts, None where none was used
    weights: str  # number format of the weights in memory
    # Devices of target and draft, by ``target`` and ``draft``; None where there was none
    devices: dict[str, str | None] = field(default_factory=dict)
    stop_reason: str = "end"  # ``end``, ``stop``, ``length`` or ``cancelled``
    # Speed and acceptance. Of a reply that was continued: of its last part
    timings: Timings = field(default_factory=Timings)
    resident_peak_bytes: int = 0  # most memory that the engine's process held
    # Length of a looping reply's content before it says the same again; None of others
    new_characters: int | None = None
    continued: bool = False  # True if `timings` are of a part after what stood there before
    promise: Promise | None = None  # what was planned; None where nothing was measured to plan from
    busy: bool = False  # other programs kept the machine busy meanwhile
    steps: tuple[ToolStep, ...] = ()  # calls of tools, in the order in which the model made them

    @classmethod
    def of(cls, reply: Reply, kept_characters: int = 0, steps: tuple[ToolStep, ...] = ()) -> ReplyDetails:
        """Details from the engine's report of a finished reply.

        So many characters of the message, and these calls, were there before.
        """
        new = reply.new_characters
        return cls(
            mode=reply.mode,
            mode_reason=reply.plan.reason,
            model=reply.model,
            draft=draft_names(reply.drafts) or None,
            weights=reply.weights,
            devices=dict(reply.devices),
            stop_reason=reply.stop_reason,
            timings=reply.timings,
            resident_peak_bytes=reply.memory.resident_peak_bytes,
            new_characters=None if new is None else kept_characters + new,
            continued=kept_characters > 0,
            promise=reply.plan.promise,
            busy=reply.busy,
            steps=steps,
        )


@dataclass(frozen=True)
class Stretches:
    """Starts and ends in characters, ascending; 8 bytes each, where a pair of Python's integers takes 120."""

    packed: bytes = b""  # start, end, start, end, ... as unsigned integers of C

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, int]]) -> Stretches:
        """Pack these."""
        return cls(array("I", [place for pair in pairs for place in pair]).tobytes())

    def moved(self, by: int) -> Stretches:
        """Return the same parts where so many characters stand before the text."""
        return Stretches.of((start + by, end + by) for start, end in self) if by else self

    def __iter__(self) -> Iterator[tuple[int, int]]:
        places = iter(array("I", self.packed))
        return zip(places, places, strict=True)

    def __bool__(self) -> bool:
        return bool(self.packed)


NO_STRETCHES = Stretches()


class MessageState(str, Enum):
    """States of a message; the value is what the database keeps."""

    COMPLETE = "complete"
    QUEUED = "queued"  # after the reply of another conversation
    WAITING = "waiting"  # sent to the engine, no text yet
    STREAMING = "streaming"
    STOPPED = "stopped"  # by the user
    INTERRUPTED = "interrupted"  # a crash cut it
    FAILED = "failed"

    @property
    def unfinished(self) -> bool:
        """True if more is to come."""
        return self in (MessageState.QUEUED, MessageState.WAITING, MessageState.STREAMING)


@dataclass(frozen=True)
class ReplyStatistics:
    """The figures shown under a reply; None where one does not apply."""

    mode: str  # the mode that ran, by its ``--mode`` name
    tokens: int  # tokens of the reply so far
    tokens_per_second: float | None  # speed of generation
    time_to_first_token_ms: float | None  # from the request to the first token
    acceptance_rate: float | None  # share of drafted tokens that the model agreed with, 0 to 1
    mean_acceptance_length: float | None  # tokens per forward pass of the model
    resident_bytes: int  # memory that the engine's process holds
    context_used: int  # tokens of the context in use, prompt and reply
    context_limit: int  # tokens of context there are; 0 when not known
    # Weights read from the disk, in the middle over the reply; 0 for a model in memory
    disk_bytes_per_second: float = 0.0
    # The speed that plain decoding would have had then, of the same weights in the same format
    plain_per_second: float | None = None
    thought_tokens: int = 0  # tokens of thoughts before the answer

    @property
    def times_plain(self) -> float | None:
        """Speed as a multiple of plain decoding's; None where that is not known, or says nothing."""
        if self.mode == "plain" or self.tokens < _FEWEST_TOKENS:
            return None
        if not self.plain_per_second or self.tokens_per_second is None:
            return None
        return self.tokens_per_second / self.plain_per_second


@dataclass(frozen=True)
class Message:
    """One turn of a conversation."""

    id: int  # unique over all conversations
    conversation_id: int
    role: Role  # ``user`` or ``assistant``
    content: str  # text, as far as it has come
    created_at: float  # seconds since 1970, UTC
    state: MessageState = MessageState.COMPLETE
    statistics: ReplyStatistics | None = None  # figures of a reply, None before the first ones
    notices: tuple[str, ...] = ()  # sentences to read beside it
    error: str = ""  # one sentence when it failed or was cut off, else empty
    # The parts of the content that came from accepted drafts; not kept on the disk
    drafted: Stretches = NO_STRETCHES
    # The message that it follows; None for the first. Messages of one parent are alternatives
    parent_id: int | None = None
    deleted: bool = False  # hidden until undo or until it is erased; what follows it is shown all the same
    # The model that a reply was asked of: a name, a folder or a file; empty where it was not kept
    model: str = ""
    details: ReplyDetails | None = None  # facts of the run; None before the reply is complete
    attachments: tuple[Attachment, ...] = ()  # files that the model reads before the content
    kept_characters: int = 0  # length of a continued reply's content before it goes on; not kept on the disk
    # The error with details; None where the reply is from a file or an older Tenon
    trouble: ErrorReport | None = None

    @property
    def steps(self) -> tuple[ToolStep, ...]:
        """Calls of tools in a reply."""
        return () if self.details is None else self.details.steps

    def with_steps(self, steps: tuple[ToolStep, ...]) -> Message:
        """Return a finished turn of a reply with its calls as they are now."""
        assert self.details is not None
        return replace(self, details=replace(self.details, steps=steps))


@dataclass(frozen=True)
class Conversation:
    """A conversation without its messages; times in seconds since 1970, UTC."""

    id: int
    title: str
    created_at: float
    updated_at: float
    leaf_id: int | None = None  # the message at the end of the shown path; None takes the newest one
    pinned: bool = False  # True if it stands above the others
    archived: bool = False  # True if it is left out of the list
    # The folder that it lies in; empty for none. A folder is there as long as something lies in it
    folder: str = ""
    model: str = ""  # the model that its last reply was asked of; empty before the first
    # Options that it sets for itself instead of the settings
    options: ConversationOptions = field(default_factory=ConversationOptions)


class MessageTree:
    """Every message knows the one that it follows; several that follow the same one are alternatives.

    A deleted message stays in the tree until it is removed. Paths and alternatives are those of the tree without
    it, in which what followed it follows what it followed.

    Args:
        messages: In any order. One whose parent is not there, or that follows itself in the end, is a first one.
    """

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self._messages = {message.id: message for message in messages}
        self._parents: dict[int, int | None] = {}
        self._following: dict[int | None, list[int]] = {}
        for message in self._messages.values():
            self._hang(message)

    def put(self, message: Message) -> None:
        """Add a message, or replace the one of its id; its parent never changes."""
        self._messages[message.id] = message
        if message.id not in self._parents:
            self._hang(message)

    def get(self, message_id: int) -> Message | None:
        """One message, deleted or not; None when there is none of that id."""
        return self._messages.get(message_id)

    def all(self) -> list[Message]:
        """Every message, deleted ones too: by age, but each after the one that it follows."""
        waiting = [self._age(message_id) for message_id in self._following.get(None, [])]
        heapify(waiting)
        ordered: list[Message] = []
        while waiting:
            message_id = heappop(waiting)[1]
            ordered.append(self._messages[message_id])
            for follower in self._following.get(message_id, []):
                heappush(waiting, self._age(follower))
        return ordered

    def remove(self, message_id: int) -> None:
        """Take a message out for good; what followed it follows its parent."""
        if message_id not in self._messages:
            return
        parent_id = self._parents.pop(message_id)
        followers = self._following.pop(message_id, [])
        for follower in followers:
            self._messages[follower] = replace(self._messages[follower], parent_id=parent_id)
            self._parents[follower] = parent_id
        siblings = self._following[parent_id]
        siblings[:] = [*(other for other in siblings if other != message_id), *followers]
        del self._messages[message_id]

    def path_to(self, message_id: int | None) -> list[Message]:
        """Return the messages from the first one down to this one, without deleted ones."""
        path = [message for message in self._upward(message_id) if not message.deleted]
        return path[::-1]

    def alternatives(self, message_id: int) -> list[int]:
        """Ids of a message and of those that could stand in its place, oldest first; none for one that is gone."""
        message = self._messages.get(message_id)
        if message is None or message.deleted:
            return []
        shown = [above.id for above in self._upward(self._parents[message_id]) if not above.deleted]
        return self._shown_after(shown[0] if shown else None)

    def tip_below(self, message_id: int | None) -> int | None:
        """Return the end of the path that takes the newest message each time, from this one (None: the start) on."""
        tip = message_id
        while followers := self._shown_after(tip):
            tip = followers[-1]
        return tip

    def tip(self, leaf_id: int | None) -> int | None:
        """Return the end of the path to show: a leaf, or the nearest message above it that is not deleted.

        Without a leaf that is known it is the newest path's end; None when there are no messages.
        """
        for message in self._upward(leaf_id):
            if not message.deleted:
                return message.id
        return self.tip_below(None)

    def branch(self, message_id: int) -> list[int]:
        """Return a message and all that follows it, in any order of alternatives, deleted ones too."""
        found, at = [message_id], 0
        while at < len(found):
            found += self._following.get(found[at], [])
            at += 1
        return found

    def _upward(self, message_id: int | None) -> Iterator[Message]:
        message = None if message_id is None else self._messages.get(message_id)
        while message is not None:
            yield message
            parent_id = self._parents[message.id]
            message = None if parent_id is None else self._messages[parent_id]

    def _shown_after(self, message_id: int | None) -> list[int]:
        """Ids of what follows a message by age, deleted ones stepped over."""
        shown, waiting = [], list(self._following.get(message_id, []))
        while waiting:
            follower = waiting.pop()
            if self._messages[follower].deleted:
                waiting += self._following.get(follower, [])
            else:
                shown.append(follower)
        return sorted(shown, key=self._age)

    def _hang(self, message: Message) -> None:
        """Note what a message follows. A damaged file could make a circle, which is cut here."""
        known = message.parent_id in self._messages and message.parent_id != message.id
        parent_id = message.parent_id if known else None
        above = parent_id if message.id in self._following else None  # what nothing follows closes no circle
        while above is not None and above != message.id:
            above = self._parents.get(above)
        self._parents[message.id] = parent_id = None if above is not None else parent_id
        self._following.setdefault(parent_id, []).append(message.id)

    def _age(self, message_id: int) -> tuple[float, int]:
        """Sorts messages: ids alone do not, where two windows write or a file was imported."""
        return self._messages[message_id].created_at, message_id
