"""A mixture of experts larger than the memory it may take: experts read as they are chosen, beside whole layers.

    python -m tests.benchmarks.mixture_from_disk --work /tmp/tenon-bench [--shares 0.25 0.4 0.6] [--tokens 24]

The file is the random Qwen3-MoE shape of `tests.benchmarks.large_model` in Q4_K_M (3.2 billion weights, 0.4 of them for
a token). Its weights are random, so tokens that follow each other choose nearly independently: text of a trained
model repeats more of its choices, and reads less. For each share of the file that memory may take: a prompt of 64
tokens, then tokens one by one. Reads pass the page cache by.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from statistics import median

import torch

from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.weight_format import stored_format
from engine.placement import StreamedExpertsPlan, StreamedPlan
from engine.placement.footprint import Sizes
from engine.placement.from_disk import FromDisk
from engine.placement.plan import Room
from engine.placement.streamed import Streamed
from engine.placement.streamed_experts import StreamedExperts
from engine.weights.checkpoint import Checkpoint
from tests.benchmarks.large_model import QWEN3_MOE, write_gguf

PROMPT, CONTEXT = 64, 1024


def measure(placement: FromDisk, decoder: Decoder, tokens: int) -> str:
    """Seconds and bytes of a prompt and of each token behind it."""
    chance = torch.Generator().manual_seed(7)
    ids = torch.randint(3, 30000, (PROMPT + tokens,), generator=chance)
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
        f"token {1e3 * median(each):.0f} ms, {read / 1e6:.1f} MB"
    )


def main() -> None:
    """Print a line for each share of memory and placement."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True, help="a folder for the file, 2 GB")
    parser.add_argument("--shares", type=float, nargs="+", default=[0.25, 0.4, 0.6])
    parser.add_argument("--tokens", type=int, default=24)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    path = write_gguf(options.work, "Q4_K_M", QWEN3_MOE)
    checkpoint = Checkpoint(path)
    config = read_config(checkpoint)
    format_ = stored_format(config)
    sizes = Sizes(config, format_, CONTEXT)
    print(f"{path.name}, {path.stat().st_size / 1e9:.2f} GB")
    for share in options.shares:
        room = Room(int(share * path.stat().st_size))
        layers, experts = StreamedPlan.fit(sizes, room, 0), StreamedExpertsPlan.fit(sizes, room, 0)
        print(f"{share:.0%} of the file:")
        if layers is not None:
            kept = [index for index, place in enumerate(layers.layers) if place.host]
            whole = Streamed(checkpoint, config, format_, None, kept, layers.buffers)
            print(f"  whole layers, {layers.pinned_layers} stay: ", end="")
            print(measure(whole, Decoder(config, whole), options.tokens))
            whole.release()
        if experts is not None:
            chosen = StreamedExperts(checkpoint, config, format_, None, experts.kept)
            print(f"  experts, {experts.kept} of each layer stay: ", end="")
            print(measure(chosen, Decoder(config, chosen), options.tokens))
            planned = experts.read_bytes(sizes, 1)
            print(f"    planned: {planned / 1e6:.1f} MB a token")
            chosen.release()


if __name__ == "__main__":
    main()
