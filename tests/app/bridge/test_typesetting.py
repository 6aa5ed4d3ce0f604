from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.bridge import typesetter as module
from app.bridge.typesetter import Typesetter
from app.bridge.typesetting import load, typeset
from app.chat.formula import Formula, FormulaShape

LIBRARY = load()


@pytest.mark.parametrize(
    "latex",
    [
        r"\frac{-b \pm \sqrt{b^2-4ac}}{2a}",
        r"\begin{aligned} a &= b \\ &= c \end{aligned}",
        r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}^{-1}",
        "a < b > c",
        r"\text{if } x",
    ],
)
def test_what_models_write_is_typeset(latex: str) -> None:
    shape = typeset(LIBRARY, Formula(latex))

    assert shape.svg.startswith("<svg")
    assert shape.width > 0.5
    assert shape.ascent > 0.3


@pytest.mark.parametrize("latex", [r"\frac{a", "x_{", r"\left(x", r"\unheardof{x}", "%"])
def test_what_cannot_be_read_is_none(latex: str) -> None:
    assert typeset(LIBRARY, Formula(latex)) is None


def test_a_fraction_hangs_below_the_baseline_and_a_letter_stands_on_it() -> None:
    fraction, letter = typeset(LIBRARY, Formula(r"\frac{a}{b}")), typeset(LIBRARY, Formula("x"))

    assert fraction.descent > 0.3
    assert abs(letter.descent) < 0.05


def test_a_display_is_larger() -> None:
    line, display = (typeset(LIBRARY, Formula(r"\sum_{i=1}^n i", shown)) for shown in (False, True))

    assert display.ascent + display.descent > line.ascent + line.descent


def test_the_process_answers_and_survives_a_formula_that_takes_for_ever(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module.TYPESETTING, "time_s", 1.5)
    monkeypatch.setattr(module.TYPESETTING, "nice", 0)  # on a busy machine a nice process gets hardly any time
    answers: dict[str, FormulaShape | None] = {}
    typesetter = Typesetter()
    typesetter.answered.connect(lambda formula, shape: answers.__setitem__(formula.latex, shape))
    endless = "x"
    for _ in range(12):
        endless = rf"\left(\frac{{{endless}}}{{2}}\right)"

    for latex in ("x", endless, "y"):
        typesetter.ask(Formula(latex))
    qtbot.waitUntil(lambda: len(answers) == 3)
    typesetter.close()

    assert answers["x"] is not None
    assert answers[endless] is None
    assert answers["y"] is not None


def test_without_a_process_the_source_is_shown(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.TYPESETTING, "_start", _refused)
    typesetter = Typesetter()

    with qtbot.waitSignal(typesetter.answered) as answer:
        typesetter.ask(Formula("x"))
    typesetter.close()

    assert answer.args == [Formula("x"), None]


def _refused() -> None:
    raise OSError


def test_closing_ends_the_process_at_once(qtbot: QtBot) -> None:
    typesetter = Typesetter()
    typesetter.ask(Formula("x"))

    typesetter.close()
    typesetter.close()

    assert module.TYPESETTING._running is None
