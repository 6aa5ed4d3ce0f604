"""The line above the transcript: sidebar button, title, the model in use with its menu, and what a choice does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, QPointF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFileDialog, QSizePolicy, QWidget

from app.bridge.workspace import Workspace
from app.chat.engine_state import EnginePhase, EngineState
from app.chat.modes import Choice
from app.ui import figures
from app.ui.choice_popup import MenuButton
from app.ui.composer.composer import DraftButton
from app.ui.painting import paint_box, paint_dot, paint_icon, paint_words, painted, place, smooth
from app.ui.parts import PlainLabel, icon_button
from app.ui.theme.icons import themed_icon
from app.ui.theme.theme import TextStyle, Theme
from app.words import tr
from engine.hub.titles import type_of_model
from engine.messages import PlanReport
from engine.modes import named_drafts

OPEN_FOLDER = "open-folder"
OPEN_FILE = "open-file"
MORE_MODELS = "more-models"
ADD_SERVER = "add-server"
_DOT_PX = 8
_LEAST_DETAIL_PX = 60  # less of the words after the name says nothing
_ICON_PX = 14
_HEIGHT_PX = 52
_BUTTON_PX = 32
_LEAST_TITLE_PX = 100
_OPTIONS_PX = 28


def engine_words(state: EngineState) -> str:
    """Text beside the model's name."""
    if state.phase is EnginePhase.STARTING:
        return tr("warming up")
    if state.phase is EnginePhase.LOADING and state.server is None:
        return (
            tr("loading")
            if state.fraction is None
            else tr("loading, {percent}", percent=figures.percent(state.fraction))
        )
    if state.phase is EnginePhase.STOPPED:
        return tr("stopped")
    if state.measuring:
        return tr("measuring")
    if state.server is not None:
        return tr("on {server}", server=state.server.name)
    if state.phase is EnginePhase.IDLE:
        if state.resting:
            return tr("idle")
        return tr("not loaded") if state.sentence else type_of_model(state.model_ref)
    return state.weights


def draft_words(plan: PlanReport | None, drafts: Sequence[str]) -> str:
    """Return what a chosen draft that gains nothing comes to; empty for one that pays, and while that is not known."""
    named, taken = named_drafts(drafts), None if plan is None else plan.taken
    if plan is None or taken is None or not named:
        return ""
    used = taken if taken.drafts else plan.drafted(several=len(named) > 1)
    times = None if used is None else plan.times_plain(used)
    if used is None or times is None:
        return ""
    gain = figures.times_plain(times)
    if used is not taken:
        if used.measured:
            return tr("draft not used: measured {gain}", gain=gain)
        return tr("draft not used: predicted {gain}", gain=gain)
    if round(times, 1) > 1.0:
        return ""
    return tr("draft: measured {gain}", gain=gain) if taken.measured else tr("draft: predicted {gain}", gain=gain)


class ModelButton(MenuButton):
    """Painted: dot, name, detail, chevron; ``compact`` is the small line under the title of a narrow window."""

    model_chosen = Signal(str)
    folder_requested = Signal()
    file_requested = Signal()
    more_requested = Signal()
    server_requested = Signal()

    def __init__(self, theme: Theme, state: EngineState, parent: QWidget | None = None) -> None:
        super().__init__(theme, _ICON_PX, QSizePolicy.Policy.Maximum, parent)
        self._state = state
        self._compact = False
        self.draft: str = ""  # what a chosen draft that gains nothing comes to
        self.set_state(state)

    def set_state(self, state: EngineState) -> None:
        """Show the engine's state."""
        self._state = state
        words = self._words
        self.setAccessibleName(
            tr("Model: {model}, {state}", model=state.model_name, state=words)
            if words
            else tr("Model: {model}", model=state.model_name)
        )
        resting = tr("It was not used for a while, so its memory is free; the next message loads it again.")
        self.setToolTip(state.sentence or (resting if state.resting else tr("Choose a model")))
        self.updateGeometry()
        self.update()

    @property
    def _words(self) -> str:
        """Words after the name."""
        return ", ".join(filter(None, (engine_words(self._state), self.draft)))

    def set_compact(self, compact: bool) -> None:
        """One small line without a dot."""
        self._compact = compact
        self.updateGeometry()
        self.update()

    def open_menu(self, choices: list[Choice]) -> None:
        """Show the models to choose from."""
        self._open_popup(tr("Models"), self._rows(choices), above=False)

    def refresh_models(self, choices: list[Choice]) -> None:
        """Show the models anew in the menu, if it is still open."""
        if self.popup is not None:
            self.popup.show_choices(tr("Models"), self._rows(choices))

    def _rows(self, choices: list[Choice]) -> list[Choice]:
        return [
            *(replace(choice, checked=choice.key == self._state.model_ref) for choice in choices),
            Choice(MORE_MODELS, tr("Get more models..."), ""),
            Choice(OPEN_FOLDER, tr("Open a model folder..."), ""),
            Choice(OPEN_FILE, tr("Open a model file..."), ""),
            Choice(ADD_SERVER, tr("Add a server..."), ""),
        ]

    def sizeHint(self) -> QSize:
        """Return a size as wide as its words."""
        name, detail = self._widths()
        if self._compact:
            return QSize(name + (6 + detail if detail else 0) + 4, self._theme.type.px(18))
        return QSize(
            12 + _DOT_PX + 8 + name + (8 + detail if detail else 0) + 8 + self._icon_px + 12,
            self._theme.type.side(32),
        )

    @property
    def bare_width(self) -> int:
        """Width in px with the whole name and no words after it."""
        _, detail = self._widths()
        return self.sizeHint().width() - (detail + 8 if detail else 0)

    def width_in(self, room: int) -> int:
        """Return the width to take of some room in px, without the words after the name if they do not fit."""
        whole, bare = self.sizeHint().width(), self.bare_width
        if whole <= room:
            return whole
        return room if room - bare - 8 >= _LEAST_DETAIL_PX else min(bare, room)

    def minimumSizeHint(self) -> QSize:
        """Return a small width: the name is elided when there is no room."""
        return QSize(self._theme.type.px(60), self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the chip."""
        painter = smooth(self)
        if self._compact:
            self._paint_words(painter, 2, self.width() - 2)
            return
        paint_box(painter, self._theme, self.rect(), 8, self._fill("side"))
        self._paint_dot(painter, painted(self, 12, 0, _DOT_PX, self.height()).center())
        right = self.width() - 12 - self._icon_px
        self._paint_words(painter, 12 + _DOT_PX + 8, right - 8)
        paint_icon(painter, self._theme, self, "chevron-down", right, self._icon_px)

    def _fonts(self) -> tuple[TextStyle, TextStyle]:
        if self._compact:
            return TextStyle.SMALL, TextStyle.SMALL
        return TextStyle.UI_BOLD, TextStyle.UI

    def _widths(self) -> tuple[int, int]:
        name, detail = (QFontMetrics(self._theme.font(style)) for style in self._fonts())
        return name.horizontalAdvance(self._state.model_name) + 1, detail.horizontalAdvance(self._words)

    def _paint_words(self, painter: QPainter, left: int, right: int) -> None:
        name_style, detail_style = self._fonts()
        name_width, detail_width = self._widths()
        room = right - left
        gap = 6 if self._compact else 8
        left_over = room - name_width - gap
        if left_over < min(detail_width, _LEAST_DETAIL_PX):
            detail_width = 0
        detail_width = min(detail_width, left_over)
        role = "sub" if self._compact and not self.underMouse() else "text"
        box, elide = painted(self, left, 0, room + 1, self.height()), Qt.TextElideMode.ElideMiddle
        paint_words(painter, self._theme, box, self._state.model_name, name_style, role, elide=elide)
        if detail_width > 0:
            box = painted(self, left + name_width + gap, 0, detail_width + 1, self.height())
            role, elide = "mute" if self._compact else "sub", Qt.TextElideMode.ElideRight
            paint_words(painter, self._theme, box, self._words, detail_style, role, elide=elide)

    def _paint_dot(self, painter: QPainter, center: QPointF) -> None:
        phase = self._state.phase
        stopped = phase is EnginePhase.STOPPED or bool(self._state.sentence)
        hollow = phase is not EnginePhase.READY and not stopped
        paint_dot(painter, self._theme, center, _DOT_PX, "red" if stopped else "acc", hollow)

    @Slot(str)
    def _choose(self, key: str) -> None:
        ways = {
            OPEN_FOLDER: self.folder_requested, OPEN_FILE: self.file_requested, MORE_MODELS: self.more_requested,
            ADD_SERVER: self.server_requested,
        }  # fmt: skip
        if key in ways:
            ways[key].emit()
        else:
            self.model_chosen.emit(key)


class Header(QWidget):
    """Lays its parts out by hand: the model stands in the middle while there is room, under the title when not."""

    sidebar_toggled = Signal()
    new_requested = Signal()
    inspector_toggled = Signal()
    menu_requested = Signal()
    options_requested = Signal()

    def __init__(self, theme: Theme, engine: EngineState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._narrow = False
        self._text = ""
        self.setProperty("kind", "header")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        chats = tr("Show or hide the chats (Ctrl+B)")
        self.sidebar_button = icon_button(theme, "panel-left", chats, self, self.sidebar_toggled, 18)
        self.title = PlainLabel(self, kind="title")
        own = tr("This chat has settings of its own")
        self.options_button = icon_button(theme, "sliders-horizontal", own, self, self.options_requested)
        self.options_button.setIcon(themed_icon(theme, "sliders-horizontal", "acc"))
        self.options_button.hide()
        self.model_button = ModelButton(theme, engine, self)
        new = tr("New chat (Ctrl+N)")
        self.new_button = icon_button(theme, "square-pen", new, self, self.new_requested, 18)
        inspector = tr("Show or hide the inspector (F12)")
        self.inspector_button = icon_button(theme, "panel-right", inspector, self, self.inspector_toggled, 18)
        self.inspector_button.setProperty("kind", "toggle")
        self.inspector_button.setCheckable(True)
        self.menu_button = icon_button(theme, "ellipsis", tr("Menu"), self, self.menu_requested, 18)
        self.set_narrow(False)
        theme.changed.connect(self._arrange)

    @property
    def _options_px(self) -> int:
        return self._theme.type.px(_OPTIONS_PX)

    @property
    def _button_px(self) -> int:
        return self._theme.type.side(_BUTTON_PX)

    def sizeHint(self) -> QSize:
        """Height of the header."""
        return QSize(400, self._theme.type.px(_HEIGHT_PX))

    def set_title(self, title: str) -> None:
        """Show a chat's title."""
        self._text = title
        self.title.setToolTip(title)
        self._arrange()

    def set_own_options(self, own: bool) -> None:
        """Show whether the chat has settings of its own."""
        self.options_button.setVisible(own)
        self._arrange()

    def set_narrow(self, narrow: bool) -> None:
        """Below 720 px the model goes under the title, and New chat comes to the right."""
        self._narrow = narrow
        self.model_button.set_compact(narrow)
        self.new_button.setVisible(narrow)
        self.inspector_button.setVisible(not narrow)
        self._arrange()

    def set_inspector_shown(self, shown: bool) -> None:
        """Show whether the inspector is open."""
        self.inspector_button.setChecked(shown)
        role = "acc" if shown else "sub"
        self.inspector_button.setIcon(themed_icon(self._theme, "panel-right", role))

    def set_engine(self, state: EngineState, draft: str = "") -> None:
        """Show the engine's state, and what a chosen draft that gains nothing comes to."""
        self.model_button.draft = draft
        self.model_button.set_state(state)
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out again."""
        self._arrange()

    def _arrange(self) -> None:
        height = self.height() - 1
        middle = (height - self._button_px) // 2
        place(self.sidebar_button, 12, middle, self._button_px, self._button_px)
        left, right = 20 + self._button_px, self.width() - 12
        place(self.menu_button, right - self._button_px, middle, self._button_px, self._button_px)
        if self._narrow:
            place(self.new_button, right - 2 * self._button_px - 8, middle, self._button_px, self._button_px)
            right -= 2 * self._button_px + 16
            line = self._theme.type.px(20)
            top = (height - line - self._theme.type.px(16)) // 2
            self._place_title(left, top, right - left, line)
            size = self.model_button.sizeHint()
            place(self.model_button, left - 2, top + line - 1, min(size.width(), right - left), size.height())
            return
        right -= self._button_px + 4
        place(self.inspector_button, right - self._button_px, middle, self._button_px, self._button_px)
        right -= self._button_px + 8
        size = self.model_button.sizeHint()
        # Close to the middle of the column while the title has at least as much room as its first words.
        wanted = min(self.title.fontMetrics().horizontalAdvance(self._text) + 8, 260)
        wanted += 0 if self.options_button.isHidden() else self._options_px + 4
        room = min(self.width() - 2 * 160, right - left - wanted - 16)
        # Two models are often told apart by the middle of their names, and the title is in the list of chats too.
        name = min(self.model_button.bare_width, right - left - _LEAST_TITLE_PX - 16)
        width = self.model_button.width_in(max(room, name, 180))
        model_left = (self.width() - width) // 2
        model_left = max(model_left, min(left + wanted + 16, right - width))
        place(self.model_button, model_left, (height - size.height()) // 2, width, size.height())
        self._place_title(left, 0, model_left - left - 16, height)

    def _place_title(self, left: int, top: int, width: int, height: int) -> None:
        metrics, own = self.title.fontMetrics(), not self.options_button.isHidden()
        side = min(self._options_px, height)
        room = max(width - (side + 4 if own else 0), 0)
        self.title.setText(metrics.elidedText(self._text, Qt.TextElideMode.ElideRight, room))
        place(self.title, left, top, room, height)
        beside = left + min(room, metrics.horizontalAdvance(self.title.text()) + 4)
        place(self.options_button, beside, top + (height - side) // 2, side, side)


class ModelMenus(QObject):
    """Fills the menus of the two buttons when they are opened, and does what is chosen in them.

    Args:
        workspace: Knows what there is to choose from.
        draft: The button with the drafts and the places in memory.
        page: The widget that dialogs stand above.
    """

    def __init__(self, workspace: Workspace, model: ModelButton, draft: DraftButton, page: QWidget) -> None:
        super().__init__(page)
        self._workspace = workspace
        self._model = model
        self._draft = draft
        self._page = page
        drafts = workspace.drafts
        model.menu_requested.connect(self._open_models)
        workspace.model_store.forecasts.changed.connect(self._models_known)
        model.model_chosen.connect(workspace.choose_model)
        draft.menu_requested.connect(self._open_drafts)
        draft.memories_requested.connect(self._open_memories)
        draft.draft_chosen.connect(workspace.choose_draft)
        draft.memory_chosen.connect(workspace.choose_memory)
        draft.folder_requested.connect(self._choose_draft_folder)
        draft.file_requested.connect(self._choose_draft_file)
        draft.closed.connect(drafts.stop_looking)
        drafts.changed.connect(self._more_known)
        workspace.plans.answered.connect(self._more_known)

    @Slot()
    def _open_models(self) -> None:
        self._model.open_menu(self._workspace.models())
        store = self._workspace.model_store
        store.forecasts.ask_installed(store.installed.entries)  # which tells base models from others

    @Slot()
    def _models_known(self) -> None:
        self._model.refresh_models(self._workspace.models())

    @Slot()
    def _open_drafts(self) -> None:
        self._draft.open_menu(self._drafts())
        self._workspace.drafts.look_through()

    @Slot()
    def _open_memories(self) -> None:
        self._draft.show_memories(self._memories())
        self._workspace.plans.ask_for_chosen()

    @Slot()
    def _more_known(self) -> None:
        self._draft.refresh_menu(self._drafts(), self._memories())

    def _drafts(self) -> list[Choice]:
        return self._workspace.drafts.choices(self._workspace.draft())

    def _memories(self) -> list[Choice]:
        return self._workspace.memories(self._workspace.memory())

    @Slot()
    def _choose_draft_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(self._page, tr("Choose a draft's folder"))
        if folder:
            self._workspace.choose_draft(folder)

    @Slot()
    def _choose_draft_file(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self._page, tr("Choose a draft's file"), "", tr("Models (*.gguf)"))
        if path:
            self._workspace.choose_draft(path)
