from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from app.ui.inspector.draft_tree import place_tree
from app.ui.inspector.inspector import step_words
from tests.support.inspector_scene import ROUNDS, record


def test_the_path_is_the_middle_row() -> None:
    placed = place_tree(ROUNDS[7])
    assert [(node.text, node.fate, node.column, node.row) for node in placed[:5]] == [
        (" so", "root", 0, 0),
        (" a", "accepted", 1, 0),
        (" power", "accepted", 2, 0),
        (" cut", "accepted", 3, 0),
        (" never", "corrected", 4, 0),
    ]
    rest = {node.text: (node.fate, node.column, node.row) for node in placed[5:]}
    assert set(rest) == {" the", " disk", " loss", " that", " crash", " failure", " cannot"}
    assert all(fate == "rejected" and row for fate, _, row in rest.values())
    # A branch goes on in its row, and the other side is taken where that is nearer.
    assert rest[" the"][2] == rest[" disk"][2] == -1
    assert rest[" that"][2] == 1
    texts = {node.text: placed[node.parent].text for node in placed if node.parent >= 0}
    assert (texts[" disk"], texts[" loss"], texts[" cannot"]) == (" the", " power", " cut")


def test_a_token_of_the_target_where_nothing_was_refused_is_plain() -> None:
    assert [node.fate for node in place_tree(record("a", [" b"], " c"))] == ["root", "accepted", "plain"]
    assert [node.fate for node in place_tree(record("a", [], " c"))] == ["root", "plain"]


def test_a_path_that_goes_on_behind_the_end_is_not_taken() -> None:
    whole = record("a", [" b", "", " c"], " d")
    assert whole.texts is not None
    ended = replace(whole, emitted=whole.emitted[:2], texts=replace(whole.texts, emitted=(" b", "")))
    assert [(node.text, node.fate) for node in place_tree(ended)] == [
        ("a", "root"), (" b", "accepted"), ("", "accepted"), (" c", "rejected"),
    ]  # fmt: skip
    assert step_words(7, ended) == "step 7: 2 accepted"
    assert step_words(8, record("a", [], " b")) == "step 8: nothing was guessed"


def test_a_round_without_texts_has_no_tree_and_scores_may_be_missing() -> None:
    assert place_tree(replace(ROUNDS[0], texts=None)) == []
    assert [node.score for node in place_tree(replace(ROUNDS[0], scores=()))] == [None] * 6
    assert [node.score for node in place_tree(ROUNDS[1])][:3] == [None, -0.3, -0.6]


def test_a_node_has_its_probes() -> None:
    asked = replace(record("a", [" b"], " c", [(-1, " d")]), probes=(-1, -1, 0, 1, 1, 1))
    probes = {node.text: node.probes for node in place_tree(asked)}
    assert probes == {"a": 2, " b": 1, " c": 0, " d": 3}


@given(st.lists(st.integers(0, 40), max_size=40), st.integers(0, 6))
def test_every_node_has_a_place_of_its_own(choices: list[int], path: int) -> None:
    refused = [(choice % (path + index + 1) - 1, str(index)) for index, choice in enumerate(choices)]
    made = record("root", [f"p{place}" for place in range(path)], "own", refused)
    placed = place_tree(made)
    assert len(placed) == len(made.tokens) + 2
    assert len({(node.column, node.row) for node in placed}) == len(placed)
    for node in placed[1:]:
        assert node.column == placed[node.parent].column + 1
