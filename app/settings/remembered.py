"""Values that are remembered without being asked for: they have no row in the dialog."""

from __future__ import annotations

from typing import Any

from app.settings.control import Number
from app.settings.setting import Setting, choice, number, read_text, switch, text, texts
from app.settings.values import Values
from engine.messages import DEFAULT_MODEL, SERVER_PORT

RECENT_MODELS = 8


# Name of the bundled model of earlier versions.
_FORMER_MODEL = "guide"


def _model(value: Any) -> str:
    ref = read_text(value)
    return DEFAULT_MODEL if ref == _FORMER_MODEL else ref


class Remembered(Values):
    """Choices made elsewhere in the window, and the state that it was left in."""

    model = Setting(
        DEFAULT_MODEL,
        "The model that answers: the bundled one's name, a checkpoint folder or a GGUF file.",
        _model,
    )
    new_chat_model = text("The model that new chats take: the one chosen last; empty for the one in use.")
    new_chat_preset = text("The preset that new chats take; empty for none.")
    folded_groups = texts(200, "Groups of the list of conversations that are folded.")
    recent_models = texts(RECENT_MODELS, "Checkpoint folders used lately, the latest first.")
    window_geometry = text("Place of the window, as Qt saves it, in base64.")
    sidebar_shown = switch(True, "The list of conversations is shown.")
    sidebar_width = number(256, Number(200, 420), "Width of the list of chats, at the usual size of text.")
    inspector_width = number(420, Number(360, 520), "Width of the inspector.")
    settings_level = choice("simple", ("simple", "advanced"), "Level of the settings that are shown.")
    last_chat = number(0, Number(0, (1 << 63) - 1), "The chat that was open last; 0 for a blank one.")
    inspector_shown = switch(False, "The inspector was open last.")
    first_run_done = switch(False, "The welcome page was left for a chat, or a model was got from it.")

    server_on = switch(False, "Other programs are answered.")
    server_port = number(SERVER_PORT, Number(1, 65_535), "Port at which they are.")

    def remember_model(self, folder: str) -> None:
        """Put a checkpoint folder first among those used lately."""
        self.recent_models = (folder, *(other for other in self.recent_models if other != folder))

    def forget_model(self, ref: str) -> None:
        """Take a model from those used lately."""
        self.recent_models = tuple(other for other in self.recent_models if other != ref)
