-- What came from other machines of the user, by hashes: the words are in the tables of sessions, threads and blocks.
CREATE TABLE synced (
    machine TEXT NOT NULL,
    item TEXT NOT NULL,
    -- What it says, so that a change is seen.
    version TEXT NOT NULL,
    PRIMARY KEY (machine, item)
) STRICT, WITHOUT ROWID;

-- What was here when machines synced last: what is missing since was taken out here.
CREATE TABLE sync_known (
    item TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- What was taken out here and is to go on other machines, too.
CREATE TABLE sync_gone (
    item TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
