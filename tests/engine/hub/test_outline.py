from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.errors import HubUnreachable, ModelNotFound, NotOnHub
from engine.hub.catalogue import require_catalogue_model
from engine.hub.connection import Hub
from engine.hub.offer import find_or_outline
from engine.model.footprint import weight_bytes
from engine.model.weight_format import stored_format
from engine.model_file import OpenedModel
from engine.planning.model_facts import target_facts
from tests.support.hub_server import HubServer

CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64}


def read(folder: Path) -> tuple[dict[str, Any], int]:
    config = json.loads((folder / "config.json").read_text())
    index = json.loads((folder / "model.safetensors.index.json").read_text())
    return config, index["metadata"]["total_size"]


def test_an_installed_model_is_no_outline(llama_folder: Path) -> None:
    assert find_or_outline(str(llama_folder)) == llama_folder.resolve()


def test_the_catalogue_needs_no_network() -> None:
    model = require_catalogue_model("qwen3-8b")
    config, size = read(find_or_outline("qwen3-8b"))
    assert config["hidden_size"] == 4096
    assert size == model.typical_bytes()
    assert read(find_or_outline("Qwen/Qwen3-8B"))[1] == model.typical_bytes(quantized=False)
    assert read(find_or_outline("qwen3-8b", Hub(endpoint="http://127.0.0.1:9")))[1] == size


@pytest.mark.parametrize(
    ("name", "published_bytes"),
    # Bytes of the published file's matrices in memory; the first two have rows that blocks of 256 do not fill.
    [("qwen2.5-0.5b-instruct", 392_676_864), ("gemma-3-1b-it", 806e6), ("qwen2.5-1.5b-instruct", 997_472_768)],
)
def test_a_card_counts_what_the_published_file_has(name: str, published_bytes: float) -> None:
    config = target_facts(OpenedModel(name, find_or_outline(name))).config
    assert weight_bytes(config, stored_format(config)) == pytest.approx(published_bytes, rel=0.01)


@pytest.mark.parametrize(("name", "stored"), [("lfm2.5-8b-a1b", "Q4_K_M"), ("gpt-oss-20b", "MXFP4")])
def test_what_would_be_fetched_is_planned(name: str, stored: str) -> None:
    """Its own format, and the room on the disk that it takes."""
    model = require_catalogue_model(name)
    facts = target_facts(OpenedModel(name, find_or_outline(name)))
    assert facts.config.quantization == stored
    assert weight_bytes(facts.config, stored_format(facts.config)) < 1.1 * model.typical_bytes()
    assert facts.missing_bytes == model.typical_bytes()


def test_where_the_cache_cannot_be_written_outlines_lie_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("TENON_CACHE_DIR", str(tmp_path / "file" / "cache"))
    assert read(find_or_outline("qwen3-8b"))[0]["hidden_size"] == 4096


def test_the_hub_knows_the_size(hub: Hub, server: HubServer) -> None:
    server.add("Qwen/Qwen3-8B-GGUF", {"Qwen3-8B-Q4_K_M.gguf": b"q" * 7000})
    assert read(find_or_outline("qwen3-8b", hub))[1] == 7000


def test_a_repository_is_asked_for_its_config_or_its_base_for_it(hub: Hub, server: HubServer) -> None:
    server.add("a/plain", {"config.json": json.dumps(CONFIG).encode(), "model.safetensors": b"w" * 5000})
    server.add("b/plain-GGUF", {"p-Q4_0.gguf": b"g" * 6000}, tags=("base_model:quantized:a/plain",))
    server.add("c/orphan-GGUF", {"p-Q4_0.gguf": b"g" * 6000})
    config, size = read(find_or_outline("a/plain", hub))
    assert (config, size) == (CONFIG, 5000 + len(json.dumps(CONFIG)))
    assert read(find_or_outline("b/plain-GGUF", hub)) == (CONFIG, 6000)
    with pytest.raises(NotOnHub, match="before it is downloaded"):
        find_or_outline("c/orphan-GGUF", hub)


def test_what_nobody_knows_is_said() -> None:
    for reference in ("no-such-model", "some/repo"):
        with pytest.raises(ModelNotFound):
            find_or_outline(reference)
    with pytest.raises(HubUnreachable):
        find_or_outline("some/repo", Hub(endpoint="http://127.0.0.1:9"))
