"""Changes of policy that a test must notice: where, what, why it matters, and the tests that are to fail.

A line of policy (a limit, an order, a threshold, who is asked first) computes no wrong number when it is changed, so a
test of results passes all the same. Each of these has a test of its own kind.
"""

# ruff: noqa: E501, a change is told in one line
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """A change of one place.

    Attributes:
        file: Path of the source in the repository.
        before: Text that is in it once.
        after: Text in its place.
        why: What would be worse for a user.
        tests: Files or single tests, one of which fails.
    """

    file: str
    before: str
    after: str
    why: str
    tests: tuple[str, ...]


def mutated(source: str, mutant: Mutant) -> str:
    """A source with the change.

    Raises:
        ValueError: The text to change is not there once.
    """
    if source.count(mutant.before) != 1:
        raise ValueError(f"{mutant.before!r} is {source.count(mutant.before)} times in {mutant.file}")
    return source.replace(mutant.before, mutant.after)


def _of(
    file: str, tests: str, *changes: tuple[str, str, str] | tuple[str, str, str, str]
) -> tuple[Mutant, ...]:
    """Changes of a file; one that names tests of the first file is noticed by these, any other by all."""
    found = []
    for before, after, why, *own in changes:
        named = (
            tuple(f"{tests.split()[0]}::{name}" for name in own[0].split()) if own else tuple(tests.split())
        )
        found.append(Mutant(file, before, after, why, named))
    return tuple(found)


# fmt: off
MUTANTS: tuple[Mutant, ...] = (
    # --- who gets in, and what is written down ---
    *_of(
        "engine/server/guard.py",
        "tests/engine/server/test_strangers.py tests/engine/server/test_guard.py",
        ('if "origin" in headers:', 'if "origin" in headers and "//localhost" not in headers["origin"]:',
         "a web page of this computer is let in"),
        ('if "origin" in headers:', 'if headers.get("origin", "null") != "null":',
         "a page of a file or a frame without an origin is let in"),
        ('if "origin" in headers:', 'if "origin" in headers and method != "GET":', "a page may read what is served"),
        ("_HOST.fullmatch(", "_HOST.match(", "a foreign name that begins as this computer's is let in"),
        ('if method == "OPTIONS":', 'if method == "OPTIONS" and "origin" in headers:',
         "a question before a page's request is answered"),
        ("path in _OPEN:", "path in _OPEN or method == \"GET\":", "figures and models are told without the key",
         "test_the_key_is_looked_at_whole_and_for_every_address_but_two"),
        ('_OPEN = frozenset({"/", "/health"})', '_OPEN = frozenset({"/", "/health", "/metrics"})',
         "figures are told without the key",
         "test_the_key_is_looked_at_whole_and_for_every_address_but_two"),
        ('if not hmac.compare_digest(sent.encode("latin-1", "replace"), self._key.encode()):',
         "if not self._key.startswith(sent):", "the beginning of the key opens everything",
         "test_the_key_is_looked_at_whole_and_for_every_address_but_two"),
        ('_log.error("%s%s", frames, type(error).__name__)', '_log.error("%s%r", frames, error)',
         "texts of a chat stand in the log",
         "test_no_mistake_puts_words_into_the_log_or_into_the_answer"),
    ),
    *_of(
        "engine/server/application.py",
        "tests/engine/server/test_strangers.py",
        ("asyncio.wait_for(read(), _BODY_S)", "read()", "no time limit for a body",
         "test_a_body_that_does_not_come_is_waited_for_no_longer_than_is_bounded"),
        ("_BODY_S = 30.0", "_BODY_S = 3000.0", "an hour's time for a body",
         "test_a_body_that_does_not_come_is_waited_for_no_longer_than_is_bounded"),
        ("if len(body) > _MOST_BODY_BYTES:", "if False:", "no bound on a body",
         "test_a_body_without_a_length_is_read_to_the_same_bound"),
        ("if all_bodies.body_bytes > _MOST_BODIES_BYTES:", "if False:", "no bound on all bodies together",
         "test_all_bodies_together_have_a_bound"),
        ("all_bodies.body_bytes -= len(body)", "pass", "bodies that are over count on",
         "test_all_bodies_together_have_a_bound"),
        ("Refused: _tell_refusal, Exception: _tell_refusal}", "Refused: _tell_refusal}",
         "a mistake is no sentence of the protocol",
         "test_no_mistake_puts_words_into_the_log_or_into_the_answer"),
    ),
    *_of(
        "engine/server/serving.py",
        "tests/engine/server/test_strangers.py",
        ('_ADDRESS = "127.0.0.1"', '_ADDRESS = "0.0.0.0"', "the whole network is served",
         "test_the_server_listens_to_this_computer_alone"),
    ),
    *_of(
        "engine/server/guard.py",
        "tests/engine/server/test_serve_command.py",
        ("_LEAST_CHARACTERS = 8", "_LEAST_CHARACTERS = 1", "a key of a letter is taken",
         "test_a_key_that_no_header_carries_is_refused"),
        ("None if another else find_secret(_ACCOUNT)", "find_secret(_ACCOUNT)", "another key is the one before",
         "test_a_key_is_made_once_and_kept"),
        ("return OwnKey(key, kept=False, new=True)", "return OwnKey(key, kept=True, new=True)",
         "a key that is not kept is said to be", "test_without_a_keyring_each_start_has_its_own_key"),
    ),
    *_of(
        "engine/server/tools.py",
        "tests/engine/server/test_strangers.py",
        ('f"call_{secrets.token_hex(12)}"', '"call_0"', "one id for all calls of tools",
         "test_each_call_of_each_answer_has_an_id_of_its_own"),
        ('f"call_{secrets.token_hex(12)}"', 'f"call_{piece.index}"', "calls of two answers have the same ids",
         "test_each_call_of_each_answer_has_an_id_of_its_own"),
        ("if len(offered) > _MOST_TOOLS:", "if False:", "tools without number",
         "test_what_a_request_may_ask_for_has_bounds"),
    ),
    *_of(
        "engine/server/exchange.py",
        "tests/engine/server/test_strangers.py",
        ('fields.whole("n", 1, _MOST_CHOICES)', 'fields.whole("n", 1)', "one request asks for replies without number",
         "test_what_a_request_may_ask_for_has_bounds"),
        ("not least <= value <= most or", "", "any bias is taken", "test_what_a_request_may_ask_for_has_bounds"),
        ("((seed + at) % _SEEDS for at in range(count))", "(seed for at in range(count))",
         "all choices of a seed are the same", "test_choices_of_one_seed_are_drawn_by_seeds_of_their_own"),
        ('if name and name.removesuffix(":latest") not in', 'if name and not name and name not in',
         "another model than was asked for answers", "test_what_a_request_may_ask_for_has_bounds"),
    ),
    *_of(
        "engine/server/chat_completions.py",
        "tests/engine/server/test_strangers.py",
        ('"top_logprobs", 0, MOST_LOGPROBS', '"top_logprobs", 0', "log-probabilities of the whole vocabulary",
         "test_what_a_request_may_ask_for_has_bounds"),
    ),
    *_of(
        "engine/server/completions.py",
        "tests/engine/server/test_strangers.py",
        ("not 1 <= len(found) <= _MOST_PROMPTS", "not found", "one request brings prompts without number",
         "test_what_a_request_may_ask_for_has_bounds"),
    ),
    # --- the queue in front of the engine ---
    *_of(
        "engine/server/engine_link.py",
        "tests/engine/server/test_queue_of_requests.py",
        ("        asked.answers.put(asked.index, event)\n        self._advance()\n",
         "        asked.answers.put(asked.index, event)\n", "requests that wait are not advanced after an end"),
        ("        _fail(lost, sentence)\n        self._advance()\n", "        _fail(lost, sentence)\n",
         "requests that wait are not advanced after the engine's end"),
        ("if len(self._waiting) + len(commands) > self._most_waiting:", "if False:", "no cap on requests that wait"),
        ("if len(self._waiting) + len(commands) > self._most_waiting:",
         "if len(self._waiting) >= self._most_waiting:", "many choices pass the cap on requests that wait"),
        ("raise Refused(429, _BUSY, retry_after_s=_RETRY_AFTER_S)", "raise Refused(429, _BUSY)",
         "clients are not told when to come back"),
        ("event: Event) -> None:\n        if number != self._starts:\n            return\n",
         "event: Event) -> None:\n", "an engine's last events after its end are taken for the new one's"),
        ("code: int | None) -> None:\n        if number != self._starts:\n            return\n",
         "code: int | None) -> None:\n", "the end of an engine that has ended is taken for the new one's"),
        ("        self._starts += 1\n        if self._process is not None:\n            await",
         "        if self._process is not None:\n            await", "events are handed on after the close"),
        ("lets_others_first=True", "lets_others_first=False", "programs go before the person at the window"),
        ("deque(asked for asked in self._waiting if asked.answers is not answers)", "self._waiting",
         "a request that was given up while it waited runs all the same"),
        ("self._process.send(Cancel(request_id))", "pass", "a request that was given up goes on"),
        ("        if self._closing:\n            raise Refused(503, _CLOSING)\n", "",
         "requests are taken while the server stops"),
        ("next((one for one in self._waiting if", "next((one for one in reversed(self._waiting) if",
         "the newest request goes first"),
        ("len(self._running) < self._most_running:", "len(self._running) <= self._most_running:",
         "one request too many is given to the engine"),
        ("not isinstance(event, TokensAdded | StatisticsUpdated)", "isinstance(event, TokensAdded)",
         "the end of a reply waits for more text"),
        ("            del self._running[asked.command.request_id]\n        asked.answers.put", "            pass\n        asked.answers.put",
         "places of requests that have ended are never free"),
    ),
    *_of(
        "engine/server/engine_link.py",
        "tests/engine/server/test_hang_watch.py",
        ("PATIENCE_TICKS = 12", "PATIENCE_TICKS = 120", "an engine that hangs is waited for ten minutes"),
        ("PATIENCE_TICKS = 12", "PATIENCE_TICKS = 1", "an engine that reads a long prompt is ended"),
        ("START_TICKS = 48", "START_TICKS = 12", "an engine that is imported from a slow disk is ended"),
        ("if link.ready else START_TICKS", "if True else START_TICKS", "an engine that starts is ended after a minute"),
        ("link.heard != heard", "link.heard < 0", "signs of life are not seen"),
        ("not link.running:", "False:", "an engine that has nothing to do is ended"),
        ("            silent = 0\n            link.kill(_HUNG)", "            link.kill(_HUNG)",
         "the next engine is ended at its first silence"),
    ),
    *_of(
        "app/bridge/engine_watch.py",
        "tests/app/bridge/test_engine_watch.py",
        ("START_TICKS = 48", "START_TICKS = 12", "an engine that is imported from a slow disk is ended"),
        ("PATIENCE_TICKS = 12", "PATIENCE_TICKS = 120", "an engine that hangs is waited for ten minutes"),
        ("not self._client.owes_answer:", "False:", "an engine that has nothing to do is ended"),
        ("def _hear(self) -> None:\n        self._silent_ticks = 0", "def _hear(self) -> None:\n        pass",
         "signs of life are not seen"),
        ("self._restart = self._client.ready", "self._restart = True", "an engine that cannot start is started for ever"),
    ),
    # --- servers of others ---
    *_of(
        "engine/remote/connection.py",
        "tests/engine/remote/test_bounds_of_servers.py",
        ("trust_env=not server.is_here", "trust_env=True", "words for a program of this computer go to a proxy",
         "test_words_for_a_program_of_this_computer_go_through_no_proxy"),
        ("trust_env=not server.is_here", "trust_env=False", "proxies of the system are passed by",
         "test_words_for_another_computer_go_as_the_system_says"),
        ("follow_redirects=False", "follow_redirects=True", "words and key go wherever a server sends them",
         "test_the_key_is_sent_to_its_own_server_alone"),
    ),
    *_of(
        "engine/bounded_http.py",
        "tests/engine/remote/test_bounds_of_servers.py tests/engine/remote/test_bounds.py",
        ("        if size_bytes > self._most_bytes:", "        if False:", "no bound on an answer or an event of a server"),
        ("            self._check(self._unpacked)", "            pass", "an answer unpacks to all memory",
         "test_an_answer_is_bounded_as_it_is_after_decompression"),
        ('coding not in ("identity", "gzip", "deflate")', "False", "a coding that nobody bounds is read",
         "test_a_coding_that_nobody_asked_for_is_refused"),
    ),
    *_of(
        "engine/remote/failures.py",
        "tests/engine/remote/test_bounds_of_servers.py",
        ("and 0 < value <= MOST_TOKENS else None", "and value <= MOST_TOKENS else None",
         "negative counts of tokens are shown"),
    ),
    *_of(
        "engine/remote/stream.py",
        "tests/engine/remote/test_remote_reply.py",
        ("if not told.finish:\n        raise broken_off(server)", "if False:\n        raise broken_off(server)",
         "a reply that broke off passes for a whole one", "test_a_stream_that_breaks_off_keeps_its_text"),
        ("if not came:\n        raise empty(server)", "if False:\n        raise empty(server)",
         "an empty reply is told as one that broke off", "test_a_reply_without_a_word_is_one_sentence"),
        ('if data.get("error") is not None:', 'if data.get("never") is not None:',
         "an error within a stream is passed over", "test_a_stream_that_breaks_off_keeps_its_text test_refusals_are_sentences"),
    ),
    *_of(
        "engine/remote/counts.py",
        "tests/engine/remote/test_bounds_of_servers.py",
        ("if 0 < tokens <= ms / 1e3 * fastest else None", "if tokens and ms else None", "speeds that cannot be are shown"),
        ("0 <= self.accepted <= min(self.drafted, _LONGEST_DRAFT * self.steps)\n            and ", "",
         "more tokens hold than were drafted"),
        ("\n            and self.steps\n", "\n", "a draft without a step ends a reply"),
        ("prompt_n=max(prompt - cached, 0)", "prompt_n=prompt - cached", "a prompt of fewer than no tokens is shown"),
        ("cache_n=min(cached, prompt)", "cache_n=cached", "more of a prompt is in the cache than it has tokens",
         "test_usage_of_a_server_is_of_figures_that_can_be"),
        ("steps <= 0 or min(drafted, accepted, written) < 0", "steps <= 0",
         "counters that went back are taken for this reply's"),
        ("if ms >= LEAST_MS else None", "if ms else None",
         "a speed over hardly any time is shown", "test_a_speed_over_no_time_is_none"),
    ),
    *_of(
        "engine/remote/counts.py",
        "tests/engine/remote/test_counts.py",
        ("shared=written > own_tokens", "shared=False", "what others drafted passes for this reply's"),
        ("1 + self.accepted / self.steps", "self.accepted / self.steps", "the token that each step gives is left out"),
    ),
    *_of(
        "engine/remote/asking.py",
        "tests/engine/remote/test_bounds_of_servers.py",
        ('call.id or f"call_{at}"', 'call.id or "call_0"', "one id for all calls that have none",
         "test_calls_without_ids_get_one_each"),
    ),
    *_of(
        "engine/remote/remote_model.py",
        "tests/engine/remote/test_remote_reply.py",
        ("size_bytes <= SMALL_BYTES", "size_bytes >= 0", "a preparer is never used for a server's model, and its replies stop",
         "test_a_large_request_is_fitted_and_encoded_in_a_process"),
    ),
    # --- turns of replies ---
    *_of(
        "engine/scheduler.py",
        "tests/engine/test_turns_of_replies.py",
        ("newest = max(self._computing, key=self._open.index)", "newest = min(self._computing, key=self._open.index)",
         "the oldest instead of the newest reply is held back for want of memory"),
        ("newest.asked.sequence.release()", "pass", "who waits for memory keeps its own"),
        ("            other.waits = False", "            pass", "who waits for memory waits for ever"),
        ("return (len(self._open) + 1) // 2", "return len(self._open) // 2", "half a batch, rounded down: one alone never runs"),
        ("return (len(self._open) + 1) // 2", "return max(1, len(self._open) // 4)", "half a batch"),
        ("return (len(self._open) + 1) // 2", "return len(self._open)", "no drafts are made beside the target"),
        ("rounds = rounds[: self._batch]", "pass", "all replies are verified while no draft is made"),
        ("            if one not in self._computing:\n                self._check_one(one)",
         "            if False:\n                self._check_one(one)",
         "requests that are cancelled before they are scheduled go on"),
        ("_BESIDE_ROUNDS = 64", "_BESIDE_ROUNDS = 512", "replies stand still while a prompt is read"),
        ("_MOST_PIECES = 512", "_MOST_PIECES = 1024", "a cancel is seen late while prompts are read"),
        ("        if not self._computing:\n            raise Cancelled", "        if False:\n            raise Cancelled",
         "a forward that nobody wants any more goes on"),
        ('or "alloc" in said or', "or", "want of memory that torch tells ends replies"),
        ("target.width.replies = len(self._open)", "target.width.replies = len(asked)",
         "replies that wait are not counted among those that share"),
        ("if first.beside and all(", "if all(", "what one reply's rows cost alone is taken for all",
         "test_the_width_learns_of_shared_forwards_alone_and_knows_how_many_are_open"),
        ("not one.draft and waiting < self._batch:", "not one.draft:", "drafts are made long before they are verified",
         "test_no_more_drafts_are_begun_than_the_target_takes_at_a_time"),
        ("return pieces or rounds", "return rounds or pieces[:0]", "a prompt alone is never read"),
    ),
    *_of(
        "engine/engine.py",
        "tests/engine/test_open_replies.py",
        ("if _lets_others_first(one)), behind)", "if False), behind)", "programs are not overtaken by the person",
         "test_a_request_that_lets_others_first_is_overtaken_while_it_waits"),
        ("elif not self._model.has_room(len(self._scheduler)):", "elif False:", "replies begin that memory cannot hold",
         "test_without_room_for_another_cache_one_reply_follows_the_other"),
    ),
    *_of(
        "engine/engine.py",
        "tests/engine/test_engine.py",
        ("        try:\n            self._check()\n            if isinstance(command, CheckDrafts):",
         "        try:\n            if isinstance(command, CheckDrafts):", "a request that was cancelled while it waited is loaded for",
         "test_a_request_that_waits_can_be_cancelled"),
        ("format_list(frames), type(error).__name__])", "format_list(frames), repr(error)])",
         "words of a chat stand in an error's details", "test_a_bug_ends_the_reply_and_not_the_engine"),
    ),
    # --- texts that are kept ---
    *_of(
        "engine/decoding/kept_sequences.py",
        "tests/engine/decoding/test_kept_sequences.py",
        ("2 * shared_tokens(best.token_ids, prompt) <", "4 * shared_tokens(best.token_ids, prompt) <",
         "a quarter of a text is enough to lose the rest"),
        ("2 * shared_tokens(best.token_ids, prompt) <", "shared_tokens(best.token_ids, prompt) <",
         "a text that differs at its end is read again"),
        ("_MOST = 8", "_MOST = 64", "memory is full of old texts"),
        ("best = None if room else self._kept[0]", "best = None if room else self._kept[-1]",
         "the newest text gives way, and not the oldest"),
        ("len(self._kept) > _MOST or (", "(", "many replies at once leave as many texts"),
        ("(len(self._kept) > 1 and not self._has_room(0))", "False", "old texts stay when memory is short"),
        ("while self._kept and not self._has_room(self._count - 1):", "while False:",
         "old texts take the room of a reply that begins"),
        ("best = max(self._kept, key", "best = min(self._kept, key", "the text that shares least is taken"),
    ),
    # --- worth of drafts ---
    *_of(
        "engine/decoding/round_cost.py",
        "tests/engine/decoding/test_settling.py",
        ("if width > 2 * rows)", "if width > 4 * rows)", "rounds that a wide forward has slowed count"),
        ("_SETTLING_S = 0.04", "_SETTLING_S = 0.4", "hardly any round of a short reply counts"),
        ("_SETTLING_S = 0.04", "_SETTLING_S = 0.004", "rounds right behind the prompt count"),
        ("last_s = max(ended_s for", "last_s = min(ended_s for", "only the first wide forward counts"),
    ),
    *_of(
        "engine/decoding/adaptive_budget.py",
        "tests/engine/decoding/test_adaptive_budget.py",
        ("self._lost_s += lost_s\n", "self._lost_s += max(lost_s, 0.0)\n", "lost seconds are never repaid by gains",
         "test_what_drafts_have_gained_pays_for_looking_whether_they_gain_again"),
        ("_ALLOWANCE = 0.03", "_ALLOWANCE = 0.3", "drafts that lose are tried over and over",
         "test_what_tries_lose_stays_within_a_share_of_the_reply"),
        ("_FIRST_PAUSE << max(self._failures - 1, 0)", "_FIRST_PAUSE", "a pause no longer doubles",
         "test_what_drafts_have_gained_pays_for_looking_whether_they_gain_again"),
        ("_LONGEST_PAUSE = 64", "_LONGEST_PAUSE = 640", "a draft that would gain is not tried for long",
         "test_what_drafts_have_gained_pays_for_looking_whether_they_gain_again"),
        ("if not caught_up:", "if True:", "a drafter is judged by what it catches up with",
         "test_a_drafter_that_fell_behind_is_not_judged_by_catching_up"),
        ("            draft_s = 0.0\n        if self._probing:", "        if self._probing:",
         "a drafter is judged by reading the prompt", "test_a_draft_that_reads_the_prompt_first_is_not_judged_by_that"),
        ("_REFRESH_AFTER = 32", "_REFRESH_AFTER = 32_000", "plain decoding is measured once",
         "test_plain_decoding_is_measured_again_now_and_then"),
        ("if size <= most)", "if size)", "what a wide draft costs is found out by a wide draft",
         "test_what_rows_cost_is_found_out_step_by_step"),
    ),
    *_of(
        "engine/decoding/schedule.py",
        "tests/engine/decoding/test_worthwhile_nodes.py",
        ("return gained_s < 0.0 and gained_s <", "return False and gained_s <", "drafts that lose go on",
         "test_what_is_never_accepted_costs_three_hundredths_at_most test_no_chat_of_a_real_model_is_slower_than_plain"),
        ("_REFRESH_AFTER = 64", "_REFRESH_AFTER = 64_000", "plain decoding is measured once",
         "test_plain_decoding_is_measured_now_and_then"),
    ),
    *_of(
        "engine/decoding/sequence.py",
        "tests/engine/decoding/test_shared_width.py",
        ("key=lambda offer: offer[0]", "key=lambda offer: -offer[0]", "the least likely nodes share a forward"),
        ("            if rate > best:", "            if rate:", "replies that share are slower for their drafts"),
        ("return max(self._fixed_s + rows * self.row_s, disk_s)", "return self._fixed_s + rows * self.row_s",
         "rows that cost nothing while the disk reads are left out"),
    ),
    *_of(
        "engine/decoding/statistics.py",
        "tests/engine/decoding/test_statistics.py",
        ("fresh if all_rounds else fresh[-_ROUNDS_TAKEN:]", "fresh if all_rounds else fresh[:_ROUNDS_TAKEN]",
         "the first rounds are shown instead of the latest", "test_records_are_handed_over_once_and_the_latest_of_many"),
    ),
    *_of(
        "engine/drafting/committee.py",
        "tests/engine/drafting/test_committee.py",
        ("_LIKELY = 0.5", "_LIKELY = 0.9", "a network is asked though a free guess is likely"),
        ("_LIKELY = 0.5", "_LIKELY = 0.1", "a network is not asked though the free guess is poor"),
        ("_TRIALS, _MEMORY = 4, 0.9", "_TRIALS, _MEMORY = 40, 0.9", "a member that does not pay is asked for long"),
        ("min(_PAUSE << self.failures, _LONGEST_PAUSE)", "_PAUSE", "the pause of a member no longer doubles"),
        ("_PAUSE, _LONGEST_PAUSE = 64, 1024", "_PAUSE, _LONGEST_PAUSE = 64, 102_400", "a member is left alone for ever"),
        ("max(0, standing.alone - len(tokens))", "max(0, standing.alone - 1)", "pauses are of rounds and not of tokens"),
        ("if shape.step_worth == inf:\n            return None", "if shape.step_worth == inf:\n            return shape",
         "a network drafts where plain rounds are measured"),
    ),
    *_of(
        "engine/drafting/committee.py",
        "tests/engine/drafting/test_committee.py",
        ("reward_threshold: float = 0.6", "reward_threshold: float = 0.8", "a threshold of rewards is another",
         "test_thresholds_are_those_of_the_paper_where_nobody_says_otherwise"),
        ("punish_threshold: float = 0.3", "punish_threshold: float = 0.03", "a threshold of punishments is another",
         "test_thresholds_are_those_of_the_paper_where_nobody_says_otherwise"),
        ("elif average < rewards.punish_threshold:", "elif average < rewards.reward_threshold:", "all but the best are punished"),
    ),
    *_of(
        "engine/drafting/committee.py",
        "tests/engine/drafting/test_member_weights.py",
        ("if average > rewards.reward_threshold:", "if rate > rewards.reward_threshold:",
         "one good verdict outweighs many bad ones"),
        ("_LEAST_WEIGHT = 1e-3", "_LEAST_WEIGHT = 0.0", "a member that was bad once is never heard again"),
    ),
    *_of(
        "engine/drafting/lookup.py",
        "tests/engine/drafting/test_prompt_lookup.py",
        ("return max(((self._length(place), place)", "return min(((self._length(place), place)",
         "the shortest match is drafted"),
        ("_UNLIKELY = -4.0", "_UNLIKELY = -0.1", "hardly any match is drafted"),
    ),
    # --- experts from the disk ---
    *_of(
        "engine/placement/streamed_experts.py",
        "tests/engine/placement/test_expert_room.py",
        ("        missing = [expert for expert in chosen if expert not in own.found",
         "        self._moved[layer] = []\n        missing = [expert for expert in chosen if expert not in own.found",
         "experts that a cancelled call has moved are read where they were"),
        ("                self.reader.abandon(read)\n                one.places.free.append(one.start)\n",
         "                self.reader.abandon(read)\n", "a place is lost with each reading that is stopped"),
        ("            for one in waiting:\n                one.places.free.append(one.start)", "            pass",
         "places of experts that wait are lost when a reading is stopped"),
        ("if expert not in needed), None)", "), None)".replace("), None)", "if expert in self.found), None)"),
         "an expert that the row needs makes way for another"),
        ("            shared.clear()\n", "            pass\n", "a layer computes with another layer's experts"),
    ),
    *_of(
        "engine/placement/streamed_experts.py",
        "tests/engine/placement/test_streamed_experts.py",
        ("for expert in reversed(chosen):", "for expert in chosen:", "experts of the last row go first",
         "test_a_token_reads_the_experts_that_it_chose_and_that_are_not_there"),
    ),
    # --- planning ---
    *_of(
        "engine/planning/cost_model.py",
        "tests/engine/planning/test_cost_model.py",
        ("_AHEAD_HOLDS = 0.3", "_AHEAD_HOLDS = 0.9", "drafting ahead is expected to hold nearly always"),
        ("return _AHEAD_HOLDS if all(draft.by_levels", "return _AHEAD_HOLDS if any(draft.by_levels",
         "heads are expected to draft ahead", "test_of_drafts_of_which_one_is_made_in_one_pass_nothing_is_hidden"),
        ("_COMPARING = 1.03", "_COMPARING = 1.3", "plain decoding is predicted too slow", "test_a_useless_draft_costs_little"),
    ),
    *_of(
        "engine/planning/profile.py",
        "tests/engine/planning/test_profile.py",
        ("_MEMORY = 0.7", "_MEMORY = 1.0", "a machine that has changed is predicted as it was"),
        ("_WARMING = 2", "_WARMING = 0", "rounds that read pages for the first time count"),
    ),
    *_of(
        "engine/planning/load_plan.py",
        "tests/engine/planning/test_context_range.py",
        ("min(DEFAULT_CONTEXT, config.context_length)", "config.context_length", "the longest context takes all memory"),
        ("_LEAST <= context <=", "0 <= context <=", "a context of no tokens is taken"),
    ),
    # --- text ---
    *_of(
        "engine/text/repetition.py",
        "tests/engine/text/test_repetition.py",
        ("_SIGNS_IN_PROSE = 0.06", "_SIGNS_IN_PROSE = 0.6", "tables and code are stopped as if they were prose"),
        ("_SIGNS_IN_PROSE = 0.06", "_SIGNS_IN_PROSE = 0.006", "prose with a few signs goes round for long"),
        ("len(text) and not asked_for", "len(text)", "what the person asked to be repeated is stopped"),
        ("_LONG_SHARE * _LONG_TOKENS", "2 * _LONG_TOKENS", "a text that changes a word each time goes round for ever"),
    ),
    *_of(
        "engine/text/stop.py",
        "tests/engine/text/test_stop.py",
        ("at, string = min(found)", "at, string = max(found)", "text behind the first stop string is shown"),
        ("keep = max(overlap(self._held, string)", "keep = min(overlap(self._held, string)",
         "the beginning of a stop string is shown"),
        ("self.remaining == 0:", "self.remaining == 1:", "a reply is a token shorter than was asked"),
    ),
    *_of(
        "engine/text/context_window.py",
        "tests/engine/text/test_context_window.py",
        ('head = list(messages[:1]) if messages and messages[0].role == "system" else []', "head = list(messages[:0])",
         "the system prompt is left out"),
        ("if prompt_tokens >= context:", "if prompt_tokens > context:", "a prompt leaves no room for a word"),
        ('if at and turn.role == "user"]', "if at]", "an answer stays without its question"),
    ),
    # --- documents ---
    *_of(
        "engine/preparer.py",
        "tests/engine/test_preparer.py",
        ("if used_s > processor_end_s:", "if False:", "a request takes the processor for two minutes",
         "test_what_exceeds_its_bounds_ends_its_process_and_the_next_question_is_answered"),
        ("if time.monotonic() > end_s:\n                raise TookTooLong", "if False:\n                raise TookTooLong",
         "a document is read for ever",
         "test_a_question_has_so_long_by_the_clock_too"),
        ("if held_bytes > self.memory_bytes:", "if False:", "a request takes all memory",
         "test_memory_has_its_bound_where_the_system_sets_none"),
        ("limit_memory(memory_bytes)", "pass", "a request takes all memory between two looks",
         "test_memory_that_is_taken_at_once_has_its_bound"),
        ("if held_bytes > self.kept_bytes:", "if False:", "memory of a large request is never given back",
         "test_a_process_that_holds_much_is_not_kept"),
        ("while connection.poll(idle_s):", "while connection.poll(None):", "a process without work stays for ever",
         "test_a_process_that_was_killed_or_left_is_started_again"),
        ("left -= len(answer)", "pass", "answers together have no bound",
         "test_answers_are_taken_as_they_come_and_bounded_together"),
        ("""            there = connection.poll(_LOOK_S)
            if cancelled():""", """            there = connection.poll(_LOOK_S)
            if False:""", "work whose sender left goes on", "test_a_question_whose_asker_leaves_is_given_up"),
        ("""        while not self._lock.acquire(timeout=_LOOK_S):
            if cancelled():""", """        while not self._lock.acquire(timeout=_LOOK_S):
            if False:""", "a request whose sender left stays in the row",
         "test_who_waits_behind_another_question_may_leave_too"),
        ("""        except BaseException:  # an answer that is still to come would be taken for the next one's
            self._end()
""", """        except BaseException:  # an answer that is still to come would be taken for the next one's
""", "one request gets the answer to another", "test_answers_are_taken_as_they_come_and_bounded_together"),
    ),
    *_of(
        "engine/text/preparation.py",
        "tests/engine/text/test_preparation.py",
        ("small = request.size_bytes <= (", "small = request.size_bytes >= 0 or (", "a long text silences the other replies",
         "test_long_texts_are_not_encoded_in_this_process"),
        ("SMALL_BYTES, ALONE_BYTES = 32 << 10", "SMALL_BYTES, ALONE_BYTES = 32 << 20", "a preparer's process is never used",
         "test_the_border_of_small_requests_is_below_a_glance"),
        ("        left.set()\n", "        pass\n", "a preparer works for a sender who left",
         "test_a_request_whose_sender_leaves_is_given_up"),
        ("        SLOW.end()", "        pass", "a preparer keeps the tokenizer of a model that is gone",
         "test_a_model_that_goes_takes_its_preparer_along"),
    ),
    *_of(
        "engine/text/output_form.py",
        "tests/engine/text/test_preparation.py",
        ("    _KNOWN[question] = found\n", "", "the preparer compiles the same tools with each turn",
         "test_forms_are_compiled_in_a_process_first"),
        ("    if len(_KNOWN) > _MOST_KNOWN:", "    if False:", "a preparer's forms are kept without end",
         "test_so_many_forms_are_known_and_no_more"),
        ("    if len(text) > _MOST_CHARACTERS:", "    if False:", "the preparer gets a form of any length",
         "test_a_form_that_cannot_be_used_is_one_sentence_and_the_next_one_is_used"),
        ("cancelled, FORM_S))", "cancelled, None))", "a form takes a preparer for as long as a book",
         "test_a_form_has_less_time_than_a_text"),
    ),
    *_of(
        "engine/documents/archive.py",
        "tests/engine/documents/test_zipped.py",
        ("unpacked > MAX_UNPACKED_BYTES or", "", "an archive unpacks without end",
         "test_each_bound_of_an_archive_holds_by_itself"),
        ("len(entries) > MAX_FILES or", "", "an archive has files without end",
         "test_each_bound_of_an_archive_holds_by_itself"),
        ("or max(markup, default=0) > MAX_PART_BYTES:", ":", "a part takes all memory once it is parsed",
         "test_each_bound_of_an_archive_holds_by_itself"),
    ),
    # --- models and downloads ---
    *_of(
        "engine/hub/repository.py",
        "tests/engine/hub/test_selection.py",
        ("and _PLAIN_NAME.fullmatch(base)", "", "a file's name leads out of the models' folder"),
        ("if len(parts) == _parts(parts[0].name) and (", "if parts and (", "a model of which a part is missing is taken"),
        ("        wanted = (DEFAULT_QUANTIZATION, *_NEXT_BEST,", "        wanted = (*reversed(_NEXT_BEST), DEFAULT_QUANTIZATION,",
         "the largest file is taken where none was named"),
    ),
    *_of(
        "engine/hub/model_folders.py",
        "tests/engine/hub/download/test_download_queue.py",
        ("needed_bytes + queued_bytes + reserve_bytes <= free", "needed_bytes + reserve_bytes <= free",
         "queued downloads fill the disk together", "test_room_is_checked_for_the_whole_queue"),
    ),
    # --- chats on the disk ---
    *_of(
        "app/storage/seals.py",
        "tests/app/storage/test_seals.py",
        ('f"typeof({of}{column}), CAST({of}{column} AS BLOB)"', 'f"CAST({of}{column} AS BLOB)"',
         "types are not under the seal"),
        ('kind, content = b"b", value', 'kind, content = b"v", value', "a number and its text have one check value"),
        ('kind, content = b"f", struct.pack("<d", value)', 'kind, content = b"v", str(int(value)).encode()',
         "fractions are not under the seal"),
        ('kind + len(content).to_bytes(8, "little")', "kind", "text that moved to the next column is taken as right"),
        ('"leaf_id", "pinned", "archived"),', '"leaf_id", "pinned"),', "a column is not under the seal"),
        ("""seal.format(f'CASE WHEN {kept} THEN {new} END')""", "seal.format(new)",
         "damage is sealed by the next change of its row"),
    ),
    *_of(
        "app/storage/conversation_store.py",
        "tests/app/storage/test_ledger.py",
        ("            if counted:\n                with suppress(sqlite3.Error):", "            if False:\n                with suppress(sqlite3.Error):",
         "the loss of changes is not noticed"),
        ('            noted = self._noted\n', '            noted = self._noted\n            if noted is not None:\n                ledger.write(self._folder, noted)\n',
         "changes are noted before they are on the disk, so that a power cut is told as a loss"),
    ),
    *_of(
        "app/storage/conversation_store.py",
        "tests/app/storage/test_conversation_store.py",
        ("WHERE id = ? AND deleted_at IS NOT NULL\"", 'WHERE id = ?"', "a chat that is not in the trash is erased",
         "test_a_hidden_conversation_comes_back_or_is_erased"),
        ("            if place > len(content):\n            break\n".replace("            if", "        if"), "", "text behind a gap is joined as if nothing were missing",
         "test_what_is_added_to_a_reply_is_read_with_it_and_joined_at_the_next_start"),
        ("expired = time.time() - TRASH_DAYS * 86_400", "expired = time.time() - TRASH_DAYS",
         "the trash is emptied at the next start", "test_a_chat_stays_in_the_trash_for_thirty_days"),
        ("expired = time.time() - TRASH_DAYS * 86_400", "expired = time.time() - TRASH_DAYS * 8_640_000",
         "the trash is never emptied", "test_a_chat_stays_in_the_trash_for_thirty_days"),
        ("                os.stat(self._file)", "                pass", "chats are written to a file that was deleted",
         "test_writing_to_a_file_that_is_gone_is_a_failure"),
    ),
    *_of(
        "app/storage/backup.py",
        "tests/app/storage/test_backup.py",
        ("KEPT = 7", "KEPT = 1", "yesterday's backup goes with today's damage"),
        ("if free_bytes < size_bytes + _RESERVE_BYTES:", "if False:", "a backup fills the disk"),
        ("            if not _is_sound(partial):", "            if False:", "a damaged copy takes a good backup's place"),
        ("            _sync(partial)\n            os.replace(partial, path)", "            os.replace(partial, path)",
         "a power cut leaves an empty backup"),
        ("or not connection.execute(\"SELECT EXISTS (SELECT 1 FROM messages)\").fetchone()[0]", "",
         "backups of nothing push out those of chats"),
    ),
    *_of(
        "app/storage/backup.py",
        "tests/app/storage/test_damage.py",
        ("return backup.number, ids_given, backup.day", "return backup.day, ids_given, backup.number",
         "a clock that was wrong once makes the wrong backup the newest",
         "test_a_backup_of_a_wrong_future_day_neither_wins_nor_ends_the_others"),
    ),
    # --- the window ---
    *_of(
        "app/bridge/journal.py",
        "tests/app/bridge/test_order_of_writing.py",
        ("                self._refused[0]()\n                self._refused.popleft()", "                self._refused.popleft()()",
         "a change that the disk refused is lost"),
        ("while self._refused and not self._behind:", "while self._refused:", "a change is written before the chat that it is about"),
        ("        self.save(conversation_id)\n        self._change(lambda: self._store.set_messages_deleted(message_ids, True))",
         "        self._change(lambda: self._store.set_messages_deleted(message_ids, True))\n        self.save(conversation_id)",
         "messages are marked before the chat is saved"),
        ("        self._change(lambda: self._store.set_messages_deleted(message_ids, False))\n        self.save(conversation_id)",
         "        self.save(conversation_id)\n        self._change(lambda: self._store.set_messages_deleted(message_ids, False))",
         "the path is saved before its messages are back"),
        ("ids = self._unsaved.pop(conversation_id, set()) | set(message_ids)", "ids = set(message_ids)",
         "messages that the disk refused are never saved"),
        ("self._refused.append(work)", "self._refused.appendleft(work)", "changes are written in the wrong order"),
    ),
    *_of(
        "app/bridge/journal.py",
        "tests/app/bridge/test_streamed_text.py",
        ("reply.content[place:]), done)", "reply.content[place:].strip()), done)", "a kill leaves words glued together"),
    ),
    *_of(
        "app/bridge/replies.py",
        "tests/app/bridge/test_streamed_text.py",
        ("content=reply.content + text)", "content=reply.content + text.lstrip())", "streamed words are glued together"),
        ("content=reply.content + text)", 'content=reply.content + text.rstrip("\\n"))', "lines of code run together as they come"),
    ),
    *_of(
        "app/bridge/turns.py",
        "tests/app/bridge/test_turns.py",
        ("last.state.unfinished or not answers:", "last.state.unfinished:", "a reply without its prompt is answered again",
         "test_a_reply_whose_prompt_was_deleted_is_not_tried_again"),
        ("if last.state is MessageState.COMPLETE or last.state.unfinished or", "if last.state.unfinished or",
         "a turn that is answered is tried again and its answer lost",
         "test_a_reply_is_tried_again_where_it_ended_without_an_answer"),
        ("if last.state is MessageState.COMPLETE or last.state.unfinished or", "if last.state is MessageState.COMPLETE or",
         "a reply that runs is tried again", "test_a_reply_is_tried_again_where_it_ended_without_an_answer"),
    ),
    *_of(
        "app/bridge/update_check.py",
        "tests/app/bridge/test_update_check.py",
        ("return 0 <= time.time() - self._stamp", "return time.time() - self._stamp", "a clock that was wrong once ends the checks for years"),
        ("and not found.is_prerelease", "", "a candidate is offered as a release"),
        ("if not self._key or self._asked_lately():", "if self._asked_lately():", "a program without a key asks all the same"),
        ("minisign.PublicKey.from_base64(key).verify(text, signature)", "pass", "what nobody signed is offered"),
    ),
    *_of(
        "app/bridge/engine_client.py",
        "tests/app/bridge/test_engine_news.py",
        ("event: Event) -> None:\n        if number != self._start_number:\n            return\n", "event: Event) -> None:\n",
         "an engine's last events after its end are taken for the new one's"),
        ("sentence: str) -> None:\n        if number != self._start_number:\n            return\n", "sentence: str) -> None:\n",
         "the end of an engine that has ended is taken for the new one's"),
        ('"" if event.error.kind == RemoteError.__name__ else event.error.message', "event.error.message",
         "words that another server quotes stand in the log"),
        ("            self._start_number += 1  # should it end one day", "            pass", "an engine that was left ends the new one"),
        ("self._start_number += 1  # what is still under way is of no interest", "pass", "news arrive behind the close"),
        ("self._pinged < self._asked:", "True:", "an engine that has much to do is asked over and over"),
    ),
)
# fmt: on
