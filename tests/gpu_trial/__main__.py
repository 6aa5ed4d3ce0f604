"""A trial of a graphics card in one command: what is right there, how fast it is beside the plan, and what fails how.

    python -m tests.gpu_trial.wheels FOLDER                           # here, with the network
    python -m tests.gpu_trial --wheels FOLDER --out RESULTS           # there: Python, torch with CUDA, and that folder

Each part is a process of its own with a limit, the most valuable ones first. Its rows are on the disk as soon as they
are measured (``RESULTS/PART.jsonl``), ``results.json`` is written anew after each part, and the table comes last.
Without a card the parts run on small shapes with the host's memory under another name, and say what that leaves out.

This file needs nothing but Python: packages are unpacked from the wheels into the work folder, none is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
#: Parts with the most seconds that each may take, in the order in which they run.
LIMITS_S = {
    "machine": 75.0,
    "small": 75.0,
    "chip": 120.0,
    "tests": 75.0,
    "llama-1b": 100.0,
    "removed": 45.0,
    "full": 60.0,
    "killed": 45.0,
    "llama-7b": 160.0,
}
_LEAST_S = 10.0
_LOG_BYTES = 200_000
# Of what the row of a case says, right ones and wrong ones: the whole table is to be at most 12,000 characters.
_SAID_CHARACTERS, _WRONG_CHARACTERS = 70, 300
_NEEDED = (
    "import torch, numpy; print(torch.__version__, torch.version.cuda or torch.version.hip or 'without CUDA', "
    "torch.cuda.get_device_name(0) if torch.cuda.is_available() else '', sep='|')"
)

_KERNELS = (
    "import engine.engine, engine.benchmark, gguf, pytest; from engine.kernels import library; "
    "print(library.available() or '')"
)


def unpack_wheels(wheels: Path, folder: Path) -> None:
    """Unpack the wheels that are of this Python; those of others lie beside them."""
    own = sys.version_info[:2]
    for wheel in sorted(wheels.glob("*.whl")):
        *_, pythons, abi, _ = wheel.stem.split("-")
        numbers = [(int(found[1]), int(found[2] or 0)) for found in re.finditer(r"(?:cp|py)(\d)(\d*)", pythons)]
        fits = own in numbers if abi.startswith("cp") else any(one <= own for one in numbers)
        if fits:
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder)


class Trial:
    """One run.

    Args:
        options: Of the command line.
        work: A folder for packages and models.
    """

    def __init__(self, options: argparse.Namespace, work: Path) -> None:
        self._out: Path = options.out
        self._ends_s = time.monotonic() + options.time
        self._work = work
        self._options = options
        self.results: dict[str, Any] = {
            "begun": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
            "notes": [],
            "parts": {},
        }
        packages = work / "packages"
        if options.wheels is not None:
            unpack_wheels(options.wheels, packages)
        self._environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(packages), os.environ.get("PYTHONPATH", "")]),
            **{f"TENON_{kind}_DIR": str(work / kind.lower()) for kind in ("CACHE", "DATA", "CONFIG")},
            "HF_HUB_OFFLINE": "1",
            "TOKENIZERS_PARALLELISM": "false",
        }

    def prepare(self) -> bool:
        """Look what is there; returns False where the trial cannot run."""
        asked = self._python("-c", _NEEDED)
        if asked.returncode:
            self._note(f"torch or numpy is missing: {asked.stderr.strip().splitlines()[-1]}")
            return False
        torch, cuda, card = asked.stdout.strip().split("|")
        self.results |= {"torch": torch, "cuda": cuda, "card": card, "python": sys.version.split()[0]}
        if not card:
            self._note(
                "No card that torch computes on: parts run on small shapes with the host's memory in its place. "
                "Streams, pinned memory, real speeds and the tests marked gpu are left out."
            )
        loaded = self._python("-c", _KERNELS)
        if loaded.returncode:
            self._note(f"A package is missing: {loaded.stderr.strip().splitlines()[-1]}. See --wheels.")
            return False
        self._note(self._kernels(loaded.stdout.strip()))
        return True

    def run(self, parts: list[str]) -> None:
        """Run parts, as many as there is time for."""
        for part in parts:
            left_s = self._ends_s - time.monotonic()
            if left_s < _LEAST_S:
                self.results["parts"][part] = {"ended": "not begun: no time left", "rows": []}
            else:
                self._run(part, min(left_s, LIMITS_S[part] * self._options.patience))
            self.write()

    def write(self) -> None:
        """Have all results so far on the disk, whole at any moment."""
        path = self._out / "results.json"
        unfinished = path.with_suffix(".part")
        unfinished.write_text(json.dumps(self.results, indent=1, ensure_ascii=False), encoding="utf-8")
        os.replace(unfinished, path)

    def _run(self, part: str, limit_s: float) -> None:
        rows_path, log_path = self._out / f"{part}.jsonl", self._out / f"{part}.log"
        rows_path.write_text("")
        print(f"{part} (at most {limit_s:.0f} s)", flush=True)
        command = [sys.executable, "-m", "tests.gpu_trial.parts", part, str(rows_path), str(self._work)]
        if not self.results["card"]:
            command.append("--stand-in")
        if self._options.model is not None:
            command += ["--model", str(self._options.model.resolve())]
        begun = time.monotonic()
        with log_path.open("wb") as log:
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                code = process.wait(limit_s)
                ended = "whole" if code == 0 else f"ended with code {code}"
            except subprocess.TimeoutExpired:
                ended = f"ended after {limit_s:.0f} s"
            except KeyboardInterrupt:
                self.results["parts"][part] = {"ended": "interrupted", "rows": _rows(rows_path)}
                raise
            finally:
                # What it has started ends with it.
                if hasattr(os, "killpg"):
                    _end_group(process.pid)
                process.kill()
                process.wait()
        log = log_path.read_bytes()
        log_path.write_bytes(log[-_LOG_BYTES:])
        seconds = round(time.monotonic() - begun, 1)
        found: dict[str, Any] = {"ended": ended, "seconds": seconds, "rows": _rows(rows_path)}
        if ended != "whole":
            found["last_words"] = log.decode("utf-8", "replace").strip().splitlines()[-1:]
        self.results["parts"][part] = found

    def _kernels(self, loaded: str) -> str:
        """Have the kernel library where it belongs, and say how it came there; ``loaded`` is what is there already."""
        if loaded:
            return f"The kernel library is here ({loaded})."
        for library in () if self._options.wheels is None else self._options.wheels.glob("tenon_kernels.*"):
            shutil.copyfile(library, ROOT / "engine" / "kernels" / library.name)
            if loaded := self._python("-c", _KERNELS).stdout.strip():
                return f"The kernel library was carried here ({loaded})."
        built = self._python("-m", "engine.kernels.build")
        if built.returncode == 0:
            return f"The kernel library was built here ({self._python('-c', _KERNELS).stdout.strip()})."
        return f"No kernel library, so the processor's speeds are torch's: {built.stderr.strip()}"

    def _python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )

    def _note(self, sentence: str) -> None:
        print(sentence, flush=True)
        self.results["notes"].append(sentence)


def _end_group(process_id: int) -> None:
    try:
        os.killpg(process_id, signal.SIGKILL)
    except ProcessLookupError:
        return


def _rows(path: Path) -> list[dict[str, Any]]:
    """Rows that a part has written; the last one may be cut."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            break
    return found


def table(results: dict[str, Any]) -> str:
    """The results as a person reads them: figures as measured, and in brackets as the plan predicted them."""
    lines = [" | ".join(str(results.get(key, "")) for key in ("card", "torch", "cuda", "python"))]
    lines += results["notes"]
    lines.append("case: ok? tokens; tok/s; ms of a forward, of a draft, of the prompt, measured (predicted); GB there")
    for part, found in results["parts"].items():
        bad = sum(row.get("ok") is False for row in found["rows"])
        lines.append(
            f"== {part}: {found['ended']}, {found.get('seconds', 0)} s, {len(found['rows'])} rows, {bad} wrong"
            + "".join(f" [{words[-_WRONG_CHARACTERS:]}]" for words in found.get("last_words", ()))
        )
        lines += [_line(row) for row in found["rows"]]
    return "\n".join(lines)


def _line(row: dict[str, Any]) -> str:
    marks = {True: "ok", False: "WRONG", None: "--"}
    cells = [f"{marks[row.get('ok')]:5} {row['case']}:"]
    cells += [str(row[key]) for key in ("tokens",) if row.get(key)]
    if row.get("tokens_per_s"):
        cells.append(f"{row['tokens_per_s']:.3g}/s")
    for name in ("forward", "draft", "prompt"):
        if row.get(f"{name}_ms") is not None:
            predicted = row.get(f"{name}_predicted_ms")
            cells.append(f"{name} {row[f'{name}_ms']:.3g}" + ("" if predicted is None else f" ({predicted:.3g})"))
    if row.get("device_peak_gb"):
        cells.append(f"{row['device_peak_gb']:.2f} GB")
    if row.get("said"):
        most = _WRONG_CHARACTERS if row.get("ok") is False or not row.get("tokens") else _SAID_CHARACTERS
        cells.append(str(row["said"])[:most])
    return " ".join(cells)


def main() -> int:
    """Run the trial; the exit code is 0 where every row is right and every part came to its end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--out", type=Path, default=Path("gpu-trial"), help="folder for the results (default: %(default)s)"
    )
    parser.add_argument(
        "--wheels", type=Path, help="folder that tests.gpu_trial.wheels made; without it packages are here"
    )
    parser.add_argument("--parts", nargs="+", choices=list(LIMITS_S), default=list(LIMITS_S), metavar="PART")
    parser.add_argument("--time", type=float, default=470.0, help="seconds for everything (default: %(default)s)")
    parser.add_argument("--patience", type=float, default=1.0, help="multiplies the limit of each part")
    parser.add_argument("--model", type=Path, help="a GGUF file that the part `small` takes beside the toy")
    parser.add_argument("--work", type=Path, help="keep packages and made models here")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    options.out = options.out.resolve()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="tenon-gpu-trial-", ignore_cleanup_errors=True) as made:
        work = Path(made) if options.work is None else options.work.resolve()
        trial = Trial(options, work)
        try:
            if trial.prepare():
                trial.run(options.parts)
        except KeyboardInterrupt:
            trial.results["notes"].append("Interrupted.")
        trial.write()
    text = table(trial.results)
    (options.out / "table.txt").write_text(text + "\n", encoding="utf-8")
    print(text, flush=True)
    parts = trial.results["parts"].values()
    right = parts and all(part["ended"] == "whole" for part in parts)
    return 0 if right and not any(row.get("ok") is False for part in parts for row in part["rows"]) else 1


if __name__ == "__main__":
    sys.exit(main())
