"""LLMCad through the engine: lossless whatever is switched on, guesses shown as such, and bad values refused."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from engine.drafting.paced_tree import Pacing
from engine.errors import InvalidOption
from engine.messages import Finished, Generate, ModelLoaded, Notice, PlanChosen, TextDrafted, TokensAdded
from engine.model.layer import ModelWeights
from engine.model.mixture import Repeats
from engine.placement.resident import Resident
from tests.support.checkpoints import write_checkpoint
from tests.support.engine_client import EngineClient
from tests.support.fast_cases import covering
from tests.support.heads import make_head
from tests.support.modes import changed_mode
from tests.support.stand_in import use_no_gpu
from tests.support.waiting import Waiting

PROMPT = "one two three four one two three four one two " * 3
LLMCAD = {"mode": "llmcad", "weights": "fp32", "draft_nodes": 24}


@pytest.fixture(autouse=True)
def slow_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Targets whose layers are a while on their way, and no GPU."""

    def waiting(weights: ModelWeights, repeats: Repeats | None = None) -> Resident:
        return Waiting(Resident(weights, repeats), lambda: 2)

    monkeypatch.setattr("engine.placement.resident.Resident", waiting)
    use_no_gpu(monkeypatch)


@pytest.mark.parametrize(
    ("sampling", "own"),
    covering([{"temperature": 0.0}, {"temperature": 0.9, "top_p": 0.9, "seed": 4}], [True, False], together=1),
    ids=str,
)
def test_the_text_is_that_of_plain_decoding_and_nothing_is_loaded_again(
    sampling: dict[str, float], own: bool, client: EngineClient, llama_folder: Path, draft: Path
) -> None:
    other = llama_folder if own else draft
    options = {**LLMCAD, **sampling, "draft": str(other), "max_tokens": 48}
    expected = client.answer(PROMPT, llama_folder, **{**options, "mode": "plain"}).token_ids
    client.answer(PROMPT, llama_folder, **options)
    client.events.clear()
    techniques = [*product((True, False), (True, False), (True, False), (True,)), (True,) * 3 + (False,)]
    tested = accepted = 0
    for branching, adaptive, ahead, beyond in techniques:
        pacing = Pacing(1e-3, branching, adaptive, ahead, beyond)
        with changed_mode("llmcad", growth=lambda values, pacing=pacing: pacing):
            reply = client.answer(PROMPT, llama_folder, **options)
        assert reply.token_ids == expected
        assert (reply.mode, reply.drafts) == ("llmcad", (str(other),))
        assert reply.timings.draft_n > 0
        tested += reply.timings.draft_n_tested
        accepted += reply.timings.draft_n_accepted
    if own and sampling == {"temperature": 0.0}:
        # The draft is the target in 16 bits. All techniques together: how much one drafts depends on the disk.
        assert accepted > 0.95 * tested
    assert not client.seen(ModelLoaded)


def test_the_mode_says_why_and_takes_its_own_number_of_nodes(client: EngineClient, llama_folder: Path) -> None:
    client.events.clear()
    values = {**LLMCAD, "draft": str(llama_folder)}
    del values["draft_nodes"]
    client.answer(PROMPT, llama_folder, max_tokens=120, **values)
    assert client.seen(PlanChosen)[0].plan.mode == "llmcad"
    assert "disk" in client.seen(PlanChosen)[0].plan.reason


def test_guesses_are_shown_as_such(client: EngineClient, llama_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that drafts for itself guesses what it is going to say."""
    monkeypatch.setattr("engine.reply._UNCONFIRMED_EVERY_S", 0.0)
    request = client.request(
        PROMPT, llama_folder, draft=str(llama_folder), max_tokens=40, show_unconfirmed=True, **LLMCAD
    )
    client.events.clear()
    last = client.finish(request)
    assert isinstance(last, Finished)
    shown, longest = "", 0
    for event in client.events:
        if isinstance(event, TokensAdded):
            shown += event.text
        elif isinstance(event, TextDrafted):
            guessed = shown + event.text
            together = min(len(guessed), len(last.reply.text))
            assert guessed[:together] == last.reply.text[:together]
            longest = max(longest, len(event.text))
    assert longest > 1


def test_nothing_unconfirmed_is_sent_unasked_or_too_often(client: EngineClient, llama_folder: Path) -> None:
    values = {**LLMCAD, "draft": str(llama_folder), "max_tokens": 40}
    client.events.clear()
    client.answer(PROMPT, llama_folder, **values)
    assert not client.seen(TextDrafted)
    reply = client.answer(PROMPT, llama_folder, show_unconfirmed=True, **values)
    assert len(client.seen(TextDrafted)) <= 1 + (reply.timings.predicted_ms + reply.timings.prompt_ms) / 100


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"draft_nodes": 65}, "Tokens checked at once: choose a whole number from 1 to 64, not 65."),
        ({"draft": None}, "The mode LLMCad cannot run. It needs a small model as its draft"),
    ],
)
def test_bad_values_are_refused(
    values: dict[str, object], sentence: str, client: EngineClient, llama_folder: Path
) -> None:
    failed = client.failure(PROMPT, llama_folder, **{**LLMCAD, "draft": str(llama_folder), **values})
    assert failed.error.message.startswith(sentence)
    assert (failed.error.kind, failed.error.exit_code) == ("InvalidOption", 2)


@pytest.mark.parametrize("sampling", [{"temperature": 0.0}, {"temperature": 0.9, "top_p": 0.9, "seed": 4}])
def test_medusa_heads_draft_between_two_passes(
    sampling: dict[str, float], client: EngineClient, llama_folder: Path, tmp_path: Path
) -> None:
    heads = str(make_head("medusa").write(tmp_path / "heads", safetensors=True))
    options = {**LLMCAD, **sampling, "draft": heads, "max_tokens": 48}
    expected = client.answer(PROMPT, llama_folder, **{**options, "mode": "plain"}).token_ids
    reply = client.answer(PROMPT, llama_folder, **options)
    assert reply.token_ids == expected
    assert (reply.mode, reply.drafts) == ("llmcad", (heads,))
    assert reply.timings.draft_n > 0


def test_a_head_is_refused_because_it_cannot_guess_ahead(client: EngineClient, tmp_path: Path) -> None:
    target = write_checkpoint(tmp_path / "llama", num_hidden_layers=6)
    head = make_head("dovetail").write(tmp_path / "head", safetensors=True)
    with pytest.raises(InvalidOption, match="It needs a small model"):
        client.request(PROMPT, target, **{**LLMCAD, "draft": str(head)})


def test_a_draft_that_fails_ahead_leaves_the_reply_alone(
    client: EngineClient, llama_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request: Generate = client.request(PROMPT, llama_folder, draft=str(llama_folder), max_tokens=30, **LLMCAD)
    whole = client.answer(PROMPT, llama_folder, draft=str(llama_folder), max_tokens=30, **LLMCAD)

    def fail(*arguments: object) -> bool:
        raise MemoryError

    client.events.clear()
    with monkeypatch.context() as patched:
        patched.setattr("engine.drafting.paced_tree.PacedTree.draft_ahead", fail)
        last = client.finish(request)
    assert isinstance(last, Finished)
    assert last.reply.token_ids == whole.token_ids
    assert [notice.text for notice in client.seen(Notice)] == [
        "The draft ran out of memory, so the reply goes on without it."
    ]
    again = client.answer(PROMPT, llama_folder, draft=str(llama_folder), max_tokens=30, **LLMCAD)
    assert again.token_ids == whole.token_ids
    assert again.timings.draft_n > 0
