"""How much an inflated guide still says what the guide says, in each weight format.

    python -m tests.benchmarks.inflation --work DIR [--size 5e8] [--amplitudes 0.5 1 4] [--formats q8_0 q4_k_m]

The guide in float32 answers ten prompts greedily; every model then reads these answers, and its likeliest token is
compared at each place. ``guide`` is the guide itself in that format: what the format costs without inflation. The
divergence is Kullback and Leibler's, of the model's distribution from the guide's in float32, in nats per token.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from engine.messages import ChatMessage
from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.loader import load_weights
from engine.model.packed_loader import load_packed
from engine.model.weight_format import FORMAT_NAMES, weight_format
from engine.placement.resident import Resident
from engine.text.tokenizer import Tokenizer, read_end_ids
from engine.training.inflate_model import AMPLITUDE, inflate_model
from engine.training.inflate_shape import choose_shape
from engine.weights.checkpoint import Checkpoint
from tests.benchmarks.prompts import PROMPTS
from tests.support.toy import TOY

PROMPTS_MEASURED = 10
REPLY_TOKENS = 64


def load(folder: Path, weights: str) -> Decoder:
    """A model in a format."""
    checkpoint, chosen = Checkpoint(folder), weight_format(weights)
    config = read_config(checkpoint)
    if chosen.packed:
        loaded = load_packed(checkpoint, config, chosen)
    else:
        loaded = load_weights(checkpoint, config, chosen.dense, torch.device("cpu"))
    return Decoder(config, Resident(loaded))


def logits(decoder: Decoder, tokens: list[int]) -> Tensor:
    """(n, V), of a text read in one forward."""
    cache = decoder.new_cache(len(tokens))
    cache.begin(len(tokens))
    return decoder.forward(torch.tensor(tokens), torch.arange(len(tokens)), cache).logits


def answers(guide: Decoder, folder: Path) -> list[tuple[int, list[int]]]:
    """For each prompt its length and the text with the guide's answer."""
    end_ids = read_end_ids(folder)
    tokenizer = Tokenizer(folder, end_ids)
    found = []
    for prompt in [prompt for kind in PROMPTS.values() for prompt in kind[:3]][:PROMPTS_MEASURED]:
        text = tokenizer.render([ChatMessage("user", prompt)])
        length = len(text)
        while len(text) < length + REPLY_TOKENS and text[-1] not in end_ids:
            text.append(int(logits(guide, text)[-1].argmax()))
        found.append((length, text))
    return found


def agreement(
    decoder: Decoder, texts: list[tuple[int, list[int]]], exact: list[Tensor]
) -> tuple[float, int, float]:
    """Share of equal tokens, replies equal as a whole, and divergence."""
    equal: list[Tensor] = []
    divergence: list[Tensor] = []
    for (length, text), expected in zip(texts, exact, strict=True):
        found = logits(decoder, text)[length - 1 : -1]
        equal.append(found.argmax(-1) == torch.tensor(text[length:]))
        own = functional.log_softmax(found, -1)
        divergence.append(functional.kl_div(own, expected, log_target=True, reduction="none").sum(-1))
    share = torch.cat(equal).float().mean()
    return float(share), sum(bool(each.all()) for each in equal), float(torch.cat(divergence).mean())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True, help="a folder for the models, 2 GB at 5e8")
    parser.add_argument("--size", type=float, default=5e8)
    parser.add_argument("--amplitudes", nargs="+", type=float, default=[AMPLITUDE])
    parser.add_argument("--formats", nargs="+", default=list(FORMAT_NAMES), choices=list(FORMAT_NAMES))
    options = parser.parse_args()
    guide, copy = TOY, options.work / "guide"
    shutil.copytree(guide, copy, dirs_exist_ok=True)
    small = load(guide, "fp32")
    texts = answers(small, guide)
    exact = [functional.log_softmax(logits(small, text)[length - 1 : -1], -1) for length, text in texts]
    shape = choose_shape(read_config(Checkpoint(guide)), options.size)
    models = {"guide": copy}
    for amplitude in options.amplitudes:
        name = f"{options.size:.3g}, amplitude {amplitude:g}"
        models[name] = options.work / name.replace(", ", "-").replace(" ", "-")
        if not (models[name] / "config.json").is_file():
            inflate_model(guide, models[name], shape, amplitude=amplitude)
    print(f"{len(texts)} prompts, {sum(len(text) - length for length, text in texts)} tokens")
    for name, folder in models.items():
        for weights in options.formats:
            share, whole, divergence = agreement(load(folder, weights), texts, exact)
            print(f"{name:24} {weights:5} {share:7.1%} {whole:3} whole replies, divergence {divergence:.5f}")


if __name__ == "__main__":
    main()
