"""Dovetail: a draft beside the target grows token trees, on a GPU where there is one; the target stays on the CPU.

Source: Zhang et al. 2024, "Dovetail: A CPU/GPU Heterogeneous Speculative Decoding for LLM Inference". What goes where
is settled when the model is loaded.
"""

from engine.decoding.schedule import FixedLength
from engine.modes.mode import Mode

DOVETAIL = Mode("dovetail", drafter=None, schedule=FixedLength)
