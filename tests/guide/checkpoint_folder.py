"""Writes a trained network as a Hugging Face checkpoint folder, and reads one again."""

from __future__ import annotations

import json
import os
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from engine.training.llama_network import Network


def write_checkpoint(network: Network, folder: Path, special: dict[str, int]) -> None:
    """Write ``config.json``, ``generation_config.json`` and ``model.safetensors`` (bfloat16), readable by everybody.

    Args:
        network: what to write; its weights are rounded to bfloat16 in the file.
        folder: made if it is missing.
        special: ``eos_token_id`` and ``pad_token_id``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    ids: dict[str, int | None] = {"bos_token_id": None, **special}
    config = network.shape.as_config(ids)
    generation: dict[str, object] = {"do_sample": False, **ids}
    _write_json(folder / "config.json", config)
    _write_json(folder / "generation_config.json", generation)
    state = {
        name: value.to(torch.bfloat16).contiguous() for name, value in network.hugging_face_state().items()
    }
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    for path in folder.iterdir():
        os.chmod(path, 0o644)


def read_weights(network: Network, folder: Path) -> None:
    """Give a network the weights that `write_checkpoint` wrote.

    Raises:
        RuntimeError: they belong to another shape.
    """
    stored = load_file(folder / "model.safetensors")
    network.load_state_dict({name.removeprefix("model."): value.float() for name, value in stored.items()})


def _write_json(path: Path, data: dict[str, object]) -> None:
    path.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
