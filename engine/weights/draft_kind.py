"""Kinds of drafts, a whole model or a head that runs on its target's hidden states; adapters; a look at pickles first.

A file of PyTorch's is checked before it is unpickled: torch would work for minutes on one that only opens lists.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from safetensors import SafetensorError, safe_open

from engine.errors import CheckpointError, ConfigInvalid, UnsupportedModel
from engine.files import check_file, open_file, read_table
from engine.gguf.files import HEAD_PREFIX, SUFFIX
from engine.sentences import mark

DraftKind = Literal["model", "head"]
HeadKind = Literal["prompt tokens", "medusa", "block", "parallel", "assistant", "mlp", "mtp", "feature"]

#: Weights of heads under their makers' names, beside those of models.
MEDUSA_SAFETENSORS = "medusa_lm_head.safetensors"
MEDUSA_PICKLE = "medusa_lm_head.pt"
#: Prompt tokens, as PEFT names its files.
ADAPTER_CONFIG, ADAPTER_SAFETENSORS, ADAPTER_PICKLE = (
    "adapter_config.json",
    "adapter_model.safetensors",
    "adapter_model.bin",
)
#: Files that describe a folder: a model's or a draft's own, and PEFT's.
CONFIGS = ("config.json", ADAPTER_CONFIG)
NO_ADAPTER = mark("There is no LoRA adapter at {place}: give a folder with adapter_config.json, or a GGUF file.")
NO_PLAIN_LORA = mark(
    "The adapter {adapter} has {feature}, and of adapters Tenon merges plain LoRA alone: merge it into its model with "
    "PEFT (merge_and_unload), and choose the result."
)
# PEFT's options that change more than a matrix, or by another formula.
_OTHER_FORMULAS = (
    *("use_dora", "use_qalora", "use_bdlora", "lora_bias", "alora_invocation_tokens", "layer_replication"),
    *("trainable_token_indices", "arrow_config", "kasa_config", "monteclora_config", "velora_config"),
)
# Beginnings of PEFT's ways to begin that change the model too, so that the adapter does not fit it as it is published.
_CHANGED_BASES = ("pissa", "olora", "corda", "loftq", "lora_ga")
PICKLES = ("pytorch_model.bin", MEDUSA_PICKLE, ADAPTER_PICKLE)
#: Tensors of Medusa heads: a prefix, the head, the place in it, and the part that tells a block's matrix from the
#: map.
MEDUSA_TENSOR = re.compile(r"(medusa_head\.)?(\d{1,2})\.(\d{1,2})\.(linear\.)?(weight|bias)")

# Tensors that join a token's embedding with the target's hidden state: EAGLE's names, and Dovetail's.
_HEAD_TENSORS = ("fc.weight", "W_1", "W_2", "W_z")
_HEAD_PREFIXES = ("midlayer.",)

# A GGUF file's key and value, which begin it, for a draft of whole blocks.
_BLOCK_DRAFT = re.compile(rb"general\.architecture\x08\0\0\0\x06\0{7}(dflash|dspark)")
_HEAD_BYTES = 1 << 16

# A table of a thousand tensors takes a tenth of this.
_MOST_BYTES = 1 << 20
#: Beginning of the older format: protocol 2 and its magic number.
_OLDER = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."
_ENDLESS = b"(" * 64  # so many lists within one another hold no weights


def draft_kind(folder: Path) -> DraftKind:
    """Return the kind of draft: a whole model, or a head of any kind."""
    return "model" if head_kind(folder) is None else "head"


def head_kind(folder: Path) -> HeadKind | None:
    """Return the kind of a draft head by its config and its tensors' names; published ones claim LlamaForCausalLM.

    A folder that cannot be read counts as a whole model (None), whose own reader reports the error. A GGUF file is a
    head if it has the layer that belongs to a model beside it (MTP), or a draft of whole blocks.
    """
    if folder.is_file():
        with suppress(OSError), open_file(folder) as file:
            if _BLOCK_DRAFT.search(file.read(_HEAD_BYTES)):
                return "block"
    if not folder.is_dir():
        return "mtp" if folder.name.startswith(HEAD_PREFIX) and folder.suffix == SUFFIX else None
    if is_prompt_tokens(folder):
        return "prompt tokens"
    config = read_table(folder / "config.json")
    said, model_type = config.get("speculators_model_type"), str(config.get("model_type"))
    if said in ("dflash", "dspark") or ("speculators_model_type" not in config and _says_block(config)):
        return "block"
    if said == "peagle":
        return "parallel"
    if model_type.endswith("_assistant"):  # reads its target's keys (Gemma 4's)
        return "assistant"
    if model_type == "mlp_speculator":
        return "mlp"
    names = _tensor_names(folder)
    # A vision model's projector may be called fc too; a whole model has layers that end in a norm of their own.
    whole = "model.norm.weight" in names
    if not whole and any(map(MEDUSA_TENSOR.fullmatch, names)):
        return "medusa"
    if any(name.removeprefix("model.") == "mask_hidden" for name in names):
        return "parallel"
    if {"speculators_model_type", "draft_vocab_size"} & set(config):
        return "feature"
    joins = any(name.startswith(_HEAD_PREFIXES) or name.endswith(_HEAD_TENSORS) for name in names)
    return "feature" if joins and not whole else None


def is_prompt_tokens(folder: Path) -> bool:
    """Return whether a folder holds prompt tokens, by their config: other adapters count none."""
    return "num_special_tokens" in read_table(folder / ADAPTER_CONFIG)


def is_adapter(place: Path) -> bool:
    """Return whether a folder or a GGUF file holds a LoRA adapter, by its own description."""
    if (place / ADAPTER_CONFIG).is_file() and not (place / "config.json").exists():
        return not is_prompt_tokens(place)
    return gguf_adapter(place) is not None


def gguf_adapter(place: Path) -> Path | None:
    """Return the GGUF file of a LoRA adapter that a path stands for, the file or its folder, or None."""
    from engine.gguf.header import read_header  # imports NumPy, which no window needs
    from engine.gguf.parts import find_gguf

    with suppress(CheckpointError):
        file = find_gguf(place)
        if file is not None and read_header(file).metadata.get("general.type") == "adapter":
            return file
    return None


def check_adapter(config: Mapping[str, Any], name: str) -> None:
    """Refuse an adapter that is no plain LoRA, by its config.

    Raises:
        UnsupportedModel: It is of another kind, or by another formula.
    """
    kind = config.get("peft_type")
    other = next((one for one in _OTHER_FORMULAS if config.get(one)), None)
    begun = str(config.get("init_lora_weights")).lower()
    if begun.startswith(_CHANGED_BASES):
        other = f"init_lora_weights {begun}"
    feature = other if kind == "LORA" else f"peft_type {kind}"
    if feature is not None:
        raise UnsupportedModel(NO_PLAIN_LORA, adapter=name, feature=feature)


def _says_block(config: dict[str, Any]) -> bool:
    """Return whether a config is that of a draft of whole blocks (DFlash, DSpark)."""
    return "dflash_config" in config or {"block_size", "mask_token_id", "target_layer_ids"} <= set(config)


def read_adapter_config(folder: Path) -> dict[str, Any]:
    """Return the config of an adapter.

    Raises:
        ConfigInvalid: It cannot be read.
    """
    path = folder / ADAPTER_CONFIG
    config = read_table(path)
    if not config:
        raise ConfigInvalid("{path} cannot be read; download it again.", path=path)
    return config


def _tensor_names(folder: Path) -> set[str]:
    """Return only names: headers of safetensors, the index of a PyTorch file."""
    names: set[str] = set()
    for path in folder.glob("*.safetensors"):
        try:
            check_file(path)
            with safe_open(path, framework="numpy") as file:
                names.update(file.keys())
        except (OSError, SafetensorError):
            continue
    if names:
        return names
    import torch  # not before it is needed: code that downloads models runs without

    for path in (*folder.glob("*.bin"), *folder.glob(MEDUSA_PICKLE)):
        try:
            check_pickle(path)
            names.update(torch.load(path, map_location="meta", mmap=True, weights_only=True))
        except Exception:  # torch raises whatever it likes on a damaged file
            continue
    return names


def check_pickle(path: Path) -> None:
    """Refuse a file that is visibly no table of tensors.

    Raises:
        ValueError: The file is no table of tensors.
        OSError: The file cannot be read.
    """
    if zipfile.is_zipfile(path):
        try:
            with zipfile.ZipFile(path) as archive:
                (table,) = [one for one in archive.infolist() if one.filename.endswith("/data.pkl")]
                if table.file_size > _MOST_BYTES:
                    raise ValueError("its table is too large")
                pickled = archive.read(table)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
            raise ValueError(repr(error)) from error
    else:
        with path.open("rb") as file:
            pickled = file.read(_MOST_BYTES)
        if not pickled.startswith(_OLDER):
            raise ValueError("it is of neither format of PyTorch")
    if _ENDLESS in pickled:
        raise ValueError("lists within lists without end")
