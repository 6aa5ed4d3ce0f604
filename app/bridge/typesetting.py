"""Formulas into drawings, in a process of its own. No Qt here: the process must stay small."""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import asdict
from functools import cache
from types import ModuleType

from app.chat.formula import Formula, FormulaShape
from engine.json_text import from_plain, read_json

_EM = 100.0  # font size of the drawings, in their own units
_MATRIX_POWER = re.compile(r"(\\begin\{(\w*matrix\*?)\}.*?\\end\{\2\})(?=\s*[\^_])", re.DOTALL)
# A name that is still there once everything known has become a symbol.
_UNKNOWN = re.compile(r">\s*\\[A-Za-z]+\s*<")


@cache
def load() -> ModuleType:
    """Return the library, set to drawings that Qt can paint (SVG 1: no symbols that are used again).

    Raises:
        ImportError: It is not installed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import ziamath
    ziamath.config.svg2 = False
    ziamath.config.precision = 1
    library: ModuleType = ziamath
    return library


def typeset(library: ModuleType, formula: Formula) -> FormulaShape | None:
    """Return a formula's drawing, or None if the library cannot read it."""
    latex = _MATRIX_POWER.sub(r"{\1}", formula.latex)
    latex = latex.replace("<", r"\lt ").replace(">", r"\gt ")
    try:
        if _UNKNOWN.search(library.tex.tex2mml(latex, inline=not formula.display)):
            return None
        drawing = library.Latex(latex, size=_EM, inline=not formula.display, margin=0)
        box = drawing.node.bbox
        svg = drawing.svg()
    except Exception:  # whatever a model wrote, and whatever the library makes of it: the source is shown
        return None
    width, height = box.xmax - box.xmin, box.ymax - box.ymin
    if not (width > 0 and height > 0):
        return None
    return FormulaShape(svg, width / _EM, box.ymax / _EM, -box.ymin / _EM)


def answer(question: bytes) -> bytes:
    """Typeset one formula.

    Args:
        question: The `Formula` as JSON.

    Returns:
        Its `FormulaShape` as JSON; null if the formula cannot be typeset.

    Raises:
        ImportError: The library is not installed.
    """
    shape = typeset(load(), from_plain(Formula, read_json(question)))
    return json.dumps(shape and asdict(shape)).encode()
