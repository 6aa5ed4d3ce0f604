"""Forms of a reply: JSON of a schema, a regular expression, or a grammar, as masks over the next token.

llguidance follows the form byte by byte and says of each token whether the form can go on with it.

Source: https://github.com/guidance-ai/llguidance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.errors import InvalidOption, UnsupportedModel
from engine.messages import OutputForm
from engine.sentences import say
from engine.text.thoughts import CLOSE
from engine.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from llguidance import LLMatcher
    from llguidance._lib import JsonCompileOptions

# Space between the parts of JSON: a model that may write any number of spaces may write nothing else.
_JSON_SPACE: JsonCompileOptions = {"whitespace_pattern": r"[ ]|\n[ \t]{0,16}"}
# Tokens that surely hold the end of the mark that closes a thought, whether it is one token or many.
_CLOSING_TOKENS = 12


class TokenMask:
    """Follows one reply through its form.

    Args:
        matcher: The form's.
        decode: Token ids to text.
    """

    def __init__(self, matcher: LLMatcher, decode: Callable[[Sequence[int]], str]) -> None:
        self._matcher = matcher
        self._decode = decode
        self._thought: list[int] | None = None

    def await_thought(self) -> None:
        """The reply begins with a thought, which has no form: the form begins behind it."""
        self._thought = []

    def allowed(self) -> NDArray[np.bool_] | None:
        """(n,) whether each token of the tokenizer may come next; None while every one may."""
        if self._thought is not None:
            return None
        bits = np.frombuffer(self._matcher.compute_bitmask(), np.uint8)
        return np.unpackbits(bits, bitorder="little").view(np.bool_)

    def take(self, token_id: int) -> None:
        """The token that has come."""
        if self._thought is None:
            self._matcher.consume_token(token_id)
            return
        self._thought.append(token_id)
        if CLOSE in self._decode(self._thought[-_CLOSING_TOKENS:]):
            self._thought = None


class FormCompiler:
    """Makes masks for the tokens of one tokenizer; making the compiler takes a second.

    Args:
        tokenizer: Of the model.

    Raises:
        UnsupportedModel: The tokens of this model cannot be followed.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        from llguidance import LLTokenizer  # few replies have a form

        self._decode = tokenizer.decode
        ends = sorted(end for end in tokenizer.end_ids if end < tokenizer.vocabulary_size)
        try:
            self._tokens = LLTokenizer(tokenizer.as_json(), eos_token=ends)
        except ValueError as error:
            raise UnsupportedModel(
                say("Replies of this model cannot be held to a form: use another model."), details=str(error)
            ) from error

    def mask(self, form: OutputForm) -> TokenMask:
        """The mask at a reply's beginning.

        Raises:
            InvalidOption: The form is none, or too large.
        """
        from llguidance import LLMatcher

        problem = ""
        try:
            matcher = LLMatcher(self._tokens, _grammar(form), log_level=0)
            problem = matcher.get_error()
        except Exception as error:  # a text that is no grammar makes the library's translator fail in any way
            problem = str(error) or type(error).__name__
        if problem:
            reason = problem.strip().partition("\n")[0]
            raise InvalidOption(
                say("The form of the reply cannot be used ({reason}): correct it.", reason=reason)
            )
        return TokenMask(matcher, self._decode)


def _grammar(form: OutputForm) -> str:
    from llguidance import LLMatcher
    from llguidance.gbnf_to_lark import any_to_lark

    if form.kind == "schema":
        return LLMatcher.grammar_from_json_schema(form.text, defaults=_JSON_SPACE)
    if form.kind == "regex":
        return LLMatcher.grammar_from_regex(form.text)
    return LLMatcher.grammar_from_lark(any_to_lark(form.text))
