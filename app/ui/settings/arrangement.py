"""Layout of the dialog: pages beside the rows, or, in a narrow one, everything below one another."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.ui.boxes import filled
from app.ui.settings.foot import Foot
from app.ui.settings.head import Head
from app.ui.settings.page_list import PageList
from app.ui.settings.page_stack import PageStack
from app.ui.theme.theme import Theme

_NARROW_PX = 720


class Arrangement:
    """Lays them out.

    Args:
        dialog: Whose layout it is.
        page_list: At the side; in a narrow dialog its box is in the head.
        head: Above the rows; in a narrow dialog it scrolls away with them.
        stack: The rows.
        foot: Below.
    """

    def __init__(
        self, theme: Theme, dialog: QWidget, page_list: PageList, head: Head, stack: PageStack, foot: Foot
    ) -> None:
        self._theme = theme
        self._dialog = dialog
        self._page_list = page_list
        self._head = head
        self._stack = stack
        self._foot = foot
        line = filled(QHBoxLayout(dialog), page_list, margins=0, spacing=0)
        self._right = right = QVBoxLayout()
        line.addLayout(right, 1)  # before it is filled, or PySide keeps the item of the head, which moves
        right.setSpacing(0)
        right.addWidget(head)
        right.addWidget(stack, 1)
        right.addWidget(foot)
        head.put_pages(page_list.box)

    def fit(self) -> None:
        """Lay out for the dialog's width."""
        width = self._dialog.width()
        narrow = width < self._theme.type.px(_NARROW_PX)
        self._place_head(narrow)
        self._page_list.setVisible(not narrow)
        beside = width if narrow else width - self._page_list.width()
        self._head.fit(beside, narrow)
        self._foot.fit(beside)
        self._stack.arrange()

    def order_tabs(self) -> None:
        """From the left to the right and from top to bottom, whenever a page was made."""
        head, pages, foot = self._head, self._page_list, self._foot
        order: list[QWidget] = [pages.list, pages.box, head.search]
        order += [*head.level.buttons.values(), *head.scope.buttons.values(), *self._stack.controls()]
        order += [foot.undo_button, foot.apply_button]
        for before, after in pairwise(order):
            QWidget.setTabOrder(before, after)

    def _place_head(self, narrow: bool) -> None:
        head = self._head
        inside = head.parent() is not self._dialog
        if inside == narrow:
            return
        focused = self._dialog.focusWidget()
        if narrow:
            self._right.removeWidget(head)
            self._stack.put_head(head)
        else:
            self._stack.put_head(None)
            self._right.insertWidget(0, head)
            head.show()
        if focused is not None and head.isAncestorOf(focused):
            focused.setFocus()
        self.order_tabs()
