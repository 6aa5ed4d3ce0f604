"""A mixture of experts with real text behind it: the bundled model's networks as experts, trained for some minutes.

    python -m tests.benchmarks.small_mixture --out FOLDER [--minutes 10]
    python -m tests.benchmarks.quality --model FOLDER/small-mixture.F32.gguf --weights bf16 q8_0 q4_k_m
    python -m tests.benchmarks.quality --model FOLDER/small-mixture.Q4_1.gguf

Each layer gets copies of its network with noise, and a router of noise. Routers and experts then learn Python's own
documentation and sources, two experts a token, with Switch Transformers' balance (Fedus et al. 2022, equation 4);
all else stays. What its routing means is printed: the loss on text that was held out with the experts that the router
chose and with others, and how often a token's experts are those of the token before.
"""

from __future__ import annotations

import argparse
import heapq
import inspect
import math
import random
import statistics
import textwrap
import time
from collections.abc import Sequence
from json import decoder
from pathlib import Path
from pydoc_data import topics
from types import ModuleType
from typing import Any

import torch
import transformers
from gguf import GGMLQuantizationType as Kind
from torch import Tensor
from torch.nn import functional

from engine.weights.checkpoint import Checkpoint
from tests.support.gguf_files import write_gguf
from tests.support.real_models import ABSENT, real_model

EXPERTS, CHOSEN, NOISE = 4, 2, 0.3
LENGTH, ROWS, RATE, BALANCE, PIECES = 256, 2, 2e-4, 0.01, 4
KINDS = (Kind.F32, Kind.Q8_0, Kind.Q4_1)
LEARNT: tuple[ModuleType, ...] = (argparse, inspect, random, statistics)
HELD_OUT: tuple[ModuleType, ...] = (heapq, textwrap, decoder)


def llama_of(checkpoint: Checkpoint) -> Any:
    """Transformers' Llama of a checkpoint, in float32."""
    dense: Any = transformers.LlamaForCausalLM(transformers.LlamaConfig(**checkpoint.config))
    with torch.no_grad():
        for name, parameter in dense.named_parameters():
            for _ in checkpoint.read(name, parameter, lambda: None):
                pass
    return dense.eval()


def mixture_of(dense: Any) -> Any:
    """A Granite mixture that says nearly what a Llama says.

    Args:
        dense: Transformers' Llama.
    """
    config = transformers.GraniteMoeConfig(
        **{
            name: getattr(dense.config, name)
            for name in (
                "vocab_size",
                "hidden_size",
                "intermediate_size",
                "num_hidden_layers",
                "num_attention_heads",
                "num_key_value_heads",
                "max_position_embeddings",
                "rms_norm_eps",
                "rope_parameters",
                "tie_word_embeddings",
                "bos_token_id",
                "eos_token_id",
            )
        },
        num_local_experts=EXPERTS,
        num_experts_per_tok=CHOSEN,
        embedding_multiplier=1.0,
        residual_multiplier=1.0,
        logits_scaling=1.0,
        attention_multiplier=(dense.config.hidden_size // dense.config.num_attention_heads) ** -0.5,
    )
    mixture = transformers.GraniteMoeForCausalLM(config)
    mixture.load_state_dict(dense.state_dict(), strict=False)
    with torch.no_grad():
        for layer, own in zip(mixture.model.layers, dense.model.layers, strict=True):
            experts, network = layer.block_sparse_moe.experts, own.mlp
            gate_up = torch.cat((network.gate_proj.weight, network.up_proj.weight))
            for stack, matrix in (
                (experts.gate_up_proj, gate_up),
                (experts.down_proj, network.down_proj.weight),
            ):
                stack.copy_(matrix + NOISE * matrix.std() * torch.randn_like(stack))
            layer.block_sparse_moe.router.weight.normal_(std=0.02)
    return mixture


def pieces(texts: Sequence[str], tokenizer: Any) -> Tensor:
    """(n, 256) tokens of texts, cut into equal pieces."""
    ids = [token for text in texts for token in tokenizer(text)["input_ids"]]
    return torch.tensor(ids[: len(ids) // LENGTH * LENGTH]).view(-1, LENGTH)


class Routing:
    """Records, and may replace, what the routers of a mixture choose."""

    def __init__(self, mixture: Any) -> None:
        self.logits: list[Tensor] = []
        self.chosen: list[Tensor] = []
        self.at_random = False
        for layer in mixture.model.layers:
            layer.block_sparse_moe.router.register_forward_hook(self._record)

    def _record(self, router: Any, given: Any, made: tuple[Tensor, Tensor, Tensor]) -> Any:
        logits, weights, chosen = made
        if self.at_random:
            chosen = torch.rand_like(logits).topk(CHOSEN).indices
        self.logits.append(logits)
        self.chosen.append(chosen)
        return logits, weights, chosen

    def balance(self) -> Tensor:
        """The auxiliary loss of the last forward, 1 where all experts are taken alike; forgets the forward."""
        losses = []
        for logits, chosen in zip(self.logits, self.chosen, strict=True):
            taken = functional.one_hot(chosen, EXPERTS).float().mean((0, 1))
            losses.append(EXPERTS * (taken * logits.softmax(-1).mean(0)).sum())
        self.forget()
        return torch.stack(losses).mean()

    def kept(self) -> float:
        """Share of a token's experts that the token before took too, in the last forward of one text."""
        shares = []
        for chosen in self.chosen:
            taken = functional.one_hot(chosen, EXPERTS).sum(1)
            shares.append(float((taken[1:] * taken[:-1]).sum() / (CHOSEN * (len(taken) - 1))))
        return statistics.fmean(shares)

    def forget(self) -> None:
        """Drop the last forward."""
        self.logits, self.chosen = [], []


def train(mixture: Any, routing: Routing, texts: Tensor, minutes: float) -> int:
    """Teach routers and experts until so many minutes of the processor's time are gone; returns the steps."""
    for name, parameter in mixture.named_parameters():
        parameter.requires_grad_("block_sparse_moe" in name)
    learnt = [parameter for parameter in mixture.parameters() if parameter.requires_grad]
    optimizer, steps = torch.optim.AdamW(learnt, RATE, weight_decay=0.0), 0
    end = time.process_time() + 60.0 * minutes
    while time.process_time() < end:
        rows = texts[torch.randint(len(texts), (ROWS,))]
        with torch.autocast("cpu", torch.bfloat16):
            loss = mixture(input_ids=rows, labels=rows).loss
        (loss + BALANCE * routing.balance()).backward()
        torch.nn.utils.clip_grad_norm_(learnt, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        steps += 1
        if steps % 10 == 0:
            print(f"step {steps}: loss {loss.item():.3f}", flush=True)
    return steps


@torch.inference_mode()
def loss_of(mixture: Any, routing: Routing, texts: Tensor) -> tuple[float, float]:
    """Loss in nats a token, and the share of experts that stay from one token to the next."""
    losses, kept = [], []
    for piece in texts:
        losses.append(float(mixture(input_ids=piece[None], labels=piece[None]).loss))
        kept.append(routing.kept())
        routing.forget()
    return statistics.fmean(losses), statistics.fmean(kept)


def main() -> None:
    """Make the mixture and print what its routing means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="a folder for its files, 2 GB")
    parser.add_argument("--minutes", type=float, default=10.0, help="of the processor's time")
    options = parser.parse_args()
    found = real_model()
    if found is None:
        parser.error(ABSENT)
    torch.manual_seed(0)
    tokenizer = transformers.AutoTokenizer.from_pretrained(found.parent, gguf_file=found.name)
    dense = llama_of(Checkpoint(found))
    learnt = pieces([*topics.topics.values(), *map(inspect.getsource, LEARNT)], tokenizer)
    held_out = torch.cat([pieces([inspect.getsource(text)], tokenizer)[:PIECES] for text in HELD_OUT])
    with torch.inference_mode():
        before = statistics.fmean(float(dense(input_ids=p[None], labels=p[None]).loss) for p in held_out)
    mixture = mixture_of(dense)
    del dense
    routing = Routing(mixture)
    untrained, _ = loss_of(mixture, routing, held_out)
    steps = train(mixture, routing, learnt, options.minutes)
    trained, kept = loss_of(mixture, routing, held_out)
    routing.at_random = True
    at_random, _ = loss_of(mixture, routing, held_out)
    options.out.mkdir(parents=True, exist_ok=True)
    for kind in KINDS:
        path = options.out / f"small-mixture.{kind.name}.gguf"
        write_gguf(mixture, path, kind, tokenizer, "smollm")
    print(f"{steps} steps of {ROWS * LENGTH} tokens; perplexity on {held_out.numel()} tokens held out:")
    for name, loss in (
        ("the dense model", before),
        ("copies with noise", untrained),
        ("trained", trained),
        ("trained, experts drawn by lot", at_random),
    ):
        print(f"  {name:32}{math.exp(loss):8.2f}")
    print(f"{kept:.0%} of a token's experts were the last one's too ({CHOSEN / EXPERTS:.0%} by chance)")


if __name__ == "__main__":
    main()
