"""Parts that subcommands share: the parser's errors and options, the terminal's last line and Ctrl+C, reading ahead.

A model's files are read from the disk while torch is imported, which takes a second and no disk.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from engine.errors import TenonError, WeightsMissing
from engine.hub.bundled import paired_drafts
from engine.hub.installed import find_adapter, find_model
from engine.messages import DEFAULT_MODEL, OWN_HEAD, LoadOptions
from engine.modes import AUTO, MEMORY_TITLES, MODES, in_mode, named_drafts
from engine.sentences import either
from engine.terminal import Steering

if TYPE_CHECKING:
    from engine.hub.transfer import StopSignal

# Remedies in the terminal's words by the names of the classes in engine/errors.py; an error's own text has none of
# its commands and variables, as windows show it too. app/chat/troubles.py has the window's.
_NETWORK = (
    "In the environment HF_ENDPOINT is the mirror, HTTPS_PROXY the proxy, SSL_CERT_FILE a file of certificates, and "
    "HF_HUB_OFFLINE offline mode."
)
_REMEDIES = {
    "AccessDenied": "`tenon models token` keeps an access token.",
    "AddonUnusable": "`tenon gpu install` fetches GPU support.",
    "HubError": _NETWORK,
    "HubUnreachable": _NETWORK,
    "ModelNotFound": "`tenon models list` names the models that are here, and `tenon models get` fetches others.",
    "NotOnHub": "`tenon models search` searches the hub, and `tenon models token` keeps an access token.",
    "OutOfDisk": "TENON_DATA_DIR in the environment is the folder of Tenon's data.",
    "RemoteUnreachable": "HTTPS_PROXY, NO_PROXY and SSL_CERT_FILE in the environment are heeded.",
    "TokenNotKept": "HF_TOKEN in the environment is taken for the access token.",
}
_UNITS = {
    "": 1,
    "k": 10**3,
    "m": 10**6,
    "g": 10**9,
    "t": 10**12,
    "ki": 2**10,
    "mi": 2**20,
    "gi": 2**30,
    "ti": 2**40,
}
Outcome = TypeVar("Outcome")

_LOOK_EVERY_S = 0.1
# A model that fills the memory is streamed, or would push other programs' data out of the cache.
_SHARE_OF_MEMORY = 4


class Parser(argparse.ArgumentParser):
    """A parser that reports bad usage in one line on standard error with exit code 2, without the usage text.

    Options are known by their whole names: ``plan --mode`` is no ``plan --model``.
    """

    def __init__(self, **values: Any) -> None:
        super().__init__(allow_abbrev=False, **values)

    def error(self, message: str) -> NoReturn:
        """Print the line and end the program. If a subcommand is missing, the line names those that exist."""
        for action in self._actions:
            if action.nargs == argparse.PARSER and message.endswith(f": {action.metavar}"):
                message += f", one of {', '.join(action.choices or ())}"
        print(f"{self.prog}: {message}. See `{self.prog} --help`.", file=sys.stderr)
        raise SystemExit(2)


def add_model_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--model``."""
    parser.add_argument(
        "--model",
        metavar="REF",
        default=DEFAULT_MODEL,
        help="a folder, a GGUF file, or the name of an installed or a bundled model (default: %(default)s)",
    )


def add_load_options(parser: argparse.ArgumentParser) -> None:
    """Add the model, its draft, and how they are loaded."""
    add_model_option(parser)
    parser.add_argument(
        "--draft",
        metavar="REF",
        type=named,
        dest="drafts",
        action="append",
        default=[],
        help="what guesses: a small model of the same vocabulary, or a head that was trained for the model; mtp for "
        "the layer that the model comes with, lookup for what followed the same words before, off for nothing; may be "
        "repeated, for drafts that vote",
    )
    parser.add_argument(
        "--adapter",
        metavar="REF",
        type=named,
        help="a LoRA adapter, in PEFT's folder or a GGUF file, that is merged as the model loads; without --model into "
        "the model that it names",
    )
    parser.add_argument(
        "--weights",
        default="auto",
        help="auto (as the file has them), fp32, bf16, q8_0 or q4_k_m (default: %(default)s)",
    )
    parser.add_argument(
        "--kv-cache",
        default="auto",
        metavar="FORMAT",
        help="keys and values: full (as wide as the activations), q8_0 (8 bits: half the memory, lossy) or auto, 8 "
        "bits where the context does not fit otherwise (default: %(default)s)",
    )
    parser.add_argument("--context", metavar="N", type=int, help="tokens of context")
    parser.add_argument("--ram-budget", metavar="SIZE", type=size, help="most memory to use, such as 6G or 512MiB")
    parser.add_argument("--vram-budget", metavar="SIZE", type=size, help="the same for a GPU; 0 leaves it alone")
    parser.add_argument(
        "--graphics-chip",
        action="store_true",
        help="compute drafts and first layers on the graphics chip, through the system's driver, where that is "
        "predicted to be faster",
    )


def add_mode_option(parser: argparse.ArgumentParser) -> None:
    """Add the places in memory, and modes' names for them and kinds of draft."""
    parser.add_argument(
        "--memory",
        default=AUTO,
        choices=list(MEMORY_TITLES),
        help="gpu (as many layers as fit there), gpu-copy (the others are copied there for each token), disk (what "
        "memory has no room for is read for each token) or auto (default: %(default)s)",
    )
    parser.add_argument(
        "--mode",
        default=AUTO,
        help=f"a name for a draft and a memory: {either([AUTO, *MODES])} (default: %(default)s)",
    )


def add_threads_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--threads``."""
    parser.add_argument("--threads", metavar="N", type=int, help="CPU threads (default: the usable physical cores)")


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def as_json(options: argparse.Namespace, value: Any) -> bool:
    """Print a value as JSON if that is asked for, and return whether it is."""
    if options.json:
        print(json.dumps(value, ensure_ascii=False))
    return bool(options.json)


def tell(options: argparse.Namespace, text: str) -> None:
    """Print a line of text, unless JSON is asked for."""
    if not options.json:
        print(text)


def load_options(options: argparse.Namespace, **others: Any) -> LoadOptions:
    """Return the load options of a command line with options of `add_load_options`; ``others`` are further fields."""
    names_model = options.model != DEFAULT_MODEL or not options.adapter
    if not names_model:
        find_adapter(options.adapter)
    wanted = LoadOptions(
        model=options.model if names_model else options.adapter,
        adapter=(options.adapter or "") if names_model else "",
        drafts=tuple(options.drafts),
        weights=options.weights,
        kv_cache=options.kv_cache,
        context=options.context,
        ram_budget_bytes=options.ram_budget,
        vram_budget_bytes=options.vram_budget,
        graphics_chip=options.graphics_chip,
        memory=getattr(options, "memory", AUTO),
        **others,
    )
    mode = getattr(options, "mode", AUTO)
    return in_mode(mode, wanted, _own_head(mode, wanted))


def _own_head(name: str, wanted: LoadOptions) -> tuple[str, ...]:
    """Return the model's own layer that drafts (MTP) if the mode needs a head, and none was named or paired.

    Raises:
        CheckpointError: There is no such model, or its config names a layer that its files do not have.
    """
    mode = MODES.get(name)
    if mode is None or "head" not in mode.drafts or named_drafts(wanted.drafts):
        return ()
    if paired_drafts(wanted.model, mode.drafts):
        return ()
    from engine.model_file import open_model  # imports torch, which takes a while

    with suppress(WeightsMissing):  # a model may be planned before its download
        return () if open_model(wanted.model, adapter=wanted.adapter).own_head is None else (OWN_HEAD,)
    return ()


def not_empty(text: str) -> str:
    """Return a text as it was typed.

    Raises:
        ArgumentTypeError: The text is empty.
    """
    if not text:
        raise argparse.ArgumentTypeError("it is empty")
    return text


def named(text: str) -> str:
    """Return a name as it was typed.

    Raises:
        ArgumentTypeError: The name is empty.
    """
    not_empty(text.strip())
    return text


def path(text: str) -> Path:
    """Return a path as it was typed.

    Raises:
        ArgumentTypeError: The path is empty, which would be the working folder.
    """
    return Path(named(text))


def count(text: str) -> int:
    """Return a whole number from 1 on.

    Raises:
        ArgumentTypeError: The text is no such number.
    """
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 on")
    return int(text)


def size(text: str) -> int:
    """Return the bytes of a size such as 6G, 512MiB or 1000000.

    Raises:
        ArgumentTypeError: The text is no size.
    """
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?i?)b?", text.strip().lower())
    if match is None or match[2] not in _UNITS:
        raise argparse.ArgumentTypeError(f"{text!r} is no size: write it like 6G, 512MiB or 1000000")
    return int(float(match[1]) * _UNITS[match[2]])


def show_status(text: str = "") -> None:
    """Rewrite the last line of a terminal; do nothing elsewhere."""
    if sys.stderr.isatty():
        sys.stderr.write(Steering("\r\033[K"))
        print(text, end="", file=sys.stderr, flush=True)


@contextmanager
def on_interrupt(action: Callable[[], object]) -> Iterator[None]:
    """Let Ctrl+C call the action, instead of tearing the program down."""
    previous = signal.signal(signal.SIGINT, lambda number, frame: action())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def stopped_by_interrupt(work: Callable[[], Outcome], stop: StopSignal) -> Outcome:
    """Do work in a thread, so that Ctrl+C is heard at once and sets ``stop``. Raises the errors of the work."""
    pressed: list[bool] = []  # a signal's handler takes no lock
    ended: list[Outcome] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            ended.append(work())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="tenon-work")
    with on_interrupt(lambda: pressed.append(True)):
        thread.start()
        while thread.is_alive():
            thread.join(_LOOK_EVERY_S)
            if pressed:
                stop.set()
    if failed:
        raise failed[0]
    return ended[0]


def told(kind: str, message: str) -> str:
    """Return an error's sentence, and its remedy in the terminal's words.

    Args:
        kind: Name of the error's class.
    """
    return " ".join(filter(None, (message, _REMEDIES.get(kind))))


def read_ahead(reference: str) -> None:
    """Have the system read a model's files into its cache if it can be asked to; return at once.

    A model that is not there is left to the code that loads it.
    """
    if not hasattr(os, "posix_fadvise"):  # Windows, macOS
        return
    # Asking waits for a disk whose queue is full, and nothing waits for it.
    threading.Thread(target=_ask_for, args=(reference,), name="tenon-read-ahead", daemon=True).start()


def _ask_for(reference: str) -> None:
    with contextlib.suppress(TenonError, OSError):
        found = find_model(reference)
        files = [found] if found.is_file() else [*found.glob("*.safetensors"), *found.glob("*.gguf")]
        memory_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if sum(path.stat().st_size for path in files) * _SHARE_OF_MEMORY > memory_bytes:
            return
        for path in files:
            with path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)
