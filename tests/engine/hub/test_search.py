from __future__ import annotations

import pytest

from engine.errors import HubUnreachable
from engine.families import GGUF
from engine.hub.connection import Hub, search
from tests.support.hub_server import HubServer

TEXT = ("text-generation",)


def test_results_say_what_they_are_and_whether_tenon_runs_them(hub: Hub, server: HubServer) -> None:
    server.add(
        "someone/Llama-GGUF",
        {},
        tags=(*TEXT, "gguf", "license:mit"),
        more={
            "downloads": 7, "likes": 2, "lastModified": "2026-01-02T03:04:05.000Z",
            "gguf": {"total": 8_000_000_000, "architecture": "llama", "context_length": 131072},
        },
    )  # fmt: skip
    server.add(
        "someone/Llama",
        {},
        gated=True,
        tags=(*TEXT, "safetensors"),
        more={
            "config": {"architectures": ["LlamaForCausalLM"]},
            "safetensors": {"parameters": {"BF16": 5}, "total": 5},
        },
    )
    server.add("a/llama-exl2", {}, tags=(*TEXT, "safetensors", "exl2"))
    server.add("a/llama-awq", {}, tags=(*TEXT, "safetensors", "awq", "4-bit"))
    server.add(
        "a/llama-odd",
        {},
        tags=(*TEXT, "safetensors"),
        more={"config": {"architectures": ["MambaForCausalLM"]}},
    )
    server.add("a/llama-moe", {}, tags=(*TEXT, "gguf"), more={"gguf": {"architecture": "dbrx"}})
    server.add("a/llama-bin", {}, tags=TEXT)
    server.add("a/llama-picture", {}, tags=("text-to-image",))
    found = {model.repo: model for model in search(hub, "llama")}
    assert set(found) == set(server.repos) - {"a/llama-picture"}
    assert "dbrx" in str(found["a/llama-moe"].problem)
    gguf = found["someone/Llama-GGUF"]
    assert (gguf.format, gguf.licence, gguf.parameters, gguf.context_length) == (
        "gguf",
        "mit",
        8_000_000_000,
        131072,
    )
    assert (gguf.downloads, gguf.likes, gguf.changed, gguf.problem) == (7, 2, "2026-01-02", None)
    original = found["someone/Llama"]
    assert (original.format, original.gated, original.parameters, original.problem) == (
        "safetensors",
        True,
        5,
        None,
    )
    assert "exl2" in str(found["a/llama-exl2"].problem)
    assert found["a/llama-awq"].problem is None
    assert "MambaForCausalLM" in str(found["a/llama-odd"].problem)
    assert "neither" in str(found["a/llama-bin"].problem)


@pytest.mark.parametrize("architecture", sorted(GGUF))
def test_gguf_files_of_every_family_that_runs_are_offered(architecture: str, hub: Hub, server: HubServer) -> None:
    server.add("a/m-GGUF", {}, tags=(*TEXT, "gguf"), more={"gguf": {"architecture": architecture}})
    (found,) = search(hub, "m")
    assert found.problem is None


def test_the_format_and_the_number_are_asked_for(hub: Hub, server: HubServer) -> None:
    for number in range(5):
        server.add(f"a/m{number}-GGUF", {}, tags=(*TEXT, "gguf"))
        server.add(f"a/m{number}", {}, tags=(*TEXT, "safetensors"))
    assert {model.format for model in search(hub, "m", "gguf")} == {"gguf"}
    assert len(search(hub, "m", limit=3)) == 3
    assert search(hub, "nothing like it") == ()


def test_offline_is_one_sentence() -> None:
    with pytest.raises(HubUnreachable, match="offline mode"):
        search(Hub(endpoint="http://127.0.0.1:9"), "llama")
