from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.errors import DraftMismatch
from engine.text.pairing import check_pair
from engine.text.tokenizer import Tokenizer
from tests.support.checkpoints import train_tokenizer


def _saved(tokenizer: Any, folder: Path) -> Tokenizer:
    tokenizer.save_pretrained(folder)
    return Tokenizer(folder)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return _saved(train_tokenizer(), tmp_path_factory.mktemp("target"))


def test_the_same_tokens_are_a_pair_whatever_the_template(target: Tokenizer, tmp_path: Path) -> None:
    bare = _saved(train_tokenizer(chat_template=False), tmp_path)
    assert (bare.template is None) != (target.template is None)
    assert bare.tokens() == target.tokens()
    check_pair(target, bare)


def test_a_token_that_differs_is_refused(target: Tokenizer, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    train_tokenizer().save_pretrained(folder)
    file = folder / "tokenizer.json"
    tree = json.loads(file.read_text(encoding="utf-8"))
    lost = {target.tokens()[token_id] for token_id in (330, 340)}
    model = tree["model"]
    model["vocab"] = {
        f"other{token_id}" if token in lost else token: token_id for token, token_id in model["vocab"].items()
    }
    # The merges that made them name them too.
    model["merges"] = [merge for merge in model["merges"] if not lost & {*merge, "".join(merge)}]
    file.write_text(json.dumps(tree), encoding="utf-8")
    with pytest.raises(DraftMismatch, match="made for another vocabulary"):
        check_pair(target, Tokenizer(folder))


@pytest.mark.parametrize("longer", ["model", "draft"])
def test_a_token_that_only_one_of_them_has_is_refused(target: Tokenizer, tmp_path: Path, longer: str) -> None:
    tokenizer = train_tokenizer()
    tokenizer.add_tokens(["<|tool|>"])
    other = _saved(tokenizer, tmp_path)
    pair = (other, target) if longer == "model" else (target, other)
    with pytest.raises(DraftMismatch, match="made for another vocabulary"):
        check_pair(*pair)


def test_spaces_may_be_spelled_as_sentence_piece_does(target: Tokenizer, tmp_path: Path) -> None:
    pair = []
    for name, token in (("plain", "  "), ("sentencepiece", "▁▁"), ("other", "..")):
        tokenizer = train_tokenizer()
        tokenizer.add_tokens([token])
        pair.append(_saved(tokenizer, tmp_path / name))
    check_pair(pair[0], pair[1])
    with pytest.raises(DraftMismatch):
        check_pair(pair[0], pair[2])
