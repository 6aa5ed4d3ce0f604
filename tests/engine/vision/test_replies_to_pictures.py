from __future__ import annotations

import gc
import queue
import shutil
import weakref
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.decoding.sequence import TokenSequence
from engine.documents.pictures import read_picture, scaled_picture
from engine.engine import Engine
from engine.loaded_model import LoadedModel
from engine.messages import (
    Attachment,
    ChatMessage,
    EarlierReplies,
    Event,
    Failed,
    Finished,
    ForgetReplies,
    KeptChat,
    Picture,
)
from engine.model.decoder import TextRows
from tests.support import heads
from tests.support.checkpoints import write_checkpoint
from tests.support.engine_client import EngineClient, engine_client
from tests.support.heads import make_head
from tests.support.prompt_tokens import write_prompt_tokens
from tests.support.seeing import MODELS, drawing, picture_of, reference, rendered, write_seeing

COUNT = 32


@pytest.fixture(scope="module")
def client() -> Iterator[EngineClient]:
    with engine_client() as made:
        yield made


def turn(text: str, *images: object) -> ChatMessage:
    """A user's turn; ``#`` stands for a picture."""
    pieces = text.split("#")
    places = [sum(map(len, pieces[: at + 1])) for at in range(len(images))]
    pictures = tuple(picture_of(image, at) for image, at in zip(images, places, strict=True))
    return ChatMessage("user", "".join(pieces), pictures=pictures)


SHOWN = [turn("Look: # The model and # the model that guesses.", drawing(64, 40, 1), drawing(30, 70, 2))]


@pytest.mark.parametrize("name", MODELS)
def test_replies_to_pictures_are_those_of_transformers_in_every_mode(
    tmp_path: Path, client: EngineClient, name: str
) -> None:
    model, mark = write_seeing(tmp_path, name), MODELS[name][1]
    one, other = drawing(64, 40, 1), drawing(30, 70, 2)
    text = "Look: # The model and # the model that guesses."
    expected = reference(model, tmp_path, name, [one, other], rendered(tmp_path, [("user", text)], mark), COUNT)
    asked = [turn(text, one, other)]
    for mode in ("plain", "lookup"):
        reply = client.answer(asked, tmp_path, mode=mode, weights="fp32", max_tokens=COUNT)
        assert list(reply.token_ids) == expected[: len(reply.token_ids)]
        assert len(reply.token_ids) == len(expected)


@pytest.fixture(scope="module")
def gemma(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gemma3")
    write_seeing(folder, "gemma3")
    return folder


@pytest.fixture(scope="module")
def said(client: EngineClient, gemma: Path) -> tuple[int, ...]:
    return client.answer(SHOWN, gemma, mode="plain", weights="fp32", max_tokens=COUNT).token_ids


@pytest.fixture(scope="module")
def drafts(tmp_path_factory: pytest.TempPathFactory, gemma: Path) -> dict[str, Path]:
    """Drafts by their kinds: another model that does not see, the model itself, heads, and prompt tokens."""
    folder = tmp_path_factory.mktemp("drafts")
    write_checkpoint(folder / "other", tokenizer=False, vocab_size=448)
    for file in gemma.glob("tokenizer*"):
        shutil.copy(file, folder / "other")
    found = {"other": folder / "other", "own": gemma, "asking": write_prompt_tokens(folder / "asking")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(heads, "VOCABULARY", 448)
        patch.setitem(heads.CONFIG, "vocab_size", 448)
        for kind in ("eagle", "medusa"):
            found[kind] = make_head(kind).write(folder / kind, safetensors=True)
    return found


@pytest.mark.parametrize(
    ("mode", "kinds", "more"),
    [
        ("dovetail", ("own",), {"as_published": True}),
        ("dovetail", ("other",), {"as_published": True}),
        ("dovetail", ("eagle",), {"as_published": True}),
        ("ghidorah", ("medusa",), {}),
        ("ppd", ("asking",), {}),
        ("minions", ("own", "eagle", "medusa", "asking"), {}),
        ("llmcad", ("own",), {}),
        ("plain", (), {"memory": "disk"}),
        ("lookup", (), {"memory": "disk"}),
        ("llmcad", ("own",), {"memory": "disk"}),
    ],
)
def test_each_mode_and_each_place_of_the_weights_says_the_same(
    client: EngineClient,
    gemma: Path,
    said: tuple[int, ...],
    drafts: dict[str, Path],
    mode: str,
    kinds: tuple[str, ...],
    more: dict[str, Any],
) -> None:
    named = tuple(str(drafts[kind]) for kind in kinds)
    options: dict[str, Any] = {**more, "drafts": named, "draft_nodes": 4} if named else more
    reply = client.answer(SHOWN, gemma, mode=mode, weights="fp32", max_tokens=COUNT, **options)
    assert reply.token_ids == said
    assert (reply.mode, reply.drafts) == (mode, named) or mode == "lookup"
    assert reply.timings.draft_n > 0 or not more.get("as_published")  # others draft where it is worth the time


@pytest.fixture
def read_rows(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Collects the tokens of each piece of a prompt that is read."""
    pieces: list[int] = []
    ask = TokenSequence._piece_rows

    def counting(self: TokenSequence, piece: Sequence[int]) -> TextRows:
        pieces.extend(piece)
        return ask(self, piece)

    monkeypatch.setattr(TokenSequence, "_piece_rows", counting)
    return pieces


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collects the digest of each picture that is scaled for an encoder."""
    seen: list[str] = []

    def scaled(picture: Picture, *more: Any, **named: Any) -> list[bytes]:
        seen.append(picture.sha256)
        return scaled_picture(picture, *more, **named)

    monkeypatch.setattr("engine.vision.seen_picture.scaled_picture", scaled)
    return seen


def test_a_second_turn_reads_no_row_of_a_picture_again(
    client: EngineClient, gemma: Path, read_rows: list[int], encoded: list[str]
) -> None:
    first = turn("Look: # What is it?", drawing(64, 40, 3))
    reply = client.answer([first], gemma, mode="plain", weights="fp32", max_tokens=4)
    rows = sum(token < 0 for token in read_rows)
    assert (rows, len(encoded)) == (16, 1)
    second = [first, ChatMessage("assistant", reply.text), ChatMessage("user", "And now?")]
    client.answer(second, gemma, mode="plain", weights="fp32", max_tokens=4)
    assert sum(token < 0 for token in read_rows) == rows
    # The same picture in another file is the same one, and a picture that follows is read alone.
    again = turn("Look: # What is it?", drawing(64, 40, 3))
    more = turn("#And this?", drawing(64, 40, 4))
    client.answer([again, *second[1:2], more], gemma, mode="plain", weights="fp32", max_tokens=4)
    assert sum(token < 0 for token in read_rows) == 2 * rows
    assert len(encoded) == 2
    # Another picture of the same size is another one.
    client.answer([turn("Look: # What is it?", drawing(64, 40, 5))], gemma, mode="plain", weights="fp32", max_tokens=4)
    assert sum(token < 0 for token in read_rows) == 3 * rows


def test_after_a_restart_a_picture_is_not_read_again(
    tmp_path: Path, gemma: Path, read_rows: list[int], encoded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.engine._IDLE_S", 0.0)
    (tmp_path / "readings" / "7").mkdir(parents=True)
    place = KeptChat(str(tmp_path / "readings" / "7"), 1 << 40)
    asked = [turn("Look: # What is it? " + "The quick brown fox. " * 8, drawing(64, 40, 3))]
    values: dict[str, Any] = {"mode": "plain", "weights": "fp32", "kept": place}
    with engine_client() as first:
        said = first.answer(asked, gemma, max_tokens=4, **values).text
    asked += [ChatMessage("assistant", said), ChatMessage("user", "And now?")]
    read = sum(token < 0 for token in read_rows), len(encoded)
    with engine_client() as second:
        later = second.answer(asked, gemma, max_tokens=8, **values)
    assert (sum(token < 0 for token in read_rows), len(encoded)) == read == (16, 1)
    with engine_client() as fresh:
        again = fresh.answer(asked, gemma, max_tokens=8, mode="plain", weights="fp32")
    assert again.token_ids == later.token_ids


@pytest.mark.parametrize(
    ("name", "weights"),
    [("gemma3", "q8_0"), ("gemma4", "bf16"), ("gemma4-inputs", "q8_0"), ("qwen3vl", "bf16"), ("qwen35", "q8_0")],
)
def test_packed_weights_say_the_same_in_every_mode(
    client: EngineClient, tmp_path: Path, name: str, weights: str
) -> None:
    write_seeing(tmp_path, name)
    asked = [turn("Look: # The model that guesses and the model that checks.", drawing(64, 40, 3))]
    exact = client.answer(asked, tmp_path, mode="plain", weights="fp32", max_tokens=24, logprobs=1)
    found = [client.answer(asked, tmp_path, mode=mode, weights=weights, max_tokens=24) for mode in ("plain", "lookup")]
    assert found[0].token_ids == found[1].token_ids
    packed = client.answer(asked, tmp_path, mode="plain", weights=weights, max_tokens=1, logprobs=1)
    assert packed.logprobs[0].logprob == pytest.approx(exact.logprobs[0].logprob, abs=0.2)


def test_replies_side_by_side_are_those_alone(client: EngineClient, gemma: Path) -> None:
    asked = [
        client.request([turn(text, drawing(64, 40, seed))], gemma, mode="plain", weights="fp32", max_tokens=12)
        for seed, text in enumerate(("Look: # What is it?", "The quick brown fox # jumps.", "#"))
    ]
    words = [ChatMessage("user", "The quick brown fox jumps over the lazy dog. " * 9)]
    asked.insert(1, client.request(words, gemma, mode="plain", weights="fp32", max_tokens=12))
    alone = [finished.reply.token_ids for one in asked if isinstance(finished := client.finish(one), Finished)]
    together = queue.Queue[Event]()
    with closing(Engine(together.put)) as engine:
        for one in asked:
            engine.submit(one)
        found: dict[str, tuple[int, ...]] = {}
        while len(found) < len(asked):
            event = together.get()
            assert not isinstance(event, Failed), event
            if isinstance(event, Finished):
                found[event.request_id] = event.reply.token_ids
    assert [found[one.request_id] for one in asked] == alone


def test_a_model_that_does_not_see_says_so_before_it_is_loaded(client: EngineClient, llama_folder: Path) -> None:
    failed = client.failure([turn("#", drawing(8, 8))], llama_folder)
    assert failed.error.kind == "PicturesUnseen"
    assert "does not see pictures: choose a model that does" in failed.error.message


def test_more_pictures_than_the_context_holds_are_refused(client: EngineClient, gemma: Path) -> None:
    asked = [turn("#" * 9, *(drawing(64, 40, seed) for seed in range(9)))]
    failed = client.failure(asked, gemma, weights="fp32", context=128)
    assert failed.error.kind == "PromptTooLong"
    assert "attach fewer pictures" in failed.error.message


def test_a_mark_that_a_user_writes_is_a_word(client: EngineClient, gemma: Path) -> None:
    asked = [turn("<start_of_image> \ufffc and # here <image_soft_token>", drawing(64, 40, 3))]
    reply = client.answer(asked, gemma, mode="plain", weights="fp32", max_tokens=2)
    assert reply.prompt_ids.count(446) == 1 + 16  # the picture's beginning, and the stand-ins of its rows


def test_signs_for_objects_in_a_file_are_no_pictures(client: EngineClient, gemma: Path) -> None:
    """Texts of PDF and DOCX have U+FFFC where a picture was."""
    file = Attachment("a.txt", 9, "one \ufffc two")
    asked = [replace(turn("Look: # here", drawing(64, 40, 3)), attachments=(file,))]
    reply = client.answer(asked, gemma, mode="plain", weights="fp32", max_tokens=2)
    assert reply.prompt_ids.count(446) == 1 + 16


def test_a_picture_that_is_gone_ends_the_reply_in_one_sentence(
    client: EngineClient, gemma: Path, tmp_path: Path
) -> None:
    drawing(50, 50, 9).save(tmp_path / "gone.png")
    picture = read_picture(tmp_path / "gone.png")
    (tmp_path / "gone.png").unlink()
    failed = client.failure([ChatMessage("user", "What?", pictures=(picture,))], gemma, weights="fp32")
    assert failed.error.message == "gone.png is not there: choose the picture again."


def test_rows_of_old_pictures_make_room_and_are_made_again(
    client: EngineClient, gemma: Path, encoded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two pictures of which memory keeps the rows of one: the prompt is read with both."""
    asked = [turn("Look: # and #", drawing(64, 40, 21), drawing(64, 40, 22))]
    usual = client.answer(asked, gemma, mode="plain", weights="fp32", max_tokens=8)
    assert len(encoded) == 2
    monkeypatch.setattr("engine.vision.seen_picture._KEPT_BYTES", 1)
    with engine_client() as other:
        found = other.answer(asked, gemma, mode="plain", weights="fp32", max_tokens=8)
    assert found.token_ids == usual.token_ids
    assert len(encoded) == 2 + 2  # what is read ahead stays until it is taken in


def test_pictures_are_let_go_with_the_reply_and_their_rows_with_the_chats(gemma: Path, encoded: list[str]) -> None:
    asked = [turn("Look: # and", drawing(64, 40, 23))]
    with engine_client() as own:
        for _ in range(2):
            own.answer(asked, gemma, mode="plain", weights="fp32", max_tokens=2)
        assert len(encoded) == 1
        file = weakref.ref(asked.pop().pictures[0])
        own.answer([ChatMessage("user", "Hi")], gemma, mode="plain", weights="fp32", max_tokens=2)
        gc.collect()
        assert file() is None
        model = own.engine._model
        assert isinstance(model, LoadedModel)
        assert model.seen
        own.engine.submit(ForgetReplies(EarlierReplies("chats"), erased=True))
        own.answer([ChatMessage("user", "Hi")], gemma, mode="plain", weights="fp32", max_tokens=2)
        assert not model.seen


def test_a_picture_is_encoded_once_for_all_chats(client: EngineClient, gemma: Path, encoded: list[str]) -> None:
    for text in ("Look: # and", "The quick brown fox # jumps over", "Another # text"):
        client.answer([turn(text, drawing(64, 40, 24))], gemma, mode="plain", weights="fp32", max_tokens=2)
    assert len(encoded) == 1
