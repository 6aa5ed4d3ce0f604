-- A database as the first version left it: two conversations, one reply that a crash cut.
CREATE TABLE conversations (
    id INTEGER PRIMARY KEY,
    title TEXT NOT NULL,
    created_at REAL NOT NULL,  -- seconds since 1970, UTC
    updated_at REAL NOT NULL,
    deleted_at REAL            -- hidden, erased at the next start; NULL for all others
);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY,
    conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    role TEXT NOT NULL,        -- user, assistant
    content TEXT NOT NULL,
    created_at REAL NOT NULL,
    state TEXT NOT NULL,       -- MessageState
    statistics TEXT,           -- JSON object, ReplyStatistics
    notices TEXT NOT NULL,     -- JSON list of sentences
    error TEXT NOT NULL        -- one sentence or nothing
);
CREATE INDEX messages_of_conversation ON messages(conversation_id, id);
CREATE INDEX unfinished_messages ON messages(state) WHERE state IN ('queued', 'waiting', 'streaming');
CREATE TABLE id_blocks (next_id INTEGER NOT NULL);
INSERT INTO id_blocks VALUES (10001);
INSERT INTO conversations VALUES (1, 'Grüße', 100.0, 200.0, NULL), (4, 'Other', 150.0, 160.0, NULL);
INSERT INTO messages VALUES
    (2, 1, 'user', 'Grüße 👋', 100.0, 'complete', NULL, '[]', ''),
    (3, 1, 'assistant', 'Hello', 101.0, 'complete', '{"mode": "lookup", "tokens": 5, "tokens_per_second": 30.5, "time_to_first_token_ms": 12.0, "acceptance_rate": 0.5, "mean_acceptance_length": 1.8, "resident_bytes": 1000, "context_used": 50, "context_limit": 4096}', '["One."]', ''),
    (5, 4, 'user', 'other prompt', 150.0, 'complete', NULL, '[]', ''),
    (6, 4, 'assistant', 'half a', 151.0, 'streaming', NULL, '[]', ''),
    (7, 1, 'user', 'again', 199.0, 'complete', NULL, '[]', ''),
    (8, 1, 'assistant', '', 200.0, 'failed', NULL, '[]', 'It failed.');
PRAGMA user_version = 1;
