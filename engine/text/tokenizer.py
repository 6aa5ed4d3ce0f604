"""A checkpoint's tokenizer and chat template behind the few calls that the engine needs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

from engine.errors import UnsupportedModel
from engine.gguf.generation import TEXTS, ends_among
from engine.gguf.generation import read_end_ids as read_gguf_end_ids
from engine.gguf.header import read_header
from engine.gguf.parts import find_gguf
from engine.gguf.tokenizer import Vocabulary, merges_by_score
from engine.json_text import read_json
from engine.messages import ChatMessage, Thinking, Tool
from engine.outside_file import read_text_file
from engine.text.chat_template import ChatTemplate, TemplateRefused
from engine.text.kept_merges import kept_merges
from engine.text.tokenizer_folder import read_folder, read_folder_template, template_beside
from engine.text.tool_calls import DESCRIBED
from engine.text.tool_calls.described import as_objects, described, one_by_one, paired, with_calls_written

_UNSAID = Thinking()
_NO_CALL = "000000000"  # Mistral's templates take no other ids than nine digits


class Tokenizer:
    """Text to token ids and back.

    Attributes:
        template: Chat template; None where there is none, and `render` falls back to plain "User:" lines.
        end_ids: Tokens that end a reply, from the tokenizer and generation_config.json.
        added: Texts of the tokens that are found in a text before it is split.
        special: Those of them that are left out of a reply's text.
        notes: What the user should know of it.
    """

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
        self._spelled: Mapping[int, tuple[int, ...]] = {}
        self.notes: tuple[str, ...] = ()
        if gguf is None:
            self._backend, special, template = read_folder(folder)
            texts = {index: text for text in TEXTS if (index := self._backend.token_to_id(text)) is not None}
            ends = ends_among(texts)
            if (own_end := self._backend.token_to_id(special.get("eos_token", ""))) is not None:
                ends.add(own_end)
        else:
            metadata = read_header(gguf).metadata
            vocabulary = Vocabulary(metadata)
            self._spelled, self.notes = vocabulary.spelled, vocabulary.notes
            self._backend, special, template = vocabulary.tokenizer(
                merges_by_score if cache is None else partial(kept_merges, cache)
            )
            template = template_beside(gguf) or template
            ends = set(read_gguf_end_ids(metadata))
        self._backend.no_truncation()
        self._backend.no_padding()
        self.template = None if template is None else ChatTemplate(template, special)
        self.end_ids = frozenset(ends.union(end_ids))
        self.vocabulary_size = self._backend.get_vocab_size() + len(self._spelled)
        added = self._backend.get_added_tokens_decoder()
        self.added = {token: text.content for token, text in added.items()}
        special_ids = {token for token, text in added.items() if text.special}
        self.special = frozenset(
            special_ids | {twin for twin, ids in self._spelled.items() if special_ids.issuperset(ids)}
        )
        # A few tokenizers close the text as well; a prompt that is to be continued must stay open, but keeps the
        # tokens that are written in it.
        sample = self._backend.encode("a")
        marks = zip(sample.ids, sample.special_tokens_mask, strict=True)
        self._start = [token for token, _ in takewhile(lambda pair: pair[1], marks)]

    def tokens(self) -> dict[int, str]:
        """Every token by its id, special and added ones too."""
        tokens = {token_id: token for token, token_id in self._backend.get_vocab().items()}
        for token_id, same in self._spelled.items():
            tokens[token_id] = "".join(tokens[one] for one in same)
        return tokens

    def as_json(self) -> str:
        """The whole tokenizer in the form of a tokenizer.json."""
        text: str = self._backend.to_str()
        return text

    def encode(self, text: str) -> list[int]:
        """Token ids of raw text, with the special tokens the tokenizer itself adds at the start (bos, say)."""
        return [*self._start, *self._ids(text)]

    def render(
        self,
        messages: Sequence[ChatMessage],
        opening: str = "",
        thinking: Thinking = _UNSAID,
        tools: Sequence[Tool] = (),
    ) -> list[int]:
        """Token ids of a conversation, ready for the assistant's turn.

        Args:
            messages: The turns before it.
            opening: Beginning of that turn, where it is to be continued.
            thinking: Wishes to a template that knows of thinking.
            tools: Tools that may be called; a template that knows none gets them in the system's text.

        Raises:
            UnsupportedModel: the checkpoint's chat template refuses this conversation, or takes too long.
        """
        messages = paired(messages)
        if self.template is None or not self.template.knows_tools:
            messages = described(messages, tools, DESCRIBED)
        elif not self.template.writes_calls:
            messages = with_calls_written(messages, self.template.calls)
        elif any(len(message.calls) > 1 for message in messages) and self.template.one_call:
            messages = one_by_one(messages)
        if self.template is None:
            return self.encode(plain_transcript(messages) + (f" {opening}" if opening else ""))
        turns = _turns(messages)
        if "tool_responses" in self.template.source:
            turns = _with_responses(turns)
        known = as_objects(tools) if self.template.knows_tools else ()
        try:
            text = self.template.render(turns, thinking, known)
        except TemplateRefused as error:
            if turns and turns[0]["role"] == "system":
                return self.render(
                    _system_into_first_turn(messages), opening, thinking, tools if known else ()
                )
            raise UnsupportedModel(
                "The model's chat template refuses this conversation: start a new chat, or use "
                "another model.",
                details=str(error),
            ) from error
        if not text:
            raise UnsupportedModel(
                "The model's chat template turns this conversation into an empty text: use another model."
            )
        return self._ids(self.template.reasoning.continued(text, opening))

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._backend.encode(text, add_special_tokens=False).ids
        return ids

    def marks(self, texts: Sequence[str]) -> dict[str, int]:
        """Those of these texts that are single tokens which no other text makes, with their ids.

        These are added tokens. Qwen2.5, Qwen3 and GLM have marks of tool calls that are added and not special.
        """
        found = ((text, self._backend.token_to_id(text)) for text in texts)
        return {text: token for text, token in found if token in self.added}

    def decode_with(self, marks: Sequence[str]) -> Callable[[Sequence[int]], str]:
        """A `decode` that keeps these special tokens."""
        kept = self.special.intersection(self.marks(marks).values())
        if not kept:
            return self.decode
        left_out = self.special - kept

        def decode(token_ids: Sequence[int]) -> str:
            return self.decode([token for token in token_ids if token not in left_out], special=True)

        return decode

    def decode(self, token_ids: Sequence[int], special: bool = False) -> str:
        """Text of token ids; special tokens are left out, unless they are wanted."""
        if self._spelled:
            token_ids = [one for token in token_ids for one in self._spelled.get(token, (token,))]
        text: str = self._backend.decode(list(token_ids), skip_special_tokens=not special)
        return text


def read_template(path: Path) -> str | None:
    """A checkpoint's chat template alone, without the vocabulary; None where it has none.

    Raises:
        ValueError, OSError: A file cannot be read.
        TenonError: It is no GGUF file.
    """
    gguf = find_gguf(path)
    if gguf is None:
        return read_folder_template(path)
    template = template_beside(gguf) or read_header(gguf).metadata.get("tokenizer.chat_template")
    return template if isinstance(template, str) and template else None


def plain_transcript(messages: Sequence[ChatMessage]) -> str:
    """The fallback for a model without a chat template: one labelled paragraph for each turn."""
    labels = {"system": "", "user": "User: ", "assistant": "Assistant: ", "tool": "Tool: "}
    turns = [labels[message.role] + message.content.strip() for message in messages]
    return "\n\n".join([*turns, "Assistant:"])


def read_end_ids(folder: Path) -> tuple[int, ...]:
    """End-of-text ids of a folder: generation_config.json's where it names some, else config.json's."""
    for name in ("generation_config.json", "config.json"):
        try:
            value = read_json(read_text_file(folder / name)).get("eos_token_id")
        except (OSError, ValueError, AttributeError):
            continue
        found = [item for item in (value if isinstance(value, list) else [value]) if type(item) is int]
        if found:
            return tuple(found)
    return ()


def _turns(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    """Turns as templates want them."""
    turns = []
    names = {call.id: call.name for message in messages for call in message.calls}
    for message in messages:
        turn: dict[str, Any] = {"role": message.role, "content": message.content}
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
    """For Gemma 4's template: results stand in the turn that called, which goes on behind them."""
    joined: list[dict[str, Any]] = []
    for turn in turns:
        if turn["role"] == "tool" and joined and "tool_calls" in joined[-1]:
            response = {"name": turn["name"], "response": turn["content"]}
            joined[-1].setdefault("tool_responses", []).append(response)
        else:
            joined.append(turn)
    return joined


def _system_into_first_turn(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """For templates that know no system role (Gemma 2's, say): its text opens the person's first turn."""
    system, *rest = messages
    if not rest:
        return [ChatMessage("user", system.content)]
    first, *later = rest
    return [ChatMessage("user", f"{system.content}\n\n{first.content}"), *later]
