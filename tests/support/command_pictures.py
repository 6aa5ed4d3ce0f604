"""Pictures of formulas, a search, the palette and shortcuts: ``python -m tests.support.command_pictures FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QSize
from PySide6.QtTest import QTest

from app.ui.shortcut_table import ShortcutTable
from app.ui.theme.theme import Theme
from tests.support.screenshots import LLAMA, begin, fill, open_window, take
from tests.support.scripted_workspace import ScriptedWorkspace

FORMULAS = r"""### The quadratic formula

For $ax^2 + bx + c = 0$ with $a \ne 0$, the roots are

$$
x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}
$$

where $b^2 - 4ac$ is the *discriminant*, $\Delta$. If \(\Delta > 0\) there are **two** real roots $x_1 \neq x_2$; the
$n$th power, $\frac{1}{2}$ of it, or $\sum_{i=1}^{n} i$ inline. It costs $5 and $10, and `$x$` is code.

1. A matrix: $A = \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}$ and so on, with $y$, $p$ and $q_j$
   \[ \int_0^\infty e^{-x^2}\,dx = \frac{\sqrt{\pi}}{2} \]

| Name | Formula |
|---|---|
| Energy | $E = mc^2$ |
| Entropy | $S = k_B \ln W$ |

This cannot be read: $\frac{a$ and $\unheardof{x}$.
"""


def formulas(theme: Theme, folder: Path, name: str, size: QSize) -> None:
    """Formulas in text, on their own, in a table; and two that cannot be read."""
    workspace = ScriptedWorkspace(LLAMA)
    fill(workspace)
    window = open_window(theme, workspace, size)
    window.page.open(workspace.add_conversation("Quadratic equations", 0, "Solve it", FORMULAS))
    QTest.qWait(200)
    window.page.transcript.verticalScrollBar().setValue(0)
    take(window, folder, name)
    window.close()


def commands(theme: Theme, folder: Path, name: str, size: QSize) -> None:
    """The palette while something is typed, the table of shortcuts, and a search in the chat."""
    workspace = ScriptedWorkspace(LLAMA)
    window = open_window(theme, workspace, size)
    window.page.open(fill(workspace))
    window.activateWindow()
    window.commands["palette"].trigger()
    QTest.keyClicks(window.palette_box.field, "cop")
    take(window, folder, f"palette-{name}")
    window.palette_box.open()
    window.show_shortcuts()
    QTest.qWait(200)
    table = window.findChild(ShortcutTable)
    assert table is not None
    table.grab().save(str(folder / f"shortcuts-{name}.png"))
    table.close()
    window.commands["find"].trigger()
    QTest.keyClicks(window.find_in_chat.bar.field, "chunk")
    window.commands["find-next"].trigger()
    take(window, folder, f"find-{name}")
    window.close()


def main() -> int:
    """Take all pictures."""
    app, theme, folder = begin(dark=False)
    wide, small = QSize(1280, 820), QSize(380, 560)
    for dark in (False, True):
        theme.set_dark(dark)
        word = "dark" if dark else "light"
        formulas(theme, folder, f"formulas-{word}", wide)
        commands(theme, folder, word, wide)
    commands(theme, folder, "small-dark", small)
    theme.set_dark(False)
    theme.set_scale(1.5)
    formulas(theme, folder, "formulas-150-light", wide)
    commands(theme, folder, "150-light", wide)
    app.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
