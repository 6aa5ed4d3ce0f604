"""Exchange: one request in the words of a protocol, as `Generate`, and the answer to it in the same words."""

from __future__ import annotations

import base64
import json
import re
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, ClassVar

from engine.documents.pictures import MAX_PICTURE_BYTES, read_picture
from engine.errors import Cancelled, InvalidOption
from engine.messages import (
    MOST_PARTS,
    SAMPLING_RANGES,
    ChatMessage,
    EarlierReplies,
    Generate,
    LoadOptions,
    ModelReport,
    OutputForm,
    Penalties,
    Picture,
    Reply,
    Role,
    SamplingOptions,
    Thinking,
    TokenLogprob,
    ToolCall,
)
from engine.server.fields import Fields
from engine.server.refusal import Refused
from engine.server.tools import earlier_call
from engine.text.reply_parts import Calls, ReplyParts, Said
from engine.text.tool_calls import FORMATS

_MOST_CHOICES = 8
_ROLES: dict[str, Role] = {
    "system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool",
}  # fmt: skip
_SEEDS = 1 << 64
_LEAST_SHARE = 1e-9  # of the likeliest tokens: one alone
_ALL = 1 << 31
#: Stop strings of a request, and their characters together, as each token is held against all of them; characters of
#: its tools; tokens with a bias.
MOST_STOPS, MOST_STOP_CHARACTERS = 256, 16_384
MOST_TOOL_CHARACTERS = 1 << 20
MOST_BIASES = 16_384
#: The number that Anthropic's own server takes: https://docs.anthropic.com/en/docs/build-with-claude/vision
MOST_PICTURES = 100
_PICTURES_S = 120.0  # for all of a request's: each may take 20 s to fetch and 60 s to read
_FORBIDDEN = -100.0
_TOKEN_ID = re.compile(r"[0-9]{1,9}")
_TEXT_ONLY = (
    "Only texts, and pictures of a user, have a place here, and there is a part of the type {kind}: leave it out."
)
_NOT_FETCHED = (
    "A picture comes in its URL (data:image/png;base64,...): Tenon's server fetches none from elsewhere unless it was "
    "started with --picture-addresses."
)
_DATA_URL = re.compile(r"data:image/[\w.+-]+;base64,", re.ASCII)
_EFFORTS = {"none": Thinking(on=False), "minimal": Thinking(effort="low"), "low": Thinking(effort="low"),
            "medium": Thinking(effort="medium"), "high": Thinking(effort="high"), "xhigh": Thinking(effort="high"),
            "max": Thinking(effort="high")}  # fmt: skip
#: Fields that several protocols have for things that Tenon does not do, and the sentence for each.
UNSERVED = {
    "functions": "Functions are sent in the field tools: leave the field functions out.",
    "function_call": "A function is chosen in the field tool_choice: leave the field function_call out.",
    "logprobs": "Tenon's server does not give log-probabilities yet: leave the field logprobs out.",
    "top_logprobs": "Tenon's server does not give log-probabilities yet: leave the field top_logprobs out.",
}
ANY_OBJECT = OutputForm("schema", '{"type": "object"}')


@dataclass(frozen=True)
class Served:
    """The model that is served."""

    name: str  # name for clients
    options: LoadOptions  # options that it is loaded with
    report: ModelReport  # report on the load
    created: int = field(default_factory=lambda: int(time.time()))  # time of the start, in seconds since 1970
    # True if control tokens in a raw prompt are control tokens, unless a request says otherwise
    parse_special: bool = False
    picture_addresses: bool = False  # True if pictures are fetched from addresses in requests
    # Earlier replies that its replies are guessed from; None for none, or if the window decides for each request
    earlier: EarlierReplies | None = None

    @cached_property
    def fingerprint(self) -> str:
        """Word that changes with whatever changes the answer to a seed."""
        known = f"{self.options} {self.report.folder} {self.report.weights}"
        return f"tenon-{sha256(known.encode()).hexdigest()[:12]}"


class Exchange(ABC):
    """One request and its answer.

    A request for several choices is several of `Generate`, and the index says which an event belongs to. A stream is
    `opened` once for each of them, gets any number of `delta`, then `ended`, and after the last of them `closed`.

    Raises:
        Refused: The fields are no request.
    """

    media_type: ClassVar[str] = "text/event-stream"  # media type of a stream
    streams_unasked: ClassVar[bool] = False  # True if a request that does not say gets a stream
    # Fields that may have each part of a request; the last one if none is there
    fields_of: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "prompt": ("messages",),
        "form": ("grammar", "json_schema", "response_format", "tools"),
        "bias": ("logit_bias",),
        "stop": ("stop",),
        "logprobs": ("logprobs",),
    }

    def __init__(self, fields: Fields, served: Served) -> None:
        self.served = served
        self.created = int(time.time())
        check_model(fields, served)
        # Field that has each part of this request
        self.places = {part: next(filter(fields.has, names), names[-1]) for part, names in self.fields_of.items()}
        self.requests: tuple[Generate, ...] = tuple(  # requests for the engine
            replace(request, earlier=served.earlier) for request in self._read(fields)
        )
        for request in self.requests:
            check_bounds(request, served, self.places)
        # True if the answer is wanted piece by piece
        self.streams = fields.switch("stream", self.streams_unasked)

    @abstractmethod
    def _read(self, fields: Fields) -> tuple[Generate, ...]:
        """Translate the request."""

    @abstractmethod
    def whole(self, replies: Sequence[Reply]) -> dict[str, Any]:
        """Return the answer as one body."""

    def opened(self, index: int, prompt_tokens: int, cached_tokens: int) -> bytes:
        """Return the beginning of a choice, whose prompt is being read."""
        return b""

    def logged(self, index: int, logprobs: Sequence[TokenLogprob]) -> None:  # noqa: B027, few have a place for them
        """Take the log-probabilities of the tokens whose text comes next."""

    @abstractmethod
    def delta(self, index: int, said: Said) -> bytes:
        """Return a piece of the thought, of the answer, of calls, or of several of them."""

    @abstractmethod
    def ended(self, index: int, reply: Reply) -> bytes:
        """Return the end of a choice."""

    def closed(self, replies: Sequence[Reply]) -> bytes:
        """Return the end of the stream."""
        return b""

    def ping(self) -> bytes:
        """Return a sign of life."""
        return b": ping\n\n"

    @abstractmethod
    def failed(self, refused: Refused) -> bytes:
        """Return the end of a stream that cannot go on."""

    def divided(self, index: int) -> ReplyParts | None:
        """Return what divides a choice's text into its parts; None if the model only continues a text."""
        request = self.requests[index]
        if request.raw_prompt is not None:
            return None
        last = request.messages[-1] if request.messages else None
        begun = last.content if last is not None and last.role == "assistant" and not last.calls else ""
        tools = request.tools.offered
        form = FORMATS.get(self.served.report.advice.tools) if tools else None
        return ReplyParts(begun, form, tools)

    def parts(self, index: int, reply: Reply) -> tuple[str, str, list[ToolCall]]:
        """Return thought, answer and calls of a whole reply."""
        divided = self.divided(index)
        if divided is None:
            return "", reply.text, []
        pieces = divided.add(reply.text), divided.end(reply.stop_reason == "length")
        calls = Calls()
        for piece in pieces:
            calls.add(piece.calls)
        return "".join(one.thought for one in pieces), "".join(one.answer for one in pieces), calls.made


def check_model(fields: Fields, served: Served) -> None:
    """Refuse a request for another model than the one that is served."""
    name = fields.text("model")
    if name and name.removesuffix(":latest") not in (served.name, served.options.model):
        message = f"There is no model {name[:100]!r} here: this server serves {served.name}."
        raise Refused(404, message, "model", "model_not_found")


def check_bounds(request: Generate, served: Served, places: Mapping[str, str]) -> None:
    """Refuse a request that has more of anything than every part of the program can take at once."""
    raw, parts = request.raw_prompt, len(request.messages) + sum(len(one.calls) for one in request.messages)
    if isinstance(raw, tuple) and served.report.context and len(raw) >= served.report.context:
        holds = f"but the model's context holds {served.report.context:,}: shorten it."
        sentence = f"The prompt has {len(raw):,} tokens, {holds}"
        raise Refused(400, sentence, places["prompt"], "context_length_exceeded")
    if parts > MOST_PARTS:
        sentence = f"A request has {MOST_PARTS:,} messages and calls at most: leave out older ones."
        raise Refused(400, sentence, places["prompt"])
    if len(request.pictures) > MOST_PICTURES:
        sentence = f"A request has {MOST_PICTURES} pictures at most: leave out older ones."
        raise Refused(400, sentence, places["prompt"])
    if len(request.stop) > MOST_STOPS or sum(map(len, request.stop)) > MOST_STOP_CHARACTERS:
        sentence = (
            f"A request has {MOST_STOPS} stop strings at most, of {MOST_STOP_CHARACTERS:,} characters together: "
            "leave some out."
        )
        raise Refused(400, sentence, places["stop"])
    offered = request.tools.offered
    if sum(len(tool.description) + len(tool.parameters) for tool in offered) > MOST_TOOL_CHARACTERS:
        sentence = f"The tools of a request have {MOST_TOOL_CHARACTERS:,} characters at most: send smaller ones."
        raise Refused(400, sentence, "tools")


def new_id(prefix: str) -> str:
    """Make a name that no other answer has."""
    return f"{prefix}{secrets.token_hex(12)}"


def as_json(value: object) -> bytes:
    """Return a value as JSON in as few bytes as it takes."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def sent_event(data: object, event: str = "") -> bytes:
    """Return an event of a stream (server-sent events)."""
    return (f"event: {event}\n".encode() if event else b"") + b"data: " + as_json(data) + b"\n\n"


def sampling(fields: Fields) -> SamplingOptions:
    """Read the sampling of tokens, by the names that most protocols have for it."""
    ranges = SAMPLING_RANGES
    seed, top_k, top_p = fields.whole("seed"), fields.whole("top_k"), fields.number("top_p", *ranges["top_p"])
    names = ("repetition_penalty", "repeat_penalty")
    penalties = [fields.number(name, *ranges["repetition_penalty"]) for name in names]
    penalty = next((one for one in penalties if one is not None), None)
    return SamplingOptions(
        temperature=fields.number("temperature", *ranges["temperature"]),
        # More tokens than a vocabulary has are all; vLLM's word for all is -1.
        top_k=None if top_k is None else min(max(top_k, 0), int(ranges["top_k"][1])),
        top_p=_LEAST_SHARE if top_p == 0.0 else top_p,
        min_p=fields.number("min_p", *ranges["min_p"]),
        repetition_penalty=1.0 if fields.whole("repeat_last_n") == 0 else penalty,
        seed=None if seed in (None, -1) else seed % _SEEDS,
    )


def penalties(fields: Fields) -> Penalties:
    """Read penalties by OpenAI's names, and the window of the repetition penalty by llama.cpp's: 0 is none, -1 all."""
    window = fields.whole("repeat_last_n", -1) or Penalties.window
    return Penalties(
        fields.number("presence_penalty", *SAMPLING_RANGES["presence"]) or 0.0,
        fields.number("frequency_penalty", *SAMPLING_RANGES["frequency"]) or 0.0,
        _biases(fields),
        _ALL if window == -1 else window,
    )


def _biases(fields: Fields) -> tuple[tuple[int, float], ...]:
    """Read tokens with their biases: an object, or llama.cpp's list of pairs, where false forbids a token."""
    wanted = fields.value("logit_bias")
    if isinstance(wanted, list | dict) and len(wanted) > MOST_BIASES:
        raise fields.wrong("logit_bias", f"for {MOST_BIASES:,} tokens at most")
    if isinstance(wanted, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in wanted):
        wanted = {str(token): value for token, value in wanted}
    if isinstance(wanted, dict):
        wanted = {token: _FORBIDDEN if value is False else value for token, value in wanted.items()}
    place = fields.name("logit_bias")
    biases = Fields(wanted, place) if isinstance(wanted, dict) else fields.inner("logit_bias")
    found = []
    for token in biases.names():
        value, (least, most) = biases.number(token), SAMPLING_RANGES["bias"]
        if value is None or not least <= value <= most or _TOKEN_ID.fullmatch(token) is None:
            raise fields.wrong("logit_bias", "an object from token ids to numbers between -100 and 100")
        found.append((int(token), value))
    return tuple(found)


def choices(fields: Fields, request: Generate) -> tuple[Generate, ...]:
    """Return a request for each choice that the field ``n`` wants, each with its own seed if there is one."""
    count = fields.whole("n", 1, _MOST_CHOICES) or 1
    seed = request.sampling.seed
    if seed is None:
        return (request,) * count
    seeds = ((seed + at) % _SEEDS for at in range(count))
    return tuple(replace(request, sampling=replace(request.sampling, seed=one)) for one in seeds)


def effort(fields: Fields, name: str) -> Thinking:
    """Read wishes for thinking from a field that says how much."""
    wanted = fields.one_of(name, _EFFORTS)
    return Thinking() if wanted is None else _EFFORTS[wanted]


def turn(message: Fields) -> ChatMessage:
    """Read a turn of a conversation, whose content is a text or a list of parts."""
    role = message.text("role")
    if role not in _ROLES:
        raise message.wrong("role", f"one of {', '.join(_ROLES)}")
    message.refuse({"function_call": "Calls are sent in the field tool_calls: leave function_call out."})
    answers = message.text("tool_call_id") or message.text("tool_name") or ""
    pictures: list[Picture] | None = [] if _ROLES[role] == "user" else None
    words = content(message, "content", pictures)
    called = message.objects("tool_calls")
    calls = tuple(earlier_call(one.inner("function"), "arguments", one.text("id")) for one in called)
    return ChatMessage(_ROLES[role], words, pictures=tuple(pictures or ()), calls=calls, answers=answers)


def content(message: Fields, field: str, pictures: list[Picture] | None = None) -> str:
    """Read a field that is a text or a list of parts; leave earlier thoughts out.

    Args:
        message: The object.
        pictures: Takes the pictures among the parts, which are not read yet; None if only texts have a place here.
    """
    value = message.value(field)
    if value is None or isinstance(value, str):
        return value or ""
    if not isinstance(value, list):
        raise message.wrong(field, "a text or a list of parts")
    texts: list[str] = []
    for part in message.objects(field):
        kind = part.text("type") or "text"
        if kind in ("thinking", "redacted_thinking", "reasoning"):
            continue
        if pictures is not None and kind in ("image_url", "input_image", "image"):
            pictures.append(replace(_picture(part, kind), at=sum(map(len, texts)) + len(texts)))
            continue
        if kind not in ("text", "input_text", "output_text"):
            raise Refused(400, _TEXT_ONLY.format(kind=kind[:40]), part.name("type"), "not_supported")
        text = part.text("text")
        if text is None:
            raise part.wrong("text", "a text")
        texts.append(text)
    return "\n".join(texts)


def _picture(part: Fields, kind: str) -> Picture:
    """Return a picture that is not read yet: OpenAI's URL, or Anthropic's base64 or URL."""
    if kind == "image":
        held, field = part.inner("source"), "data"
        if held.text("type") != "url":
            return decoded(held.text(field) or "", held, field)
        field = "url"
    else:
        held = part if isinstance(part.value("image_url"), str) else part.inner("image_url")
        field = "image_url" if held is part else "url"
    url = held.text(field) or ""
    begin = _DATA_URL.match(url)
    return decoded(url[begin.end() :], held, field) if begin else Picture("", 0, 0, name=url)


def decoded(text: str, fields: Fields, field: str) -> Picture:
    """Return the picture, not read yet, of a field's text in base64."""
    try:
        return Picture("", 0, 0, content=base64.b64decode(text, validate=True))
    except ValueError as error:
        raise fields.wrong(field, "a picture in base64") from error


def with_pictures_read(request: Generate, addresses: bool) -> Generate:
    """Return a request whose pictures are read; this may take a while.

    Args:
        request: The request; pictures that have to be fetched have their address as a name.
        addresses: True to fetch them.

    Raises:
        Refused: One is none, is too large, or is not fetched; or all of them take too long.
    """
    room, end = MAX_PICTURE_BYTES, time.monotonic() + _PICTURES_S  # of all that are fetched, and of all

    def is_late() -> bool:
        return time.monotonic() >= end

    def read(one: Picture) -> Picture:
        nonlocal room
        content = one.content
        if is_late():
            raise Cancelled("")
        if one.name:
            if not addresses:
                raise Refused(400, _NOT_FETCHED, "messages", "not_supported")
            from engine.tools.own_tools import get_public  # rarely needed

            content = get_public(one.name, "image/*", room)[1].content
            room -= len(content)
        return read_picture(content, cancelled=is_late, at=one.at)

    try:
        return request.with_pictures(read)
    except InvalidOption as error:
        raise Refused(400, error.message, "messages") from error
    except Cancelled as error:
        took = f"The pictures took more than {_PICTURES_S:.0f} s"
        sentence = f"{took}: send fewer or smaller ones, or try again when other requests are done."
        raise Refused(400, sentence, "messages") from error


def timings(reply: Reply) -> dict[str, Any]:
    """Return the speed of a reply, by the names of llama.cpp's server."""
    own = reply.timings
    return {
        "cache_n": own.cache_n,
        "prompt_n": own.prompt_n,
        "prompt_ms": own.prompt_ms,
        "prompt_per_token_ms": own.prompt_ms / own.prompt_n if own.prompt_n else None,
        "prompt_per_second": own.prompt_per_second,
        "predicted_n": own.predicted_n,
        "predicted_ms": own.predicted_ms,
        "predicted_per_token_ms": 1e3 / own.predicted_per_second if own.predicted_per_second else None,
        "predicted_per_second": own.predicted_per_second,
        "draft_n": own.draft_n,
        "draft_n_accepted": own.draft_n_accepted,
    }


def wanted_form(fields: Fields, name: str) -> OutputForm | None:
    """Read the form from a field with a ``type``; a schema is beside it, or in an object ``json_schema``."""
    wanted = fields.inner(name)
    kind = wanted.one_of("type", ("text", "json_object", "json_schema"))
    if kind in (None, "text"):
        return None
    holder = wanted if wanted.value("json_schema") is None else wanted.inner("json_schema")
    schema = holder.value("schema")
    if kind == "json_object" and schema is None:
        return ANY_OBJECT
    return schema_form(schema, holder, "schema")


def schema_form(schema: object, fields: Fields, field: str) -> OutputForm:
    """Return the form that a field's JSON schema stands for."""
    if not isinstance(schema, dict | bool):
        raise fields.wrong(field, "a JSON schema")
    return OutputForm("schema", json.dumps(schema))


def openai_form(fields: Fields) -> OutputForm | None:
    """Read the form from OpenAI's field for it, or from those of llama.cpp's server."""
    grammar = fields.text("grammar")
    if grammar:
        return OutputForm("grammar", grammar)
    if fields.value("json_schema") is not None:
        return schema_form(fields.value("json_schema"), fields, "json_schema")
    return wanted_form(fields, "response_format")


def in_form(request: Generate, form: OutputForm | None) -> Generate:
    """Give a request a form; let the model answer without a thought, unless one was wished for."""
    if form is None and not request.tools.required:
        return request
    if form is not None and form.kind != "schema" and request.tools.offered:
        raise Refused(400, "A grammar leaves no room for tools: leave the one or the other out.", "grammar")
    thinking = Thinking(on=False) if request.thinking == Thinking() else request.thinking
    return replace(request, form=form, thinking=thinking)
