-- Blocks of memory, what is done while nobody works, and what becomes of it.

-- Blocks that the user made; the others are built in.
CREATE TABLE own_block (
    label TEXT PRIMARY KEY,
    description TEXT NOT NULL,
    -- In characters.
    most INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Every version of every block; the latest is the block.
CREATE TABLE block_version (
    id INTEGER PRIMARY KEY,
    -- A hash of the version: the same one is kept once.
    claim BLOB NOT NULL UNIQUE,
    label TEXT NOT NULL,
    -- Later than that of every version before.
    at INTEGER NOT NULL,
    author TEXT NOT NULL,
    reason TEXT NOT NULL,
    -- Its lines with who wrote them and what shows them, as JSON.
    content TEXT NOT NULL
) STRICT;
CREATE INDEX version_of_block ON block_version(label, at, id);

-- What was done, and of what it was made: the same is not done again.
CREATE TABLE job (
    kind TEXT NOT NULL,
    -- The day, week or month; empty for the last run as a whole.
    period TEXT NOT NULL,
    input INTEGER NOT NULL,
    done_at INTEGER NOT NULL,
    PRIMARY KEY (kind, period)
) STRICT, WITHOUT ROWID;

-- What agents were shown and then used.
CREATE TABLE used (
    -- A session, a thread, a commit or a lesson.
    what TEXT NOT NULL,
    -- The session that used it.
    by TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (what, by, at)
) STRICT, WITHOUT ROWID;

-- Transcripts that are kept compressed, and of what they were made.
CREATE TABLE kept (
    session INTEGER PRIMARY KEY REFERENCES session ON DELETE CASCADE,
    file TEXT NOT NULL,
    n_bytes INTEGER NOT NULL,
    -- Before it was compressed.
    n_whole INTEGER NOT NULL,
    source TEXT NOT NULL,
    source_size INTEGER NOT NULL,
    source_modified INTEGER NOT NULL
) STRICT;
