"""The page for phones: who comes in, with what, and what guesses, other pages and strangers get."""

from __future__ import annotations

import json
import re
import socket
import time
from base64 import b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from engine.errors import FileRefused, InvalidOption
from engine.sentences import speak
from engine.server import phone_page, phones
from engine.server.phone_page import WORDS
from engine.server.phones import MOST_PHONES, Guesses, Phones, is_local, local_addresses, name_of, page_addresses
from tests.support.model_server import Running, scripted_server

IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 Version/18.5 Mobile Safari/604.1"
ASKED = {"messages": [{"role": "user", "content": "say 4"}], "stream": True}


@pytest.fixture(autouse=True)
def _own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENON_DATA_DIR", str(tmp_path))


@pytest.fixture
def door() -> Phones:
    return Phones()


@pytest.fixture
def page(door: Phones) -> Iterator[Running]:
    with scripted_server(door=door) as running:
        running.http.headers.pop("Authorization")
        yield running


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def enter(page: Running, door: Phones, agent: str = IPHONE) -> str:
    answer = page.http.post("/enter", headers={**bearer(door.code), "User-Agent": agent})
    assert answer.status_code == 200
    return str(answer.json()["key"])


def test_a_phone_comes_in_with_the_code_once_and_chats_with_a_key_of_its_own(page: Running, door: Phones) -> None:
    code = door.code
    key = enter(page, door)
    assert key not in {code, door.code}
    assert page.http.post("/enter", headers=bearer(code)).status_code == 401, "the code holds once"
    assert page.http.get("/v1/models", headers=bearer(key)).json()["data"][0]["id"] == "scripted"
    with page.http.stream("POST", "/v1/chat/completions", headers=bearer(key), json=ASKED) as answer:
        lines = [line for line in answer.iter_lines() if line]
    assert lines[-1] == "data: [DONE]"
    assert "w0" in "".join(lines)
    (phone,) = door.listed()
    assert (phone.name, phone.address) == ("iPhone, Safari", "127.0.0.1")
    assert phone.seen >= phone.since > 0
    other = enter(page, door, "Mozilla/5.0 (Linux; Android 15; K) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36")
    assert other != key
    assert [one.name for one in Phones().listed()] == ["iPhone, Safari", "Android, Chrome"]


def test_no_file_has_a_key_or_the_code(page: Running, door: Phones, tmp_path: Path) -> None:
    code, key = door.code, enter(page, door)
    kept = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert any(b"iPhone" in content for content in kept)
    assert not [content for content in kept if key.encode() in content or code.encode() in content]


def test_a_phone_that_is_removed_loses_its_reply_and_its_key_and_another_one_keeps_both(
    page: Running, door: Phones
) -> None:
    gone, stays = enter(page, door), enter(page, door)
    slow = {"messages": [{"role": "user", "content": "slow 100000"}], "stream": True}
    with page.http.stream("POST", "/v1/chat/completions", headers=bearer(gone), json=slow) as answer:
        pieces = answer.iter_bytes()
        next(pieces)
        door.remove(door.listed()[0].digest)
        with pytest.raises(httpx2.RemoteProtocolError):
            for _ in pieces:
                pass
    assert page.http.get("/v1/models", headers=bearer(gone)).status_code == 401
    assert page.http.get("/v1/models", headers=bearer(stays)).status_code == 200
    assert page.link is not None
    while page.link.running:  # the engine is free
        time.sleep(0.01)
    code = door.code
    Phones().remove()  # another process ends all
    assert page.http.get("/v1/models", headers=bearer(stays)).status_code == 401
    door.remove()
    assert door.code != code


def test_a_phone_that_leaves_is_removed(page: Running, door: Phones) -> None:
    key = enter(page, door)
    assert page.http.post("/leave", headers=bearer(key)).status_code == 204
    assert door.listed() == ()
    assert page.http.post("/leave", headers=bearer(key)).status_code == 401


def test_the_page_needs_nothing_from_outside_and_lets_nothing_in(page: Running) -> None:
    answer = page.http.get("/")
    assert answer.status_code == 200
    text, policy = answer.text, answer.headers["content-security-policy"]
    assert set(re.findall(r"https?://[\w.]+", text)) == set()
    assert re.findall(r'(?:src|href)="([^"]*)"', text) == ["data:,"]
    assert not re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|eval|style=", text)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for part in ("script", "style"):
        inside = re.findall(rf"<{part}>(.*?)</{part}>", text, re.DOTALL)
        assert len(inside) == 1
        assert f"'sha256-{b64encode(sha256(inside[0].encode()).digest()).decode()}'" in policy
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "no-referrer"


def test_the_page_says_its_words_in_the_window_s_language(page: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENON_LANGUAGE", "en")
    table = re.search(r'id="words">(.*?)</script>', page.http.get("/").text)
    assert table is not None
    assert json.loads(table[1]) == WORDS
    monkeypatch.setattr(phone_page, "translated", lambda text: f"</script>{text}")
    speak("xx")
    text = page.http.get("/").text
    assert '<html lang="xx">' in text
    assert text.count("</script>") == 2, "no word ends the table"
    named = re.search(r"Object\.entries\(\{(.*?)\}\)", text)
    assert named is not None
    used = {*re.findall(r"words\.(\w+)", text), *re.findall(r"'(\w+)'", named[1])}
    assert used <= set(WORDS)
    assert set(WORDS) - used == {"context_length_exceeded", "engine_stopped", "invalid_api_key"}, "codes of errors"


@pytest.mark.parametrize("path", ["/v1/models", "/v1/chat/completions", "/enter", "/leave", "/", "/nowhere"])
def test_no_other_page_and_no_other_name_gets_an_answer(page: Running, door: Phones, path: str) -> None:
    key = door.code if path == "/enter" else enter(page, door)
    own = page.address
    name = urlsplit(own).netloc
    for headers, status in (
        ({"Host": f"evil.example:{urlsplit(own).port}"}, 403),
        ({"Host": f"127.0.0.1.evil.example:{urlsplit(own).port}"}, 403),
        ({"Host": ""}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1"}, 403),
        ({"Origin": f"https://{name}"}, 403),
        ({"Host": "192.168.1.5:8367", "Origin": "http://192.168.1.6:8367"}, 403),
    ):
        for method in ("GET", "POST", "OPTIONS"):
            answer = page.http.request(method, path, headers={**bearer(key), **headers}, json={})
            assert answer.status_code == status, (method, headers)
            assert not [one for one in answer.headers if one.startswith("access-control")]
    assert page.http.options(path, headers=bearer(key)).status_code == 403
    assert page.http.get("/v1/models", headers={"Origin": own}).status_code == 401


def test_a_phone_reaches_nothing_that_the_page_does_not_need(page: Running, door: Phones) -> None:
    key = enter(page, door)
    for path in ("/metrics", "/props", "/api/tags", "/v1/completions", "/v1/messages", "/health", "/../phones.json"):
        assert page.http.get(path).status_code == 401, path
        assert page.http.get(path, headers=bearer(key)).status_code == 404, path


def test_addresses_of_the_internet_get_no_answer(page: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [is_local(one) for one in ("192.168.1.5", "10.0.0.1", "100.101.1.2", "169.254.1.1", "127.0.0.1")] == [
        True
    ] * 5
    assert [is_local(one) for one in ("8.8.8.8", "2001:4860:4860::8888", "", "phone")] == [False] * 4
    monkeypatch.setattr(phone_page, "is_local", lambda address: False)
    assert page.http.get("/").status_code == 403


# --- guesses ----------------------------------------------------------------------------------------------------


def source(address: str) -> httpx2.Client:
    """A client with another address of this computer."""
    return httpx2.Client(transport=httpx2.HTTPTransport(local_address=address), trust_env=False, timeout=60)


def guess(page: Running, path: str, count: int, answered: list[int], address: str = "127.0.0.9") -> None:
    with source(address) as client:
        for number in range(count):
            asked = client.post(f"{page.address}{path}", headers=bearer(f"guess-{number}"), json=ASKED)
            answered.append(asked.status_code)


def check_guesses(page: Running, door: Phones, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Guesses are as many as said, of which few are looked at, and phones come in, chat and stay meanwhile."""
    looked: list[str] = []
    for name in ("find", "opens"):
        real = getattr(Phones, name)

        def noted(self: Phones, key: str, real: Any = real) -> Any:
            looked.append(key)
            return real(self, key)

        monkeypatch.setattr(Phones, name, noted)
    answered: list[int] = []
    before = enter(page, door)  # from an address that will guess as well
    with ThreadPoolExecutor(4) as threads:
        guessing = [
            threads.submit(guess, page, path, count // 4, answered, address)
            for path in ("/enter", "/v1/chat/completions")
            for address in ("127.0.0.9", "127.0.0.10")
        ]
        chats = 0
        with source("127.0.0.2") as phone:
            key = phone.post(f"{page.address}/enter", headers=bearer(door.code)).json()["key"]
            while chats < 3 or not all(one.done() for one in guessing):
                for own in (key, before):
                    answer = phone.post(f"{page.address}/v1/chat/completions", headers=bearer(own), json=ASKED)
                    assert answer.text.endswith("data: [DONE]\n\n")
                chats += 1
        for one in guessing:
            one.result()
    guessed = [key for key in looked if key.startswith("guess-")]
    assert len(answered) == count
    assert set(answered) == {401, 429}
    assert answered.count(401) == len(guessed)
    assert len(door.listed()) == 2
    assert len(guessed) < 100


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="127.0.0.9 is this computer's own on Linux alone")
def test_guesses_are_slowed_and_keep_no_phone_out(page: Running, door: Phones, monkeypatch: pytest.MonkeyPatch) -> None:
    check_guesses(page, door, monkeypatch, 400)


@pytest.mark.slow
def test_ten_thousand_guesses_neither_get_in_nor_keep_a_phone_out(
    page: Running, door: Phones, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_guesses(page, door, monkeypatch, 10_000)


def test_a_guesser_s_keys_are_looked_at_ever_more_rarely_and_others_at_once() -> None:
    now = [1000.0]
    guesses = Guesses(lambda: now[0])

    def looked_at(address: str, count: int) -> int:
        found = 0
        for _ in range(count):
            if guesses.admits(address):
                guesses.count(address)
                found += 1
        return found

    assert looked_at("a", 10_000) == 10
    assert guesses.admits("b")
    now[0] += 10
    assert looked_at("a", 10_000) == 1
    now[0] += 1000
    assert looked_at("a", 10_000) == 10
    many = sum(looked_at(f"{number}", 100) for number in range(2000))
    assert 2000 <= many <= 2000 + 60, "after the first of an address all have one bound"
    assert len(guesses._wrong) <= phones._MOST_ADDRESSES
    assert guesses.admits("fresh")


def test_an_address_that_guessed_long_ago_is_looked_at_while_others_guess() -> None:
    now = [1000.0]
    guesses = Guesses(lambda: now[0])
    guesses.count("a")
    now[0] += 100
    for number in range(100):
        guesses.count(f"other {number}")
    assert guesses.admits("a")
    assert not guesses.admits("other 1")


def test_a_phone_that_was_here_is_looked_at_though_its_address_guesses(page: Running, door: Phones) -> None:
    key = enter(page, door)
    statuses = [page.http.get("/v1/models", headers=bearer(f"wrong-{number}")).status_code for number in range(40)]
    assert statuses == [401] * 40, "one who shares the phone's address cannot keep it out"
    assert page.http.get("/v1/models", headers=bearer(key)).status_code == 200
    door.remove()
    assert page.http.get("/v1/models", headers=bearer(key)).status_code == 429
    assert page.http.get("/").status_code == 200


# --- the list ---------------------------------------------------------------------------------------------------


def test_the_list_is_bounded_and_two_who_read_one_code_get_one_key(door: Phones) -> None:
    for number in range(MOST_PHONES - 1):
        door.enter(door.code, f"iPhone {number}", "127.0.0.1")
    code = door.code
    with ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(door.enter, code, "Android", "127.0.0.1") for _ in range(8)]
    errors = [one.exception() for one in asked]
    assert errors.count(None) == 1
    assert {str(one) for one in errors if one} == {"This code was used already: scan the one that Tenon shows now."}
    with pytest.raises(InvalidOption, match="32 phones came in already"):
        door.enter(door.code, "", "")


def test_a_list_that_cannot_be_written_is_one_sentence_and_the_phone_tries_again(
    page: Running, door: Phones, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = enter(page, door)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(phones, "change_list", full)
    answer = page.http.post("/enter", headers=bearer(door.code))
    assert (answer.status_code, "the disk is full" in answer.json()["error"]["message"]) == (503, True)
    with pytest.raises(FileRefused):
        door.remove()
    monkeypatch.setattr(phones, "_SEEN_S", -1.0)
    assert page.http.get("/v1/models", headers=bearer(key)).status_code == 200
    monkeypatch.undo()


def test_phones_are_named_by_system_and_browser() -> None:
    assert name_of("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Gecko/20100101 Firefox/142.0") == "Mac, Firefox"
    assert name_of("Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 Safari/537.36 Edg/140.0") == "Windows, Edge"
    assert name_of("curl/8\n<b>") == "?"


def test_the_page_is_at_addresses_of_this_computer_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not [one for one in local_addresses() if one.startswith("127.")]
    monkeypatch.setattr(phones, "local_addresses", lambda: ["192.168.1.5", "100.64.0.7"])
    assert page_addresses("") == ["192.168.1.5", "100.64.0.7"]
    assert page_addresses("100.64.0.7") == ["100.64.0.7"]
    assert page_addresses("127.0.0.1") == ["127.0.0.1"]
    with pytest.raises(InvalidOption, match=r"192\.168\.1\.5, 100\.64\.0\.7 and 127\.0\.0\.1, and not 8\.8\.8\.8"):
        page_addresses("8.8.8.8")
    monkeypatch.setattr(phones, "local_addresses", list)
    with pytest.raises(InvalidOption, match="no local network"):
        page_addresses("")
