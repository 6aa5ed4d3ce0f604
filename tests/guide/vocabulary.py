"""The tokenizer that the guide and its draft share, and the chat template."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

from tests.guide.dialogue import Dialogue, Source

PAD, SYSTEM, USER, ASSISTANT, END = "<|pad|>", "<|system|>", "<|user|>", "<|assistant|>", "<|end|>"
SPECIAL = (PAD, SYSTEM, USER, ASSISTANT, END)
DROPOUT = 0.1
BRIEF_TOKENS = 12
CHAT_TEMPLATE = (
    "{%- for message in messages -%}"
    "{{- '<|' + message['role'] + '|>' + (message['content'] | trim) + '<|end|>' -}}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{- '<|assistant|>' -}}{%- endif -%}"
)


def corpus_texts(source: Source, rng: random.Random, guide: int, playground: int) -> Iterator[str]:
    """Texts to learn the vocabulary from."""
    for make, number in ((source.guide, guide), (source.playground, playground)):
        for _ in range(number):
            for turn in make(rng).turns:
                yield turn.question
                yield turn.reply


def learn(texts: Iterator[str], size: int) -> Tokenizer:
    """A byte-level BPE tokenizer of ``size`` tokens; every digit is a token of its own."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        min_frequency=2,
        special_tokens=[AddedToken(text, special=True, normalized=False) for text in SPECIAL],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


@dataclass
class Encoded:
    """Token ids of a dialogue, and for each whether it is to be predicted."""

    ids: list[int]
    learn: list[bool]


class Encoder:
    """Turns dialogues into ids, as the chat template lays them out."""

    def __init__(self, path: Path) -> None:
        self.plain = Tokenizer.from_file(str(path))
        self.noisy = Tokenizer.from_file(str(path))
        self.noisy.model.dropout = DROPOUT
        self._special: dict[str, int] = {text: SPECIAL.index(text) for text in SPECIAL}

    @property
    def pad(self) -> int:
        """The id that fills short rows."""
        return self._special[PAD]

    @property
    def end(self) -> int:
        """The id that ends each message."""
        return self._special[END]

    @property
    def size(self) -> int:
        """The number of tokens."""
        size: int = self.plain.get_vocab_size()
        return size

    def prompt(self, turns: list[tuple[str, str]], system: str | None = None) -> list[int]:
        """Ids of a chat up to the next reply; ``turns`` are (role, text)."""
        ids: list[int] = []
        for role, text in ([("system", system)] if system else []) + turns:
            ids += [self._special[f"<|{role}|>"], *self.plain.encode(text.strip()).ids, self.end]
        return [*ids, self._special[ASSISTANT]]

    def encode(self, dialogue: Dialogue, rng: random.Random) -> Encoded:
        """Ids of a whole dialogue. Some questions are split more finely (BPE dropout), replies never."""
        ids: list[int] = []
        learn: list[bool] = []

        def add(more: list[int], wanted: bool) -> None:
            ids.extend(more)
            learn.extend([wanted] * len(more))

        if dialogue.system:
            add([self._special[SYSTEM], *self.plain.encode(dialogue.system).ids, self.end], False)
        for turn in dialogue.turns:
            noisy = turn.fact != "playground" and rng.random() < 0.25
            question = (self.noisy if noisy else self.plain).encode(turn.question.strip()).ids
            add([self._special[USER], *question, self.end, self._special[ASSISTANT]], False)
            reply = [*self.plain.encode(turn.reply.strip()).ids, self.end]
            add(reply[:BRIEF_TOKENS] if dialogue.brief and turn.fact != "sum" else reply, True)
        return Encoded(ids, learn)


def write_tokenizer_files(tokenizer_path: Path, folder: Path, context: int) -> None:
    """Write the tokenizer in Hugging Face's layout."""
    (folder / "tokenizer.json").write_text(tokenizer_path.read_text(encoding="utf-8"), encoding="utf-8")
    config: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": context,
        "bos_token": None,
        "eos_token": END,
        "pad_token": PAD,
        "unk_token": None,
        "additional_special_tokens": [SYSTEM, USER, ASSISTANT],
        "clean_up_tokenization_spaces": False,
        "chat_template": CHAT_TEMPLATE,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
