"""The tokenizer of a folder: tokenizer.json as it is, or what older folders have in its place.

The files beside it say which tokens are special, and bring the chat template. Source: transformers,
tokenization_utils_base.py and tokenization_utils_tokenizers.py, whose classes for single models are left aside: they
build a splitting of their own and give other ids than the tokenizer.json beside them. A template of no use makes way
for the known one of a family, told by the tokens that only this family has.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer

from engine.errors import TokenizerInvalid, UnsupportedModel
from engine.families import LINES
from engine.families.family import KnownTemplate
from engine.files import read_file, read_text_file
from engine.json_text import read_json
from engine.text.sentence_piece import read_sentence_piece

#: A chat template in a file of its own; models with images had another for it up to transformers 4.51.
TEMPLATE_FILE = "chat_template.jinja"
_OLDER_TEMPLATE_FILE = "chat_template.json"
_CONFIG_FILE = "tokenizer_config.json"

_FILES = ("tokenizer.json", "tokenizer.model")
# Special tokens by ``tokenizer_class`` and name, for folders that name none.
_TOKENS_OF_CLASS: dict[str, Mapping[str, str]] = {
    name: tokens for line in LINES for name, tokens in line.tokenizers.items()
} | {"GPT2Tokenizer": dict.fromkeys(("bos_token", "eos_token", "unk_token"), "<|endoftext|>")}
_KNOWN = (
    KnownTemplate(
        "ChatML",
        ("<|im_start|>", "<|im_end|>"),
        "<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n",
        "<|im_start|>assistant\n",
        "<|im_end|>",
    ),
    *(line.template for line in LINES if line.template is not None),
)


def read_folder(folder: Path) -> tuple[Tokenizer, dict[str, str], dict[str, str]]:
    """Read the tokenizer of a folder.

    Returns:
        The tokenizer; the texts of its special tokens by name (``eos_token`` and the like); its chat templates.

    Raises:
        TokenizerInvalid: It is missing or cannot be read.
        UnsupportedModel: It is of a kind that Tenon does not know.
    """
    if not any((folder / name).is_file() for name in _FILES):
        raise TokenizerInvalid(
            "The model folder {folder} has no tokenizer: copy tokenizer.json there, or download the model again.",
            folder=folder,
        )
    try:
        config = _config(folder)
        kind = str(config.get("tokenizer_class")).removesuffix("Fast")
        tokenizer = _tokenizer(folder)
        special = _special_tokens(config, kind, tokenizer)
        _add_tokens(tokenizer, config, special, folder)
        return tokenizer, special, _templates(folder, config)
    except (TokenizerInvalid, UnsupportedModel):
        raise
    except Exception as error:  # the library's own kind, which has no name, and whatever a damaged file leads to
        raise TokenizerInvalid(
            "The tokenizer in {folder} cannot be read: download the model's tokenizer files again.",
            folder=folder,
            details=f"{type(error).__name__}: {error}",
        ) from error


def _json(path: Path) -> dict[str, Any]:
    """Return a file's dictionary; empty if there is no file."""
    return dict(read_json(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def _config(folder: Path) -> dict[str, Any]:
    config = _json(folder / _CONFIG_FILE)
    # Before it held the added tokens, a file of its own had the last word on the special ones.
    return config if "added_tokens_decoder" in config else config | _json(folder / "special_tokens_map.json")


def _tokenizer(folder: Path) -> Tokenizer:
    if (folder / "tokenizer.json").is_file():
        return Tokenizer.from_file(str(folder / "tokenizer.json"))
    return read_sentence_piece(read_file(folder / "tokenizer.model"))


def _special_tokens(config: Mapping[str, Any], kind: str, tokenizer: Tokenizer) -> dict[str, str]:
    known = {
        name: text
        for name, text in _TOKENS_OF_CLASS.get(kind, {}).items()
        if name not in config and tokenizer.token_to_id(text) is not None
    }
    named = {name: _text(value) for name, value in config.items() if name.endswith("_token")}
    return known | {name: text for name, text in named.items() if text is not None}


def _text(token: Any) -> str | None:
    """Return a token's text, which files have as it is or with its properties."""
    text = token.get("content") if isinstance(token, dict) else token
    return text if isinstance(text, str) else None


def _add_tokens(tokenizer: Tokenizer, config: Mapping[str, Any], special: Mapping[str, str], folder: Path) -> None:
    """Add what the files beside the tokenizer name and it does not know as a token that is never split."""
    known = {token.content for token in tokenizer.get_added_tokens_decoder().values()}
    for token in _named_tokens(config, special, folder):
        if token.content not in known:
            known.add(token.content)
            tokenizer.add_tokens([token])


def _named_tokens(config: Mapping[str, Any], special: Mapping[str, str], folder: Path) -> Iterator[AddedToken]:
    extra = config.get("extra_special_tokens") or config.get("additional_special_tokens") or ()
    texts = [_text(token) for token in (extra.values() if isinstance(extra, dict) else extra)]
    specials = [*special.values(), *(text for text in texts if text is not None)]
    if "added_tokens_decoder" in config:
        for _, token in sorted(config["added_tokens_decoder"].items(), key=lambda item: int(item[0])):
            yield AddedToken(**token)
    else:
        for text, _ in sorted(_json(folder / "added_tokens.json").items(), key=lambda item: int(item[1])):
            yield AddedToken(text, special=text in specials)
    for text in specials:
        yield AddedToken(text, special=True)


def read_folder_templates(folder: Path) -> dict[str, str]:
    """Read the chat templates of a folder by their files, the best first.

    Raises:
        ValueError, OSError: The tokenizer's own files cannot be read.
    """
    return _templates(folder, _config(folder))


def templates_beside(folder: Path) -> dict[str, str]:
    """Read the chat templates in files of their own, by their names, the newer form first; no file is needed."""
    found = {}
    with suppress(OSError, ValueError):
        found[TEMPLATE_FILE] = read_text_file(folder / TEMPLATE_FILE).removeprefix("\ufeff")
    with suppress(OSError, ValueError, TypeError, LookupError, AttributeError):  # a damaged one brings no template
        older = read_json(read_text_file(folder / _OLDER_TEMPLATE_FILE))
        found[_OLDER_TEMPLATE_FILE] = _default(older.get("chat_template"))
    return {name: source for name, source in found.items() if source}


def _templates(folder: Path, config: Mapping[str, Any]) -> dict[str, str]:
    found = {_CONFIG_FILE: _default(config.get("chat_template")), **templates_beside(folder)}
    order = (TEMPLATE_FILE, _CONFIG_FILE, _OLDER_TEMPLATE_FILE)
    return {name: found[name] for name in order if found.get(name)}


def _default(found: Any) -> str:
    """Return a template, or the default one of several; empty if there is none."""
    if isinstance(found, list):
        found = {named["name"]: named["template"] for named in found}.get("default")
    return found if isinstance(found, str) else ""


def known_template(tokens: Collection[str]) -> KnownTemplate | None:
    """Return the template of the family that has these tokens, or None if none is known."""
    return next((one for one in _KNOWN if all(mark in tokens for mark in one.marks)), None)
