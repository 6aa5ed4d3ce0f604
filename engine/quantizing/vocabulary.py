"""A folder's tokenizer as GGUF's metadata: tokens, their kinds, merges or scores, and how a text is split."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, pre_tokenizers

from engine.errors import UnsupportedModel
from engine.families.family import GgufForm
from engine.gguf.tokenizer import SPLITTINGS, Splitting, Vocabulary, splits
from engine.sentences import mark
from engine.text.tokenizer import read_end_ids
from engine.text.tokenizer_folder import read_folder

_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED, _BYTE = range(1, 7)
_ROLES = {"bos_token": "bos", "eos_token": "eos", "unk_token": "unknown", "pad_token": "padding"}
#: Text in which the ways of splitting differ, and which both tokenizers must see alike.
_PROBE = (
    "Hello world, it's 12345678 o'clock!  It’S  3.14 ... (a+b)==c; \n\n\tdef f_x(y):\n    return y**2 # déjà vu\r\n"
    "über Straße \u1e9e e\u0301 I'M WE'LL 中文字符12 日本語テキスト 한국어 русский ไทย عربي हिन्दी 🙂👍🏽 "
    "<tag> https://x.y/z?q=1 CamelCaseWords ALLCAPS_snake ¿qué? «x» — end   "
)
_STRANGE = mark(
    "This model's tokenizer is of a kind that no GGUF file can hold, so no smaller copy of it can be written."
)


def vocabulary_pairs(place: Path, form: GgufForm, rows: int) -> dict[str, Any]:
    """Return the metadata of a folder's tokenizer.

    Args:
        rows: Rows of the embedding, which the tokens are filled up to.

    Raises:
        UnsupportedModel: GGUF has no way to write it, or what is written would be read otherwise.
        TokenizerInvalid: It cannot be read.
    """
    backend, special, _ = read_folder(place)
    backend.no_truncation()
    backend.no_padding()
    told = json.loads(backend.to_str())
    model = told["model"]
    if model.get("type", "BPE") != "BPE":
        raise UnsupportedModel(_STRANGE, details=str(model.get("type")))
    added = {int(token["id"]): token for token in told["added_tokens"]}
    texts = {int(number): text for text, number in model["vocab"].items()}
    texts |= {number: token["content"] for number, token in added.items()}
    size = max(rows, max(texts) + 1)
    merges = [tuple(one) if isinstance(one, list) else tuple(one.split(" ", 1)) for one in model["merges"]]
    unknown = special.get("unk_token", model.get("unk_token"))

    def kind(number: int) -> int:
        if number not in texts:
            return _UNUSED
        if number in added:
            if texts[number] == unknown and not _byte_level(told):
                return _UNKNOWN
            return _CONTROL if added[number]["special"] else _USER_DEFINED
        return _BYTE if model.get("byte_fallback") and _is_byte(texts[number]) else _NORMAL

    found: dict[str, Any] = {
        "tokens": [texts.get(number, f"[PAD{number}]") for number in range(size)],
        "token_type": [kind(number) for number in range(size)],
    }
    if _byte_level(told):
        found |= {"model": "gpt2", "pre": _splitting(backend, told, form), "merges": [" ".join(one) for one in merges]}
    elif form.splitting == "gemma4":
        found |= {"model": "gemma4", "merges": [" ".join(one) for one in merges]}
    else:
        found |= {"model": "llama", "pre": "default", "scores": _scores(texts, merges, size)}
        found["add_space_prefix"] = '"Prepend"' in json.dumps(told.get("normalizer"))
    ids = {name: backend.token_to_id(text) for name, text in special.items()}
    found |= {f"{role}_token_id": ids[name] for name, role in _ROLES.items() if ids.get(name) is not None}
    sample = backend.encode("a")
    starts = bool(sample.special_tokens_mask and sample.special_tokens_mask[0])
    found["add_bos_token"] = starts and sample.ids[0] == ids.get("bos_token")
    ends = [number for number in read_end_ids(place) if number != found.get("eos_token_id") and number < size]
    if ends and "eos_token_id" in found:
        found["eot_token_id"] = ends[0]
    pairs = {f"tokenizer.ggml.{key}": value for key, value in found.items()}
    _compare(backend, pairs, form)
    return pairs


def _compare(backend: Tokenizer, pairs: Mapping[str, Any], form: GgufForm) -> None:
    """Refuse a tokenizer that would be read otherwise."""
    architecture = {"general.architecture": form.model_type}
    written, _ = Vocabulary({**architecture, **pairs}).tokenizer()
    for text in (_PROBE, _PROBE.lower(), " x"):
        ids = backend.encode(text, add_special_tokens=False).ids
        if ids != written.encode(text, add_special_tokens=False).ids:
            raise UnsupportedModel(_STRANGE, details="the probe's tokens differ")


def _byte_level(told: Mapping[str, Any]) -> bool:
    return '"ByteLevel"' in json.dumps([told.get("pre_tokenizer"), told.get("decoder")])


def _is_byte(text: str) -> bool:
    return len(text) == 6 and text.startswith("<0x") and text.endswith(">")


def _splitting(backend: Tokenizer, told: Mapping[str, Any], form: GgufForm) -> str:
    """Return llama.cpp's name of how a text is split: the family's, if it fits, else the first that does.

    Raises:
        UnsupportedModel: None does.
    """
    wanted = backend.pre_tokenizer.pre_tokenize_str(_PROBE)
    composed = '"NFC"' in json.dumps(told.get("normalizer"))
    whole = bool(told["model"].get("ignore_merges"))

    def fits(splitting: Splitting) -> bool:
        if splitting.spelling != "bytes" or splitting.composed != composed or splitting.whole_words != whole:
            return False
        to_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        own = pre_tokenizers.Sequence([*splits(splitting), to_bytes])
        return bool(own.pre_tokenize_str(_PROBE) == wanted)

    for name in filter(None, (form.splitting, *SPLITTINGS)):
        if fits(SPLITTINGS[name]):
            return name
    raise UnsupportedModel(_STRANGE, details="no way of splitting fits")


def _scores(texts: Mapping[int, str], merges: list[tuple[str, ...]], size: int) -> list[float]:
    """Return SentencePiece's scores: the sooner a token is merged the higher."""
    ranks: dict[str, int] = {}
    for rank, halves in enumerate(merges):
        ranks.setdefault("".join(halves), rank)
    return [-float(ranks.get(texts.get(number, ""), 0)) for number in range(size)]
