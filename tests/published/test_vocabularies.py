"""Vocabularies that llama.cpp publishes with the ids of their texts: tokens, ends, and the splitting of every name."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer as Backend

from engine.errors import UnsupportedModel
from engine.gguf.config import read_end_ids
from engine.gguf.header import read_header
from engine.gguf.tokenizer import SPLITTINGS, Vocabulary, read_tokenizer
from engine.text.tokenizer import Tokenizer
from tests.published.pair_vocabulary import pair_vocabulary
from tests.support.fast_cases import chosen
from tests.support.llama_cpp_archive import ABSENT, llama_cpp
from tests.support.real_models import GEMMA3_270M, NOT_FETCHED, PUBLISHED, QWEN_CODER_0_5B

_BETWEEN = "\n__ggml_vocab_test__\n"
_WITH_IDS = (
    *("command-r", "deepseek-coder", "deepseek-llm", "falcon", "gemma-4", "gpt-2", "llama-bpe", "llama-spm"),
    *("mpt", "phi-3", "qwen2", "qwen35", "refact", "starcoder"),
)
_OTHER_KINDS = {"bert-bge": "bert", "nomic-bert-moe": "t5"}
#: Tokens that end a reply in llama.cpp itself.
_ENDS = {
    "aquila": (0, 100007),
    "baichuan": (2,),
    "bert-bge": (0,),
    "command-r": (0, 255001),
    "deepseek-coder": (32014,),
    "deepseek-llm": (100001,),
    "falcon": (11,),
    "gemma-4": (1, 50, 106),
    "gpt-2": (50256,),
    "gpt-neox": (0,),
    "llama-bpe": (128001, 128009),
    "llama-spm": (2,),
    "mpt": (0,),
    "nomic-bert-moe": (2,),
    "phi-3": (2, 32000, 32007),
    "qwen2": (128247, 151643, 151645),
    "qwen35": (128247, 151643, 151645),
    "refact": (0, 4, 18),
    "starcoder": (0, 4),
}
_QWEN_CODER_ENDS = (128247, 151643, 151645, 151662, 151663, 151664)
_PUBLISHED_ENDS = {GEMMA3_270M.name: (1, 106, 212)}
_TABLE: dict[str, Any] = json.loads((Path(__file__).parent / "pre_tokenizers.json").read_text(encoding="utf-8"))

needs_archive = pytest.mark.skipif(llama_cpp() is None, reason=ABSENT)

#: A vocabulary of 256,000 tokens takes seconds to read; both kinds have smaller ones.
_LARGE = ("gemma-4", "command-r")


def _vocabulary(name: str) -> Path:
    folder = llama_cpp()
    return folder / "models" / f"ggml-vocab-{name}.gguf"


def check_ids(file: Path, backend: Backend) -> None:
    """Compare a tokenizer's ids with those that lie beside a vocabulary."""
    texts = Path(f"{file}.inp").read_text(encoding="utf-8").split(_BETWEEN)
    wanted = Path(f"{file}.out").read_text(encoding="utf-8").split("\n")
    assert len(texts) > 45
    for text, ids in zip(texts, wanted, strict=False):
        if backend.normalizer is not None and unicodedata.normalize("NFC", text) != text:  # llama.cpp has no NFC
            continue
        assert backend.encode(text, add_special_tokens=False).ids == [int(one) for one in ids.split()], text


@needs_archive
@pytest.mark.parametrize("name", chosen(_WITH_IDS, lambda name: name not in _LARGE))
def test_ids_of_every_text_are_llama_cpps(name: str) -> None:
    file = _vocabulary(name)
    check_ids(file, read_tokenizer(read_header(file).metadata)[0])


@needs_archive
@pytest.mark.parametrize("name", _ENDS)
def test_replies_end_where_llama_cpp_ends_them(name: str) -> None:
    assert read_end_ids(read_header(_vocabulary(name)).metadata) == _ENDS[name]


@needs_archive
def test_every_vocabulary_of_the_archive_is_tested() -> None:
    folder = llama_cpp()
    names = {file.name.removeprefix("ggml-vocab-") for file in (folder / "models").glob("ggml-vocab-*.gguf")}
    assert names == {f"{name}.gguf" for name in _ENDS}
    assert {name for name in _ENDS if Path(f"{_vocabulary(name)}.inp").is_file()} == {*_WITH_IDS, "bert-bge"}


@needs_archive
@pytest.mark.parametrize("name", _OTHER_KINDS)
def test_vocabularies_of_other_kinds_are_refused_in_a_sentence(name: str) -> None:
    with pytest.raises(UnsupportedModel, match=f"no tokenizer of the kind {_OTHER_KINDS[name]}"):
        Vocabulary(read_header(_vocabulary(name)).metadata)


@needs_archive
@pytest.mark.parametrize("name", ["aquila", "gpt-neox"])
def test_a_file_without_a_name_of_its_splitting_is_read_with_a_note(name: str) -> None:
    vocabulary = Vocabulary(read_header(_vocabulary(name)).metadata)
    [note] = vocabulary.notes
    assert "does not say how its tokenizer splits" in note


@needs_archive
def test_every_name_that_llama_cpp_reads_is_known() -> None:
    folder = llama_cpp()
    source = (folder / "src" / "llama-vocab.cpp").read_text(encoding="utf-8")
    assert set(re.findall(r'tokenizer_pre == "([^"]+)"', source)) == set(SPLITTINGS)


@pytest.mark.parametrize("name", sorted(SPLITTINGS.keys() - {"whitespace"}))
def test_every_name_splits_as_llama_cpp_does(name: str) -> None:
    """Ids that llama.cpp's own code has for these texts in the vocabulary of pairs.

    ``apart`` are texts that llama.cpp's expressions only come near to: marks over letters, upper and lower letters
    outside of English, and digits and spaces of other scripts. Tenon has the makers' patterns there.
    """
    backend = Vocabulary(pair_vocabulary(name, SPLITTINGS[name].spelling != "bytes")).tokenizer()[0]
    apart = _TABLE["apart"].get(name, ())
    ids = [backend.encode(text).ids for at, text in enumerate(_TABLE["texts"]) if at not in apart]
    assert hashlib.sha256(json.dumps(ids).encode()).hexdigest()[:16] == _TABLE["ids"][name]


def test_texts_without_spaces_are_split_at_spaces_alone() -> None:
    """llama.cpp's own code breaks off on this name, unless the file is of a kind for it alone."""
    backend = Vocabulary(pair_vocabulary("whitespace", marked=True)).tokenizer()[0]
    assert backend.encode("ab str", add_special_tokens=False).tokens == ["ab", "<0x20>", "st", "r"]


@needs_archive
def test_gemma_4_as_ollama_writes_it_has_the_same_tokens() -> None:
    right = read_header(_vocabulary("gemma-4")).metadata
    changed = {
        "model": "llama",
        "pre": "gemma4",
        "scores": [float(at) for at in range(len(right["tokenizer.ggml.tokens"]))],
    }
    ollama = {**right, **{f"tokenizer.ggml.{key}": value for key, value in changed.items()}}
    del ollama["tokenizer.ggml.add_space_prefix"]
    backend = read_tokenizer(ollama)[0]
    check_ids(_vocabulary("gemma-4"), backend)
    assert backend.encode("Write a letter to my landlord.").tokens[-2:] == ["▁landlord", "."]


@pytest.mark.slow
@pytest.mark.parametrize("model", PUBLISHED, ids=lambda model: model.name)
def test_published_models_end_replies_where_llama_cpp_does(model: Any) -> None:
    if not model.path.is_file():
        pytest.skip(NOT_FETCHED)
    assert Tokenizer(model.path).end_ids == set(_PUBLISHED_ENDS.get(model.name, _QWEN_CODER_ENDS))


@pytest.mark.slow
def test_decomposed_text_has_qwens_own_tokens() -> None:
    if not QWEN_CODER_0_5B.path.is_file():
        pytest.skip(NOT_FETCHED)
    tokenizer = Tokenizer(QWEN_CODER_0_5B.path)
    composed, decomposed = "Tuyên bố Việt Nam", "Tuye\u0302n bo\u0302\u0301 Vie\u0323\u0302t Nam"
    assert tokenizer.encode(decomposed) == tokenizer.encode(composed)
    assert len(tokenizer.encode(composed)) == 5
