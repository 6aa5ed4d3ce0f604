"""A model reads texts layer by layer: how much each column of its matrices counts, and what a copy loses by them.

All rows of all texts pass a layer before the next one is read, so that one layer is in memory and the file is read
once.
The importance of a column is the mean square of the numbers that it is multiplied with. The loss is the KL divergence
from the original's predictions to the copy's, in nats a token.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from engine.errors import WeightsNotFinite
from engine.model.config import ModelConfig
from engine.model.decoder import Decoder, RowRuns, TextRows
from engine.model.kv_cache import Side
from engine.model.layer import LayerWeights, OnWait, WeightSource, no_work
from engine.model.linear import LinearMap
from engine.model.packed_loader import load_packed, load_packed_layer
from engine.model.tensors import expert_field, layer_slots
from engine.model.weight_format import stored_format, weight_format
from engine.weights.checkpoint import Checkpoint

Progress = Callable[[int, int], None]
Check = Callable[[], None]
#: Rows whose logits are compared at once.
_ROWS = 64
# Rows that pass a layer between two looks at whether to stop.
_RUN_ROWS = 64


@dataclass(frozen=True)
class Text:
    """A text of tokens."""

    ids: tuple[int, ...]
    # True for each token whose prediction is compared
    counts: tuple[bool, ...]


@dataclass(frozen=True)
class Loss:
    """Loss of a copy."""

    kl: float  # mean KL divergence of a token, in nats
    same: float  # share of tokens where both expect the same one
    tokens: int


class _Sums:
    """Sums of squares of a map's inputs."""

    def __init__(self) -> None:
        self.squares: Tensor | None = None
        self.rows = 0

    def add(self, rows: Tensor) -> None:
        squares = rows.float().square().sum(0)
        self.squares = squares if self.squares is None else self.squares + squares
        self.rows += len(rows)


class _Watched:
    """A map that adds up the squares of its inputs."""

    def __init__(self, linear: LinearMap, sums: _Sums) -> None:
        self._linear, self._sums = linear, sums

    @property
    def size_bytes(self) -> int:
        return self._linear.size_bytes

    def __call__(self, rows: Tensor) -> Tensor:
        self._sums.add(rows)
        return self._linear(rows)


class _EqualRuns(RowRuns):
    """Runs of one length: the last bits of watched maps, which run in torch, depend on it, and so would a copy."""

    def __init__(self) -> None:
        self.rows = _RUN_ROWS

    def _learn(self, rows: int, seconds: float) -> None:
        """Keep the length."""


class LayerByLayer(WeightSource):
    """Source that reads a layer of a model when it is its turn, and forgets it.

    Args:
        progress: Called with layers read, and in all.
        check: Called often; raises to cancel.
        watched: True to add up the squares of what each matrix is multiplied with.
    """

    layers_kept = 0

    def __init__(
        self, checkpoint: Checkpoint, config: ModelConfig, progress: Progress, check: Check, watched: bool = False
    ) -> None:
        # Matrices in parts become 8 bits elsewhere, which would be another original than the one that is copied.
        self._format = weight_format("bf16") if config.converts else stored_format(config)
        self._checkpoint, self._config = checkpoint, config
        self._progress, self._check, self._watched = progress, check, watched
        outer = load_packed(checkpoint, config, self._format, check=check, wanted=())
        self.embedding, self.head, self.final_norm = outer.embedding, outer.head, outer.final_norm
        self.inputs = outer.inputs
        device = outer.embedding.device
        self.home = Side(str(device), device, outer.activations, outer.cache)
        self.sums: dict[str, _Sums] = {}  # by the names of the matrices

    def layer(self, index: int, on_wait: OnWait = no_work) -> LayerWeights:
        """Read a layer."""
        self._progress(index, self._config.layers)
        layer = load_packed_layer(self._checkpoint, self._config, self._format, index, self._check)
        return self._watch(layer, index) if self._watched else layer

    def _watch(self, layer: LayerWeights, index: int) -> LayerWeights:
        fields: dict[str, _Sums] = {}
        for slot in layer_slots(self._config, index):
            if len(slot.shape) == 2:
                self.sums[slot.name] = fields.setdefault(slot.field, _Sums())

        def watched(field: str, linear: LinearMap) -> LinearMap:
            return _Watched(linear, fields[field]) if field in fields else linear

        changes: dict[str, Any] = {
            field: watched(field, getattr(layer, field)) for field in fields if hasattr(layer, field)
        }
        experts = layer.experts
        if experts is not None:
            own: dict[str, Any] = {
                part: tuple(watched(expert_field(at, part), one) for at, one in enumerate(getattr(experts, part)))
                for part in ("gate_up", "down")
            }
            own |= {
                field: watched(field, getattr(experts, field))
                for field in ("latent_in", "latent_out")
                if field in fields
            }
            changes["experts"] = replace(experts, **own)
        return replace(layer, **changes)

    def importance(self) -> dict[str, Tensor]:
        """Return the mean square of each column's inputs, 1 on average, by the names of the matrices.

        Matrices that no row passed are left out. Columns that count next to nothing keep a little.
        """
        found = {}
        for name, sums in self.sums.items():
            if sums.squares is not None and sums.rows:
                mean = sums.squares / sums.rows
                average = mean.mean()
                if average > 0 and bool(mean.isfinite().all()):
                    found[name] = (mean / average).clamp_(min=1e-4)
        return found


def read_texts(
    checkpoint: Checkpoint,
    config: ModelConfig,
    texts: Sequence[Text],
    progress: Progress,
    check: Check,
    watched: bool = False,
) -> tuple[list[Tensor], dict[str, Tensor]]:
    """Read texts.

    Returns:
        The (n, h) rows of each text that the head maps to predictions; and the importance by the names of the
        matrices, empty unless ``watched``.
    """
    source = LayerByLayer(checkpoint, config, progress, check, watched)
    decoder = Decoder(config, source)
    rows = []
    for text in texts:
        cache = decoder.new_cache(len(text.ids), states=1)
        cache.begin(len(text.ids))
        rows.append(TextRows(torch.tensor(text.ids), torch.arange(len(text.ids)), cache))
    output = decoder.forward_together(rows, slice(0, 0), check, row_runs=_EqualRuns())
    progress(config.layers, config.layers)
    lengths = [len(text.ids) for text in texts]
    return list(torch.split(output.hidden.float(), lengths)), source.importance()


def loss_of(
    original: tuple[Checkpoint, ModelConfig],
    copy: tuple[Checkpoint, ModelConfig],
    texts: Sequence[Text],
    hidden: Sequence[Tensor],
    progress: Progress,
    check: Check,
) -> Loss:
    """Compare a copy's predictions with the original's.

    Args:
        original: Files and config of the original.
        copy: Files and config of the copy.
        hidden: Rows of the original for them, from `read_texts`.
        progress: Called with layers of the copy read, and in all.
        check: Called often; raises to cancel.

    Raises:
        WeightsNotFinite: Predictions are infinite or none.
    """
    own, _ = read_texts(*copy, texts, progress, check)
    heads = [Decoder(config, LayerByLayer(files, config, progress, check)) for files, config in (original, copy)]
    total, same, count = 0.0, 0.0, 0
    for text, theirs, ours in zip(texts, hidden, own, strict=True):
        wanted = torch.tensor(text.counts[1:]).nonzero().flatten()
        for rows in torch.split(wanted, _ROWS):
            check()
            exact, found = (
                head.logits(one[rows]).log_softmax(-1) for head, one in zip(heads, (theirs, ours), strict=True)
            )
            total += float((exact.exp() * (exact - found)).sum(-1).double().sum())
            same += float((exact.argmax(-1) == found.argmax(-1)).sum())
            count += len(rows)
    loss = Loss(total / max(1, count), same / max(1, count), count)
    if not total < float("inf"):
        raise WeightsNotFinite(
            "The predictions of {file} are infinite or none (NaN): the original is damaged. Download it again.",
            file=original[0].folder.name,
        )
    return loss
