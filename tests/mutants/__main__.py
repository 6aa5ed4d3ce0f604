"""``python -m tests.mutants``: change the policy one line at a time, and say which changes no test notices.

``python -m tests.mutants server scheduler`` takes those alone whose file or reason has one of these words.

Each change is made in a copy of the tree, where the tests run that the list names for it, up to the first failure.
Before that all of these tests run once without any change, since a test that fails then proves nothing. Torch and other
large packages are imported once, and each run is forked from there: importing them takes longer than most of the tests.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from tests.mutants.changes import MUTANTS, Mutant, mutated

ROOT = Path(__file__).resolve().parents[2]
_LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "build", "dist", ".*_cache", ".hypothesis", "*.egg-info")
_IMPORTED = (
    "pytest", "hypothesis", "torch", "transformers", "transformers.integrations.mxfp4", "openai",
    "openai.types.responses", "anthropic", "PySide6.QtWidgets", "PySide6.QtSvg", "httpx2", "starlette.applications",
    "uvicorn", "keyring", "lxml.etree", "gguf", "psutil", "jinja2", "pygments", "pyqtgraph",
)  # fmt: skip
_PYTEST = (
    "-q",
    "--hypothesis-profile=night",
    "-p",
    "no:cacheprovider",
    "--hypothesis-seed=0",
    "--no-header",
    "--tb=short",
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",
)
#: Share of the changes that must be noticed; those that are not are told at the end.
LEAST_CAUGHT = 0.95
_LOOK_S = 0.05


class Tree:
    """A copy of the sources, in which one change is made at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "tenon"
        shutil.copytree(ROOT, self.folder, ignore=_LEFT_OUT, copy_function=_linked)
        self._times = count(1)

    def change(self, mutant: Mutant) -> None:
        """Make a change."""
        place = self.folder / mutant.file
        text = mutated(place.read_text(encoding="utf-8"), mutant)
        place.unlink()  # a link to the source itself
        place.write_text(text, encoding="utf-8")
        # Python takes compiled code for the source's as long as size and time are the same.
        moment = next(self._times)
        os.utime(place, (moment, moment))

    def undo(self, mutant: Mutant) -> None:
        """Undo it."""
        (self.folder / mutant.file).unlink()
        _linked(ROOT / mutant.file, self.folder / mutant.file)


@dataclass
class Run:
    """Tests that run in a process of their own.

    Attributes:
        process_id: Of that process.
        tree: Where they run.
        output: File of what they say.
        mutant: The change that was made; None for none.
        begun_s: By the clock of `time.monotonic`.
    """

    process_id: int
    tree: Tree
    output: Path
    mutant: Mutant | None
    begun_s: float

    @classmethod
    def start(cls, tree: Tree, tests: Sequence[str], mutant: Mutant | None = None) -> Run:
        """Start them."""
        output = tree.folder.parent / "output"
        process_id = os.fork()
        if not process_id:
            _run(tree.folder, tests if mutant is None else (*tests, "-x"), output)
        return cls(process_id, tree, output, mutant, time.monotonic())

    def ended(self, limit_s: float) -> int | None:
        """Pytest's exit code; 1 too where they took longer than this. None while they run."""
        late = time.monotonic() - self.begun_s > limit_s
        with suppress(ProcessLookupError):
            if late:
                os.killpg(self.process_id, signal.SIGKILL)
        process_id, status = os.waitpid(self.process_id, 0 if late else os.WNOHANG)
        if not process_id:
            return None
        with suppress(ProcessLookupError):  # what they have left behind
            os.killpg(self.process_id, signal.SIGKILL)
        return 1 if late else os.waitstatus_to_exitcode(status)


def _run(folder: Path, tests: Sequence[str], output: Path) -> None:
    """Run tests in this process, and end it."""
    code = 70
    try:
        os.setsid()
        file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, 1)
        os.dup2(file, 2)
        os.chdir(folder)
        sys.dont_write_bytecode = False  # compile each module once for all changes
        for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
            del sys.modules[name]
        os.environ["PYTHONPATH"] = sys.path[0] = str(folder)
        code = importlib.import_module("pytest").main([*_PYTEST, *tests])
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _linked(source: str | os.PathLike[str], place: str | os.PathLike[str]) -> None:
    """Have a file at a second place; copied where the two places share no disk."""
    try:
        os.link(source, place)
    except OSError:
        shutil.copy2(source, place)


@contextmanager
def _trees(number: int) -> Iterator[list[Tree]]:
    """So many copies, beside the sources, so that they are made of links."""
    (ROOT / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="mutants-", dir=ROOT / "build", ignore_cleanup_errors=True) as name:
        yield [Tree(Path(name, str(each))) for each in range(number)]


def _unchanged(trees: Sequence[Tree], tests: Sequence[str]) -> str:
    """What tests say that fail without any change; empty where none does."""
    runs = [Run.start(tree, tests[at :: len(trees)]) for at, tree in enumerate(trees) if tests[at :: len(trees)]]
    said = ""
    while runs:
        time.sleep(_LOOK_S)
        for run in list(runs):
            code = run.ended(120.0 * len(tests))
            if code is not None:
                runs.remove(run)
                said += f"{run.output.read_text(errors='replace')}\n(code {code})\n" if code else ""
    return said


def _try_all(trees: list[Tree], mutants: Sequence[Mutant], limit_s: float) -> Iterator[tuple[Mutant, str, float]]:
    """Each change with ``caught``, ``lives`` or what went wrong, and its seconds."""
    waiting, free, runs = list(reversed(mutants)), list(trees), list[Run]()
    while waiting or runs:
        while waiting and free:
            mutant, tree = waiting.pop(), free.pop()
            tree.change(mutant)
            runs.append(Run.start(tree, mutant.tests, mutant))
        time.sleep(_LOOK_S)
        for run in list(runs):
            code = run.ended(limit_s)
            if code is None or run.mutant is None:
                continue
            runs.remove(run)
            run.tree.undo(run.mutant)
            free.append(run.tree)
            said = f"the tests did not run (code {code}):\n{run.output.read_text(errors='replace')[-2000:]}"
            yield run.mutant, {0: "lives", 1: "caught"}.get(code, said), time.monotonic() - run.begun_s


def main() -> int:
    """Try the changes that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("words", nargs="*", help="of a file's path or a reason")
    parser.add_argument("-j", "--jobs", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    parser.add_argument("--limit", type=float, default=180.0, metavar="SECONDS", help="for a change's tests")
    options = parser.parse_args()
    chosen = [
        mutant
        for mutant in MUTANTS
        if not options.words or any(word in f"{mutant.file} {mutant.why}" for word in options.words)
    ]
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    for name in _IMPORTED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    found: Counter[str] = Counter()
    told: list[str] = []
    with _trees(options.jobs) as trees:
        said = _unchanged(trees, sorted({test for mutant in chosen for test in mutant.tests}))
        if said:
            print(f"{said}\nThese tests fail without any change.")
            return 2
        for mutant, outcome, seconds in _try_all(trees, chosen, options.limit):
            verdict = outcome if outcome in ("caught", "lives") else "broken"
            found[verdict] += 1
            print(f"{seconds:6.1f} s  {verdict}  {mutant.file}: {mutant.why}", flush=True)
            if verdict != "caught":
                told.append(f"{mutant.file}: {mutant.why}\n  - {mutant.before}\n  + {mutant.after}\n  {outcome}")
    print(*told, sep="\n")
    print(f"{found['caught']} of {len(chosen)} changes are noticed, {found['lives']} live.")
    return 0 if found["caught"] >= LEAST_CAUGHT * len(chosen) and not found["broken"] else 1


if __name__ == "__main__":
    sys.exit(main())
