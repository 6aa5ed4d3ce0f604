"""A checkpoint's tokenizer and chat template behind the few calls that the engine needs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from itertools import chain, takewhile
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tokenizers import Tokenizer as Backend
from tokenizers import models

from engine.errors import UnsupportedModel
from engine.files import read_table
from engine.gguf.config import end_ids_by_text
from engine.gguf.config import read_end_ids as read_gguf_end_ids
from engine.gguf.header import read_header
from engine.gguf.parts import find_gguf
from engine.gguf.tokenizer import Vocabulary, merges_by_score
from engine.messages import ChatMessage, PictureLayout, Role, Thinking, Tool
from engine.sentences import mark, say
from engine.text.chat_template import ChatTemplate, TemplateRefused
from engine.text.context_window import CutShort
from engine.text.control_tokens import ControlTokens, StandIns, texts_of
from engine.text.pictures import MARK, with_rows
from engine.text.sentence_piece import kept_merges
from engine.text.tokenizer_folder import known_template, read_folder, read_folder_templates, templates_beside
from engine.text.tool_calls import DESCRIBED
from engine.text.tool_calls.described import as_objects, described, one_by_one, paired, with_calls_written

_UNSAID = Thinking()
_NO_TEMPLATE = mark(
    "This model brings no chat template, so the conversation is given to it as plain text: it only continues texts."
)
_UNREADABLE = mark("The model's chat template cannot be read, so the conversation is given to it as plain text.")
_UNREADABLE_KNOWN = mark("The model's chat template cannot be read: that of {family} took its place.")
_SILENT = mark("The model's chat template leaves out what you write, so the conversation is given to it as plain text.")
_SILENT_KNOWN = mark("The model's chat template leaves out what you write: that of {family} took its place.")
_NO_PLACE = mark("The model's chat template has no place for pictures: use another file of this model.")
_NEXT = mark("The chat template in {name} cannot be used: that in {other} took its place.")
#: Beginning of a turn in a conversation that is given as plain text.
_LABELS: dict[Role, str] = {"system": "", "user": "User: ", "assistant": "Assistant: ", "tool": "Tool: "}
#: Texts that begin the next turn there, so a reply ends before them.
TURN_BEGINNINGS = tuple(before + label.strip() for label in _LABELS.values() if label for before in ("\n\n", "\n"))
_BETWEEN_TEXTS = ("<|endoftext|>", "<|end_of_text|>")
#: Characters of a text that surely has more tokens than its share of them, and those of a piece that is counted first.
_FEW_TOKENS, _PIECE = 16, 1 << 16
_NO_CALL = "000000000"  # Mistral's templates take no other ids than nine digits


class Tokenizer:
    """Text to token ids and back."""

    def __init__(self, folder: Path, end_ids: Sequence[int] = (), cache: Path | None = None) -> None:
        """Read the tokenizer of a checkpoint.

        Args:
            folder: The checkpoint: a folder, or a GGUF file.
            end_ids: End-of-text ids that generation_config.json or config.json names; a GGUF file's are known here.
            cache: Folder in which is kept what takes long to make of a GGUF file; None to make it again.

        Raises:
            TokenizerInvalid: it is missing or cannot be read.
            UnsupportedModel: a GGUF file's is of a kind that Tenon does not know.
        """
        gguf = find_gguf(folder)
        # Tokens whose text is another one's or no UTF-8, with the tokens that stand for the same bytes
        self.spelled: Mapping[int, tuple[int, ...]] = {}
        self.notes: tuple[str, ...] = ()  # what the user should know of it
        if gguf is None:
            self._backend, special, templates = read_folder(folder)
            own_end = self._backend.token_to_id(special["eos_token"]) if "eos_token" in special else None
            ends = end_ids_by_text(self._backend.token_to_id)
            ends = ends if own_end is None else (*ends, own_end)
        else:
            metadata = read_header(gguf).metadata
            vocabulary = Vocabulary(metadata)
            self.spelled, self.notes = vocabulary.spelled, vocabulary.notes
            self._backend, special = vocabulary.tokenizer(
                merges_by_score if cache is None else partial(kept_merges, cache)
            )
            templates = read_templates(gguf)
            ends = read_gguf_end_ids(metadata)
        self._backend.no_truncation()
        self._backend.no_padding()
        self._templates = {name: ChatTemplate(source, special) for name, source in templates.items()}
        self._special_tokens = special
        # Tokens that end a reply, by the tokenizer, their texts and generation_config.json
        self.end_ids = frozenset((*ends, *end_ids))
        self.vocabulary_size = self._backend.get_vocab_size() + len(self.spelled)
        added = self._backend.get_added_tokens_decoder()
        # Texts of the tokens that are found in a text before it is split
        self.added = {token: text.content for token, text in added.items()}
        special_ids = {token for token, text in added.items() if text.special}
        # Special tokens that are left out of a reply's text
        self.special = special_ids.union(twin for twin, ids in self.spelled.items() if special_ids.issuperset(ids))
        # A few tokenizers close the text as well; a prompt that is to be continued must stay open, but keeps the
        # tokens that are written in it.
        sample = self._backend.encode("a")
        marks = zip(sample.ids, sample.special_tokens_mask, strict=True)
        self._start = [token for token, _ in takewhile(lambda pair: pair[1], marks)]
        self._post_processor, self._backend.post_processor = self._backend.post_processor, None

    @property
    def beginning(self) -> list[int]:
        """Tokens before the first word of a document: those that begin a text, else what stands between two texts."""
        return self._start or list(self.marks(_BETWEEN_TEXTS).values())[:1]

    @property
    def template(self) -> ChatTemplate | None:
        """Chat template; None where there is none of any use, and `render` falls back to plain "User:" lines."""
        return self._used_template[0]

    @property
    def template_note(self) -> str:
        """A sentence on what took the place of the checkpoint's template; empty where nothing did."""
        _, sentence, figures = self._used_template
        return say(sentence, **figures) if sentence else ""

    @cached_property
    def _used_template(self) -> tuple[ChatTemplate | None, str, dict[str, str]]:
        """The template, and the sentence of what took another's place with its figures."""
        if not self._templates:
            return None, _NO_TEMPLATE, {}
        first, *_ = self._templates
        for name, template in self._templates.items():
            if template.trouble in ("", "endless"):  # of the latter `render` tells
                return template, "" if name == first else _NEXT, {"name": first, "other": name}
        unreadable = self._templates[first].trouble == "unreadable"
        added = {token.content: at for at, token in self._backend.get_added_tokens_decoder().items()}
        known = known_template(added)
        if known is None:
            return None, _UNREADABLE if unreadable else _SILENT, {}
        self.end_ids |= {added[known.end]}
        template = ChatTemplate(known.source, self._special_tokens)
        return template, _UNREADABLE_KNOWN if unreadable else _SILENT_KNOWN, {"family": known.family}

    @cached_property
    def _controls(self) -> ControlTokens:
        template = self.template  # which may add an end
        return ControlTokens(self._backend, "" if template is None else template.source, self.end_ids)

    def tokens(self) -> dict[int, str]:
        """Every token by its id, special and added ones too."""
        tokens = {token_id: token for token, token_id in self._backend.get_vocab().items()}
        for token_id, same in self.spelled.items():
            tokens[token_id] = "".join(tokens[one] for one in same)
        return tokens

    def name(self, token_id: int) -> str:
        """Return a token as the vocabulary spells it; empty if there is none."""
        names = (self._backend.id_to_token(one) for one in self.spelled.get(token_id, (token_id,)))
        return "".join(name or "" for name in names)

    def as_json(self) -> str:
        """Return the whole tokenizer in the form of a tokenizer.json."""
        self._backend.post_processor = self._post_processor
        text: str = self._backend.to_str()
        self._backend.post_processor = None
        if not self.spelled:
            return text
        # Readers count the tokens, so every id has one: those that are spelled by others are never written.
        whole = json.loads(text)
        for token_id in self.spelled:
            whole["model"]["vocab"][f"<|spelled_{token_id}|>"] = token_id
            properties = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
            token = {"id": token_id, "content": f"<|spelled_{token_id}|>", "special": True, **properties}
            whole["added_tokens"].append(token)
        return json.dumps(whole)

    def plain(self) -> tuple[Backend, list[dict[str, Any]]]:
        """Return the tokenizer that finds no added tokens in a text, puts no space before it and composes nothing.

        Returns:
            The tokenizer, and the steps of its decoder as tokenizer.json has them.
        """
        shape = Backend(models.BPE())
        shape.normalizer, shape.pre_tokenizer = self._backend.normalizer, self._backend.pre_tokenizer
        shape.decoder = self._backend.decoder
        parts = json.loads(shape.to_str())
        steps = [one for one in _steps(parts["normalizer"]) if one["type"] not in ("Prepend", "NFC")]
        parts["normalizer"] = {"type": "Sequence", "normalizers": steps} if steps else None
        for one in _steps(parts["pre_tokenizer"]):
            if one["type"] == "Metaspace":
                one["prepend_scheme"] = "never"
        shape = Backend.from_str(json.dumps(parts))
        plain = Backend(self._backend.model)
        plain.normalizer, plain.pre_tokenizer = shape.normalizer, shape.pre_tokenizer
        return plain, _steps(parts["decoder"])

    def encode(self, text: str, control: bool = True, most: int | None = None) -> list[int]:
        """Token ids of raw text, with the special tokens the tokenizer itself adds at the start (bos, say).

        Args:
            control: Control tokens that are written in it are control tokens; else they are words.
            most: Tokens beyond which only their number is wanted, and `CutShort` is enough; None for no limit.
        """
        if (cut := self._cut_short(text, most)) is not None:
            return cut
        if control:
            return [*self._start, *self._ids(text)]
        stand_ins = StandIns(self._controls, (text,))
        return [*self._start, *self._ids(stand_ins.words(text), stand_ins)]

    def render(
        self,
        messages: Sequence[ChatMessage],
        opening: str = "",
        thinking: Thinking = _UNSAID,
        tools: Sequence[Tool] = (),
        most: int | None = None,
        layouts: Mapping[str, PictureLayout] = MappingProxyType({}),
    ) -> list[int]:
        """Token ids of a conversation, ready for the assistant's turn. No word in it is a control token.

        Where the template refuses the order of the roles, or leaves out what was said, turns are merged and moved.

        Args:
            messages: The turns before it.
            opening: Beginning of that turn, where it is to be continued.
            thinking: Wishes to a template that knows of thinking.
            tools: Tools that may be called; a template that knows none gets them in the system's text.
            most: As for `encode`.
            layouts: Layouts of the pictures, by their digests; each stands at a mark of its message (`marked`).

        Raises:
            UnsupportedModel: the checkpoint's chat template refuses this conversation, or takes too long.
        """
        pictures = [layouts[one.sha256] for message in messages for one in message.pictures]
        messages = paired(messages) or [ChatMessage("user", "")]  # templates look at the first turn
        said = "\n".join(
            [*(one.content.strip() for one in messages), *(one.description + one.parameters for one in tools)]
        )
        if (cut := self._cut_short(said, most)) is not None:
            return cut
        stand_ins = StandIns(self._controls, chain(texts_of(messages, tools), (opening,)))
        messages = [stand_ins.message(message) for message in messages]
        tools = [stand_ins.tool(tool) for tool in tools]
        opening = stand_ins.reply(opening)
        template = self.template
        if template is None or not template.knows_tools:
            messages = described(messages, tools, DESCRIBED)
        elif not template.writes_calls:
            messages = with_calls_written(messages, template.calls)
        if template is None:
            text = plain_transcript(messages) + (f" {opening}" if opening else "")
            return [*self._start, *self._with_pictures(text, stand_ins, pictures, MARK)]
        offered = as_objects(tools) if template.knows_tools else ()
        mark = pictures[0].mark if pictures else ""
        text = _rendered(template, messages, thinking, offered, mark)
        return self._with_pictures(template.reasoning.continued(text, opening), stand_ins, pictures, mark)

    def _with_pictures(self, text: str, stand_ins: StandIns, pictures: Sequence[PictureLayout], mark: str) -> list[int]:
        """Return the token ids of a text in which marks stand for pictures."""
        if not pictures:
            return self._ids(text, stand_ins)
        parts = text.split(mark)
        whole = parts[0] + "".join(one.text + part for one, part in zip(pictures, parts[1:], strict=True))
        anchors = {one.anchor: self._backend.token_to_id(one.anchor) for one in pictures}
        if None in anchors.values():
            raise UnsupportedModel(_NO_PLACE, about="prompt")
        return list(with_rows(self._ids(whole, stand_ins), pictures, anchors))

    def _cut_short(self, text: str, most: int | None) -> CutShort | None:
        """Return the beginning of a text that has many more tokens than wanted, or None if it has not surely.

        Pieces are counted, which may have a token more each than the whole: so twice as many are surely too many.
        """
        if most is None or len(text) <= _FEW_TOKENS * most:
            return None
        found = CutShort()
        for begin in range(0, len(text), _PIECE):
            found += self._ids(text[begin : begin + _PIECE])
            if len(found) > 2 * most:
                return found
        return None

    def _ids(self, text: str, stand_ins: StandIns | None = None) -> list[int]:
        if stand_ins is not None and stand_ins.used:
            return self._controls.encode(text, stand_ins)
        ids: list[int] = self._backend.encode(text, add_special_tokens=False).ids
        return ids

    def marks(self, texts: Sequence[str]) -> dict[str, int]:
        """Return the ids of the texts that are added tokens: single ones, which no other text makes.

        Qwen2.5, Qwen3 and GLM have marks of tool calls that are added and not special.
        """
        found = ((text, self._backend.token_to_id(text)) for text in texts)
        return {text: token for text, token in found if token in self.added}

    def decode_with(self, marks: Sequence[str]) -> Callable[[Sequence[int]], str]:
        """Return a `decode` that keeps these special tokens."""
        kept = self.special.intersection(self.marks(marks).values())
        if not kept:
            return self.decode
        left_out = self.special - kept

        def decode(token_ids: Sequence[int]) -> str:
            return self.decode([token for token in token_ids if token not in left_out], special=True)

        return decode

    def decode(self, token_ids: Sequence[int], special: bool = False) -> str:
        """Text of token ids; special tokens are left out, unless they are wanted."""
        if self.spelled:
            token_ids = [one for token in token_ids for one in self.spelled.get(token, (token,))]
        text: str = self._backend.decode(list(token_ids), skip_special_tokens=not special)
        return text


def _steps(part: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Return the single steps of a part of a tokenizer.json."""
    if part is None:
        return []
    inner = next((part[name] for name in ("normalizers", "pretokenizers", "decoders") if name in part), None)
    return [part] if inner is None else [step for one in inner for step in _steps(one)]


def read_templates(path: Path) -> dict[str, str]:
    """Read a checkpoint's chat templates without the vocabulary, by the names of their files, the best first.

    Raises:
        ValueError, OSError: A file cannot be read.
        TenonError: It is no GGUF file.
    """
    gguf = find_gguf(path)
    if gguf is None:
        return read_folder_templates(path)
    own = read_header(gguf).metadata.get("tokenizer.chat_template")
    return templates_beside(gguf.parent) | ({gguf.name: own} if isinstance(own, str) and own else {})


def plain_transcript(messages: Sequence[ChatMessage]) -> str:
    """Write one labelled paragraph for each turn: the fallback for a model without a chat template."""
    turns = [_LABELS[message.role] + message.content.strip() for message in messages]
    return "\n\n".join([*turns, _LABELS["assistant"].strip()])


def read_end_ids(folder: Path) -> tuple[int, ...]:
    """End-of-text ids of a folder: generation_config.json's where it names some, else config.json's."""
    for name in ("generation_config.json", "config.json"):
        value = read_table(folder / name).get("eos_token_id")
        found = [item for item in (value if isinstance(value, list) else [value]) if type(item) is int]
        if found:
            return tuple(found)
    return ()


@lru_cache(maxsize=1)
def read_tokenizer(folder: str, cache: str) -> Tokenizer:
    """Read the tokenizer of a model in a process that prepares requests to it."""
    return Tokenizer(Path(folder), read_end_ids(Path(folder)), Path(cache))


def _rendered(
    template: ChatTemplate,
    messages: Sequence[ChatMessage],
    thinking: Thinking,
    tools: Sequence[dict[str, Any]],
    mark: str = "",
) -> str:
    """Return the text of a conversation, with turns in an order that the template takes without leaving any out.

    Args:
        thinking: Wishes, as for `ChatTemplate.render`.
        mark: Text that stands for a picture afterwards; the template writes it, or else it is put into the turns.

    Raises:
        UnsupportedModel: It refuses every order, or makes an empty text of the conversation.
    """
    texts, refusals = [], []
    for turns in _orders(messages):
        if any(len(turn.calls) > 1 for turn in turns) and template.one_call:
            turns = one_by_one(paired(turns))
        count = sum(len(turn.pictures) for turn in turns)
        for in_parts in (True, False) if count else (False,):
            objects = _turns(turns, mark, in_parts)
            if "tool_responses" in template.source:
                objects = _with_responses(objects)
            try:
                text = template.render(objects, thinking, tools)
            except TemplateRefused as error:
                refusals.append(error)
                continue
            if count and text.count(mark) != count:
                continue
            texts.append(text)
            said = (part for turn in turns if turn.role in ("system", "user") for part in turn.content.split(MARK))
            if text and all(part.strip() in text for part in said):
                return text
    if not texts and not refusals:
        raise UnsupportedModel(_NO_PLACE, about="prompt")
    if not texts:
        raise UnsupportedModel(
            "The model's chat template refuses this conversation: start a new chat, or use another model.",
            details=str(refusals[0]),
            about="prompt",
        ) from refusals[0]
    if not texts[0]:
        raise UnsupportedModel(
            "The model's chat template turns this conversation into an empty text: use another model.",
            about="prompt",
        )
    return texts[0]


def _orders(messages: Sequence[ChatMessage]) -> Iterator[Sequence[ChatMessage]]:
    """Yield the turns as they are, then by turns of the roles after one system turn, then without that."""
    yield messages
    first = next((at for at, turn in enumerate(messages) if turn.role != "system"), len(messages))
    alternating = _alternating(messages[:first], _as_user(messages[first:]))
    if alternating != list(messages):
        yield alternating
    if first:
        yield _alternating((), _as_user(messages))


def _as_user(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return the turns with the system's words as the user's."""
    return [replace(turn, role="user") if turn.role == "system" else turn for turn in messages]


def _alternating(system: Sequence[ChatMessage], turns: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Join neighbours of one role, beginning with the user's; results stay apart."""
    begun = [ChatMessage("user", "")] if turns and turns[0].role == "assistant" else []
    joined: list[ChatMessage] = []
    for turn in (*system, *begun, *turns):
        if joined and joined[-1].role == turn.role != "tool":
            content = "\n\n".join(filter(str.strip, (joined[-1].content, turn.content)))
            calls, pictures = (*joined[-1].calls, *turn.calls), (*joined[-1].pictures, *turn.pictures)
            joined[-1] = replace(joined[-1], content=content, calls=calls, pictures=pictures)
        else:
            joined.append(turn)
    return joined


def _content(message: ChatMessage, mark: str, in_parts: bool) -> str | list[dict[str, str]]:
    """Return a turn's content, with pictures as parts of a list or as marks in the text."""
    if not message.pictures:
        return message.content
    if not in_parts:
        return message.content.replace(MARK, mark)
    pieces = enumerate(message.content.split(MARK))
    parts = [
        ({"type": "image"} if at else None, {"type": "text", "text": text} if text else None) for at, text in pieces
    ]
    return [part for pair in parts for part in pair if part is not None]


def _turns(messages: Sequence[ChatMessage], mark: str = "", in_parts: bool = False) -> list[dict[str, Any]]:
    """Return turns as templates want them."""
    turns = []
    names = {call.id: call.name for message in messages for call in message.calls}
    for message in messages:
        turn: dict[str, Any] = {"role": message.role, "content": _content(message, mark, in_parts)}
        calls = []
        for call in message.calls:
            function = {"name": call.name, "arguments": json.loads(call.arguments)}
            calls.append({"id": call.id, "type": "function", "function": function})
        if calls:
            turn["tool_calls"] = calls
        if message.role == "tool":
            turn["tool_call_id"], turn["name"] = message.answers or _NO_CALL, names.get(message.answers, "")
        turns.append(turn)
    return turns


def _with_responses(turns: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put results into the turn that called, which goes on after them, as Gemma 4's template wants."""
    joined: list[dict[str, Any]] = []
    for turn in turns:
        if turn["role"] == "tool" and joined and "tool_calls" in joined[-1]:
            response = {"name": turn["name"], "response": turn["content"]}
            joined[-1].setdefault("tool_responses", []).append(response)
        else:
            joined.append(turn)
    return joined
