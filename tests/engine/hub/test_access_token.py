from __future__ import annotations

import huggingface_hub
import keyring
import pytest
from keyring.backends import fail

from engine.errors import InvalidOption, TokenNotKept
from engine.hub.connection import Hub, find_token, forget_token, keep_token
from tests.engine.hub.conftest import MemoryKeyring
from tests.support.hub_server import HubServer


@pytest.fixture(autouse=True)
def _no_token_of_the_client_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.hub.connection.get_token", lambda: None)


def test_a_token_is_kept_found_sent_and_forgotten(secure_server: HubServer) -> None:
    assert find_token() is None
    keep_token("  hf_secret\n")
    assert find_token() == "hf_secret"
    secure_server.add("a/b", {"config.json": b"{}"})
    hub = Hub()
    hub.listing("a/b")
    assert secure_server.authorizations[-1][1] == "Bearer hf_secret"
    hub.close()
    assert forget_token()
    assert not forget_token()
    assert find_token() is None


def test_no_token_means_that_none_is_sent(secure_server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_IMPLICIT_TOKEN", False)
    secure_server.add("a/b", {"config.json": b"{}"})
    hub = Hub()
    hub.listing("a/b")
    hub.read_config("a/b", "main")
    assert {token for _, token in secure_server.authorizations} == {None}
    hub.close()


def test_the_environment_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_token("hf_kept")
    monkeypatch.setenv("HF_TOKEN", "hf_environment")
    assert find_token() == "hf_environment"


@pytest.mark.parametrize("text", ["", "  ", "two words", "hf_ü"])
def test_what_is_no_token_is_refused(text: str) -> None:
    with pytest.raises(InvalidOption, match="not an access token"):
        keep_token(text)


def test_a_keyring_that_breaks_is_a_system_without_one() -> None:
    class Broken(MemoryKeyring):
        def get_password(self, service: str, username: str) -> str | None:
            raise OSError("the bus is gone")

        def set_password(self, service: str, username: str, password: str) -> None:
            raise RuntimeError("the bus is gone")

    keyring.set_keyring(Broken())
    assert find_token() is None
    with pytest.raises(TokenNotKept, match="no keyring"):
        keep_token("hf_secret")


def test_a_system_without_a_keyring_is_told_another_way() -> None:
    keyring.set_keyring(fail.Keyring())
    assert find_token() is None
    with pytest.raises(TokenNotKept, match="no keyring"):
        keep_token("hf_secret")
    with pytest.raises(TokenNotKept, match="no keyring"):
        forget_token()
