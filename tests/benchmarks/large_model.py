"""The 1.1 B Llama shape that forwards are measured on: random blocks, as GGUF files of every usual mix."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import gguf
from torch import Tensor

from engine.kernels import blocks
from tests.support.matrices import raw_matrix

LAYERS, HIDDEN, WIDE, HEADS, KV_HEADS, VOCABULARY = 22, 2048, 5632, 32, 4, 32000
HEAD_DIM = HIDDEN // HEADS
CONTEXT = 32768

#: Of a layer: name in GGUF, shape.
MATRICES = (
    ("attn_q", (HIDDEN, HIDDEN)),
    ("attn_k", (KV_HEADS * HEAD_DIM, HIDDEN)),
    ("attn_v", (KV_HEADS * HEAD_DIM, HIDDEN)),
    ("attn_output", (HIDDEN, HIDDEN)),
    ("ffn_gate", (WIDE, HIDDEN)),
    ("ffn_up", (WIDE, HIDDEN)),
    ("ffn_down", (HIDDEN, WIDE)),
)
KINDS = ("Q4_0", "Q4_K_M", "Q6_K", "Q8_0", "BF16")


def type_of(kind: str, name: str, layer: int = 0, layers: int = LAYERS) -> str:
    """The block type of a tensor in a file of this kind; a Q4_K_M has some in Q6_K, as llama.cpp mixes them."""
    if kind != "Q4_K_M":
        return kind
    more = layer < layers // 8 or layer >= 7 * layers // 8 or (layer - layers // 8) % 3 == 2
    return "Q6_K" if name == "output" or (name in ("attn_v", "ffn_down") and more) else "Q4_K"


def matrices(kind: str, layers: int) -> Iterator[tuple[str, str, tuple[int, int], Tensor]]:
    """Name, type, shape and blocks of every matrix; about as large as in a trained model."""
    table = (VOCABULARY, HIDDEN)
    wanted = [("token_embd", table, 0), ("output", table, 0)]
    wanted += [(f"blk.{layer}.{name}", shape, layer) for layer in range(layers) for name, shape in MATRICES]
    for seed, (name, shape, layer) in enumerate(wanted):
        type_name = type_of(kind, name.rpartition(".")[2], layer, layers)
        scale = shape[1] ** -0.5 if type_name == "BF16" else 5e-4
        yield f"{name}.weight", type_name, shape, raw_matrix(type_name, *shape, seed, scale)


def write_gguf(folder: Path, kind: str, layers: int = LAYERS) -> Path:
    """The model in a kind of `KINDS`; written once."""
    path = folder / f"shape-{layers}-layers.{kind}.gguf"
    if path.is_file():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    writer = gguf.GGUFWriter(str(unfinished), "llama", use_temp_file=True)
    writer.add_block_count(layers)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(WIDE)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(HEAD_DIM)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(VOCABULARY)
    _add_tokenizer(writer)
    for name, type_name, (rows, _), raw in matrices(kind, layers):
        form = gguf.GGMLQuantizationType(blocks.NAMES[type_name])
        writer.add_tensor(name, raw.view(rows, -1).numpy(), raw_dtype=form)
    ones = Tensor(HIDDEN).fill_(1.0).numpy()
    for layer in range(layers):
        writer.add_tensor(f"blk.{layer}.attn_norm.weight", ones)
        writer.add_tensor(f"blk.{layer}.ffn_norm.weight", ones)
    writer.add_tensor("output_norm.weight", ones)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return unfinished.rename(path)


def _add_tokenizer(writer: gguf.GGUFWriter) -> None:
    """A sentencepiece vocabulary that both engines take: three special tokens, bytes, and made-up words."""
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    kinds = [2, 3, 3, *[6] * 256]
    words = [f"w{number}" for number in range(VOCABULARY - len(tokens))]
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens + words)
    writer.add_token_scores([0.0] * len(tokens) + [-float(number) for number in range(len(words))])
    writer.add_token_types(kinds + [1] * len(words))
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
