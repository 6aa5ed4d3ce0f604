from __future__ import annotations

import socket
from pathlib import Path

import huggingface_hub
import pytest

from engine.errors import AccessDenied, HubBusy, HubError, HubUnreachable, InvalidOption, NotOnHub
from engine.hub.connection import Hub, httpx2
from engine.hub.file_server import unreachable
from tests.support.hub_server import HubServer

CONFIG = b'{"architectures": ["LlamaForCausalLM"]}'


def test_a_listing_has_sizes_hashes_and_terms(hub: Hub, server: HubServer) -> None:
    server.add("a/b", {"config.json": CONFIG, "model.safetensors": b"x" * 5000}, gated=True)
    listing = hub.listing("a/b")
    assert (listing.commit, listing.gated, listing.licence) == ("1" * 40, True, "apache-2.0")
    small, large = listing.files
    assert (small.size_bytes, small.sha256, large.size_bytes) == (len(CONFIG), None, 5000)
    assert small.git_oid is not None
    assert len(large.sha256) == 64


def test_a_config_is_read_without_a_download(hub: Hub, server: HubServer) -> None:
    server.add("a/b", {"config.json": CONFIG, "list.json": b"[]", "text.json": b"hello"})
    assert hub.read_config("a/b", "main") == {"architectures": ["LlamaForCausalLM"]}
    assert server.requests[-1][2] is None  # an empty file has no range
    for name in ("list.json", "text.json", "none.json"):
        with pytest.raises(NotOnHub):
            hub.read_config("a/b", "main", name)


def test_what_the_hub_has_not_is_said(hub: Hub, server: HubServer) -> None:
    server.add("a/b", {"config.json": CONFIG})
    with pytest.raises(NotOnHub, match="hides it from you"):
        hub.listing("a/c")
    with pytest.raises(NotOnHub, match="no such revision"):
        hub.listing("a/b", "v9")
    with pytest.raises(InvalidOption, match="like owner/name"):
        hub.listing("a/b/c d")


def test_a_token_that_is_not_accepted_is_said(secure_server: HubServer) -> None:
    hub = Hub(token="hf_old")
    with pytest.raises(AccessDenied, match="does not accept the access token"):
        hub.listing("a/c")
    assert secure_server.authorizations[-1][1] == "Bearer hf_old"
    hub.close()


def test_no_token_is_sent_without_encryption(server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.add("a/b", {"config.json": CONFIG}, gated=True)
    monkeypatch.setenv("HF_TOKEN", "hf_mine")
    for hub in (Hub(), Hub(token="hf_mine"), Hub(endpoint=server.address.upper(), token="hf_mine")):
        hub.listing("a/b")
        with pytest.raises(AccessDenied, match="the connection is not encrypted"):
            hub.read_config("a/b", "main")
        hub.close()
    assert {token for _, token in server.authorizations} == {None}


@pytest.mark.parametrize("elsewhere", ["another host", "another port", "no encryption"])
def test_a_token_stays_behind_where_the_hub_sends_elsewhere(
    secure_server: HubServer, server: HubServer, certificate: Path, elsewhere: str
) -> None:
    with HubServer(certificate=certificate).running() as other:
        home = {
            "another host": secure_server.storage,
            "another port": other.address,
            "no encryption": server.address,
        }[elsewhere]
        content = b"{" + b" " * 5000 + b"}"
        for one in (secure_server, server, other):
            one.add("a/b", {"config.json": content})
        secure_server.storage = home
        secure_server.tokens.add("hf_mine")
        secure_server.repos["a/b"].gated = True
        secure_server.api_storage = home
        hub = Hub(endpoint=secure_server.address, token="hf_mine")
        assert hub.read_config("a/b", "main") == {}
        assert hub.listing("a/b").commit == "1" * 40
        hub.close()
        seen = [
            (path, token)
            for one in (secure_server, server, other)
            for path, token in one.authorizations
            if "/elsewhere/" in path or path.startswith("/storage/")
        ]
    assert len(seen) == 2
    assert {token for _, token in seen} == {None}


def test_a_busy_hub_is_not_waited_for_unasked(hub: Hub, server: HubServer) -> None:
    for status in (429, 503):
        server.api_status = status
        before = len(server.requests)
        with pytest.raises(HubBusy, match="try again"):
            hub.listing("a/b")
        assert len(server.requests) == before + 1


def test_nobody_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        hub = Hub(endpoint=f"http://127.0.0.1:{unused.getsockname()[1]}")
        with pytest.raises(HubUnreachable, match="cannot be reached"):
            hub.listing("a/b")
        hub.close()


def test_what_answers_is_no_hub(server: HubServer) -> None:
    server.add("a/b", {})
    server.repos["a/b"].more = {"siblings": "a sign-in page"}
    hub = Hub()
    with pytest.raises(HubUnreachable, match="is not a hub"):
        hub.listing("a/b")
    hub.close()


def test_offline_mode_is_kept() -> None:
    hub = Hub(endpoint="http://127.0.0.1:9")
    with pytest.raises(HubUnreachable, match="offline mode"):
        hub.listing("a/b")
    with pytest.raises(HubUnreachable, match="offline mode"):
        hub.read_config("a/b", "main")
    hub.close()


def test_the_mirror_is_read_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    assert Hub().endpoint == "https://huggingface.co"
    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.example/")
    assert Hub().endpoint == "https://mirror.example"
    assert Hub().file_url("a/b", "c", "d.gguf") == "https://mirror.example/a/b/resolve/c/d.gguf"
    monkeypatch.setenv("HF_ENDPOINT", "mirror.example")
    with pytest.raises(InvalidOption, match="must look like https://"):
        Hub()


def test_a_proxy_is_taken_from_the_environment(server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.address)
    monkeypatch.delenv("NO_PROXY", raising=False)
    hub = Hub(endpoint="http://hub.invalid")
    with pytest.raises(HubError):
        hub.listing("a/b")
    assert [path for _, path, _ in server.requests] == ["/api/models/a/b/revision/main"]
    hub.close()


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (httpx2.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed"), "certificate of hub.example is not"),
        (
            httpx2.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate is not yet valid"),
            "The clock of this computer is behind",
        ),
        (httpx2.ProxyError("407"), "proxy refuses"),
        (httpx2.ReadTimeout("slow"), "in time"),
        (httpx2.TooManyRedirects("20"), "without end"),
        (httpx2.UnsupportedProtocol("ftp"), "cannot be reached: check its address"),
        (httpx2.ReadError("reset"), "broke off"),
    ],
)
def test_every_failure_has_its_sentence(error: Exception, sentence: str) -> None:
    found = unreachable(error, "hub.example")
    assert sentence in found.message
    assert "\n" not in found.message


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:9", "proxy cannot be used"),
        ("HTTPS_PROXY", "nonsense://[", "proxy cannot be used"),
        ("SSL_CERT_FILE", "/no/such/file", "certificates that the environment names"),
    ],
)
def test_an_environment_that_cannot_be_used_is_said(
    variable: str, value: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(HubUnreachable, match=sentence):
        Hub()


def test_a_second_connection_does_not_cut_off_what_the_first_one_asks(hub: Hub) -> None:
    first = huggingface_hub.get_session()
    Hub(stall_s=hub.stall_s).close()
    assert huggingface_hub.get_session() is first
    assert not first.is_closed
