"""Train a hybrid of 150 million parameters with an MTP layer by distillation from SmolLM2, on SmolLM2's own replies.

    python -m tests.benchmarks.hybrid_training --out FOLDER [--work FOLDER] [--minutes 12 8] [--threads 2]

Published hybrids are too large to fetch, and acceptance, perplexity and the loss of a quantization mean nothing for a
random model. This one is a Qwen3.5: gated DeltaNet in three of four layers, attention with a gate in every fourth.
Embedding, feed-forward networks, norms and the attention of every fourth layer are copied from SmolLM2. The layers with
a state begin as SmolLM2's attention, head for head. The training has three stages:

1. fit the output maps to SmolLM2's hidden states, layer by layer on a few texts, without gradients;
2. train all layers with a state on SmolLM2's distributions, for the first figure of ``--minutes``;
3. train the MTP layer, which begins as SmolLM2's EAGLE head, on the hybrid's own distributions, for the second figure.

SmolLM2 has no norm of queries and keys. Small ones pass such a norm nearly unchanged, since its epsilon outweighs them.
So that they are not too small for blocks of 8 bits, all that is added to the hidden state is `SCALE` times as large in
the files, which changes only the epsilon that is needed.

Before the stages SmolLM2 writes replies as for ``tenon train draft``, for ``--writing`` minutes. The texts and the
state of each stage stay in ``--work``, so that a stopped training can go on.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.models.qwen3_5.modeling_qwen3_5 import (
    Qwen3_5DecoderLayer,
    Qwen3_5ForCausalLM,
    Qwen3_5RMSNorm,
    Qwen3_5TextConfig,
)

from engine.hub.bundled import paired_drafts
from engine.messages import DEFAULT_MODEL
from engine.model_file import open_model
from engine.text.tokenizer import Tokenizer
from engine.training.features import ExampleSupply, FeatureBatch, batch_of
from engine.training.loss import Entropy, TargetEnds, draft_loss, score
from engine.training.making import TextRequest, texts_of
from engine.training.trainer import Schedule, Trainer
from engine.weights.checkpoint import Checkpoint
from tests.support.decoders import load_decoder

#: SmolLM2's layers that the hybrid is made of: all but the two that change the hidden state least.
LAYERS = tuple(layer for layer in range(30) if layer not in (14, 16))
_EVERY = 4  # each fourth layer keeps attention
# Tokens of a training step; tokens of a piece of a text in the first stage; texts kept for evaluation; pieces at once.
_STEP_TOKENS, _PIECE, _KEPT_ASIDE, _AT_ONCE = 400, 160, 6, 8
# Ridge of each fitted map, as a share of its inputs' mean square.
_RIDGE = {"o_proj": 0.1, "out_proj": 0.1, "down_proj": 0.1}
#: Factor of the hidden states in the files, compared with those in training.
SCALE = 64
# Mean square of queries and keys as a share of epsilon.
_SMALL = 0.03
# Weights in the loss of the first, second, ... guess of a chain of the MTP layer.
_SHARES = (1.0, 0.7, 0.5, 0.35)


def read_teacher(checkpoint: Checkpoint) -> Any:
    """Return SmolLM2 as a frozen model of transformers."""
    config = AutoConfig.for_model(**checkpoint.config)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    for name, weight in model.named_parameters():
        for _ in checkpoint.read(name, weight.detach(), lambda: None):
            pass
    return model.eval().requires_grad_(False)


def config_of(teacher: Any) -> Qwen3_5TextConfig:
    """Return the hybrid's config: SmolLM2's sizes, and as many heads with a state as SmolLM2 has heads."""
    own = teacher.config
    heads, size = own.num_attention_heads, own.hidden_size // own.num_attention_heads
    return Qwen3_5TextConfig(
        vocab_size=own.vocab_size,
        hidden_size=own.hidden_size,
        intermediate_size=own.intermediate_size,
        num_hidden_layers=len(LAYERS),
        num_attention_heads=heads,
        num_key_value_heads=own.num_key_value_heads,
        head_dim=size,
        rms_norm_eps=own.rms_norm_eps,
        max_position_embeddings=own.max_position_embeddings,
        tie_word_embeddings=True,
        rope_parameters={
            "rope_type": "default",
            "rope_theta": own.rope_parameters["rope_theta"],
            "partial_rotary_factor": 1.0,
            "mrope_section": [11, 11, 10],
            "mrope_interleaved": True,
        },
        linear_num_key_heads=heads,
        linear_num_value_heads=heads,
        linear_key_head_dim=size,
        linear_value_head_dim=size,
        eos_token_id=own.eos_token_id,
    )


@torch.no_grad()
def begin(teacher: Any, tokens: Tensor, threads: int) -> Qwen3_5ForCausalLM:
    """Return the hybrid after the first stage: SmolLM2's parts, and output maps fitted on (rows, length) tokens.

    Both output maps of each layer are fitted so that the hybrid's hidden state comes as near to SmolLM2's as possible,
    which also corrects errors of the layers before. A row's error counts relative to the row's size.
    """
    student = Qwen3_5ForCausalLM(config_of(teacher)).eval()
    student.model.embed_tokens.weight.copy_(teacher.model.embed_tokens.weight)
    student.model.norm.weight.copy_(teacher.model.norm.weight - 1)
    turn = teacher.model.rotary_emb(torch.empty(1), torch.arange(tokens.shape[1])[None])
    turned = {"position_embeddings": turn, "attention_mask": None}
    pool = ThreadPoolExecutor(threads)

    def through(call: Callable[[Tensor], Tensor], hidden: Tensor) -> Tensor:
        return torch.cat(list(pool.map(torch.no_grad()(call), hidden.split(_AT_ONCE))))

    def fit(owner: nn.Module, name: str, call: Callable[[Tensor], Tensor], hidden: Tensor, wanted: Tensor) -> Tensor:
        part, size = getattr(owner, name), wanted.square().mean(-1, keepdim=True).rsqrt().flatten(0, 1)
        setattr(owner, name, nn.Identity())
        rows = through(call, hidden).flatten(0, 1)
        setattr(owner, name, part)
        if name == "out_proj":  # scale the heads' outputs to a mean square of one
            scale = _rms(rows)
            owner.norm.weight.div_(scale)
            rows, part.weight = rows / scale, nn.Parameter(torch.zeros_like(part.weight))
        missing = (wanted - hidden).flatten(0, 1) - part(rows)
        part.weight.add_(_fitted(rows * size, missing * size, _RIDGE[name]))
        return hidden + part(rows).view_as(hidden)

    true = own = teacher.model.embed_tokens(tokens)
    for at, layer in enumerate(LAYERS):
        to, given = student.model.layers[at], teacher.model.layers[layer]
        to.mlp.load_state_dict(given.mlp.state_dict())
        for norm in ("input_layernorm", "post_attention_layernorm"):
            getattr(to, norm).weight.copy_(getattr(given, norm).weight - 1)
        true = true + through(lambda x, of=given: of.self_attn(of.input_layernorm(x), **turned)[0], true)
        inputs = to.input_layernorm(own).flatten(0, 1)
        if hasattr(to, "self_attn"):
            _begin_attention(to.self_attn, given.self_attn, inputs)
            mixed = fit(
                to.self_attn, "o_proj", lambda x, of=to: of.self_attn(of.input_layernorm(x), **turned)[0], own, true
            )
        else:
            _begin_delta(to.linear_attn, given.self_attn, inputs)
            mixed = fit(to.linear_attn, "out_proj", lambda x, of=to: of.linear_attn(of.input_layernorm(x)), own, true)
        true = true + through(lambda x, of=given: of.mlp(of.post_attention_layernorm(x)), true)
        for left_out in range(layer + 1, (*LAYERS, len(teacher.model.layers))[at + 1]):
            true = through(lambda x, of=teacher.model.layers[left_out]: of(x, **turned), true)
        own = fit(to.mlp, "down_proj", lambda x, of=to: of.mlp(of.post_attention_layernorm(x)), mixed, true)
        missed = (own - true).square().mean(-1) / true.square().mean(-1)
        print(f"layer {at + 1} of {len(LAYERS)} misses {float(missed.mean()):.3f} of SmolLM2's", flush=True)
    return student


def _fitted(rows: Tensor, wanted: Tensor, ridge: float = 0.01) -> Tensor:
    """Return the (outputs, inputs) map from (n, inputs) rows to (n, outputs) rows by ridge regression."""
    gram = rows.T @ rows
    gram.diagonal().add_(ridge * gram.diagonal().mean())
    return torch.linalg.solve(gram, rows.T @ wanted).T


def _rms(rows: Tensor) -> float:
    return float(rows.square().mean().sqrt())


def _constant(inputs: Tensor, value: float) -> Tensor:
    """Return the (1, h) map whose output is nearly constant for these inputs, because gates have no bias."""
    return _fitted(inputs, torch.full((len(inputs), 1), value))


def _begin_attention(own: Any, given: Any, inputs: Tensor) -> None:
    heads, size = own.config.num_attention_heads, own.head_dim
    gate = _constant(inputs, 2.0)
    queries = given.q_proj.weight.view(heads, size, -1)
    own.q_proj.weight.copy_(torch.cat((queries, gate.expand(heads, size, -1)), 1).flatten(0, 1))
    for name in ("k_proj", "v_proj"):
        getattr(own, name).weight.copy_(getattr(given, name).weight)
    own.o_proj.weight.copy_(given.o_proj.weight / torch.tensor(2.0).sigmoid())
    for norm, part in ((own.q_norm, own.q_proj), (own.k_norm, own.k_proj)):
        made = (given.q_proj if norm is own.q_norm else given.k_proj)(inputs)
        factor = math.sqrt(_SMALL * norm.eps / float(made.square().mean()))
        norm.weight.fill_(math.sqrt((1 + _SMALL) * norm.eps) / factor - 1)
        _projected(part, norm).mul_(factor)


def _projected(part: nn.Linear, norm: nn.Module) -> Tensor:
    """Return a view of the heads of queries or keys in a projection, without the gates that stand beside queries."""
    heads = part.weight.view(-1, norm.weight.shape[0], part.in_features)
    return heads[::2] if part.out_features > part.in_features else heads


def _begin_delta(own: Any, given: Any, inputs: Tensor) -> None:
    size, heads = own.head_k_dim, own.num_v_heads
    groups = given.q_proj.out_features // given.k_proj.out_features
    keys, values = (
        part.weight.view(-1, size, part.in_features).repeat_interleave(groups, 0)
        for part in (given.k_proj, given.v_proj)
    )
    queries = given.q_proj.weight.view(keys.shape).clone()
    own.conv1d.weight.mul_(0.05)
    taps = own.conv1d.weight.view(3, heads, size, -1)
    taps[..., -1] += 1
    # Of the heads that share a value, one gives that of the token before; the others remember 3 and 60 tokens.
    nearest = slice(None, None, groups)
    queries[nearest] = keys[nearest]
    taps[0, nearest] = taps[1, nearest]
    taps[2, nearest] = taps[2, nearest].roll(-1, -1)
    own.A_log.zero_()
    own.dt_bias.copy_(torch.expm1(math.log(2) / torch.tensor((0.2, 3.0, 60.0)).repeat(heads // groups)).log())
    # SiLU is nearly linear for small values; the size of queries and keys does not matter, because a norm follows.
    parts = [
        part.flatten(0, 1) * (scale / (inputs @ part.flatten(0, 1).T).square().mean().sqrt())
        for part, scale in ((queries, 3.0), (keys, 3.0), (values, 0.3))
    ]
    own.in_proj_qkv.weight.copy_(torch.cat(parts))
    own.norm.variance_epsilon *= SCALE**2  # outweighs the heads' outputs, so that their size counts, as in attention
    own.norm.weight.fill_(1)
    own.in_proj_z.weight.copy_(_constant(inputs, 1.28).expand(own.value_dim, -1))  # SiLU(1.28) is 1
    for gate in (own.in_proj_a, own.in_proj_b):
        gate.weight.mul_(0.1)


class Mixers(nn.Module):
    """The parts of the hybrid that have a state; only these are trained in the second stage."""

    def __init__(self, student: Qwen3_5ForCausalLM) -> None:
        super().__init__()
        layers = student.requires_grad_(False).model.layers
        self.places = [at for at, layer in enumerate(layers) if hasattr(layer, "linear_attn")]
        self.parts = nn.ModuleList(layers[at].linear_attn for at in self.places)
        self.parts.requires_grad_(True)


class NextLayer(nn.Module):
    """The MTP layer as Qwen3.5 has it, which is trained with the loss of `tenon train draft`."""

    shares, maps, feature_share = _SHARES, (), 0.0

    def __init__(self, student: Qwen3_5ForCausalLM) -> None:
        super().__init__()
        config, last = student.config, len(LAYERS) - 1
        size = config.hidden_size
        self.fc = nn.Linear(2 * size, size, bias=False)
        self.pre_fc_norm_embedding, self.pre_fc_norm_hidden, self.norm = (
            Qwen3_5RMSNorm(size, config.rms_norm_eps) for _ in range(3)
        )
        self.layers = nn.ModuleList([Qwen3_5DecoderLayer(config, last)])
        self.layers[0].load_state_dict(student.model.layers[last].state_dict())
        self.norm.load_state_dict(student.model.norm.state_dict())
        for norm in (self.pre_fc_norm_embedding, self.pre_fc_norm_hidden):  # their inputs are scaled in the files
            norm.eps *= SCALE**2
        self._turn = [student.model.rotary_emb]  # in a list, so that it is no submodule

    @torch.no_grad()
    def begin(self, draft: Mapping[str, Tensor], teacher: Any, embedding: Tensor, features: Tensor) -> None:
        """Set the weights to those of SmolLM2's EAGLE head, scaled for (n, h) embeddings and (n, h) features."""
        for norm, rows in ((self.pre_fc_norm_embedding, embedding), (self.pre_fc_norm_hidden, features)):
            norm.weight.fill_(_rms(SCALE**-1 * rows if rows is embedding else SCALE * rows) / _rms(norm(rows)) - 1)
        rows = torch.cat((self.pre_fc_norm_embedding(embedding), self.pre_fc_norm_hidden(features)), -1)
        self.fc.weight.copy_(draft["fc.weight"] + draft["fc.bias"][:, None] * _constant(rows, 1.0))
        given, own = type(teacher.model.layers[0])(teacher.config, 0), self.layers[0]
        given.load_state_dict({k.removeprefix("layers.0."): v for k, v in draft.items() if "layers" in k}, strict=False)
        joined = self.fc(rows)
        own.input_layernorm.weight.fill_(_rms(joined) - 1)
        own.post_attention_layernorm.weight.copy_(given.post_attention_layernorm.weight - 1)
        own.mlp.load_state_dict(given.mlp.state_dict())
        _begin_attention(own.self_attn, given.self_attn, own.input_layernorm(joined))
        for norm, part in ((own.self_attn.q_norm, own.self_attn.q_proj), (own.self_attn.k_norm, own.self_attn.k_proj)):
            norm.weight.add_(1).mul_(math.sqrt(_SMALL)).sub_(1)  # weights of a usual size train better
            _projected(part, norm).div_(math.sqrt(_SMALL * norm.eps))
        self.norm.weight.fill_(_rms(SCALE * features) - 1)

    def guesses(self, embedding: Tensor, features: Tensor) -> list[Tensor]:
        """Return the hidden rows of the guesses of a chain, one tensor for each step, as `FeatureGuesser` does."""
        positions = self._turn[0](embedding, torch.arange(embedding.shape[1])[None])
        embedded, found = self.pre_fc_norm_embedding(embedding), list[Tensor]()
        for _ in self.shares:
            joined = self.fc(torch.cat((embedded, self.pre_fc_norm_hidden(features)), -1))
            found.append(self.norm(self.layers[0](joined, position_embeddings=positions)) / SCALE)
            features = torch.cat((features[:, :1], found[-1][:, :-1]), 1)
        return found


class AdamTrainer(Trainer[Any]):
    """Trainer with AdamW for all weights: orthogonal updates of so many matrices cost more than their gradients."""

    def __init__(
        self, network: nn.Module, schedule: Schedule, loss: Callable[[Any, FeatureBatch], Tensor], threads: int
    ) -> None:
        super().__init__(network, schedule, loss, threads)
        self._optimizers = [torch.optim.AdamW(network.parameters(), betas=(0.9, 0.95), weight_decay=0.0)]
        self._rates = [schedule.other_rate]


@dataclass(frozen=True)
class Lesson:
    """Data that the second and the third stage share."""

    teacher: Any
    student: Qwen3_5ForCausalLM
    ends: TargetEnds
    supply: ExampleSupply
    aside: list[FeatureBatch]
    work: Path
    threads: int

    def stage(
        self,
        name: str,
        network: nn.Module,
        minutes: float,
        rate: float,
        loss: Callable[[Any, FeatureBatch], Tensor],
        judge: Callable[[], str],
    ) -> None:
        """Train a network and keep its weights, or read those of an earlier run of this stage."""
        kept = self.work / f"{name}.pt"
        if kept.exists():
            network.load_state_dict(torch.load(kept, weights_only=True))
            return
        if not minutes:
            return
        print(f"{name}: {judge()}", flush=True)
        schedule = Schedule(minutes, other_rate=rate, hold_share=0.2)
        AdamTrainer(network, schedule, loss, self.threads).run(self.supply)
        torch.save(network.state_dict(), kept)
        print(f"{name}: {judge()}", flush=True)

    def text_loss(self, mixers: Mixers, batch: FeatureBatch) -> Tensor:
        """Return the cross-entropy of the hybrid's and SmolLM2's distributions, prompts included."""
        there = _there(batch)
        made = self.student.model(batch.tokens, use_cache=False).last_hidden_state
        loss: Tensor = Entropy.apply(batch.features[there], self.ends, (1.0,), made[there])  # type: ignore[no-untyped-call]
        return loss

    @torch.no_grad()
    def judge(self) -> str:
        """Return both perplexities and the KL divergence on the texts kept for evaluation."""
        losses, others, divergences = list[Tensor](), list[Tensor](), list[Tensor]()
        for batch in self.aside:
            rows = batch.learn[0, 1:]
            tokens = batch.tokens[0, 1:][rows][:, None]
            made = self.student.model(batch.tokens, use_cache=False).last_hidden_state[0, :-1][rows]
            own, theirs = (self.ends.logits(each).log_softmax(-1) for each in (made, batch.features[0, :-1][rows]))
            losses.append(-own.gather(1, tokens))
            others.append(-theirs.gather(1, tokens))
            divergences.append((theirs.exp() * (theirs - own)).sum(-1))
        perplexity, teacher = (float(torch.cat(each).mean().exp()) for each in (losses, others))
        return f"perplexity {perplexity:.2f}, SmolLM2's {teacher:.2f}, KL {float(torch.cat(divergences).mean()):.3f}"


def _there(batch: FeatureBatch) -> Tensor:
    """Return a mask, (rows, length), of the rows that have features."""
    return batch.features.any(-1)


@torch.no_grad()
def scaled(model: nn.Module) -> dict[str, Tensor]:
    """Return the tensors of the hybrid, or of its MTP layer, as they are written to files: scaled by `SCALE`."""
    found: dict[str, Tensor] = {}
    for name, value in model.state_dict().items():
        part, value = name.removesuffix(".weight"), value.float()
        if part.endswith(("embed_tokens", "o_proj", "out_proj", "down_proj", "fc")):
            value = value * SCALE
        elif part in ("model.norm", "norm"):
            value = (value + 1) / SCALE - 1
        elif part.endswith(("q_proj", "k_proj")):
            value = value.clone()
            own = model.get_submodule(part)
            own.weight, before = nn.Parameter(value), own.weight
            _projected(own, model.get_submodule(f"{part[:-4]}norm")).mul_(SCALE)
            own.weight = before
        if name != "lm_head.weight":
            found[name] = (value.bfloat16() if value.dim() > 1 else value).contiguous()
    return found


def write(student: Qwen3_5ForCausalLM, following: NextLayer | None, tokenizer: Tokenizer, out: Path) -> None:
    """Write the model's folder as Qwen3.5 is published: matrices in bfloat16, the rest in float32."""
    out.mkdir(parents=True, exist_ok=True)
    state = scaled(student)
    config = {**student.config.to_dict(), "architectures": ["Qwen3_5ForCausalLM"], "dtype": "bfloat16"}
    config["rms_norm_eps"] *= SCALE**2
    if following is not None:
        state |= {f"mtp.{name}": value for name, value in scaled(following).items()}
        config["mtp_num_hidden_layers"] = 1
    save_file(state, out / "model.safetensors", metadata={"format": "pt"})
    end, template = min(tokenizer.end_ids), tokenizer.template
    of_tokenizer = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": tokenizer.tokens()[end],
        "chat_template": template and template.source,
    }
    texts = {
        "config.json": json.dumps(config, indent=2),
        "tokenizer.json": tokenizer.as_json(),
        "tokenizer_config.json": json.dumps(of_tokenizer, indent=2),
    }
    for name, text in texts.items():
        (out / name).write_text(text + "\n", encoding="utf-8")


def train(options: argparse.Namespace) -> None:
    """Train and write the hybrid."""
    work: Path = options.work or options.out / "work"
    work.mkdir(parents=True, exist_ok=True)
    request = TextRequest(
        model=DEFAULT_MODEL,
        data=None,
        generate=None if options.writing else 1,
        minutes=2 * (options.writing or 1),
        texts=work / "texts",
        threads=options.threads,
    )
    bundled = open_model(DEFAULT_MODEL)
    decoder, examples = texts_of(request, bundled, sys.stdout)
    tokenizer, teacher = bundled.tokenizer, read_teacher(bundled.checkpoint)
    torch.manual_seed(1)
    torch.set_num_threads(1)  # threads that share a product wait for each other on a busy machine
    tokens, threads = options.step_tokens, options.threads
    learned, aside = examples[_KEPT_ASIDE:], examples[:_KEPT_ASIDE]
    print(f"{sum(len(one.ids) for one in learned)} tokens to learn from", flush=True)
    kept = work / "begin.pt"
    if kept.exists():
        student = Qwen3_5ForCausalLM(config_of(teacher)).eval()
        student.load_state_dict(torch.load(kept, weights_only=True))
        for layer in student.model.layers:
            if hasattr(layer, "linear_attn"):
                layer.linear_attn.norm.variance_epsilon *= SCALE**2
    else:
        long = [one.ids[start : start + _PIECE] for one in learned for start in range(0, len(one.ids) - _PIECE, _PIECE)]
        student = begin(teacher, torch.tensor(long[:: max(1, len(long) // options.pieces)]), threads)
        torch.save(student.state_dict(), kept)
    mixers = Mixers(student)
    print(f"{sum(weight.numel() for weight in student.parameters()):,} parameters", flush=True)
    lesson = Lesson(
        teacher,
        student,
        TargetEnds.of(decoder),
        ExampleSupply(decoder, learned, tokens, 1, threads),
        [batch_of(decoder, [one]) for one in aside],
        work,
        threads,
    )
    second, third = options.minutes
    lesson.stage("text", mixers, second, 1e-4, lesson.text_loss, lesson.judge)
    write(student, None, tokenizer, options.out)

    trunk = load_decoder(options.out)
    silent = [replace(one, features=None) for one in learned]
    ends = TargetEnds.of(trunk)
    following = NextLayer(student)
    judged = [batch_of(trunk, [replace(one, features=None)]) for one in aside]
    features = torch.cat([each.features[0, :-1] for each in judged])
    embedded = torch.cat([ends.embed(each.tokens[0, 1:]) for each in judged])
    draft = open_model(paired_drafts(DEFAULT_MODEL, ("head",))[0])
    tensors = {name: value.float() for name, value in load_file(draft.place / "model.safetensors").items()}
    following.begin(tensors, teacher, embedded, features)
    lesson = replace(lesson, supply=ExampleSupply(trunk, silent, tokens, 3, threads))
    lesson.stage(
        "next",
        following,
        third,
        1e-4,
        lambda network, batch: draft_loss(network, ends, batch),
        lambda: "; ".join(score(following, ends, judged).lines()),
    )
    write(student, following, tokenizer, options.out)


def main() -> None:
    """Train as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder of the hybrid")
    parser.add_argument("--work", type=Path, help="folder of texts and stages (default: work in --out)")
    parser.add_argument("--writing", type=float, default=12.0, help="minutes in which SmolLM2 writes, 0 for none")
    parser.add_argument("--minutes", type=float, nargs=2, default=(12.0, 8.0), help="of the second and the third stage")
    parser.add_argument("--pieces", type=int, default=64, help=f"of {_PIECE} tokens, by which the first stage fits")
    parser.add_argument("--step-tokens", type=int, default=_STEP_TOKENS)
    parser.add_argument("--threads", type=int, default=2)
    train(parser.parse_args())


if __name__ == "__main__":
    main()
