from __future__ import annotations

from dataclasses import replace

from app.chat.engine_options import ADVISED, TOLD, settings_in_use
from engine.messages import (
    LoadOptions,
    Memory,
    MemoryPlace,
    MemoryShare,
    ModelReport,
    Plan,
    Reply,
    Timings,
)
from engine.modes import MODES

REPORT = ModelReport("M", "/m", "LlamaForCausalLM", 10**9, "q4_k_m", 4096, 600_000_000, 1200.0)
ON_GPU = MemoryPlace("cuda:0", 8 * 10**9, (MemoryShare("weights", 10**8, 10), MemoryShare("caches", 10**7)))
IN_RAM = MemoryPlace("ram", 16 * 10**9, (MemoryShare("weights", 10**8, 12),))

DOVETAIL = MODES["dovetail"]


def test_nothing_is_in_use_without_a_model() -> None:
    assert settings_in_use(None, None, None) == {}
    assert settings_in_use(None, LoadOptions(), None) == {}


def test_what_the_model_settled_on_is_told() -> None:
    options = LoadOptions(threads=None, drafts=("/d",), ram_budget_bytes=10**9)
    in_use = settings_in_use(replace(REPORT, places=(ON_GPU, IN_RAM), kv_cache="q8_0", threads=2), options, None)
    assert in_use == {
        "context": 4096, "weights": "q4_k_m", "kv_cache": "q8_0", "threads": 2, "ram_budget_bytes": 10**9,
        "vram_budget_bytes": None, "drafts": ("/d",), "gpu_layers": 10,
    }  # fmt: skip
    assert set(in_use) == TOLD - set(ADVISED) - {"language"}
    plan = Plan("dovetail", "")
    reply = Reply("", (), (), "dovetail", "/m", ("d",), "q4_k_m", {}, "end", plan, Timings(), Memory())
    after = settings_in_use(REPORT, LoadOptions(), reply)
    assert after["drafts"] == ("d",)
    assert after["draft_nodes"] == next(each.default for each in DOVETAIL.options if each.name == "draft_nodes")


def test_what_is_not_told_is_left_out() -> None:
    in_use = settings_in_use(REPORT, LoadOptions(), None)
    assert in_use.keys().isdisjoint({"gpu_layers", "drafts", "threads", "kv_cache"})
    assert settings_in_use(replace(REPORT, places=(IN_RAM,)), LoadOptions(), None)["gpu_layers"] == 0
