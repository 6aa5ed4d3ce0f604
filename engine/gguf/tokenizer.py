"""A tokenizer from a GGUF file's metadata, as a fast tokenizer of the library tokenizers.

transformers reads these files too, but takes GPT-2's splitting for every name that it does not know, spells tokens that
are no bytes anew (DeepSeek's, whose distilled models are GGUF files of Qwen and Llama) and lets the merges break tokens
that Llama 3 keeps whole: each gives other tokens than the model learned, without a word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gguf.constants import TokenType
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from engine.errors import TokenizerInvalid, UnsupportedModel
from engine.gguf.pre_tokenizers import SPLITTINGS, Splitting
from engine.sentences import mark

_SPACE = "\u2581"
_WHOLE = frozenset({TokenType.CONTROL, TokenType.USER_DEFINED, TokenType.UNKNOWN})
_SPECIAL = frozenset({TokenType.CONTROL, TokenType.UNKNOWN})
_SPECIAL_KEYS = {"bos": "bos", "eos": "eos", "unk": "unknown", "pad": "padding"}
# Phi-3's own tokenizer drops white space behind its special tokens, but for these.
_KEEPING_SPACE = frozenset({"<unk>", "<s>", "<|endoftext|>"})
_UNKNOWN_SPLITTING = mark(
    "Tenon does not know how the tokenizer in the GGUF file splits a text (tokenizer.ggml.pre is {name}); choose a "
    "newer file of this model, or its safetensors version."
)
_NO_SPLITTING = mark(
    "Tenon does not know how the tokenizer in the GGUF file splits a text (tokenizer.ggml.pre is missing); choose a "
    "newer file of this model, or its safetensors version."
)


def read_tokenizer(metadata: Mapping[str, Any]) -> tuple[Tokenizer, dict[str, str], str | None]:
    """Build the tokenizer that a file's metadata describe.

    Returns:
        The tokenizer; the texts of its special tokens by name (``eos_token`` and the like); the chat template.

    Raises:
        TokenizerInvalid: There is none, or it makes no sense.
        UnsupportedModel: It is of a kind that Tenon does not know.
    """
    try:
        return _Vocabulary(metadata).tokenizer()
    except (TokenizerInvalid, UnsupportedModel):
        raise
    except Exception as error:  # the library's own kind, which has no name, and what damaged metadata lead to
        raise TokenizerInvalid(
            "The tokenizer in the GGUF file is damaged: download the file again.",
            details=f"{type(error).__name__}: {error}",
        ) from error


def byte_level(ids: dict[str, int], merges: Sequence[str], splitting: Splitting) -> Tokenizer:
    """A tokenizer of bytes that are merged.

    Args:
        ids: The tokens.
        merges: Two tokens each, with a space between them, the first ones first.
        splitting: Splits of a text before.

    Raises:
        Exception: Of a merge that makes no token; the library's own kind, which has no name.
    """
    pairs = [(left, right) for left, _, right in (merge.partition(" ") for merge in merges)]
    backend = Tokenizer(models.BPE(ids, pairs, ignore_merges=splitting.whole_words))
    splits = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in splitting.patterns]
    to_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.pre_tokenizer = pre_tokenizers.Sequence([*splits, to_bytes])
    backend.decoder = decoders.ByteLevel()
    return backend


class _Vocabulary:
    """The tokenizer in the making."""

    def __init__(self, metadata: Mapping[str, Any]) -> None:
        self._metadata = metadata
        self._kind = self._value("model", "no_vocab")
        if self._kind not in ("gpt2", "llama", "gemma4"):
            if self._kind == "no_vocab":
                raise TokenizerInvalid("The GGUF file has no tokenizer: download another file of this model.")
            raise UnsupportedModel(
                "Tenon has no tokenizer of the kind {kind} in GGUF files; choose another model, or "
                "its safetensors version.",
                kind=self._kind,
            )
        tokens = self._value("tokens")
        self._tokens = [token or f"[EMPTY_{index}]" for index, token in enumerate(tokens)]
        kinds = self._value("token_type", [TokenType.NORMAL] * len(tokens))
        self._kinds = [int(kinds[index]) for index in range(len(tokens))]
        # Rows by which the embedding is padded have names in the file, but are no tokens.
        named = [index for index, token in enumerate(self._tokens) if not self._is_padding(index, token)]
        self._ids = {self._tokens[index]: index for index in named}
        if len(self._ids) < len(named):
            raise ValueError("two tokens have the same text")

    def _is_padding(self, index: int, token: str) -> bool:
        return self._kinds[index] == TokenType.UNUSED and token == f"[PAD{index}]"

    def _value(self, key: str, default: Any = None) -> Any:
        name = f"tokenizer.ggml.{key}"
        return self._metadata[name] if default is None else self._metadata.get(name, default)

    def _special(self, key: str) -> str | None:
        """The text of a special token that the metadata names by its id."""
        index = self._metadata.get(f"tokenizer.ggml.{key}_token_id")
        return self._tokens[index] if isinstance(index, int) and 0 <= index < len(self._tokens) else None

    def tokenizer(self) -> tuple[Tokenizer, dict[str, str], str | None]:
        backend, starts = self._byte_level() if self._kind == "gpt2" else self._sentence_piece()
        special = {f"{name}_token": self._special(key) for name, key in _SPECIAL_KEYS.items()}
        known = {name: token for name, token in special.items() if token is not None}
        backend.add_tokens([self._whole(token, kind) for token, kind in self._whole_tokens()])
        plain = [token for token in known.values() if self._kinds[self._ids[token]] not in _WHOLE]
        backend.add_tokens([AddedToken(token, special=True) for token in plain])
        start = known.get("bos_token")
        if start is not None and self._value("add_bos_token", starts):
            backend.post_processor = processors.TemplateProcessing(
                single=[start, "$A"], special_tokens=[(start, self._ids[start])]
            )
        template = self._metadata.get("tokenizer.chat_template")
        return backend, known, template if isinstance(template, str) and template else None

    def _whole_tokens(self) -> list[tuple[str, int]]:
        """Tokens that are found in a text before it is split, with their kinds."""
        return [(t, kind) for t, kind in zip(self._tokens, self._kinds, strict=True) if kind in _WHOLE]

    def _whole(self, token: str, kind: int) -> AddedToken:
        phi3 = self._kind == "llama" and self._metadata.get("general.architecture") == "phi3"
        drops_space = phi3 and (kind == TokenType.CONTROL or token == "</s>") and token not in _KEEPING_SPACE
        return AddedToken(token, normalized=False, special=kind in _SPECIAL, rstrip=drops_space)

    def _byte_level(self) -> tuple[Tokenizer, bool]:
        name = self._value("pre", "")
        splitting = SPLITTINGS.get(name)
        if splitting is None:
            raise UnsupportedModel(_UNKNOWN_SPLITTING if name else _NO_SPLITTING, name=name)
        return byte_level(self._ids, self._value("merges"), splitting), splitting.starts

    def _sentence_piece(self) -> tuple[Tokenizer, bool]:
        """SentencePiece's merges: of two neighbours that make a token, those with the best score come first.

        Gemma 4's file has the merges.
        """
        if self._kind == "gemma4":
            merges = [
                (left, right) for left, _, right in (one.partition(" ") for one in self._value("merges"))
            ]
        else:
            merges = self._merges([float(score) for score in self._value("scores")])
        model = models.BPE(
            self._ids,
            merges,
            unk_token=self._special("unknown"),
            fuse_unk=True,
            byte_fallback=True,
        )
        backend = Tokenizer(model)
        prefixed = bool(self._value("add_space_prefix", True))
        backend.normalizer = normalizers.Sequence(
            [*([normalizers.Prepend(_SPACE)] if prefixed else []), normalizers.Replace(" ", _SPACE)]
        )
        read = [decoders.Replace(_SPACE, " "), decoders.ByteFallback(), decoders.Fuse()]
        backend.decoder = decoders.Sequence([*read, *([decoders.Strip(" ", 1, 0)] if prefixed else [])])
        return backend, True

    def _merges(self, scores: Sequence[float]) -> list[tuple[str, str]]:
        plain = {
            token: index
            for index, token in enumerate(self._tokens)
            if self._kinds[index] in (TokenType.NORMAL, TokenType.USER_DEFINED)
        }
        merges: list[tuple[str, str]] = []
        for token in sorted(plain, key=lambda token: (-scores[plain[token]], plain[token])):
            halves = ((token[:cut], token[cut:]) for cut in range(1, len(token)))
            found = [(left, right) for left, right in halves if left in plain and right in plain]
            merges += sorted(found, key=lambda pair: (plain[pair[0]], plain[pair[1]]))
        return merges
