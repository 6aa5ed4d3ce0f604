"""Servers as they are kept: addresses, names, keys."""

from __future__ import annotations

import keyring
import pytest
from keyring.backends import fail

from engine.errors import InvalidOption, KeyNotKept, ModelNotFound
from engine.hub.endpoints import (
    FILE_NAME,
    Endpoint,
    ServedModel,
    endpoints,
    find_remote,
    forget_endpoint,
    free_name,
    keep_endpoint,
    read_address,
    remote_name,
)
from engine.hub.installed import find_model
from engine.hub.model_folders import data_folder


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("desk:8000", "http://desk:8000"),
        (" http://Desk:8000/v1/ ", "http://desk:8000"),
        ("https://models.example.org/v1/chat/completions", "https://models.example.org"),
        ("https://example.org/api/v1", "https://example.org/api"),
        ("http://[::1]:8080", "http://[::1]:8080"),
    ],
)
def test_an_address_is_taken_as_people_paste_it(typed: str, kept: str) -> None:
    assert read_address(typed) == kept


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "ftp://desk",
        "http://",
        "http://desk:99999",
        "http://a b",
        "http://desk/?key=x",
        "file:///etc/passwd",
    ],
)
def test_what_is_no_address_is_refused(typed: str) -> None:
    with pytest.raises(InvalidOption, match="no address of a server"):
        read_address(typed)


def test_a_key_in_an_address_is_refused() -> None:
    with pytest.raises(InvalidOption, match="give the key by itself"):
        read_address("https://user:secret@example.org")


def test_names_are_the_persons_or_the_hosts() -> None:
    assert free_name("http://desk:8000") == "desk:8000"
    keep_endpoint(Endpoint("desk:8000", "http://desk:8000"))
    assert free_name("http://desk:8000") == "desk:8000"  # the same server, asked again
    assert free_name("https://desk:8000") == "desk:8000 (2)"
    assert free_name("http://other", "lab") == "lab"
    for wrong in ("a/b", "x" * 50, "desk:8000"):
        with pytest.raises(InvalidOption):
            free_name("http://other", wrong)


def test_a_server_is_kept_without_its_key() -> None:
    server = Endpoint("desk", "https://desk:8000", "vllm", (ServedModel("Qwen/Qwen3-8B", 32768, "switch"),))
    keep_endpoint(server)
    server.keep_key(" sk-12345678 ")
    assert endpoints() == (server,)
    assert server.key() == "sk-12345678"
    assert "sk-12345678" not in (data_folder() / FILE_NAME).read_text()
    reference = server.reference("Qwen/Qwen3-8B")
    assert find_remote(reference) == (server, "Qwen/Qwen3-8B")
    assert remote_name(reference) == "Qwen3-8B"
    forget_endpoint("desk")
    assert (endpoints(), server.key()) == ((), None)
    with pytest.raises(ModelNotFound, match="no server 'desk'"):
        find_remote(reference)


def test_a_key_is_of_its_address() -> None:
    Endpoint("desk", "https://desk").keep_key("sk-12345678")
    assert Endpoint("desk", "https://elsewhere").key() is None
    assert Endpoint("desk", "http://desk").key() is None


def test_without_a_keyring_the_environment_has_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    keyring.set_keyring(fail.Keyring())
    server = Endpoint("my desk", "https://desk")
    with pytest.raises(KeyNotKept, match="TENON_KEY_MY_DESK"):
        server.keep_key("sk-12345678")
    monkeypatch.setenv("TENON_KEY_MY_DESK", "sk-87654321")
    assert server.key() == "sk-87654321"


def test_a_variable_is_of_one_server(monkeypatch: pytest.MonkeyPatch) -> None:
    keyring.set_keyring(fail.Keyring())
    monkeypatch.setenv("TENON_KEY_MY_DESK", "sk-87654321")
    first = Endpoint("my desk", "https://desk")
    keep_endpoint(first)
    for name in ("my-desk", "My Desk", "my_desk"):
        other = Endpoint(name, "https://evil")
        with pytest.raises(InvalidOption, match="key of 'my desk'"):
            free_name(other.address, name)
        assert other.key() is None
        keep_endpoint(other)  # a list of another version may have it
        assert (other.key(), first.key()) == (None, "sk-87654321")
    keep_endpoint(Endpoint("desk:8000", "http://desk:8000"))
    assert free_name("http://desk.8000") == "desk.8000 (2)"
    assert free_name("https://x", "书桌") == "书桌"
    keep_endpoint(Endpoint("书桌", "https://x"))
    assert free_name("https://y", "电脑") == "电脑"


@pytest.mark.parametrize("key", ["", "two words", "schlüssel", "a\nb"])
def test_what_is_no_key_is_refused(key: str) -> None:
    with pytest.raises(InvalidOption, match="not a key"):
        Endpoint("desk", "https://desk").keep_key(key)


def test_what_needs_files_says_that_they_are_elsewhere() -> None:
    keep_endpoint(Endpoint("desk", "https://desk"))
    with pytest.raises(ModelNotFound, match="runs on the server desk"):
        find_model("remote:desk/qwen3")


def test_a_damaged_list_is_an_empty_one() -> None:
    keep_endpoint(Endpoint("desk", "https://desk"))
    (data_folder() / FILE_NAME).write_text('{"servers": [{"name": 5}]}')
    assert endpoints() == ()


@pytest.mark.parametrize(
    ("address", "here"),
    [
        ("http://127.0.0.1:80", True),
        ("http://localhost:80", True),
        ("http://[::1]:80", True),
        ("http://desk", False),
        ("http://127.0.0.1.example.org", False),
    ],
)
def test_a_program_of_this_computer_is_known_by_its_address(address: str, here: bool) -> None:
    assert Endpoint("x", address).is_here is here
