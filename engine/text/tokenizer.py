"""A checkpoint's tokenizer and chat template, by transformers, behind the few calls that the engine needs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transformers import AutoTokenizer

from engine.errors import TokenizerInvalid, UnsupportedModel
from engine.gguf.files import find_gguf
from engine.gguf.generation import read_end_ids as read_gguf_end_ids
from engine.gguf.header import read_header
from engine.gguf.tokenizer import read_tokenizer
from engine.messages import ChatMessage
from engine.sentences import say

_FILES = ("tokenizer.json", "tokenizer.model", "vocab.json", "tokenizer_config.json")


class Tokenizer:
    """Text to token ids and back.

    Attributes:
        has_chat_template: Whether the checkpoint brings one; else `render` falls back to plain "User:" lines.
        end_ids: Tokens that end a reply, from the tokenizer and generation_config.json.
    """

    def __init__(self, folder: Path, end_ids: Sequence[int] = ()) -> None:
        """Read the tokenizer of a checkpoint.

        Args:
            folder: The checkpoint: a folder, or a GGUF file.
            end_ids: End-of-text ids that generation_config.json or config.json names; a GGUF file's are known here.

        Raises:
            TokenizerInvalid: it is missing or cannot be read.
            UnsupportedModel: a GGUF file's is of a kind that Tenon does not know.
        """
        gguf = find_gguf(folder)
        if gguf is None:
            self._tokenizer: Any = _from_folder(folder)
        else:
            metadata = read_header(gguf).metadata
            self._tokenizer = read_tokenizer(metadata)
            end_ids = (*end_ids, *read_gguf_end_ids(metadata))
        self.has_chat_template = bool(self._tokenizer.chat_template)
        own_end = self._tokenizer.eos_token_id
        self.end_ids = frozenset(end_ids) | (frozenset() if own_end is None else frozenset({own_end}))
        self.vocabulary_size = len(self._tokenizer)

    def tokens(self) -> dict[int, str]:
        """Every token by its id, special and added ones too."""
        vocabulary: dict[str, int] = self._tokenizer.get_vocab()
        return {token_id: token for token, token_id in vocabulary.items()}

    def encode(self, text: str) -> list[int]:
        """Token ids of raw text, with the special tokens the tokenizer itself adds at the start (bos, say)."""
        ids = self._ids(text, True)
        # A few tokenizers close the text as well; a prompt that is to be continued must stay open.
        while ids and ids[-1] in self.end_ids and ids[-1] != self._tokenizer.bos_token_id:
            ids.pop()
        return ids

    def render(self, messages: Sequence[ChatMessage], opening: str = "") -> list[int]:
        """Token ids of a conversation, ready for the assistant's turn.

        Args:
            messages: The turns before it.
            opening: How that turn begins, where it is to be continued.

        Raises:
            UnsupportedModel: the checkpoint's chat template refuses this conversation.
        """
        if not self.has_chat_template:
            return self.encode(plain_transcript(messages) + (f" {opening}" if opening else ""))
        turns = [{"role": message.role, "content": message.content} for message in messages]
        try:
            text: str = self._tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        except Exception as error:  # templates are programs; jinja's errors and their own raise_exception
            if turns and turns[0]["role"] == "system":
                return self.render(_system_into_first_turn(messages), opening)
            raise UnsupportedModel(
                say(
                    "The model's chat template refuses this conversation: start a new chat, or use "
                    "another model."
                ),
                details=f"{type(error).__name__}: {error}",
            ) from error
        return self._ids(text + opening, False)

    def _ids(self, text: str, special: bool) -> list[int]:
        # Not verbose: it would say on stderr that a text is longer than the context, which is settled elsewhere.
        ids: list[int] = self._tokenizer(text, add_special_tokens=special, verbose=False)["input_ids"]
        return ids

    def decode(self, token_ids: Sequence[int]) -> str:
        """Text of token ids; special tokens are left out."""
        text: str = self._tokenizer.decode(
            list(token_ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return text


def _from_folder(folder: Path) -> Any:
    """The tokenizer of a folder's files."""
    if not any((folder / name).is_file() for name in _FILES[:-1]):
        raise TokenizerInvalid(
            say(
                "The model folder {folder} has no tokenizer: copy tokenizer.json there, or download "
                "the model again.",
                folder=folder,
            )
        )
    try:
        return AutoTokenizer.from_pretrained(
            str(folder),
            local_files_only=True,
            trust_remote_code=False,
            clean_up_tokenization_spaces=False,
        )
    except Exception as error:  # the readers below raise whatever they like on a damaged file
        raise TokenizerInvalid(
            say(
                "The tokenizer in {folder} cannot be read: download the model's tokenizer files again.",
                folder=folder,
            ),
            details=f"{type(error).__name__}: {error}",
        ) from error


def plain_transcript(messages: Sequence[ChatMessage]) -> str:
    """The fallback for a model without a chat template: one labelled paragraph for each turn."""
    labels = {"system": "", "user": "User: ", "assistant": "Assistant: "}
    turns = [labels[message.role] + message.content.strip() for message in messages]
    return "\n\n".join([*turns, "Assistant:"])


def read_end_ids(folder: Path) -> tuple[int, ...]:
    """End-of-text ids of a folder: generation_config.json's where it names some, else config.json's."""
    for name in ("generation_config.json", "config.json"):
        try:
            value = json.loads((folder / name).read_text(encoding="utf-8")).get("eos_token_id")
        except (OSError, ValueError, AttributeError):
            continue
        if isinstance(value, int):
            return (value,)
        if isinstance(value, list) and value:
            return tuple(int(item) for item in value)
    return ()


def _system_into_first_turn(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """For templates that know no system role (Gemma 2's, say): its text opens the person's first turn."""
    system, *rest = messages
    if not rest:
        return [ChatMessage("user", system.content)]
    first, *later = rest
    return [ChatMessage("user", f"{system.content}\n\n{first.content}"), *later]
