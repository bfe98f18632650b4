-- What a model said of sessions. The digest itself stands in the row of its session.

CREATE TABLE wording (
    session INTEGER PRIMARY KEY REFERENCES session,
    -- The state of the session that the model was told of: the number of its turns, and when the last was.
    n_turns INTEGER NOT NULL,
    last INTEGER,
    -- The wording, as JSON; empty where the model failed.
    wording TEXT NOT NULL,
    -- How often it failed in that state, why it did last, and when it was asked last.
    n_failed INTEGER NOT NULL,
    failure TEXT NOT NULL,
    asked INTEGER NOT NULL
) STRICT;
