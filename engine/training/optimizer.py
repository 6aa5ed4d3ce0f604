"""Muon for the matrices, AdamW for embeddings, output maps and norms.

Muon (Keller Jordan, 2024) orthogonalises each momentum matrix by a Newton-Schulz iteration; its author reports that
small networks learn from fewer tokens with it than with AdamW alone. Medusa heads of SmolLM2-135M-Instruct do: after
200 steps of 2,000 tokens tau was 1.28 with it, and 1.24 and 1.21 with AdamW at rates of 0.003 and 0.001.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from engine.training.product_type import product_type

NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)


def orthogonalise(matrix: Tensor, steps: int = 5) -> Tensor:
    """The nearest semi-orthogonal matrix, roughly, of ``matrix`` (rows, columns)."""
    a, b, c = NEWTON_SCHULZ
    tall = matrix.shape[0] > matrix.shape[1]
    # Not in batches, which CPUs multiply several times as slowly.
    x = (matrix.T.contiguous() if tall else matrix).to(product_type())
    x = x / (x.norm() + 1e-7)
    for _ in range(steps):
        gram = x @ x.T
        x = torch.addmm(x, torch.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    out: Tensor = (x.T if tall else x).to(matrix.dtype)
    return out


class Muon(torch.optim.Optimizer):
    """Momentum whose updates are orthogonalised; for weights of two dimensions."""

    def __init__(
        self, weights: list[nn.Parameter], lr: float, momentum: float = 0.95, weight_decay: float = 0.01
    ) -> None:
        super().__init__(weights, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """One update of every weight."""
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is None:
                    continue
                average: Tensor = self.state[weight].setdefault("momentum", torch.zeros_like(weight))
                average.lerp_(weight.grad, 1 - group["momentum"])
                update = orthogonalise(weight.grad.lerp(average, group["momentum"]))
                scale = group["lr"] * max(1.0, weight.shape[0] / weight.shape[1]) ** 0.5
                weight.mul_(1 - group["lr"] * group["weight_decay"]).add_(update, alpha=-scale)


def optimizers(network: nn.Module, matrix_rate: float, other_rate: float) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the layers, AdamW for the rest."""
    maps = {id(weight) for weight in getattr(network, "maps", ())}
    matrices: list[nn.Parameter] = []
    others: list[nn.Parameter] = []
    for name, weight in network.named_parameters():
        inner = weight.dim() == 2 and "embed" not in name and id(weight) not in maps
        (matrices if inner else others).append(weight)
    found: list[torch.optim.Optimizer] = []
    if matrices:
        found.append(Muon(matrices, matrix_rate))
    if others:
        found.append(torch.optim.AdamW(others, other_rate, betas=(0.9, 0.95), weight_decay=0.0, eps=1e-10))
    return found
