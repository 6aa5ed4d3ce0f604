from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llguidance import LLTokenizer

from engine.text.token_texts import TokenTexts
from engine.text.tokenizer import Tokenizer
from tests.engine.gguf.test_gguf_tokenizer import sentence_piece
from tests.support.checkpoints import write_checkpoint


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return Tokenizer(write_checkpoint(Path(tmp_path_factory.mktemp("model")), "llama"))


@pytest.fixture(scope="module")
def spelled(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """SentencePiece, which has tokens of one byte each."""
    return sentence_piece(tmp_path_factory.mktemp("spelled") / "model.gguf")


def test_tokens_keep_their_spaces(tokenizer: Tokenizer) -> None:
    texts = TokenTexts(tokenizer)
    sentence = "The quick brown fox, it jumps."
    said = [texts.text(token) for token in tokenizer.encode(sentence)]
    assert "".join(said) == sentence
    assert any(text.startswith(" ") for text in said)


def test_a_token_without_text_is_empty_and_parts_of_characters_are_marks(tokenizer: Tokenizer) -> None:
    texts = TokenTexts(tokenizer)
    by_name = {name: token for token, name in tokenizer.tokens().items()}
    assert texts.text(by_name["<|im_end|>"]) == ""
    parts = tokenizer.encode("語")
    assert len(parts) > 1
    assert texts.text(parts[0]) == "\ufffd"


def test_a_token_is_decoded_once(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = TokenTexts(tokenizer)
    token = tokenizer.encode("fox")[0]
    first = texts.text(token)
    monkeypatch.setattr(tokenizer, "decode", None)
    assert texts.text(token) == first


def test_the_last_part_of_a_character_says_the_whole_of_it(tokenizer: Tokenizer) -> None:
    texts = TokenTexts(tokenizer)
    sentence = "A fox 🦊🌟 語!"
    ids = tokenizer.encode(sentence)
    said = [texts.text_in(ids, at) for at in range(len(ids))]
    assert "".join(text for text in said if text != "\ufffd").replace(" ", "") == sentence.replace(" ", "")
    assert "\ufffd" in said
    assert texts.text_in(ids[:-1], 0) == said[0]


def _joined(tokenizer: Tokenizer, ids: list[int]) -> bytes:
    return b"".join(map(TokenTexts(tokenizer).said, ids))


@given(text=st.text(max_size=60) | st.sampled_from(["𓀀𓂀𓃰", '["🇯🇵", "👩‍👧"]', "<|im_end|>", "é\ufffdĠ▁"]))
def test_bytes_of_tokens_join_to_the_text(tokenizer: Tokenizer, spelled: Tokenizer, text: str) -> None:
    ids = [token for token in tokenizer.encode(text) if tokenizer.decode([token]) or "\ufffd" in text]
    assert _joined(tokenizer, ids) == tokenizer.decode(ids).encode()
    ids = spelled.encode("hi" + text)[1:]
    assert _joined(spelled, ids).decode() == f" {spelled.decode(ids)}"


@given(data=st.data())
def test_bytes_of_any_tokens_join_to_what_is_decoded(tokenizer: Tokenizer, data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.integers(0, tokenizer.vocabulary_size - 1), max_size=20))
    assert _joined(tokenizer, ids).decode(errors="replace") == tokenizer.decode(ids)


def test_the_first_token_of_a_text_has_no_space_that_is_dropped(tokenizer: Tokenizer, spelled: Tokenizer) -> None:
    (token,) = spelled.encode("hi")[1:]
    assert (TokenTexts(spelled).said(token), TokenTexts(spelled).said(token, first=True)) == (b" hi", b"hi")
    assert spelled.decode([token]) == "hi"
    token = tokenizer.encode("the fox")[-1]
    assert TokenTexts(tokenizer).said(token, first=True) == tokenizer.decode([token]).encode()


def test_bytes_are_those_that_the_follower_of_forms_reads(tokenizer: Tokenizer, spelled: Tokenizer) -> None:
    for known in (tokenizer, spelled):
        tokens = LLTokenizer(known.as_json())
        texts = TokenTexts(known)
        for token in range(known.vocabulary_size):
            if texts.text(token) and known.name(token) not in (
                "ÿ",
                "<0xFF>",
            ):  # its own mark of special tokens
                assert texts.said(token) == tokens.decode_bytes([token]), known.name(token)
