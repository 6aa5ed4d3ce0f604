"""The sizes of an inflated model: those of a real model with as many parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from engine.errors import InvalidOption
from engine.model.config import ModelConfig
from engine.model.tensors import expected_tensors

#: Most parameters, hidden size, feed-forward width: the proportions of published models of these sizes.
_LADDER: tuple[tuple[float, int, int], ...] = (
    (60e6, 512, 1408),
    (200e6, 768, 2048),
    (700e6, 1024, 4096),
    (2e9, 2048, 5632),
    (12e9, 3072, 8192),
)
#: Query heads for each key-value head, where the model had fewer: what most models of these sizes have.
_GROUP = 4


@dataclass(frozen=True)
class InflatedShape:
    """Sizes that grow. Each value is at least the model's own; the vocabulary and the heads' width stay."""

    hidden_size: int
    layers: int
    heads: int
    kv_heads: int
    intermediate_size: int

    def config(self, config: ModelConfig) -> ModelConfig:
        """The inflated model's config, from the model's own.

        Raises:
            InvalidOption: Something would shrink, or heads and key-value heads do not fit together.
        """
        for name, value in vars(self).items():
            if value < getattr(config, name):
                raise InvalidOption(
                    f"{name} would shrink from {getattr(config, name)} to {value}: ask for a larger model."
                )
        if self.heads % self.kv_heads or self.heads // self.kv_heads < config.group:
            raise InvalidOption(
                f"{self.heads} heads over {self.kv_heads} key-value heads leave no room for the model's own "
                f"{config.group} heads on each: choose a multiple, at least {config.group} times as many."
            )
        sources = [source for source, _ in self.sources(config.layers)]
        return replace(
            config,
            hidden_size=self.hidden_size,
            layers=self.layers,
            heads=self.heads,
            kv_heads=self.kv_heads,
            intermediate_size=self.intermediate_size,
            norm_epsilon=config.norm_epsilon * config.hidden_size / self.hidden_size,
            windows=tuple(config.windows[source] for source in sources),
            layer_ropes=tuple(config.layer_ropes[source] for source in sources),
        )

    def sources(self, layers: int) -> list[tuple[int, bool]]:
        """Source of each layer: one of the model's own, and whether the layer holds it or only resembles it.

        The model's own layers are spread evenly, the first in front; behind each come those that add nothing.
        """
        places = [layer * self.layers // layers for layer in range(layers)]
        found: list[tuple[int, bool]] = []
        for index in range(self.layers):
            source = sum(place <= index for place in places) - 1
            found.append((source, places[source] == index))
        return found


def choose_shape(config: ModelConfig, parameters: float) -> InflatedShape:
    """Sizes for about this many parameters: the hidden size from a table, then as many layers as it takes.

    Args:
        config: The model's own.
        parameters: Wanted, embedding included. A few layers of the next hidden size may already have more.

    Raises:
        InvalidOption: The model has as many already, or the number is beyond what is offered.
    """
    own = parameter_count(config)
    most = _LADDER[-1][0]
    if not own < parameters <= most:
        raise InvalidOption(
            f"{parameters:.3g} parameters were asked for, but this model of {own:.3g} can be inflated to more than "
            f"that and to {most:.3g} at most."
        )
    hidden, wide = next((hidden, wide) for limit, hidden, wide in _LADDER if parameters <= limit)
    hidden, wide = max(hidden, config.hidden_size), max(wide, config.intermediate_size)
    group = max(config.group, _GROUP)
    kv_heads = hidden // config.head_dim // group
    if kv_heads < config.kv_heads:
        group = config.group
        kv_heads = max(hidden // config.head_dim // group, config.kv_heads)
    heads = group * kv_heads
    # transformers wants a multiple of the heads for Llama.
    hidden = -(-max(heads * config.head_dim, config.hidden_size) // heads) * heads
    shape = InflatedShape(hidden, config.layers, heads, kv_heads, wide)
    least = parameter_count(shape.config(config))
    layer = (parameter_count(replace(shape, layers=2 * config.layers).config(config)) - least) / config.layers
    return replace(shape, layers=config.layers + max(0, round((parameters - least) / layer)))


def parameter_count(config: ModelConfig) -> int:
    """Weights in a checkpoint of this config; a tied embedding counts once."""
    return sum(math.prod(shape) for shape in expected_tensors(config).values())
