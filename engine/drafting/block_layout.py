"""Layouts of drafts of a whole block: DFlash and DSpark, as z-lab, Meta, DeepSpec and speculators publish them.

| layout | config | tokens of a block | after the head |
|---|---|---|---|
| z-lab | ``dflash_config`` beside the sizes | at every row but the first, the root's | nothing |
| Meta's Muse-Glimmer | ``target_layer_ids`` beside the sizes, its ``model_type`` | as z-lab | nothing |
| DeepSpec | ``target_layer_ids``, ``markov_rank`` beside the sizes | after every row | a Markov head |
| PrismML | the same, ``log_snr_conditioning`` | the same | the same |
| speculators dflash | ``transformer_layer_config`` | as ``sample_from_anchor`` says, else as z-lab | nothing |
| speculators dspark | the same | as ``sample_from_anchor`` says, else as DeepSpec | a Markov head |

All have the blocks of Qwen3, ``fc`` over several of the target's layers, ``hidden_norm`` and ``norm``, which Meta names
otherwise. PrismML's adds one vector to the first row of a block and another to its masks. Speculators count inputs of
the target's layers, the others their outputs. A row of a layer with a window sees no later row of its block, unless
``is_causal``, ``dflash_config.causal`` or ``sliding_window_non_causal`` says so; Meta's sees all of it. The window
counts from each row.

Sources: z-lab/dflash (dflash/model.py of release 0.1.0), transformers (models/muse_glimmer_assistant),
deepseek-ai/DeepSpec (deepspec/modeling/dspark), vllm-project/speculators (models/dflash, models/dspark, convert/dflash)
and vLLM (qwen3_dflash.py), which runs speculators' windows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from engine.drafting.head_layout import (
    KEYS,
    MISMATCH,
    LayoutOfBlocks,
    bad_value,
    check_keys,
    embedding_and_head,
    nested_config,
    refuse,
)
from engine.model.tensors import HARMLESS_SUFFIXES, Slot, compare_tensors, layer_slots
from engine.weights.head_checkpoint import HeadCheckpoint

MarkovKind = Literal["vanilla", "gated", "rnn"]

_READ = (
    "aux_hidden_state_layer_ids",
    "block_size",
    "confidence_head_with_markov",
    "dflash_config",
    "draft_vocab_size",
    "enable_confidence_head",
    "is_causal",
    "log_snr_conditioning",
    "markov_head_type",
    "markov_rank",
    "mask_token_id",
    "max_log_snr",
    "min_log_snr",
    "num_target_layers",
    "sample_from_anchor",
    "sliding_window_non_causal",
    "target_hidden_size",
    "target_layer_ids",
    "transformer_layer_config",
)
# Keys that say how many of its tokens to check, which Tenon's schedule decides, and keys for training alone.
_UNUSED = ("confidence_head.", "verifier_norm.", "verifier_lm_head.")


@dataclass(frozen=True, kw_only=True)
class BlockLayout(LayoutOfBlocks):
    """Contents of such a checkpoint. r = rank of the Markov head."""

    block_size: int  # rows of a forward
    mask_token: int  # token at every row but the first
    from_anchor: bool  # True if the first row predicts a token too: the one after the root
    markov_rank: int  # r; 0 for none
    markov_kind: MarkovKind  # variant of the Markov head
    causal: tuple[bool, ...]  # for each layer, True if the rows of a block see no later row of it

    @property
    def levels(self) -> int:
        """Tokens of a draft's path."""
        return self.block_size if self.from_anchor else self.block_size - 1


def read_block(checkpoint: HeadCheckpoint) -> BlockLayout:
    """Read a layout and check its tensors.

    Raises:
        UnsupportedModel: A block, a window or a setting that Tenon does not run.
        ConfigInvalid: A value of config.json is missing or makes no sense.
        TensorMismatch: A tensor is missing, unexpected or of the wrong shape.
    """
    raw, names = checkpoint.config, checkpoint.shapes
    inner = raw.get("transformer_layer_config", raw)
    try:
        check_keys(raw, (*_READ, *KEYS))
        check_keys(inner, (*_READ, *KEYS))
        check_keys(raw.get("dflash_config") or {}, ("block_size", "causal", "mask_token_id", "target_layer_ids"))
        layout = _read(raw, inner, names)
    except (TypeError, ValueError, AttributeError, KeyError, OverflowError) as error:
        raise bad_value(error) from error
    compare_tensors(
        names,
        {slot.name: slot.shape for slot in layout.slots},
        lambda name: name.endswith(HARMLESS_SUFFIXES) or name.startswith(_UNUSED),
        MISMATCH,
    )
    return layout


def _read(raw: Mapping[str, Any], inner: dict[str, Any], names: Mapping[str, tuple[int, ...]]) -> BlockLayout:
    kind, dflash = raw.get("speculators_model_type"), raw.get("dflash_config") or {}
    if isinstance(rope := inner.get("rope_parameters"), dict):
        # Sections differ for images only: a token of a text has one position for all of them.
        inner = {**inner, "rope_parameters": {key: rope[key] for key in rope if key != "mrope_section"}}
    muse = raw.get("model_type") == "muse_glimmer_assistant"
    fc, target_norm = ("encoder.fc", "encoder.output_norm_enc") if muse else ("fc", "hidden_norm")
    if muse:  # transformers' two-way window has one more row; config.json has no vocabulary
        inner = {"vocab_size": 202_048, **inner, "sliding_window": int(inner["sliding_window"]) + 1}
    blocks = nested_config(inner, "qwen3" if muse else str(inner.get("model_type", "qwen3")), "", len(names))
    if not blocks.family.query_key_norm:
        raise refuse("model_type", inner.get("model_type"))
    markov = kind == "dspark" or (kind is None and not dflash and not muse)
    rank = int(raw.get("markov_rank", 256 if kind == "dspark" else 0)) if markov else 0
    variant = raw.get("markov_head_type", "vanilla")
    if variant not in get_args(MarkovKind):
        raise refuse("markov_head_type", variant)
    size = int(raw.get("block_size") or dflash["block_size"])
    said = raw.get("mask_token_id")
    mask_token = int(dflash["mask_token_id"] if said is None else said)
    own = int(raw.get("draft_vocab_size") or blocks.vocabulary_size)
    if not 2 <= size <= 1024 or rank < 0 or not 0 <= mask_token < blocks.vocabulary_size:
        raise ValueError(f"block_size {size}, markov_rank {rank}, mask_token_id {mask_token}")
    causal = dflash.get("causal") if raw.get("is_causal") is None else raw["is_causal"]
    if muse or raw.get("sliding_window_non_causal"):
        causal = False
    hidden, target_hidden = blocks.hidden_size, int(raw.get("target_hidden_size") or blocks.hidden_size)
    chosen = _hidden_layers(raw, dflash, blocks.layers)
    outer = embedding_and_head(names, "", blocks, own, head_needed=False)
    outer += [
        Slot(f"{fc}.weight", (hidden, (3 if chosen is None else len(chosen)) * target_hidden), "fc"),
        Slot(f"{target_norm}.weight", (hidden,), "target_norm"),
        Slot("norm.weight", (hidden,), "final_norm"),
    ]
    if raw.get("log_snr_conditioning"):
        noise = "log_snr_embed.fc"
        width = names.get(f"{noise}1.weight", (0, 2))[-1] // 2 * 2  # of as many sines as cosines
        for at, columns in enumerate((width, hidden), 1):
            outer.append(Slot(f"{noise}{at}.weight", (hidden, columns), f"noise_{at}"))
            outer.append(Slot(f"{noise}{at}.bias", (hidden,), f"noise_{at}_bias"))
    if rank:
        outer += [
            Slot("markov_head.markov_w1.weight", (blocks.vocabulary_size, rank), "markov_table"),
            Slot("markov_head.markov_w2.weight", (own, rank), "markov_map"),
        ]
    inner_map = {
        "gated": ("gate_proj", rank, hidden + rank),
        "rnn": ("joint_proj", 3 * rank, 2 * rank + hidden),
    }
    if rank and variant in inner_map:
        module, rows, columns = inner_map[variant]
        outer.append(Slot(f"markov_head.{module}.weight", (rows, columns), "markov_inner"))
        outer.append(Slot(f"markov_head.{module}.bias", (rows,), "markov_inner_bias"))
    return BlockLayout(
        blocks=blocks,
        target_hidden_size=target_hidden,
        hidden_layers=chosen,
        draft_vocabulary_size=own,
        block_size=size,
        mask_token=mask_token,
        from_anchor=bool(raw.get("sample_from_anchor", markov)),
        markov_rank=rank,
        markov_kind=variant,
        outer=tuple(outer),
        layers=tuple(tuple(layer_slots(blocks, index)) for index in range(blocks.layers)),
        causal=tuple(window is not None for window in blocks.windows) if causal is None else (causal,) * blocks.layers,
    )


def _hidden_layers(raw: Mapping[str, Any], dflash: Mapping[str, Any], layers: int) -> tuple[int, ...] | None:
    """Return the layers of the target whose inputs are taken; -1 among outputs is the embedding's."""
    if raw.get("speculators_model_type") is not None:
        named = raw.get("aux_hidden_state_layer_ids")
        return tuple(int(layer) for layer in named) if named else None
    outputs = raw.get("target_layer_ids") or dflash.get("target_layer_ids")
    if not outputs:  # z-lab's own choice: from the second layer to the third last
        last = int(raw["num_target_layers"]) - 3
        outputs = [round(1 + at * (last - 1) / (layers - 1)) for at in range(layers)] if layers > 1 else []
        outputs = outputs or [int(raw["num_target_layers"]) // 2]
    return tuple(int(layer) + 1 for layer in outputs)
