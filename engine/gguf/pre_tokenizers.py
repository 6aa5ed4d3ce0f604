"""Splits of a text before the merges of byte-level vocabularies apply, by llama.cpp's names.

Source: llama.cpp, src/llama-vocab.cpp; the patterns are those of the models' own tokenizer.json.
"""

from __future__ import annotations

from dataclasses import dataclass

_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_QWEN2 = _LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_WORD = (
    r"[^\r\n\p{L}\p{N}]?" + f"{_UPPER}*{_LOWER}+SUFFIX|" + r"[^\r\n\p{L}\p{N}]?" + f"{_UPPER}+{_LOWER}*SUFFIX"
)
_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_TEKKEN = _WORD.replace("SUFFIX", "") + r"|\p{N}" + _REST
_DEEPSEEK3 = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_GPT4O = _WORD.replace("SUFFIX", "(?i:'s|'t|'re|'ve|'m|'ll|'d)?") + r"|\p{N}{1,3}" + _REST


@dataclass(frozen=True)
class Splitting:
    """Splits of one kind of vocabulary.

    Attributes:
        patterns: One after the other: what matches is a piece, and so is what lies between.
        whole_words: A piece that is a token is taken as it is, whatever the merges say.
        starts: A text begins with the token for that, unless the file says otherwise.
    """

    patterns: tuple[str, ...]
    whole_words: bool = False
    starts: bool = False


_LLAMA3_LIKE = Splitting((_LLAMA3,), whole_words=True, starts=True)
_DIGITS = Splitting((r"\p{N}", _GPT2))

SPLITTINGS = {
    **dict.fromkeys(("gpt-2", "phi-2", "olmo", "mpt", "exaone4"), Splitting((_GPT2,))),
    **dict.fromkeys(
        ("smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b"), _DIGITS
    ),
    **dict.fromkeys(("llama3", "llama-v3", "llama-bpe", "falcon3", "pixtral", "midm-2.0"), _LLAMA3_LIKE),
    **dict.fromkeys(("dbrx", "smaug-bpe", "glm4", "chatglm-bpe"), Splitting((_LLAMA3,))),
    "deepseek-v3": Splitting((r"\p{N}{1,3}", "[一-龥\u3040-ゟ゠-ヿ]+", _DEEPSEEK3)),
    **dict.fromkeys(("qwen2", "deepseek-r1-qwen", "stablelm2", "megrez"), Splitting((_QWEN2,))),
    **dict.fromkeys(("gpt-4o", "llama4"), Splitting((_GPT4O,))),
    "tekken": Splitting((_TEKKEN,), whole_words=True, starts=True),
}
