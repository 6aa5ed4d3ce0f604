from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from engine.errors import TokenizerInvalid, UnsupportedModel
from engine.messages import ChatMessage, Tool, ToolCall
from engine.text.tokenizer import Tokenizer, read_end_ids
from tests.support.checkpoints import train_tokenizer

CONVERSATION = [
    ChatMessage("system", "Be brief."),
    ChatMessage("user", "Hello"),
    ChatMessage("assistant", "Hi"),
    ChatMessage("user", "And now?"),
]
# Like Gemma 2's: no system role, and it says so by an exception.
NO_SYSTEM = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    "{% for message in messages %}[{{ message['role'] }}]{{ message['content'] }}{% endfor %}"
)


# A template that takes other conversations than this one.
REFUSING = "{% if 'And now?' in messages[-1].content %}{{ raise_exception('no') }}{% endif %}{{ messages }}"


def saved(folder: Path, template: str | None) -> Path:
    tokenizer = train_tokenizer(chat_template=False)
    if template is not None:
        tokenizer.chat_template = template
    tokenizer.save_pretrained(folder)
    return folder


def test_a_conversation_is_rendered_by_the_checkpoint_s_template(llama_folder: Path) -> None:
    tokenizer = Tokenizer(llama_folder)
    text = tokenizer.decode(tokenizer.render(CONVERSATION), special=True)
    assert text == (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHello<|im_end|>\n"
        "<|im_start|>assistant\nHi<|im_end|>\n<|im_start|>user\nAnd now?<|im_end|>\n<|im_start|>assistant\n"
    )
    assert tokenizer.decode(tokenizer.render(CONVERSATION)).startswith("system\nBe brief.")


def test_a_template_without_system_role_gets_its_text_in_the_first_turn(tmp_path: Path) -> None:
    tokenizer = Tokenizer(saved(tmp_path, NO_SYSTEM))
    assert tokenizer.decode(tokenizer.render(CONVERSATION)).startswith("[user]Be brief.\n\nHello[assistant]Hi")


def test_results_of_gemma_4_s_tools_stand_in_the_turn_that_called(tmp_path: Path) -> None:
    """With the words of Gemma 4's template, in which a turn has its calls and what came of them."""
    source = (
        "{% if tools %}{{ tools | length }}{% endif %}{% for message in messages %}[{{ message.role }}]"
        "{% for call in message.tool_calls or [] %}<|tool_call>call:{{ call.function.name }}{% endfor %}"
        "{% for one in message.tool_responses or [] %}<{{ one.name }}={{ one.response }}>{% endfor %}"
        "{{ message.content }}{% endfor %}"
    )
    tokenizer = Tokenizer(saved(tmp_path, source))
    turns = [
        ChatMessage("user", "When?"),
        ChatMessage("assistant", "", calls=(ToolCall("now", "{}", "1"), ToolCall("day", "{}", "2"))),
        ChatMessage("tool", "noon", answers="1"),
        ChatMessage("tool", "Monday", answers="2"),
    ]
    text = tokenizer.decode(tokenizer.render(turns, tools=(Tool("now"), Tool("day"))), special=True)
    assert text == "2[user]When?[assistant]<|tool_call>call:now<|tool_call>call:day<now=noon><day=Monday>"


def test_without_a_template_turns_are_labelled_paragraphs(tmp_path: Path) -> None:
    tokenizer = Tokenizer(saved(tmp_path, None))
    assert tokenizer.template is None
    text = tokenizer.decode(tokenizer.render(CONVERSATION))
    assert text == "Be brief.\n\nUser: Hello\n\nAssistant: Hi\n\nUser: And now?\n\nAssistant:"


def test_a_reply_s_opening_stands_in_the_assistant_s_turn(tmp_path: Path, llama_folder: Path) -> None:
    for folder, end in ((llama_folder, "assistant\nIt is"), (saved(tmp_path, None), "Assistant: It is")):
        tokenizer = Tokenizer(folder)
        assert tokenizer.decode(tokenizer.render(CONVERSATION, "It is")).endswith(end)


def test_thoughts_leave_the_history_where_the_template_says_so(tmp_path: Path) -> None:
    template = "{% for message in messages %}{{ message['content'].split('</think>')[-1] }};{% endfor %}"
    tokenizer = Tokenizer(saved(tmp_path, template))
    turns = [
        ChatMessage("user", "a"),
        ChatMessage("assistant", "<think>hmm</think>b"),
        ChatMessage("user", "c"),
    ]
    assert tokenizer.decode(tokenizer.render(turns)) == "a;b;c;"


def test_a_template_that_refuses_is_said(tmp_path: Path) -> None:
    tokenizer = Tokenizer(saved(tmp_path, REFUSING))
    with pytest.raises(UnsupportedModel, match="chat template refuses"):
        tokenizer.render(CONVERSATION)


def test_missing_and_damaged_tokenizers_are_said(tmp_path: Path, llama_folder: Path) -> None:
    with pytest.raises(TokenizerInvalid, match="has no tokenizer"):
        Tokenizer(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{")
    (tmp_path / "config.json").write_text((llama_folder / "config.json").read_text())
    with pytest.raises(TokenizerInvalid, match="cannot be read"):
        Tokenizer(tmp_path)


def test_end_ids_come_from_the_generation_config_first(tmp_path: Path) -> None:
    assert read_end_ids(tmp_path) == ()
    (tmp_path / "config.json").write_text(json.dumps({"eos_token_id": 5}))
    assert read_end_ids(tmp_path) == (5,)
    (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": [7, 8]}))
    assert read_end_ids(tmp_path) == (7, 8)
    (tmp_path / "generation_config.json").write_text("[]")
    assert read_end_ids(tmp_path) == (5,)


def test_raw_text_round_trips(llama_folder: Path) -> None:
    tokenizer = Tokenizer(llama_folder, end_ids=(9,))
    for text in ("Hello", " leading", "größer 日本 🙂", "a\n\n  b"):
        assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.end_ids == {0, 2, 9}  # by its text, by the tokenizer, as asked


def test_a_raw_prompt_keeps_the_end_tokens_that_are_written_in_it(llama_folder: Path) -> None:
    tokenizer = Tokenizer(llama_folder)
    for text in ("hi<|im_end|>", "<|im_end|>", "<|im_end|>\nhi<|im_end|><|im_end|>"):
        assert tokenizer.decode(tokenizer.encode(text), special=True) == text


def test_a_text_longer_than_the_context_is_no_complaint_of_the_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(logging.getLogger("transformers"), "propagate", True)
    folder = saved(tmp_path, NO_SYSTEM)
    config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    (folder / "tokenizer_config.json").write_text(json.dumps({**config, "model_max_length": 4}), encoding="utf-8")
    tokenizer = Tokenizer(folder)
    assert len(tokenizer.encode("one two three four five six seven")) > 4
    assert len(tokenizer.render([ChatMessage("user", "one two three four five six")])) > 4
    assert caplog.records == []


@pytest.mark.parametrize("ids", [[None, "2", 2, float("inf"), [3], True], [2], 2])
def test_only_numbers_are_end_ids(tmp_path: Path, ids: object) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"eos_token_id": ids}))
    assert read_end_ids(tmp_path) == (2,)
