"""What a window or a command does to models and lists, in a process that is stopped or killed between two steps.

A step is a file or folder that is opened, made, renamed or removed in the test's folder, as Python's audit events tell.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal

from engine.errors import TenonError
from engine.hub import endpoints, kept_list, model_move
from engine.hub.endpoints import Endpoint, forget_endpoint, keep_endpoint, mend_endpoints
from engine.hub.installed import remove
from engine.hub.local_import import adopt, import_model
from engine.hub.model_folders import add_folder, forget_folder, mend_folders, models_folder
from engine.hub.model_move import finish_move, give_up_move, move_models

_EVENTS = ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.symlink")
#: What an action came to: it was done, refused in a sentence, ended by a kill, or is paused.
Outcome = Literal["done", "refused", "killed", "paused"]


def _start(root: Path) -> None:
    mend_folders()
    mend_endpoints()
    finish_move()


def _begin(root: Path) -> None:
    for name in ("a", "b"):
        import_model(models_folder(), [root / "one.gguf"], copy=True, name=name, reserve_bytes=0)
    add_folder(root / "x")
    keep_endpoint(Endpoint("lab", "https://lab"))


ACTIONS: dict[str, Callable[..., object]] = {
    "import": lambda root, name, file: import_model(
        models_folder(), [root / file], copy=True, name=name, reserve_bytes=0
    ),
    "adopt": lambda root, file: adopt(models_folder(), root / file),
    "remove": lambda root, name: remove(name),
    "move": lambda root, target: move_models(root / target),
    "give up": lambda root: give_up_move(),
    "start": _start,
    "begin": _begin,
    "add folder": lambda root, name: add_folder(root / name),
    "forget folder": lambda root, name: forget_folder(str(root / name)),
    "keep server": lambda root, name: keep_endpoint(Endpoint(name, f"https://{name}")),
    "forget server": lambda root, name: forget_endpoint(name),
}


class SteppedProcesses:
    """Processes of actions, forked by a helper that has imported everything; two may run at a time."""

    def __init__(self) -> None:
        self._helper = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )

    def start(
        self,
        root: Path,
        action: tuple[str, ...],
        stop: int | None = None,
        kill: bool = False,
        two_disks: bool = True,
    ) -> Outcome:
        """Start an action.

        Args:
            root: The test's folder, with the data folder in it.
            action: A name of `ACTIONS`, with its arguments.
            stop: The step before which it stops; None lets it run.
            kill: End the process there, instead of pausing it.
            two_disks: No rename leads from one folder of models to another.

        Returns:
            What it came to, or that it is paused.
        """
        return self._asked([str(root), action, stop, kill, two_disks])

    def go_on(self) -> Outcome:
        """Let the paused one go on to its end; what it came to."""
        return self._asked(None)

    def close(self) -> None:
        """End the helper."""
        with self._helper:
            pass

    def _asked(self, request: object) -> Any:
        assert self._helper.stdin is not None
        print(json.dumps(request), file=self._helper.stdin, flush=True)
        return self._helper.stdout.readline().strip()


def main() -> None:
    """Fork a process for each line of standard input, or let the paused one go on; what each came to is a line."""
    paused: tuple[int, Connection] | None = None
    for line in sys.stdin:
        request = json.loads(line)
        if request is None:
            assert paused is not None
            (number, ours), paused = paused, None
            ours.send("go on")
        else:
            ours, theirs = multiprocessing.Pipe()
            number = os.fork()
            if number == 0:
                ours.close()
                _run(Path(request[0]), *request[1:], theirs)
                os._exit(0)
            theirs.close()
        try:
            said = ours.recv()
        except EOFError:
            said = "killed"
        if said == "paused":
            paused = number, ours
        else:
            os.waitpid(number, 0)
        print(said, flush=True)


def _run(root: Path, action: list[str], stop: int | None, kill: bool, two_disks: bool, pipe: Connection) -> None:
    os.environ["TENON_DATA_DIR"] = str(root / "data")
    kept_list._PATIENCE_S = 0.2
    model_move._TICK_NS = 12_000_000
    os.fsync = os.sync = lambda *arguments: None  # a process that ends leaves its files as they are
    endpoints.forget_secret = lambda account: None  # type: ignore[assignment]
    if two_disks:
        model_move._one_disk = lambda source, there: False
    name, *arguments = action
    steps = 0
    folder = str(root)

    def look(event: str, values: tuple[object, ...]) -> None:
        nonlocal steps
        if event not in _EVENTS or not str(values[0]).startswith(folder):
            return
        steps += 1
        if steps - 1 != stop:
            return
        if kill:
            os._exit(9)
        pipe.send("paused")
        pipe.recv()

    sys.addaudithook(look)
    try:
        ACTIONS[name](root, *arguments)
    except TenonError:
        pipe.send("refused")
    except BaseException:
        pipe.send(f"failed: {traceback.format_exc()!r}")
    else:
        pipe.send("done")


if __name__ == "__main__":
    main()
