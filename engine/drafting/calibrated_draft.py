"""A draft that guesses all levels of a tree at once, and whose trees are counted on the model's replies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from engine.drafting.head_calibration import calibration_beside, read_calibration
from engine.drafting.target_draft import L, TargetDraft
from engine.hub.installed import cache_folder
from engine.model.config import ModelConfig

L_in = TypeVar("L_in", contravariant=True)
D = TypeVar("D", bound="CalibratedDraft[Any, Any]")


class Calibration(Protocol[L_in]):
    """Result of counting a draft's trees."""

    @property
    def tokens(self) -> dict[int, float]:
        """Tokens of a round by rows of its draft beside the root's."""

    def fits(self, layout: L_in) -> bool:
        """True if these may be the trees of such a draft."""


C = TypeVar("C", bound=Calibration[Any])


@dataclass(frozen=True)
class CalibratedDraft(TargetDraft[L], Generic[L, C]):
    """Tensors beside a model that have no cache of their own, with their calibration.

    Attributes:
        beside: The calibration that came with them; None for none.
    """

    beside: C | None = None

    by_levels = False
    calibration_type: ClassVar[type[Any]]
    """The class C of their calibration."""

    @classmethod
    def read(cls: type[D], name: str, folder: Path, target: ModelConfig) -> D:
        """The draft in a folder, all of which must be here."""
        return replace(
            super().read(name, folder, target), beside=calibration_beside(cls.calibration_type, folder)
        )

    def calibration(self, target: str) -> C | None:
        """Their calibration for a model, by its digest: made here, else the one that came with them."""
        found: C | None = read_calibration(self.calibration_type, cache_folder(), target, self.digest)
        found = found or self.beside
        return found if found is None or found.fits(self.layout) else None

    def counted(self, target: str) -> Mapping[int, float]:
        """Tokens of a round by rows on the replies of the calibration."""
        calibration = self.calibration(target)
        return {} if calibration is None else calibration.tokens
