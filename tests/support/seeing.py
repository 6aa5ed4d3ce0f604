"""Random tiny checkpoints of models that see, written by transformers, with tokenizers that know their marks."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from PIL import Image
from tokenizers import AddedToken
from torch.nn.utils.rnn import pad_sequence
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


def _qwen3vl(name: str, text: dict[str, Any], tied: bool) -> Any:
    rope = {"rope_type": "default", "rope_theta": 1e4, "mrope_interleaved": True, "mrope_section": [6, 5, 5]}
    config = getattr(transformers, f"{name}Config")(
        text_config={**_TEXT, **text, "rope_parameters": rope},
        vision_config={**_QWEN_VISION, "deepstack_visual_indexes": [0, 2]},
        image_token_id=447,
        vision_start_token_id=446,
        vision_end_token_id=445,
        tie_word_embeddings=tied,
    )
    return getattr(transformers, f"{name}ForConditionalGeneration")._from_config(config, attn_implementation="eager")


def qwen3vl() -> Any:
    """Qwen3-VL."""
    return _qwen3vl("Qwen3VL", {}, tied=True)


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


def qwen3vl_moe() -> Any:
    """Qwen3-VL with experts."""
    return _qwen3vl("Qwen3VLMoe", VARIANTS["qwen3-moe"][1], tied=False)


def _gemma4(variant: str, vision: dict[str, Any], unified: bool = False) -> Any:
    text = {**_TEXT, **VARIANTS[variant][1], "vocab_size_per_layer_input": 448}
    # The sizes whose layers have inputs of their own read pictures as they read words.
    text["use_bidirectional_attention"] = None if text["hidden_size_per_layer_input"] else "vision"
    if unified:  # transformers looks at no window within a picture
        text["sliding_window"] = 96
    name = f"Gemma4{'Unified' if unified else ''}"
    config = getattr(transformers, f"{name}Config")(
        text_config=text,
        vision_config={"patch_size": 8, "pooling_kernel_size": 2, "rms_norm_eps": 1e-6, **vision},
        image_token_id=447,
        boi_token_id=446,
        eoi_token_id=445,
    )
    model = getattr(transformers, f"{name}ForConditionalGeneration")._from_config(config, attn_implementation="eager")
    with torch.no_grad():  # scores are not scaled: norms of queries are small where they are learned
        for part, parameter in model.named_parameters():
            if part.endswith("q_norm.weight"):
                parameter.mul_(parameter.shape[0] ** -0.5)
    generator = torch.Generator().manual_seed(5)
    for end, least, most in (("_min", -1.2, -0.8), ("_max", 0.8, 1.2), ("std_bias", -1, 1), ("std_scale", 0.5, 1.5)):
        for part, buffer in model.model.named_buffers():
            if part.endswith(end) and "vision" in part:
                buffer.copy_(torch.rand(buffer.shape, generator=generator) * (most - least) + least)
    return model


_GEMMA4_VISION = {
    **_VISION,
    **{"num_key_value_heads": 2, "head_dim": 16, "position_embedding_size": 80},
}


def gemma4() -> Any:
    """Gemma 4 whose pictures are read in both directions (31B)."""
    return _gemma4("gemma4", {**_GEMMA4_VISION, "standardize": True})


def gemma4_inputs() -> Any:
    """Gemma 4 with inputs for each layer (E2B, E4B), and bounds of its encoder's maps."""
    return _gemma4("gemma4-inputs", {**_GEMMA4_VISION, "use_clipped_linears": True})


def gemma4_unified() -> Any:
    """Gemma 4 without layers before the decoder's (12B)."""
    return _gemma4("gemma4", {"mm_embed_dim": 32, "mm_posemb_size": 80, "output_proj_dims": 32}, unified=True)


def pixtral() -> Any:
    """Ministral 3."""
    config = transformers.Mistral3Config(
        text_config={**_TEXT, **VARIANTS["ministral3"][1], "model_type": "ministral3"},
        vision_config={**_VISION, "model_type": "pixtral", "image_size": 64, "patch_size": 8, "hidden_act": "silu"},
        image_token_index=447,
        tie_word_embeddings=False,
    )
    return transformers.Mistral3ForConditionalGeneration._from_config(config, attn_implementation="eager")


def lfm2vl() -> Any:
    """LFM2-VL."""
    config = transformers.Lfm2VlConfig(
        text_config={**_TEXT, **VARIANTS["lfm2"][1], "model_type": "lfm2"},
        vision_config={
            **{**_VISION, "model_type": "siglip2_vision_model"},
            **{"patch_size": 8, "num_patches": 36, "vision_use_head": False},
        },
        image_token_id=447,
        projector_hidden_size=48,
    )
    return transformers.Lfm2VlForConditionalGeneration._from_config(config, attn_implementation="eager")


def muse() -> Any:
    """Muse-Glimmer."""
    config = transformers.MuseGlimmerConfig(
        text_config={**_TEXT, "num_hidden_layers": 6, "sliding_window": 24},
        vision_config={
            **{**_VISION, "num_hidden_layers": 5, "layer_norm_eps": 1e-5, "patch_size": 8},
            **{"pos_emb_height": 3, "pos_emb_width": 3},
        },
        image_token_id=447,
        video_token_id=440,
        out_hidden_size=4 * _VISION["hidden_size"],
        projector_hidden_size=48,
    )
    return transformers.MuseGlimmerForConditionalGeneration._from_config(config, attn_implementation="eager")


_QWEN = (
    "<|vision_start|><|image_pad|><|vision_end|>",
    {447: "<|image_pad|>", 446: "<|vision_start|>", 445: "<|vision_end|>"},
    {
        **{"size": {"shortest_edge": 1024, "longest_edge": 1 << 20}, "resample": 3, "patch_size": 8},
        **{"temporal_patch_size": 2, "merge_size": 2, "image_processor_type": "Qwen2VLImageProcessor"},
    },
)
_GEMMA4 = (
    "<|image|>",
    {447: "<|image|>", 446: "<|image>", 445: "<image|>"},
    {
        **{"patch_size": 8, "pooling_kernel_size": 2, "max_soft_tokens": 70, "do_normalize": False},
        **{"image_mean": [0.0] * 3, "image_std": [1.0] * 3, "image_processor_type": "Gemma4ImageProcessor"},
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
    "gemma4": (gemma4, *_GEMMA4),
    "gemma4-inputs": (gemma4_inputs, *_GEMMA4),
    "gemma4-unified": (gemma4_unified, *_GEMMA4),
    "lfm2vl": (
        lfm2vl,
        "<image>",
        {
            **{447: "<image>", 446: "<|image_start|>", 445: "<|image_end|>", 444: "<|img_thumbnail|>"},
            **{400 + 4 * r + c: f"<|img_row_{r + 1}_col_{c + 1}|>" for r in range(10) for c in range(4)},
        },
        {
            **{"tile_size": 32, "min_image_tokens": 4, "max_image_tokens": 6, "max_tiles": 6, "resample": 2},
            **{"downsample_factor": 2, "encoder_patch_size": 8, "image_processor_type": "Lfm2VlImageProcessor"},
        },
    ),
    "muse": (
        muse,
        "<|patch|>",
        {447: "<|patch|>", 446: "<|image_start|>", 445: "<|image_end|>"},
        {
            **{"patch_size": 8, "merge_size": 2, "max_image_tokens": 12, "resample": 1},
            "image_processor_type": "MuseGlimmerImageProcessor",
        },
    ),
    "pixtral": (
        pixtral,
        "[IMG]",
        {447: "[IMG]", 446: "[IMG_BREAK]", 445: "[IMG_END]"},
        {
            **{"size": {"longest_edge": 64}, "patch_size": 8, "resample": 3},
            **{"image_mean": [0.5, 0.4, 0.3], "image_std": [0.3, 0.2, 0.25]},
            "image_processor_type": "PixtralImageProcessor",
        },
    ),
    "qwen3vl": (qwen3vl, *_QWEN),
    "qwen3vl-moe": (qwen3vl_moe, *_QWEN),
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


# Where transformers' processors need torchvision: the sizes that they scale pictures to, by the size of the picture.
# Those before the last are cut into tiles.
_PICTURES = ((64, 64), (90, 50), (31, 120), (64, 40), (30, 70))
_SCALED = {
    name: dict(zip(_PICTURES, sizes, strict=True))
    for name, sizes in {
        "lfm2vl": ([(64, 64), (32, 32)], [(64, 32), (48, 16)], [(32, 128), (16, 64)], [(48, 16)], [(16, 48)]),
        "muse": ([(48, 48)], [(64, 32)], [(32, 96)], [(64, 32)], [(32, 80)]),
        "gemma4-unified": ([(128, 128)], [(176, 96)], [(64, 256)], [(160, 96)], [(80, 192)]),
    }.items()
}


def _parts(name: str, image: Image.Image, settings: Any) -> tuple[list[torch.Tensor], list[tuple[int, int]]]:
    """The patches of the parts of a picture, each (n, side, side, 3) and normalised, and the grids of both."""
    side = settings.get("encoder_patch_size") or settings["patch_size"]
    if name == "gemma4-unified":
        side *= settings["pooling_kernel_size"]
    found, grids = [], []
    *cut, last = _SCALED[name][image.size]
    tile = settings.get("tile_size", 0)
    for size, (across, down) in (*((one, (tile, tile)) for one in cut), (last, last)):
        scaled = torch.from_numpy(np.array(image.resize(size, Image.Resampling(settings.get("resample", 3)))))
        whole = (scaled.float() / 255 - torch.tensor(settings["image_mean"])) / torch.tensor(settings["image_std"])
        for line in torch.split(whole, down):
            for part in torch.split(line, across, 1):
                high, wide = part.shape[0] // side, part.shape[1] // side
                found.append(part.view(high, side, wide, side, 3).transpose(1, 2).reshape(-1, side, side, 3))
                grids.append((high, wide))
    return found, grids


def _processed_here(name: str, images: Sequence[Image.Image], settings: Any) -> dict[str, Any]:
    """The same as `processed` where transformers' processor needs torchvision."""
    parts = [_parts(name, image, settings) for image in images]
    patches = [one for found, _ in parts for one in found]
    grids = [grid for _, own in parts for grid in own]
    if name == "muse":
        flat = [one.permute(0, 3, 1, 2).flatten(1).repeat(1, 2) for one in patches]
        return {"pixel_values": torch.cat(flat), "image_grid_thw": torch.tensor([(1, *grid) for grid in grids])}
    most = max(map(len, patches))
    pixels = pad_sequence([one.flatten(1) for one in patches], batch_first=True)
    mask = torch.arange(most) < torch.tensor([len(one) for one in patches])[:, None]
    if name == "lfm2vl":
        layouts = [own for _, own in parts]
        shapes = torch.tensor(grids)
        return {"pixel_values": pixels, "pixel_attention_mask": mask.int(), "spatial_shapes": shapes, "parts": layouts}
    places = [torch.cartesian_prod(torch.arange(high), torch.arange(wide)).flip(-1) for high, wide in grids]
    positions = pad_sequence(places, batch_first=True, padding_value=-1)
    counts = [high * wide for high, wide in grids]
    return {"pixel_values": pixels, "image_position_ids": positions, "num_soft_tokens_per_image": counts}


def processed(folder: Path, name: str, images: Sequence[Image.Image]) -> Any:
    """Inputs that transformers' image processor makes from some pictures."""
    settings = json.loads((folder / "preprocessor_config.json").read_text())
    if name in _SCALED:
        return _processed_here(name, images, settings)
    kind = getattr(transformers, f"{settings.pop('image_processor_type')}Pil")
    if name == "pixtral":
        settings["patch_size"] *= 2  # as its processor does, by the merging
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
    if name.startswith("gemma4"):
        return f"<|image>{'<|image|>' * int(inputs['num_soft_tokens_per_image'][at])}<image|>"
    if name == "muse":
        return f"<|image_start|>{'<|patch|>' * (int(inputs['image_grid_thw'][at].prod()) // 4)}<|image_end|>"
    if name == "pixtral":
        high, wide = (int(side) // 16 for side in inputs["image_sizes"][at])
        return "[IMG_BREAK]".join(["[IMG]" * wide] * high) + "[IMG_END]"
    if name == "lfm2vl":
        grids = inputs["parts"][at]
        marks = [""] if len(grids) == 1 else [f"<|img_row_1_col_{at + 1}|>" for at in range(len(grids) - 1)]
        marks += ["<|img_thumbnail|>"] * (len(grids) > 1)
        rows = (f"{mark}{'<image>' * (high * wide // 4)}" for mark, (high, wide) in zip(marks, grids, strict=True))
        return f"<|image_start|>{''.join(rows)}<|image_end|>"
    rows, columns = inputs["rows"][0][at], inputs["cols"][0][at]
    around, image, whole = "<fake_token_around_image>", "<image>", "<global-img>"
    return get_image_prompt_string(rows, columns, 4, around, image, whole)


def reference(model: Any, folder: Path, name: str, images: Sequence[Image.Image], text: str, count: int) -> list[int]:
    """Tokens that transformers generates greedily after a rendered text with pictures."""
    inputs = processed(folder, name, images)
    ids = expanded(folder, name, inputs, text)
    image_token = 447
    given = {key: value for key, value in inputs.items() if key.startswith(("pixel", "image", "spatial"))}
    if name == "gemma3":
        given["token_type_ids"] = (ids == image_token).long()
        given.pop("num_crops", None)
    if name.startswith(("qwen", "gemma4")):
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
