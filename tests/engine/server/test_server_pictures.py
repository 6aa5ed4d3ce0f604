"""Pictures in the words of each protocol."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.documents.pictures import read_picture
from engine.messages import Generate, LoadOptions, Picture
from engine.server.exchange import turn, with_pictures_read
from engine.server.fields import Fields
from engine.server.refusal import Refused
from engine.tools import own_tools
from tests.support.hub_server import HubServer
from tests.support.model_server import Running, serve_command
from tests.support.seeing import drawing, write_seeing

PICTURE = io.BytesIO()
drawing(64, 40).save(PICTURE, "PNG")
BASE64 = base64.b64encode(PICTURE.getvalue()).decode()
URL = f"data:image/png;base64,{BASE64}"
ANTHROPIC_URL = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}


@pytest.fixture(scope="module")
def seeing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("model")
    write_seeing(folder, "gemma3")
    with serve_command(folder, tmp_path_factory.mktemp("serve"), "--weights", "fp32") as (running, _):
        yield running


def openai(url: object) -> dict[str, Any]:
    parts = [{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": url}]
    return {"messages": [{"role": "user", "content": parts}], "max_tokens": 4, "temperature": 0}


def anthropic(data: str) -> dict[str, Any]:
    source = {"type": "base64", "media_type": "image/png", "data": data}
    parts = [{"type": "text", "text": "Look:"}, {"type": "image", "source": source}]
    return {"messages": [{"role": "user", "content": parts}], "max_tokens": 4, "temperature": 0}


def ollama(data: str) -> dict[str, Any]:
    turns = [{"role": "user", "content": "Look:", "images": [data]}]
    return {"messages": turns, "stream": False, "options": {"num_predict": 4, "temperature": 0}}


def test_each_protocol_takes_a_picture(seeing: Running) -> None:
    post = seeing.http.post
    chat = post("/v1/chat/completions", json=openai({"url": URL})).json()
    assert chat["usage"]["prompt_tokens"] > 16
    said = chat["choices"][0]["message"]["content"]
    assert post("/v1/messages", json=anthropic(BASE64)).json()["content"][0]["text"] == said
    assert post("/api/chat", json=ollama(BASE64)).json()["prompt_eval_count"] > 16
    one = {"prompt": "Look:", "images": [BASE64], "stream": False, "options": {"num_predict": 4}}
    assert post("/api/generate", json=one).json()["prompt_eval_count"] > 16
    counted = post("/v1/messages/count_tokens", json=anthropic(BASE64)).json()["input_tokens"]
    assert counted == chat["usage"]["prompt_tokens"]
    items = [{"type": "input_text", "text": "Look:"}, {"type": "input_image", "image_url": URL}]
    wanted = {"input": [{"role": "user", "content": items}], "max_output_tokens": 4}
    assert post("/v1/responses", json=wanted).json()["usage"]["input_tokens"] == counted


def test_the_server_says_that_its_model_sees(seeing: Running, server: Running) -> None:
    for running, sees in ((seeing, True), (server, False)):
        assert running.http.get("/props").json()["modalities"]["vision"] is sees
        model = running.http.get("/v1/models").json()["data"][0]
        assert ("image" in model["architecture"]["input_modalities"]) is sees
        assert ("vision" in running.http.post("/api/show", json={}).json()["capabilities"]) is sees


@pytest.mark.parametrize(
    ("path", "body", "sentence"),
    [
        ("/v1/chat/completions", openai({"url": "https://example.org/a.png"}), "fetches none from elsewhere"),
        ("/v1/chat/completions", openai({"url": "data:image/png;base64,%%%"}), "must be a picture in base64"),
        ("/v1/chat/completions", openai({"url": "data:image/svg+xml;base64,PHN2Zz4="}), "is no PNG"),
        ("/v1/messages", {"messages": [{"role": "user", "content": [ANTHROPIC_URL]}], "max_tokens": 4}, "fetches none"),
        ("/v1/messages", anthropic("%"), "must be a picture in base64"),
        ("/api/chat", ollama("%"), "must be a picture in base64"),
        ("/api/generate", {"prompt": "Look:", "raw": True, "images": [BASE64]}, "no place for pictures"),
        ("/api/generate", {"prompt": "Look:", "images": [BASE64] * 101}, "100 pictures at most"),
        ("/v1/messages/count_tokens", {"messages": anthropic(BASE64)["messages"] * 101}, "100 pictures at most"),
        ("/v1/chat/completions", {"messages": [{**openai({"url": URL})["messages"][0], "role": "system"}]}, "Only"),
    ],
)
def test_what_is_no_picture_is_refused_in_one_sentence(
    seeing: Running, path: str, body: dict[str, Any], sentence: str
) -> None:
    answer = seeing.http.post(path, json=body)
    assert answer.status_code == 400
    assert sentence in answer.text


def test_pictures_are_fetched_from_the_internet_if_the_user_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The reader that fetches pages for tools, which has its own tests, finds them; here is how it is asked."""
    (tmp_path / "a.png").write_bytes(PICTURE.getvalue())
    with HubServer().running() as web:
        web.add("a/b", {"a.png": PICTURE.getvalue(), "big.png": b"x" * 6000, "a.txt": b"text"})
        place = f"{web.address}/a/b/resolve/main"

        def fetched(url: str, addresses: bool = True) -> Picture:
            turns = [turn(Fields.of_body(json.dumps(openai({"url": url})["messages"][0]).encode()))]
            return with_pictures_read(Generate("", LoadOptions(""), tuple(turns)), addresses).pictures[0]

        for refused in (f"{place}/a.png", "http://10.0.0.1/a.png"):
            with pytest.raises(Refused, match="is on a private network"):
                fetched(refused)
        for none in ("file:///etc/passwd", "data:text/plain,a", str(tmp_path / "a.png"), "http://"):
            with pytest.raises(Refused, match="is no address of a page"):
                fetched(none)
        monkeypatch.setattr(own_tools, "is_public", lambda address: True)
        with pytest.raises(Refused, match="unless it was started with --picture-addresses"):
            fetched(f"{place}/a.png", addresses=False)
        assert not web.requests
        assert fetched(f"{place}/a.png").sha256 == read_picture(PICTURE.getvalue()).sha256
        for name, sentence in (("a.txt", "is no PNG"), ("b.png", "answers with error 404")):
            with pytest.raises(Refused, match=sentence):
                fetched(f"{place}/{name}")
        monkeypatch.setattr("engine.server.exchange.MAX_PICTURE_BYTES", 5000)
        with pytest.raises(Refused, match="does not answer"):
            fetched(f"{place}/big.png")


def test_the_pictures_of_a_request_have_a_time_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are: each alone may take a minute."""
    monkeypatch.setattr("engine.server.exchange._PICTURES_S", 0.0)
    for url in (URL, "https://example.org/a.png"):
        turns = [turn(Fields.of_body(json.dumps(openai({"url": url})["messages"][0]).encode()))]
        with pytest.raises(Refused, match="took more than 0 s: send fewer"):
            with_pictures_read(Generate("", LoadOptions(""), tuple(turns)), addresses=True)


def test_a_model_that_does_not_see_refuses_pictures(server: Running) -> None:
    answer = server.http.post("/v1/chat/completions", json=openai({"url": URL}))
    assert answer.status_code == 400
    assert "does not see pictures" in answer.text


def test_the_command_line_takes_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], checkpoint_of: Callable[[str], Path]
) -> None:
    from engine.cli import main

    write_seeing(tmp_path / "model", "gemma3")
    drawing(64, 40).save(tmp_path / "a.png")
    options = ["--weights", "fp32", "--max-tokens", "4", "--temperature", "0", "--image", str(tmp_path / "a.png")]
    assert main(["ask", "--model", str(tmp_path / "model"), *options, "What is it?"]) == 0
    assert capsys.readouterr().out.strip()
    assert main(["ask", "--model", str(tmp_path / "model"), "--image", str(tmp_path / "b.png"), "What?"]) == 2
    assert capsys.readouterr().err.strip() == (
        f"tenon: There is no file {tmp_path / 'b.png'}: check the path behind --image."
    )
    assert main(["ask", "--model", str(checkpoint_of("llama")), *options, "What?"]) == 2
    assert "does not see pictures" in capsys.readouterr().err
