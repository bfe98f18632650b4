-- Work that one session hands over to another agent. It holds no words: what is handed over is the session as it is.
CREATE TABLE handoff (
    id TEXT PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session,
    -- The agent that is to go on; null for any.
    agent TEXT,
    at INTEGER NOT NULL,
    -- When a session took it over, and which: the agent and its id.
    accepted INTEGER,
    accepted_by TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX handoff_of_session ON handoff(session);
