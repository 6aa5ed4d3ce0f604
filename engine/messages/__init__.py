"""Messages into the engine and out of it: frozen, picklable dataclasses and nothing else.

Commands go in through a queue, events come out; both cross a process boundary, so nothing here holds a tensor,
a lock or a function.
"""

from engine.messages.attachment import Attachment, Section, Unit, fenced, with_attachments
from engine.messages.commands import (
    DEFAULT_MODEL,
    DEFAULT_MODEL_TITLE,
    Cancel,
    ChatMessage,
    CheckDrafts,
    Command,
    Effort,
    FindPairs,
    Generate,
    Load,
    LoadOptions,
    MakePlan,
    Ping,
    PredictModels,
    PromptKind,
    ReportMachine,
    Request,
    Role,
    SamplingOptions,
    Shutdown,
    Thinking,
    Unload,
)
from engine.messages.events import (
    ContextTrimmed,
    DraftChecked,
    EngineReady,
    Event,
    Failed,
    Finished,
    LoadProgress,
    MachineReported,
    MeasuringProgress,
    ModeChanged,
    ModelLoaded,
    ModelUnloaded,
    Notice,
    PlanChosen,
    PlanMade,
    Pong,
    PrefillProgress,
    StatisticsUpdated,
    TextDrafted,
    TokensAdded,
)
from engine.messages.machine import MachineReport, ModePrediction, PlanReport, WidthSpeed
from engine.messages.models import (
    Basis,
    DownloadState,
    DownloadStatus,
    DraftPair,
    ModelOutline,
    ModelPredicted,
    PairsFound,
    Prediction,
)
from engine.messages.modes import ModeDescriptor, ModeOption, OptionValue, shared_options
from engine.messages.reports import (
    BenchmarkRow,
    ErrorReport,
    Memory,
    MemoryPlace,
    MemoryShare,
    MemoryShortage,
    MemoryUse,
    ModelAdvice,
    ModelReport,
    Plan,
    Reply,
    RoundRecord,
    RoundTexts,
    StopReason,
    ThinkingControl,
    Timings,
)
