from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from app.chat.conversation import ReplyDetails
from app.chat.kept_json import from_json, to_json
from engine.messages import Timings

DETAILS = ReplyDetails("lookup", "Why.", "smollm2", None, "q4_k_m", {"target": "cpu"}, "length", Timings(draft_n=3), 7)


def test_what_is_written_is_read_back() -> None:
    assert from_json(ReplyDetails, to_json(DETAILS)) == DETAILS


def test_other_versions_are_read_as_far_as_they_go() -> None:
    values = json.loads(to_json(DETAILS))
    values["later"] = 1
    values["timings"]["later"] = 2
    del values["devices"], values["timings"]["draft_ms"]
    read = from_json(ReplyDetails, json.dumps(values))
    assert (read.devices, read.timings) == ({}, DETAILS.timings)


@given(
    st.text()
    | st.recursive(st.none() | st.integers() | st.text(), lambda x: st.dictionaries(st.text(), x)).map(json.dumps)
)
def test_anything_else_is_no_account(text: str) -> None:
    assert from_json(ReplyDetails, text) is None
