"""Logits of llama.cpp itself from the same files, where the package llama-cpp-python is installed."""

from __future__ import annotations

import random
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType as Kind

from engine.text.tokenizer import Tokenizer
from tests.engine.gguf.test_gguf_families import CHANGES
from tests.engine.gguf.test_gguf_tokenizer import TEXTS, sentence_piece
from tests.support.checkpoints import VOCABULARY_SIZE, reference_model, train_tokenizer
from tests.support.decoders import greedy, load_decoder
from tests.support.gguf_files import write_gguf

llama_cpp: Any = pytest.importorskip("llama_cpp")
pytestmark = pytest.mark.slow

TOKENS = 12
# Parts of the tiny variants that llama.cpp leaves out: windows of Phi-3. It takes the long factors of a long context
# for short texts too, so the prompt is longer than what the short ones serve.
LEFT_OUT = {"phi3": {"sliding_window": None}}
PROMPT = torch.randint(3, 300, (110,), generator=torch.Generator().manual_seed(3))


@pytest.fixture(autouse=True)
def silent() -> Iterator[None]:
    callback = llama_cpp.llama_log_callback(lambda level, text, data: None)
    llama_cpp.llama_log_set(callback, None)
    llama_cpp.llama_backend_init()
    yield
    llama_cpp.llama_log_set(llama_cpp.llama_log_callback(), None)


def load(path: Path, vocabulary_only: bool = False) -> Any:
    options = llama_cpp.llama_model_default_params()
    options.vocab_only = vocabulary_only
    model = llama_cpp.llama_model_load_from_file(str(path).encode(), options)
    assert model, f"llama.cpp cannot load {path}"
    return model


class Peer:
    """A model in llama.cpp."""

    def __init__(self, path: Path) -> None:
        options = llama_cpp.llama_context_default_params()
        options.n_ctx = options.n_batch = options.n_ubatch = 512
        options.n_threads = options.n_threads_batch = 1
        options.type_k = options.type_v = 0  # float32, as in Tenon's cache
        options.flash_attn_type = 0
        self._context = llama_cpp.llama_init_from_model(load(path), options)
        self._batch = llama_cpp.llama_batch_init(512, 0, 1)

    def logits(self, tokens: list[int], first: int) -> np.ndarray:
        batch = self._batch
        batch.n_tokens = len(tokens)
        for row, token in enumerate(tokens):
            batch.token[row], batch.pos[row] = token, first + row
            batch.n_seq_id[row], batch.seq_id[row][0], batch.logits[row] = 1, 0, True
        assert llama_cpp.llama_decode(self._context, batch) == 0
        rows = [llama_cpp.llama_get_logits_ith(self._context, row) for row in range(len(tokens))]
        return np.stack([np.ctypeslib.as_array(row, (VOCABULARY_SIZE,)).copy() for row in rows])


@pytest.mark.parametrize("variant", sorted(CHANGES))
@torch.no_grad()
def test_logits_and_greedy_text_are_llama_cpps(variant: str, tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    gemma = {"query_pre_attn_scalar": 32} if variant.startswith("gemma") else {}
    model = reference_model(variant, **CHANGES[variant], **gemma, **LEFT_OUT.get(variant, {}))
    write_gguf(model, path, Kind.F32, train_tokenizer())
    peer, decoder = Peer(path), load_decoder(path)
    theirs = peer.logits(PROMPT.tolist(), 0)
    cache = decoder.new_cache(len(PROMPT))
    cache.begin(len(PROMPT))
    ours = decoder.forward(PROMPT, torch.arange(len(PROMPT)), cache).logits
    # llama.cpp looks GELU up in a table of 16 bits.
    tolerance = 5e-3 if gemma else 1e-4
    torch.testing.assert_close(ours, torch.from_numpy(theirs), atol=tolerance, rtol=tolerance)
    reply = [int(theirs[-1].argmax())]
    while len(reply) < TOKENS:
        reply.append(int(peer.logits(reply[-1:], len(PROMPT) + len(reply) - 1)[0].argmax()))
    assert greedy(decoder, PROMPT, TOKENS) == reply


def peer_ids(path: Path, text: str, start: bool) -> list[int]:
    return tokenize(llama_cpp.llama_model_get_vocab(load(path, vocabulary_only=True)), text, start)


def tokenize(vocabulary: Any, text: str, start: bool) -> list[int]:
    encoded = text.encode()
    ids = (llama_cpp.llama_token * (2 * len(encoded) + 16))()
    count = llama_cpp.llama_tokenize(vocabulary, encoded, len(encoded), ids, len(ids), start, True)
    return list(ids[:count])


@pytest.mark.parametrize("pre", ["gpt-2", "smollm", "llama-bpe", "dbrx", "qwen2"])
def test_byte_level_ids_are_llama_cpps(pre: str, tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    write_gguf(reference_model("qwen2", num_hidden_layers=1), path, Kind.F32, train_tokenizer(), pre=pre)
    tokenizer = Tokenizer(path)
    for text in TEXTS:
        # Without a name for it llama.cpp begins Llama 3's texts with token 11.
        ids = tokenizer._ids(text)
        assert ids == peer_ids(path, text, start=False), text


def texts_of_every_script(count: int) -> Iterator[str]:
    """Random texts, each of one script's characters, with blanks, numbers, code and special tokens among them."""
    scripts = defaultdict(list)
    for code in range(0x20, 0xE0200):
        name = unicodedata.name(chr(code), "")
        if name:
            scripts[name.split()[0]].append(chr(code))
    characters = [letters for _, letters in sorted(scripts.items()) if len(letters) >= 8]
    choose = random.Random(5)
    between = [
        *" \n\t",
        "  ",
        "\r\n",
        "\n\n\n",
        "don't",
        "I'LL",
        "x=y+1;",
        "3.14",
        "/* */",
        "<|im_end|>",
        "</s>",
        "e\u0301",
    ]
    for index in range(count):
        own = characters[index % len(characters)]
        parts = [
            choose.choice(own) if choose.random() < 0.6 else choose.choice([*between, str(choose.randrange(10**6))])
            for _ in range(choose.randrange(1, 30))
        ]
        yield "".join(parts)


def test_a_published_vocabulary_s_ids_are_llama_cpps(smollm2: Path) -> None:
    tokenizer = Tokenizer(smollm2)
    vocabulary = llama_cpp.llama_model_get_vocab(load(smollm2, vocabulary_only=True))
    for text in texts_of_every_script(2000):
        ids = tokenize(vocabulary, text, start=False)
        assert tokenizer._ids(text) == ids, text


@pytest.mark.parametrize("prefixed", [True, False])
def test_sentence_piece_ids_are_llama_cpps(prefixed: bool, tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    tokenizer = sentence_piece(path, add_space_prefix=prefixed)
    for text in ("hi", "hihi ihi", " hi", "hi  hi é\n", "<|end|>\nhi<|end|> hi", "h   i"):
        assert tokenizer.encode(text) == peer_ids(path, text, start=True), text
