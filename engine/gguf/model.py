"""A model in GGUF: its config, and its tensors under Hugging Face's names, with the converter's changes undone.

Source: llama.cpp, convert_hf_to_gguf.py and gguf-py/gguf/tensor_mapping.py; of Ollama's own names, Ollama, model/models
and llama/compat.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch

from engine.errors import WeightsCorrupt
from engine.families import GGUF, SUPPORTED
from engine.families.family import NETWORK, Family, GgufForm
from engine.files import open_file
from engine.gguf.config import architecture_of, read_gguf_config
from engine.gguf.files import gguf_name
from engine.gguf.header import GgufHeader, quantization, read_header
from engine.gguf.parts import all_parts, check_text_model
from engine.gguf.rotations import read_factors, read_rotations
from engine.gguf.stored_tensor import PLAIN, StoredTensor, not_finite
from engine.gguf.woven import put_in_order
from engine.kernels.library import Rotation

_OUTER = {
    "token_embd": "model.embed_tokens",
    "output": "lm_head",
    "per_layer_token_embd": "model.embed_tokens_per_layer",
    "per_layer_model_proj": "model.per_layer_model_projection",
    "per_layer_proj_norm": "model.per_layer_projection_norm",
}
_LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_qkv": "self_attn.qkv_proj",
    "attn_q_a": "self_attn.q_a_proj",
    "attn_q_b": "self_attn.q_b_proj",
    "attn_kv_a_mqa": "self_attn.kv_a_proj_with_mqa",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "attn_q_a_norm": "self_attn.q_a_layernorm",
    "attn_kv_a_norm": "self_attn.kv_a_layernorm",
    "attn_gate": "self_attn.gate_proj",
    "attn_output": "self_attn.o_proj",
    "attn_out": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "post_attention_norm": "post_attention_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "shortconv.conv": "conv.conv",
    "shortconv.in_proj": "conv.in_proj",
    "shortconv.out_proj": "conv.out_proj",
    "nextn.eh_proj": "eh_proj",
    "nextn.enorm": "enorm",
    "nextn.hnorm": "hnorm",
    "nextn.shared_head_norm": "shared_head.norm",
    "nextn.shared_head_head": "shared_head.head",
    "nextn.embed_tokens": "embed_tokens",
}
#: Stacks of the maps that each head has from a latent.
_LATENTS = {"attn_k_b": "self_attn.k_b_proj.{}", "attn_v_b": "self_attn.v_b_proj.{}"}
_SINKS = dict.fromkeys(("attn_sinks.weight", "attn_sinks"), "self_attn.sinks")
# Far beyond every existing number: a damaged one must not become a list of that many entries.
_MOST_EXPERTS = 1 << 16
#: Modules whose weight has so many dimensions, whatever the file says.
_DIMENSIONS = {"conv.conv": 1, "conv1d": 1, "mamba.norm": 1, "mixer.norm": 1, "mlp.shared_expert_gate": 2}

#: Tensors that hold frequencies, which the config has.
FREQUENCY_TENSORS = ("rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight")
_HEADS = ("head_count", "head_count_kv")
_COMPUTED = re.compile(r"blk\.\d+\.(attn_rot_embd|rope_freqs)\.weight")
#: Beginnings of names in encoders of images and sound, and in their projectors, which Ollama's files have.
TOWERS = ("v.", "mm.", "a.", "vision.", "model.vision_tower.")

_MOST_FREQUENCIES = 4096


@dataclass(frozen=True)
class Source:
    """Origin of a tensor."""

    name: str  # name in the file
    # Number of heads, each of whose rows were interleaved pair by pair for llama.cpp's own rotation; 0 for none
    heads: int = 0
    offset: float = 0.0  # number to add to every value
    part: int = 0  # index of the tensor in a stack
    parts: int = 0  # number of parts in the stack; 0 if it is none
    # Dimensions of a vector, or of a matrix of one row, whatever the file says; 0 for the file's own
    dimensions: int = 0


def naming(form: GgufForm, family: Family) -> tuple[dict[str, str], ...]:
    """Return Hugging Face's names by llama.cpp's: modules outside the layers, modules and stacks of a layer, and whole.

    The last ones are tensors of a layer with other names down to the last part.
    """
    layer, stacks, whole = dict(_LAYER), dict(_LATENTS) if family.latent else {}, {**_SINKS, **form.whole}
    if family.sandwich_norm:
        layer["ffn_norm"] = "pre_feedforward_layernorm"
    if family.fused_projections:
        layer["ffn_up"] = "mlp.gate_up_proj"
    experts = family.experts
    if experts is not None:
        layer |= {"ffn_gate_inp": experts.router, "ffn_gate_inp_shexp": experts.shared_gate}
        for module, matrix in zip(NETWORK[-len(experts.matrices) :], experts.matrices, strict=True):
            kind = module.removesuffix("_proj")
            stacks[f"ffn_{kind}_exps"] = matrix
            layer[f"ffn_{kind}_shexp"] = f"{experts.shared}{module}"
        if experts.fused:
            stacks["ffn_gate_up_exps"] = experts.fused[0]
        whole |= dict.fromkeys(("exp_probs_b.bias", "exp_probs_b"), experts.correction)
    layer = {name: family.named(module) for name, module in {**layer, **form.layer}.items()}
    outer = {**_OUTER, "output_norm": f"model.{family.named('norm')}", **form.outer}
    return outer, layer, stacks, whole


def sources(shapes: Mapping[str, tuple[int, ...]], architecture: str, heads: int, kv_heads: int) -> dict[str, Source]:
    """Return a file's tensors by Hugging Face's names, each part of a stack by its own; others keep their names.

    Args:
        shapes: Shapes of the file's tensors, by their names there.
        architecture: llama.cpp's name of the architecture.
        heads: Query heads.
        kv_heads: Key-value heads.
    """
    form = GGUF[architecture]
    family = SUPPORTED[form.architecture]
    outer_modules, modules, stacks, whole = naming(form, family)
    found: dict[str, Source] = {}
    for name, shape in shapes.items():
        if name in FREQUENCY_TENSORS or _COMPUTED.fullmatch(name) or name.startswith(TOWERS):
            continue
        layer = re.fullmatch(r"blk\.(\d+)\.(.+)", name)
        own, prefix = (layer[2], f"model.layers.{layer[1]}.") if layer else (name, "")
        module, _, kind = own.rpartition(".")
        if not layer:
            translated = outer_modules.get(module)
        elif own in whole:
            found[prefix + whole[own]] = Source(name, dimensions=1)
            continue
        elif module in stacks and len(shape) > 1 and shape[0] <= _MOST_EXPERTS:
            for part in range(shape[0]):
                found[f"{prefix}{stacks[module].format(part)}.{kind}"] = Source(name, part=part, parts=shape[0])
            continue
        else:
            translated = modules.get(module)
        if translated is None:
            found[name] = Source(name)
            continue
        interleaved = {"attn_q": heads, "attn_k": kv_heads}.get(module, 0) if form.interleaved else 0
        offset = -family.norm_offset if module.endswith("norm") and not module.startswith("ssm") else 0.0
        dimensions = next((count for own, count in _DIMENSIONS.items() if translated.endswith(own)), 0)
        found[f"{prefix}{translated}.{kind}"] = Source(name, interleaved, offset, dimensions=dimensions)
    return found


class GgufFile:
    """Tensors of one file.

    Args:
        sources: Origins of its tensors, by the names that they are asked for by.
        rotations: Rotations of tensors, by their names in the file.
        factors: Factors of tensors, one or one for each part of a stack, by their names in the file.
    """

    def __init__(
        self,
        header: GgufHeader,
        sources: Mapping[str, Source],
        rotations: Mapping[str, Rotation] = MappingProxyType({}),
        factors: Mapping[str, list[float]] = MappingProxyType({}),
    ) -> None:
        self._rotations, self._factors = rotations, factors
        self.path: Path = header.path
        self.size_bytes = header.size_bytes
        self._header = header
        self._sources = sources

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the tensors."""
        return tuple(self._sources)

    def stored(self, name: str) -> StoredTensor:
        """Return the place of a tensor, whatever its type.

        Raises:
            WeightsNotFinite: Its factor is a NaN or an infinity.
        """
        source = self._sources[name]
        info = self._header.tensors[source.name]
        each = info.size_bytes // max(1, source.parts)
        start = info.start + source.part * each
        found = StoredTensor(info.name, self.path, start, each, int(info.kind), self.shape(name))
        factors = self._factors.get(info.name)
        factor = factors[source.part if len(factors) > 1 else 0] if factors else None
        if factor is not None and not math.isfinite(factor):
            raise not_finite(found)
        rotation = self._rotations.get(info.name)
        return replace(put_in_order(found), heads=source.heads, offset=source.offset, rotation=rotation, factor=factor)

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a tensor, whatever its type."""
        source = self._sources[name]
        shape = self._header.tensors[source.name].shape
        if source.dimensions:
            return (*(1,) * (source.dimensions - 1), math.prod(shape))
        return shape[1:] if source.parts else shape

    def identity(self) -> str:
        """Return a hash of the head."""
        return self._header.digest


@dataclass(frozen=True)
class GgufModel:
    """A model whose files are complete."""

    config: dict[str, Any]  # config in the form of config.json; of a layer alone its architecture
    files: tuple[GgufFile, ...]  # files of its tensors
    quantization: str | None  # name of its mixture of types, such as Q4_K_M; None for plain numbers
    text_alone: bool  # True if it has encoders of images or sound too, which are left out


def read_gguf(path: Path, head: bool = False) -> GgufModel:
    """Read the headers of a model's files, starting from a path of `find_gguf`.

    Args:
        path: The file, or its first part.
        head: True for a file with the layer alone that guesses a token further (MTP), whose config is the model's: only
            the architecture is read of it.

    Raises:
        WeightsMissing: A part is missing.
        WeightsCorrupt: A file is damaged or cut short.
        ConfigInvalid: The metadata is invalid.
        UnsupportedModel: Tenon cannot run the model, or read its tensors.
    """
    headers = [read_header(part) for part in all_parts(path)]
    metadata = headers[0].metadata
    tensors = {name: tensor for header in headers for name, tensor in header.tensors.items()}
    shapes = {name: tensor.shape for name, tensor in tensors.items()}
    if len(shapes) < sum(len(header.tensors) for header in headers):
        raise WeightsCorrupt(
            "The parts of {path} hold the same tensor twice, so they are not of one model; put the right ones "
            "together.",
            path=gguf_name(path),
        )
    if not head:
        check_text_model(metadata, shapes)
    architecture = architecture_of(metadata)
    if head:
        config: dict[str, Any] = {"architectures": [GGUF[architecture].architecture]}
        each = (metadata.get(f"{metadata['general.architecture']}.attention.{key}", 0) for key in _HEADS)
        heads, kv_heads = (int(max(count) if isinstance(count, list) else count) for count in each)
    else:
        config = read_gguf_config(metadata, shapes, lambda name: _floats(headers, name))
        heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    rotations = read_rotations(metadata, shapes)
    factors, beside = read_factors(tensors, lambda name: _floats(headers, name))
    files = []
    for header in headers:
        own = {name: tensor.shape for name, tensor in header.tensors.items() if name not in beside}
        files.append(GgufFile(header, sources(own, architecture, heads, kv_heads), rotations, factors))
    text_alone = any(name.startswith(TOWERS) for name in shapes)
    return GgufModel(config, tuple(files), quantization(headers), text_alone)


def _floats(headers: list[GgufHeader], name: str) -> list[float]:
    """Return the numbers of a small tensor."""
    header = next(header for header in headers if name in header.tensors)
    tensor = header.tensors[name]
    if math.prod(tensor.shape) > _MOST_FREQUENCIES or tensor.kind not in PLAIN:
        raise ValueError(f"{name} is {tensor.kind.name} of the shape {tensor.shape}")
    with open_file(header.path) as file:
        file.seek(tensor.start)
        raw = bytearray(file.read(tensor.size_bytes))
    return torch.frombuffer(raw, dtype=PLAIN[tensor.kind]).tolist()
