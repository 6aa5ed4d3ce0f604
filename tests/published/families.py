"""Families of the README and of the catalogue, each with the vocabulary and the template that it is published with.

A vocabulary that llama.cpp's archive does not have is stood in for by GPT-2's bytes or Llama 2's pieces, with the
family's own special tokens and its own way to split a text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

_CHATML = ("<|im_start|>", "<|im_end|>")
_QWEN = (
    *("<|object_ref_start|>", "<|object_ref_end|>", "<|box_start|>", "<|box_end|>", "<|quad_start|>"),
    *(
        "<|quad_end|>",
        "<|vision_start|>",
        "<|vision_end|>",
        "<|vision_pad|>",
        "<|image_pad|>",
        "<|video_pad|>",
    ),
)
_QWEN_PLAIN = (
    *("<tool_call>", "</tool_call>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>"),
    *("<|repo_name|>", "<|file_sep|>", "<tool_response>", "</tool_response>", "<think>", "</think>"),
)
_GLM = (
    *("<|endoftext|>", "[MASK]", "[gMASK]", "[sMASK]", "<sop>", "<eop>", "<|system|>", "<|user|>"),
    *("<|assistant|>", "<|observation|>", "/nothink"),
)
_GLM_PLAIN = (
    *("<think>", "</think>", "<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>"),
    *("</arg_value>", "<tool_response>", "</tool_response>"),
)
_MISTRAL = (
    *("[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]"),
    *("[TOOL_CALLS]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[ARGS]", "[CALL_ID]", "[THINK]", "[/THINK]"),
)
_GRANITE = ("<|end_of_text|>", "<|start_of_role|>", "<|end_of_role|>", "<|tool_call|>")
_LFM2 = (
    *("<|pad|>", "<|startoftext|>", "<|endoftext|>", "<|im_start|>", "<|im_end|>"),
    *("<|tool_list_start|>", "<|tool_list_end|>", "<|tool_call_start|>", "<|tool_call_end|>"),
    *("<|tool_response_start|>", "<|tool_response_end|>"),
)
_DEEPSEEK = (
    *("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜▁pad▁｜>", "<｜User｜>", "<｜Assistant｜>"),
    *("<think>", "</think>", "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁call▁begin｜>"),
    *("<｜tool▁call▁end｜>", "<｜tool▁outputs▁begin｜>", "<｜tool▁outputs▁end｜>", "<｜tool▁output▁begin｜>"),
    *("<｜tool▁output▁end｜>", "<｜tool▁sep｜>"),
)
_GPT_OSS = (
    *("<|startoftext|>", "<|endoftext|>", "<|return|>", "<|constrain|>", "<|channel|>", "<|start|>"),
    *("<|end|>", "<|message|>", "<|call|>"),
)
_MUSE = (
    *("<|begin_of_text|>", "<|end_of_text|>", "<|start|>", "<|message|>", "<|eom|>", "<|eot|>"),
    *("<|patch|>", "<|video|>"),
)
_DEEPSEEK_V2_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'user' %}"
    "{{ 'User: ' + message['content'] + '\n\n' }}{% elif message['role'] == 'assistant' %}"
    "{{ 'Assistant: ' + message['content'] + eos_token }}{% elif message['role'] == 'system' %}"
    "{{ message['content'] + '\n\n' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}"
)


@dataclass(frozen=True)
class Family:
    """A family as it is published.

    Attributes:
        variant: Its tiny checkpoint, a key of `tests.support.checkpoints.VARIANTS`, or Muse-Glimmer's.
        vocabulary: Name of a vocabulary in llama.cpp's archive (``ggml-vocab-NAME.gguf``), or ``smollm2``.
        pre: llama.cpp's name of how a text is split, where the vocabulary is a stand-in.
        special: Special tokens beside the vocabulary's.
        plain: Added tokens that are not special.
        template: File of the chat template in the archive; text that is not a file's name is the template itself.
        start: Token that a text begins with; empty for none.
        end: Token that config.json names as the end.
        ends: Tokens that end a reply, by the makers' generation_config.json.
        changes: Values of config.json.
        writes_calls: False where the template knows no tools.
        whole: True for all tokens of the vocabulary. One family of each vocabulary has them; no fast test asks for it.
        says: The form in which a reply of some words is written.
        calls: A call of `get_weather` as the model writes it; empty for what the template writes.
        next_layer: True if its files have the layer that guesses a token further (MTP).
    """

    variant: str
    vocabulary: str
    template: str
    end: str
    ends: tuple[str, ...]
    pre: str | None = None
    special: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    start: str = ""
    changes: dict[str, Any] = field(default_factory=dict)
    writes_calls: bool = True
    whole: bool = False
    says: str = "{}"
    calls: str = ""
    next_layer: bool = False


_QWEN2 = Family(
    "qwen2",
    "qwen2",
    "Qwen-Qwen2.5-7B-Instruct.jinja",
    "<|im_end|>",
    ("<|im_end|>", "<|endoftext|>"),
    special=_QWEN,
    plain=_QWEN_PLAIN,
)


def _like(family: Family, **changes: Any) -> Family:
    return Family(**{**vars(family), **changes})


_QWEN35 = _like(
    _QWEN2,
    variant="qwen35",
    vocabulary="qwen35",
    template="Qwen3.5-4B.jinja",
    pre="qwen35",
    says="They greet me.\n</think>\n\n{}",
    calls="They ask.\n</think>\n\n<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n"
    "</function>\n</tool_call><|im_end|>",
    next_layer=True,
)
_LLAMA3 = Family(
    "llama3-rope",
    "llama-bpe",
    "meta-llama-Llama-3.1-8B-Instruct.jinja",
    "<|eot_id|>",
    ("<|end_of_text|>", "<|eot_id|>"),
    start="<|begin_of_text|>",
)
_LFM2_FAMILY = Family(
    "lfm2",
    "gpt-2",
    "LFM2.5-Instruct.jinja",
    "<|im_end|>",
    ("<|im_end|>",),
    pre="lfm2",
    special=_LFM2,
    start="<|startoftext|>",
)
_GLM_FAMILY = Family(
    "glm4-moe",
    "gpt-2",
    "GLM-4.6.jinja",
    "<|endoftext|>",
    ("<|endoftext|>", "<|user|>", "<|observation|>"),
    pre="glm4",
    special=_GLM,
    plain=_GLM_PLAIN,
)
_GEMMA4 = Family(
    "gemma4",
    "gemma-4",
    "google-gemma-4-31B-it.jinja",
    "<eos>",
    ("<eos>", "<turn|>", "<|tool_response>"),
    start="<bos>",
    calls='<|tool_call>call:get_weather{city:<|"|>Paris<|"|>}<tool_call|><|tool_response>',
)
_GEMMA2 = Family(
    "gemma2",
    "llama-spm",
    "google-gemma-2-2b-it.jinja",
    "</s>",
    ("</s>", "<end_of_turn>"),
    special=("<start_of_turn>", "<end_of_turn>"),
    start="<s>",
    changes={"query_pre_attn_scalar": 32},
    writes_calls=False,
)
_GRANITE_FAMILY = Family(
    "granite",
    "refact",
    "ibm-granite-granite-3.3-2B-Instruct.jinja",
    "<|end_of_text|>",
    ("<|end_of_text|>",),
    special=_GRANITE,
)

FAMILIES = {
    "llama-3": _LLAMA3,
    "smollm2": Family("llama-tied", "smollm2", "", "<|im_end|>", ("<|im_end|>",), writes_calls=False, whole=True),
    "smollm3": Family(
        "smollm3",
        "llama-bpe",
        "HuggingFaceTB-SmolLM3-3B.jinja",
        "<|im_end|>",
        ("<|im_end|>",),
        pre="smaug-bpe",
        special=_CHATML,
        plain=("<think>", "</think>", "<tool_call>", "</tool_call>"),
        changes={"no_rope_layer_interval": 4, "num_hidden_layers": 4},
        whole=True,
    ),
    "mistral": Family(
        "mistral",
        "llama-spm",
        "mistralai-Mistral-Nemo-Instruct-2407.jinja",
        "</s>",
        ("</s>",),
        special=_MISTRAL,
        start="<s>",
        calls='[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Paris"}}]</s>',
    ),
    "ministral-3": Family(
        "ministral3",
        "gpt-2",
        "mistralai-Ministral-3-14B-Reasoning-2512.jinja",
        "</s>",
        ("</s>",),
        pre="tekken",
        special=("<unk>", "<s>", "</s>", *_MISTRAL),
        start="<s>",
    ),
    "qwen2.5": _like(_QWEN2, whole=True),
    "qwen2-moe": _like(_QWEN2, variant="qwen2-moe", changes={"use_sliding_window": False, "mlp_only_layers": []}),
    "qwen3": _like(_QWEN2, variant="qwen3", template="Qwen-Qwen3-0.6B.jinja"),
    "qwen3-moe": _like(_QWEN2, variant="qwen3-moe", template="Qwen-Qwen3-0.6B.jinja", changes={"mlp_only_layers": []}),
    "qwen3-coder": _like(_QWEN2, variant="qwen3-moe", template="Qwen3-Coder.jinja", changes={"mlp_only_layers": []}),
    "qwen3.5": _like(_QWEN35, whole=True),
    "qwen3.5-moe": _like(_QWEN35, variant="qwen35-moe"),
    "qwen3-coder-next": _like(_QWEN2, variant="qwen3-next", template="Qwen3-Coder.jinja", next_layer=True),
    "granite": _GRANITE_FAMILY,
    "granite-moe": _like(_GRANITE_FAMILY, variant="granite-moe", template="ibm-granite-granite-4.0.jinja", whole=True),
    "lfm2.5": _LFM2_FAMILY,
    "lfm2.5-moe": _like(_LFM2_FAMILY, variant="lfm2-moe", template="LFM2.5-8B-A1B.jinja", whole=True),
    "deepseek-v2": Family(
        "deepseek-v2",
        "deepseek-llm",
        _DEEPSEEK_V2_TEMPLATE,
        "<｜end▁of▁sentence｜>",
        ("<｜end▁of▁sentence｜>",),
        start="<｜begin▁of▁sentence｜>",
        writes_calls=False,
        whole=True,
    ),
    "deepseek-v3": Family(
        "deepseek-v3",
        "gpt-2",
        "deepseek-ai-DeepSeek-V3.1.jinja",
        "<｜end▁of▁sentence｜>",
        ("<｜end▁of▁sentence｜>",),
        pre="deepseek-v3",
        special=_DEEPSEEK,
        start="<｜begin▁of▁sentence｜>",
    ),
    "glm-4.6": _GLM_FAMILY,
    "glm-4.7-flash": _like(
        _GLM_FAMILY,
        variant="glm4-moe-lite",
        template="GLM-4.7-Flash.jinja",
        says="They greet me.</think>{}",
        calls="They ask.</think><tool_call>get_weather<arg_key>city</arg_key><arg_value>Paris</arg_value></tool_call>"
        "<|observation|>",
    ),
    "gpt-oss": Family(
        "gpt-oss",
        "gpt-2",
        "openai-gpt-oss-120b.jinja",
        "<|return|>",
        ("<|return|>", "<|endoftext|>", "<|call|>"),
        pre="gpt-4o",
        special=_GPT_OSS,
        says="<|channel|>analysis<|message|>They greet me.<|end|><|start|>assistant<|channel|>final<|message|>{}",
        calls='<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Paris"}<|call|>',
    ),
    "muse-glimmer": Family(
        "muse-glimmer",
        "gpt-2",
        "muse-glimmer.jinja",
        "<|eot|>",
        ("<|eot|>",),
        pre="llama4",
        special=_MUSE,
        start="<|begin_of_text|>",
        says=" to=self<|message|>They greet me.<|eom|><|start|>assistant to=user<|message|>{}",
        calls=' to=get_weather<|message|><atem:function_calls>\n<atem:invoke name="get_weather">\n'
        '<atem:parameter name="city">Paris</atem:parameter>\n</atem:invoke>\n</atem:function_calls><|eot|>',
    ),
    "phi-3": Family(
        "phi3",
        "phi-3",
        "microsoft-Phi-3.5-mini-instruct.jinja",
        "<|endoftext|>",
        ("<|endoftext|>", "<|end|>"),
        start="<s>",
        writes_calls=False,
        whole=True,
    ),
    "gemma-2": _GEMMA2,
    "gemma-3": _like(
        _GEMMA2,
        variant="gemma3",
        changes={"num_hidden_layers": 6, "layer_types": None, "query_pre_attn_scalar": 32},
        whole=True,
    ),
    "gemma-4": _like(_GEMMA4, whole=True),
    "gemma-4-inputs": _like(_GEMMA4, variant="gemma4-inputs"),
    "gemma-4-moe": _like(_GEMMA4, variant="gemma4-moe"),
}
