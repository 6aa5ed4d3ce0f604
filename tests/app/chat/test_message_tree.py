from __future__ import annotations

from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from app.chat.conversation import Message, MessageTree


def _tree(parents: list[int | None]) -> MessageTree:
    return MessageTree(
        Message(number, 1, "user", str(number), 0.0, parent_id=parent) for number, parent in enumerate(parents, 1)
    )


@st.composite
def trees(draw: st.DrawFn) -> list[int | None]:
    """The parent of each of the messages 1, 2, 3 and so on; now and then one that is not there or is younger."""
    count = draw(st.integers(1, 12))
    return [
        draw(st.none() | st.integers(1, max(1, number - 1)) | st.integers(-1, 20)) for number in range(1, count + 1)
    ]


@given(trees(), st.sets(st.integers(1, 12)), st.none() | st.integers(0, 13))
def test_every_path_is_free_of_deleted_messages_and_ends_where_asked(
    parents: list[int | None], deleted: set[int], leaf_id: int | None
) -> None:
    tree = _tree(parents)
    for number in deleted:
        message = tree.get(number)
        if message is not None:
            tree.put(replace(message, deleted=True))
    left = [message.id for message in tree.all() if not message.deleted]
    tip = tree.tip(leaf_id)
    assert (tip is None) == (not left)
    for number in left:
        path = [message.id for message in tree.path_to(number)]
        assert len(path) == len(set(path))
        assert path[-1] == number
        assert not set(path) & deleted
        alternatives = tree.alternatives(number)
        assert number in alternatives
        assert all(tree.alternatives(other) == alternatives for other in alternatives)
        assert {tuple(above.id for above in tree.path_to(other)[:-1]) for other in alternatives} == {tuple(path[:-1])}
        below = tree.tip_below(number)
        assert below is not None
        assert number in [message.id for message in tree.path_to(below)]


@given(trees(), st.sets(st.integers(1, 12)))
def test_removing_shows_what_marking_as_deleted_shows(parents: list[int | None], gone: set[int]) -> None:
    marked, removed = _tree(parents), _tree(parents)
    for number in sorted(gone):
        message = marked.get(number)
        if message is not None:
            marked.put(replace(message, deleted=True))
        removed.remove(number)
    left = sorted(message.id for message in removed.all())
    assert left == sorted(message.id for message in marked.all() if not message.deleted)
    assert removed.tip(None) == marked.tip(None)
    for number in left:
        assert [message.id for message in removed.path_to(number)] == [message.id for message in marked.path_to(number)]
        assert removed.alternatives(number) == marked.alternatives(number)


@given(trees())
def test_a_tree_read_again_after_removal_is_the_same(parents: list[int | None]) -> None:
    tree = _tree([parent if parent is None or parent < number else None for number, parent in enumerate(parents, 1)])
    tree.remove(1)
    again = MessageTree(tree.all())
    assert all(again.path_to(message.id) == tree.path_to(message.id) for message in tree.all())
    assert again.tip(None) == tree.tip(None)


@given(trees(), st.randoms())
def test_the_order_of_ids_and_of_reading_means_nothing(parents: list[int | None], random: Random) -> None:
    tree = _tree([parent if parent is None or parent < number else None for number, parent in enumerate(parents, 1)])
    ids = {number: number for number in range(1, len(parents) + 1)}
    shuffled = list(ids)
    random.shuffle(shuffled)
    ids = dict(zip(ids, shuffled, strict=True))
    renamed = [
        replace(
            message,
            id=ids[message.id],
            parent_id=ids.get(message.parent_id or 0),
            created_at=float(message.id),
        )
        for message in tree.all()
    ]
    random.shuffle(renamed)
    again = MessageTree(renamed)
    assert [message.content for message in again.all()] == [message.content for message in tree.all()]
    for message in tree.all():
        path = [above.content for above in again.path_to(ids[message.id])]
        assert path == [above.content for above in tree.path_to(message.id)]
    tip = again.tip(None)
    assert tip is not None
    assert tip == ids[tree.tip(None) or 0]


def test_a_circle_is_cut() -> None:
    tree = _tree([3, 1, 2])
    assert sorted(message.id for message in tree.all()) == [1, 2, 3]
    assert sorted(message.id for message in tree.path_to(tree.tip(None))) == [1, 2, 3]


def test_a_long_conversation_is_one_path() -> None:
    tree = _tree([None, *range(1, 5000)])
    assert len(tree.path_to(tree.tip(None))) == 5000
    assert len(tree.branch(1)) == 5000


def test_nothing_is_shown_of_an_empty_tree() -> None:
    tree = MessageTree()
    tree.remove(1)
    assert (tree.tip(None), tree.tip(3), tree.path_to(None), tree.alternatives(3)) == (None, None, [], [])
