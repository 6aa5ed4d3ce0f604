"""The numbers that words are chosen with in a chat, and where each comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from engine.messages import ModelAdvice

#: Settings that a model's makers may advise; without a value of the user's that advice holds, else what is usual.
ADVISED = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty")


@dataclass(frozen=True)
class InForce:
    """One number.

    Attributes:
        value: Value in force.
        origin: ``set`` by the user, advised by the model's ``makers``, ``usual`` where they advise none, or what
            ``greedy`` replies leave out.
    """

    value: float
    origin: Literal["set", "makers", "usual", "greedy"]


def sampling_in_force(chosen: Mapping[str, Any], advice: ModelAdvice) -> dict[str, InForce]:
    """Every number by its setting's name, as engine/advice.py settles them; None in ``chosen`` is nothing chosen."""
    found = {}
    for name in ADVISED:
        value = chosen[name]
        if value is not None:
            found[name] = InForce(value, "set")
        elif name == "repetition_penalty" and chosen["temperature"] == 0.0:
            found[name] = InForce(1.0, "greedy")
        else:
            advised = getattr(advice.sampling, name)
            if advised is not None:
                found[name] = InForce(advised, "makers" if name in advice.own else "usual")
    return found
