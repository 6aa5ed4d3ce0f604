"""Forms of a reply: JSON of a schema, a regular expression, or a grammar, as masks over the next token.

llguidance follows the form byte by byte and says of each token whether the form can go on with it.

Source: https://github.com/guidance-ai/llguidance.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.errors import InvalidOption, UnsupportedModel
from engine.messages import OutputForm, ToolUse
from engine.text.thoughts import CLOSE
from engine.text.tokenizer import Tokenizer
from engine.text.tool_calls import DESCRIBED
from engine.text.tool_calls.format import ToolFormat

if TYPE_CHECKING:
    from llguidance import LLMatcher, LLTokenizer
    from llguidance._lib import JsonCompileOptions

# Space between the parts of JSON: a model that may write any number of spaces may write nothing else.
_JSON_SPACE: JsonCompileOptions = {"whitespace_pattern": r"[ ]|\n[ \t]{0,16}"}
# Tokens that surely hold a mark, whether it is one token or many.
_MARK_TOKENS = 12
_NO_TOOLS = ToolUse()
_NEVER = "\0"  # no text has it: what begins in another way than the form goes on without one


class TokenMask:
    """Follows one reply through its form.

    Args:
        matcher: The form's.
        tokens: Of the tokenizer.
        decode: Token ids to text with special tokens.
        mark: Text that the form begins behind; empty where it begins at once.
    """

    def __init__(
        self, matcher: LLMatcher, tokens: LLTokenizer, decode: Callable[[Sequence[int]], str], mark: str = ""
    ) -> None:
        self._matcher = matcher
        self._tokens = tokens
        self._decode = decode
        self._marks = [mark] if mark else []
        self._free: list[int] = []

    def await_thought(self) -> None:
        """The reply begins with a thought, which has no form: the form begins behind it."""
        self._marks.insert(0, CLOSE)

    def allowed(self) -> NDArray[np.bool_] | None:
        """(n,) whether each token of the tokenizer may come next; None while every one may."""
        if self._marks:
            return None
        bits = np.frombuffer(self._matcher.compute_bitmask(), np.uint8)
        return np.unpackbits(bits, bitorder="little").view(np.bool_)

    def take(self, token_id: int) -> None:
        """The token that has come."""
        if not self._marks:
            self._matcher.consume_token(token_id)
            return
        self._free.append(token_id)
        _, found, behind = self._decode(self._free[-_MARK_TOKENS:]).partition(self._marks[0])
        if not found:
            return
        del self._marks[0]
        self._free.clear()
        # The token that ends the mark may begin the form, too.
        begun = self._tokens.tokenize_str(behind) if not self._marks and behind.strip() else []
        if self._matcher.try_consume_tokens(begun) < len(begun):
            self._marks = [_NEVER]


class FormCompiler:
    """Makes masks for the tokens of one tokenizer; making the compiler takes a second.

    Args:
        tokenizer: Of the model.

    Raises:
        UnsupportedModel: The tokens of this model cannot be followed.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        from llguidance import LLTokenizer, TokenizerWrapper  # few replies have a form

        self._tokenizer = tokenizer
        self._calls = DESCRIBED if tokenizer.template is None else tokenizer.template.calls
        try:
            text = _Text(tokenizer, self._calls.marks)
            self._tokens = LLTokenizer(TokenizerWrapper(text), eos_token=text.ends)
        except ValueError as error:
            raise UnsupportedModel(
                "Replies of this model cannot be held to a form: use another model.", details=str(error)
            ) from error

    def mask(self, form: OutputForm | None, tools: ToolUse = _NO_TOOLS, answer: str = "") -> TokenMask | None:
        """The mask at a reply's beginning; None for a reply that may be anything.

        Args:
            form: Of the reply.
            tools: Tools that it may call, with arguments of their schemas; beside a form, of which it is the one or
                the other, a JSON schema.
            answer: Text that a form without tools waits for; empty where it begins at once.

        Raises:
            InvalidOption: The form is none, or too large.
        """
        if not tools.offered:
            return None if form is None else self._mask(lambda: _grammar(form), answer)
        awaited = form is None and not tools.required
        if awaited and self._calls.bare:  # nothing tells a call from an answer before it is there
            return None
        return self._mask(
            lambda: self._call_grammar(self._calls, tools, form), self._calls.opening if awaited else ""
        )

    def _call_grammar(self, calls: ToolFormat, tools: ToolUse, form: OutputForm | None) -> str:
        from llguidance import LLMatcher

        marks = self._tokenizer.marks(calls.marks)
        special = re.compile("|".join(map(re.escape, marks)) or r"(?!)")

        def literal(text: str) -> str:
            """A text in the words of the grammar, where special tokens are no text."""
            between = special.split(text)
            found = [f"<[{marks[mark]}]>" for mark in special.findall(text)]
            parts = [json.dumps(one) if one else "" for one in between]
            return (
                " ".join(filter(None, [x for pair in zip(parts, [*found, ""], strict=True) for x in pair]))
                or '""'
            )

        usable = [tool for tool in tools.offered if tools.only in ("", tool.name)]
        rules, more = calls.rules(usable, literal, tools.parallel), calls.between
        again = f" ({literal(more + calls.opening)} call)*" if more is not None and tools.parallel else ""
        if form is None and not tools.required:
            return LLMatcher.grammar_from_lark("\n".join([f"start: call{again}", *rules]))
        start = f"{literal(calls.opening)} call{again}"
        if form is not None and not tools.required:
            start = f"{start} | form"
            rules.append(f"form: %json {form.text}")
        return LLMatcher.grammar_from_lark("\n".join([f"start: {start}", *rules]))

    def _mask(self, grammar: Callable[[], str], mark: str = "") -> TokenMask:
        from llguidance import LLMatcher

        problem = ""
        try:
            matcher = LLMatcher(self._tokens, grammar(), log_level=0)
            problem = matcher.get_error()
        except Exception as error:  # a text that is no grammar makes the library's translator fail in any way
            problem = str(error) or type(error).__name__
        if problem:
            reason = problem.strip().partition("\n")[0]
            raise InvalidOption("The form of the reply cannot be used ({reason}): correct it.", reason=reason)
        return TokenMask(matcher, self._tokens, partial(self._tokenizer.decode, special=True), mark)


class _Text:
    """The tokens of a tokenizer as llguidance wants them, of which marks and special tokens are no text.

    The library itself takes every added token in angle brackets for a special one, and finds these in the texts that a
    form prescribes: a reply that must say "<h1>", or a mark's name in a JSON text, could not go on.
    """

    bos_token_id = None

    def __init__(self, tokenizer: Tokenizer, marks: Sequence[str]) -> None:
        from llguidance import LLTokenizer

        plain = json.loads(tokenizer.as_json()) | {"added_tokens": []}
        # A form prescribes bytes: texts that are composed first, as Qwen's are, would be others.
        if (plain.get("normalizer") or {}).get("type") == "NFC":
            plain["normalizer"] = None
        self._plain = LLTokenizer(json.dumps(plain), eos_token=[0])
        size = max(self._plain.vocab_size, 1 + max(tokenizer.added, default=0))
        self.tokens = [self._plain.decode_bytes([token]) for token in range(self._plain.vocab_size)]
        self.tokens += [b""] * (size - len(self.tokens))
        for token, content in tokenizer.added.items():
            self.tokens[token] = content.encode()
        for token, same in tokenizer.spelled.items():
            self.tokens[token] = b"".join(self.tokens[one] for one in same)
        self.special_token_ids = sorted(tokenizer.special.union(tokenizer.marks(marks).values()))
        self.ends = sorted(end for end in tokenizer.end_ids if end < len(self.tokens))
        self.eos_token_id = self.ends[0] if self.ends else 0  # `ends` takes its place

    def __call__(self, text: bytes) -> list[int]:
        """Token ids of a text."""
        return self._plain.tokenize_bytes(text)


def _grammar(form: OutputForm) -> str:
    from llguidance import LLMatcher
    from llguidance.gbnf_to_lark import any_to_lark

    if form.kind == "schema":
        return LLMatcher.grammar_from_json_schema(form.text, defaults=_JSON_SPACE)
    if form.kind == "regex":
        return LLMatcher.grammar_from_regex(form.text)
    return LLMatcher.grammar_from_lark(any_to_lark(form.text))
