"""The stages, in order: vocabulary, target, draft, scores; each reads what the one before it left."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from engine.text.gate import Gate
from engine.training.checkpoint_folder import write_checkpoint
from engine.training.guide import recipe
from engine.training.guide.dialogue import Source
from engine.training.guide.draft import Acceptance, acceptance, train_draft
from engine.training.guide.fact import read_facts
from engine.training.guide.feature_draft import ABLATION, SHIPPED, score_feature_drafts, train_feature_drafts
from engine.training.guide.heldout import read_heldout
from engine.training.guide.score import Speaker, best_threshold, score
from engine.training.guide.target import make_tokenizer, train_target
from engine.training.guide.topics import topics, write_topics
from engine.training.guide.vocabulary import Encoder, write_tokenizer_files
from engine.training.network import Network, Shape


def run(stages: Sequence[str], work: recipe.Work, out: Path, minutes: float | None, threads: int) -> None:
    """Run ``stages`` of tokenizer, target, draft, score, gated-fusion, ablation and tau.

    Args:
        stages: what to make.
        work: keeps checkpoints; a stage that was stopped goes on from there.
        out: where the model folders go.
        minutes: training time of the target, or of one of the drafts when that is asked for alone.
        threads: processor threads.
    """
    if set(stages) & {"tokenizer", "target", "draft", "score"}:
        make_tokenizer(work)
        run_own_vocabulary(stages, work, out, minutes, threads)
    guide = out / recipe.TARGET_FOLDER
    guide = guide if guide.is_dir() else recipe.ASSETS / recipe.TARGET_FOLDER
    if "gated-fusion" in stages:
        own_minutes = minutes if "target" not in stages else None
        train_feature_drafts(guide, out, [SHIPPED], own_minutes)
    if "ablation" in stages:
        train_feature_drafts(guide, out, ABLATION, minutes)
    if "tau" in stages:
        score_feature_drafts(guide, out)


def run_own_vocabulary(
    stages: Sequence[str], work: recipe.Work, out: Path, minutes: float | None, threads: int
) -> None:
    """The stages that need the learned vocabulary."""
    encoder = Encoder(work.tokenizer)
    if "target" in stages:
        network = train_target(work, minutes, threads)
        export(network, work, out / recipe.TARGET_FOLDER, encoder)
        write_gate(out / recipe.TARGET_FOLDER)
    if "draft" in stages:
        own_minutes = minutes if "target" not in stages else None
        teacher = load(work.target, recipe.TARGET)
        draft = train_draft(work, teacher, own_minutes, threads)
        export(draft, work, out / recipe.DRAFT_FOLDER, encoder)
    if "score" in stages:
        report(work, out, encoder)


def load(checkpoint: Path, shape: Shape) -> Network:
    """The network of a training checkpoint, rounded to bfloat16 like the file that ships."""
    network = Network(shape)
    network.load_state_dict(torch.load(checkpoint, weights_only=True)["network"])
    for weight in network.parameters():
        weight.data = weight.data.bfloat16().float()
    return network.eval()


def export(network: Network, work: recipe.Work, folder: Path, encoder: Encoder) -> None:
    """Write a model folder: weights, configuration, tokenizer, chat template."""
    folder.mkdir(parents=True, exist_ok=True)
    write_tokenizer_files(work.tokenizer, folder, recipe.CONTEXT)
    write_checkpoint(network, folder, {"eos_token_id": encoder.end, "pad_token_id": encoder.pad})
    print(f"wrote {folder} ({network.parameter_count:,} parameters)", flush=True)


def write_gate(folder: Path) -> None:
    """Write the target's topics and the threshold that suits development questions."""
    facts, phrases = read_facts()
    known = topics(facts, phrases)
    threshold = best_threshold(Speaker(folder), Source(facts, phrases), Gate(0.0, known))
    write_topics(Gate(threshold, known), folder)
    print(f"gate threshold {threshold}", flush=True)


def report(work: recipe.Work, out: Path, encoder: Encoder) -> None:
    """Print the scores that the models' READMEs quote."""
    facts, phrases = read_facts()
    source = Source(facts, phrases)
    scores, _ = score(out / recipe.TARGET_FOLDER, read_heldout(), facts)
    print(f"held-out questions\n\n{scores}\n", flush=True)
    target, draft = load(work.target, recipe.TARGET), load(work.draft, recipe.DRAFT)
    print("| half | position 1 | 2 | 3 | 4 | accepted a round of 4 |\n|---|---|---|---|---|---|")
    for kind in ("guide", "playground"):
        print(_row(kind, acceptance(target, draft, encoder, source, kind)), flush=True)


def _row(kind: str, result: Acceptance) -> str:
    shares = " | ".join(f"{share:.2f}" for share in result.by_position)
    return f"| {kind} | {shares} | {result.accepted:.2f} |"
