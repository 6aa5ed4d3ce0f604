"""What a model said before is guessed when it says it again: in its own pool alone, and not after it was forgotten."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.decoding.worth import Worth
from engine.messages import EarlierReplies, Finished, ForgetReplies, Generate, KeptChat, Ping, Pong, Reply
from tests.support.checkpoints import write_checkpoint
from tests.support.engine_client import EngineClient, engine_client

CHATS = EarlierReplies("chats", "1")
PROMPT = "One of the lights went out, and nobody knew why."


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("earlier") / "model", "llama")


@pytest.fixture(autouse=True)
def _whole_drafts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verify each draft as a whole, whatever the clock says of its worth."""
    monkeypatch.setattr(Worth, "choose", lambda self, draft: draft)


@pytest.fixture
def client() -> Iterator[EngineClient]:
    with engine_client() as client:
        yield client


def asked(client: EngineClient, model: Path, earlier: EarlierReplies | None, prompt: str = PROMPT) -> Generate:
    request = client.request(prompt, model, mode="lookup", max_tokens=40, earlier=earlier, temperature=1.0, seed=3)
    return replace(request, options=replace(request.options, mode_options={}))


def said(client: EngineClient, model: Path, earlier: EarlierReplies | None, prompt: str = PROMPT) -> Reply:
    finished = client.finish(asked(client, model, earlier, prompt))
    assert isinstance(finished, Finished), finished
    return finished.reply


def forget(client: EngineClient, earlier: EarlierReplies) -> None:
    client.engine.submit(ForgetReplies(earlier))
    client.engine.submit(Ping(1))
    client.wait_for(Pong)


def noted(client: EngineClient) -> set[int]:
    return {token for texts in client.engine._earlier.values() for token in texts.tokens if token >= 0}


def test_the_same_question_takes_fewer_rounds(client: EngineClient, model: Path) -> None:
    first = said(client, model, CHATS)
    again = said(client, model, replace(CHATS, chat="2"))
    assert again.token_ids == first.token_ids
    assert (again.timings.draft_n_accepted or 0) > (first.timings.draft_n_accepted or 0) + 10
    for elsewhere in (None, EarlierReplies("programs")):
        alone = said(client, model, elsewhere)
        assert alone.token_ids == first.token_ids
        assert alone.timings.draft_n_accepted == first.timings.draft_n_accepted


def test_another_load_of_the_model_remembers(client: EngineClient, model: Path) -> None:
    first = said(client, model, CHATS)
    request = asked(client, model, CHATS)
    finished = client.finish(replace(request, options=replace(request.options, context=128)))
    assert isinstance(finished, Finished)
    assert (finished.reply.timings.draft_n_accepted or 0) > (first.timings.draft_n_accepted or 0) + 10


def test_an_erased_chat_leaves_nothing_in_memory_or_on_the_disk(
    client: EngineClient, model: Path, tmp_path: Path
) -> None:
    other = said(client, model, replace(CHATS, chat="2"), "Nothing of this is erased.")
    first = said(client, model, CHATS)
    words = bytes(memoryview(client.engine._earlier[next(iter(client.engine._earlier))].tokens))
    needle = b"".join(token.to_bytes(4, "little") for token in first.token_ids[:24])
    assert needle in words
    forget(client, CHATS)
    assert noted(client) == {*other.prompt_ids, *other.token_ids}
    gc.collect()
    held = [one for one in gc.get_objects() if type(one).__name__ in ("Texts", "EarlierTexts", "PromptLookup")]
    assert not any(needle in bytes(memoryview(one.tokens)) for one in held if hasattr(one, "tokens"))
    for folder in (tmp_path, model):
        assert not any(needle in path.read_bytes() for path in folder.rglob("*") if path.is_file())
    again = said(client, model, replace(CHATS, chat="3"))
    assert again.timings.draft_n_accepted == first.timings.draft_n_accepted
    forget(client, replace(CHATS, chat=""))
    assert not noted(client)


def test_an_erased_chat_leaves_no_rows_of_the_model(client: EngineClient, model: Path, tmp_path: Path) -> None:
    place, other = (KeptChat(str(tmp_path / name), 1 << 30) for name in ("1", "2"))
    for chat, prompt in ((place, PROMPT), (other, "Nothing of this is erased.")):
        Path(chat.folder).mkdir()
        finished = client.finish(replace(asked(client, model, CHATS, prompt), kept=chat))
        assert isinstance(finished, Finished), finished
    client.engine.submit(ForgetReplies(CHATS, erased=True, kept=place))
    client.engine.submit(Ping(1))
    client.wait_for(Pong)
    loaded = client.engine._model
    prompt = list(finished.reply.prompt_ids)
    assert [list(one.token_ids[: len(prompt)]) for one in loaded.sequences._kept] == [prompt]
