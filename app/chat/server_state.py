"""The server for other programs as the window shows it, and the settings by which those programs find it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from app.words import mark, tr


class ServerPhase(str, Enum):
    """Phases of the server."""

    OFF = "off"
    STARTING = "starting"  # it waits for the model, or for the keyring
    ON = "on"
    FAILED = "failed"


@dataclass(frozen=True)
class ServerState:
    """The server."""

    phase: ServerPhase = ServerPhase.OFF
    address: str = ""  # without a path; empty while it is off
    key: str = ""  # key that programs send
    key_kept: bool = True  # the same key holds at the next start
    key_new: bool = False  # the key was made by this start, so that nobody has seen it yet
    model: str = ""  # name of the model for programs
    sentence: str = ""  # reason why it could not be started


@dataclass(frozen=True)
class ProgramSettings:
    """Settings of one kind of program."""

    name: str
    place: str  # place where the settings go
    text: str  # to be copied


_TERMINAL = mark("into a terminal, before the program is started")


def settings_of_programs(state: ServerState) -> list[ProgramSettings]:
    """Return settings with which the usual programs reach a server."""
    base, key, model = state.address, state.key, state.model
    chat = f'{{"model": "{model}", "messages": [{{"role": "user", "content": "Hello"}}]}}'
    return [
        ProgramSettings(
            tr("Programs with OpenAI's library"),
            tr(_TERMINAL),
            f"export OPENAI_BASE_URL={base}/v1\nexport OPENAI_API_KEY={key}\n",
        ),
        ProgramSettings(
            "Claude Code",
            tr(_TERMINAL),
            f"export ANTHROPIC_BASE_URL={base}\nexport ANTHROPIC_AUTH_TOKEN={key}\nexport ANTHROPIC_MODEL={model}\n",
        ),
        ProgramSettings(
            "Continue",
            tr("into {file}, under “models”", file="~/.continue/config.yaml"),
            f"  - name: Tenon\n    provider: openai\n    model: {model}\n    apiBase: {base}/v1\n    apiKey: {key}\n"
            "    roles: [chat, edit, apply]\n",
        ),
        ProgramSettings(
            "Aider",
            tr("into a terminal"),
            f"export OPENAI_API_BASE={base}/v1\nexport OPENAI_API_KEY={key}\naider --model openai/{model}\n",
        ),
        ProgramSettings(
            "Open WebUI",
            tr(_TERMINAL),
            f"export OPENAI_API_BASE_URL={base}/v1\nexport OPENAI_API_KEY={key}\n",
        ),
        ProgramSettings(
            "curl",
            tr("into a terminal, to try it"),
            f"curl {base}/v1/chat/completions -H 'Authorization: Bearer {key}' "
            f"-H 'Content-Type: application/json' \\\n  -d '{chat}'\n",
        ),
    ]
