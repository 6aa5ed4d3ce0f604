"""Complaints of users of other programs of this kind: each row is closed by tests, named here or written below.

The rows are those of the design notes on the window. Tests elsewhere are named by file and function, and have to be
there.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.chat.conversation import Conversation, Message
from app.storage.database import open_database

ROOT = Path(__file__).resolve().parents[2]

HERE = "app/test_complaints.py"
DOWNLOAD = "engine/hub/download/test_download.py"
PLANNER = "engine/planning/test_machine_planner.py"
REPLIES = "app/bridge/test_workspace_replies.py"
STREAMING = "engine/test_streaming.py"
# The complaint, and the tests that close it.
CLOSED: dict[str, tuple[tuple[str, str], ...]] = {
    "1. full disk: silent exits, no start": (
        (HERE, "test_it_starts_with_a_full_disk"),
        (DOWNLOAD, "test_a_full_disk_pauses_and_goes_on"),
        (DOWNLOAD, "test_a_disk_that_others_fill_meanwhile_is_noticed_before_it_is_full"),
        ("engine/hub/download/test_download_queue.py", "test_room_is_checked_for_the_whole_queue"),
        ("app/ui/trouble/test_window_stays.py", "test_the_disk_is_full_while_a_message_is_saved"),
    ),
    "2. chats lost or corrupted": (
        (REPLIES, "test_the_prompt_is_on_the_disk_before_the_engine_hears_of_it"),
        (REPLIES, "test_a_partial_reply_is_on_the_disk_before_its_end"),
        ("app/bridge/test_killed_app.py", "test_prompt_and_partial_reply_are_there_at_the_next_start"),
        ("app/storage/test_database.py", "test_a_damaged_database_is_kept_aside"),
        ("app/bridge/test_workspace_conversations.py", "test_delete_can_be_undone"),
    ),
    "3. the window freezes while streaming": (
        ("app/ui/test_transcript.py", "test_finished_blocks_are_not_touched_again"),
        ("app/ui/test_transcript.py", "test_a_long_chat_opens_at_its_end_and_fills_upwards"),
        ("app/ui/inspector/test_inspector.py", "test_many_events_are_one_update"),
    ),
    "4. draft list empty, no reason": (
        ("app/bridge/test_drafts.py", "test_every_draft_is_listed_and_those_that_do_not_fit_say_why"),
        ("app/ui/models/test_models_page.py", "test_a_draft_that_fits_nothing_says_why_in_grey"),
        ("engine/planning/test_pairs.py", "test_each_draft_fits_or_has_its_reason"),
    ),
    "5. speculation silently off, or slower than none": (
        ("engine/decoding/test_worth_without_chances.py", "test_a_useless_draft_costs_a_tenth_at_most"),
        ("engine/decoding/test_worth_without_chances.py", "test_stops_soon_after_the_text_changes_for_the_worse"),
        ("engine/planning/test_model_planner.py", "test_a_draft_that_does_not_pay_is_not_loaded"),
        ("app/ui/inspector/test_inspector.py", "test_it_shows_a_reply_as_it_is_made"),
    ),
    "6. the draft is missing from the memory plan": (
        ("engine/planning/test_load_plan.py", "test_a_draft_takes_its_share_of_the_memory_first"),
        ("engine/test_engine.py", "test_short_memory_is_told_with_who_holds_it_and_what_context_could_be_less"),
        ("app/ui/trouble/test_notices.py", "test_trying_again_as_it_was_changes_nothing"),
    ),
    "7. wrong VRAM on unified memory": (
        (PLANNER, "test_a_plan_is_whole"),
        (PLANNER, "test_the_mode_for_each_machine_and_model"),
    ),
    "8. memory not freed": (
        ("app/bridge/test_workspace_engine.py", "test_closing_leaves_nothing_behind"),
        ("app/bridge/test_workspace_engine.py", "test_an_engine_that_ignores_everything_is_ended"),
        (STREAMING, "test_no_thread_outlives_the_engine"),
    ),
    "9. stop does not stop": (
        (REPLIES, "test_stopping_keeps_the_text_and_shows_at_once"),
        (REPLIES, "test_stopping_works_while_the_prompt_is_read"),
        (REPLIES, "test_stopping_works_while_the_model_loads"),
        ("engine/test_engine.py", "test_cancel_is_seen_between_layers_of_the_prompt"),
        (STREAMING, "test_a_cancel_is_seen_while_the_disk_is_waited_for"),
    ),
    "10. downloads restart, stall or arrive corrupt": (
        (DOWNLOAD, "test_a_fault_that_passes_is_got_over"),
        (DOWNLOAD, "test_a_stall_is_noticed_and_got_over"),
        (DOWNLOAD, "test_what_has_come_is_not_fetched_again"),
        (DOWNLOAD, "test_a_killed_program_resumes_where_it_was"),
    ),
    "11. proxies, mirrors, certificates, gated models": (
        (HERE, "test_certificates_are_always_checked"),
        ("engine/hub/test_connection.py", "test_the_mirror_is_read_when_it_is_needed"),
        ("engine/hub/test_connection.py", "test_a_proxy_is_taken_from_the_environment"),
        ("engine/hub/test_access_token.py", "test_a_token_is_kept_found_sent_and_forgotten"),
        (DOWNLOAD, "test_a_gated_model_names_the_page_and_a_token_opens_it"),
    ),
    "12. autoscroll fights the reader": (
        ("app/ui/test_transcript.py", "test_following_the_end"),
        ("app/ui/test_unconfirmed_text.py", "test_the_end_is_followed_and_a_reader_further_up_is_left_alone"),
    ),
    "13. speed only after the reply": (("app/ui/inspector/test_inspector.py", "test_it_shows_a_reply_as_it_is_made"),),
    "14. paths with spaces or letters of other scripts": (
        (HERE, "test_a_profile_with_spaces_and_other_scripts"),
        ("app/storage/test_database.py", "test_a_folder_with_blanks_and_letters_of_all_kinds"),
        ("engine/kernels/test_kernel_builds.py", "test_builds_into_a_folder_with_spaces"),
    ),
    "15. models larger than memory": (
        (STREAMING, "test_a_reply_from_the_disk_is_the_one_from_memory"),
        (STREAMING, "test_a_slow_kind_of_disk_is_said"),
        (PLANNER, "test_a_13b_in_4_bits_on_8_gb_is_llmcad"),
        ("app/ui/test_unconfirmed_text.py", "test_a_guess_is_replaced_in_place_and_goes_with_the_next_text"),
    ),
    "16. whole chat file rewritten at each token": (
        (REPLIES, "test_a_partial_reply_is_on_the_disk_before_its_end"),
        ("app/storage/test_database.py", "test_a_commit_waits_for_no_disk_and_a_sync_has_it_there"),
    ),
    "17. no search or export": (
        ("app/storage/test_conversation_search.py", "test_all_words_must_be_there_and_a_beginning_is_enough"),
        ("app/ui/test_chat_files.py", "test_all_chats_go_out_and_in"),
        ("app/ui/test_folders.py", "test_deleting_a_folder_keeps_its_chats_and_can_be_undone"),
    ),
}  # fmt: skip


def _tests_of(path: str) -> set[str]:
    tree = ast.parse((ROOT / "tests" / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_complaint_has_its_tests() -> None:
    assert [int(row.split(".")[0]) for row in CLOSED] == list(range(1, 18))
    files = {path for tests in CLOSED.values() for path, _ in tests}
    there = {path: _tests_of(path) for path in files}
    missing = [
        f"{path}::{name}" for tests in CLOSED.values() for path, name in tests if name not in there[path]
    ]
    assert missing == []


@pytest.mark.skipif(sys.platform == "win32", reason="file sizes cannot be limited there")
def test_it_starts_with_a_full_disk(tmp_path: Path) -> None:
    data = tmp_path / "data"
    database = open_database(data)
    database.writer.save(Conversation(1, "Kept", 1.0, 1.0), [Message(2, 1, "user", "Hello", 1.0)])
    database.writer.close()
    database.reader.close()
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.full_disk_app"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shown, chats, said = json.loads(done.stdout.splitlines()[-1])
    assert (shown, chats) == (True, ["Kept"])
    assert str(data) in said
    assert "Traceback" not in done.stderr


def test_certificates_are_always_checked() -> None:
    wrong = (
        "verify=False",
        "_create_unverified_context",
        "CERT_NONE",
        "check_hostname = False",
        "disable_warnings",
    )
    sources = [*ROOT.glob("engine/**/*.py"), *ROOT.glob("app/**/*.py")]
    assert len(sources) > 100
    found = [
        f"{path.relative_to(ROOT)}: {word}"
        for path in sources
        for word in wrong
        if word in path.read_text(encoding="utf-8")
    ]
    assert found == []


@pytest.mark.slow
def test_a_profile_with_spaces_and_other_scripts(tmp_path: Path) -> None:
    """The window opens, the guide loads and answers, everything written goes into such a folder."""
    folder = tmp_path / "Größe, né à 東京 \N{SPOUTING WHALE}"
    folder.mkdir()
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "TMPDIR": str(folder), "TEMP": str(folder)}
    done = subprocess.run(
        [sys.executable, "-m", "app", "--self-test", str(folder / "report.txt")],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / "report.txt").exists()
