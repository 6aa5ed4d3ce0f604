"""Made-up chats and models for pictures and tests of the window."""

from __future__ import annotations

from dataclasses import replace

from app.chat.engine_state import EnginePhase, EngineState
from app.chat.model_entries import InstalledEntry
from engine.messages import DownloadStatus, DraftPair, ErrorReport, MemoryShortage, Prediction
from engine.sentences import say
from tests.support.scripted_workspace import DAY_S, ScriptedWorkspace, statistics

LLAMA = EngineState(EnginePhase.READY, "/models/llama", "Llama 3.1 8B Instruct", "q4_k_m")
QUESTION = "How do I read a 6 GB CSV on a laptop with 8 GB of RAM?"
ANSWER = """### Read it in pieces

A 6 GB file does not have to fit in 8 GB of RAM. Three things keep memory low:

- **Choose columns** with `usecols`, so the rest is never read.
- **Set types**: `category` for regions, `float32` for amounts.
- **Work in chunks** and keep only the running totals.

| Approach | Peak memory | Time |
|:--|--:|--:|
| pandas, all at once | 14.1 GB | does not finish |
| pandas, in chunks | 0.6 GB | 94 s |
| Polars, lazy | 1.2 GB | 21 s |

```python
import pandas as pd
totals = {}
for part in pd.read_csv("sales.csv", chunksize=200_000):
    for region, amount in part.groupby("region")["amount"].sum().items():
        totals[region] = totals.get(region, 0) + amount
```
"""
FOLLOW_UP = "Can it pick up where it left off if the laptop sleeps?"
TAIL = (
    "Yes. Save the totals and the number of rows done after each chunk, then skip that many rows on the next "
    "start. Write to a temporary file first and rename it, so a power cut never leaves half a checkpoint"
)
THOUGHT = "<think>\nThe person wants a plan, not code. Keep it short.\n</think>\n\n"
LONG = (
    THOUGHT
    + """# A plan for the week

Start with what cannot move, then fill the rest. [Time blocking](https://example.org/blocks) helps.

1. Put the **fixed** dates in first.
2. Give each large task one morning:
   - writing on Monday and Tuesday
   - reading on Wednesday
3. Leave *one* afternoon empty.

> A plan that has no empty hour is a wish.

## What it costs

| Day | Morning | Afternoon | Evening | Hours |
|---|---|---|---|--:|
| Monday | Write the first chapter, about 1,200 words | Answer mail | Walk | 8 |
| Tuesday | Write on | Call the printer about `300 gsm` paper | Cook | 7.5 |

---

```sh
cal -3 && printf 'a line that is much too long for the reading column, so that it has to scroll sideways: %s' "$HOME"
```
"""
)
_GB = 1_000_000_000
SHORT = ErrorReport(
    "OutOfMemory",
    "Other programs now use 8.4 GB, so 8,192 tokens of context no longer fit. 4,096 will.",
    "wanted  1.07 GB for 8,192 tokens\nfree    0.61 GB after a reserve of 1.00 GB\nmode    dovetail",
    context=8192,
    memory=MemoryShortage(16_000_000_000, 8_400_000_000, 5_300_000_000, 460_000_000),
)


def fill(workspace: ScriptedWorkspace) -> int:
    """The chats of the pictures; returns the one to open."""
    for title, age in (
        ("Unit tests for the parser", 5.2), ("Notes from the parents’ evening", 5.1),
        ("Garden plan, north balcony", 5.0), ("Regex for invoice numbers", 1.02),
        ("Translate the lease to English", 1.01), ("Bicycle gear ratios", 1.0),
        ("Why is the sky darker up high?", 0.0002), ("Cover letter, second draft", 0.0001),
    ):  # fmt: skip
        workspace.add_conversation(title, age * DAY_S, "A question", "An answer")
    for title in ("House rules for the thesis", "Weekly shopping and meals"):
        workspace.shelf.pin(workspace.add_conversation(title, 8 * DAY_S, "A question", "An answer"))
    chat = workspace.add_conversation("Large CSV on a small laptop", 0, QUESTION, ANSWER)
    done = statistics(412, mode="dovetail", tokens_per_second=13.8, time_to_first_token_ms=1100.0)
    workspace.change(chat, statistics=done)
    return chat


def stock(workspace: ScriptedWorkspace) -> None:
    """A laptop with two models of its own, and two downloads under way."""
    store = workspace.model_store
    store.look_around = lambda: None  # type: ignore[method-assign]
    for model in store.offers.catalogue():
        billions = (model.parameters or 0) / 1e9
        memory = int(billions * 1.2 * _GB)
        large = memory > 13.6 * _GB
        store.forecasts.known[model.reference] = Prediction(
            "llmcad" if large else "dovetail" if billions > 3 else "lookup",
            round(105 / billions, 1) if not large else 0.4,
            min(memory, 13 * _GB), int(13.6 * _GB), from_disk=large, with_draft=billions > 3, basis="rest",
        )  # fmt: skip
    known = store.forecasts.known
    known["llama-3.3-70b-instruct"] = Prediction(
        room_bytes=int(13.6 * _GB),
        basis="rest",
        problem="Its files need 41.2 GB of disk, and 24.6 GB are free: make room, or choose a smaller model.",
    )
    llama = "/models/Llama-3.1-8B-Instruct-Q4_K_M"
    store.installed.entries = (
        store.installed.entries[0],
        InstalledEntry(
            "Llama-3.1-8B-Instruct-Q4_K_M", llama, "target", "Q4_K_M", int(4.9 * _GB), "llama3.1",
            "bartowski/Meta-Llama-3.1-8B-Instruct-GGUF", "llama-3.1-8b-instruct",
        ),
        InstalledEntry(
            "Qwen3-0.6B-Q8_0", "/models/Qwen3-0.6B-Q8_0", "draft", "Q8_0", int(0.64 * _GB), "apache-2.0",
            "Qwen/Qwen3-0.6B-GGUF", "qwen3-0.6b",
        ),
        InstalledEntry(
            "thesis", "/media/disk/thesis", "target", "safetensors", int(2.1 * _GB), in_place=True,
            problem=say(
                "{location} is not there any more: plug its disk in, or import the model again.",
                location="/media/disk/thesis",
            ),
        ),
    )  # fmt: skip
    known[llama] = replace(known["llama-3.1-8b-instruct"])
    store.pairs = (
        DraftPair("Qwen3-8B-Q4_K_M", "Qwen3-0.6B-Q8_0", "draft", ""),
        DraftPair(
            "Llama-3.1-8B-Instruct-Q4_K_M", "Qwen3-0.6B-Q8_0", "draft",
            "the draft was made for another vocabulary, 151,936 tokens instead of 128,256.",
        ),
    )  # fmt: skip
    store.downloads.entries = {
        "Qwen3-8B-Q4_K_M": DownloadStatus(
            "Qwen3-8B-Q4_K_M", "Qwen/Qwen3-8B-GGUF", "receiving", int(2.1 * _GB), int(5.6 * _GB), 18e6, 194.0
        ),
        "Phi-3-mini-4k-instruct-q4": DownloadStatus(
            "Phi-3-mini-4k-instruct-q4", "microsoft/Phi-3-mini-4k-instruct-gguf", "paused", int(0.4 * _GB),
            int(2.4 * _GB),
        ),
        "gemma-2-2b-it-Q4_K_M": DownloadStatus(
            "gemma-2-2b-it-Q4_K_M", "bartowski/gemma-2-2b-it-GGUF", "failed", int(0.9 * _GB), int(1.7 * _GB),
            message="The disk is full: free some room, and resume the download.",
        ),
    }  # fmt: skip
    workspace.settings.model = llama


def stocked() -> ScriptedWorkspace:
    """Nothing is here, and what runs is predicted."""
    workspace = ScriptedWorkspace()
    workspace.settings.first_run_done = False
    stock(workspace)
    store = workspace.model_store
    store.installed.entries = store.installed.entries[:1]
    store.downloads.entries = {}
    workspace.settings.model = "smollm2"
    return workspace
