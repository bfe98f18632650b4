-- The tables of session memory, version 1. Times are milliseconds since 1970, UTC.

CREATE TABLE project (
    id INTEGER PRIMARY KEY,
    -- What it is known by for good: an id kept in the repository, or the path of a folder.
    key TEXT NOT NULL UNIQUE,
    -- How it is called: the name of its folder.
    name TEXT NOT NULL
) STRICT;

-- The folders that belong to a project: worktrees, and where it was before it moved.
CREATE TABLE folder (
    path TEXT PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project
) STRICT, WITHOUT ROWID;
CREATE INDEX folder_of_project ON folder(project);

CREATE TABLE session (
    id INTEGER PRIMARY KEY,
    agent TEXT NOT NULL,
    -- The id that the agent gave it.
    name TEXT NOT NULL,
    -- The session it belongs to: that of a sub-agent, or the one it was forked from.
    parent TEXT,
    is_sub_agent INTEGER NOT NULL,
    project INTEGER NOT NULL REFERENCES project,
    folder TEXT NOT NULL,
    branch TEXT,
    model TEXT,
    first INTEGER,
    last INTEGER,
    title TEXT NOT NULL,
    importance INTEGER NOT NULL,
    n_prompts INTEGER NOT NULL,
    -- The whole digest, as JSON; empty until the session was read to its end.
    digest TEXT NOT NULL,
    UNIQUE (agent, name)
) STRICT;
CREATE INDEX session_by_time ON session(project, last);
CREATE INDEX session_by_branch ON session(project, branch, last) WHERE NOT is_sub_agent;
CREATE INDEX session_anywhere ON session(last) WHERE NOT is_sub_agent;
CREATE INDEX session_by_name ON session(name);

CREATE TABLE turn (
    id INTEGER PRIMARY KEY,
    -- Who it is, in whichever session: a hash of the id that the agent gave it.
    key INTEGER NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES session,
    -- Its place in the session: the byte at which it begins in the transcript, times 64, plus its number there.
    position INTEGER NOT NULL,
    line INTEGER NOT NULL,
    name TEXT NOT NULL,
    kind INTEGER NOT NULL,
    at INTEGER,
    sub_agent TEXT,
    speaker TEXT,
    is_ok INTEGER,
    text TEXT NOT NULL,
    -- What came back, of calls that failed.
    answer TEXT
) STRICT;
CREATE INDEX turn_of_session ON turn(session, position);

CREATE TABLE changed_file (
    session INTEGER NOT NULL REFERENCES session,
    path TEXT NOT NULL,
    n_changes INTEGER NOT NULL,
    PRIMARY KEY (session, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX changed_by_path ON changed_file(path);

-- Commits that sessions made, by the id that git printed, which may be short.
CREATE TABLE made_commit (
    session INTEGER NOT NULL REFERENCES session,
    hash TEXT NOT NULL,
    branch TEXT NOT NULL,
    subject TEXT NOT NULL,
    PRIMARY KEY (session, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX commit_by_hash ON made_commit(hash);

-- What happened to threads. Nothing here is ever changed; only forgetting a session takes its events away.
CREATE TABLE thread_event (
    id INTEGER PRIMARY KEY,
    -- A hash of the event: the same one is kept once.
    claim BLOB NOT NULL UNIQUE,
    thread TEXT NOT NULL,
    session INTEGER REFERENCES session,
    at INTEGER,
    event TEXT NOT NULL
) STRICT;
CREATE INDEX event_of_thread ON thread_event(thread);
CREATE INDEX event_of_session ON thread_event(session);

-- Threads as their events left them: can be made again from the events at any time.
CREATE TABLE thread (
    id TEXT PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project,
    is_open INTEGER NOT NULL,
    -- Its place in lists, and when it was mentioned last.
    place INTEGER NOT NULL,
    mentioned INTEGER,
    thread TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX thread_by_place ON thread(project, is_open, place, mentioned);
CREATE INDEX thread_by_time ON thread(project, mentioned);
CREATE INDEX thread_anywhere ON thread(is_open, place, mentioned);

-- Which threads wait for which others.
CREATE TABLE thread_wait (
    blocker TEXT NOT NULL,
    thread TEXT NOT NULL,
    PRIMARY KEY (blocker, thread)
) STRICT, WITHOUT ROWID;
CREATE INDEX wait_of_thread ON thread_wait(thread);

-- Transcripts that were read, and how far.
CREATE TABLE source (
    path TEXT PRIMARY KEY,
    -- Null where nothing was kept: it has no session, is excluded, or was forgotten.
    session INTEGER REFERENCES session,
    size INTEGER NOT NULL,
    -- Nanoseconds.
    modified INTEGER NOT NULL,
    read_at INTEGER NOT NULL,
    -- What became of its lines, as JSON.
    tally TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX source_of_session ON source(session);

-- Sessions that are not to come back.
CREATE TABLE forgotten (
    agent TEXT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (agent, name)
) STRICT, WITHOUT ROWID;

-- Folders whose sessions are left out, with everything below them.
CREATE TABLE excluded (
    folder TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- What is told only once, and was.
CREATE TABLE told (
    what TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- The search index: runs of blocks, see index/segments.rs.
CREATE TABLE segment (
    id INTEGER PRIMARY KEY,
    size INTEGER NOT NULL,
    -- Its sessions lie between these.
    first INTEGER NOT NULL,
    last INTEGER NOT NULL
) STRICT;

CREATE TABLE posting (
    -- The segment times 2^40, plus the first term.
    id INTEGER PRIMARY KEY,
    -- Terms with their lists, see index/postings.rs.
    terms BLOB NOT NULL
) STRICT;

-- How far sessions are in the index.
CREATE TABLE indexed (
    session INTEGER PRIMARY KEY,
    n_turns INTEGER NOT NULL,
    last_position INTEGER,
    -- The kind (plus 128 where it asks, plus 64 where a person with a name said it) and the number of terms of each
    -- turn, in the order of their positions.
    turns BLOB NOT NULL
) STRICT;

-- Sessions with turns that are not in the index: empty outside of transactions.
CREATE TABLE unindexed (
    session INTEGER PRIMARY KEY
) STRICT;
