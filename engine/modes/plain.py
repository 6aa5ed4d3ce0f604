"""Plain decoding: the loop with an empty draft, one token for each forward."""

from engine.modes.mode import Mode
from engine.sentences import mark

MODE = Mode(
    name="plain",
    title=mark("Plain"),
    help=mark("Generates one token after the other."),
    reason=mark("Plain decoding was chosen: one token for each pass."),
)
