from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from engine.documents.pictures import scaled_picture
from engine.errors import ConfigInvalid, InvalidOption
from engine.families import SUPPORTED
from engine.hub.model_head import read_head
from engine.messages import Picture
from engine.vision.files import open_tower
from engine.vision.tower import Tower
from engine.weights.checkpoint import Checkpoint
from tests.support import seeing
from tests.support.seeing import MODELS, drawing, picture_of, processed, write_seeing

SIZES = [(64, 64), (90, 50), (31, 120)]


def loaded(folder: Path, packed: bool = False) -> Tower:
    checkpoint = Checkpoint(folder)
    tower = open_tower(folder, checkpoint, SUPPORTED[checkpoint.architecture], 64)
    assert tower is not None
    tower.load(packed)
    return tower


def seen(tower: Tower, image: Image.Image) -> list[torch.Tensor]:
    """The rows of each run of a picture."""
    picture = picture_of(image)
    sizes = tower.sizes(picture.width, picture.height)
    scaled = scaled_picture(picture, sizes, tower.resample, chained=tower.chained)
    pixels = [
        torch.from_numpy(np.frombuffer(one, np.uint8).copy()).view(height, width, 3)
        for one, (width, height) in zip(scaled, sizes, strict=True)
    ]
    steps = tower.rows(pixels)
    try:
        while True:
            next(steps)
    except StopIteration as end:
        rows: list[torch.Tensor] = end.value
    assert [len(one) for one in rows] == list(tower.layout(picture).runs)
    return rows


def theirs(model: Any, name: str, inputs: Any) -> torch.Tensor:
    """The rows of the same picture by transformers, in order."""
    names = ("pixel_values", "image_grid_thw", "image_position_ids", "image_sizes", "spatial_shapes")
    given = {key: value for key, value in inputs.items() if key in (*names, "pixel_attention_mask")}
    with torch.no_grad():
        found = model.model.get_image_features(**given)
    parts = [getattr(found, "pooler_output", found), *(getattr(found, "deepstack_features", None) or ())]
    parts = [torch.cat(list(one)) if isinstance(one, Sequence) else one for one in parts]
    return torch.cat([one.reshape(-1, one.shape[-1]) for one in parts], -1)


@pytest.mark.parametrize("name", MODELS)
@torch.inference_mode()
def test_pictures_become_the_rows_that_transformers_makes_of_them(tmp_path: Path, name: str) -> None:
    model = write_seeing(tmp_path, name)
    tower = loaded(tmp_path)
    assert read_head(tmp_path).sees
    for size in SIZES:
        image = drawing(*size)
        expected = theirs(model, name, processed(tmp_path, name, [image]))
        torch.testing.assert_close(torch.cat(seen(tower, image)), expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("heads", [2, 4])
@pytest.mark.parametrize("name", MODELS)
@torch.inference_mode()
def test_packed_layers_give_the_rows_of_dense_ones(
    tmp_path: Path, name: str, heads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Heads of 16 channels and of 12, which are filled up; weights are those of 16 bits in both."""
    vision = {"num_attention_heads": heads, "num_heads": heads, "hidden_size": 16 * 2 if heads == 2 else 12 * heads}
    for known in ("_VISION", "_QWEN_VISION"):
        before = getattr(seeing, known)
        monkeypatch.setitem(before, "hidden_size", vision["hidden_size"])
        monkeypatch.setitem(before, "num_heads" if "num_heads" in before else "num_attention_heads", heads)
    write_seeing(tmp_path, name, dtype=torch.bfloat16)
    for size in SIZES:
        dense, packed = (torch.cat(seen(loaded(tmp_path, packed), drawing(*size))) for packed in (False, True))
        # Activations are rounded to 8 bits before each of some ten products on a number's way.
        assert (packed - dense).abs().max() <= 2**-8 * 10 * dense.abs().max()
        assert torch.nn.functional.cosine_similarity(packed, dense).min() > 0.999


@pytest.mark.parametrize(
    ("name", "changes"),
    [("gemma4", {"max_soft_tokens": -1}), ("lfm2vl", {"tile_size": -32}), ("pixtral", {"size": {"longest_edge": -1}})],
)
def test_bounds_of_pictures_that_make_no_sense_are_refused(tmp_path: Path, name: str, changes: dict[str, Any]) -> None:
    write_seeing(tmp_path, name)
    file = tmp_path / "preprocessor_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))
    with pytest.raises(ConfigInvalid, match="fit no model"):
        loaded(tmp_path)


def test_an_activation_that_tenon_does_not_know_is_a_sentence(tmp_path: Path) -> None:
    write_seeing(tmp_path, "pixtral")
    file = tmp_path / "config.json"
    config = json.loads(file.read_text())
    config["vision_config"]["hidden_act"] = "relu"
    file.write_text(json.dumps(config))
    with pytest.raises(ConfigInvalid):
        loaded(tmp_path)


@pytest.mark.parametrize("name", MODELS)
def test_a_thin_picture_has_no_more_rows_than_memory_was_planned_for(tmp_path: Path, name: str) -> None:
    write_seeing(tmp_path, name)
    tower = loaded(tmp_path)
    for size in ((900_000, 1), (1, 900_000)):
        with suppress(InvalidOption):  # Qwen's are refused
            assert sum(tower.layout(Picture("", *size)).runs) <= tower.most_rows
            width, height = tower.sizes(*size)[-1]
            assert width * height <= tower.most_patches * tower.values.patch**2
