from __future__ import annotations

from pathlib import Path

import pytest

from engine.text.token_texts import TokenTexts
from engine.text.tokenizer import Tokenizer
from tests.support.checkpoints import write_checkpoint


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return Tokenizer(write_checkpoint(Path(tmp_path_factory.mktemp("model")), "llama"))


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
