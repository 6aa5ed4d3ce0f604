"""The menus of a chat: which model answers, with which draft, in which mode."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QFileDialog, QWidget

from app.bridge.workspace import Workspace
from app.ui.composer.composer import ModeButton
from app.ui.model_button import ModelButton
from app.words import tr


class ModelMenus(QObject):
    """Fills the menus of the two buttons when they are opened, and does what is chosen in them.

    Args:
        workspace: Knows what there is to choose from.
        model: The button with the models and their drafts.
        mode: The button with the modes.
        page: The widget that dialogs stand above.
    """

    def __init__(self, workspace: Workspace, model: ModelButton, mode: ModeButton, page: QWidget) -> None:
        super().__init__(page)
        self._workspace = workspace
        self._model = model
        self._mode = mode
        self._page = page
        drafts = workspace.drafts
        mode.mode_chosen.connect(workspace.choose_mode)
        mode.menu_requested.connect(self._open_modes)
        workspace.plans.answered.connect(self._plan_made)
        model.menu_requested.connect(self._open_models)
        workspace.model_store.forecasts.changed.connect(self._models_known)
        model.model_chosen.connect(workspace.choose_model)
        model.drafts_requested.connect(self._open_drafts)
        model.draft_chosen.connect(drafts.choose)
        model.draft_folder_requested.connect(self._choose_draft_folder)
        model.drafts_closed.connect(drafts.stop_looking)
        drafts.changed.connect(self._drafts_changed)

    @Slot()
    def _open_models(self) -> None:
        self._model.open_menu(self._workspace.models(), self._workspace.drafts.chosen_name)
        store = self._workspace.model_store
        store.forecasts.ask_installed(store.installed.entries)  # which tells base models from others

    @Slot()
    def _models_known(self) -> None:
        self._model.refresh_models(self._workspace.models(), self._workspace.drafts.chosen_name)

    @Slot()
    def _open_modes(self) -> None:
        self._mode.open_menu(self._workspace.modes())
        self._workspace.plans.ask_for_chosen()

    @Slot()
    def _plan_made(self) -> None:
        self._mode.refresh_menu(self._workspace.modes())

    @Slot()
    def _open_drafts(self) -> None:
        self._model.show_drafts(self._workspace.drafts.choices())
        self._workspace.drafts.look_through()

    @Slot()
    def _drafts_changed(self) -> None:
        self._model.refresh_drafts(self._workspace.drafts.choices())

    @Slot()
    def _choose_draft_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(self._page, tr("Choose a draft's folder"))
        if folder:
            self._workspace.drafts.choose(folder)
