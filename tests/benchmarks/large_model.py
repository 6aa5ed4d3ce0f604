"""The shapes that forwards are measured on: random blocks, as GGUF files of every usual mix."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from math import prod
from pathlib import Path

import gguf
import torch
from torch import Tensor

from engine.gguf.header import read_header
from engine.gguf.stored_tensor import F32
from engine.gguf.types import GgmlType
from engine.gguf.writing import head_of, padded, pair, pairs_of
from engine.kernels import blocks
from engine.planning.probes.host import usable_cores
from tests.support.matrices import raw_matrix

VOCABULARY = 32000
CONTEXT = 32768
#: Types of PrismML's files, whose matrices are rotated, all but the gates of gated DeltaNet.
_ROTATED = ("PQ2_0", "PTQ1_0")
_GATES = ("ssm_alpha", "ssm_beta")


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
        vocabulary: V.
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
    vocabulary: int = VOCABULARY

    @property
    def dense(self) -> int:
        """Width of a network without experts."""
        return self.wide

    @property
    def value_width(self) -> int:
        """Numbers of what is cached that are values."""
        return self.head_dim

    @property
    def rotated(self) -> int:
        """Channels of a head that are rotated."""
        return self.head_dim

    def matrices(self, layer: int) -> dict[str, tuple[int, ...]]:
        """Of a layer: names in GGUF and shapes."""
        own, shared = self.heads * self.head_dim, self.kv_heads * self.head_dim
        attention = {
            "attn_q": (own, self.hidden),
            "attn_k": (shared, self.hidden),
            "attn_v": (shared, self.hidden),
            "attn_output": (self.hidden, own),
        }
        return attention | (self._network("_exps", self.experts) if self.experts else self._network(""))

    def _network(self, end: str, *stack: int, wide: int = 0) -> dict[str, tuple[int, ...]]:
        wide = wide or self.wide
        into, out = (*stack, wide, self.hidden), (*stack, self.hidden, wide)
        return {f"ffn_gate{end}": into, f"ffn_up{end}": into, f"ffn_down{end}": out}

    def vectors(self, layer: int) -> dict[str, tuple[int, ...]]:
        """Of a layer: names in GGUF and shapes."""
        outer = {"attn_norm.weight": (self.hidden,), "ffn_norm.weight": (self.hidden,)}
        own = dict.fromkeys(("attn_q_norm.weight", "attn_k_norm.weight"), (self.head_dim,))
        return outer | own if self.experts else outer

    def routes(self, layer: int) -> bool:
        """True if a layer has experts."""
        return bool(self.experts)

    def describe(self, writer: gguf.GGUFWriter) -> None:
        """Write the sizes."""
        writer.add_block_count(self.layers)
        writer.add_context_length(CONTEXT)
        writer.add_embedding_length(self.hidden)
        writer.add_feed_forward_length(self.dense)
        writer.add_head_count(self.heads)
        writer.add_head_count_kv(self.kv_heads)
        writer.add_key_length(self.head_dim)
        writer.add_value_length(self.value_width)
        writer.add_layer_norm_rms_eps(1e-5)
        writer.add_rope_dimension_count(self.rotated)
        writer.add_rope_freq_base(10000.0)
        writer.add_vocab_size(self.vocabulary)
        if self.experts:
            writer.add_expert_count(self.experts)
            writer.add_expert_used_count(self.chosen)
            writer.add_expert_feed_forward_length(self.wide)


@dataclass(frozen=True)
class LatentShape(Shape):
    """Sizes of a model that caches latents: one head of as many channels, of which `rotated` are rotated.

    Attributes:
        query_rank: Width that queries are mapped through.
        plain: Channels of a head's queries that are not rotated.
        values: Width of a head's values.
        rotated: Channels of its queries that are.
        dense: Width of the first layer's network, which has no experts.
    """

    query_rank: int = 0
    plain: int = 0
    values: int = 0
    rotated: int = 0
    dense: int = 0

    @property
    def value_width(self) -> int:
        """Numbers of what is cached that are values."""
        return self.head_dim - self.rotated

    def matrices(self, layer: int) -> dict[str, tuple[int, ...]]:
        """Of a layer: names in GGUF and shapes."""
        attention: dict[str, tuple[int, ...]] = {
            "attn_q_a": (self.query_rank, self.hidden),
            "attn_q_b": (self.heads * (self.plain + self.rotated), self.query_rank),
            "attn_kv_a_mqa": (self.head_dim, self.hidden),
            "attn_k_b": (self.heads, self.value_width, self.plain),
            "attn_v_b": (self.heads, self.values, self.value_width),
            "attn_output": (self.hidden, self.heads * self.values),
        }
        if not self.routes(layer):
            return attention | self._network("", wide=self.dense)
        return attention | self._network("_exps", self.experts) | self._network("_shexp")

    def vectors(self, layer: int) -> dict[str, tuple[int, ...]]:
        """Of a layer: names in GGUF and shapes."""
        outer = {"attn_norm.weight": (self.hidden,), "ffn_norm.weight": (self.hidden,)}
        own = {"attn_q_a_norm.weight": (self.query_rank,), "attn_kv_a_norm.weight": (self.value_width,)}
        return outer | own | ({"exp_probs_b.bias": (self.experts,)} if self.routes(layer) else {})

    def routes(self, layer: int) -> bool:
        """True if a layer has experts."""
        return layer > 0

    def describe(self, writer: gguf.GGUFWriter) -> None:
        """Write the sizes."""
        super().describe(writer)
        writer.add_q_lora_rank(self.query_rank)
        writer.add_kv_lora_rank(self.value_width)
        writer.add_key_length_mla(self.plain + self.rotated)
        writer.add_value_length_mla(self.values)
        writer.add_leading_dense_block_count(1)
        writer.add_expert_shared_count(1)
        writer.add_expert_weights_norm(True)
        writer.add_expert_weights_scale(1.8)
        writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)


@dataclass(frozen=True)
class HybridShape(Shape):
    """Sizes of a model with gated DeltaNet in three of four layers, heads of 128 channels, of which 16 are keys.

    Attributes:
        value_heads: Heads of values of such a layer.
    """

    value_heads: int = 16

    def _attends(self, layer: int) -> bool:
        return layer % 4 == 3

    @property
    def rotated(self) -> int:
        """Channels of a head that are rotated."""
        return self.head_dim // 4

    def matrices(self, layer: int) -> dict[str, tuple[int, ...]]:
        """Of a layer: names in GGUF and shapes."""
        if self._attends(layer):
            return super().matrices(layer) | {"attn_q": (2 * self.heads * self.head_dim, self.hidden)}
        width = self.value_heads * 128
        gates = dict.fromkeys(("ssm_alpha", "ssm_beta"), (self.value_heads, self.hidden))
        maps = {"attn_qkv": (2 * 16 * 128 + width, self.hidden), "attn_gate": (width, self.hidden)}
        return maps | gates | {"ssm_out": (self.hidden, width)} | self._network("")

    def vectors(self, layer: int) -> dict[str, tuple[int, ...]]:
        """Of a layer: names in GGUF and shapes."""
        outer = dict.fromkeys(("attn_norm.weight", "post_attention_norm.weight"), (self.hidden,))
        if self._attends(layer):
            return outer | dict.fromkeys(("attn_q_norm.weight", "attn_k_norm.weight"), (self.head_dim,))
        own = {"ssm_conv1d.weight": ((32 + self.value_heads) * 128, 4), "ssm_norm.weight": (128,)}
        return outer | own | dict.fromkeys(("ssm_a", "ssm_dt.bias"), (self.value_heads,))

    def describe(self, writer: gguf.GGUFWriter) -> None:
        """Write the sizes."""
        super().describe(writer)
        writer.add_rope_dimension_sections([11, 11, 10, 0])
        writer.add_ssm_conv_kernel(4)
        writer.add_ssm_state_size(128)
        writer.add_ssm_group_count(16)
        writer.add_ssm_time_step_rank(self.value_heads)
        writer.add_ssm_inner_size(self.value_heads * 128)
        writer.add_full_attention_interval(4)


#: A Llama of 1.1 B parameters.
LLAMA = Shape("shape", "llama", 22, 2048, 5632, 32, 4, 64)
#: Qwen3-30B-A3B's with fewer and smaller experts: 3.2 B parameters, 0.4 of them for a token.
QWEN3_MOE = Shape("mixture", "qwen3moe", 15, 1024, 512, 32, 4, 128, experts=128, chosen=8)
#: GLM-4.7-Flash's with 8 layers of 16 experts in place of 47 of 64: 1.5 B parameters, 0.7 of them for a token.
GLM_FLASH = LatentShape(
    *("latents", "deepseek2", 8, 2048, 1536, 20, 1, 576),
    experts=16,
    chosen=4,
    query_rank=768,
    plain=192,
    values=256,
    rotated=64,
    dense=10240,
)

#: Qwen3.5-2B's and 4B's with a smaller vocabulary, 1.4 and 3.5 B parameters, and Bonsai 2's, Qwen3.8-27B's, 26.9 B.
HYBRIDS = {
    "2b": HybridShape("hybrid", "qwen35", 24, 2048, 6144, 8, 2, 256),
    "4b": HybridShape("hybrid-4b", "qwen35", 32, 2560, 9216, 16, 4, 256, value_heads=32),
    "27b": HybridShape("bonsai", "qwen35", 64, 5120, 17408, 24, 4, 256, vocabulary=248320, value_heads=48),
}

KINDS = ("Q4_0", "Q4_K_M", "Q6_K", "Q8_0", "BF16")


def type_of(kind: str, name: str, layer: int = 0, layers: int = LLAMA.layers) -> str:
    """The block type of a tensor in a file of this kind; a Q4_K_M has some in Q6_K, as llama.cpp mixes them."""
    if kind in _ROTATED and name in _GATES:
        return "BF16"
    if kind != "Q4_K_M":
        return kind
    more = layer < layers // 8 or layer >= 7 * layers // 8 or (layer - layers // 8) % 3 == 2
    down = name.startswith("ffn_down")
    return "Q6_K" if name == "output" or ((name == "attn_v" or down) and more) else "Q4_K"


def matrices(kind: str, shape: Shape) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Name, type and shape of every matrix."""
    table = (shape.vocabulary, shape.hidden)
    wanted: list[tuple[str, tuple[int, ...], int]] = [("token_embd", table, 0), ("output", table, 0)]
    for layer in range(shape.layers):
        wanted += [(f"blk.{layer}.{name}", size, layer) for name, size in shape.matrices(layer).items()]
    for name, size, layer in wanted:
        type_name = type_of(kind, name.rpartition(".")[2], layer, shape.layers)
        if size[-1] % blocks.block_of(blocks.NAMES[type_name])[0]:  # as llama.cpp replaces them
            type_name = {"Q4_K": "Q5_0", "Q6_K": "Q8_0"}[type_name]
        yield f"{name}.weight", type_name, size


def write_gguf(folder: Path, kind: str, shape: Shape = LLAMA) -> Path:
    """A model in a kind of `KINDS`, about as large as a trained one; written once."""
    path = folder / f"{shape.name}-{shape.layers}-layers.{kind}.gguf"
    if path.is_file():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    writer = gguf.GGUFWriter(str(unfinished), shape.architecture)
    shape.describe(writer)
    _add_tokenizer(writer, shape.vocabulary)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    pairs = pairs_of(read_header(unfinished)) | (_rotation(kind, shape) if kind in _ROTATED else {})
    wanted = list(matrices(kind, shape))
    vectors = {"output_norm.weight": torch.ones(shape.hidden)}
    for layer in range(shape.layers):
        for name, size in shape.vectors(layer).items():
            value = {"ssm_a": -0.05, "ssm_conv1d.weight": 0.25}.get(name, 1.0)
            vectors[f"blk.{layer}.{name}"] = torch.full(size, value)
        if shape.routes(layer):
            router = torch.randn(shape.experts, shape.hidden, generator=torch.Generator().manual_seed(layer))
            vectors[f"blk.{layer}.ffn_gate_inp.weight"] = router * shape.hidden**-0.5
    rows = [
        (name, blocks.NAMES[own], size, prod(size[:-1]) * GgmlType(blocks.NAMES[own]).row_bytes(size[-1]))
        for name, own, size in wanted
    ]
    rows += [(name, F32, tuple(one.shape), one.nbytes) for name, one in vectors.items()]
    head, places = head_of(pairs, rows)

    def made(seed: int) -> Tensor:
        _, type_name, size = wanted[seed]
        scale = size[-1] ** -0.5 if type_name == "BF16" else 5e-4
        return raw_matrix(type_name, prod(size[:-1]), size[-1], seed, scale)

    # Each has a seed of its own, so that cores make some at a time.
    cores = usable_cores()
    with unfinished.open("wb") as file, ThreadPoolExecutor(cores) as threads:
        file.write(head)
        some = (
            threads.map(made, range(first, min(first + cores, len(wanted)))) for first in range(0, len(wanted), cores)
        )
        for place, raw in zip(places, chain(chain.from_iterable(some), vectors.values()), strict=True):
            file.seek(place.start)
            file.write(raw.contiguous().numpy().data)
        file.truncate(padded(file.tell()))
    return unfinished.rename(path)


def _rotation(kind: str, shape: Shape) -> dict[str, bytes]:
    """Random signs and blocks of 1024 for all matrices, as Bonsai 2 has them."""
    sizes = {name: size for name, type_name, size in matrices(kind, shape) if type_name == kind}
    widths = sorted({size[-1] for size in sizes.values()})
    signs = torch.randint(2, (sum(widths),), generator=torch.Generator().manual_seed(0)) * 2 - 1
    said = {
        "version": 1,
        "block_size": 1024,
        "transform": "normalized-sylvester-walsh-hadamard",
        "axis": "input-last-dimension",
        "sign_mode": "explicit",
        "sign_widths": widths,
        "sign_values": signs.tolist(),
        "weight_names": [name for name in sizes if name != "token_embd.weight"],
        "inverse_weight_names": ["token_embd.weight"],
        "gdn_v_grouped": True,
    }
    return {f"prism.hadamard.{key}": pair(value) for key, value in said.items()}


def _add_tokenizer(writer: gguf.GGUFWriter, vocabulary: int) -> None:
    """A sentencepiece vocabulary that both engines take: three special tokens, bytes, and made-up words."""
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    kinds = [2, 3, 3, *[6] * 256]
    words = [f"w{number}" for number in range(vocabulary - len(tokens))]
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens + words)
    writer.add_token_scores([0.0] * len(tokens) + [-float(number) for number in range(len(words))])
    writer.add_token_types(kinds + [1] * len(words))
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
