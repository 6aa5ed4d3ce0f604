from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ImportInvalid
from tests.app.chat.exchange.test_json_file import read_conversations


def _node(parent: str | None, role: str = "", *parts: object, kind: str = "text", **metadata: object) -> dict[str, Any]:
    message = {
        "author": {"role": role},
        "create_time": 100.5,
        "content": {"content_type": kind, "parts": list(parts)},
        "metadata": metadata,
    }
    return {"parent": parent, "children": [], "message": message if role else None}


EXPORT = [
    {
        "title": "Trees",
        "create_time": 99.0,
        "update_time": 200.0,
        "current_node": "b2",
        "is_archived": True,
        "mapping": {
            "b1": _node("q1", "assistant", "other", model_slug="gpt-4o"),
            "root": _node(None),
            "sys": _node("root", "system", ""),
            "hidden": _node("sys", "user", "about me", is_visually_hidden_from_conversation=True),
            "q1": _node("hidden", "user", "What is", {"content_type": "image_asset_pointer"}, "a tree?",
                        kind="multimodal_text"),
            "tool": _node("q1", "assistant", kind="code"),
            "result": _node("tool", "tool", "found"),
            "b2": _node("result", "assistant", "A graph.", model_slug="gpt-4o"),
        },
    }
]  # fmt: skip


def test_the_tree_comes_along_and_all_that_is_no_text_stays_behind() -> None:
    (record,) = read_conversations(json.dumps(EXPORT))
    conversation = record.conversation
    assert (conversation.title, conversation.created_at, conversation.updated_at) == ("Trees", 99.0, 200.0)
    assert conversation.archived
    assert [(message.role, message.content, message.parent_id) for message in record.messages] == [
        ("user", "What is\n\na tree?", None),
        ("assistant", "other", 1),
        ("assistant", "A graph.", 1),
    ]
    assert [message.content for message in record.shown()] == ["What is\n\na tree?", "A graph."]
    assert (record.messages[1].model, record.messages[0].created_at) == ("gpt-4o", 100.5)
    assert read_conversations(json.dumps(EXPORT[0])) == [record]


WILD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["mapping", "message", "author", "role", "content", "parts", "parent", "title", "user",
                         "content_type", "current_node", "create_time", "metadata", "model_slug", "a", "b"]),
        inner, max_size=5,
    ),
    max_leaves=20,
)  # fmt: skip


@given(st.dictionaries(st.sampled_from("abcd"), WILD), WILD, st.sampled_from("abcd"))
def test_anything_like_it_is_read_or_refused(mapping: dict[str, Any], title: Any, name: str) -> None:
    nodes = {**mapping, name: _node(name, "user", "text")}
    nodes["start"] = _node(None, "user", "here")
    try:
        (record,) = read_conversations(json.dumps([{"title": title, "mapping": nodes}]))
        found = [message.content for message in record.messages]
    except ImportInvalid:
        found = ["here"]
    assert "here" in found
