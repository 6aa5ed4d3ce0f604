"""Facts that every installer states about the product: name, version, icon, file associations. One place for all."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from app.version import HOMEPAGE
from engine.kernels.build import normalized_machine

ROOT = Path(__file__).resolve().parents[1]

NAME = "Tenon"
COMMAND = "tenon"
IDENTIFIER = "org.tenon.Tenon"
PUBLISHER = "The Tenon authors"
CONTACT = f"Tenon developers <tenon@{urlsplit(HOMEPAGE).hostname}>"
LICENCE = "Apache-2.0"
SUMMARY = "Chat with language models on your own computer"
KIND = "Chat with language models"
# By the names that desktops give languages.
SUMMARIES = {
    "de": "Mit Sprachmodellen auf dem eigenen Rechner chatten",
    "zh_CN": "在自己的电脑上与语言模型对话",
}
KINDS = {"de": "Chat mit Sprachmodellen", "zh_CN": "语言模型对话"}
DESCRIPTION = (
    "Tenon runs language models on the machine in front of you: laptops with a small GPU or none, edge boards. "
    "It comes with a small model that answers at once, offline, and finds larger ones for what the machine can carry.",
    "Replies are as the model would have made them, sooner: a small model or the text so far guesses several tokens "
    "ahead, and the model checks them all in one pass. Tenon shows what it really does: tokens per second, time to the "
    "first token, memory.",
    "Nothing leaves the computer. There is no account and no telemetry.",
)
KEYWORDS = ("chat", "LLM", "AI", "assistant", "offline", "language model")
CATEGORIES = ("Utility",)

SCREENSHOTS = {
    "main-light.png": "A chat with the built-in model, and the speed of its reply",
    "inspector-dark.png": "What a reply was made of: guesses, memory, tokens",
    "models-light.png": "Models that this computer can run, with their predicted speed",
}
"""Files of assets/screenshots, which are pictures of real runs, and what they show."""

ICON = ROOT / "assets" / "icons" / "tenon.svg"
SMALL_ICON = ROOT / "assets" / "icons" / "tenon-small.svg"
SMALL_ICON_UP_TO_PX = 24
ICON_SIZES_PX = (16, 24, 32, 48, 64, 128, 256, 512)

MODELS = ("smollm2", "smollm2-draft", "smollm2-medusa", "smollm2-prompt-tokens")
"""The models that a bundle brings, as far as they are there; a build fetches the first."""


@dataclass(frozen=True)
class FileType:
    """A kind of file that Tenon opens."""

    suffix: str  # with its dot
    mime: str  # media type
    title: str  # title in a file manager
    magic: str  # the bytes that such a file begins with


FILE_TYPES = (FileType(".gguf", "application/x-gguf", "GGUF language model", "GGUF"),)


def version() -> str:
    """Return the version, from pyproject.toml."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(r'^version = "([^"]+)"$', text, re.MULTILINE)
    if found is None:
        raise ValueError("pyproject.toml names no version")
    return found[1]


def numbers(own: str) -> str:
    """Return the numbers of a version alone, for formats that take nothing else: ``0.2.0`` of ``0.2.0rc1``."""
    return re.sub(r"[a-z].*", "", own)


def architecture() -> str:
    """Return this machine's architecture as the installers' file names have it: ``x86_64`` or ``aarch64``."""
    return normalized_machine()


def system() -> str:
    """Return this system, by the name that the installers' file names use."""
    return {"win32": "windows", "darwin": "macos"}.get(sys.platform, "linux")


def executable(console: bool = False) -> str:
    """Return the program's file name on this system; Windows has another one for terminals."""
    if sys.platform == "win32":
        return f"{COMMAND}-cli.exe" if console else f"{NAME}.exe"
    return COMMAND
