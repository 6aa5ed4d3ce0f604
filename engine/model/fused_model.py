"""A whole forward in one call of the kernel library, if every layer is in memory and the library can compute it.

Thirty calls for the layers of a small model, and the operators around them, take a quarter as long as its products.
"""

from __future__ import annotations

import ctypes
import signal
import threading
from collections.abc import Callable, Sequence
from types import FrameType

import torch
from torch import Tensor

from engine.kernels import layer as kernel
from engine.kernels import library
from engine.kernels.library import Matrix
from engine.model.config import ModelConfig
from engine.model.fused_layer import FusedLayer, FusedStep
from engine.model.kv_cache import KVCache
from engine.model.linear import LinearMap, Norm, PackedLinear


class Stop:
    """A check that raises, as the library calls it."""

    def __init__(self, check: Callable[[], None] | None) -> None:
        self.check = check  # function that is called to check
        self.pointer = kernel.STOP(self._asked)  # pointer for the library
        self._raised: BaseException | None = None

    def run(self, model: kernel.Model, forward: kernel.Pass) -> None:
        """Run a forward.

        Raises:
            KeyboardInterrupt: The user pressed Ctrl+C meanwhile; an exception of the check is raised as it is.
            MemoryError: There is no memory for the head's product.
        """
        # Python raises for Ctrl+C when the library calls the check, outside of which nothing could catch it.
        heard = (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )
        self._raised = None
        if heard:
            signal.signal(signal.SIGINT, self._interrupted)
        try:
            kernel.forward_model(model, forward)
        finally:
            if heard:
                signal.signal(signal.SIGINT, signal.default_int_handler)
        if self._raised is not None:
            raise self._raised

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        self._raised = KeyboardInterrupt()

    def _asked(self) -> int:
        try:
            if self.check is not None:
                self.check()
        except BaseException as error:
            self._raised = error
        return int(self._raised is not None)


class FusedModel:
    """Layers, the final norm and the head.

    Args:
        layers: All layers of the model; none if they are computed before.
        norm: Final norm with its gain in the host's memory, or None.
        head: Map from hidden states to logits.
        join: Map of the given rows to the first layer's input, or None if they enter it unchanged.
    """

    def __init__(
        self,
        config: ModelConfig,
        layers: Sequence[FusedLayer],
        norm: Norm | None,
        head: PackedLinear,
        join: PackedLinear | None = None,
    ) -> None:
        each = list(zip(config.windows, config.layer_ropes, strict=True))[: len(layers)]
        # Window and rope of each kind of layer, in the order of the steps that a call takes
        self.kinds = list(dict.fromkeys(each))
        self.hidden, self.vocabulary = config.hidden_size, head.matrix.rows  # width, and number of logits, of a row
        self.given = config.hidden_size if join is None else join.matrix.columns  # width of a given row
        layer_of = (ctypes.c_void_p * len(layers))(*(ctypes.addressof(layer.structure) for layer in layers))
        kind_of = (ctypes.c_int32 * len(layers))(*(self.kinds.index(one) for one in each))
        self._held = (
            tuple(layers),
            layer_of,
            kind_of,
            norm,
            head,
            join,
        )  # the structure holds addresses only
        # Structure for the library
        self.structure = kernel.Model(
            layers=len(layers),
            hidden=config.hidden_size,
            layer=ctypes.addressof(layer_of),
            kind=ctypes.addressof(kind_of),
            final_norm=None if norm is None else norm.gain.data_ptr(),
            norm_floor=config.hidden_size * config.norm_epsilon,
            head=head.structure,
            join=Matrix() if join is None else join.structure,
        )

    @classmethod
    def made_of(
        cls,
        config: ModelConfig,
        layers: Sequence[FusedLayer],
        norm: Norm | None,
        head: LinearMap,
        join: LinearMap | None = None,
    ) -> FusedModel | None:
        """Make the model, or return None if the library cannot compute its ends."""
        if not isinstance(head, PackedLinear) or not isinstance(join, PackedLinear | None):
            return None
        if library.available() is None or (norm is not None and not norm.gain.is_cpu):
            return None
        return cls(config, layers, norm, head, join)

    def __call__(
        self,
        hidden: Tensor,
        steps: Sequence[FusedStep],
        caches: Sequence[KVCache],
        logit_rows: slice,
        hidden_layers: Sequence[int] = (),
        check: Callable[[], None] | None = None,
    ) -> tuple[Tensor, Tensor, dict[int, Tensor]]:
        """Run new rows through the model.

        Args:
            hidden: (n, h) float32, changed by the layers.
            steps: One step for each of `kinds`.
            caches: Places of keys and values of each text of the steps; only with layers.
            logit_rows: Rows to compute logits for, which lie one after the other.
            hidden_layers: Layers whose input is wanted.
            check: Called between layers if a forward takes long; raises to cancel.

        Returns:
            The head's input, (n, h), its (rows, V) float32 logits, and the inputs, (n, h), by layer.
        """
        count = len(hidden)
        first, end, _ = logit_rows.indices(count)
        normed = torch.empty_like(hidden)
        logits = torch.empty(max(0, end - first), self.vocabulary)
        inputs = {layer: torch.empty_like(hidden) for layer in hidden_layers if layer < self.structure.layers}
        arguments = kernel.Pass(
            hidden=hidden.data_ptr(),
            normed=normed.data_ptr(),
            logits=logits.data_ptr(),
            m=count,
            first=first,
            count=len(logits),
        )
        if self.kinds:
            held = (kernel.Step * len(steps))(*(step.step for step in steps))
            stores = kernel.stores([cache.addresses for cache in caches])
            arguments.steps, arguments.caches = ctypes.addressof(held), ctypes.addressof(stores)
        if inputs:
            wanted = (ctypes.c_void_p * self.structure.layers)()
            for layer, tensor in inputs.items():
                wanted[layer] = tensor.data_ptr()
            arguments.inputs = ctypes.addressof(wanted)
        stop = Stop(check)
        if check is not None and self.kinds:
            arguments.stop = stop.pointer
        stop.run(self.structure, arguments)
        return normed, logits, inputs
