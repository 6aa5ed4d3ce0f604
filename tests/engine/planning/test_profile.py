from __future__ import annotations

from pathlib import Path

import pytest

from engine.drafting.lookup import MatchChances
from engine.drafting.small_model import ModelDraft
from engine.files import write_cached
from engine.messages import RoundRecord
from engine.placement import ResidentPlan, SplitPlan, StreamedPlan
from engine.planning.cost_model import lookup_expectation, published_expectation
from engine.planning.profile import (
    Profile,
    Yielded,
    drafter_key,
    keep_profile,
    profile_path,
    read_profile,
)

RESIDENT = ResidentPlan.of(4)
PUBLISHED = published_expectation(ModelDraft.published)


def round_of(nodes: int, accepted: int, verify_ms: float = 10.0, draft_ms: float = 2.0) -> RoundRecord:
    chain = tuple(range(nodes))
    parents = tuple(node - 1 for node in chain)
    return RoundRecord(0, chain, parents, (), chain[:accepted], (0,) * (accepted + 1), draft_ms, verify_ms)


def test_a_reply_teaches_forwards_drafts_and_yields() -> None:
    rounds = [round_of(0, 0, 99.0)] * 2 + [round_of(3, 2, ms) for ms in (20.0, 22.0, 90.0)]
    # Behind wider ones a plain round takes longer for a while, at this speed for five rounds.
    rounds += [round_of(0, 0, 14.0)] * 3 + [round_of(0, 0, 10.0)] * 3 + [round_of(7, 7, 40.0)]
    profile = Profile().with_reply(rounds, RESIDENT, "dovetail abc", "code")
    # The first rounds and widths of which there is one round only say nothing; of the others the median counts.
    assert profile.forward_seconds(RESIDENT) == {4: 0.022, 1: 0.010}
    assert profile.draft_seconds("dovetail abc") == {3: 0.002}
    assert profile.yields["dovetail abc"]["code"] == Yielded(rounds=10, drafted=4, tokens=17, nodes=16)
    assert profile.known
    assert profile.knows_draft("abc")
    assert not profile.knows_draft("abcd")
    assert profile.forward_seconds(SplitPlan.of(4, 3)) == {}


def test_plain_decoding_behind_a_text_takes_what_was_calibrated_at_the_load_of_replies() -> None:
    profile = Profile()
    assert profile.plain_seconds(RESIDENT, 100) is None
    profile = profile.with_reply([round_of(0, 0, 10.0)] * 9, RESIDENT, None)
    assert profile.plain_seconds(RESIDENT, 3000) == 0.010
    times = {128: {1: 0.005, 2: 0.006}, 1152: {1: 0.010, 2: 0.012}}
    profile = profile.with_calibration(RESIDENT, "ghidorah abc", times, {}, {})
    assert [profile.plain_seconds(RESIDENT, length) for length in (3, 640, 9000)] == pytest.approx(
        [0.010, 0.015, 0.020]
    )


def test_plain_decoding_that_reads_about_as_many_layers_is_as_fast() -> None:
    """How many of them stay in memory differs from one process to the next by what else it holds."""
    known = StreamedPlan.of(28, 14)
    profile = Profile(forwards={known.key: {"1": 0.5}, StreamedPlan.of(28, 12).key: {"8": 1}})
    cases = [profile.plain_seconds(StreamedPlan.of(28, pinned), 9) for pinned in (14, 12, 17, 4, 0)]
    assert cases == [0.5, 0.5, 0.5, None, None]
    assert profile.plain_seconds(ResidentPlan.of(28), 9) is None


def test_older_replies_fade() -> None:
    slow, fast = [round_of(0, 0, 20.0)] * 5, [round_of(0, 0, 10.0)] * 5
    profile = Profile().with_reply(slow, RESIDENT, None)
    for _ in range(12):
        profile = profile.with_reply(fast, RESIDENT, None)
    assert profile.forward_seconds(RESIDENT)[1] == pytest.approx(0.010, rel=0.02)
    assert profile.yields == {}


def test_how_often_experts_are_chosen_again_is_a_running_mean_that_is_kept(tmp_path: Path) -> None:
    assert Profile().with_reuse(None).reuse is None
    profile = Profile().with_reuse(0.5).with_reuse(None)
    assert profile.reuse == 0.5
    profile = profile.with_reuse(0.0)
    assert profile.reuse == pytest.approx(0.35)
    keep_profile(tmp_path / "profile.json", profile)
    assert read_profile(tmp_path / "profile.json") == profile
    assert profile.with_reply([round_of(0, 0)] * 5, RESIDENT, None).reuse == profile.reuse


def test_what_is_known_counts_by_its_rounds() -> None:
    some = Profile().with_reply([round_of(3, 0)] * 6, RESIDENT, "dovetail abc", "chat")
    much = some
    for _ in range(20):
        much = much.with_reply([round_of(3, 0)] * 40, RESIDENT, "dovetail abc", "chat")
    published = PUBLISHED["chat"].gain
    gains = [one.expectation("dovetail abc", PUBLISHED)["chat"].gain for one in (some, much)]
    assert published > gains[0] > gains[1]
    assert gains[1] < 0.2 * published
    assert some.expectation("dovetail other", PUBLISHED) is PUBLISHED
    assert some.expectation("dovetail abc", PUBLISHED)["code"] == PUBLISHED["code"]


def test_a_reply_of_no_known_kind_speaks_for_all_that_are_not_known() -> None:
    profile = Profile().with_reply([round_of(3, 0)] * 60, RESIDENT, "dovetail abc")
    kinds = profile.expectation("dovetail abc", PUBLISHED)
    assert all(kinds[kind].gain < PUBLISHED[kind].gain for kind in kinds)


def test_a_drafter_that_finds_nothing_is_expected_to_find_less() -> None:
    lookup = lookup_expectation()
    profile = Profile().with_reply([round_of(0, 0)] * 100, RESIDENT, drafter_key("lookup"), "code")
    assert profile.expectation("lookup", lookup)["code"].finds < 0.2 * lookup["code"].finds


def test_a_draft_that_a_reply_seldom_asked_is_not_expected_in_each_round() -> None:
    """Prompt tokens that held as published, and were not worth their rows: each further chat began with them again."""
    rounds = [round_of(1, 1), round_of(1, 0)] * 2 + [round_of(0, 0)] * 60
    found = Profile().with_reply(rounds, RESIDENT, "ppd abc").expectation("ppd abc", PUBLISHED)["chat"]
    assert found.finds < 0.3 * PUBLISHED["chat"].finds


def test_what_matches_are_worth_is_known_in_the_next_session(tmp_path: Path) -> None:
    chances = MatchChances()
    for at in range(100):
        chances.learn(2 + at % 40, held=at % 3 == 0)
    chances.keep()
    path = tmp_path / "profile.json"
    keep_profile(path, Profile().with_matches(chances))
    again = read_profile(path).chances()
    assert again.earlier == chances.earlier
    assert again.known
    assert not Profile().chances().known
    assert read_profile(path).with_reply([round_of(0, 0)] * 5, RESIDENT, None).matches


def test_a_profile_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    path = profile_path(tmp_path, "machine", "0123456789abcdef0123", "q8_0")
    assert path.name == "machine-0123456789abcdef-q8_0.json"
    assert read_profile(path) == Profile()
    profile = Profile().with_reply([round_of(3, 2)] * 5, RESIDENT, "dovetail abc", "chat")
    keep_profile(path, profile)
    assert read_profile(path) == profile
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    path.write_text(path.read_text().replace("0.0", "9.0"))
    assert read_profile(path) == Profile()
    write_cached(path, {"forwards": {"resident 0 0": {"1": "slow"}}})
    assert read_profile(path) == Profile()
    file = tmp_path / "file"
    file.touch()
    keep_profile(file / "below" / "profile.json", profile)
