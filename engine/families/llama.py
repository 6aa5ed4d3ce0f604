"""Meta's Llama, and what is built like it: SmolLM and SmolLM2, TinyLlama, many others."""

from __future__ import annotations

from engine.families.family import Family, Line, Values

LINE = Line(
    families={"LlamaForCausalLM": Family("Llama, SmolLM", qkv_bias=None, output_bias=None, mlp_bias=None)},
    values={
        "llama": Values({"vocab_size": 32_000, "intermediate_size": 11_008, "max_position_embeddings": 2048})
    },
)
