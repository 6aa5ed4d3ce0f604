"""Dialogues, sums, disturbances and batches."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from tests.guide.arithmetic import sum_question
from tests.guide.corpus import batches
from tests.guide.dialogue import Dialogue, Source, Turn, is_dev
from tests.guide.disturbance import disturb, mistype
from tests.guide.fact import REFUSE, read_facts
from tests.guide.vocabulary import SPECIAL, Encoder, corpus_texts, learn


@pytest.fixture(scope="module")
def source() -> Source:
    return Source(*read_facts())


@pytest.fixture(scope="module")
def encoder(source: Source, tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    path = tmp_path_factory.mktemp("vocabulary") / "tokenizer.json"
    learn(corpus_texts(source, random.Random(1), guide=300, playground=100), 600).save(str(path))
    return Encoder(path)


def test_the_seed_decides(source: Source) -> None:
    one, other = random.Random(8), random.Random(8)
    assert [source.guide(one) for _ in range(50)] == [source.guide(other) for _ in range(50)]
    assert [source.playground(one) for _ in range(20)] == [source.playground(other) for _ in range(20)]


def test_dialogues_mix_facts_sums_refusals_and_follow_ups(source: Source) -> None:
    rng = random.Random(2)
    kinds: Counter[str] = Counter()
    lengths: Counter[int] = Counter()
    for _ in range(2000):
        dialogue = source.guide(rng)
        lengths[len(dialogue.turns)] += 1
        kinds.update(turn.fact for turn in dialogue.turns)
    assert {"sum", REFUSE, "playground"} <= kinds.keys()
    assert len(kinds) > 200
    assert lengths[1] > 1600
    assert lengths[2] + lengths[3] > 80


def test_development_patterns_are_never_trained_on(source: Source) -> None:
    development = source.dev_questions(random.Random(1))
    assert len(development) > 50
    for name, (patterns, _) in source._patterns.items():
        if len(source.facts[name].patterns) > 5:
            assert not any(is_dev(pattern) for pattern in patterns)


def test_sums_are_right() -> None:
    rng = random.Random(3)
    for _ in range(300):
        question, reply = sum_question(rng)
        term, result = reply.split(" = ")
        assert eval(term) == int(result)
        a, _, b = term.split()
        assert a in question
        assert b in question


def test_disturbances_keep_digits() -> None:
    rng = random.Random(4)
    for _ in range(300):
        text = disturb("what is 17 plus 25", rng)
        assert "17" in text
        assert "25" in text


def test_a_typing_mistake_changes_little() -> None:
    rng = random.Random(5)
    assert all(abs(len(mistype("sidebar", rng)) - 7) <= 1 for _ in range(100))


def test_encoding_learns_replies_only(encoder: Encoder) -> None:
    turns = (Turn("Hello there", "Hello, I am the guide.", "hello"), Turn("ok", "Good.", "ok"))
    encoded = encoder.encode(Dialogue("Be short.", turns), random.Random(1))
    learned = [token for token, wanted in zip(encoded.ids, encoded.learn, strict=True) if wanted]
    assert encoder.plain.decode(learned, skip_special_tokens=False) == (
        "Hello, I am the guide.<|end|>Good.<|end|>"
    )
    text = encoder.plain.decode(encoded.ids, skip_special_tokens=False)
    assert text.startswith("<|system|>Be short.<|end|><|user|>Hello there<|end|><|assistant|>Hello, I")
    prompt = encoder.prompt([("user", "Hello there")], "Be short.")
    assert encoder.plain.decode(prompt, skip_special_tokens=False) == text[: text.index("<|assistant|>") + 13]


def test_the_vocabulary_has_single_digits_and_special_tokens(encoder: Encoder) -> None:
    assert len(encoder.plain.encode("2025").ids) == 4
    assert [encoder.plain.token_to_id(text) for text in SPECIAL] == list(range(len(SPECIAL)))
    text = "Grüße, 10 € — ok\n\tdone"
    assert encoder.plain.decode(encoder.plain.encode(text).ids) == text


@pytest.mark.parametrize("kind", ["guide", "playground"])
def test_batches_are_full_and_padded(
    source: Source, encoder: Encoder, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.guide.corpus.POOL", 60)
    stream = batches(source, encoder, kind, 3000, random.Random(6))
    for _ in range(5):
        batch = next(stream)
        assert batch.kind == kind
        assert batch.learn.shape == (batch.tokens.shape[0], batch.tokens.shape[1] - 1)
        assert batch.learn.any(axis=1).all()
        assert not (batch.learn & (batch.tokens[:, 1:] == encoder.pad)).any()
        assert batch.tokens.dtype == np.int64
