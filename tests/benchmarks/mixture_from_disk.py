"""A mixture of experts larger than the memory it may take: experts read as they are chosen, beside whole layers.

    python -m tests.benchmarks.mixture_from_disk --work FOLDER [--shares 0.25 0.4 0.6] [--tokens 24] [--llama-cpp]

The file is the random Qwen3-MoE shape of `tests.benchmarks.large_model` in Q4_K_M (3.2 billion weights, 0.4 of them for
a token). Its weights are random, so tokens that follow each other choose nearly independently: text of a trained
model repeats more of its choices, and reads less. For each share of the file that memory may take: a prompt of 64
tokens, then tokens one by one. Reads pass the page cache by. llama.cpp maps the file, in a process of its own whose
memory, page cache included, is held to the same and as much more as `tests.benchmarks.streaming` allows.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from statistics import fmean, median

import torch

from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.weight_format import stored_format
from engine.placement import StreamedExpertsPlan, StreamedPlan
from engine.placement.from_disk import FromDisk
from engine.placement.layer_room import OnDisk
from engine.placement.plan import Room, Sizes
from engine.placement.streamed import Streamed
from engine.placement.streamed_experts import StreamedExperts
from engine.weights.checkpoint import Checkpoint
from tests.benchmarks.large_model import QWEN3_MOE, write_gguf
from tests.benchmarks.llama_cpp_peer import random_ids
from tests.benchmarks.streaming import cage_for, drop_from_page_cache, run

PROMPT, CONTEXT = 64, 1024


def measure(placement: FromDisk, decoder: Decoder, tokens: int) -> str:
    """Seconds and bytes of a prompt and of each token behind it."""
    ids = torch.tensor(random_ids(PROMPT + tokens))
    cache, positions = decoder.new_cache(CONTEXT), torch.arange(PROMPT)
    before, begun = placement.disk_read_bytes, time.perf_counter()
    decoder.forward(ids[:PROMPT], positions, cache, logit_rows=slice(-1, None))
    cache.commit(positions)
    prompt_s = time.perf_counter() - begun
    prompt_bytes, before = placement.disk_read_bytes - before, placement.disk_read_bytes
    each = []
    for position in range(PROMPT, PROMPT + tokens):
        begun = time.perf_counter()
        decoder.forward(ids[position : position + 1], torch.tensor([position]), cache)
        cache.commit([0])
        each.append(time.perf_counter() - begun)
    read = (placement.disk_read_bytes - before) / tokens
    return (
        f"prompt {prompt_s:.2f} s, {prompt_bytes / 1e6:.0f} MB; "
        f"token {1e3 * median(each):.0f} ms, mean {1e3 * fmean(each):.0f}, {read / 1e6:.1f} MB"
    )


def mapped(path: Path, room_bytes: int, tokens: int, threads: int) -> str:
    """The same of llama.cpp."""
    drop_from_page_cache(path)
    command = ["tests.benchmarks.llama_cpp_peer", "--model", str(path)]
    command += ["--max-tokens", str(tokens), "--threads", str(threads), "--prompt", str(PROMPT)]
    found = run(command, cage_for(room_bytes))
    timings, read = found["timings"], found["memory"]["disk_read_bytes"] / tokens
    return (
        f"prompt {timings['prompt_ms'] / 1e3:.2f} s; token {timings['median_ms']:.0f} ms, "
        f"mean {timings['predicted_ms'] / tokens:.0f}, {read / 1e6:.1f} MB"
    )


def main() -> None:
    """Print a line for each share of memory and placement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="a folder for the file, 2 GB")
    parser.add_argument("--shares", type=float, nargs="+", default=[0.25, 0.4, 0.6])
    parser.add_argument("--tokens", type=int, default=24)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--llama-cpp", action="store_true", help="beside it; needs llama-cpp-python, Linux and root")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    path = write_gguf(options.work, "Q4_K_M", QWEN3_MOE)
    checkpoint = Checkpoint(path)
    config = read_config(checkpoint)
    format_ = stored_format(config)
    sizes, model = Sizes(config, format_, CONTEXT), OnDisk(checkpoint, config, format_)
    print(f"{path.name}, {path.stat().st_size / 1e9:.2f} GB")
    for share in options.shares:
        room = Room(int(share * path.stat().st_size))
        layers, experts = StreamedPlan.fit(sizes, room, 0), StreamedExpertsPlan.fit(sizes, room, 0)
        print(f"{share:.0%} of the file:")
        if layers is not None:
            kept = [index for index, place in enumerate(layers.layers) if place.host]
            whole = Streamed(model, kept, layers.buffers)
            print(f"  whole layers, {layers.pinned_layers} stay: ", end="")
            print(measure(whole, Decoder(config, whole), options.tokens))
            whole.release()
        if experts is not None:
            chosen = StreamedExperts(model, experts.kept)
            print(f"  experts, {experts.kept} of each layer stay: ", end="")
            print(measure(chosen, Decoder(config, chosen), options.tokens))
            planned = experts.read_bytes(sizes, 1)
            print(f"    planned: {planned / 1e6:.1f} MB a token")
            chosen.release()
        if options.llama_cpp:
            print(f"  llama.cpp: {mapped(path, room.host_bytes, options.tokens, options.threads)}", flush=True)


if __name__ == "__main__":
    main()
