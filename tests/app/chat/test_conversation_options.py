from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from app.chat.conversation import ConversationOptions
from engine.messages import SamplingOptions, Thinking

FULL = ConversationOptions(
    "Be brief.", 200, SamplingOptions(0.5, 40, 0.9, 0.05, 1.1, 7), ("off",), "disk", Thinking(False, "high"), True
)


def test_what_is_written_is_read_back() -> None:
    assert ConversationOptions.from_json(FULL.to_json()) == FULL
    assert ConversationOptions.from_json(ConversationOptions().to_json()) == ConversationOptions()
    assert ConversationOptions().to_json() == '{"sampling": {}, "thinking": {}}'


def test_what_is_set_comes_before_the_settings() -> None:
    settings = SamplingOptions(temperature=1.0, top_p=0.8)
    own = ConversationOptions(sampling=SamplingOptions(temperature=0.0, seed=3))
    assert own.sampling_over(settings) == SamplingOptions(temperature=0.0, top_p=0.8, seed=3)
    assert ConversationOptions().sampling_over(settings) == settings


def test_what_is_not_understood_is_left_out() -> None:
    text = json.dumps(
        {
            "system_prompt": 3,
            "max_tokens": True,
            "later": 1,
            "continues": "yes",
            "sampling": {"temperature": "hot", "top_k": 2.5, "seed": 1},
            "thinking": {"on": 1, "effort": "endless"},
        }
    )
    assert ConversationOptions.from_json(text) == ConversationOptions(sampling=SamplingOptions(seed=1))


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(
                [
                    "system_prompt",
                    "max_tokens",
                    "sampling",
                    "temperature",
                    "seed",
                    "thinking",
                    "on",
                    "effort",
                    "continues",
                ]
            ),
            inner,
        )
    ),
)


@given(ANYTHING.map(json.dumps) | st.text())
def test_anything_can_be_read_and_written_again(text: str) -> None:
    options = ConversationOptions.from_json(text)
    assert ConversationOptions.from_json(options.to_json()) == options
