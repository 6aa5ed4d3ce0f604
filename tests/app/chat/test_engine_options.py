from __future__ import annotations

from app.chat.conversation import ConversationOptions
from app.chat.engine_options import ReplyOptions, load_options, reply_options
from app.settings.settings import Settings
from engine.messages import LoadOptions, SamplingOptions


def test_settings_reach_the_engine() -> None:
    settings = Settings()
    assert load_options(settings) == LoadOptions()
    settings.gpu_layers, settings.memory = 3, "gpu"
    settings.remember_drafts(settings.model, ("lookup",))
    assert load_options(settings) == LoadOptions(gpu_layers=3, memory="gpu", drafts=("lookup",))


def test_a_conversation_comes_before_the_model_and_the_model_before_all() -> None:
    settings = Settings()
    settings.system_prompt, settings.max_tokens, settings.temperature, settings.top_k = "all", 10, 0.1, 1
    settings.set_for_model("/m", "system_prompt", "model")
    settings.set_for_model("/m", "temperature", 0.2)
    settings.set_for_model("/m", "verify", "typical")
    own = ConversationOptions(max_tokens=30, sampling=SamplingOptions(temperature=0.3))
    assert reply_options(settings, "/m", own) == ReplyOptions(
        "model", 30, SamplingOptions(temperature=0.3, top_k=1), "typical", True
    )
    other = reply_options(settings, "/other", ConversationOptions(system_prompt=""))
    assert other == ReplyOptions("", 10, SamplingOptions(temperature=0.1, top_k=1), "sample-and-match", True)


def test_a_reply_as_long_as_it_gets_has_no_limit() -> None:
    settings = Settings()
    assert reply_options(settings, "smollm2", ConversationOptions()) == ReplyOptions(
        "", None, SamplingOptions(), "sample-and-match", True
    )
    settings.max_tokens = 5
    assert reply_options(settings, "smollm2", ConversationOptions(max_tokens=0)).max_tokens is None


def test_each_model_is_loaded_as_it_was_set_for_it() -> None:
    settings = Settings()
    settings.context = 2048
    settings.set_for_model("/m", "context", 4096)
    settings.set_for_model("/m", "gpu_layers", None)
    assert load_options(settings, "/m").context == 4096
    assert load_options(settings).context == 2048
    settings.model = "/m"
    assert load_options(settings).context == 4096
