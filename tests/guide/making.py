"""The stages, in order: vocabulary, target, drafts; each reads what the one before it left."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from engine.training.llama_network import Network, Shape
from tests.guide import recipe
from tests.guide.checkpoint_folder import write_checkpoint
from tests.guide.draft import train_draft
from tests.guide.feature_draft import ABLATION, SHIPPED, score_feature_drafts, train_feature_drafts
from tests.guide.target import make_tokenizer, train_target
from tests.guide.vocabulary import Encoder, write_tokenizer_files


def run(stages: Sequence[str], work: recipe.Work, out: Path, minutes: float | None, threads: int) -> None:
    """Run ``stages`` of tokenizer, target, draft, gated-fusion, ablation and tau.

    Args:
        stages: what to make.
        work: keeps checkpoints; a stage that was stopped goes on from there.
        out: where the model folders go.
        minutes: training time of the target, or of one of the drafts when that is asked for alone.
        threads: processor threads.
    """
    if set(stages) & {"tokenizer", "target", "draft"}:
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
    if "draft" in stages:
        own_minutes = minutes if "target" not in stages else None
        teacher = load(work.target, recipe.TARGET)
        draft = train_draft(work, teacher, own_minutes, threads)
        export(draft, work, out / recipe.DRAFT_FOLDER, encoder)


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
