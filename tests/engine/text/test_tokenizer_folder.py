"""Tokenizers of folders: the ids of tokenizer.json as transformers reads the file, and what older folders have."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
import transformers
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, processors
from tokenizers import Tokenizer as Backend
from transformers import PreTrainedTokenizerFast

from engine.errors import TokenizerInvalid, UnsupportedModel
from engine.gguf.config import END_TEXTS
from engine.messages import ChatMessage
from engine.text.tokenizer import Tokenizer, read_templates
from tests.engine.gguf.test_gguf_tokenizer import BYTES, PIECES, SPECIALS, sentence_piece
from tests.support.checkpoints import CHAT_TEMPLATE, train_tokenizer

TEXTS = [
    *("", " ", "Hello, world", " leading", "größer 日本 🙂 e\u0301", "a\n\n  b 12345 3.14", "I'LL don't"),
    *("<|im_start|>user\nHi<|im_end|>\n", "a <think> b</think>", "<|endoftext|>", "x<extra>y", "hi</s>"),
]
MESSAGES = [ChatMessage("user", "Hi")]
SAID = "{% for m in messages %}{{ m.content }}{% endfor %}"


def write(folder: Path, backend: Backend, **config: Any) -> Path:
    """A folder of tokenizer.json and tokenizer_config.json."""
    folder.mkdir(exist_ok=True)
    backend.save(str(folder / "tokenizer.json"))
    write_json(folder / "tokenizer_config.json", config)
    return folder


def write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


def compare(folder: Path) -> Tokenizer:
    """Compare a folder with transformers' reading of it, whatever class it names."""
    theirs, ours = PreTrainedTokenizerFast.from_pretrained(folder), Tokenizer(folder)
    assert ours.tokens() == {token_id: token for token, token_id in theirs.get_vocab().items()}
    for text in TEXTS:
        ids = theirs(text, add_special_tokens=False)["input_ids"]
        assert ours._ids(text) == ids, text
        assert ours.decode(ids) == theirs.decode(ids, skip_special_tokens=True), text
        assert ours.decode(ids, special=True) == theirs.decode(ids), text
    by_text = {token for text, token in theirs.get_vocab().items() if text in END_TEXTS}
    assert ours.end_ids == by_text | ({theirs.eos_token_id} - {None})
    assert (ours.template is not None) == bool(theirs.chat_template)
    return ours


def backend(**parts: Any) -> Backend:
    """A byte-level tokenizer with other parts than the trained one."""
    made: Backend = train_tokenizer().backend_tokenizer
    for name, part in parts.items():
        setattr(made, name, part)
    return made


def test_special_and_added_tokens_are_those_of_the_files(tmp_path: Path) -> None:
    added = {
        "376": {"content": "<think>", "special": False},
        "377": {"content": "</think>", "special": False, "rstrip": True},
        "2": {"content": "<|im_end|>", "special": True},
    }
    config = {
        "added_tokens_decoder": added,
        "eos_token": {"__type": "AddedToken", "content": "<|im_end|>", "special": True},
        "pad_token": "<|endoftext|>",
        "extra_special_tokens": ["<extra>"],
        "bos_token": None,
        "model_max_length": 4,
    }
    compare(write(tmp_path / "new", backend(), **config))
    compare(write(tmp_path / "named", backend(), **{**config, "extra_special_tokens": {"extra_token": "<extra>"}}))
    older = write(tmp_path / "old", backend(), eos_token="</s>", additional_special_tokens=["<extra>"])
    write_json(older / "special_tokens_map.json", {"eos_token": {"content": "<|im_end|>", "lstrip": False}})
    write_json(older / "added_tokens.json", {"</think>": 377, "<think>": 376})
    assert compare(older).end_ids == {0, 2}


def test_a_folder_keeps_the_splitting_of_its_tokenizer_json(tmp_path: Path) -> None:
    """transformers' class for qwen2 splits digits one by one and composes accents, whatever the file says."""
    folder = write(tmp_path, backend(), tokenizer_class="Qwen2Tokenizer", eos_token="<|im_end|>")
    write_json(folder / "config.json", {"model_type": "qwen2"})
    ours = compare(folder)
    other = transformers.AutoTokenizer.from_pretrained(folder)
    assert ours._ids("e\u0301") != other("e\u0301", add_special_tokens=False)["input_ids"]


def test_a_text_begins_as_the_file_says_and_is_never_closed(tmp_path: Path) -> None:
    closing = processors.TemplateProcessing(
        single="<|im_start|> $A <|im_end|>", special_tokens=[("<|im_start|>", 1), ("<|im_end|>", 2)]
    )
    ours = compare(write(tmp_path, backend(post_processor=closing), eos_token="<|im_end|>", add_bos_token=False))
    assert ours.encode("Hi")[0] == 1
    assert ours.decode(ours.encode("Hi"), special=True) == "<|im_start|>Hi"
    assert ours.decode(ours.encode("Hi<|im_end|>"), special=True) == "<|im_start|>Hi<|im_end|>"
    assert ours.encode("") == [1]


def test_metaspace_is_read(tmp_path: Path) -> None:
    vocabulary = {text: token_id for token_id, text in enumerate([*SPECIALS, *BYTES, *PIECES])}
    made = Backend(models.BPE(vocabulary, [("▁", "h"), ("▁h", "i")], unk_token="<unk>", byte_fallback=True))
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    made.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    made.enable_truncation(2)
    made.enable_padding(length=40, pad_token="<unk>")
    config = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    assert len(compare(write(tmp_path / "a", made, **config))._ids("hi hi hi")) > 2
    # Without names for them the class's own tokens are special.
    ours = Tokenizer(write(tmp_path / "b", made, tokenizer_class="LlamaTokenizerFast"))
    assert ours.end_ids == {2, 3}
    assert ours._ids("hi</s>")[-1] == 2


def test_the_default_one_of_several_templates_is_taken(tmp_path: Path) -> None:
    named = [
        {"name": "tool_use", "template": "tools"},
        {"name": "default", "template": f"{SAID}{{{{ eos_token }}}}!"},
    ]
    folder = write(tmp_path, backend(), chat_template=named, eos_token="<|im_end|>")
    assert compare(folder).decode(Tokenizer(folder).render(MESSAGES), special=True) == "Hi<|im_end|>!"
    (folder / "chat_template.jinja").write_text(f"{SAID}, from a file", encoding="utf-8")
    assert compare(folder).decode(Tokenizer(folder).render(MESSAGES)) == "Hi, from a file"
    write_json(folder / "chat_template.json", {"chat_template": f"{SAID}, from the older file"})
    assert compare(folder).decode(Tokenizer(folder).render(MESSAGES)) == "Hi, from a file"
    none = write(tmp_path / "none", backend(), chat_template=named[:1])
    assert Tokenizer(none).template is None


@pytest.mark.parametrize("listed", [False, True])
def test_the_older_file_of_models_with_images_is_read(listed: bool, tmp_path: Path) -> None:
    """transformers 4.45 to 4.51 wrote it; one of several may be called default there too."""
    source = f"{SAID}, from the older file"
    folder = write(tmp_path, backend(), eos_token="<|im_end|>")
    named = [{"name": "other", "template": "x"}, {"name": "default", "template": source}]
    write_json(folder / "chat_template.json", {"chat_template": named if listed else source})
    assert Tokenizer(folder).decode(Tokenizer(folder).render(MESSAGES)) == "Hi, from the older file"
    assert read_templates(folder) == {"chat_template.json": source}


def message(*fields: tuple[int, Any]) -> bytes:
    """A message of protocol buffers; numbers are below 2 ** 14."""

    def varint(value: int) -> bytes:
        return bytes([value]) if value < 128 else bytes([value & 127 | 128, value >> 7])

    kinds = {int: 0, bytes: 2, float: 5}
    written = b""
    for number, value in fields:
        written += varint(number << 3 | kinds[type(value)])
        if isinstance(value, int):
            written += varint(value)
        else:
            written += struct.pack("<f", value) if isinstance(value, float) else varint(len(value)) + value
    return written


def test_sentence_pieces_own_file_is_read(tmp_path: Path) -> None:
    kinds = [2, 3, 3, 3, 4, *[6] * 256, *[1] * len(PIECES)]
    scores = [*[0.0] * 261, -10.0, -11.0, -12.0, -3.0, -1.0, -2.0, -4.0]
    texts = [*SPECIALS, *BYTES, *PIECES]
    pieces = [
        (1, message((1, text.encode()), (2, score), (3, kind)))
        for text, score, kind in zip(texts, scores, kinds, strict=True)
    ]
    path = tmp_path / "tokenizer.model"
    path.write_bytes(message(*pieces, (2, message((3, 2), (40, 0))), (3, message((3, 1)))))
    write_json(tmp_path / "tokenizer_config.json", {"tokenizer_class": "LlamaTokenizer", "eos_token": "</s>"})
    ours, gguf = Tokenizer(tmp_path), sentence_piece(tmp_path / "model.gguf", eos_token_id=2)
    (tmp_path / "model.gguf").unlink()
    for text in TEXTS:
        assert ours.encode(text) == gguf.encode(text), text
        assert ours.decode(gguf.encode(text)) == gguf.decode(gguf.encode(text)), text
    assert ours.end_ids == gguf.end_ids == {2, 3}
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole[:70], b"\xff" * 40):
        path.write_bytes(damaged)
        with pytest.raises((TokenizerInvalid, UnsupportedModel)):
            Tokenizer(tmp_path)
    path.write_bytes(message(*pieces, (2, message((3, 1)))))
    with pytest.raises(UnsupportedModel, match="of a kind that Tenon does not know"):
        Tokenizer(tmp_path)
    path.write_bytes(b"IQ== 0\nIg== 1\n")  # tiktoken's format has the same name
    with pytest.raises((TokenizerInvalid, UnsupportedModel)):
        Tokenizer(tmp_path)


PROGRAMS = [
    CHAT_TEMPLATE,
    "{%- for m in messages %}\n    {%- if loop.index > 3 %}{% break %}{% endif %}\n  {{ m | tojson }}\n{% endfor %}",
    f"{SAID}"
    "{% generation %}{% set x = 1 %}{{ bos_token }}{{ messages[-1]['content'] }}{% endgeneration %}{{ x }}",
    f"{SAID}"
    "{% set ns = namespace(n=false) %}{% set ns.n = true %}{{ ns.n }}{{ dict(a='<ä>') | tojson(indent=1) }}",
    f"{SAID}{{{{ strftime_now('%Y') }}}}{{{{ tools is none }}}}{{{{ eos_token }}}}{{{{ add_generation_prompt }}}}",
    f"{SAID}{{{{ ''.__class__ }}}}",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_templates_say_what_they_say_in_transformers(program: str, tmp_path: Path) -> None:
    folder = write(tmp_path, backend(), chat_template=program, eos_token="<|im_end|>", bos_token="<|im_start|>")
    turns = [ChatMessage("user", "Hi <b>ä"), ChatMessage("assistant", "Ho"), ChatMessage("user", " 'x' ")]
    theirs = PreTrainedTokenizerFast.from_pretrained(folder)
    chat = [{"role": turn.role, "content": turn.content} for turn in turns]
    ours = Tokenizer(folder)
    try:
        text = theirs.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    except Exception:
        with pytest.raises(UnsupportedModel, match="refuses"):
            ours.render(turns)
    else:
        assert ours.decode(ours.render(turns), special=True) == text


def test_an_accent_is_composed_only_where_the_file_says_it(tmp_path: Path) -> None:
    composing = backend(normalizer=normalizers.NFC(), pre_tokenizer=backend().pre_tokenizer)
    splitting = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(r"\p{N}"), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    compare(write(tmp_path / "a", composing, eos_token="<|im_end|>"))
    compare(write(tmp_path / "b", backend(pre_tokenizer=splitting), eos_token="<|im_end|>"))


def test_a_folder_ends_where_the_gguf_file_of_the_same_model_ends(tmp_path: Path) -> None:
    """Qwen2.5-Coder's generation_config.json names two of its five ends."""
    between = ("<|fim_pad|>", "<|repo_name|>", "<|file_sep|>", "<|end|>")
    made = train_tokenizer()
    made.add_tokens([AddedToken(text, normalized=False) for text in between])
    made.save_pretrained(tmp_path)
    coder = Tokenizer(tmp_path)
    assert {coder.name(token) for token in coder.end_ids} == {"<|im_end|>", "<|endoftext|>", *between}
    made.add_tokens([AddedToken(text, normalized=False) for text in ("<|return|>", "<|call|>")])
    made.save_pretrained(tmp_path)
    other = Tokenizer(tmp_path)
    harmony = {other.name(token) for token in other.end_ids}
    assert {"<|return|>", "<|call|>"} <= harmony
    assert "<|end|>" not in harmony
