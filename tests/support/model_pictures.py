"""Pictures of the page of models: ``python -m tests.support.model_pictures FOLDER [dark]``."""

from __future__ import annotations

import sys
from dataclasses import replace

from PySide6.QtCore import QSize

from app.chat.model_entries import (
    DraftOffer,
    ImportEntry,
    InstalledEntry,
    ListedModel,
    OfferEntry,
    RemovalEntry,
)
from app.ui.models.get_dialog import GetDialog
from app.ui.models.model_dialog import ImportDialog, ModelDialog, RemovalDialog
from app.ui.models.models_page import ModelsPage
from app.ui.places import MODELS
from app.ui.theme.theme import Theme
from engine.messages import DownloadStatus, DraftPair, Prediction
from engine.sentences import say
from tests.support.screenshots import LLAMA, begin, fill, open_window, take
from tests.support.scripted_workspace import ScriptedWorkspace

_GB = 1_000_000_000


def stock(workspace: ScriptedWorkspace) -> None:
    """A laptop with two models of its own, and two downloads under way."""
    store = workspace.model_store
    store.look_around = lambda: None  # type: ignore[method-assign]
    for model in store.offers.catalogue():
        billions = (model.parameters or 0) / 1e9
        memory = int(billions * 1.2 * _GB)
        large = memory > 13.6 * _GB
        store.forecasts.known[model.reference] = Prediction(
            "llmcad" if large else "dovetail" if billions > 3 else "lookup",
            round(105 / billions, 1) if not large else 0.4,
            min(memory, 13 * _GB), int(13.6 * _GB), from_disk=large, with_draft=billions > 3, basis="rest",
        )  # fmt: skip
    known = store.forecasts.known
    known["llama-3.3-70b-instruct"] = Prediction(
        room_bytes=int(13.6 * _GB),
        basis="rest",
        problem="Its files need 41.2 GB of disk, and 24.6 GB are free: make room, or choose a smaller model.",
    )
    llama = "/models/Llama-3.1-8B-Instruct-Q4_K_M"
    store.installed.entries = (
        store.installed.entries[0],
        InstalledEntry(
            "Llama-3.1-8B-Instruct-Q4_K_M", llama, "target", "Q4_K_M", int(4.9 * _GB), "llama3.1",
            "bartowski/Meta-Llama-3.1-8B-Instruct-GGUF", "llama-3.1-8b-instruct",
        ),
        InstalledEntry(
            "Qwen3-0.6B-Q8_0", "/models/Qwen3-0.6B-Q8_0", "draft", "Q8_0", int(0.64 * _GB), "apache-2.0",
            "Qwen/Qwen3-0.6B-GGUF", "qwen3-0.6b",
        ),
        InstalledEntry(
            "thesis", "/media/disk/thesis", "target", "safetensors", int(2.1 * _GB), in_place=True,
            problem=say(
                "{location} is not there any more: plug its disk in, or import the model again.",
                location="/media/disk/thesis",
            ),
        ),
    )  # fmt: skip
    known[llama] = replace(known["llama-3.1-8b-instruct"])
    store.pairs = (
        DraftPair("Qwen3-8B-Q4_K_M", "Qwen3-0.6B-Q8_0", "draft", ""),
        DraftPair(
            "Llama-3.1-8B-Instruct-Q4_K_M", "Qwen3-0.6B-Q8_0", "draft",
            "the draft was made for another vocabulary, 151,936 tokens instead of 128,256.",
        ),
    )  # fmt: skip
    store.downloads.entries = {
        "Qwen3-8B-Q4_K_M": DownloadStatus(
            "Qwen3-8B-Q4_K_M", "Qwen/Qwen3-8B-GGUF", "receiving", int(2.1 * _GB), int(5.6 * _GB), 18e6, 194.0
        ),
        "Phi-3-mini-4k-instruct-q4": DownloadStatus(
            "Phi-3-mini-4k-instruct-q4", "microsoft/Phi-3-mini-4k-instruct-gguf", "paused", int(0.4 * _GB),
            int(2.4 * _GB),
        ),
        "gemma-2-2b-it-Q4_K_M": DownloadStatus(
            "gemma-2-2b-it-Q4_K_M", "bartowski/gemma-2-2b-it-GGUF", "failed", int(0.9 * _GB), int(1.7 * _GB),
            message="The disk is full: free some room, and resume the download.",
        ),
    }  # fmt: skip
    workspace.settings.model = llama


def page(theme: Theme, size: QSize, sidebar: bool = True) -> ModelsPage:
    """A window with the page."""
    workspace = ScriptedWorkspace(LLAMA)
    workspace.settings.sidebar_shown = sidebar
    fill(workspace)
    stock(workspace)
    window = open_window(theme, workspace, size)
    window.places.go(MODELS)
    found = window.places.page(MODELS)
    assert isinstance(found, ModelsPage)
    workspace.model_store.downloads.changed.emit()
    return found


def main() -> None:
    """Take them."""
    dark = "dark" in sys.argv[2:]
    app, theme, folder = begin(dark)
    word = "dark" if dark else "light"
    for name, size, scale, scroll in (
        ("models", QSize(1280, 820), 1.0, 0),
        ("models-more", QSize(1280, 820), 1.0, 10_000),
        ("models-small", QSize(380, 560), 1.0, 0),
        ("models-small-installed", QSize(380, 560), 1.0, 1100),
        ("models-small-end", QSize(380, 560), 1.0, 10_000),
        ("models-tablet", QSize(840, 820), 1.0, 500),
        ("models-large-text", QSize(1280, 820), 1.5, 0),
        ("models-large-text-end", QSize(1280, 820), 1.5, 10_000),
        ("models-small-large-text", QSize(380, 560), 1.5, 0),
    ):
        theme.set_scale(scale)
        shown = page(theme, size)
        app.processEvents()
        shown.refresh()
        shown.area.verticalScrollBar().setValue(scroll)
        app.processEvents()
        shown.area.verticalScrollBar().setValue(scroll)
        take(shown.window(), folder, f"{name}-{word}")
        shown.window().close()
    theme.set_scale(1.0)
    for size, prefix in ((QSize(900, 640), ""), (QSize(380, 560), "small-")):
        shown = page(theme, size)
        draft = DraftOffer("llama-3.2-1b-instruct", "Llama 3.2 1B Instruct", False, 760_000_000)
        repo = "meta-llama/Llama-3.2-3B-Instruct"
        listed = ListedModel(repo, "Llama 3.2 3B Instruct", "meta-llama")
        offer = OfferEntry(
            repo, "Llama-3.2-3B-Instruct", repo, "llama3.2", int(6.4 * _GB), True, f"https://huggingface.co/{repo}",
            "Q4_K_M", ("Q4_K_M", "Q6_K", "Q8_0"), (draft,), 64 * _GB, False,
        )  # fmt: skip
        mine = ImportEntry(("/home/me/models/thesis",), "thesis", "safetensors", 5 * _GB, 64 * _GB)
        removal = RemovalEntry("Llama-3.1-8B", 5 * _GB, "", (("Llama-3.2-1B", 760_000_000),))
        dialogs: tuple[tuple[str, ModelDialog], ...] = (
            ("get", GetDialog(theme, listed, None, offer, True, shown)),
            ("import", ImportDialog(theme, mine, shown)),
            ("removal", RemovalDialog(theme, removal, True, shown)),
        )
        for name, dialog in dialogs:
            dialog.open()
            app.processEvents()
            dialog.grab().save(str(folder / f"{prefix}{name}-{word}.png"))
            dialog.close()
        shown.window().close()


if __name__ == "__main__":
    main()
