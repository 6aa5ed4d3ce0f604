from __future__ import annotations

import pytest

from engine.errors import InvalidOption, NotOnHub
from engine.gguf.files import quantization_of
from engine.hub.repository import HubFile, Listing, choose_files, only_file

ORIGINAL = {
    ".gitattributes": 1, "README.md": 2, "config.json": 3, "generation_config.json": 1, "tokenizer.json": 9,
    "tokenizer_config.json": 4, "chat_template.jinja": 2, "model-00001-of-00002.safetensors": 5000,
    "model-00002-of-00002.safetensors": 4000, "model.safetensors.index.json": 7, "pytorch_model.bin": 9000,
    "consolidated.safetensors": 9000, "original/consolidated.00.pth": 9000, "model.onnx": 9000, "flax_model.msgpack": 1,
}  # fmt: skip


def listing(files: dict[str, int]) -> Listing:
    return Listing(
        "a/b",
        "main",
        "c" * 40,
        tuple(HubFile(name, size, None, None) for name, size in files.items()),
        False,
        None,
        (),
    )


def names(files: dict[str, int], **wishes: object) -> set[str]:
    return {file.name for file in choose_files(listing(files), **wishes).files}  # type: ignore[arg-type]


def test_safetensors_come_without_copies_in_other_formats() -> None:
    assert names(ORIGINAL) == {
        "config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja",
        "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "model.safetensors.index.json",
    }  # fmt: skip
    chosen = choose_files(listing(ORIGINAL))
    assert [file.size_bytes for file in chosen.files] == sorted(file.size_bytes for file in chosen.files)
    assert chosen.format == "safetensors"


def test_shards_are_taken_where_there_is_a_whole_file_too() -> None:
    assert "model.safetensors" not in names({**ORIGINAL, "model.safetensors": 9000})


def test_one_quantization_is_taken_and_the_default_is_q4_k_m() -> None:
    files = {
        "README.md": 1, "m-Q2_K.gguf": 30, "m-Q4_K_M.gguf": 48, "m-Q8_0.gguf": 85, "m-f16.gguf": 160,
        "mmproj-m-f16.gguf": 12, "m.imatrix.gguf": 3, "config.json": 1,
    }  # fmt: skip
    assert names(files) == {"m-Q4_K_M.gguf"}
    assert names(files, quantization="q8_0") == {"m-Q8_0.gguf"}
    chosen = choose_files(listing(files))
    assert (chosen.quantization, chosen.alternatives) == ("Q4_K_M", ("Q2_K", "Q4_K_M", "Q8_0", "F16"))
    with pytest.raises(InvalidOption, match="no Q5_K_M: there are Q2_K, Q4_K_M, Q8_0, F16"):
        choose_files(listing(files), quantization="Q5_K_M")


def test_the_layer_that_drafts_for_a_model_comes_with_it() -> None:
    files = {"m-Q4_K_M.gguf": 48, "m-Q8_0.gguf": 85, "mtp-m-Q8_0.gguf": 9, "mtp-m-BF16.gguf": 17}
    assert names(files) == {"m-Q4_K_M.gguf", "mtp-m-Q8_0.gguf"}
    assert names({**files, "mtp-m-Q4_K_M.gguf": 10}) == {"m-Q4_K_M.gguf", "mtp-m-Q4_K_M.gguf"}
    assert choose_files(listing(files)).alternatives == ("Q4_K_M", "Q8_0")


@pytest.mark.parametrize(
    ("towers", "taken"),
    [
        ({"mmproj-F32.gguf": 20, "mmproj-F16.gguf": 10, "mmproj-BF16.gguf": 10}, "mmproj-BF16.gguf"),
        ({"mmproj-m-f16.gguf": 10, "mmproj-m-Q8_0.gguf": 6}, "mmproj-m-f16.gguf"),
        ({"vision/m.mmproj-Q8_0.gguf": 6, "mmproj-.gguf/../x.gguf": 1}, "vision/m.mmproj-Q8_0.gguf"),
        ({"mmproj-model.gguf": 6}, "mmproj-model.gguf"),
        ({}, None),
    ],
)
def test_the_encoder_of_pictures_is_the_one_that_the_kernels_multiply_as_it_is(
    towers: dict[str, int], taken: str | None
) -> None:
    for named in (
        listing({"m-Q4_K_M.gguf": 48, **towers}),
        listing({"m-Q4_K_M.gguf": 48, "m-Q8_0.gguf": 85, **towers}),
    ):
        for one in (named, only_file(named, "m-Q4_K_M.gguf")):
            chosen = choose_files(one)
            assert (chosen.tower and chosen.tower.name) == taken
            assert [file.name for file in chosen.files_with(False)] == ["m-Q4_K_M.gguf"]
            assert {file.name for file in chosen.files_with(True)} == {"m-Q4_K_M.gguf", *([taken] if taken else [])}


def test_of_encoders_for_several_models_the_one_is_taken_that_is_named_like_the_model() -> None:
    models = {f"Seer-{size}-it-Q4_K_M.gguf": weight for size, weight in (("2B", 20), ("4B", 40), ("12B", 120))}
    beside = {
        "mmproj-Seer-2B-it-BF16.gguf": 5, "mmproj-Seer-4B-it-F16.gguf": 6, "mmproj-Seer-4B-it-Q8_0.gguf": 3,
        "Seer-12B-it.mmproj-bf16.gguf": 9, "mtp-Seer-2B-it-Q4_K_M.gguf": 2, "mtp-Seer-12B-it-Q8_0.gguf": 4,
    }  # fmt: skip
    towers = {"2B": "mmproj-Seer-2B-it-BF16.gguf", "4B": "mmproj-Seer-4B-it-F16.gguf"}
    for size, tower in {**towers, "12B": "Seer-12B-it.mmproj-bf16.gguf"}.items():
        chosen = choose_files(only_file(listing({**models, **beside}), f"Seer-{size}-it-Q4_K_M.gguf"))
        assert chosen.tower is not None
        assert chosen.tower.name == tower
    # A model in parts, and a common letter that is no common word.
    parts = {f"A-7B-Q4_K_M-0000{part}-of-00002.gguf": 40 for part in (1, 2)}
    own = {"mmproj-A-7B-F16.gguf": 6, "mmproj-A-7B-Instruct-F16.gguf": 5}
    assert choose_files(listing({**parts, **own})).tower.name == "mmproj-A-7B-F16.gguf"
    plain = {"mistral-7B-Q4_K_M.gguf": 40, "mmproj-model-F32.gguf": 9, "mmproj-BF16.gguf": 2}
    assert choose_files(listing(plain)).tower.name == "mmproj-BF16.gguf"
    # Of models none is nearer because its name is its type alone.
    models_alone = listing({"Q4_K_M.gguf": 90, "M-Q4_K_M.gguf": 50})
    assert [file.name for file in choose_files(models_alone).files] == ["M-Q4_K_M.gguf"]
    larger = listing({"Seer-12B-it-Q4_K_M.gguf": 120, **beside})
    assert {file.name for file in choose_files(larger).files} == {
        "Seer-12B-it-Q4_K_M.gguf",
        "mtp-Seer-12B-it-Q8_0.gguf",
    }


@pytest.mark.parametrize(
    ("files", "taken"),
    [
        (  # as Meta publishes Muse-Glimmer
            {
                "Muse-Glimmer-30B-KQuant-17GB-Q4_K_M.gguf": 16_756_683_904,
                "Muse-Glimmer-30B-KQuant-Dynamic-Q4_K_XL.gguf": 19_653_960_832,
                "dflash-Muse-Glimmer-30B-Q4_K_M.gguf": 1_631_208_128,
                "mmproj-Muse-Glimmer-30B-Q4_K_M.gguf": 1_400_328_928,
                "USAGE_POLICY.md": 5_230,
            },
            {"Muse-Glimmer-30B-KQuant-17GB-Q4_K_M.gguf"},
        ),
        (  # as Qwen3.8-27B comes, in folders
            {
                "Qwen3.8-27B-UD-Q4_K_M.gguf": 164,
                "Qwen3.8-27B-UD-Q4_K_XL.gguf": 171,
                "Qwen3.8-27B-Q8_0.gguf": 290,
                "BF16/Qwen3.8-27B-BF16-00001-of-00002.gguf": 400,
                "BF16/Qwen3.8-27B-BF16-00002-of-00002.gguf": 140,
                "MTP/mtp-Qwen3.8-27B-Q4_0.gguf": 13,
                "mmproj-F16.gguf": 9,
                "imatrix_unsloth.gguf": 1,
            },
            {"Qwen3.8-27B-UD-Q4_K_M.gguf", "MTP/mtp-Qwen3.8-27B-Q4_0.gguf"},
        ),
        ({"m-Q4_K_M.gguf": 16, "m-DFlash2-Q4_K_M.gguf": 2, "m-FastMTP-32K.gguf": 1}, {"m-Q4_K_M.gguf"}),
        ({"eagle3-m-Q4_K_M.gguf": 2, "m-DSpark-Q8_0.gguf": 3, "m-MTP-Q8_0.gguf": 16}, {"m-MTP-Q8_0.gguf"}),
    ],
)
def test_the_model_is_taken_and_not_what_lies_beside_it(files: dict[str, int], taken: set[str]) -> None:
    assert names(files) == taken


def test_drafts_of_whole_blocks_are_named_beside_a_model_and_taken_as_drafts_alone() -> None:
    drafts = {"dflash-m-Q4_K_M.gguf": 2, "m-DSpark-Q8_0.gguf": 3, "eagle3-m-Q4_K_M.gguf": 1, "m-DFlash2-F16.gguf": 1}
    files = {"m-Q4_K_M.gguf": 16, "m-Q6_K.gguf": 20, **drafts}
    assert choose_files(listing(files)).drafts == ("dflash-m-Q4_K_M.gguf",)
    assert choose_files(listing(files), quantization="Q6_K").drafts == ("dflash-m-Q4_K_M.gguf",)
    assert names(files, head=True) == {"dflash-m-Q4_K_M.gguf"}
    assert names(drafts, quantization="Q8_0") == {"m-DSpark-Q8_0.gguf"}
    assert choose_files(listing(drafts)).drafts == ()
    safetensors = {"config.json": 1, "model.safetensors": 30}
    assert names({**safetensors, **drafts}) == {*safetensors}
    assert names({**safetensors, **drafts}, head=True) == {"dflash-m-Q4_K_M.gguf"}


@pytest.mark.parametrize("number", [1, 2])
def test_a_file_that_is_named_comes_with_its_other_parts(number: int) -> None:
    parts = {f"Q8_0/m-Q8_0-0000{part}-of-00002.gguf": part for part in (1, 2)}
    one = only_file(listing({**parts, "m-Q4_K_M.gguf": 1}), f"Q8_0/m-Q8_0-0000{number}-of-00002.gguf")
    assert {file.name for file in choose_files(one).files} == {*parts}
    with pytest.raises(InvalidOption, match=r"a/b has no x\.gguf: its files name none"):
        only_file(listing(ORIGINAL), "x.gguf")


@pytest.mark.parametrize(
    ("files", "taken"),
    [
        ({"m-Q8_0.gguf": 9, "m-Q4_0.gguf": 5}, {"m-Q4_0.gguf"}),
        ({"m-Q8_0.gguf": 9}, {"m-Q8_0.gguf"}),
        ({"phi-q4.gguf": 5, "phi-fp16.gguf": 20}, {"phi-q4.gguf"}),
        ({"model.gguf": 5}, {"model.gguf"}),
        ({"m-IQ2_XXS.gguf": 2, "m-IQ4_XS.gguf": 4, "m-Q5_K_S.gguf": 5}, {"m-Q5_K_S.gguf"}),
    ],
)
def test_the_next_best_is_taken_where_there_is_no_default(files: dict[str, int], taken: set[str]) -> None:
    assert names(files) == taken


def test_all_parts_of_a_split_file_are_taken_and_incomplete_ones_are_not() -> None:
    parts = {"Q4_K_M/m-Q4_K_M-00001-of-00002.gguf": 40, "Q4_K_M/m-Q4_K_M-00002-of-00002.gguf": 30}
    assert names(parts) == set(parts)
    assert {file.local_name for file in choose_files(listing(parts)).files} == {
        "m-Q4_K_M-00001-of-00002.gguf",
        "m-Q4_K_M-00002-of-00002.gguf",
    }
    assert names({"m-Q4_K_M-00001-of-00002.gguf": 40, "m-Q8_0.gguf": 90}) == {"m-Q8_0.gguf"}


def test_pytorch_files_are_for_heads_alone() -> None:
    head = {"README.md": 1, "config.json": 1, "pytorch_model.bin": 50}
    assert names(head, head=True) == {"config.json", "pytorch_model.bin"}
    with pytest.raises(NotOnHub, match="PyTorch's own format"):
        choose_files(listing(head))
    heads = {"config.json": 1, "medusa_lm_head.pt": 50}  # its name says that it is one
    assert names(heads) == set(heads)
    assert names({**heads, "medusa_lm_head.safetensors": 50}) == {"config.json", "medusa_lm_head.safetensors"}


def test_an_adapter_is_taken_alone() -> None:
    adapter = {"README.md": 1, "adapter_config.json": 1, "adapter_model.safetensors": 7}
    assert names(adapter) == {"adapter_config.json", "adapter_model.safetensors"}
    assert names({"adapter_config.json": 1, "adapter_model.bin": 7}) == {
        "adapter_config.json",
        "adapter_model.bin",
    }
    # Beside a model's own weights it is none of the model.
    model = {"config.json": 1, "model.safetensors": 90}
    assert names({**adapter, **model}) == set(model)


@pytest.mark.parametrize(
    ("files", "wishes", "error"),
    [
        ({"README.md": 1}, {}, NotOnHub),
        (ORIGINAL, {"wish": "gguf"}, NotOnHub),
        (ORIGINAL, {"quantization": "Q4_0"}, NotOnHub),
        ({"m-Q4_0.gguf": 1}, {"wish": "safetensors"}, NotOnHub),
        (ORIGINAL, {"wish": "safetensors", "quantization": "Q4_0"}, InvalidOption),
    ],
)
def test_what_is_not_there_is_said(
    files: dict[str, int], wishes: dict[str, str], error: type[InvalidOption | NotOnHub]
) -> None:
    with pytest.raises(error):
        choose_files(listing(files), **wishes)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["../m-Q4_0.gguf", "a\\..\\m-Q4_0.gguf", "c:m-Q4_0.gguf", ".m-Q4_0.gguf"])
def test_no_name_leads_out_of_the_models_folder(name: str) -> None:
    try:
        chosen = choose_files(listing({name: 1}))
    except NotOnHub:
        return
    assert [file.local_name for file in chosen.files] == ["m-Q4_0.gguf"]


@pytest.mark.parametrize(
    ("name", "quantization"),
    [
        ("Qwen3-8B-Q4_K_M.gguf", "Q4_K_M"),
        ("qwen2.5-7b-instruct-q4_k_m-00001-of-00002.gguf", "Q4_K_M"),
        ("m.IQ3_XXS.gguf", "IQ3_XXS"),
        ("Phi-3-mini-4k-instruct-fp16.gguf", None),
        ("gemma-2b-it.F16.gguf", "F16"),
        ("BF16/m-BF16.gguf", "BF16"),
        ("llama-f32.gguf", "F32"),
        ("model.gguf", None),
    ],
)
def test_a_name_tells_its_quantization(name: str, quantization: str | None) -> None:
    assert quantization_of(name) == quantization
