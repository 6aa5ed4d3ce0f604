"""Attention's part of reading prompts and of decoding behind long texts, beside that of the matrix products.

    python -m tests.benchmarks.attention --work /tmp/tenon-bench [--kind Q8_0] [--layers 4] [--alone] [--json]

A file of the 1.1 B shape with few layers is read as a person's prompt is, by `TokenSequence.prefill`; attention's part
is what that takes longer than the same forwards with nothing before them. Behind long texts it is what one token takes
longer than behind 16. Milliseconds are of one layer, with a share of the head, which attention's part is without;
llama.cpp's ratio is of whole forwards, its time over Tenon's.

Without --alone llama.cpp reads and decodes the same file in alternating runs, with flash attention; it reads 32,000
tokens for many minutes, so that it decodes behind the shorter texts only (--peer-behind). "8 bits" is Tenon with an
8-bit cache.
"""

from __future__ import annotations

import argparse
import json
import statistics
from dataclasses import replace
from pathlib import Path

import torch

from engine.decoding.sequence import Target, TokenSequence
from engine.kernels import library
from engine.loaded_model import load_model
from engine.messages import LoadOptions
from engine.model.decoder import Decoder
from engine.model.kv_cache import KVCache
from engine.run import settle
from tests.benchmarks.forward import Peer, Row, read, settled
from tests.benchmarks.large_model import KINDS, LLAMA, write_gguf

PROMPTS = (512, 2000, 8000)
BEHIND = (1000, 4000, 16000, 32000)
_FIRST_CHUNK, _LARGEST_CHUNK, _SHORT = 16, 512, 16


class EightBits(Decoder):
    """A decoder whose caches are of 8 bits."""

    def new_cache(self, capacity_tokens: int, eight_bits: bool = True) -> KVCache:
        """See `Decoder.new_cache`."""
        return super().new_cache(capacity_tokens, eight_bits)


def chunks_of(tokens: int) -> list[int]:
    """The sizes of the forwards in which a prompt is read."""
    chunks, size = [], _FIRST_CHUNK
    while tokens > 0:
        chunks.append(min(size, tokens))
        tokens -= chunks[-1]
        size = min(2 * size, _LARGEST_CHUNK)
    return chunks


def reading(sequence: TokenSequence, layers: int, peer: Peer | None, tokens: int, runs: int) -> Row:
    """A prompt: of one layer its time, attention's part of it, and the tokens that attention reads in a second."""
    wholes, alones, ratios = [], [], []
    for _ in range(runs):
        wholes.append(read(sequence, tokens))
        if peer is not None:
            ratios.append(peer.seconds(tokens, 0, False) / wholes[-1])
        sequence.reuse([2], (), 1)
        alones.append(sum(sequence.seconds_of_forward(size, all_logits=False) for size in chunks_of(tokens)))
    whole, alone = statistics.median(wholes) / layers, statistics.median(alones) / layers
    row = {"ms": 1e3 * whole, "attention_ms": 1e3 * (whole - alone)}
    if whole > alone:  # a short prompt's attention is less than what runs differ by
        row["attention_tokens_per_s"] = tokens / (whole - alone)
    return row | ({"times_llama_cpp": statistics.median(ratios)} if ratios else {})


def decoding(sequence: TokenSequence, layers: int, peer: Peer | None, tokens: int, runs: int) -> Row:
    """One token behind a text."""
    read(sequence, _SHORT)
    one = settled(lambda: sequence.seconds_of_forward(1))
    short = statistics.median(one() for _ in range(runs))
    read(sequence, tokens)
    if peer is not None:
        peer.seconds(tokens, 0, False)
    ours, ratios = [], []
    for _ in range(runs):
        ours.append(one())
        if peer is not None:
            ratios.append(settled(lambda: peer.seconds(1, tokens))() / ours[-1])
    row = {"ms": 1e3 * statistics.median(ours) / layers}
    row["attention_ms"] = row["ms"] - 1e3 * short / layers
    return row | ({"times_llama_cpp": statistics.median(ratios)} if ratios else {})


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="a folder for the file")
    parser.add_argument("--kind", default="Q8_0", choices=KINDS)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--prompts", nargs="*", type=int, default=list(PROMPTS))
    parser.add_argument("--behind", nargs="*", type=int, default=list(BEHIND))
    parser.add_argument("--peer-behind", type=int, default=4000, help="llama.cpp decodes behind at most so many")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--alone", action="store_true", help="without llama.cpp")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    path = write_gguf(options.work, options.kind, replace(LLAMA, layers=options.layers))
    context = max(1024, *options.prompts, *options.behind) + 128
    load_options = LoadOptions(model=str(path), weights="auto", threads=options.threads, context=context)
    model = load_model(settle(load_options))
    peer = None if options.alone else Peer(path, options.threads, context)
    sequence, layers = model.sequences.open(), model.target.config.layers
    eight_bits = TokenSequence(Target(EightBits(model.target.config, model.placement)), context)
    rows: dict[str, Row] = {}

    def add(name: str, row: Row) -> None:
        rows[name] = row
        if not options.json:
            print(f"{name:24}" + "  ".join(f"{key} {value:.3f}" for key, value in row.items()), flush=True)

    if not options.json:
        print(f"{path.name}, {options.threads} threads, {library.available()}, torch {torch.__version__}")
    for tokens in options.prompts:
        runs = max(1, options.runs * 512 // tokens)
        add(f"reading {tokens}", reading(sequence, layers, peer, tokens, runs))
        add(f"reading {tokens}, 8 bits", reading(eight_bits, layers, None, tokens, runs))
    for tokens in options.behind:
        asked = peer if tokens <= options.peer_behind else None
        add(f"behind {tokens}", decoding(sequence, layers, asked, tokens, options.runs))
        add(f"behind {tokens}, 8 bits", decoding(eight_bits, layers, None, tokens, options.runs))
    if peer is not None:
        peer.close()
    if options.json:
        print(json.dumps({"kernels": library.available(), "rows": rows}))


if __name__ == "__main__":
    main()
