"""Meta's Llama, and what is built like it: SmolLM and SmolLM2, TinyLlama, many others."""

from __future__ import annotations

from engine.families.family import Family, GgufForm, KnownTemplate, Line, Values, sizes

LINE = Line(
    families={
        # in GGUF SmolVLM and Mistral Small 3 are such too
        "LlamaForCausalLM": Family(
            "Llama, SmolLM", qkv_bias=None, output_bias=None, mlp_bias=None, sights=("idefics3", "pixtral")
        )
    },
    values={"llama": Values(sizes(32_000, 2048, 11_008))},
    gguf={
        "llama": GgufForm(
            "LlamaForCausalLM", "llama", other_types=("mistral",), interleaved=True, splitting="llama-bpe"
        )
    },
    ends=("<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "</s>"),
    template=KnownTemplate(
        "Llama 3",
        ("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"),
        "<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n{{ m.content | trim }}<|eot_id|>",
        "<|start_header_id|>assistant<|end_header_id|>\n\n",
        "<|eot_id|>",
    ),
    tokenizers={"LlamaTokenizer": {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}},
)
