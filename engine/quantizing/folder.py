"""A folder of safetensors as a GGUF file would have it: names, order of rows and metadata of llama.cpp's converter.

What is written is read again before the copy begins, and a model that would be read as another one is refused.
Source: llama.cpp, conversion/*.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from engine.errors import UnsupportedModel
from engine.families import GGUF
from engine.families.family import GgufForm
from engine.gguf.config import sampling_pairs
from engine.gguf.mixtures import Facts, may_quantize
from engine.gguf.model import naming
from engine.gguf.stored_tensor import F32, StoredTensor
from engine.gguf.writing import pair
from engine.model.config import DeltaNet, ModelConfig, decoder_values
from engine.model.rope import Rope
from engine.model.tensors import HARMLESS_SUFFIXES, NextNames, head_name
from engine.model_file import OpenedModel
from engine.quantizing.original import NewTensor, Original
from engine.quantizing.vocabulary import vocabulary_pairs
from engine.sentences import mark, say
from engine.weights.checkpoint import Checkpoint

_NO_FORM = mark("llama.cpp has no GGUF files of {architecture}, so no smaller copy of this model can be written.")
_NO_NAME = mark("The tensor {name} has no place in a GGUF file, so no smaller copy of this model can be written.")
_NO_DRAFT = mark("The layer that drafts (MTP) is not in the copy: the original's own files have it.")
_EXPERT = re.compile(r"\.(\d+)(?=\.|$)")


def from_folder(opened: OpenedModel) -> Original:
    """Return a folder of safetensors to be copied.

    Raises:
        UnsupportedModel: GGUF has no form for it.
    """
    checkpoint, config = opened.checkpoint, opened.config
    values = decoder_values(checkpoint, config.family)
    architecture, form = _form(opened, str(values["model_type"]))
    found = _Tensors(checkpoint, config, form)
    tensors = [*_frequencies(values, config), *found.all()]
    metadata = {
        "general.architecture": architecture,
        "general.type": "model",
        "general.name": opened.place.name,
        **{
            f"{architecture}.{key}": value
            for key, value in _metadata(values, config, form).items()
            if value is not None
        },
        **sampling_pairs(opened.generation_config),
    }
    vocabulary = vocabulary_pairs(opened.place, form, config.vocabulary_size)
    template = next(iter(opened.templates.values()), "")
    if template:
        vocabulary["tokenizer.chat_template"] = template
    pairs = {key: pair(value) for key, value in {**metadata, **vocabulary}.items()}
    experts = 0 if config.mixture is None else config.mixture.experts
    group = config.heads // config.of_layer(0).kv_heads if config.attends(0) else 0
    notes = (say(_NO_DRAFT),) if found.drafts else ()
    facts = Facts(architecture, config.layers, experts, group)
    return Original(pairs, tensors, checkpoint.files, facts, checkpoint.digest(), notes)


def _form(opened: OpenedModel, model_type: str) -> tuple[str, GgufForm]:
    sparse = opened.config.mixture is not None
    fitting = [(name, form) for name, form in GGUF.items() if model_type in (form.model_type, *form.other_types)]
    if not fitting:
        raise UnsupportedModel(_NO_FORM, architecture=opened.config.architecture)
    return next((one for one in fitting if one[0].endswith("moe") == sparse), fitting[0])


class _Tensors:
    """Tensors of the new file, made of those of a checkpoint."""

    def __init__(self, checkpoint: Checkpoint, config: ModelConfig, form: GgufForm) -> None:
        self._checkpoint, self._config, self._form = checkpoint, config, form
        outer, layer, stacks, whole = (_turned(names) for names in naming(form, config.family))
        outer |= _turned(form.outer)
        own = {config.family.named(module): name for module, name in _turned(form.layer).items()}
        layer |= own
        for name in own.values():  # the family's name for it is not the usual one
            layer = {module: other for module, other in layer.items() if other != name or module in own}
        if config.mixture is None:
            layer |= {module: name.removesuffix("_shexp") for module, name in layer.items() if name.endswith("_shexp")}
        self._outer, self._layer, self._stacks, self._whole = outer, layer, stacks, whole
        self.drafts = False  # True if a layer that drafts is left out

    def all(self) -> list[NewTensor]:
        """Return all tensors, in the order of the checkpoint's files."""
        config, stacked = self._config, dict[str, list[tuple[int, str]]]()
        found: list[NewTensor] = []
        for name in self._wanted():
            tail = name.removeprefix(f"{config.tensor_prefix}layers.")
            if tail == name:
                module, _, kind = name.rpartition(".")
                plain = "lm_head" if name == head_name(config) else f"model.{module.removeprefix(config.tensor_prefix)}"
                if plain not in self._outer:
                    raise UnsupportedModel(_NO_NAME, name=name)
                found += self._plain(name, f"{self._outer[plain]}.{kind}", self._outer[plain])
                continue
            number, _, tail = tail.partition(".")
            module, _, kind = tail.rpartition(".")
            if tail in self._whole:
                found += self._plain(name, f"blk.{number}.{self._whole[tail]}", self._whole[tail])
            elif module in self._layer:
                found += self._plain(name, f"blk.{number}.{self._layer[module]}.{kind}", self._layer[module])
            else:
                expert = _EXPERT.search(module)
                stack = None if expert is None else self._stacks.get(_EXPERT.sub(".{}", module, count=1))
                if expert is None or stack is None:
                    raise UnsupportedModel(_NO_NAME, name=name)
                stacked.setdefault(f"blk.{number}.{stack}.{kind}", []).append((int(expert[1]), name))
        for target, parts in stacked.items():
            found += self._stack(target, [name for _, name in sorted(parts)])
        found.sort(key=lambda one: (str(one.parts[0].path), one.parts[0].start))
        if config.query_scale is not None:  # a factor of normed queries, which is a norm's weight in GGUF
            for index in range(config.layers):
                for module, scale in (("attn_q_norm", config.query_scale), ("attn_k_norm", 1.0)):
                    given = torch.full((config.head_dim,), scale)
                    found.append(NewTensor(f"blk.{index}.{module}.weight", (config.head_dim,), (), None, given=given))
        return found

    def _wanted(self) -> Iterator[str]:
        """Yield the names of the tensors that the copy has."""
        config = self._config
        following = NextNames.of(self._checkpoint.names, config)
        for name in self._checkpoint.names:
            tail = name.removeprefix(f"{config.tensor_prefix}layers.")
            number = tail.partition(".")[0]
            if name.startswith("mtp.") or (tail != name and number.isdecimal() and int(number) >= config.layers):
                self.drafts = self.drafts or following is not None
            elif name.endswith(HARMLESS_SUFFIXES) or name.startswith(config.family.ignored_prefixes):
                continue
            elif not (config.tied and name in ("lm_head.weight", head_name(config))):
                yield name

    def _plain(self, name: str, target: str, module: str) -> Iterator[NewTensor]:
        """Yield the tensor, or those that it is taken apart to, of one of the checkpoint's."""
        config, form, stored = self._config, self._form, self._checkpoint.stored(name)
        delta, shape = config.delta, stored.shape
        change: Callable[[Tensor], Tensor] | None = None
        columns: Tensor | None = None
        if module in ("attn_q", "attn_k") and form.interleaved:
            heads = config.heads if module == "attn_q" else config.kv_heads
            change = _interleaving(heads)
        elif module.endswith("norm") and target.endswith(".weight") and not module.startswith("ssm"):
            plain = module == "output_norm" and config.family.plain_final_norm
            if config.family.norm_offset and not plain:
                offset = config.family.norm_offset
                change = lambda values: values + offset  # noqa: E731
        elif delta is not None and module.startswith(("ssm", "attn_qkv", "attn_gate")):
            yield from self._of_memory(delta, name, target, module)
            return
        elif module == "shortconv.conv":
            shape = (config.hidden_size, config.convolution)
        yield self._new(target, shape, [name], change, columns)

    def _of_memory(self, delta: DeltaNet, name: str, target: str, module: str) -> Iterator[NewTensor]:
        """Yield tensors of gated DeltaNet or Mamba-2."""
        config, shape = self._config, self._checkpoint.shape(name)
        each, tiled = delta.heads // delta.key_heads, delta.corrects and not delta.joined
        values = _by_place(delta.key_heads, each) if tiled else _unchanged
        first = 2 * delta.keys
        if module == "ssm_a":
            shape = shape if delta.corrects else (delta.heads, 1)
            yield self._new(target, shape, [name], lambda one: values(-one.exp()))
        elif module == "ssm_d":
            yield self._new(target, (delta.heads, 1), [name])
        elif module == "ssm_dt.bias":
            yield self._new(target, shape, [name], values)
        elif module == "ssm_norm":
            yield self._new(target, shape if delta.corrects else (delta.key_heads, -1), [name])
        elif module == "ssm_conv1d":
            wide = shape if target.endswith(".bias") else (delta.channels, config.convolution)
            turned = (lambda one: _after(first, values)(one.view(wide))) if tiled else None
            yield self._new(target, wide, [name], turned)
        elif module == "attn_qkv" and tiled:
            yield self._new(target, shape, [name], _after(first, values))
        elif module in ("attn_gate", "ssm_alpha", "ssm_beta") and tiled:
            yield self._new(target, shape, [name], values)
        elif module == "ssm_out" and tiled:
            yield self._new(target, shape, [name], columns=values(torch.arange(shape[1])))
        elif module == "ssm_in" and delta.joined:
            widths = [delta.key_dim] * 2 + [delta.value_dim * each] * 2
            start = target.removesuffix("ssm_in.weight")

            def part(chosen: slice) -> Callable[[Tensor], Tensor]:
                def take(one: Tensor) -> Tensor:
                    parts = torch.split(one.view(delta.key_heads, sum(widths), -1), widths, 1)[chosen]
                    return torch.cat([own.flatten(0, 1) for own in parts])

                return take

            yield self._new(f"{start}attn_qkv.weight", (delta.channels, shape[1]), [name], part(slice(3)))
            yield self._new(f"{start}attn_gate.weight", (delta.values, shape[1]), [name], part(slice(3, 4)))
        else:
            yield self._new(target, shape, [name])

    def _stack(self, target: str, names: list[str]) -> Iterator[NewTensor]:
        """Yield the stack of experts' tensors; gate and up that are one in the checkpoint are two, but for Gemma's."""
        shape = (len(names), *self._checkpoint.shape(names[0]))
        beside = self._config.family.experts is not None and self._config.family.experts.beside
        if "ffn_gate_up_exps" not in target or beside:
            yield self._new(target, shape, names)
            return
        half = shape[1] // 2
        for kind, rows in (("gate", slice(half)), ("up", slice(half, None))):
            yield self._new(target.replace("gate_up", kind), (shape[0], half, *shape[2:]), names, _taking(rows))

    def _new(
        self,
        target: str,
        shape: tuple[int, ...],
        names: list[str],
        change: Callable[[Tensor], Tensor] | None = None,
        columns: Tensor | None = None,
    ) -> NewTensor:
        parts = tuple(self._checkpoint.stored(name).read_as(F32) for name in names)
        total = sum(part.rows * part.columns for part in parts)
        if -1 in shape:
            shape = (*shape[:-1], total // shape[0])
        exact = not may_quantize(target, shape) and "per_layer_model_proj" not in target
        kinds = {part.kind for part in parts}
        as_stored = change is None and columns is None and len(kinds) == 1 and all(map(_in_order, parts))
        return NewTensor(
            target, shape, parts, kinds.pop() if as_stored else None, tuple(names), change, exact=exact, columns=columns
        )


def _in_order(part: StoredTensor) -> bool:
    return part.head_rows == 1 and not part.offset and part.encoding is None


def _turned(names: Mapping[str, str]) -> dict[str, str]:
    """Return the names by what they stand for; the first one that stands for the same counts."""
    found: dict[str, str] = {}
    for name, own in sorted(names.items(), key=lambda one: not one[0].endswith("_shexp")):
        found.setdefault(own, name)
    return found


def _unchanged(values: Tensor) -> Tensor:
    return values


def _taking(rows: slice) -> Callable[[Tensor], Tensor]:
    return lambda values: values[rows]


def _after(first: int, change: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """Return a change of the rows after the first ones."""
    return lambda values: torch.cat((values[:first], change(values[first:])))


def _interleaving(heads: int) -> Callable[[Tensor], Tensor]:
    """Return the change of each head's rows to pairs that lie side by side, as llama.cpp rotates them."""
    return lambda values: (
        values.view(heads, 2, values.shape[0] // heads // 2, *values.shape[1:]).transpose(1, 2).reshape(values.shape)
    )


def _by_place(heads: int, each: int) -> Callable[[Tensor], Tensor]:
    """Return the change of value heads to an order by their place among those of a key head."""
    return lambda values: values.view(heads, each, -1, *values.shape[1:]).transpose(0, 1).reshape(values.shape)


def _frequencies(values: Mapping[str, Any], config: ModelConfig) -> Iterator[NewTensor]:
    """Yield the tensors of divisors of frequencies."""
    rope = values["rope_parameters"]
    rope = rope.get("full_attention", rope)
    kind = rope.get("rope_type", "default")
    found: dict[str, Tensor] = {}
    if kind == "longrope":
        found = {f"rope_factors_{name}.weight": torch.tensor(rope[f"{name}_factor"]) for name in ("long", "short")}
    if kind == "llama3":
        plain = rope["rope_theta"] ** -(torch.arange(0, config.head_dim, 2).double() / config.head_dim)
        found = {"rope_freqs.weight": plain / torch.tensor(config.ropes[0].frequencies).double()}
    if kind == "proportional":
        frequencies = torch.tensor(config.ropes[0].frequencies)
        found = {"rope_freqs.weight": torch.where(frequencies > 0, 1.0, 1e30)}
    for name, numbers in found.items():
        yield NewTensor(name, (len(numbers),), (), None, given=numbers.float())


def _metadata(values: Mapping[str, Any], config: ModelConfig, form: GgufForm) -> dict[str, Any]:
    """Return the values of the metadata without the architecture's name; None stands for a key that is left out."""
    family, mixture, delta, latent = config.family, config.mixture, config.delta, config.latent
    rope = values["rope_parameters"]
    rope = rope.get("full_attention", rope)
    layers = [config.of_layer(index) for index in range(config.layers)]
    kv_heads: list[int] = [own.kv_heads if config.attends(index) else 0 for index, own in enumerate(layers)]
    apart = bool(config.shapes) or (bool(config.convolutions) and (delta is None or not delta.corrects))
    widths = [own.intermediate_size for own in layers]
    found: dict[str, Any] = {
        "block_count": config.layers,
        "context_length": config.context_length,
        "embedding_length": config.hidden_size,
        "feed_forward_length": widths[0] if len(set(widths)) == 1 else widths,
        "vocab_size": config.vocabulary_size,
        "attention.head_count": config.heads,
        "attention.head_count_kv": kv_heads if apart and len(set(kv_heads)) > 1 else max(kv_heads),
        "attention.layer_norm_rms_epsilon": float(config.norm_epsilon),
        "attention.key_length": config.head_dim,
        "attention.value_length": config.head_dim if latent is None else latent.rank,
        "rope.freq_base": float(rope["rope_theta"]) if "rope_theta" in rope else None,
        "rope.dimension_count": int(config.head_dim * float(rope.get("partial_rotary_factor") or 1.0)),
    }
    if rope.get("rope_type") in ("linear", "yarn"):
        found |= {"rope.scaling.type": rope["rope_type"], "rope.scaling.factor": float(rope["factor"])}
    if rope.get("original_max_position_embeddings"):
        found["rope.scaling.original_context_length"] = int(rope["original_max_position_embeddings"])
    if rope.get("rope_type") == "yarn":
        for key in ("beta_fast", "beta_slow"):
            found[f"rope.scaling.yarn_{key}"] = float(rope[key]) if rope.get(key) else None
    if rope.get("rope_type") == "longrope":
        found["rope.scaling.attn_factor"] = float(config.ropes[0].attention_scaling)
    if family.windows == "layer_types" and any(config.windows):
        found["attention.sliding_window"] = max(filter(None, config.windows))
        found["attention.sliding_window_pattern"] = [window is not None for window in config.windows]
    for key, cap in (("attn", config.attention_soft_cap), ("final", config.logit_soft_cap)):
        found[f"{key}_logit_softcapping"] = None if cap is None else float(cap)
    if mixture is not None:
        dense = next((index for index, sparse in enumerate(mixture.layers) if sparse), 0)
        found |= {
            "expert_count": mixture.experts,
            "expert_used_count": mixture.chosen,
            "expert_feed_forward_length": mixture.width,
            "expert_weights_norm": mixture.normalised,
            "expert_weights_scale": float(mixture.scale) if mixture.scale != 1.0 else None,
            "expert_gating_func": 2 if mixture.scores == "sigmoid" else 1 if latent is not None else None,
            "leading_dense_block_count": None if family.single else dense,
            "expert_shared_feed_forward_length": mixture.shared_width or None,
        }
        if values.get("n_group"):
            found |= {"expert_group_count": mixture.groups, "expert_group_used_count": mixture.chosen_groups}
        if values.get("n_shared_experts") is not None:
            found["expert_shared_count"] = int(values["n_shared_experts"])
    if delta is not None:
        found |= {
            "ssm.conv_kernel": config.convolution,
            "ssm.state_size": delta.key_dim,
            "ssm.group_count": delta.key_heads,
            "ssm.time_step_rank": delta.heads,
            "ssm.inner_size": delta.values,
        }
    elif config.convolutions:
        found["shortconv.l_cache"] = config.convolution
    if latent is not None:
        found |= {
            "rope.dimension_count": latent.rotated,
            "attention.kv_lora_rank": latent.rank,
            "attention.q_lora_rank": latent.query_rank or None,
            "attention.key_length_mla": latent.query_width,
            "attention.value_length_mla": latent.values,
        }
    return found if form.written is None else found | form.written(values)


def differences(wanted: ModelConfig, found: ModelConfig) -> str:
    """Return the name of a field of a config that is read otherwise from the copy, or an empty text."""
    sparse = wanted.mixture is not None and all(
        wanted.mixture.layers[layer] for layer in range(wanted.layers) if wanted.maps(layer)
    )
    ignored = {"intermediate_size"} if sparse else set()  # no layer has a network that is so wide
    ignored |= {"architecture", "family", "tensor_prefix", "quantization", "converts", "reorders", "types"}
    ignored |= {"delta", "mixture", "query_scale"}
    # Factors of normed queries are weights of norms there, and other halves of the file say how these are joined.
    for name, value in vars(wanted).items():
        read = vars(found)[name]
        if name == "ropes":
            value, read = (tuple(map(_plain_rope, one)) for one in (value, read))
        if name not in ignored and not _alike(value, read):
            return name
    own, other = wanted.mixture, found.mixture
    if own is not None and (other is None or not _alike(replace(own, fused=False), replace(other, fused=False))):
        return "mixture"
    return ""


def _plain_rope(rope: Rope) -> Rope:
    """Return a RoPE as it is; llama.cpp writes Llama 3's as one whose frequencies are alike for long texts."""
    alike = rope.long_frequencies == rope.frequencies
    return replace(rope, long_frequencies=None, original_context=None) if alike else rope


def _alike(one: Any, other: Any) -> bool:
    """Return whether values are equal but for what float32 rounds."""
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= 2e-6 * max(abs(one), abs(other), 1e-12)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    if hasattr(one, "__dataclass_fields__") and type(one) is type(other):
        return all(_alike(vars(one)[name], vars(other)[name]) for name in vars(one))
    return bool(one == other)
