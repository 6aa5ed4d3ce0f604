"""Templates that are of no use, and conversations whose turns a template does not take as they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.errors import EmptyPrompt, UnsupportedModel
from engine.messages import ChatMessage, Event, Generate, LoadOptions, Notice, ToolCall
from engine.request import check_request
from engine.text.preparation import fit_prompt
from engine.text.tokenizer import Tokenizer
from tests.support.checkpoints import train_tokenizer

GO = "{{ if .System }}<|im_start|>system\n{{ .System }}<|im_end|>\n{{ end }}{{ .Prompt }}"
UNREADABLE = ("{% for m in messages %}{{ m.content ", GO, "{{ messages | no_such_filter }}", "{% endfor %}")
SILENT = (
    "chatml",
    "null",
    "<|im_start|>assistant\n",
    "{% for m in messages %}{{ m.role }}{% endfor %}",
    "{{ '' }}",
)
#: As Gemma 2's and Mistral's: roles alternate, and some have no system.
ALTERNATE = (
    "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}"
    "[{{ m.role }}]{{ m.content }}{% endfor %}[assistant]"
)
#: As Qwen3.5's: one system turn, in front.
SYSTEM_FIRST = (
    "{% for m in messages %}{% if m.role == 'system' and not loop.first %}"
    "{{ raise_exception('System message must be at the beginning.') }}{% endif %}"
    "[{{ m.role }}]{{ m.content }}{% endfor %}[assistant]"
)
#: As gpt-oss's: others than the first are left out without a word.
SYSTEM_DROPPED = (
    "{% for m in messages %}{% if m.role != 'system' or loop.first %}[{{ m.role }}]{{ m.content }}{% endif %}"
    "{% endfor %}[assistant]"
)


def user(text: str) -> ChatMessage:
    return ChatMessage("user", text)


def assistant(text: str) -> ChatMessage:
    return ChatMessage("assistant", text)


def system(text: str) -> ChatMessage:
    return ChatMessage("system", text)


def saved(folder: Path, template: str | None, *tokens: str) -> Tokenizer:
    made = train_tokenizer(chat_template=False)
    made.add_special_tokens({"additional_special_tokens": list(tokens)})
    made.chat_template = template
    made.save_pretrained(folder)
    return Tokenizer(folder)


def prompt(tokenizer: Tokenizer, *turns: ChatMessage) -> tuple[str, list[str]]:
    """The prompt of a request, and what is said of it."""
    events: list[Event] = []
    request = Generate("", LoadOptions(), messages=turns)
    check_request(request)
    ids = fit_prompt(request, tokenizer, 4096, events.append)
    return tokenizer.decode(ids, special=True), [event.text for event in events if isinstance(event, Notice)]


@pytest.mark.parametrize("source", [*UNREADABLE, *SILENT])
def test_the_familys_template_takes_the_place_of_a_useless_one(source: str, tmp_path: Path) -> None:
    tokenizer = saved(tmp_path, source)
    text, [said] = prompt(tokenizer, system("Be brief."), user("Hi"))
    assert text == ("<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n")
    why = "cannot be read" if source in UNREADABLE else "leaves out what you write"
    assert said == f"The model's chat template {why}: that of ChatML took its place."
    assert tokenizer.tokens()[max(tokenizer.end_ids)] == "<|im_end|>"


@pytest.mark.parametrize(
    ("tokens", "family", "written"),
    [
        (
            ("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"),
            "Llama 3",
            "<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>",
        ),
        (
            ("<start_of_turn>", "<end_of_turn>"),
            "Gemma",
            "<start_of_turn>user\nBe brief.\n\nHi<end_of_turn>\n",
        ),
        (("<|user|>", "<|assistant|>", "<|end|>"), "Phi-3", "<|user|>\nHi<|end|>\n<|assistant|>\n"),
        (("[INST]", "[/INST]", "</s>"), "Mistral", "[INST]Be brief.\n\nHi[/INST]"),
    ],
)
def test_families_are_told_by_their_tokens(
    tokens: tuple[str, ...], family: str, written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.text import tokenizer_folder

    others = tuple(one for one in tokenizer_folder._KNOWN if one.family != "ChatML")
    monkeypatch.setattr(tokenizer_folder, "_KNOWN", others)
    tokenizer = saved(tmp_path, GO, *tokens)
    text, [said] = prompt(tokenizer, system("Be brief."), user("Hi"))
    assert written in text
    assert said.endswith(f"that of {family} took its place.")
    assert tokenizer._backend.token_to_id(tokens[-1]) in tokenizer.end_ids


def test_without_a_known_family_turns_are_labelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.text import tokenizer_folder

    monkeypatch.setattr(tokenizer_folder, "_KNOWN", ())
    text, [said] = prompt(saved(tmp_path, GO), user("Hi"))
    assert text == "User: Hi\n\nAssistant:"
    assert said == "The model's chat template cannot be read, so the conversation is given to it as plain text."


@pytest.mark.parametrize("source", [ALTERNATE, SYSTEM_FIRST, SYSTEM_DROPPED])
@pytest.mark.parametrize(
    ("turns", "words"),
    [
        ([user("anna"), user("bert")], ["anna", "bert"]),
        (
            [system("sven"), user("anna"), assistant("bert"), assistant("cara"), user("dora")],
            ["sven", "anna", "bert", "cara", "dora"],
        ),
        (
            [system("sven"), user("anna"), assistant("bert"), system("tilo"), user("cara")],
            ["sven", "anna", "bert", "tilo", "cara"],
        ),
        ([system("sven"), system("tilo"), user("anna")], ["sven", "tilo", "anna"]),
        ([user("anna"), system("tilo")], ["anna", "tilo"]),
        ([assistant("anna"), user("bert")], ["anna", "bert"]),
        ([system("sven")], ["sven"]),
        ([user("anna"), assistant("bert"), assistant("cara")], ["anna", "bert", "cara"]),
    ],
)
def test_turns_are_merged_and_moved_where_a_template_wants_it(
    source: str, turns: list[ChatMessage], words: list[str], tmp_path: Path
) -> None:
    text, _ = prompt(saved(tmp_path, source), *turns)
    bare = text.replace("[user]", " ").replace("[assistant]", " ").replace("[system]", " ")
    assert bare.split() == words


def test_what_a_template_takes_is_as_it_is(tmp_path: Path) -> None:
    text, _ = prompt(saved(tmp_path, SYSTEM_FIRST), user("a"), user("b"), assistant("c"))
    assert text == "[user]a[user]b[assistant]c"
    text, _ = prompt(saved(tmp_path, ALTERNATE), user("a"), user("b"), assistant("c"))
    assert text == "[user]a\n\nb[assistant]c"


def test_an_empty_turn_of_the_assistant_at_the_end_is_its_beginning(tmp_path: Path) -> None:
    tokenizer = saved(tmp_path, ALTERNATE)
    assert prompt(tokenizer, user("a"), assistant(""))[0] == "[user]a[assistant]"
    with pytest.raises(EmptyPrompt):
        prompt(tokenizer, user(" "), assistant(""))
    with pytest.raises(EmptyPrompt):
        prompt(tokenizer, assistant(" "))


def test_calls_of_merged_turns_are_kept(tmp_path: Path) -> None:
    call = ToolCall("now", "{}", "1")
    turns = [
        user("a"),
        assistant("b"),
        ChatMessage("assistant", "", calls=(call,)),
        ChatMessage("tool", "noon"),
    ]
    text, _ = prompt(saved(tmp_path, ALTERNATE), *turns)
    assert text.index('"now"') < text.index("noon")


def test_what_no_order_mends_is_said(tmp_path: Path) -> None:
    source = "{% if messages[0].content == 'a' %}{{ raise_exception('no') }}{% endif %}{{ messages }}"
    with pytest.raises(UnsupportedModel, match="refuses"):
        prompt(saved(tmp_path, source), user("a"))


@pytest.mark.parametrize(
    "source",
    [
        "{{ raise_exception('no') }}",
        "{{ messages.append(1) }}",
        "{{ foo.bar }}",
        "{{ nofunc() }}",
        "{{ messages is foo }}",
        "{{ 1 / 0 }}",
        "{% include 'x' %}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{{ messages[0].content }}",
        "{{ messages[-1].content }}",
        "{% for m in messages %}{{ m.content }}{% break %}{% endfor %}",
    ],
)
def test_a_template_that_fails_on_every_chat_or_loses_turns_is_not_used(source: str, tmp_path: Path) -> None:
    tokenizer = saved(tmp_path, source)
    text = tokenizer.decode(tokenizer.render([user("one"), assistant("yes"), user("two")]))
    assert "one" in text
    assert "two" in text
    assert tokenizer.template_note


#: As SmolVLM's and Idefics3's, and as MiniMax's with its own way to find the system's text.
IN_PARTS = (
    "{% for m in messages %}[{{ m.role }}]{% for part in m.content %}"
    "{% if part.type == 'text' %}{{ part.text }}{% else %}<image>{% endif %}{% endfor %}{% endfor %}[assistant]",
    "{% for m in messages %}[{{ m.role }}]{{ (m.content | selectattr('type', 'equalto', 'text') | first).text }}"
    "{% endfor %}[assistant]",
    "{% for m in messages %}[{{ m.role }}]{{ m.content[0]['text'] }}{% endfor %}[assistant]",
    "{% for m in messages %}[{{ m.role }}]{{ m.content[0]['text'] if m.role == 'system' or m.content is not string"
    " else m.content }}{% endfor %}[assistant]",
)


@pytest.mark.parametrize("source", IN_PARTS)
def test_a_template_that_reads_lists_of_parts_alone_gets_them(source: str, tmp_path: Path) -> None:
    tokenizer = saved(tmp_path, source)
    text, said = prompt(tokenizer, system("sven"), user("anna"), assistant("bert"), user("cara"))
    assert text == "[system]sven[user]anna[assistant]bert[user]cara[assistant]"
    assert not said


def test_a_list_that_is_printed_is_not_read(tmp_path: Path) -> None:
    source = "{% for m in messages %}{{ m.content }}{{ m.content[0].type + '' }}{% endfor %}"
    assert saved(tmp_path, source).template_note.endswith("that of ChatML took its place.")


@pytest.mark.parametrize("useless", [*UNREADABLE, *SILENT])
def test_the_next_template_takes_the_place_of_a_useless_one(useless: str, tmp_path: Path, smollm2: Path) -> None:
    own = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}[assistant]"
    folder = tmp_path / "folder"
    saved(folder, own)
    (folder / "chat_template.jinja").unlink(missing_ok=True)
    config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    (folder / "tokenizer_config.json").write_text(json.dumps(config | {"chat_template": own}), encoding="utf-8")
    file = tmp_path / smollm2.name
    file.symlink_to(smollm2)
    for place, other in ((folder, "tokenizer_config.json"), (file, file.name)):
        beside = (folder if place == folder else tmp_path) / "chat_template.jinja"
        beside.write_text(useless, encoding="utf-8")
        text, [said] = prompt(Tokenizer(place), user("Hi"))
        assert "Hi" in text
        assert said == (f"The chat template in chat_template.jinja cannot be used: that in {other} took its place.")
    assert "named SmolLM" in text  # by its own template's words


@pytest.mark.parametrize("older", ["{", "[]", '{"chat_template": 1}', '{"chat_template": [{}]}'])
def test_the_older_file_beside_a_gguf_file_is_read_and_a_damaged_one_is_none(
    older: str, tmp_path: Path, smollm2: Path
) -> None:
    file = tmp_path / smollm2.name
    file.symlink_to(smollm2)
    beside = tmp_path / "chat_template.json"
    template = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}[assistant]"
    beside.write_text(json.dumps({"chat_template": template}), encoding="utf-8")
    assert prompt(Tokenizer(file), user("Hi")) == ("[user]Hi[assistant]", [])
    beside.write_text(older, encoding="utf-8")
    text, said = prompt(Tokenizer(file), user("Hi"))
    assert "named SmolLM" in text
    assert not said
