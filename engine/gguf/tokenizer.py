"""A tokenizer from a GGUF file's metadata, as a fast tokenizer of the library tokenizers.

transformers reads these files too, but uses GPT-2's splitting for every unknown name, spells tokens that are no
bytes anew (DeepSeek's, whose distilled models are GGUF files of Qwen and Llama) and lets the merges break tokens
that Llama 3 keeps whole: each silently gives other tokens than the model learned.

Source of the splits of a text before the merges apply: llama.cpp, src/llama-vocab.cpp; the patterns are those of the
models' own tokenizer.json, which llama.cpp comes near to where its regular expressions know too little of Unicode.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from engine.errors import TokenizerInvalid, UnsupportedModel
from engine.families import GGUF
from engine.gguf.config import END_TEXTS
from engine.sentences import mark, say

_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_SHORTENED = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SPACES = r"|\s*[\r\n]+|\s+(?!\S)|\s+"
_LLAMA3 = _SHORTENED + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*" + _SPACES
_QWEN2 = _LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
_QWEN35 = _SHORTENED + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*" + _SPACES
_SEED_CODER = _SHORTENED + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+" + _SPACES
_EXAONE_MOE = (
    _SHORTENED + r"|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+"
)
_BAILING = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*"
    r"|\s*[\r\n]|\s+(?!\S)|\s+"
)
_JAIS2 = _LLAMA3.removesuffix(r"|\s+(?!\S)|\s+") + "".join(
    rf"|\s{{{count}}}(?!\S)" for count in (512, 256, 128, 64, 32, 16, 8, 4, "1,2")
)
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_BEFORE_WORD = r"[^\r\n\p{L}\p{N}]?"
_WORD = f"{_BEFORE_WORD}{_UPPER}*{_LOWER}+SUFFIX|{_BEFORE_WORD}{_UPPER}+{_LOWER}*SUFFIX"
_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*" + _SPACES
_TEKKEN = _WORD.replace("SUFFIX", "") + r"|\p{N}" + _REST
_SHORTENED_WORD = _WORD.replace("SUFFIX", _SHORTENED + "?")
_GPT4O = _SHORTENED_WORD + r"|\p{N}{1,3}" + _REST
_KIMI = (
    r"\p{Han}+|"
    + _SHORTENED_WORD.replace(r"\p{M}]", r"\p{M}&&[^\p{Han}]]")
    + r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    + _SPACES
)
_CHINESE = "[一-龥\u3040-ゟ゠-ヿ]+"
_DEEPSEEK3 = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+[\r\n]*" + _SPACES
)
_SPARK = _DEEPSEEK3.replace(r"[\r\n]*" + _SPACES, r"|[\r\n]|\s+(?!\S)|\s+")
# letters with an upper and a lower form, in one version of Unicode
_CASED = (
    "[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅ"
    "Ὀ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯ"
    "ꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]"
)
_DEEPSEEK = (
    r"[\r\n]",
    r"\s?" + _CASED + "+",
    r"\s?[!-/:-~！-／：-～‘-‟\u3000-。]+",
    r"\s+$",
    "[一-龥\u0800-一가-\ud7ff]+",
    r"\p{N}+",
)
_DEEPSEEK_CODER = (r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥\u0800-一가-\ud7ff]+", r"\p{N}")
_YOUTU = "[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|" + _CHINESE
# Scripts of Asia that write no spaces.
_AFMOE = (
    "[一-\u9fff㐀-\u4dbf\uf900-\ufaff\u3040-ゟ゠-ヿ･-ﾟ⼀-\u2fdfเ-\u0e7f\u0e80-\u0effក-\u17ffက-႟ꩠ-ꩿꧠ-\ua9ff가-\ud7afᄀ-ᇿ]+"
)
_POINTS_OF_THREE = r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))"
_BLOOM = r" ?[^(\s|.,!?…。，、।۔،)]+"
_CHAMELEON = (
    "<sentinel:[0-9]+>",
    "IMGIMG[A-I]{1,4}Z",
    r"[\t\n]|    |  ",
    r"\p{N}",
    r"[\p{P}!-/:-@\[-`{-~]",
    _GPT2,
)
_LINES = r"[^\n]+|\n+"


@dataclass(frozen=True)
class Splitting:
    """Splits of one kind of vocabulary."""

    # Patterns that apply one after the other: each match is a piece, and so is the text between matches
    patterns: tuple[str, ...]
    whole_words: bool = False  # True if a piece that is a token is taken whole, whatever the merges say
    starts: bool = False  # True if a text begins with the token for that, unless the file says otherwise
    # True if letters and their accents are composed first (NFC), as in the makers' tokenizer.json. llama.cpp
    # leaves that out.
    composed: bool = False
    # Spelling of the tokens: as ``bytes`` in GPT-2's letters, as characters, or as characters with a mark in the
    # place of each space
    spelling: Literal["bytes", "characters", "marked"] = "bytes"


def _named(names: str, splitting: Splitting) -> dict[str, Splitting]:
    return dict.fromkeys(names.split(), splitting)


_DIGITS = (r"\p{N}", _GPT2)
_DEEPSEEK3_ALL = (r"\p{N}{1,3}", _CHINESE, _DEEPSEEK3)

SPLITTINGS = {
    **_named(
        "gpt-2 phi-2 jais trillion granite-docling exaone4 gigachat a.x-4.0 mellum modern-bert roberta-bpe jina-es"
        " jina-de jina-v1-en jina-v2-es jina-v2-de jina-v2-code",
        Splitting((_GPT2,)),
    ),
    **_named("mpt olmo", Splitting((_GPT2,), composed=True)),
    **_named(
        "smollm starcoder refact codeshell exaone minerva-7b mellum2",
        Splitting(_DIGITS),
    ),
    "command-r": Splitting(_DIGITS, composed=True),
    **_named(
        "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano",
        Splitting((_LLAMA3,), whole_words=True, starts=True),
    ),
    **_named("dbrx smaug-bpe chatglm-bpe", Splitting((_LLAMA3,))),
    **_named("glm4 glm5", Splitting((_LLAMA3,), whole_words=True)),
    "minicpm5": Splitting((r"\p{N}{1,3}", _LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}+")), whole_words=True),
    "jais-2": Splitting((_JAIS2,)),
    "deepseek-llm": Splitting(_DEEPSEEK),
    "deepseek-coder": Splitting(_DEEPSEEK_CODER),
    **_named("deepseek-v3 hunyuan-dense joyai-llm hy_v4", Splitting(_DEEPSEEK3_ALL)),
    "spark2_5": Splitting((r"\p{N}{1,3}", _CHINESE, _SPARK, r"\p{N}")),
    "afmoe": Splitting((_POINTS_OF_THREE, _AFMOE, _DEEPSEEK3)),
    **_named("qwen2 deepseek-r1-qwen f2llmv2", Splitting((_QWEN2,), composed=True)),
    "qwen35": Splitting((_QWEN35,), composed=True),
    **_named("kormo stablelm2 megrez hunyuan solar-open grok-2", Splitting((_QWEN2,))),
    "ufakzeka": Splitting((_QWEN2.removeprefix(_SHORTENED + "|"),)),
    "laguna": Splitting((_LINES, _QWEN2)),
    "seed-coder": Splitting((_SEED_CODER,)),
    "exaone-moe": Splitting((_EXAONE_MOE,)),
    **_named("bailingmoe bailingmoe2 llada-moe", Splitting((_BAILING,))),
    "tekken": Splitting((_TEKKEN,), whole_words=True, starts=True),
    **_named("gpt-4o llama4 kanana2 talkie minimax-m2", Splitting((_GPT4O,))),
    "granite-embed-multi-97m": Splitting((_GPT4O,), whole_words=True),
    **_named("tiny_aya cohere2moe", Splitting((_POINTS_OF_THREE, _GPT4O), composed=True)),
    "youtu": Splitting((_YOUTU, _SHORTENED_WORD + r"|\p{N}" + _REST), whole_words=True),
    "kimi-k2": Splitting((_KIMI,)),
    "superbpe": Splitting((r"\p{N}+", r"(?=(\d{3})+(?!\d))")),
    **_named("bloom poro-chat gpt3-finnish", Splitting((_BLOOM,))),
    "viking": Splitting((_BLOOM, r"\p{N}")),
    "falcon": Splitting((r"[\p{P}$+<=>^~|`]+", _GPT2, "[0-9]{3}")),
    "default": Splitting((r"[\p{P}$+<=>^~|]+", _GPT2, r"\p{N}+", "[0-9]{3}")),
    "chameleon": Splitting(_CHAMELEON, starts=True),
    **_named("gemma4 granite-embed-multi-311m", Splitting((_LINES,), starts=True, spelling="marked")),
    "sarvam-moe": Splitting((_LINES,), spelling="marked"),
    "whitespace": Splitting((r"\S+",), spelling="characters"),
}


_SPACE = "\u2581"
# `read_header`'s replacement of bytes that are no UTF-8.
_NO_UTF8 = re.compile("[\udc80-\udcff]")
_SENTENCE_PIECE = Splitting((), starts=True, spelling="marked")
# Texts of tokens that stand for one byte: GPT-2's letters, and SentencePiece's names.
_PRINTED = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
_LETTERS = [chr(byte if byte in _PRINTED else 0x100 + len(set(range(byte)) - _PRINTED)) for byte in range(256)]
_BYTE_TOKENS = [f"<0x{byte:02X}>" for byte in range(256)]
# Kinds of tokens in ``tokenizer.ggml.token_type``; 6 is a byte.
_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED = range(1, 6)
_WHOLE = frozenset({_CONTROL, _USER_DEFINED, _UNKNOWN})
_SPECIAL = frozenset({_CONTROL, _UNKNOWN})
_MERGED = frozenset({_NORMAL, _USER_DEFINED})
_SPECIAL_KEYS = {"bos": "bos", "eos": "eos", "unk": "unknown", "pad": "padding"}
# Usual ids of SentencePiece if the file names none. Source: llama.cpp, src/llama-vocab.cpp.
_USUAL_IDS = {"bos": 1, "eos": 2, "unknown": 0}
# An end of a reply is one token in the templates, whatever its kind, except where it is a word of HTML.
_ENDS = END_TEXTS - {"</s>"}
_UNKNOWN_SPLITTING = mark(
    "Tenon does not know how the tokenizer in the GGUF file splits a text (tokenizer.ggml.pre is {name}); choose a "
    "newer file of this model, or its safetensors version."
)
_TRIED = mark(
    "Tenon does not know how this model's tokenizer splits a text (tokenizer.ggml.pre is {name}) and splits it as "
    "other models of the same family do ({own}). Where replies are poor, try the model's safetensors version."
)
_NOT_SAID = mark(
    "The GGUF file does not say how its tokenizer splits a text (tokenizer.ggml.pre), so replies may be poor: a newer "
    "file of this model says it."
)


#: Function that makes the merges of `merges_by_score`, or has kept them.
Merging = Callable[[Sequence[str], Sequence[int], Sequence[float]], NDArray[np.int32]]


def read_tokenizer(metadata: Mapping[str, Any]) -> tuple[Tokenizer, dict[str, str]]:
    """Build the tokenizer that a file's metadata describe.

    Returns:
        The tokenizer; the texts of its special tokens by name (``eos_token`` and the like).

    Raises:
        TokenizerInvalid: There is no tokenizer, or it makes no sense.
        UnsupportedModel: The tokenizer is of a kind that Tenon does not know.
    """
    return Vocabulary(metadata).tokenizer()


def byte_level(ids: dict[str, int], merges: Sequence[Sequence[str]], splitting: Splitting) -> Tokenizer:
    """Build a tokenizer of bytes that are merged.

    Args:
        ids: The tokens.
        merges: Two tokens each, the first ones first.
        splitting: Splits of a text before the merges.

    Raises:
        Exception: A merge makes no token; the error is of the library's own kind, which has no name.
    """
    backend = Tokenizer(models.BPE(ids, [(left, right) for left, right in merges], ignore_merges=splitting.whole_words))
    if splitting.composed:
        backend.normalizer = normalizers.NFC()
    to_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.pre_tokenizer = pre_tokenizers.Sequence([*splits(splitting), to_bytes])
    backend.decoder = decoders.ByteLevel()
    return backend


def splits(splitting: Splitting) -> list[pre_tokenizers.PreTokenizer]:
    """Return the splits of a text before the merges."""
    return [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in splitting.patterns]


def merges_by_score(tokens: Sequence[str], kinds: Sequence[int], scores: Sequence[float]) -> NDArray[np.int32]:
    """Return SentencePiece's merges: of two neighbours that make a token, those with the best score come first.

    Args:
        kinds: Kinds of the tokens, as GGUF numbers them.

    Returns:
        Ids of two tokens each, of the shape (merges, 2).
    """
    plain = {token: index for index, token in enumerate(tokens) if kinds[index] in _MERGED}
    merges: list[tuple[int, int]] = []
    for token in sorted(plain, key=lambda token: (-scores[plain[token]], plain[token])):
        halves = ((plain.get(token[:cut]), plain.get(token[cut:])) for cut in range(1, len(token)))
        merges += sorted((left, right) for left, right in halves if left is not None and right is not None)
    return np.array(merges, np.int32).reshape(-1, 2)


@contextmanager
def _damage_in_words() -> Iterator[None]:
    """Raise `TokenizerInvalid` for the library's own errors, which have no name, and what damaged metadata lead to."""
    try:
        yield
    except (TokenizerInvalid, UnsupportedModel):
        raise
    except Exception as error:
        raise TokenizerInvalid(
            "The tokenizer in the GGUF file is damaged: download the file again.",
            details=f"{type(error).__name__}: {error}",
        ) from error


class Vocabulary:
    """The vocabulary that a file's metadata describe.

    Attributes:
        spelled: Tokens that the tokenizer does not know, because their text is another token's or no UTF-8: the tokens
            that stand for the same bytes.

    Raises:
        TokenizerInvalid: There is no vocabulary, or it makes no sense.
        UnsupportedModel: The vocabulary is of a kind that Tenon does not know.
    """

    def __init__(self, metadata: Mapping[str, Any]) -> None:
        self._metadata = metadata
        self._form = GGUF.get(str(metadata.get("general.architecture")))
        self.notes: tuple[str, ...] = ()  # sentences about it for the user
        with _damage_in_words():
            self._read()

    def _read(self) -> None:
        self._kind = self._value("model", "no_vocab")
        if self._kind not in ("gpt2", "llama", "gemma4"):
            if self._kind == "no_vocab":
                raise TokenizerInvalid("The GGUF file has no tokenizer: download another file of this model.")
            raise UnsupportedModel(
                "Tenon has no tokenizer of the kind {kind} in GGUF files; choose another model, or "
                "its safetensors version.",
                kind=self._kind,
            )
        self._splitting = self._chosen_splitting()
        tokens = self._value("tokens")
        self._tokens = [token or f"[EMPTY_{index}]" for index, token in enumerate(tokens)]
        kinds = self._value("token_type", [_NORMAL] * len(tokens))
        self._kinds = list(map(int, kinds[: len(tokens)]))
        self._ids: dict[str, int] = {}
        again = []
        no_text = _without_text(self._tokens)
        # Rows by which the embedding is padded have names in the file, but are no tokens.
        for index, (token, kind) in enumerate(zip(self._tokens, self._kinds, strict=True)):
            if kind == _UNUSED and token == f"[PAD{index}]":
                continue
            if token in no_text or self._ids.setdefault(token, index) != index:
                again.append(index)
        self.spelled = {index: self._spelled(self._tokens[index]) for index in again}
        if self._kind == "llama" and len(self._value("scores")) < len(self._tokens):
            raise ValueError("there are fewer scores than tokens")

    def tokens(self) -> dict[int, str]:
        """Return the text of each token that the tokenizer knows, by its id."""
        return {index: token for token, index in self._ids.items()}

    def _spelled(self, token: str) -> tuple[int, ...]:
        """Return the tokens that stand for the bytes of a token."""
        if token in self._ids:
            return (self._ids[token],)
        data = token.encode("utf-8", "surrogateescape")
        letters = _LETTERS if self._splitting.spelling == "bytes" else _BYTE_TOKENS
        return tuple(self._ids[letters[byte]] for byte in data if letters[byte] in self._ids)

    def _file_merges(self) -> list[tuple[str, str]]:
        """Return the merges of the file, without those of tokens that are no UTF-8.

        Raises:
            ValueError: A merge makes no token, which would crash the library; it refuses one of unknown halves.
        """
        merges = list(self._value("merges"))
        if no_text := _without_text(merges):
            merges = [merge for merge in merges if merge not in no_text]
        pairs = [(merge[:at], merge[at + 1 :]) for merge in merges for at in (merge.index(" ", 1),)]
        if not all(left + right in self._ids for left, right in pairs):
            raise ValueError("a merge makes no token")
        return pairs

    def _value(self, key: str, default: Any = None) -> Any:
        name = f"tokenizer.ggml.{key}"
        return self._metadata[name] if default is None else self._metadata.get(name, default)

    def _special(self, key: str) -> str | None:
        """Return the text of a special token that the metadata names by its id."""
        usual = _USUAL_IDS.get(key) if self._kind == "llama" else None
        index = self._metadata.get(f"tokenizer.ggml.{key}_token_id", usual)
        known = isinstance(index, int) and 0 <= index < len(self._tokens)
        return self._tokens[index] if known and self._tokens[index] in self._ids else None

    def _chosen_splitting(self) -> Splitting:
        """Return the splitting of texts: by the name in the file, or else that of the family."""
        if self._kind == "gemma4" or (self._kind == "llama" and self._metadata.get("tokenizer.ggml.merges")):
            return SPLITTINGS["gemma4"]
        if self._kind == "llama":
            return _SENTENCE_PIECE
        name = self._value("pre", "") or "default"
        if name == "default":
            self.notes = (say(_NOT_SAID),)
        elif name not in SPLITTINGS:
            if self._form is None or not self._form.splitting:
                raise UnsupportedModel(_UNKNOWN_SPLITTING, name=name)
            self.notes = (say(_TRIED, name=name, own=self._form.splitting),)
            name = self._form.splitting
        return SPLITTINGS[name]

    def tokenizer(self, merging: Merging = merges_by_score) -> tuple[Tokenizer, dict[str, str]]:
        """Build the tokenizer.

        Args:
            merging: Makes SentencePiece's merges.

        Returns:
            The tokenizer and its special tokens, as in `read_tokenizer`.

        Raises:
            TokenizerInvalid: The vocabulary makes no sense.
        """
        with _damage_in_words():
            return self._tokenizer(merging)

    def _tokenizer(self, merging: Merging) -> tuple[Tokenizer, dict[str, str]]:
        scored = self._splitting == _SENTENCE_PIECE
        merges = self._scored_merges(merging) if scored else self._file_merges()
        if self._splitting.spelling == "bytes":
            backend = byte_level(self._ids, merges, self._splitting)
        else:
            backend = self._characters(merges)
        special = {f"{name}_token": self._special(key) for name, key in _SPECIAL_KEYS.items()}
        known = {name: token for name, token in special.items() if token is not None}
        backend.add_tokens([self._whole(token, kind) for token, kind in self._whole_tokens()])
        plain = [token for token in known.values() if self._kinds[self._ids[token]] not in _WHOLE]
        backend.add_tokens([AddedToken(token, special=True) for token in plain])
        start = known.get("bos_token")
        starts = self._splitting.starts
        # Gemma 4's first files say that it begins with nothing, which is wrong.
        says = starts if self._splitting == SPLITTINGS["gemma4"] else self._value("add_bos_token", starts)
        if start is not None and says:
            backend.post_processor = processors.TemplateProcessing(
                single=[start, "$A"], special_tokens=[(start, self._ids[start])]
            )
        return backend, known

    def _whole_tokens(self) -> list[tuple[str, int]]:
        """Return tokens that are found in a text before it is split, with their kinds."""
        whole = []
        for token, index in self._ids.items():
            kind = self._kinds[index]
            if kind in _WHOLE:
                whole.append((token, kind))
            elif token in _ENDS:
                whole.append((token, _CONTROL))
        return whole

    def _whole(self, token: str, kind: int) -> AddedToken:
        keeps = None if self._form is None or self._kind != "llama" else self._form.keeps_space
        drops_space = keeps is not None and (kind == _CONTROL or token == "</s>") and token not in keeps
        return AddedToken(token, normalized=False, special=kind in _SPECIAL, rstrip=drops_space)

    def _characters(self, merges: list[tuple[str, str]]) -> Tokenizer:
        """Build a tokenizer of characters that are merged, with tokens for the bytes of those that are no token."""
        backend = Tokenizer(
            models.BPE(
                self._ids,
                merges,
                unk_token=self._special("unknown"),
                fuse_unk=True,
                byte_fallback=True,
            )
        )
        if self._splitting.patterns:
            backend.pre_tokenizer = pre_tokenizers.Sequence(splits(self._splitting))
        if self._splitting.spelling == "characters":
            backend.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
            return backend
        usual = not self._splitting.patterns and (self._form is None or self._form.space_prefix)
        prefixed = bool(self._value("add_space_prefix", usual))
        backend.normalizer = normalizers.Sequence(
            [*([normalizers.Prepend(_SPACE)] if prefixed else []), normalizers.Replace(" ", _SPACE)]
        )
        read = [decoders.Replace(_SPACE, " "), decoders.ByteFallback(), decoders.Fuse()]
        backend.decoder = decoders.Sequence([*read, *([decoders.Strip(" ", 1, 0)] if prefixed else [])])
        return backend

    def _scored_merges(self, merging: Merging) -> list[tuple[str, str]]:
        scores = [float(score) for score in self._value("scores")]
        left, right = merging(self._tokens, self._kinds, scores).T.tolist()
        name = self._tokens.__getitem__
        return list(zip(map(name, left), map(name, right), strict=True))


def _without_text(tokens: Sequence[str]) -> set[str]:
    """Return the tokens whose bytes were no UTF-8."""
    if not _NO_UTF8.search("".join(tokens)):  # a fourth of the time that it takes to look at each
        return set()
    return {token for token in tokens if _NO_UTF8.search(token)}
