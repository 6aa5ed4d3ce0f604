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


#: End of the names of MXFP4's scales.
SCALES = ".scales"


@dataclass(frozen=True)
class Stack:
    """A tensor that stacks the tensors of all experts.

    Attributes:
        names: Names of the tensors that an expert's rows become, with its number in braces.
        transposed: True if an expert has columns one after the other.
        interleaved: True if its rows are those of two matrices by turns.
        flat: True if it is one vector, whatever its dimensions.
        blocks: True if its rows are blocks of MXFP4 without their scales, in two dimensions.
        rows: Rows of each of ``names``, if a head has so many of each and the heads lie one after the other in two
            dimensions; the first one's columns are wanted as its rows.
    """

    names: tuple[str, ...]
    transposed: bool = False
    interleaved: bool = False
    blocks: bool = False
    flat: bool = False
    rows: tuple[int, ...] = ()


@dataclass(frozen=True)
class FamilyExperts:
    """Facts about a family's experts that config.json leaves out: names of their tensors, and their router.

    Attributes:
        router: Module of the router.
        matrices: Modules of an expert, with its number in braces: gate, up, down.
        shared: Beginning of the modules of the network that every token takes; empty for none.
        shared_gate: Module whose number's sigmoid multiplies that network's result; empty for none.
        fused: Modules of an expert in checkpoints that have gate and up in one; empty if none have.
        biases: True if router and matrices carry biases.
        correction: Tensor that is added to scores for the choice; empty for none.
        scores: Function from the router's logits to scores.
        group_scores: Number of largest scores whose sum ranks groups of experts.
        sum_floor: Number added to the sum that weights are divided by.
        beside: True if experts take the residual stream beside the dense network, each with norms of its own (Gemma
            4).
        router_norm: Weight of the norm before the router, which divides by sqrt(hidden size) too; empty for none.
        expert_scale: Tensor whose number for a chosen expert multiplies its weight; empty for none.
    """

    router: str = "mlp.gate"
    matrices: tuple[str, ...] = tuple(f"mlp.experts.{{}}.{name}" for name in NETWORK)
    fused: tuple[str, ...] = ()
    biases: bool = False
    shared: str = ""
    shared_gate: str = ""
    correction: str = ""
    scores: Literal["softmax", "sigmoid"] = "softmax"
    group_scores: int = 2
    sum_floor: float = 0.0
    beside: bool = False
    router_norm: str = ""
    expert_scale: str = ""


@dataclass(frozen=True)
class Family:
    """Facts about an architecture that config.json leaves out.

    Attributes:
        name: Name in messages.
        qkv_bias: True if q, k and v carry biases; None if ``attention_bias`` says it.
        output_bias: True if the attention's output projection carries one; None if ``attention_bias`` says it.
        mlp_bias: True if the feed-forward network carries biases; None if ``mlp_bias`` says it.
        query_key_norm: True for an RMS norm on each query and key head before the rotation; None if ``use_qk_norm``
            says it.
        sandwich_norm: True for a second norm after attention and after the feed-forward network.
        norm_offset: Number added to each norm weight: Gemma stores w and multiplies by 1 + w.
        scaled_embedding: True if the embedding is multiplied by sqrt(hidden size), rounded to the weights' type.
        activation: Activation if config.json names another one; ``clamped_swiglu`` is OpenAI's for gpt-oss.
        sinks: True if each query head has a score that takes a share of its attention and gives nothing.
        unit_scale: True if attention scores are not scaled.
        scalar_scale: True if attention scores are scaled by ``query_pre_attn_scalar`` and not by the head's size.
        multipliers: True if embedding, attention scores, residual sums and logits have factors of their own.
        soft_caps: True if attention scores and logits may have tanh caps.
        fused_projections: True if the checkpoint stores q, k, v as one tensor and gate, up as one.
        partial_rotary: True if ``partial_rotary_factor`` of each head is rotated and the rest passes.
        value_norm: True for an RMS norm without weights on each value head.
        layer_scalar: True if each layer's output is multiplied by a number of its own.
        global_heads: True if layers that see all positions have heads of another width and number, or no values of
            their own (Gemma 4); the last layers may read another's keys and values, and rows of a second embedding
            enter each.
        windows: Layers that slide: none, all when ``sliding_window`` is set, or those that ``layer_types`` names.
        tensor_prefixes: Possible beginnings of its tensors' names; the first that fits is used.
        text_config: Part of config.json that is the decoder's config.
        text_types: Values of its ``model_type`` that Tenon runs; the first if it has none.
        ignored_prefixes: Beginnings of tensors of parts that Tenon does not run (an image encoder).
        stacks: Tensors of safetensors files that are taken apart, by the ends of their names.
        names: Tenon's names of modules of a layer, which are Llama's, with the family's own; and of the final norm.
        convolutions: True if layers of the type ``conv`` have a gated short convolution in attention's place.
        query_only: True if layers have no keys and values and read those of the model that this one drafts for.
        experts: Facts about the experts that its layers may have.
        latent: True if keys and values are maps of a latent, which is cached in their place.
        output_gate: True if the sigmoid of a map of attention's input multiplies attention's output.
        normed_embedding: True for an RMS norm without weights on the embedding.
        plain_final_norm: True if the final norm's weight is stored as it is, whatever ``norm_offset`` says.
        extra_layers: True if files have layers after the last one that guess further tokens, which Tenon does not
            run.
        published_in_blocks: True if its makers publish it in MXFP4.
    """

    name: str
    qkv_bias: bool | None = False
    output_bias: bool | None = False
    mlp_bias: bool | None = False
    query_key_norm: bool | None = False
    sandwich_norm: bool = False
    norm_offset: float = 0.0
    scaled_embedding: bool = False
    activation: str | None = None
    sinks: bool = False
    unit_scale: bool = False
    scalar_scale: bool = False
    multipliers: bool = False
    soft_caps: bool = False
    fused_projections: bool = False
    partial_rotary: bool = False
    value_norm: bool = False
    layer_scalar: bool = False
    global_heads: bool = False
    windows: Literal["none", "all", "layer_types"] = "none"
    tensor_prefixes: tuple[str, ...] = ("model.",)
    text_config: str | None = None
    text_types: tuple[str, ...] = ()
    ignored_prefixes: tuple[str, ...] = ()
    stacks: Mapping[str, Stack] = field(default_factory=dict, hash=False)
    names: tuple[tuple[str, str], ...] = ()
    convolutions: bool = False
    query_only: bool = False
    experts: FamilyExperts | None = None
    latent: bool = False
    output_gate: bool = False
    normed_embedding: bool = False
    plain_final_norm: bool = False
    extra_layers: bool = False
    published_in_blocks: bool = False

    def named(self, module: str) -> str:
        """Return the family's name of a module."""
        return next((own for usual, own in self.names if usual == module), module)


@dataclass(frozen=True)
class Values:
    """Values of config.json by a ``model_type``, as transformers' config class reads them.

    Attributes:
        defaults: Values that hold if config.json has none.
        spellings: Usual names of values, by the names that these configs have for them.
        rope: RoPE that holds if config.json says nothing of it; empty for the usual one.
        rope_types: Usual names of kinds of RoPE, by the names that older configs have for them.
        alternates: True if all layers but each ``sliding_window_pattern``-th slide.
        slides: Returns whether a layer slides if there is a window and ``layer_types`` does not say it.
        settle: Changes the values that the config's own class changes; it is given config.json too.
    """

    defaults: Mapping[str, Any]
    spellings: Mapping[str, str] = field(default_factory=dict)
    rope: Mapping[str, Any] = field(default_factory=dict)
    rope_types: Mapping[str, str] = field(default_factory=dict)
    alternates: bool = False
    slides: Callable[[Mapping[str, Any], int], bool] | None = None
    settle: Callable[[dict[str, Any], Mapping[str, Any]], None] | None = None


@dataclass(frozen=True)
class GgufForm:
    """A family's GGUF files. Names of tensors that follow from those of the `Family` are left out.

    Attributes:
        architecture: ``architectures[0]`` of its config.json.
        model_type: ``model_type`` of its config.json.
        other_names: Ollama's names of the architecture.
        values: Returns the values of config.json that only this family has, or has from other keys.
        read: Keys that ``values`` reads, and other families have neutral values for.
        interleaved: True if the rows of q and k are interleaved.
        layer: Modules of a layer: Hugging Face's name by llama.cpp's.
        whole: Tensors of a layer with other names down to the last part: Hugging Face's whole name by llama.cpp's.
        outer: Tensors outside the layers that have other names.
        splitting: llama.cpp's name of the way in which the newest models split a text, for names that are newer
            still; empty if the file must name one that is known.
        space_prefix: True if SentencePiece puts a space before a text, unless the file says otherwise.
        keeps_space: Control tokens after which white space stays, if it is dropped after the others.
    """

    architecture: str
    model_type: str
    other_names: tuple[str, ...] = ()
    values: Callable[[GgufValues], dict[str, Any]] | None = None
    read: tuple[str, ...] = ()
    interleaved: bool = False
    layer: Mapping[str, str] = field(default_factory=dict)
    whole: Mapping[str, str] = field(default_factory=dict)
    outer: Mapping[str, str] = field(default_factory=dict)
    splitting: str = ""
    space_prefix: bool = True
    keeps_space: frozenset[str] | None = None


@dataclass(frozen=True)
class KnownTemplate:
    """A family's way of writing a chat, for files whose own template is of no use.

    Attributes:
        family: What people call it.
        marks: Tokens that a vocabulary of the family has.
        turn: Jinja's words for one message, ``m``.
        opening: What the assistant's turn begins with.
        end: The token that ends a turn.
    """

    family: str
    marks: tuple[str, ...]
    turn: str
    opening: str
    end: str

    @property
    def source(self) -> str:
        """Jinja source of the template."""
        turns = f"{{{{ bos_token }}}}{{% for m in messages %}}{self.turn}{{% endfor %}}"
        return f"{turns}{{{{ {self.opening!r} }}}}"  # jinja drops a line end behind all


@dataclass(frozen=True)
class Thinking:
    """Words around a thought, if a template's are not ``<think>`` and ``</think>``.

    Attributes:
        opened: Words before the thought.
        closed: Words after it.
        marks: Special tokens of both, by all of which a template is told.
    """

    opened: str
    closed: str
    marks: tuple[str, ...]


@dataclass(frozen=True)
class TokenizerClass:
    """Facts about a ``tokenizer_class`` that its folders leave out.

    Attributes:
        tokens: Special tokens by name, if no file names any.
        splitting: llama.cpp's name of how a vocab.json splits a text; empty if the class has none.
    """

    tokens: Mapping[str, str]
    splitting: str = ""


#: Beginning of the turns of a model that was taught no system role.
NO_SYSTEM = "{% if m.role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"


@dataclass(frozen=True)
class Line:
    """A maker's line of models.

    Attributes:
        families: Families by ``architectures[0]`` of config.json.
        values: Values of config.json by ``model_type``.
        gguf: Forms of GGUF files by llama.cpp's name of the architecture.
        ends: Texts of tokens that end a reply in every vocabulary that has them.
        thinking: Words around a thought, or None for the usual ones.
        template: Way of writing a chat, told by its tokens, or None.
        tokenizers: Classes of tokenizers by ``tokenizer_class``.
        assistants: Families that only draft for another one of this line, by ``architectures[0]``.
    """

    families: Mapping[str, Family]
    values: Mapping[str, Values]
    gguf: Mapping[str, GgufForm] = field(default_factory=dict)
    ends: tuple[str, ...] = ()
    thinking: Thinking | None = None
    template: KnownTemplate | None = None
    tokenizers: Mapping[str, TokenizerClass] = field(default_factory=dict)
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
