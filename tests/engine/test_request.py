"""Options of a request."""

from __future__ import annotations

from pathlib import Path

import pytest
from tokenizers import processors

from engine.errors import EmptyPrompt, PromptTooLong
from engine.messages import ChatMessage, CountTokens, Failed, Finished, Generate, LoadOptions, TokensCounted
from engine.request import check_request
from engine.text.preparation import fit_prompt, opening
from engine.text.tokenizer import Tokenizer
from tests.support.checkpoints import train_tokenizer
from tests.support.engine_client import engine_client


def test_a_conversation_that_ends_with_a_reply_is_continued() -> None:
    asked = ChatMessage("user", "Count to three.")
    begun = ChatMessage("assistant", "One, two")
    assert opening(Generate("1", LoadOptions(), (asked, begun))) == "One, two"
    assert opening(Generate("1", LoadOptions(), (asked,))) == ""
    assert opening(Generate("1", LoadOptions(), raw_prompt="One")) == ""


def test_a_conversation_that_must_stay_whole_is_refused_where_it_does_not_fit(llama_folder: Path) -> None:
    tokenizer = Tokenizer(llama_folder)
    turns = tuple(ChatMessage("user" if at % 2 == 0 else "assistant", "abc " * 20) for at in range(9))
    request = Generate("1", LoadOptions(), turns, max_tokens=50)
    whole = len(tokenizer.render(turns))
    assert len(fit_prompt(request, tokenizer, whole + 1, print)) < whole
    strict = Generate("1", LoadOptions(), turns, max_tokens=50, whole=True)
    assert len(fit_prompt(strict, tokenizer, whole + 1, print)) == whole
    with pytest.raises(PromptTooLong, match=f"{whole} tokens"):
        fit_prompt(strict, tokenizer, whole, print)


@pytest.mark.parametrize(
    ("starts", "between", "begins"),
    [
        (True, ("<|endoftext|>",), "<|im_start|>"),
        (False, ("<|end_of_text|>", "<|endoftext|>"), "<|endoftext|>"),
        (False, (), None),
    ],
)
def test_an_empty_text_to_continue_is_the_beginning_of_one(
    starts: bool,
    between: tuple[str, ...],
    begins: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("engine.text.tokenizer._BETWEEN_TEXTS", between)
    made = train_tokenizer()
    if starts:
        ids = made.convert_tokens_to_ids
        made.backend_tokenizer.post_processor = processors.TemplateProcessing(
            single=["<|im_start|>", "$A"], special_tokens=[("<|im_start|>", ids("<|im_start|>"))]
        )
    made.save_pretrained(tmp_path)
    tokenizer = Tokenizer(tmp_path)
    request = Generate("1", LoadOptions(), raw_prompt="")
    check_request(request)
    if begins is None:
        with pytest.raises(EmptyPrompt):
            fit_prompt(request, tokenizer, 100, print)
    else:
        [first] = fit_prompt(request, tokenizer, 100, print)
        assert tokenizer.name(first) == begins
    blank = Generate("1", LoadOptions(), raw_prompt=" \n")
    check_request(blank)
    assert tokenizer.decode(fit_prompt(blank, tokenizer, 100, print)) == " \n"


def test_tokens_of_a_prompt_are_counted_beside_a_reply(llama_folder: Path) -> None:
    with engine_client() as client:
        client.answer("abc", llama_folder, mode="plain", max_tokens=1)
        running = client.request("abc", llama_folder, mode="plain", max_tokens=400)
        asked = client.request([ChatMessage("user", "abc")], llama_folder, mode="plain")
        client.engine.submit(running)
        client.engine.submit(CountTokens("count", asked))
        counted = client.wait_for((TokensCounted, Finished, Failed))
        expected = len(Tokenizer(llama_folder).render([ChatMessage("user", "abc")]))
        assert counted == TokensCounted("count", expected)
        client.wait_for(Finished)
