"""What servers say of themselves, in the formats of their documentation."""

from __future__ import annotations

import pytest

from engine.errors import RemoteBusy, RemoteError, RemoteRefused, RemoteUnreachable
from engine.hub.endpoints import Endpoint, ServedModel
from engine.remote.probe import probe, unencrypted
from tests.support.server_of_others import Handler, Others, models, server_of_others, told


def server(others: Others) -> Endpoint:
    return Endpoint("desk", others.address)


def test_vllm_and_sglang_say_the_context_in_their_list(others: Others) -> None:
    others.answers["GET /v1/models"] = models("vllm", qwen3=32768, adapter=32768)
    found = probe(server(others))
    assert found.kind == "vllm"
    assert found.models[0] == ServedModel("qwen3", 32768, "switch")
    others.answers["GET /v1/models"] = models("sglang", qwen3=40960)
    assert (probe(server(others)).kind, probe(server(others)).models[0].context) == ("sglang", 40960)


def test_llama_cpp_says_it_in_its_properties(others: Others) -> None:
    others.answers["GET /v1/models"] = models("llamacpp", qwen3=None)
    others.answers["GET /props"] = told(
        {
            "default_generation_settings": {"n_ctx": 8192},
            "total_slots": 1,
            "chat_template": "{% if enable_thinking %}<think>{% endif %}",
        }
    )
    found = probe(server(others))
    assert (found.kind, found.models) == ("llama.cpp", (ServedModel("qwen3", 8192, "switch"),))


def test_tenon_says_its_way_of_thinking(others: Others) -> None:
    others.answers["GET /v1/models"] = models("tenon", gpt_oss=4096)
    others.answers["GET /props"] = told({"default_generation_settings": {"n_ctx": 4096}, "thinking": "effort"})
    found = probe(server(others))
    assert (found.kind, found.models) == ("tenon", (ServedModel("gpt-oss", 4096, "effort"),))


def test_ollama_is_asked_for_each_model(others: Others) -> None:
    others.answers["GET /v1/models"] = models("library", qwen3=None, nomic=None)
    others.answers["GET /api/version"] = told({"version": "0.20.1"})
    others.answers["GET /api/ps"] = told({"models": [{"name": "qwen3", "context_length": 8192}]})

    def show(handler: Handler, body: dict[str, str]) -> None:
        able = ["embedding"] if body["model"] == "nomic" else ["completion", "tools", "thinking"]
        handler.tell({"parameters": 'num_ctx    4096\nstop "a b"', "capabilities": able})

    others.answers["POST /api/show"] = show
    found = probe(server(others))
    assert (found.kind, found.models) == ("ollama", (ServedModel("qwen3", 8192, "switch"),))
    others.answers["GET /api/ps"] = told({"models": []})
    assert probe(server(others)).models[0].context == 4096


def test_lm_studio_says_what_is_loaded(others: Others) -> None:
    others.answers["GET /v1/models"] = models("organization_owner", qwen3=None, llama=None, nomic=None)
    of = [
        {
            "id": "qwen3",
            "type": "llm",
            "state": "loaded",
            "max_context_length": 131072,
            "loaded_context_length": 4096,
        },
        {"id": "llama", "type": "llm", "state": "not-loaded", "max_context_length": 8192},
        {"id": "nomic", "type": "embeddings", "state": "not-loaded", "max_context_length": 2048},
    ]
    others.answers["GET /api/v0/models"] = told({"object": "list", "data": of})
    found = probe(server(others))
    assert found.kind == "lmstudio"
    assert [(model.name, model.context) for model in found.models] == [("qwen3", 4096), ("llama", 8192)]


def test_any_other_is_one_of_the_protocol(others: Others) -> None:
    found = probe(server(others))
    assert (found.kind, found.models) == ("", (ServedModel("talker"),))


def test_the_key_is_sent_and_nothing_of_it_kept(others: Others) -> None:
    found = probe(server(others), "sk-12345678")
    assert {headers.get("authorization") for _, headers, _ in others.seen} == {"Bearer sk-12345678"}
    assert "sk-12345678" not in repr(found)


def test_a_redirect_is_not_followed_and_the_key_not_carried(others: Others) -> None:
    with server_of_others() as elsewhere:
        place = f"{elsewhere.address}/v1/models"
        others.answers["GET /v1/models"] = told({}, 307, Location=place)
        with pytest.raises(RemoteUnreachable, match="redirects every request to") as raised:
            probe(server(others), "sk-12345678")
        assert place in raised.value.message
        assert elsewhere.seen == []


@pytest.mark.parametrize(
    ("status", "key", "sentence"),
    [
        (401, None, "wants a key"),
        (401, "sk-12345678", "does not accept the key"),
        (403, "sk-12345678", "does not"),
    ],
)
def test_a_wrong_key_is_said(others: Others, status: int, key: str | None, sentence: str) -> None:
    others.answers["GET /v1/models"] = told({"error": {"message": "Unauthorized"}}, status)
    with pytest.raises(RemoteRefused, match=sentence):
        probe(server(others), key)


@pytest.mark.parametrize(
    "answer",
    [
        "<html>Sign in</html>",
        [],
        {"data": 5},
        {"models": []},
        {"data": [{"name": 1}]},
        "null",
        {"data": ["x"]},
    ],
)
def test_something_else_is_no_server(others: Others, answer: object) -> None:
    others.answers["GET /v1/models"] = told(answer)
    if answer == {"data": ["x"]}:
        assert probe(server(others)).models == ()
        return
    with pytest.raises(RemoteUnreachable, match="No model server that speaks"):
        probe(server(others))


def test_nobody_there(others: Others) -> None:
    del others.answers["GET /v1/models"]
    with pytest.raises(RemoteUnreachable, match="No model server that speaks"):
        probe(server(others))
    with pytest.raises(RemoteUnreachable, match=r"cannot be reached at http://127\.0\.0\.1:9"):
        probe(Endpoint("nobody", "http://127.0.0.1:9"))


@pytest.mark.parametrize(
    ("status", "headers", "sentence"),
    [
        (429, {"Retry_After": "7"}, "in 7 s"),
        (429, {}, "in a minute"),
        (429, {"Retry_After": "soon"}, "in a minute"),
        (503, {}, "is starting"),
        (503, {"Retry_After": "2"}, "in 2 s"),
    ],
)
def test_a_busy_server_says_when(others: Others, status: int, headers: dict[str, str], sentence: str) -> None:
    others.answers["GET /v1/models"] = told({"error": "busy"}, status, **headers)
    with pytest.raises(RemoteBusy, match=sentence):
        probe(server(others))


def test_other_trouble_is_told_in_the_servers_words(others: Others) -> None:
    others.answers["GET /v1/models"] = told({"error": {"message": "out of\ncheese " + "x" * 500}}, 418)
    with pytest.raises(RemoteError, match=r"refused the request \(418\): out of cheese x+…$"):
        probe(server(others))


def test_a_key_in_the_clear_is_warned_of() -> None:
    assert "unencrypted" in unencrypted(Endpoint("desk", "http://desk"), True)
    assert unencrypted(Endpoint("desk", "http://desk"), False) == ""
    assert unencrypted(Endpoint("desk", "https://desk"), True) == ""
    assert unencrypted(Endpoint("desk", "http://127.0.0.1:8"), True) == ""
