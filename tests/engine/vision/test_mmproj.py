"""Towers in GGUF files beside the model, as llama.cpp's converter writes them."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import gguf
import pytest
import torch
import transformers

from engine.errors import TensorMismatch
from engine.families import SUPPORTED
from engine.hub.model_head import read_head, sees_with
from engine.messages import ChatMessage
from engine.vision.files import _InGguf, open_tower
from engine.vision.tower import Tower
from tests.engine.vision.test_towers import loaded, seen
from tests.support.engine_client import engine_client
from tests.support.gguf_files import write_gguf
from tests.support.seeing import MODELS, drawing, picture_of, reference, rendered, write_seeing

#: Tensors of a layer, and the others.
_LAYER = (
    *("attn_q", "attn_k", "attn_v", "attn_qkv", "attn_out", "ln1", "ln2", "ffn_up", "ffn_down", "ffn_gate"),
    *("attn_q_norm", "attn_k_norm", "attn_post_norm", "ffn_post_norm"),
)
_OTHERS = (
    *("v.patch_embd", "v.position_embd", "v.pre_ln", "v.post_ln", "mm.0", "mm.1", "mm.2", "mm.model.fc"),
    *("mm.soft_emb_norm", "mm.input_projection", "mm.input_norm", "mm.patch_merger", "v"),
    *(f"v.patch_norm.{number}" for number in (1, 2, 3)),
)
_KINDS = ("weight", "bias", "std_bias", "std_scale", "input_min", "input_max", "output_min", "output_max")


def write_mmproj(path: Path, tower: Tower, swapped: bool = False, **changes: Any) -> None:
    """Write a tower's tensors by llama.cpp's names, with the metadata of its converter."""
    values, tensors, more = tower.values, tower._tensors, tower.values.more
    row = (values.patch * values.merge) ** 2
    bounds = {
        "min": more.get("least_pixels") or more.get("min_image_tokens", 0) * row,
        "max": more.get("most_pixels") or more.get("max_image_tokens", more.get("most_rows", 0)) * row,
    }
    writer = gguf.GGUFWriter(path, "clip")
    writer.add_type("mmproj")
    said: dict[str, Any] = {
        "clip.projector_type": tensors.sight.projector,
        "clip.vision.embedding_length": values.hidden,
        "clip.vision.block_count": values.layers,
        "clip.vision.attention.head_count": values.heads,
        "clip.vision.image_size": more["longest_edge"] if tensors.sight.projector == "pixtral" else values.image_size,
        "clip.vision.patch_size": values.patch,
        "clip.vision.projection_dim": values.text,
        "clip.vision.projector.scale_factor": values.merge,
        "clip.vision.spatial_merge_size": values.merge,
        "clip.vision.preproc_image_size": values.more.get("longest_edge") or values.more.get("tile_size", 0),
        **{f"clip.vision.image_{bound}_pixels": pixels for bound, pixels in bounds.items()},
        "clip.vision.preproc_max_tiles": more.get("max_tiles", 0),
        "clip.use_silu": values.more.get("activation") == "silu",
        **changes,
    }
    for key, value in said.items():
        writer.add_string(key, value) if isinstance(value, str) else writer.add_uint32(key, int(value))
    writer.add_float32("clip.vision.attention.layer_norm_epsilon", values.epsilon)
    writer.add_array("clip.vision.image_mean", list(values.mean))
    writer.add_array("clip.vision.image_std", list(values.std))
    names = {name: name for name in _OTHERS}
    names |= {f"v.blk.{layer}.{part}": f"v.blk.{layer}.{part}" for layer in range(values.layers) for part in _LAYER}
    for at, layer in enumerate(values.more.get("deep", ())):
        names |= {f"v.deepstack.{at}.{part}": f"v.deepstack.{layer}.{part}" for part in ("norm", "fc1", "fc2")}
    for own, name in names.items():
        for kind in _KINDS:
            if not tensors.has(f"{own}.{kind}"):
                continue
            tensor = tensors.tensor(f"{own}.{kind}")
            if own == "mm.soft_emb_norm":
                tensor = tensor + 1
            if tensor.dim() == 5:  # of two frames
                writer.add_tensor(f"{name}.weight.1", tensor[:, :, 1].contiguous().numpy())
                tensor = tensor[:, :, 0].contiguous()
            tensor = _written(tower, own, kind, tensor)
            other = name.replace("ffn_up", "#").replace("ffn_down", "ffn_up").replace("#", "ffn_down")
            writer.add_tensor(f"{other if swapped else name}.{kind}", tensor.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _written(tower: Tower, name: str, kind: str, tensor: torch.Tensor) -> torch.Tensor:
    """A tensor as llama.cpp's converter writes it."""
    values, side = tower.values, tower.values.patch
    by_pixel = values.more.get("by_pixel")
    if name == "v.patch_embd" and tensor.dim() == 2 and not by_pixel:
        if tensor.shape[1] == 3 * side * side:
            return tensor.view(-1, side, side, 3).permute(0, 3, 1, 2).contiguous()
        return tensor.view(len(tensor), 2, 3, side, side).sum(1)
    if by_pixel and (name == "v.patch_norm.1" or (name == "v.patch_embd" and kind == "weight")):
        return tensor.reshape(*tensor.shape[:-1], -1, 3).transpose(-1, -2).flatten(-2).contiguous()
    if by_pixel and name == "v.position_embd":
        return tensor.transpose(0, 1).contiguous()
    if tower._tensors.sight.interleaved and name.endswith(("attn_q", "attn_k")):
        return tensor.view(values.heads, 2, -1, *tensor.shape[1:]).transpose(1, 2).flatten(0, 2).contiguous()
    return tensor.reshape(tensor.shape or (1,))


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("name", MODELS)
@torch.inference_mode()
def test_a_tower_in_gguf_makes_the_rows_of_the_same_in_safetensors(tmp_path: Path, name: str, swapped: bool) -> None:
    write_seeing(tmp_path / "safetensors", name)
    own = loaded(tmp_path / "safetensors")
    write_mmproj(tmp_path / "mmproj.gguf", own, swapped)
    inputs = {"gemma4.embedding_length_per_layer_input": 32 if name == "gemma4-inputs" else 0}
    inputs["muse-glimmer.attention.layer_norm_rms_epsilon"] = own.values.more.get("end_epsilon", 0)
    tensors = _InGguf(tmp_path / "mmproj.gguf", [own._tensors.sight.projector], 64, inputs)
    tower = tensors.sight.tower(tensors)
    tower.load(False)
    assert (tower.mutual, tower.weights > 0) == (own.mutual, True)
    for size in ((64, 64), (90, 50)):
        found, expected = (seen(one, drawing(*size)) for one in (tower, own))
        assert {run.shape[1] for run in (*found, *expected)} == {tower.row_width} == {own.row_width}
        torch.testing.assert_close(torch.cat(found), torch.cat(expected), atol=1e-5, rtol=1e-5)


def write_text_part(folder: Path) -> Any:
    """Write Gemma 3, and its text part as a GGUF file in a folder of its own; return the model."""
    model = write_seeing(folder / "whole", "gemma3")
    text = transformers.Gemma3ForCausalLM(model.config.text_config).eval()
    own = {f"model.{name}": tensor for name, tensor in model.model.language_model.state_dict().items()}
    text.load_state_dict({**own, "lm_head.weight": model.lm_head.weight})
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "whole")
    (folder / "gguf").mkdir()
    write_gguf(text, folder / "gguf" / "tiny-gemma.gguf", tokenizer=tokenizer)
    (folder / "gguf" / "chat_template.jinja").write_text(tokenizer.chat_template)
    return model


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"clip.vision.block_count": 5}, "lacks the tensor"),
        ({"clip.vision.image_size": 6400}, "positions where its config asks for"),
        ({"clip.vision.attention.head_count": 0}, "fit no model"),
        ({"clip.vision.patch_size": 0}, "fit no model"),
        ({"clip.vision.image_size": 0}, "fit no model"),
        ({"clip.vision.block_count": "x"}, "lacks a value, or has one of the wrong kind"),
    ],
)
def test_a_model_writes_texts_beside_a_damaged_tower(tmp_path: Path, changes: dict[str, Any], sentence: str) -> None:
    write_text_part(tmp_path)
    file, folder = tmp_path / "gguf" / "mmproj-f32.gguf", tmp_path / "gguf"
    write_mmproj(file, loaded(tmp_path / "whole"), **changes)
    asked = [ChatMessage("user", "Look: ", pictures=(picture_of(drawing(64, 40, 1), at=6),))]
    with engine_client() as client:
        failures = [client.failure(asked, folder, weights="fp32")]
        assert client.answer([ChatMessage("user", "Hi")], folder, weights="fp32", max_tokens=1).token_ids
        failures.append(client.failure(asked, folder, weights="fp32"))
    for failed in failures:
        assert failed.error.kind == "PicturesUnseen"
        assert sentence in failed.error.message


def test_a_gguf_model_sees_with_the_file_beside_it(tmp_path: Path) -> None:
    model = write_text_part(tmp_path)
    folder = tmp_path / "gguf"
    asked = [ChatMessage("user", "Look: ", pictures=(picture_of(drawing(64, 40, 1), at=6),))]
    with engine_client() as client:
        failed = client.failure(asked, folder / "tiny-gemma.gguf")
        assert failed.error.kind == "PicturesUnseen"
        assert not read_head(folder / "tiny-gemma.gguf").sees
        tower = loaded(tmp_path / "whole")
        write_mmproj(folder / "mmproj-f32.gguf", tower, **{"clip.vision.projection_dim": 99})
        failed = client.failure(asked, folder / "tiny-gemma.gguf")
        assert failed.error.message.startswith("The picture encoder mmproj-f32.gguf was made for another model")
        write_mmproj(folder / "mmproj-f32.gguf", tower)
        assert read_head(folder / "tiny-gemma.gguf").sees
        reply = client.answer(asked, folder, mode="plain", weights="fp32", max_tokens=12)
    prompt = rendered(tmp_path / "whole", [("user", "Look: #")], "<start_of_image>")
    assert list(reply.token_ids) == reference(model, tmp_path / "whole", "gemma3", [drawing(64, 40, 1)], prompt, 12)


@pytest.mark.parametrize(("said", "fits"), [({}, False), ({"qwen3vl.n_deepstack_layers": 2}, True)])
def test_a_tower_whose_rows_go_into_other_layers_is_another_model_s(
    tmp_path: Path, said: dict[str, int], fits: bool
) -> None:
    """Qwen3-VL's and Qwen3.5's towers have the same kind and width, and may lie in one folder."""
    write_seeing(tmp_path / "whole", "qwen3vl")
    write_mmproj(tmp_path / "mmproj.gguf", loaded(tmp_path / "whole"))
    writer = gguf.GGUFWriter(tmp_path / "model.gguf", "qwen3vl")
    for key, value in said.items():
        writer.add_uint32(key, value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    checkpoint: Any = None  # its tower is not in there
    family = SUPPORTED["Qwen3VLForCausalLM"]
    with nullcontext() if fits else pytest.raises(TensorMismatch, match="made for another model"):
        assert open_tower(tmp_path / "model.gguf", checkpoint, family, 64) is not None


@pytest.mark.parametrize("fits", [True, False])
def test_a_tower_beside_a_text_model_of_the_same_width_is_another_model_s(tmp_path: Path, fits: bool) -> None:
    """SmolLM2 has the architecture and the width of SmolVLM's decoder, and no token for a picture."""
    write_seeing(tmp_path / "whole", "smolvlm")
    write_mmproj(tmp_path / "mmproj.gguf", loaded(tmp_path / "whole"))
    writer = gguf.GGUFWriter(tmp_path / "model.gguf", "llama")
    writer.add_token_list(["a", "<image>" if fits else "<|im_start|>"])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    assert sees_with(tmp_path / "model.gguf", tmp_path / "mmproj.gguf") is fits
    checkpoint: Any = None  # its tower is not in there
    family = SUPPORTED["LlamaForCausalLM"]
    with nullcontext() if fits else pytest.raises(TensorMismatch, match="made for another model"):
        assert open_tower(tmp_path / "model.gguf", checkpoint, family, 64) is not None
