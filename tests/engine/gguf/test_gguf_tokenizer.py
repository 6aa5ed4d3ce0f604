"""Tokenizers from GGUF metadata: the ids and texts of the tokenizers that were written, and what is refused."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from gguf import GGUFWriter, TokenType
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, pre_tokenizers

from engine.drafting.small_model import ModelDraft
from engine.errors import CheckpointError, TokenizerInvalid, UnsupportedModel
from engine.gguf.config import read_sampling
from engine.gguf.tokenizer import SPLITTINGS, read_tokenizer
from engine.messages import ChatMessage, OutputForm
from engine.model_file import OpenedModel
from engine.text.output_form import TokenMask, form_grammar
from engine.text.pairing import check_pair
from engine.text.tokenizer import Tokenizer
from tests.support.checkpoints import SENTENCES, train_tokenizer
from tests.support.gguf_files import add_vocabulary, finish

TEXTS = [
    *SENTENCES,
    "",
    " ",
    "\n\n  def f(x):\n\treturn x + 12345  # don't, I'LL\r\n",
    "<|im_start|>user\nHi<|im_end|>\n",
    "今天天气很好 🙂👩‍👧 ٣٤ ½",
]


def vocabulary_file(path: Path, **values: Any) -> Path:
    """A file with a tokenizer and nothing else; values are ``tokenizer.ggml`` ones, None leaves one out."""
    writer = GGUFWriter(str(path), values.pop("architecture", "llama"))
    known: dict[str, Any] = {"model": "gpt2", "pre": "gpt-2", "tokens": ["a", "b", "ab"], "merges": ["a b"]}
    for name, value in {**known, **values}.items():
        add = {int: writer.add_uint32, bool: writer.add_bool, str: writer.add_string, list: writer.add_array}
        if value is not None:
            add[type(value)](f"tokenizer.ggml.{name}", value)
    finish(writer)
    return path


@pytest.fixture(scope="module")
def byte_level(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Tokenizer]:
    """transformers' tokenizer, and the one that was read from a GGUF file of it."""
    path = tmp_path_factory.mktemp("gguf") / "model.gguf"
    original = train_tokenizer()
    original.add_tokens([AddedToken("<think>", normalized=False), AddedToken("<｜User｜>", normalized=False)])
    writer = GGUFWriter(str(path), "qwen2")
    add_vocabulary(writer, original)
    finish(writer)
    return original, Tokenizer(path)


@given(text=st.sampled_from(TEXTS) | st.text(max_size=40) | st.text("ab <|im_end>｜User\n", max_size=40))
def test_ids_are_those_of_the_tokenizer_that_was_written(byte_level: tuple[Any, Tokenizer], text: str) -> None:
    original, read = byte_level
    ids = original(text)["input_ids"]
    assert original.decode(ids) == read.decode(ids, special=True)
    assert read.encode(text) == ids


def test_a_chat_is_rendered_as_before(byte_level: tuple[Any, Tokenizer]) -> None:
    original, read = byte_level
    turns = [{"role": "user", "content": "Hi <think>"}, {"role": "assistant", "content": "Hello <｜User｜>"}]
    text = original.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
    messages = [ChatMessage(turn["role"], turn["content"]) for turn in turns]  # type: ignore[arg-type]
    assert read.template is not None
    assert read.render(messages) == original(text)["input_ids"]
    assert read.end_ids == {original.convert_tokens_to_ids(token) for token in ("<|im_end|>", "<|endoftext|>")}
    assert read.tokens() == {index: token for token, index in original.get_vocab().items()}


def test_padding_names_no_token(tmp_path: Path) -> None:
    """A small model of a family pads its embedding to other rows than a large one, and still drafts for it."""
    original = train_tokenizer()
    original.save_pretrained(tmp_path / "folder")
    for rows in (400, 420):
        writer = GGUFWriter(str(tmp_path / f"{rows}.gguf"), "qwen2")
        add_vocabulary(writer, original, rows=rows)
        finish(writer)
    small, large = Tokenizer(tmp_path / "400.gguf"), Tokenizer(tmp_path / "420.gguf")
    check_pair(large, small)
    check_pair(Tokenizer(tmp_path / "folder"), large)
    assert large.decode([3, 419]) == small.decode([3])


def test_files_are_told_apart_by_the_tokens_that_they_list(tmp_path: Path) -> None:
    tokens = ["a", "b", "ab", "<s>", "c"]

    def written(name: str, **changed: Any) -> OpenedModel:
        fields = {"tokens": tokens, "token_type": [1, 1, 1, 3, 1], **changed}
        return OpenedModel(name, vocabulary_file(tmp_path / f"{name}.gguf", **fields))

    def pair(target: OpenedModel, draft: OpenedModel) -> bool:
        unread: Any = None
        try:
            ModelDraft(draft, "", unread).check_tokens(target)
        except CheckpointError:
            return False
        return True

    model = written("model")
    assert pair(model, model)
    assert pair(model, written("draft"))
    assert pair(model, written("kinds", token_type=[1, 1, 1, 3, 4]))
    assert not pair(model, written("other", tokens=[*tokens[:4], "d"]))
    assert not pair(model, written("longer", tokens=[*tokens, "d"], token_type=[1, 1, 1, 3, 1, 1]))
    assert "tokenizer" not in vars(model)
    train_tokenizer().save_pretrained(tmp_path / "folder")
    folders = [OpenedModel(name, tmp_path / "folder") for name in ("a", "b")]
    assert pair(*folders)
    assert not pair(folders[0], model)


@pytest.mark.parametrize(
    ("pre", "text", "pieces"),
    [
        ("gpt-2", "a 12345 b\n\nc", ["a", "Ġ12345", "Ġb", "Ċ", "Ċ", "c"]),
        ("smollm", "a 123 b", ["a", "Ġ", "1", "2", "3", "Ġb"]),
        ("llama-bpe", "a 12345 I'LL.\n\nc", ["a", "Ġ", "123", "45", "ĠI", "'LL", ".ĊĊ", "c"]),
        ("qwen2", "a 123 I'LL.\n\nc", ["a", "Ġ", "1", "2", "3", "ĠI", "'LL", ".ĊĊ", "c"]),
        ("gpt-4o", "iPhone 12345 I'LL/\nc", ["i", "Phone", "Ġ", "123", "45", "ĠI'LL", "/Ċ", "c"]),
        ("tekken", "iPhone 12 I'm/\nc", ["i", "Phone", "Ġ", "1", "2", "ĠI", "'m", "/Ċ", "c"]),
    ],
)
def test_texts_are_split_as_the_model_learned(pre: str, text: str, pieces: list[str]) -> None:
    splits = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in SPLITTINGS[pre].patterns]
    splitting = pre_tokenizers.Sequence([*splits, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    assert [piece for piece, _ in splitting.pre_tokenize_str(text)] == pieces


def test_llama_3_keeps_whole_words_and_begins_with_its_token(tmp_path: Path) -> None:
    """ "abc" is a token, but its merges stop at "ab"."""
    tokens = ["a", "b", "c", "ab", "abc", "<s>"]
    values: dict[str, Any] = {"tokens": tokens, "token_type": [1, 1, 1, 1, 1, 3], "bos_token_id": 5}
    whole = Tokenizer(vocabulary_file(tmp_path / "a.gguf", pre="llama-bpe", **values))
    assert whole.encode("abc") == [5, 4]
    cut = Tokenizer(vocabulary_file(tmp_path / "b.gguf", pre="gpt-2", **values))
    assert cut.encode("abc") == [3, 2]
    plain = Tokenizer(vocabulary_file(tmp_path / "c.gguf", pre="llama-bpe", add_bos_token=False, **values))
    assert plain.encode("abc") == [4]


BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
PIECES = ["▁", "h", "i", "▁h", "hi", "▁hi", "ih"]
SPECIALS = ["<unk>", "<s>", "</s>", "<|end|>", "  "]


def sentence_piece(path: Path, **values: Any) -> Tokenizer:
    kinds = [TokenType.UNKNOWN, *[TokenType.CONTROL] * 3, TokenType.USER_DEFINED]
    known: dict[str, Any] = {
        "model": "llama",
        "tokens": [*SPECIALS, *BYTES, *PIECES],
        "token_type": [*kinds, *[TokenType.BYTE] * 256, *[TokenType.NORMAL] * len(PIECES)],
        "scores": [*[0.0] * (5 + 256), -10.0, -11.0, -12.0, -3.0, -1.0, -2.0, -4.0],
        "unknown_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "merges": None,
        "pre": "default",
    }
    return Tokenizer(vocabulary_file(path, **{**known, **values}))


def test_sentence_piece_merges_by_score(tmp_path: Path) -> None:
    tokenizer = sentence_piece(tmp_path / "model.gguf")
    names = tokenizer.tokens()

    def pieces(text: str) -> list[str]:
        return [names[index] for index in tokenizer.encode(text)]

    assert pieces("hi") == ["<s>", "▁hi"]
    # "hi" has the best score and goes first, so "▁h" never comes to be.
    assert pieces("hihi") == ["<s>", "▁hi", "hi"]
    assert pieces("ihi") == ["<s>", "▁", "i", "hi"]
    assert pieces("hi  hi") == ["<s>", "▁hi", "  ", "▁hi"]
    assert pieces("hi é") == ["<s>", "▁hi", "▁", "<0xC3>", "<0xA9>"]
    assert tokenizer.decode(tokenizer.encode("hi é\nhi")) == "hi é\nhi"
    assert tokenizer.end_ids == {2, 3}


def test_gemma_adds_no_space_in_front(tmp_path: Path) -> None:
    tokenizer = sentence_piece(tmp_path / "model.gguf", add_space_prefix=False, architecture="gemma2")
    assert tokenizer.encode(" hi") == [1, 5 + 256 + PIECES.index("▁hi")]
    assert tokenizer.encode("hi") == [1, 5 + 256 + PIECES.index("hi")]
    assert tokenizer.decode(tokenizer.encode(" hi")) == " hi"


def test_gemma_4_brings_its_merges(tmp_path: Path) -> None:
    merges = ["\u2581 h", "\u2581h i", "h i"]
    tokenizer = sentence_piece(
        tmp_path / "model.gguf", model="gemma4", add_space_prefix=False, architecture="gemma4", merges=merges
    )
    assert tokenizer.encode(" hi") == [1, 5 + 256 + PIECES.index("\u2581hi")]
    assert tokenizer.encode("hi") == [1, 5 + 256 + PIECES.index("hi")]
    assert tokenizer.decode(tokenizer.encode("hi é hi")) == "hi é hi"


def test_phi_3_drops_space_behind_its_special_tokens(tmp_path: Path) -> None:
    tokenizer = sentence_piece(tmp_path / "model.gguf", architecture="phi3")
    end, word = 3, 5 + 256 + PIECES.index("▁hi")
    assert tokenizer.encode("<|end|>\nhi") == [1, end, word]
    kinds = [
        TokenType.UNKNOWN,
        TokenType.CONTROL,
        TokenType.USER_DEFINED,
        TokenType.CONTROL,
        TokenType.USER_DEFINED,
    ]
    plain = [*[TokenType.BYTE] * 256, *[TokenType.NORMAL] * len(PIECES)]
    own = sentence_piece(tmp_path / "own.gguf", architecture="phi3", token_type=[*kinds, *plain])
    assert own.encode("</s> hi") == [1, 2, word]
    other = sentence_piece(tmp_path / "other.gguf")
    assert other.encode("<|end|>\nhi") == [1, end, 5 + 256, 5 + 10, 5 + 256 + PIECES.index("hi")]


@pytest.mark.parametrize(
    ("values", "error", "sentence"),
    [
        ({"model": "no_vocab"}, TokenizerInvalid, "has no tokenizer"),
        ({"model": None}, TokenizerInvalid, "has no tokenizer"),
        ({"model": "bert"}, UnsupportedModel, "no tokenizer of the kind bert"),
        ({"pre": "x", "architecture": "bloom"}, UnsupportedModel, r"tokenizer\.ggml\.pre is x"),
        ({"tokens": None}, TokenizerInvalid, "damaged"),
        ({"tokens": ["a", "b", "b"]}, TokenizerInvalid, "damaged"),
        ({"tokens": [1, 2]}, TokenizerInvalid, "damaged"),
        ({"merges": ["a z"]}, TokenizerInvalid, "damaged"),
        ({"tokens": ["a", "az"], "merges": ["a z"]}, TokenizerInvalid, "damaged"),
        ({"tokens": ["a", "za"], "merges": ["z a"]}, TokenizerInvalid, "damaged"),
        ({"merges": ["a"]}, TokenizerInvalid, "damaged"),
        ({"token_type": [1]}, TokenizerInvalid, "damaged"),
        ({"model": "llama"}, TokenizerInvalid, "damaged"),
        ({"model": "llama", "scores": [1, 2]}, TokenizerInvalid, "damaged"),
    ],
)
def test_other_tokenizers_are_refused_in_a_sentence(
    values: dict[str, Any], error: type[Exception], sentence: str, tmp_path: Path
) -> None:
    path = vocabulary_file(tmp_path / "model.gguf", **values)
    with pytest.raises(error, match=sentence) as refused:
        Tokenizer(path)
    with pytest.raises(error, match=re.escape(refused.value.message)):
        OpenedModel("model", path).check_tokenizer()


def test_a_newer_name_is_tried_as_the_familys_own(tmp_path: Path) -> None:
    text, tokens = "12", ["1", "2", "12"]
    values: dict[str, Any] = {"tokens": tokens, "merges": ["1 2"]}
    known = Tokenizer(vocabulary_file(tmp_path / "a.gguf", architecture="qwen2", pre="qwen2", **values))
    newer = Tokenizer(vocabulary_file(tmp_path / "b.gguf", architecture="qwen2", pre="qwen9", **values))
    assert newer.encode(text) == known.encode(text) == [0, 1]
    [note] = newer.notes
    assert "qwen9" in note
    assert known.notes == ()


@pytest.mark.parametrize("pre", [None, "default", ""])
def test_a_file_that_names_no_splitting_is_split_as_llama_cpp_does(pre: str | None, tmp_path: Path) -> None:
    tokens = [*"1234", "12", "34", "1234"]
    values: dict[str, Any] = {"tokens": tokens, "merges": ["1 2", "3 4", "12 34"], "pre": pre}
    tokenizer = Tokenizer(vocabulary_file(tmp_path / "model.gguf", **values))
    assert tokenizer.encode("1234") == [tokens.index("12"), 2, 3]  # 123 and 4
    [note] = tokenizer.notes
    assert "does not say how its tokenizer splits" in note


def test_tokens_of_one_text_are_written_as_one_and_all_read(tmp_path: Path) -> None:
    tokens = ["a", "b", "ab", "<s>", "ab", "<s>", "b"]
    path = vocabulary_file(tmp_path / "model.gguf", tokens=tokens, token_type=[1, 1, 1, 3, 1, 3, 1])
    tokenizer = Tokenizer(path)
    assert tokenizer.encode("abb") == [2, 1]
    assert [tokenizer.decode([token], special=True) for token in range(7)] == tokens
    assert tokenizer.decode([5, 4, 3]) == "ab"
    assert tokenizer.decode_with(["<think>"])([5, 4, 3]) == "ab"
    assert tokenizer.tokens() == dict(enumerate(tokens))
    assert tokenizer.vocabulary_size == 7
    tokens[4] = "ba"
    other = Tokenizer(vocabulary_file(tmp_path / "other.gguf", tokens=tokens, token_type=[1, 1, 1, 3, 1, 3, 1]))
    check_pair(tokenizer, other)
    check_pair(other, tokenizer)


def test_tokens_that_are_no_utf_8_stand_for_their_bytes(tmp_path: Path) -> None:
    half, other = "é".encode()[:1], "é".encode()[1:]
    words = [*sorted(pre_tokenizers.ByteLevel.alphabet()), half, other, b"\xff\xfe", "ab", "</s>"]
    tokens = [word if isinstance(word, bytes) else word.encode() for word in words]
    path = vocabulary_file(tmp_path / "model.gguf", tokens=tokens)
    tokenizer = Tokenizer(path)
    assert tokenizer.decode([256, 257]) == "é"
    assert tokenizer.decode([258]) == "\ufffd\ufffd"
    assert tokenizer.encode("\ufffd\ufffd") == [tokenizer.encode("\ufffd")[at % 3] for at in range(6)]
    mask = TokenMask(tokenizer, (str(path), str(tmp_path)), *form_grammar(tokenizer, OutputForm("regex", "[a-z]+")))
    allowed = mask.allowed()
    assert allowed[tokenizer.encode("a")[0]]


def test_parts_of_characters_in_sentence_piece_stand_for_their_bytes(tmp_path: Path) -> None:
    tokens = [*SPECIALS, *BYTES, *PIECES, "é".encode()[:1], "é".encode()[1:]]
    kinds = [
        TokenType.UNKNOWN,
        *[TokenType.CONTROL] * 3,
        TokenType.USER_DEFINED,
        *[TokenType.BYTE] * 256,
        *[TokenType.NORMAL] * (len(PIECES) + 2),
    ]
    encoded = [token if isinstance(token, bytes) else token.encode() for token in tokens]
    tokenizer = sentence_piece(tmp_path / "model.gguf", tokens=encoded, token_type=kinds, scores=[0.0] * len(tokens))
    assert tokenizer.decode([len(tokens) - 2, len(tokens) - 1]) == "é"


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_qwens_texts_are_composed(form: str, tmp_path: Path) -> None:
    tokens = [*sorted(pre_tokenizers.ByteLevel.alphabet()), "Ã©"]
    values: dict[str, Any] = {"tokens": tokens, "merges": ["Ã ©"]}
    qwen = Tokenizer(vocabulary_file(tmp_path / "qwen.gguf", architecture="qwen2", pre="qwen2", **values))
    assert qwen.encode(unicodedata.normalize(form, "é")) == [256]
    llama = Tokenizer(vocabulary_file(tmp_path / "llama.gguf", pre="llama-bpe", **values))
    assert (llama.encode(unicodedata.normalize(form, "é")) == [256]) == (form == "NFC")


def test_merges_in_the_file_come_before_scores(tmp_path: Path) -> None:
    """Ollama wrote Gemma 4 as SentencePiece, with numbers that count up in the place of scores."""
    pieces = [*SPECIALS, *BYTES, *PIECES]
    tokenizer = sentence_piece(
        tmp_path / "model.gguf",
        architecture="gemma4",
        pre="gemma4",
        scores=[float(index) for index in range(len(pieces))],
        merges=["\u2581 h", "\u2581h i", "h i"],
    )
    assert tokenizer.encode("hi hi") == [1, pieces.index("hi"), pieces.index("\u2581hi")]


def test_merges_are_kept_until_the_vocabulary_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache, path = tmp_path / "cache", tmp_path / "model.gguf"
    sentence_piece(path)
    made = Tokenizer(path, cache=cache)
    [kept] = cache.iterdir()
    with monkeypatch.context() as patch:
        patch.setattr("engine.text.sentence_piece.merges_by_score", None)  # is not called
        assert Tokenizer(path, cache=cache).encode("hihi hi") == made.encode("hihi hi")
    kept.write_bytes(kept.read_bytes()[:-9])
    assert Tokenizer(path, cache=cache).encode("hihi hi") == made.encode("hihi hi")
    assert Tokenizer(path, cache=cache).as_json() == Tokenizer(path).as_json()
    for number in range(10):
        sentence_piece(tmp_path / f"{number}.gguf", scores=[float(number)] * 300)
        Tokenizer(tmp_path / f"{number}.gguf", cache=cache)
    assert len(list(cache.iterdir())) == 8
    assert not kept.exists()


@pytest.mark.parametrize("key", ["eos_token_id", "bos_token_id", "eot_token_id"])
def test_ids_out_of_range_name_no_token(key: str, tmp_path: Path) -> None:
    tokenizer = Tokenizer(vocabulary_file(tmp_path / "model.gguf", **{key: 4_000_000}))
    assert tokenizer.encode("ab") == [2]


def test_a_large_vocabulary_asks_nobody() -> None:
    """transformers looks for Mistral's config on the network where a tokenizer of this size has a name."""
    tokens = [f"t{index}" for index in range(100_001)]
    metadata = {"model": "gpt2", "pre": "tekken", "tokens": tokens, "merges": []}
    tokenizer, _ = read_tokenizer({f"tokenizer.ggml.{key}": value for key, value in metadata.items()})
    assert tokenizer.get_vocab_size() == 100_001
    assert tokenizer.token_to_id("t77") == 77


def test_advised_sampling_is_taken_over() -> None:
    metadata = {"general.sampling.temp": 0.6, "general.sampling.top_k": 20, "general.sampling.top_p": "x"}
    assert read_sampling(metadata) == {"do_sample": True, "temperature": 0.6, "top_k": 20}
    assert read_sampling({"general.name": "a model"}) == {}


def test_a_template_beside_the_file_comes_before_its_own(smollm2: Path, tmp_path: Path) -> None:
    file = tmp_path / smollm2.name
    file.symlink_to(smollm2)
    turns = [ChatMessage("user", "Hi")]
    prompts = [one.decode(one.render(turns)) for one in (Tokenizer(file), Tokenizer(smollm2))]
    assert "named SmolLM, trained by Hugging Face" in prompts[0]
    assert "named SmolLM" not in prompts[1]
    assert [prompt.splitlines()[2:] for prompt in prompts] == [["user", "Hi", "assistant"]] * 2
