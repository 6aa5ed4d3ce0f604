"""Plain decoding: the loop with an empty draft, one token for each forward."""

from engine.decoding.schedule import FixedLength
from engine.drafting.drafter import NoDrafter
from engine.modes.mode import Mode

PLAIN = Mode("plain", drafter=lambda chances: NoDrafter(), schedule=lambda nodes, cost: FixedLength(0))
