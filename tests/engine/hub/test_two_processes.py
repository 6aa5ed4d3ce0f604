"""Two processes change models and lists at once, and are killed anywhere: nothing is lost, nothing comes back."""

from __future__ import annotations

import itertools
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.hub.endpoints import endpoints
from engine.hub.model_folders import models_folder, read_folders
from engine.hub.model_move import unfinished_move
from tests.support.fast_cases import examples
from tests.support.gguf_files import write_small_gguf
from tests.support.stepped_process import Outcome, SteppedProcesses

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes of steps are forked")

FILES = ("one.gguf", "two.gguf", "three.gguf")
ACTIONS = (
    ("import", "a", "two.gguf"),
    ("import", "c", "three.gguf"),
    ("adopt", "two.gguf"),
    ("remove", "a"),
    ("remove", "b"),
    ("move", "target"),
    ("move", "other target"),
    ("give up",),
    ("start",),
    ("add folder", "y"),
    ("forget folder", "x"),
    ("keep server", "desk"),
    ("forget server", "lab"),
)


@dataclass(frozen=True)
class World:
    """What a user would say that there is."""

    models: tuple[tuple[str, bytes], ...]
    folders: frozenset[str]
    servers: frozenset[str]


@pytest.fixture(scope="module")
def processes() -> Iterator[SteppedProcesses]:
    found = SteppedProcesses()
    yield found
    found.close()


@cache
def contents() -> dict[str, bytes]:
    """GGUF files of one size, as two versions of a model may be."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.gguf")
        write_small_gguf(path)
        return {file: path.read_bytes()[:-4] + bytes((number,)) * 4 for number, file in enumerate(FILES)}


@contextmanager
def begun(processes: SteppedProcesses) -> Iterator[Path]:
    """A folder with two models, a folder that was added, and a server."""
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        root = Path(name)
        patch.setenv("TENON_DATA_DIR", str(root / "data"))
        for file, content in contents().items():
            (root / file).write_bytes(content)
        assert processes.start(root, ("begin",)) == "done"
        yield root


def found(root: Path) -> World:
    models = {}
    for folder in sorted(models_folder().glob("[!.]*/")):
        contents = [path.read_bytes() for path in folder.glob("*.gguf")]
        assert (folder / "tenon-model.json").is_file(), f"{folder.name} is half there"
        models[folder.name] = contents[0] if contents else b"in place"
    return World(
        tuple(models.items()),
        frozenset(Path(folder).name for folder in read_folders().added),
        frozenset(server.name for server in endpoints()),
    )


def after(world: World, root: Path, action: tuple[str, ...]) -> World:
    """The world when an action was done."""
    name, *arguments = action
    models, folders, servers = dict(world.models), set(world.folders), set(world.servers)
    if name == "import":
        models.setdefault(arguments[0], (root / arguments[1]).read_bytes())
    elif name == "adopt":
        models["two"] = b"in place"
    elif name == "remove":
        models.pop(arguments[0], None)
    elif name in ("add folder", "forget folder"):
        (folders.add if name == "add folder" else folders.discard)(arguments[0])
    elif name in ("keep server", "forget server"):
        (servers.add if name == "keep server" else servers.discard)(arguments[0])
    return World(tuple(sorted(models.items())), frozenset(folders), frozenset(servers))


def allowed(world: World, root: Path, done: Iterable[tuple[tuple[str, ...], Outcome]]) -> set[World]:
    """Every world that the actions may lead to, in either order; one that was killed may be done or not."""
    worlds = set()
    for order in itertools.permutations(done):
        now = {world}
        for action, outcome in order:
            then = {after(one, root, action) for one in now}
            now = now if outcome == "refused" else then if outcome == "done" else now | then
        worlds |= now
    return worlds


def play(
    processes: SteppedProcesses,
    first: tuple[str, ...],
    second: tuple[str, ...],
    stop: int,
    kill: bool,
    late: int | None,
    two_disks: bool,
) -> bool:
    """Stop the first action at a step, do the second one, and go on; False if the first one has fewer steps.

    Args:
        processes: Makes the processes.
        first: An action.
        second: Another one, in a process of its own.
        stop: Step of the first one.
        kill: End its process there instead of pausing it.
        late: Step at which the second one is killed; None for nowhere.
        two_disks: Moving is copying.
    """
    with begun(processes) as root:
        before = found(root)
        one = stopped = processes.start(root, first, stop, kill, two_disks)
        other = processes.start(root, second, late, late is not None, two_disks)
        if one == "paused":
            one = processes.go_on()
        expected = allowed(before, root, ((first, one), (second, other)))
        assert processes.start(root, ("start",), two_disks=two_disks) == "done"
        assert found(root) in expected, (one, other)
        move = unfinished_move()
        if move is not None:
            assert processes.start(root, ("move", move.target.name), two_disks=two_disks) == "done"
            assert models_folder() == move.target
            assert found(root) in expected
        if models_folder() != root / "data" / "models":
            assert not [path for path in (root / "data" / "models").rglob("*") if path.is_file()]
        return stopped in ("paused", "killed")


@settings(max_examples=examples(40))
@given(
    st.sampled_from(ACTIONS),
    st.sampled_from(ACTIONS),
    st.integers(0, 90),
    st.booleans(),
    st.none() | st.integers(0, 90),
    st.booleans(),
)
def test_nothing_is_lost_and_nothing_comes_back(
    processes: SteppedProcesses,
    first: tuple[str, ...],
    second: tuple[str, ...],
    stop: int,
    kill: bool,
    late: int | None,
    two_disks: bool,
) -> None:
    play(processes, first, second, stop, kill, late, two_disks)


@pytest.mark.slow
@pytest.mark.parametrize("kill", [False, True], ids=["paused", "killed"])
@pytest.mark.parametrize("second", ACTIONS, ids=" ".join)
@pytest.mark.parametrize("first", ACTIONS, ids=" ".join)
def test_over_all_steps(
    processes: SteppedProcesses, first: tuple[str, ...], second: tuple[str, ...], kill: bool
) -> None:
    for two_disks in (True, False) if "move" in (first[0], second[0]) else (True,):
        stop = 0
        while play(processes, first, second, stop, kill, None, two_disks):
            stop += 1
