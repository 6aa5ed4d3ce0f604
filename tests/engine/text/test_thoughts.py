"""Models that think: what their templates know of it, what is sent back, and what is counted.

The templates are written for these tests, with the variables and the shape of those that are published.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.messages import ChatMessage, Generate, LoadOptions, Notice, Thinking
from engine.request import begun_thought
from engine.text.chat_template import ChatTemplate
from engine.text.preparation import fit_prompt
from engine.text.reasoning import (
    ThoughtAndAnswer,
    begins_with_thought,
    template_reasoning,
    thought_tokens,
    without_thoughts,
)
from engine.text.tokenizer import Tokenizer
from tests.support.checkpoints import train_tokenizer, write_checkpoint
from tests.support.engine_client import EngineClient

TURNS = """
{%- for message in messages %}
    {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- endfor %}
"""
#: As Qwen3's: it thinks unless it is told not to.
SWITCH = (
    TURNS
    + """
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}
"""
)
#: As DeepSeek V3.1's and Granite's: it thinks only if it is told to.
ASKED = (
    TURNS + "{% if not thinking is defined %}{% set thinking = false %}{% endif %}{% if thinking %}Think.{% endif %}"
)
#: As gpt-oss': how much it thinks stands in the system prompt, which a macro writes.
EFFORT = (
    """
{%- macro head() %}
    {%- if reasoning_effort is not defined %}
        {%- set reasoning_effort = "medium" %}
    {%- endif %}
    {{- "Reasoning: " + reasoning_effort + "\\n" }}
{%- endmacro %}
{{- head() }}
"""
    + TURNS
    + "{{- '<|im_start|>assistant\\n' }}"
)
#: As DeepSeek R1's: the prompt opens the thought.
FORCED = TURNS + "{{- '<|im_start|>assistant\\n<think>\\n' }}"
ASK = (ChatMessage("user", "Hi"),)


@pytest.mark.parametrize(
    ("source", "control"),
    [(SWITCH, "switch"), (ASKED, "switch"), (EFFORT, "effort"), (FORCED, ""), (TURNS, "")],
)
def test_a_template_s_source_says_what_it_can_be_told(source: str, control: str) -> None:
    assert ChatTemplate(source, {}).thinking == control


def test_thinking_is_left_to_the_model_unless_something_is_wanted() -> None:
    turns = [{"role": "user", "content": "Hi"}]

    def end(source: str, thinking: Thinking) -> str:
        return ChatTemplate(source, {}).render(turns, thinking)

    assert end(SWITCH, Thinking()).endswith("assistant\n")
    assert end(SWITCH, Thinking(on=True)).endswith("assistant\n")
    assert end(SWITCH, Thinking(on=False)).endswith("assistant\n<think>\n\n</think>\n\n")
    assert [end(ASKED, Thinking(on)).endswith("Think.") for on in (None, False, True)] == [False, False, True]
    assert end(EFFORT, Thinking()).startswith("Reasoning: medium\n")
    assert end(EFFORT, Thinking(effort="high")).startswith("Reasoning: high\n")


def test_thoughts_are_what_a_reply_begins_with() -> None:
    assert without_thoughts("<think>\nHm.\n</think>\n\nYes.") == "Yes."
    assert without_thoughts("<think>\nHm. I was stop") == ""
    assert without_thoughts("A model writes <think> first.") == "A model writes <think> first."
    assert without_thoughts("Yes.") == "Yes."


@given(
    st.lists(st.sampled_from(["<think>", "</think>", "<", "</", "th", "ink>", " ", "\n", "So.", "é"])),
    st.lists(st.integers(0, 60), max_size=12),
)
def test_a_reply_that_comes_in_pieces_is_divided_as_it_would_be_whole(parts: list[str], cuts: list[int]) -> None:
    reply = "".join(parts)
    begins = [0, *sorted(min(cut, len(reply)) for cut in cuts), len(reply)]
    divided = ThoughtAndAnswer()
    pieces = [divided.add(reply[start:end]) for start, end in pairwise(begins)]
    pieces.append(divided.end())
    thought, answer = ("".join(piece[at] for piece in pieces) for at in (0, 1))
    assert answer == without_thoughts(reply)
    inner = reply.lstrip().removeprefix("<think>").partition("</think>")[0].strip()
    if not begins_with_thought(reply):
        assert thought == ""
    elif "</think>" in reply:
        assert thought == inner
    else:
        assert thought == inner


HARMONY = "<|channel|>analysis<|message|>"
MUSE = "to=self<|message|>"
WORDS = [
    # template, what its model writes, what the reply says
    (
        HARMONY,
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Sunny.<|return|>",
        "<think>\nHm.\n</think>\n\nSunny.",
    ),
    (
        HARMONY,
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>analysis<|message|>So.<|end|>"
        "<|start|>assistant<|channel|>final<|message|>Sun<|start|>assistant<|channel|>",
        "<think>\nHm.\n\nSo.\n</think>\n\nSun",
    ),
    (HARMONY, "<|channel|>analysis<|message|>I was stop", "<think>\nI was stop"),
    (HARMONY, "<|channel|>final<|message|>1 < 2 <|", "1 < 2 <|"),
    (HARMONY, "A model without channels <|", "A model without channels <|"),
    (HARMONY, '{"city": "Rome"}', '{"city": "Rome"}'),
    (HARMONY, "<|channel|>" + "a" * 300, "a" * 300),
    (
        MUSE,
        " to=self<|message|>Hm.<|eom|><|start|>assistant to=self<|message|>So.<|eom|>"
        "<|start|>assistant to=user<|message|>Sunny.<|eot|>",
        "<think>\nHm.\n\nSo.\n</think>\n\nSunny.",
    ),
    (MUSE, " to=user<|message|>1 < 2 <|", "1 < 2 <|"),
    (MUSE, "<|message|>Sunny.<|eot|>", "Sunny."),
    (MUSE, " to=self<|message|>I was stop", "<think>\nI was stop"),
    (
        "<|channel><channel|>",
        "<|channel>thought\nHm.\n<channel|>Sunny.",
        "<think>\nHm.\n\n</think>\n\nSunny.",
    ),
    ("<|channel><channel|>", "<|channel>thought\n<channel|>Sunny.", "Sunny."),
    ("<|channel><channel|>", "Sunny <|channel", "Sunny <|channel"),
    (
        "[THINK][/THINK]",
        "[THINK]Hm. [So]\n[/THINK]Sunny [THINK",
        "<think>\nHm. [So]\n\n</think>\n\nSunny [THINK",
    ),
]


@pytest.mark.parametrize(("template", "written", "said"), WORDS)
@given(st.lists(st.integers(0, 60), max_size=12))
def test_a_reply_in_other_words_goes_on_in_those_of_think(
    template: str, written: str, said: str, cuts: list[int]
) -> None:
    begins = [0, *sorted(min(cut, len(written)) for cut in cuts), len(written)]
    words = template_reasoning(template).reader("")
    found = "".join(words.add(written[start:end]) for start, end in pairwise(begins))
    assert found + words.end() == said


@pytest.mark.parametrize(
    ("template", "prompt", "opening", "text"),
    [
        (HARMONY, "<|start|>assistant", "Sun", "<|start|>assistant<|channel|>final<|message|>Sun"),
        (HARMONY, "A", "<think>\nHm.", "A<|channel|>analysis<|message|>Hm."),
        (
            HARMONY,
            "A",
            "<think>\nHm.\n</think>\n\nSun",
            "A<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Sun",
        ),
        (HARMONY, "A", "", "A"),
        (MUSE, "A", "Sun", "A to=user<|message|>Sun"),
        (
            MUSE,
            "A",
            "<think>\nHm.\n</think>\n\nSun",
            "A to=self<|message|>Hm.<|eom|><|start|>assistant to=user<|message|>Sun",
        ),
        (
            "<|channel><channel|>",
            "A<|channel>thought\n<channel|>",
            "Sun",
            "A<|channel>thought\n<channel|>Sun",
        ),
        ("<|channel><channel|>", "A<|channel>thought\n<channel|>", "<think>\nHm.", "A<|channel>thought\nHm."),
        (
            "<|channel><channel|>",
            "A",
            "<think>\nHm.\n</think>\n\nSun",
            "A<|channel>thought\nHm.\n<channel|>Sun",
        ),
        ("", "A<think>\n", "<think>\nHm.", "A<think>\nHm."),
        ("", "A<think>\n\n</think>\n\n", "<think>\nHm.", "A<think>\nHm."),
        ("", "A", "Sun", "ASun"),
    ],
)
def test_a_reply_that_is_continued_stands_in_the_template_s_words(
    template: str, prompt: str, opening: str, text: str
) -> None:
    assert template_reasoning(template).continued(prompt, opening) == text


@pytest.mark.parametrize(
    ("opening", "written", "said"),
    [
        ("<think>\nHm", ".<|end|><|start|>assistant<|channel|>final<|message|>Sun", ".\n</think>\n\nSun"),
        ("<think>\nHm.\n</think>\n\nSun", "ny<|return|>", "ny"),
        ("Sun", " and <|end|>", " and "),
    ],
)
def test_a_continued_reply_goes_on_where_it_stopped(opening: str, written: str, said: str) -> None:
    words = template_reasoning(HARMONY).reader(opening)
    ahead = words.copy()
    assert words.add(written) + words.end() == said
    assert ahead.add(written) + ahead.end() == said


def test_a_thought_that_was_begun_before_goes_on() -> None:
    divided = ThoughtAndAnswer("<think>\nFirst I ")
    assert divided.add("count.\n</think>\n\nThree") == ("count.", "Three")
    assert ThoughtAndAnswer("One, ").add("<think>") == ("", "<think>")


def test_tokens_of_thoughts_are_counted_up_to_the_closing_mark() -> None:
    pieces = ["<think>", "\n", "Hm", ".", "</th", "ink>", "\n\n", "Yes", "."]
    ends = [len("".join(pieces[: at + 1])) for at in range(len(pieces))]
    assert thought_tokens("".join(pieces), ends) == 6
    assert thought_tokens("".join(pieces[:4]), ends[:4]) == 4
    assert thought_tokens("Yes.", [3, 4]) == 0


def model_with(folder: Path, template: str) -> Path:
    write_checkpoint(folder, "llama")
    (folder / "chat_template.jinja").write_text(template)
    return folder


@pytest.mark.parametrize("template", [SWITCH, FORCED])
def test_earlier_thoughts_are_never_sent_back(tmp_path: Path, template: str) -> None:
    tokenizer = train_tokenizer(chat_template=False)
    tokenizer.chat_template = template
    tokenizer.save_pretrained(tmp_path)
    ours = Tokenizer(tmp_path)
    talk = (
        *ASK,
        ChatMessage("assistant", "<think>\nA greeting.\n</think>\n\nHello."),
        ChatMessage("user", "Bye"),
    )
    prompt = fit_prompt(Generate("1", LoadOptions(), talk), ours, 4096, lambda event: None)
    text = ours.decode(prompt, special=True)
    assert "<|im_start|>assistant\nHello.<|im_end|>" in text
    assert "A greeting" not in text


def test_a_thought_that_the_prompt_opens_is_shown_counted_and_gone_on_with(
    client: EngineClient, tmp_path: Path
) -> None:
    folder = model_with(tmp_path / "forced", FORCED)
    reply = client.answer(list(ASK), folder, max_tokens=6)
    assert reply.text.startswith("<think>\n")
    assert reply.timings.thought_n == reply.timings.predicted_n == 6
    again = client.answer([*ASK, ChatMessage("assistant", reply.text)], folder, max_tokens=2)
    text = Tokenizer(folder).decode(again.prompt_ids, special=True)
    assert text.count("<think>") == 1
    assert not again.text.startswith("<think>")
    plain = client.answer(list(ASK), model_with(tmp_path / "plain", TURNS), max_tokens=6)
    assert plain.timings.thought_n == 0


def test_a_choice_that_the_template_does_not_know_is_said(client: EngineClient, tmp_path: Path) -> None:
    folder = model_with(tmp_path / "switch", SWITCH)
    client.events.clear()
    off = client.answer(list(ASK), folder, thinking=Thinking(on=False), max_tokens=2)
    assert begun_thought(off.prompt_ids, Tokenizer(folder)) == ""
    assert Tokenizer(folder).decode(off.prompt_ids, special=True).endswith("</think>\n\n")
    assert client.seen(Notice) == []
    client.answer(list(ASK), folder, thinking=Thinking(effort="low"), max_tokens=2)
    assert [notice.text for notice in client.seen(Notice)] == [
        "The chat template of this model has no such setting for thinking, so it has no effect."
    ]
