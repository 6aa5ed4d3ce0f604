from __future__ import annotations

import pytest

from app.chat.formula import Formula, find_formulas


def found(text: str) -> list[str]:
    return [text[place.start : place.end] for place in find_formulas(text)]


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("Let $x$ be, and $y_1 = 2$.", ["$x$", "$y_1 = 2$"]),
        (r"Let \(x\) be \[y\]", [r"\(x\)", r"\[y\]"]),
        ("so $$a + b$$ holds", ["$$a + b$$"]),
        ("the $n$th and the $k$-means", ["$n$", "$k$"]),
        (r"$\$5$ is a formula", [r"$\$5$"]),
        ("($x$), **$y$**, $2ab$", ["$x$", "$y$", "$2ab$"]),
        (r"`$x$` is code, ``a ` $b$`` too, $c$ not", ["$c$"]),
        ("an open ` backtick before $x$", ["$x$"]),
        (r"\(a" + "\n" + r"+ b\)", ["\\(a\n+ b\\)"]),
    ],
)
def test_formulas_are_found(text: str, formulas: list[str]) -> None:
    assert found(text) == formulas


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5 and $10.",
        "from $5 to $10, or $10-$20",
        "about $5k and 10$ more",
        "US$5 and US$6",
        "$HOME/$USER and $PATH",
        r"\$x\$",
        "$x\n+ y$",
        "a lone $ sign, and $$$",
        "$ x $",
        "$x",
        r"\(x",
        "$$",
    ],
)
def test_money_and_stray_marks_are_no_formulas(text: str) -> None:
    assert found(text) == []


def test_display_and_source_are_told() -> None:
    places = find_formulas(r"$a$ \[ b \]")

    assert [place.formula for place in places] == [Formula("a"), Formula("b", display=True)]
