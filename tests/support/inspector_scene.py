"""Events of made-up replies, for the inspector's tests and pictures."""

from __future__ import annotations

from engine.messages import (
    Finished,
    Memory,
    MemoryPlace,
    MemoryShare,
    ModelReport,
    Plan,
    PlanChosen,
    Reply,
    RoundRecord,
    RoundTexts,
    StatisticsUpdated,
    Timings,
)
from tests.support.machine_scene import as_measured, plan
from tests.support.scripted_workspace import ScriptedWorkspace

GB = 1_000_000_000
ACCEPTED = (0.86, 0.69, 0.52, 0.39, 0.28, 0.20, 0.15)


def record(
    root: str,
    path: list[str],
    own: str,
    rejected: list[tuple[int, str]] | None = None,
    position: int = 10,
) -> RoundRecord:
    """A round.

    Args:
        root: The token before.
        path: Texts of the accepted tokens.
        own: The target's own token.
        rejected: (place, text) of refused nodes; a place is an index among all drafted nodes, -1 for the root.
        position: Of the root's successor.
    """
    refused = rejected or []
    drafted = (*path, *(text for _, text in refused))
    accepted = tuple(range(len(path)))
    return RoundRecord(
        position=position,
        tokens=tuple(range(100, 100 + len(drafted))),
        parents=(*(node - 1 for node in accepted), *(place for place, _ in refused)),
        scores=tuple(-0.3 * (node + 1) for node in range(len(drafted))),
        accepted=accepted,
        emitted=tuple(range(100, 100 + len(path) + 1)),
        draft_ms=1.0,
        verify_ms=10.0,
        texts=RoundTexts(root, drafted, (*path, own)),
    )


ROUNDS = (
    record("Yes", ["."], " Save", [(-1, ","), (0, " You"), (1, " can")]),
    record(" Save", [" the", " totals", " and", " the", " number", " of", " rows"], " done", [(5, " chunks")]),
    record(" done", [" after", " each", " chunk", ","], " then"),
    record(" then", [" skip", " that", " many", " rows"], " on"),
    record(" on", [" the", " next", " start", "."], " Write", [(-1, " a"), (3, " Then"), (5, " the")]),
    record(" Write", [" to", " a", " temporary", " file"], " first"),
    record(" first", [" and", " rename", " it", ","], " so", [(3, " to"), (-1, ",")]),
    record(
        " so",
        [" a", " power", " cut"],
        " never",
        [
            (-1, " the"),
            (3, " disk"),
            (1, " loss"),
            (-1, " that"),
            (0, " crash"),
            (1, " failure"),
            (2, " cannot"),
        ],
    ),
)

PLACES = (
    MemoryPlace(
        "cuda:0",
        4 * GB,
        (
            MemoryShare("draft", GB // 2),
            MemoryShare("weights", 12 * GB // 10, 10),
            MemoryShare("buffers", 4 * GB // 10),
        ),
    ),
    MemoryPlace(
        "ram",
        16 * GB,
        (
            MemoryShare("weights", 35 * GB // 10, 22),
            MemoryShare("caches", 11 * GB // 10),
            MemoryShare("buffers", GB // 5),
            MemoryShare("engine", GB // 2),
            MemoryShare("others", 6 * GB),
        ),
    ),
)
STREAMED = (
    MemoryPlace(
        "ram",
        8 * GB,
        (
            MemoryShare("draft", GB // 2),
            MemoryShare("weights", 2 * GB, 9),
            MemoryShare("caches", GB // 2),
            MemoryShare("buffers", GB // 2),
            MemoryShare("engine", 4 * GB // 10),
            MemoryShare("others", 3 * GB),
        ),
    ),
    MemoryPlace("disk", 0, (MemoryShare("weights", 41 * GB // 10, 23),)),
)


def report(places: tuple[MemoryPlace, ...] = PLACES) -> ModelReport:
    """A loaded model."""
    return ModelReport("Llama 3.1 8B Instruct", "/models/llama", "Llama", 8 * GB, "bf16", 8192, 5 * GB, 900.0, places)


def update(
    tokens: int,
    predicted_ms: float,
    rounds: tuple[RoundRecord, ...] = (),
    mode: str = "dovetail",
    disk_read_bytes: int = 0,
    resident_bytes: int = 53 * GB // 10,
) -> StatisticsUpdated:
    """Figures of a reply under way."""
    timings = Timings(
        prompt_ms=900.0,
        predicted_n=tokens,
        predicted_ms=predicted_ms,
        predicted_per_second=tokens / predicted_ms * 1e3,
        acceptance_by_position=ACCEPTED if mode == "dovetail" else (),
    )
    memory = Memory(resident_bytes=resident_bytes, disk_read_bytes=disk_read_bytes)
    return StatisticsUpdated("", mode, timings, memory, 2_540, 8_192, rounds)


def finished(tokens: int, predicted_ms: float, mode: str = "dovetail") -> Finished:
    """The end of a reply."""
    timings = update(tokens, predicted_ms, mode=mode).timings
    ids = tuple(range(tokens))
    return Finished(
        "",
        Reply("text", (1,), ids, mode, "m", (), "bf16", {}, "end", Plan(mode, "for the test"), timings, Memory()),
    )


def play(workspace: ScriptedWorkspace, reply_id: int, places: tuple[MemoryPlace, ...] = PLACES) -> None:
    """Some seconds of a reply in Dovetail, on a clock of their own; plain and lookup have been measured before."""
    moment = 0.0
    workspace.inspection.clock = lambda: moment
    modes = as_measured(plan(), {"plain": 5.9, "lookup": 8.9})
    workspace.told_of(reply_id, PlanChosen("", Plan("dovetail", "for the test"), modes, places))
    tokens = 0
    for step in range(1, 81):
        moment += 0.7
        tokens += 3 + (step % 8 == 3) - (step % 11 == 4) + (step % 4 == 0) + (step > 20) * (step % 3 > 0)
        rounds = ROUNDS[step // 10 - 1 : step // 10] if step % 10 == 0 else ()
        workspace.told_of(reply_id, update(tokens, 280.0 * step, rounds, disk_read_bytes=step * 110_000_000))
