"""Compare probabilities and token ids with llama.cpp's own server; `TENON_LLAMA_SERVER` names its program."""

from __future__ import annotations

import json
import random
import unicodedata
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from gguf import GGMLQuantizationType as Kind
from torch import Tensor

from engine.gguf.header import read_header
from engine.text.tokenizer import Tokenizer
from tests.engine.gguf.test_gguf_families import CHANGES
from tests.engine.gguf.test_gguf_tokenizer import TEXTS, sentence_piece
from tests.engine.model.test_muse_glimmer import MuseGlimmerForCausalLM, written
from tests.support.checkpoints import VOCABULARY_SIZE, reference_model, train_tokenizer
from tests.support.decoders import load_decoder
from tests.support.gguf_files import edit_gguf, write_gguf
from tests.support.llama_server import PROGRAM, llama_server

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PROGRAM, reason="TENON_LLAMA_SERVER names no llama-server"),
]

MUSE = "muse-glimmer"
TOKENS = 24
# The prompt is longer than what the short factors of LongRoPE serve: llama.cpp takes the long ones for all texts.
PROMPT = torch.randint(3, 300, (110,), generator=torch.Generator().manual_seed(3))
# One slot, one thread, and keys and values in float32, as in Tenon's cache.
EXACT = ("-t", "1", "-tb", "1", "-np", "1", "-c", "512", "-ctk", "f32", "-ctv", "f32", "-fa", "off", "--no-warmup")
# llama.cpp leaves out windows of Phi-3, the exact range of gpt-oss's YaRN, layers of Qwen without experts, shares that
# are not divided by their sum, DeepSeek-V2's groups and queries without a latent, states that are not square, and
# layers of Gemma 4 that share keys in another order than the published models'.
CHANGED: dict[str, dict[str, Any]] = {
    "phi3": {"sliding_window": None},
    "qwen2-moe": {"mlp_only_layers": []},
    "qwen3-moe": {"mlp_only_layers": []},
    "qwen3-moe-shares": {"decoder_sparse_step": 1, "norm_topk_prob": True},
    "gpt-oss": {"rope_parameters": {"rope_type": "default", "rope_theta": 150_000.0}},
    "deepseek-v2": {"q_lora_rank": 32, "n_group": 1, "topk_group": 1},
    "gemma4-inputs": {"layer_types": [f"{kind}_attention" for kind in ("sliding", *("sliding", "full") * 2)]},
    **{variant: {"linear_value_head_dim": 16} for variant in ("qwen35", "qwen35-moe", "qwen3-next")},
}


def ask(url: str, **asked: Any) -> dict[str, Any]:
    """Return the server's answer to a request."""
    request = urllib.request.Request(url, json.dumps(asked).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def ids(address: str, text: str, start: bool) -> list[int]:
    """Return the tokens of a text; ``start`` puts the token that begins texts before them."""
    found: list[int] = ask(f"{address}/tokenize", content=text, add_special=start, parse_special=True)["tokens"]
    return found


def reply(path: Path, prompt: list[int]) -> tuple[list[int], Tensor]:
    """Return the server's greedy reply, and the log-probabilities, (tokens, vocabulary), that it chose from."""
    # Tokens that end within a character have no probabilities in its answer.
    banned = [[index, False] for text, index in train_tokenizer().get_vocab().items() if not text.isascii()]
    sampling = {"temperature": -1, "ignore_eos": True, "logit_bias": banned}
    with llama_server(PROGRAM, path, *EXACT) as address:
        answer = ask(f"{address}/completion", prompt=prompt, n_predict=TOKENS, n_probs=VOCABULARY_SIZE, **sampling)
    steps = answer["completion_probabilities"]
    found = torch.full((len(steps), VOCABULARY_SIZE), torch.nan)
    for row, step in zip(found, steps, strict=True):
        for token in step["top_logprobs"]:
            row[token["id"]] = token["logprob"]
    return [step["id"] for step in steps], found


def check_log_probabilities(path: Path, gemma: bool) -> None:
    """Compare the log probabilities of a reply's tokens with those of llama.cpp, which chose them."""
    chosen, theirs = reply(path, PROMPT.tolist())
    assert len(chosen) == TOKENS
    decoder = load_decoder(path)
    text = torch.cat((PROMPT, torch.tensor(chosen[:-1])))
    cache = decoder.new_cache(len(text))
    cache.begin(len(text))
    logits = decoder.forward(text, torch.arange(len(text)), cache, logit_rows=slice(-TOKENS, None)).logits
    tolerance = 5e-3 if gemma else 1e-4  # llama.cpp looks GELU up in a table of 16 bits
    torch.testing.assert_close(logits.log_softmax(-1), theirs, atol=tolerance, rtol=tolerance)


@pytest.mark.parametrize("variant", [*sorted(CHANGES), MUSE])
@torch.no_grad()
def test_log_probabilities_are_llama_cpps(variant: str, tmp_path: Path) -> None:
    path, gemma = tmp_path / "model.gguf", variant.startswith("gemma")
    scalar = {"query_pre_attn_scalar": 32} if gemma else {}
    if variant == MUSE:
        model: Any = MuseGlimmerForCausalLM(written(tmp_path / "folder"))
    else:
        model = reference_model(variant, **{**CHANGES[variant], **scalar, **CHANGED.get(variant, {})})
    write_gguf(model, path, Kind.F32, train_tokenizer())
    check_log_probabilities(path, gemma)


@pytest.mark.parametrize("pre", ["gpt-2", "smollm", "llama-bpe", "dbrx", "qwen2"])
def test_byte_level_ids_are_llama_cpps(pre: str, tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    write_gguf(reference_model("qwen2", num_hidden_layers=1), path, Kind.F32, train_tokenizer(), pre=pre)
    tokenizer = Tokenizer(path)
    with llama_server(PROGRAM, path, *EXACT) as address:
        for text in TEXTS:
            # Without a name for it llama.cpp begins Llama 3's texts with token 11.
            assert tokenizer._ids(text) == ids(address, text, start=False), text


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
    with llama_server(PROGRAM, smollm2, *EXACT) as address:
        for text in texts_of_every_script(2000):
            assert tokenizer._ids(text) == ids(address, text, start=False), text


@pytest.mark.parametrize("prefixed", [True, False])
def test_sentence_piece_ids_are_llama_cpps(prefixed: bool, tmp_path: Path) -> None:
    vocabulary, model, path = (tmp_path / f"{name}.gguf" for name in ("vocabulary", "model", "whole"))
    tokenizer = sentence_piece(vocabulary, add_space_prefix=prefixed)
    write_gguf(reference_model("llama", num_hidden_layers=1, vocab_size=len(tokenizer.tokens())), model)
    edit_gguf(model, path, {**read_header(model).metadata, **read_header(vocabulary).metadata})
    with llama_server(PROGRAM, path, *EXACT) as address:
        for text in ("hi", "hihi ihi", " hi", "hi  hi é\n", "<|end|>\nhi<|end|> hi", "h   i"):
            assert tokenizer.encode(text) == ids(address, text, start=True), text
