"""Splits of a text before the merges of byte-level vocabularies apply, by llama.cpp's names.

Source: llama.cpp, src/llama-vocab.cpp; the patterns are those of the models' own tokenizer.json, which llama.cpp comes
near to where its regular expressions know too little of Unicode.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
# Letters with an upper and a lower form, as of one version of Unicode.
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
    "[一-\u9fff㐀-\u4dbf\uf900-\ufaff\u3040-ゟ゠-ヿ･-ﾟ⼀-\u2fdfเ-\u0e7f\u0e80-\u0effក-\u17ffက-႟ꩠ-ꩿꧠ-\ua9ff"
    "가-\ud7afᄀ-ᇿ]+"
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
    """Splits of one kind of vocabulary.

    Attributes:
        patterns: One after the other: what matches is a piece, and so is what lies between.
        whole_words: A piece that is a token is taken as it is, whatever the merges say.
        starts: A text begins with the token for that, unless the file says otherwise.
        composed: Letters and their accents are put together first (NFC), as the makers' tokenizer.json does. llama.cpp
            leaves that out.
        spelling: Of the tokens: as ``bytes`` in GPT-2's letters, as characters, or as characters with a mark in the
            place of each space.
    """

    patterns: tuple[str, ...]
    whole_words: bool = False
    starts: bool = False
    composed: bool = False
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
    **_named("kormo stablelm2 megrez hunyuan solar-open grok-2", Splitting((_QWEN2,))),
    "qwen35": Splitting((_QWEN35,)),
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
