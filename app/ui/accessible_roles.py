"""Roles of painted widgets for screen readers: Qt knows no role for a class of one's own."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QAccessibleWidget, QWidget

_Role = QAccessible.Role
# By the names of their classes, as Qt asks for them.
ROLES = {
    "AcceptancePlot": _Role.Chart,
    "Bars": _Role.Chart,
    "DraftTree": _Role.Graphic,
    "FormulaBlock": _Role.Equation,
    "LinePlot": _Role.Chart,
    "MemoryBar": _Role.Chart,
    "PaneEdge": _Role.Grip,
    "PlanTable": _Role.Graphic,
    "PlanView": _Role.Graphic,
    "ShortageBar": _Role.Chart,
    "TokenView": _Role.Graphic,
}
_installed: list[object] = []


def _make(name: str, widget: QObject) -> QAccessibleInterface | None:
    role = ROLES.get(name)
    if role is None or not isinstance(widget, QWidget):
        return None
    return QAccessibleWidget(widget, role)


def install_roles() -> None:
    """Tell Qt, once in a process."""
    if not _installed:
        QAccessible.installFactory(_make)
        _installed.append(_make)
