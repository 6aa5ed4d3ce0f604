"""Answers that a rule can tell to be wrong: what goes round in a circle, false sums, code that does not parse.

Source: Minions (Wang et al. 2024), section 4, which leaves out wrong answers of the target before a small model learns
from the others.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Sequence
from fractions import Fraction

from engine.text.repetition import loop_start

# A sum of two whole numbers, in signs or words, that is not a part of a longer one, and what it is said to be.
_NUMBER = r"(-?\d{1,12})"
_SUM = re.compile(
    rf"(?<![\d.,+*/x×÷^-])(?<![+*/x×÷^-] ){_NUMBER} ?(\+|-|\*|/|x|×|÷|plus|minus|times|divided by) ?{_NUMBER}"
    rf" ?(?:=|is|equals|makes) ?{_NUMBER}(?![\d.,]?\d|/| ?[+*/×÷^-] ?\d)"
)
_SIGNS = {"plus": "+", "minus": "-", "times": "*", "x": "*", "×": "*", "÷": "/", "divided by": "/"}
_BLOCK = re.compile(r"```(python|json)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def is_wrong(reply: str, token_ids: Sequence[int] = ()) -> bool:
    """True if a rule tells that an answer is wrong; what no rule knows counts as right.

    Args:
        reply: Its text.
        token_ids: The same as tokens, which show whether it goes round in a circle.
    """
    if loop_start(token_ids) is not None:
        return True
    return any(not _adds_up(*found.groups()) for found in _SUM.finditer(reply)) or any(
        not _parses(*found.groups()) for found in _BLOCK.finditer(reply)
    )


def _adds_up(first: str, sign: str, second: str, said: str) -> bool:
    one, other = Fraction(first), Fraction(second)
    sign = _SIGNS.get(sign, sign)
    if sign == "/":
        return other != 0 and one / other == Fraction(said)
    return {"+": one + other, "-": one - other, "*": one * other}[sign] == Fraction(said)


def _parses(language: str, text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd escapes, which are none of ours
            ast.parse(text) if language == "python" else json.loads(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
