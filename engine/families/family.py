"""Declaration of a family: one file of this folder for a maker's line of models.

To add a family whose decoder is Llama's with other values of the fields below: add a file with a `Line`, add its
random checkpoint to tests/support/checkpoints.py, and run tests/engine/model. A family that needs a new operation
needs a field here and a line in decoder.py. No other module knows families.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from engine.families.gguf_values import GgufValues

#: Modules of a gated network: gate, up, down.
NETWORK = ("gate_proj", "up_proj", "down_proj")


@dataclass(frozen=True)
class Stack:
    """A tensor that stacks the tensors of all experts."""

    names: tuple[str, ...]  # names of the tensors that an expert's rows become, with its number in braces
    transposed: bool = False  # True if an expert has columns one after the other
    interleaved: bool = False  # True if its rows are those of two matrices by turns
    flat: bool = False  # True if it is one vector, whatever its dimensions
    single: bool = False  # True if it is of one network, and has no dimension for experts
    # Rows of each of ``names``, if a head has so many of each and the heads lie one after the other in two
    # dimensions; the first one's columns are wanted as its rows
    rows: tuple[int, ...] = ()
    # Number of an expert's columns, or config's name of it: a stack that has so many is stored without transposing
    columns: str | int = 0


@dataclass(frozen=True)
class FamilyExperts:
    """Facts about a family's experts that config.json leaves out: names of their tensors, and their router."""

    router: str = "mlp.gate"  # module of the router
    # Modules of an expert, with its number in braces: gate, up, down; or up, down
    matrices: tuple[str, ...] = tuple(f"mlp.experts.{{}}.{name}" for name in NETWORK)
    # Modules of an expert in checkpoints that have gate and up in one; empty if none have
    fused: tuple[str, ...] = ()
    biases: bool = False  # True if router and matrices carry biases
    shared: str = ""  # beginning of the modules of the network that every token takes; empty for none
    shared_gate: str = ""  # module whose number's sigmoid multiplies that network's result; empty for none
    correction: str = ""  # tensor that is added to scores for the choice; empty for none
    # Modules that map the rows that experts take, and what they give, if the config says that they work in a latent
    latent: tuple[str, ...] = ()
    scores: Literal["softmax", "sigmoid"] = "softmax"  # function from the router's logits to scores
    group_scores: int = 2  # number of largest scores whose sum ranks groups of experts
    sum_floor: float = 0.0  # number added to the sum that weights are divided by
    # True if experts take the residual stream beside the dense network, each with norms of its own (Gemma 4)
    beside: bool = False
    # Weight of the norm before the router, which divides by sqrt(hidden size) too; empty for none
    router_norm: str = ""
    expert_scale: str = ""  # tensor whose number for a chosen expert multiplies its weight; empty for none


@dataclass(frozen=True)
class Family:
    """Facts about an architecture that config.json leaves out."""

    name: str  # name in messages
    qkv_bias: bool | None = False  # True if q, k and v carry biases; None if ``attention_bias`` says it
    # True if the attention's output projection carries one; None if ``attention_bias`` says it
    output_bias: bool | None = False
    # True if the feed-forward network carries biases; None if ``mlp_bias`` says it
    mlp_bias: bool | None = False
    # True for an RMS norm on each query and key head before the rotation; None if ``use_qk_norm`` says it
    query_key_norm: bool | None = False
    sandwich_norm: bool = False  # True for a second norm after attention and after the feed-forward network
    norm_offset: float = 0.0  # number added to each norm weight: Gemma stores w and multiplies by 1 + w
    # True if the embedding is multiplied by sqrt(hidden size), rounded to the weights' type
    scaled_embedding: bool = False
    # Activation if config.json names another one; ``clamped_swiglu`` is OpenAI's for gpt-oss
    activation: str | None = None
    # True if each query head has a score that takes a share of its attention and gives nothing
    sinks: bool = False
    unit_scale: bool = False  # True if attention scores are not scaled
    # True if attention scores are scaled by ``query_pre_attn_scalar`` and not by the head's size
    scalar_scale: bool = False
    # True if embedding, attention scores, residual sums and logits have factors of their own
    multipliers: bool = False
    soft_caps: bool = False  # True if attention scores and logits may have tanh caps
    fused_projections: bool = False  # True if the checkpoint stores q, k, v as one tensor and gate, up as one
    # True if ``partial_rotary_factor`` of each head is rotated and the rest passes
    partial_rotary: bool = False
    value_norm: bool = False  # True for an RMS norm without weights on each value head
    layer_scalar: bool = False  # True if each layer's output is multiplied by a number of its own
    # True if layers that see all positions have heads of another width and number, or no values of their own
    # (Gemma 4); the last layers may read another's keys and values, and rows of a second embedding enter each
    global_heads: bool = False
    # Layers that slide: none, all when ``sliding_window`` is set, or those that ``layer_types`` names
    windows: Literal["none", "all", "layer_types"] = "none"
    # Possible beginnings of its tensors' names; the first that fits is used
    tensor_prefixes: tuple[str, ...] = ("model.",)
    text_config: str | None = None  # part of config.json that is the decoder's config
    text_types: tuple[str, ...] = ()  # values of its ``model_type`` that Tenon runs; the first if it has none
    # Beginnings of tensors of parts that Tenon does not run (an image encoder)
    ignored_prefixes: tuple[str, ...] = ()
    # Tensors of safetensors files that are taken apart, by the ends of their names
    stacks: Mapping[str, Stack] = field(default_factory=dict, hash=False)
    # Tenon's names of modules of a layer, which are Llama's, with the family's own; and of the final norm
    names: tuple[tuple[str, str], ...] = ()
    single: bool = False  # True if a layer is attention, a state, a network or experts alone, by ``layer_types``
    gated_network: bool = True  # False if the feed-forward network and the experts have no gate
    # Type of the layers that have a short convolution in attention's place; empty if none have
    convolution: str = ""
    # Gated DeltaNet after that convolution, whose maps the checkpoint has apart, or joined by key heads; or Mamba-2,
    # which has one map; empty for a gated convolution alone
    delta: Literal["", "apart", "joined", "mamba"] = ""
    # True if layers have no keys and values and read those of the model that this one drafts for
    query_only: bool = False
    experts: FamilyExperts | None = None  # facts about the experts that its layers may have
    latent: bool = False  # True if keys and values are maps of a latent, which is cached in their place
    # True if the sigmoid of a map of attention's input multiplies attention's output; ``queries`` if each head's
    # rows of that map follow those of its query, ``heads`` if the map has a number for each head and not for each
    # channel
    output_gate: bool | Literal["queries", "heads"] = False
    normed_embedding: bool = False  # True for an RMS norm without weights on the embedding
    # True if the final norm's weight is stored as it is, whatever ``norm_offset`` says
    plain_final_norm: bool = False
    # llama.cpp's names of the towers that may go with it (`engine.vision.SIGHTS`); empty if it does not see
    sights: tuple[str, ...] = ()
    # Pairs that turn by time, row and column (M-RoPE), interleaved, if the config does not say it; empty for others
    sections: tuple[int, ...] = ()
    # True if files may have layers after the last one that guess further tokens (`NextNames`)
    extra_layers: bool = False

    def named(self, module: str) -> str:
        """Return the family's name of a module."""
        return next((own for usual, own in self.names if usual == module), module)


@dataclass(frozen=True)
class Values:
    """Values of config.json by a ``model_type``, as transformers' config class reads them."""

    defaults: Mapping[str, Any]  # values that hold if config.json has none
    # Usual names of values, by the names that these configs have for them
    spellings: Mapping[str, str] = field(default_factory=dict)
    # RoPE that holds if config.json says nothing of it; empty for the usual one
    rope: Mapping[str, Any] = field(default_factory=dict)
    # Usual names of kinds of RoPE, by the names that older configs have for them
    rope_types: Mapping[str, str] = field(default_factory=dict)
    alternates: bool = False  # True if all layers but each ``sliding_window_pattern``-th slide
    # Returns whether a layer slides if there is a window and ``layer_types`` does not say it
    slides: Callable[[Mapping[str, Any], int], bool] | None = None
    # Changes the values that the config's own class changes; it is given config.json too
    settle: Callable[[dict[str, Any], Mapping[str, Any]], None] | None = None


@dataclass(frozen=True)
class GgufForm:
    """A family's GGUF files. Names of tensors that follow from those of the `Family` are left out."""

    architecture: str  # ``architectures[0]`` of its config.json
    model_type: str  # ``model_type`` of its config.json
    other_names: tuple[str, ...] = ()  # Ollama's names of the architecture
    other_types: tuple[str, ...] = ()  # further values of ``model_type`` whose files have this architecture
    # Returns the values of config.json that only this family has, or has from other keys
    values: Callable[[GgufValues], dict[str, Any]] | None = None
    # Returns the metadata that only this family has, from the values of config.json; None leaves a usual key out
    written: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None
    read: tuple[str, ...] = ()  # keys that ``values`` reads, and other families have neutral values for
    interleaved: bool = False  # True if the rows of q and k are interleaved
    # Modules of a layer: Hugging Face's name by llama.cpp's
    layer: Mapping[str, str] = field(default_factory=dict)
    # Tensors of a layer with other names down to the last part: Hugging Face's whole name by llama.cpp's
    whole: Mapping[str, str] = field(default_factory=dict)
    outer: Mapping[str, str] = field(default_factory=dict)  # tensors outside the layers that have other names
    # llama.cpp's name of the way in which the newest models split a text, for names that are newer still; empty if
    # the file must name one that is known
    splitting: str = ""
    # True if SentencePiece puts a space before a text, unless the file says otherwise
    space_prefix: bool = True
    # Control tokens after which white space stays, if it is dropped after the others
    keeps_space: frozenset[str] | None = None


@dataclass(frozen=True)
class KnownTemplate:
    """A family's way of writing a chat, for files whose own template is of no use."""

    family: str  # what people call it
    marks: tuple[str, ...]  # tokens that a vocabulary of the family has
    turn: str  # Jinja's words for one message, ``m``
    opening: str  # what the assistant's turn begins with
    end: str  # the token that ends a turn

    @property
    def source(self) -> str:
        """Jinja source of the template."""
        turns = f"{{{{ bos_token }}}}{{% for m in messages %}}{self.turn}{{% endfor %}}"
        return f"{turns}{{{{ {self.opening!r} }}}}"  # jinja drops a line end behind all


@dataclass(frozen=True)
class Thinking:
    """Words around a thought, if a template's are not ``<think>`` and ``</think>``."""

    opened: str  # words before the thought
    closed: str  # words after it
    marks: tuple[str, ...]  # special tokens of both, by all of which a template is told


#: Beginning of the turns of a model that was taught no system role.
NO_SYSTEM = "{% if m.role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"


@dataclass(frozen=True)
class Line:
    """A maker's line of models."""

    families: Mapping[str, Family]  # families by ``architectures[0]`` of config.json
    values: Mapping[str, Values]  # values of config.json by ``model_type``
    # Forms of GGUF files by llama.cpp's name of the architecture
    gguf: Mapping[str, GgufForm] = field(default_factory=dict)
    ends: tuple[str, ...] = ()  # texts of tokens that end a reply in every vocabulary that has them
    thinking: Thinking | None = None  # words around a thought, or None for the usual ones
    template: KnownTemplate | None = None  # way of writing a chat, told by its tokens, or None
    # Special tokens by name, of each ``tokenizer_class`` whose folders may leave them out
    tokenizers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    # Families that only draft for another one of this line, by ``architectures[0]``
    assistants: Mapping[str, Family] = field(default_factory=dict)


#: A decoder beside an image encoder.
TEXT_PART: dict[str, Any] = {
    "tensor_prefixes": ("language_model.model.", "model.language_model."),
    "text_config": "text_config",
    "ignored_prefixes": tuple(
        f"{outer}{part}." for outer in ("", "model.") for part in ("vision_tower", "multi_modal_projector")
    ),
}
#: Defaults of configs with attention over latents.
LATENTS: dict[str, Any] = {
    "n_shared_experts": 1,
    "first_k_dense_replace": 0,
    "kv_lora_rank": 512,
    "q_lora_rank": 1536,
    "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 128,
    "v_head_dim": 128,
    "rope_interleave": True,
}
YARN: dict[str, Any] = {"rope_type": "yarn", "beta_fast": 32.0, "beta_slow": 1.0}


def sizes(
    vocabulary: int,
    context: int,
    inner: int,
    hidden: int = 4096,
    layers: int = 32,
    heads: int = 32,
    kv_heads: int | None = None,
    head_dim: int | None = None,
    epsilon: float = 1e-6,
) -> dict[str, Any]:
    """Return the sizes that every config has, by their keys; ``inner`` is the width of the feed-forward network."""
    return {
        "vocab_size": vocabulary,
        "max_position_embeddings": context,
        "intermediate_size": inner,
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "head_dim": head_dim,
        "rms_norm_eps": epsilon,
    }


def experts(count: int | None, chosen: int | None, width: int | None = None) -> dict[str, Any]:
    """Return the values that every config with experts has, by their keys; ``width`` is that of an expert."""
    return {
        "num_experts": count,
        "num_experts_per_tok": chosen,
        "moe_intermediate_size": width,
        "norm_topk_prob": True,
        "routed_scaling_factor": 1.0,
        "n_group": 1,
        "topk_group": 1,
        "shared_expert_intermediate_size": None,
        "mlp_layer_types": None,
    }
