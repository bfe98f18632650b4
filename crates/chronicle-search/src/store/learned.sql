-- What sessions tell of how their human works, and what the human said of what was learned.

-- Made of the turns of a session; goes when they change, and is made again when it is asked for.
CREATE TABLE learned (
    session INTEGER PRIMARY KEY REFERENCES session ON DELETE CASCADE,
    -- The version of the rules that made it.
    rules INTEGER NOT NULL,
    signs TEXT NOT NULL
) STRICT;

-- Whether something that was shown is right, as the human said. Only ids: what it is about is kept elsewhere.
CREATE TABLE feedback (
    what TEXT NOT NULL,
    subject TEXT NOT NULL,
    at INTEGER NOT NULL,
    is_right INTEGER NOT NULL,
    note TEXT NOT NULL,
    PRIMARY KEY (what, subject, at, is_right)
) STRICT, WITHOUT ROWID;

-- What was read before tells nothing of libraries: it is read again, which changes nothing else.
UPDATE source SET modified = -1;
