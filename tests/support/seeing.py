"""Random tiny checkpoints of models that see, written by transformers, with tokenizers that know their marks."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from PIL import Image
from tokenizers import AddedToken
from transformers.models.smolvlm.processing_smolvlm import get_image_prompt_string

from engine.documents.pictures import read_picture
from engine.messages import Picture
from tests.support.checkpoints import SIZES, VARIANTS, randomize, save, train_tokenizer

_TEXT = {**SIZES, "vocab_size": 448, "max_position_embeddings": 2048, "head_dim": 32}
_VISION = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "layer_norm_eps": 1e-6,
}
_CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}MARK{% else %}{{ part['text'] }}{% endif %}{% endfor %}{% endif %}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_NORMAL = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3, "do_rescale": True, "do_normalize": True}
_NORMAL |= {"rescale_factor": 1 / 255, "do_resize": True, "do_convert_rgb": True}


def drawing(width: int, height: int, seed: int = 0) -> Image.Image:
    """A picture of blurred noise."""
    noise = torch.rand(3, 6, 6, generator=torch.Generator().manual_seed(seed))
    pixels = torch.nn.functional.interpolate(noise[None], (height, width), mode="bicubic")[0].clamp(0, 1)
    return Image.fromarray((pixels * 255).byte().permute(1, 2, 0).numpy())


def picture_of(image: Image.Image, at: int = 0) -> Picture:
    """The picture as a message has it."""
    data = io.BytesIO()
    image.save(data, "PNG")
    return read_picture(data.getvalue(), "drawing", at=at)


def gemma3(window: int = 24) -> Any:
    """Gemma 3."""
    types = ["sliding_attention", "full_attention", "sliding_attention"]
    config = transformers.Gemma3Config(
        text_config={**_TEXT, "sliding_window": window, "layer_types": types, "query_pre_attn_scalar": 32},
        vision_config={**_VISION, "image_size": 64, "patch_size": 8},
        mm_tokens_per_image=16,
        image_token_id=447,
        boi_token_index=446,
        eoi_token_index=445,
    )
    return transformers.Gemma3ForConditionalGeneration._from_config(config, attn_implementation="eager")


def smolvlm() -> Any:
    """SmolVLM."""
    config = transformers.SmolVLMConfig(
        text_config={**_TEXT, "model_type": "llama"},
        vision_config={**_VISION, "image_size": 32, "patch_size": 8},
        scale_factor=2,
        image_token_id=447,
        tie_word_embeddings=False,
    )
    return transformers.SmolVLMForConditionalGeneration._from_config(config, attn_implementation="eager")


_QWEN_VISION = {
    **{"depth": 3, "hidden_size": 32, "intermediate_size": 48, "num_heads": 2, "out_hidden_size": 64},
    **{"patch_size": 8, "num_position_embeddings": 36, "spatial_merge_size": 2},
}


def qwen3vl() -> Any:
    """Qwen3-VL."""
    rope = {"rope_type": "default", "rope_theta": 1e4, "mrope_interleaved": True, "mrope_section": [6, 5, 5]}
    config = transformers.Qwen3VLConfig(
        text_config={**_TEXT, "rope_parameters": rope},
        vision_config={**_QWEN_VISION, "deepstack_visual_indexes": [0, 2]},
        image_token_id=447,
        vision_start_token_id=446,
        vision_end_token_id=445,
        tie_word_embeddings=True,
    )
    return transformers.Qwen3VLForConditionalGeneration._from_config(config, attn_implementation="eager")


def qwen35() -> Any:
    """Qwen3.5."""
    rope = {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.25}
    rope |= {"mrope_interleaved": True, "mrope_section": [2, 1, 1]}
    config = transformers.Qwen3_5Config(
        text_config={**_TEXT, **VARIANTS["qwen35"][1], "vocab_size": 448, "rope_parameters": rope},
        vision_config=_QWEN_VISION,
        image_token_id=447,
        vision_start_token_id=446,
        vision_end_token_id=445,
    )
    return transformers.Qwen3_5ForConditionalGeneration._from_config(config, attn_implementation="eager")


_QWEN = (
    "<|vision_start|><|image_pad|><|vision_end|>",
    {447: "<|image_pad|>", 446: "<|vision_start|>", 445: "<|vision_end|>"},
    {
        **{"size": {"shortest_edge": 1024, "longest_edge": 1 << 20}, "resample": 3, "patch_size": 8},
        **{"temporal_patch_size": 2, "merge_size": 2, "image_processor_type": "Qwen2VLImageProcessor"},
    },
)
#: By name: the model, the mark that its template writes, its special tokens with their ids, and its image processor.
MODELS: dict[str, Any] = {
    "gemma3": (
        gemma3,
        "<start_of_image>",
        {446: "<start_of_image>", 445: "<end_of_image>", 447: "<image_soft_token>"},
        {"size": {"height": 64, "width": 64}, "resample": 2, "image_processor_type": "Gemma3ImageProcessor"},
    ),
    "qwen3vl": (qwen3vl, *_QWEN),
    "qwen35": (qwen35, *_QWEN),
    "smolvlm": (
        smolvlm,
        "<image>",
        {
            **{447: "<image>", 446: "<fake_token_around_image>", 445: "<global-img>"},
            **{400 + 4 * r + c: f"<row_{r + 1}_col_{c + 1}>" for r in range(4) for c in range(4)},
        },
        {
            **{"size": {"longest_edge": 96}, "max_image_size": {"longest_edge": 32}, "resample": 1},
            **{"do_image_splitting": True, "do_pad": True, "image_processor_type": "SmolVLMImageProcessor"},
        },
    ),
}


def write_seeing(folder: Path, name: str, seed: int = 0, dtype: torch.dtype = torch.float32) -> Any:
    """Write a checkpoint of one of `MODELS`, with its tokenizer and its image processor; return the model."""
    made, mark, special, processor = MODELS[name]
    model = made().eval()
    randomize(model, seed)
    save(model, folder, dtype)
    tokenizer = train_tokenizer()
    inner = tokenizer.backend_tokenizer
    for token in range(inner.get_vocab_size(), max(special) + 1):
        inner.add_special_tokens([AddedToken(special.get(token, f"<unused_{token}>"), normalized=False, special=True)])
    tokenizer.chat_template = _CHATML.replace("MARK", mark)
    tokenizer.save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps({**_NORMAL, **processor}))
    return model.to(torch.float32)


def processed(folder: Path, name: str, images: Sequence[Image.Image]) -> Any:
    """Inputs that transformers' image processor makes from some pictures."""
    settings = json.loads((folder / "preprocessor_config.json").read_text())
    kind = getattr(transformers, f"{settings.pop('image_processor_type')}Pil")
    more = {"return_row_col_info": True} if name == "smolvlm" else {}
    return kind(**settings)(list(images), return_tensors="pt", **more)


def expanded(folder: Path, name: str, inputs: Any, text: str) -> torch.Tensor:
    """The prompt's tokens by transformers' rules, each mark of a rendered text replaced by its picture's tokens."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    mark = MODELS[name][1]
    parts = text.split(mark)
    whole = parts[0]
    for at, part in enumerate(parts[1:]):
        whole += _expansion(name, inputs, at) + part
    return torch.tensor([tokenizer(whole, add_special_tokens=False).input_ids])


def _expansion(name: str, inputs: Any, at: int) -> str:
    if name == "gemma3":
        return "\n\n<start_of_image>" + "<image_soft_token>" * 16 + "<end_of_image>\n\n"
    if name.startswith("qwen"):
        count = int(inputs["image_grid_thw"][at].prod()) // 4
        return f"<|vision_start|>{'<|image_pad|>' * count}<|vision_end|>"
    rows, columns = inputs["rows"][0][at], inputs["cols"][0][at]
    around, image, whole = "<fake_token_around_image>", "<image>", "<global-img>"
    return get_image_prompt_string(rows, columns, 4, around, image, whole)


def reference(model: Any, folder: Path, name: str, images: Sequence[Image.Image], text: str, count: int) -> list[int]:
    """Tokens that transformers generates greedily after a rendered text with pictures."""
    inputs = processed(folder, name, images)
    ids = expanded(folder, name, inputs, text)
    image_token = 447
    given = {key: value for key, value in inputs.items() if key.startswith(("pixel", "image"))}
    if name == "gemma3":
        given["token_type_ids"] = (ids == image_token).long()
        given.pop("num_crops", None)
    if name.startswith("qwen"):
        given["mm_token_type_ids"] = (ids == image_token).int()
    with torch.no_grad():
        found = model.generate(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            do_sample=False,
            max_new_tokens=count,
            pad_token_id=0,
            eos_token_id=2,
            **given,
        )
    return found[0, ids.shape[1] :].tolist()


def rendered(folder: Path, turns: Sequence[tuple[str, str]], mark: str) -> str:
    """A conversation as the template writes it; ``#`` stands for a picture."""
    written = "".join(f"<|im_start|>{role}\n{text.replace('#', mark)}<|im_end|>\n" for role, text in turns)
    return f"{written}<|im_start|>assistant\n"
