"""Data files become examples, and a bad line is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.errors import InvalidOption
from engine.text.tokenizer import Tokenizer
from engine.training.examples import examples_of, prompts_of, read_records

CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Who jumps?"},
    {"role": "assistant", "content": "The fox."},
    {"role": "user", "content": "Over whom?"},
    {"role": "assistant", "content": "The dog."},
]
SHARED = [{"from": "human", "value": "Who jumps?"}, {"from": "gpt", "value": "The fox."}]


@pytest.fixture(scope="module")
def tokenizer(llama_folder: Path) -> Tokenizer:
    return Tokenizer(llama_folder)


def write(folder: Path, *lines: object) -> Path:
    path = folder / "data.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    return path


def test_a_text_is_learned_whole(tokenizer: Tokenizer, tmp_path: Path) -> None:
    (example,) = examples_of(read_records(write(tmp_path, {"text": "The fox jumps."}, "")), tokenizer, 512)
    assert list(example.ids) == tokenizer.encode("The fox jumps.")
    assert example.learn == (False, *[True] * (len(example.ids) - 1))


@pytest.mark.parametrize("line", [{"messages": CHAT}, {"conversations": SHARED}])
def test_a_chat_is_learned_from_its_first_reply(tokenizer: Tokenizer, tmp_path: Path, line: dict[str, object]) -> None:
    (example,) = examples_of(read_records(write(tmp_path, line)), tokenizer, 512)
    text = tokenizer.decode(example.ids)
    learned = tokenizer.decode([token for token, wanted in zip(example.ids, example.learn, strict=True) if wanted])
    assert "Who jumps?" in text
    assert "Who jumps?" not in learned
    assert "The fox." in learned
    # The reply begins right behind the prompt that the model is given.
    (prompt,) = prompts_of(read_records(tmp_path / "data.jsonl"), tokenizer)
    assert list(example.ids[: len(prompt)]) == prompt
    assert example.learn.index(True) == len(prompt)


def test_examples_are_cut_to_the_limit(tokenizer: Tokenizer, tmp_path: Path) -> None:
    (example,) = examples_of(read_records(write(tmp_path, {"text": "fox " * 200})), tokenizer, 64)
    assert len(example.ids) == len(example.learn) == 64


def test_a_chat_without_a_reply_is_left_out_but_can_be_asked(tokenizer: Tokenizer, tmp_path: Path) -> None:
    records = read_records(write(tmp_path, {"messages": CHAT[:2]}))
    assert list(examples_of(records, tokenizer, 512)) == []
    assert len(list(prompts_of(records, tokenizer))) == 1


@pytest.mark.parametrize(
    "bad",
    [
        "{",
        "[1]",
        "7",
        {"text": ""},
        {"text": 3},
        '{"text": "\\ud800"}',
        {"messages": []},
        {"messages": [{"role": "user"}]},
        {"messages": [{"role": "wizard", "content": "x"}]},
        {"messages": ["x"]},
        {"conversations": "x"},
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, bad: object) -> None:
    path = write(tmp_path, {"text": "good"}, "", bad)
    with pytest.raises(InvalidOption, match=r"Line 3 of .*data\.jsonl (is not JSON|holds no text)"):
        read_records(path)


def test_bytes_that_are_no_text_are_a_bad_line(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_bytes(b'{"text": "good"}\n{"text": "\xff\xfe"}\n')
    with pytest.raises(InvalidOption, match="Line 2"):
        read_records(path)


def test_a_file_with_nothing_in_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidOption, match="is empty"):
        read_records(write(tmp_path, "", ""))
    with pytest.raises(InvalidOption, match="cannot be read"):
        read_records(tmp_path / "missing.jsonl")
