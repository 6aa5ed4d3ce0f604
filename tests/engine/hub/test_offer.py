from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.errors import InvalidOption, ModelNotFound, NotOnHub, UnsupportedModel
from engine.hub.catalogue import require_catalogue_model
from engine.hub.connection import Hub
from engine.hub.offer import make_offer
from engine.hub.record import ModelFile, ModelRecord, write_record
from tests.support.hub_server import HubServer, tower_head

GGUF = {"README.md": b"", "Qwen3-8B-Q4_K_M.gguf": b"4" * 5000, "Qwen3-8B-Q8_0.gguf": b"8" * 9000}
ORIGINAL = {"config.json": b"{}", "tokenizer.json": b"{}", "model.safetensors": b"s" * 9000}


def test_a_catalogue_name_is_its_gguf_file(hub: Hub, server: HubServer, tmp_path: Path) -> None:
    server.add("Qwen/Qwen3-8B-GGUF", GGUF)
    server.add("Qwen/Qwen3-8B", ORIGINAL)
    offer = make_offer(hub, tmp_path, "qwen3-8b")
    plan = offer.plan
    assert (plan.name, plan.repo, plan.quantization) == ("Qwen3-8B-Q4_K_M", "Qwen/Qwen3-8B-GGUF", "Q4_K_M")
    assert (plan.size_bytes, plan.base, plan.kind) == (5000, ("Qwen/Qwen3-8B",), None)
    assert plan.catalogue_name == "qwen3-8b"
    assert offer.alternatives == ("Q4_K_M", "Q8_0")
    assert offer.page == f"{server.address}/Qwen/Qwen3-8B-GGUF"
    assert "qwen3-0.6b" in offer.drafts
    assert "RedHatAI/Qwen3-8B-speculator.eagle3" in offer.drafts
    original = make_offer(hub, tmp_path, "qwen3-8b", "safetensors").plan
    assert (original.name, original.repo, original.format) == ("Qwen3-8B", "Qwen/Qwen3-8B", "safetensors")


def test_a_head_and_a_small_model_know_whose_draft_they_are(hub: Hub, server: HubServer, tmp_path: Path) -> None:
    server.add("AngelSlim/Qwen3-8B_eagle3", {"config.json": b"{}", "pytorch_model.bin": b"p" * 5000})
    server.add("Qwen/Qwen3-0.6B-GGUF", {"Qwen3-0.6B-Q8_0.gguf": b"8" * 5000})
    head = make_offer(hub, tmp_path, "AngelSlim/Qwen3-8B_eagle3").plan
    assert (head.kind, head.format, head.belongs_to) == ("head", "pytorch", ("Qwen/Qwen3-8B",))
    small = make_offer(hub, tmp_path, "qwen3-0.6b").plan
    assert small.kind is None
    assert {"Qwen/Qwen3-8B", "Qwen/Qwen3-32B"} <= set(small.belongs_to)


def test_a_draft_in_gguf_is_offered_with_its_model_and_fetched_by_its_file(
    hub: Hub, server: HubServer, tmp_path: Path
) -> None:
    files = {"m-Q4_0.gguf": b"4" * 5000, "draft/m-DSpark-Q8_0.gguf": b"8" * 900, "m-DSpark-BF16.gguf": b"b" * 1700}
    server.add("me/M-gguf", files, tags=("base_model:quantized:them/M",))
    offer = make_offer(hub, tmp_path, "me/M-gguf")
    assert ([file.name for file in offer.plan.files], offer.alternatives) == (["m-Q4_0.gguf"], ("Q4_0",))
    assert offer.drafts == ("me/M-gguf/draft/m-DSpark-Q8_0.gguf",)
    plan = make_offer(hub, tmp_path, *offer.drafts).plan
    assert [file.name for file in plan.files] == ["draft/m-DSpark-Q8_0.gguf"]
    assert (plan.name, plan.repo, plan.quantization) == ("m-DSpark-Q8_0", "me/M-gguf", "Q8_0")
    assert (plan.base, plan.belongs_to, plan.catalogue_name) == ((), ("me/M-gguf", "them/M"), None)
    with pytest.raises(InvalidOption, match=r"M-gguf has no m-DFlash\.gguf: there are m-Q4_0\.gguf"):
        make_offer(hub, tmp_path, "me/M-gguf/m-DFlash.gguf")


def test_the_encoder_of_pictures_comes_with_a_model_that_sees(hub: Hub, server: HubServer, tmp_path: Path) -> None:
    seeing = {"m-Q4_0.gguf": b"4" * 5000, "m-Q8_0.gguf": b"8" * 9000, "mmproj-F16.gguf": tower_head("gemma3") * 900}
    server.add("me/M-gguf", seeing)
    plans = [make_offer(hub, tmp_path, "me/M-gguf", quantization=type_).plan for type_ in ("Q4_0", "Q8_0")]
    sizes = [5000 + len(seeing["mmproj-F16.gguf"]), 9000 + len(seeing["mmproj-F16.gguf"])]
    assert [plan.size_bytes for plan in plans] == sizes
    assert plans[0].tower_bytes == len(seeing["mmproj-F16.gguf"])
    assert [file.name for file in make_offer(hub, tmp_path, "me/M-gguf/m-Q4_0.gguf").plan.files] == [
        "m-Q4_0.gguf",
        "mmproj-F16.gguf",
    ]
    # Kinds that Tenon does not run, and files that are none, stay where they are.
    for content in (tower_head("ultravox"), b"no encoder" * 900, b"GGUF"):
        server.add("me/M-gguf", {**seeing, "mmproj-F16.gguf": content})
        plan = make_offer(hub, tmp_path, "me/M-gguf").plan
        assert ([file.name for file in plan.files], plan.tower_bytes) == (["m-Q4_0.gguf"], 0)
    server.add("me/M-gguf", seeing, gated=True)
    offer = make_offer(hub, tmp_path, "me/M-gguf")
    assert (offer.gated, [file.name for file in offer.plan.files]) == (True, ["m-Q4_0.gguf"])


def test_adapters_know_their_model_and_other_kinds_are_refused(hub: Hub, server: HubServer, tmp_path: Path) -> None:
    config = {"num_special_tokens": 3, "base_model_name_or_path": "them/Base"}
    lora = {"peft_type": "LORA", "base_model_name_or_path": "them/Base"}
    for repo, content in (("me/set", config), ("me/lora", lora), ("me/other", {"peft_type": "IA3"})):
        weights = {"adapter_model.safetensors": b"s" * 7000}
        server.add(repo, {"adapter_config.json": json.dumps(content).encode(), **weights})
    plan = make_offer(hub, tmp_path, "me/set").plan
    assert (plan.kind, plan.format, plan.belongs_to) == ("head", "safetensors", ("them/Base",))
    assert {file.name for file in plan.files} == {"adapter_config.json", "adapter_model.safetensors"}
    plan = make_offer(hub, tmp_path, "me/lora").plan
    assert (plan.kind, plan.belongs_to) == (None, ("them/Base",))
    with pytest.raises(UnsupportedModel, match="The adapter me/other has peft_type IA3"):
        make_offer(hub, tmp_path, "me/other")


def test_a_repository_that_the_catalogue_does_not_know(hub: Hub, server: HubServer, tmp_path: Path) -> None:
    server.add(
        "me/My.Model-gguf",
        {"my-Q4_0.gguf": b"4" * 5000},
        gated=True,
        tags=("license:mit", "base_model:them/Base", "base_model:quantized:them/Base"),
    )
    offer = make_offer(hub, tmp_path, "me/My.Model-gguf", name=None)
    assert (offer.plan.name, offer.plan.licence, offer.gated) == ("My.Model-Q4_0", "mit", True)
    assert (offer.plan.base, offer.plan.catalogue_name, offer.drafts) == (("them/Base",), None, ())
    assert make_offer(hub, tmp_path, "me/My.Model-gguf", name="mine").plan.name == "mine"


def test_two_models_of_one_name_live_side_by_side(hub: Hub, server: HubServer, tmp_path: Path) -> None:
    for owner in ("a", "b"):
        server.add(f"{owner}/Model", ORIGINAL)
    (tmp_path / "model").mkdir()
    record = ModelRecord("model", "target", "safetensors", (ModelFile("x", 1, "y"),), repo="a/Model")
    write_record(tmp_path / "model", record)
    assert make_offer(hub, tmp_path, "a/Model").plan.name == "model"
    assert make_offer(hub, tmp_path, "b/Model").plan.name == "b--Model"


@pytest.mark.parametrize("name", ["", " ", ".hidden", "a/b", "..", "a\\b", "x "])
def test_a_name_that_is_none_is_refused(name: str, hub: Hub, server: HubServer, tmp_path: Path) -> None:
    server.add("a/Model", ORIGINAL)
    if name:
        with pytest.raises(InvalidOption, match="cannot be called"):
            make_offer(hub, tmp_path, "a/Model", name=name)
    else:
        assert make_offer(hub, tmp_path, "a/Model", name=name).plan.name == "Model"


def test_what_is_not_there_is_said(hub: Hub, server: HubServer, tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match="search for it"):
        make_offer(hub, tmp_path, "qwen99")
    with pytest.raises(NotOnHub):
        make_offer(hub, tmp_path, require_catalogue_model("qwen3-8b").gguf_repo)
