"""Probes: rows of a verifying forward that guess further ahead, are never committed and change nothing else."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch

from engine.decoding.sequence import Target, TokenSequence
from engine.drafting.drafter import Drafter, NoDrafter
from engine.drafting.fallback_drafter import FallbackDrafter
from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.sampling import Sampler
from engine.model.token_tree import ROOT, Draft, DraftShape, Probes
from engine.placement.device import Link
from engine.placement.resident import Resident
from engine.weights.checkpoint import Checkpoint
from tests.support.decoders import load_decoder
from tests.support.packed_models import load
from tests.support.replies import run_reply
from tests.support.waiting import Waiting

PROMPT = list(range(3, 40))
TOKENS, CONTEXT = 40, 256
SAMPLERS = {"greedy": Sampler(temperature=0.0), "sampled": Sampler(temperature=1.0, seed=7)}


def exact(decoder: Decoder) -> bool:
    """True if a row's bits depend on its path alone: the kernel library's do, those of torch's operators do not."""
    return decoder.source.dtype != torch.float32 or decoder.source.cache_dtype != torch.float32


def assert_same(found: torch.Tensor, expected: torch.Tensor, decoder: Decoder) -> None:
    if exact(decoder):
        assert torch.equal(found, expected)
    else:
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


def embeddings(decoder: Decoder, ids: Sequence[int]) -> torch.Tensor:
    """Rows that the embedding makes of these tokens before the first layer."""
    rows = decoder.source.embedding(torch.tensor(ids, dtype=torch.long)).to(decoder.source.dtype)
    return rows * (decoder.config.embedding_scale or 1.0)


def with_probes(decoder: Decoder, draft: Draft, ids: dict[int, list[list[int]]]) -> Draft:
    """Add chains of probes to nodes: each probe stands for the token that has its embedding."""
    rows = [
        (node, distance, member, token)
        for node, chains in ids.items()
        for member, chain in enumerate(chains)
        for distance, token in enumerate(chain, 1)
    ]
    nodes, distances, members, every = zip(*rows, strict=True) if rows else ((), (), (), ())
    probes = Probes(nodes, distances, members, embeddings(decoder, every))
    return Draft(draft.tokens, draft.parents, draft.scores, probes=probes)


def text_logits(decoder: Decoder, text: Sequence[int], last: int) -> torch.Tensor:
    """Logits after the last tokens of a text that is read at once."""
    cache = decoder.new_cache(len(text))
    cache.begin(len(text))
    ids = torch.tensor(text)
    return decoder.forward(ids, torch.arange(len(text)), cache, logit_rows=slice(-last, None)).logits


class Prober(Drafter):
    """Drafts the true continuation beside wrong siblings, probes after each node, and checks what they found.

    Every third draft has probes alone.
    """

    def __init__(self, decoder: Decoder, truth: Sequence[int], hidden_layers: tuple[int, ...] = ()) -> None:
        self.hidden_layers = hidden_layers
        self.hidden: list[torch.Tensor] = []
        self.checked = 0
        self._decoder = decoder
        self._truth = truth
        self._text: list[int] = []
        self._asked: dict[int, list[list[int]]] = {}
        self._draft = Draft()
        self._chance = random.Random(3)

    def reset(self, prompt: Sequence[int]) -> int:
        self._text, self._asked, self._draft = list(prompt), {}, Draft()
        return 0 if self.hidden_layers else len(prompt)

    def propose(self, shape: DraftShape) -> Draft:
        tokens: list[int] = []
        parents: list[int] = []
        parent = ROOT
        depth = self._chance.randrange(3) if shape.rows >= 16 else 0
        for token in self._truth[len(self._text) : len(self._text) + depth]:
            tokens += [(token + 1) % 300, token]
            parents += [parent, parent]
            parent = len(tokens) - 1
        chains = (shape.rows - len(tokens)) // (3 * (len(tokens) + 1))
        self._asked = {
            node: [[self._chance.randrange(3, 300) for _ in range(3)] for _ in range(min(chains, 2))]
            for node in range(ROOT, len(tokens))
        }
        self._draft = with_probes(self._decoder, Draft(tuple(tokens), tuple(parents)), self._asked)
        assert self._draft.rows <= shape.rows + 1
        return self._draft

    def observe(self, tokens: Sequence[int], hidden: torch.Tensor | None, probes: torch.Tensor | None = None) -> None:
        if hidden is not None:
            self.hidden.append(hidden)
        node = ROOT
        for token in tokens[:-1]:
            node = self._draft.children[node + 1][token]
        chains = self._asked.get(node, [])
        assert (probes is None) == (not chains)
        if probes is not None:
            before = [*self._text, *tokens[:-1]]
            expected = torch.cat([text_logits(self._decoder, [*before, *chain], 3) for chain in chains])
            assert_same(probes, expected, self._decoder)
            self.checked += len(probes)
        self._text += tokens


def packed(folder: Path) -> Decoder:
    return Decoder(read_config(Checkpoint(folder)), Resident(load(folder)))


@pytest.fixture(params=["llama", "gemma2", "phi3-longrope", "q8_0", "waiting q8_0"], scope="module")
def decoder(request: pytest.FixtureRequest, checkpoint_of: Callable[[str], Path]) -> Decoder:
    if not request.param.endswith("q8_0"):
        return load_decoder(checkpoint_of(request.param))
    found = packed(checkpoint_of("llama"))
    return Decoder(found.config, Waiting(found.source, lambda: 1)) if " " in request.param else found


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_probes_change_no_token_and_find_what_the_model_says_after_them(sampler: str, decoder: Decoder) -> None:
    plain, _ = run_reply(TokenSequence(Target(decoder), CONTEXT), NoDrafter(), PROMPT, TOKENS, 0, SAMPLERS[sampler])
    prober = Prober(decoder, [*PROMPT, *plain])
    failed: list[str] = []
    drafter = FallbackDrafter(prober, Link(torch.device("cpu")), failed.append)
    tokens, timings = run_reply(TokenSequence(Target(decoder), CONTEXT), drafter, PROMPT, TOKENS, 40, SAMPLERS[sampler])
    assert tokens == plain
    assert timings.target_forwards < TOKENS - 4
    assert prober.checked > 60
    assert not failed
    # To the end of the context, where there is room for fewer and fewer rows.
    tight = len(PROMPT) + 20
    again, _ = run_reply(TokenSequence(Target(decoder), tight), Prober(decoder, [*PROMPT, *plain]), PROMPT, TOKENS, 40)
    alone, _ = run_reply(TokenSequence(Target(decoder), tight), NoDrafter(), PROMPT, TOKENS, 0)
    assert again == alone


def test_hidden_rows_are_those_of_committed_tokens(decoder: Decoder) -> None:
    plain, _ = run_reply(TokenSequence(Target(decoder), CONTEXT), NoDrafter(), PROMPT, TOKENS, 0)
    text, layers = [*PROMPT, *plain], (decoder.config.layers, 1)
    prober = Prober(decoder, text, layers)
    run_reply(TokenSequence(Target(decoder), CONTEXT), prober, PROMPT, TOKENS, 40)
    found = torch.cat(prober.hidden)
    cache = decoder.new_cache(len(text))
    cache.begin(len(PROMPT))
    output = decoder.forward(torch.tensor(text[: len(found)]), torch.arange(len(found)), cache, hidden_layers=layers)
    assert len(found) > len(PROMPT) + TOKENS // 2
    assert_same(found[:90], torch.cat([output.layer_inputs[layer] for layer in layers], 1)[:90], decoder)


@pytest.mark.parametrize("rows", [2, 16, 65, 128])
def test_a_forward_of_any_width_gives_nodes_and_probes_what_they_have_alone(rows: int, decoder: Decoder) -> None:
    chance = random.Random(rows)
    nodes = (rows - 1) // 3
    tree = Draft(
        tuple(chance.randrange(3, 300) for _ in range(nodes)),
        tuple(chance.randrange(ROOT, node) for node in range(nodes)),
    )
    ids: dict[int, list[list[int]]] = {}
    for _ in range(rows - 1 - nodes):
        chains = ids.setdefault(chance.randrange(ROOT, nodes), [[]])
        if chance.random() < 0.3:
            chains.append([])
        chains[-1].append(chance.randrange(3, 300))
    asked = {node: [chain for chain in chains if chain] for node, chains in ids.items()}
    draft = with_probes(decoder, tree, asked)
    assert draft.rows == rows
    target = TokenSequence(Target(decoder), CONTEXT)
    target.reuse(PROMPT)
    target.prefill(PROMPT, lambda: None, lambda done, total: None)
    logits = target.verify(99, draft, lambda: None).clone()
    probed = {node: target.probe_logits(draft.probe_rows(node)) for node in asked}
    assert_same(target.verify(99, tree, lambda: None), logits, decoder)
    for node in range(ROOT, nodes):
        path, above = [], node
        while above != ROOT:
            path.append(tree.tokens[above])
            above = tree.parents[above]
        before = [*PROMPT, 99, *reversed(path)]
        assert_same(logits[node + 1], text_logits(decoder, before, 1)[0], decoder)
        chains = asked.get(node, [])
        if chains:
            expected = [text_logits(decoder, [*before, *chain], len(chain)) for chain in chains]
            found = probed[node]
            assert found is not None
            assert_same(found, torch.cat(expected), decoder)
