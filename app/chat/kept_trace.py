"""A reply's trace as bytes for the disk: a few for each round, and the samples of the plots."""

from __future__ import annotations

import json
import zlib
from typing import Any

from app.chat.gauges import Sample
from app.chat.reply_trace import ReplyTrace
from engine.messages import RoundRecord, RoundTexts

# A trace that is read is of a reply of a few thousand tokens at most.
_MOST_BYTES = 16 << 20


def to_bytes(trace: ReplyTrace) -> bytes:
    """Return a finished reply's rounds with the texts of their tokens and trees, and its speed and memory over time."""
    rounds = [
        record for number in range(trace.first_round, trace.last_round + 1) if (record := trace.round(number))
    ]
    drafts = [
        [
            place,
            record.texts.drafted,
            record.parents,
            [round(score, 2) for score in record.scores],
            record.accepted,
            record.sources,
            [round(weight, 3) for weight in record.weights],
            record.probes,
        ]
        for place, record in enumerate(rounds)
        if record.texts is not None and (record.drafted_rows or (not place and record.weights))
    ]
    start_s = trace.gauges.samples[0].at_s if trace.gauges.samples else 0.0
    samples = [
        [
            round(sample.at_s - start_s, 2),
            None if sample.tokens_per_second is None else round(sample.tokens_per_second, 2),
            sample.resident_bytes >> 20,
            round(sample.disk_bytes_per_second / 1e6, 1),
        ]
        for sample in trace.gauges.samples
    ]
    values = {
        "root": next((record.texts.root for record in rounds if record.texts is not None), ""),
        "emitted": [record.texts.emitted for record in rounds if record.texts is not None],
        "drafts": drafts,
        "samples": samples,
    }
    written = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    return zlib.compress(written.encode("utf-8", "surrogatepass"))


def from_bytes(kept: bytes, trace: ReplyTrace) -> bool:
    """Put what `to_bytes` wrote into a trace without rounds; returns False, and adds nothing, where it is not that."""
    try:
        unpacker = zlib.decompressobj()
        values = json.loads(unpacker.decompress(kept, _MOST_BYTES).decode("utf-8", "surrogatepass"))
        rounds = _rounds(values)
        samples = [
            Sample(float(at), None if speed is None else float(speed), int(memory) << 20, float(disk) * 1e6)
            for at, speed, memory, disk in values["samples"]
        ]
    except (
        zlib.error,
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
        OverflowError,
        RecursionError,
    ):
        return False
    for record in rounds:
        trace.add(record)
    trace.gauges.samples.extend(samples)
    return True


def _rounds(values: dict[str, Any]) -> list[RoundRecord]:
    drafts = {place: draft for place, *draft in values["drafts"]}
    root, rounds = str(values["root"]), []
    for place, said in enumerate(values["emitted"]):
        drafted, parents, scores, accepted, *others = drafts.get(place, ((), (), (), ()))
        # Which earlier versions did not keep: votes, and later probes.
        sources, weights, probes = (*others, (), (), ())[:3]
        emitted = tuple(map(str, said))
        if not (len(drafted) == len(parents) and len(scores) in (0, len(drafted))):
            raise ValueError("a draft has a parent and a score for each node")
        if not all(-1 <= parent < node for node, parent in enumerate(parents)):
            raise ValueError("a node's parent stands before it")
        if not all(0 <= node < len(drafted) for node in accepted):
            raise ValueError("what was accepted was drafted")
        if not all(-1 <= node < len(drafted) for node in probes):
            raise ValueError("a probe follows a node or the root")
        if len(sources) not in (0, len(drafted)):
            raise ValueError("each node has its members")
        rounds.append(
            RoundRecord(
                position=0,
                tokens=(0,) * len(drafted),
                parents=tuple(parents),
                scores=tuple(map(float, scores)),
                accepted=tuple(accepted),
                emitted=(0,) * len(emitted),
                draft_ms=0.0,
                verify_ms=0.0,
                texts=RoundTexts(root, tuple(map(str, drafted)), emitted),
                sources=tuple(tuple(map(int, members)) for members in sources),
                weights=tuple(map(float, weights)),
                probes=tuple(probes),
            )
        )
        root = emitted[-1] if emitted else root
    return rounds
