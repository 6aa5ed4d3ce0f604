"""Hugging Face's SmolLM3, some of whose layers rotate nothing, and SmolVLM; SmolLM and SmolLM2 are Llamas."""

from __future__ import annotations

from engine.families.family import Family, GgufForm, Line, Values, sizes

_SEEING = Family(
    "SmolVLM",
    qkv_bias=None,
    output_bias=None,
    mlp_bias=None,
    sights=("idefics3",),
    text_config="text_config",
    text_types=("llama",),
    tensor_prefixes=("model.text_model.",),
    ignored_prefixes=("model.vision_model.", "model.connector."),
)
LINE = Line(
    families={
        "SmolLM3ForCausalLM": Family("SmolLM3", qkv_bias=None, output_bias=None, mlp_bias=None, windows="layer_types"),
        "SmolVLMForConditionalGeneration": _SEEING,
        "Idefics3ForConditionalGeneration": _SEEING,
    },
    values={
        "smollm3": Values(
            {
                **sizes(128_256, 32_768, 11_008, hidden=2048, layers=36, heads=16, kv_heads=4),
                "tie_word_embeddings": True,
                "rope_theta": 2_000_000.0,
                "use_sliding_window": False,
                "no_rope_layers": None,
                "no_rope_layer_interval": 4,
            },
            slides=lambda values, layer: not values["no_rope_layers"][layer],
        )
    },
    gguf={"smollm3": GgufForm("SmolLM3ForCausalLM", "smollm3", interleaved=True, splitting="smaug-bpe")},
    ends=("<|im_end|>", "<|endoftext|>"),
)
