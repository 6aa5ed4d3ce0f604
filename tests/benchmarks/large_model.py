"""The shapes that forwards are measured on: random blocks, as GGUF files of every usual mix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path

import gguf
import torch
from torch import Tensor

from engine.kernels import blocks
from tests.support.matrices import raw_matrix

VOCABULARY = 32000
CONTEXT = 32768


@dataclass(frozen=True)
class Shape:
    """Sizes of a model.

    Attributes:
        name: Of its files.
        architecture: In GGUF.
        layers: Number of them.
        hidden: h.
        wide: Intermediate size of a network, or of an expert.
        heads: Of queries.
        kv_heads: Of keys and values.
        head_dim: d.
        experts: Of a layer; 0 for one network.
        chosen: Experts that a token takes.
    """

    name: str
    architecture: str
    layers: int
    hidden: int
    wide: int
    heads: int
    kv_heads: int
    head_dim: int
    experts: int = 0
    chosen: int = 0

    @property
    def matrices(self) -> dict[str, tuple[int, ...]]:
        """Of a layer: names in GGUF and shapes."""
        end, stack = ("_exps", (self.experts,)) if self.experts else ("", ())
        own, shared = self.heads * self.head_dim, self.kv_heads * self.head_dim
        return {
            "attn_q": (own, self.hidden),
            "attn_k": (shared, self.hidden),
            "attn_v": (shared, self.hidden),
            "attn_output": (self.hidden, own),
            f"ffn_gate{end}": (*stack, self.wide, self.hidden),
            f"ffn_up{end}": (*stack, self.wide, self.hidden),
            f"ffn_down{end}": (*stack, self.hidden, self.wide),
        }


#: A Llama of 1.1 B parameters.
LLAMA = Shape("shape", "llama", 22, 2048, 5632, 32, 4, 64)
#: Qwen3-30B-A3B's with fewer and smaller experts: 3.2 B parameters, 0.4 of them for a token.
QWEN3_MOE = Shape("mixture", "qwen3moe", 15, 1024, 512, 32, 4, 128, experts=128, chosen=8)

KINDS = ("Q4_0", "Q4_K_M", "Q6_K", "Q8_0", "BF16")


def type_of(kind: str, name: str, layer: int = 0, layers: int = LLAMA.layers) -> str:
    """The block type of a tensor in a file of this kind; a Q4_K_M has some in Q6_K, as llama.cpp mixes them."""
    if kind != "Q4_K_M":
        return kind
    more = layer < layers // 8 or layer >= 7 * layers // 8 or (layer - layers // 8) % 3 == 2
    down = name.startswith("ffn_down")
    return "Q6_K" if name == "output" or ((name == "attn_v" or down) and more) else "Q4_K"


def matrices(kind: str, shape: Shape) -> Iterator[tuple[str, str, tuple[int, ...], Tensor]]:
    """Name, type, shape and blocks, (rows, bytes), of every matrix; about as large as in a trained model."""
    table = (VOCABULARY, shape.hidden)
    wanted: list[tuple[str, tuple[int, ...], int]] = [("token_embd", table, 0), ("output", table, 0)]
    for layer in range(shape.layers):
        wanted += [(f"blk.{layer}.{name}", size, layer) for name, size in shape.matrices.items()]
    for seed, (name, size, layer) in enumerate(wanted):
        type_name = type_of(kind, name.rpartition(".")[2], layer, shape.layers)
        scale = size[-1] ** -0.5 if type_name == "BF16" else 5e-4
        yield f"{name}.weight", type_name, size, raw_matrix(type_name, prod(size[:-1]), size[-1], seed, scale)


def write_gguf(folder: Path, kind: str, shape: Shape = LLAMA) -> Path:
    """A model in a kind of `KINDS`; written once."""
    path = folder / f"{shape.name}-{shape.layers}-layers.{kind}.gguf"
    if path.is_file():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    writer = gguf.GGUFWriter(str(unfinished), shape.architecture, use_temp_file=True)
    writer.add_block_count(shape.layers)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(shape.hidden)
    writer.add_feed_forward_length(shape.wide)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_key_length(shape.head_dim)
    writer.add_value_length(shape.head_dim)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(shape.head_dim)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(VOCABULARY)
    if shape.experts:
        writer.add_expert_count(shape.experts)
        writer.add_expert_used_count(shape.chosen)
        writer.add_expert_feed_forward_length(shape.wide)
    _add_tokenizer(writer)
    for name, type_name, size, raw in matrices(kind, shape):
        form = gguf.GGMLQuantizationType(blocks.NAMES[type_name])
        writer.add_tensor(name, raw.view(*size[:-1], -1).numpy(), raw_dtype=form)
    ones = torch.ones(shape.hidden).numpy()
    for layer in range(shape.layers):
        writer.add_tensor(f"blk.{layer}.attn_norm.weight", ones)
        writer.add_tensor(f"blk.{layer}.ffn_norm.weight", ones)
        if shape.experts:
            each = torch.ones(shape.head_dim).numpy()
            writer.add_tensor(f"blk.{layer}.attn_q_norm.weight", each)
            writer.add_tensor(f"blk.{layer}.attn_k_norm.weight", each)
            router = torch.randn(shape.experts, shape.hidden, generator=torch.Generator().manual_seed(layer))
            writer.add_tensor(f"blk.{layer}.ffn_gate_inp.weight", router.numpy() * shape.hidden**-0.5)
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
