-- What never changes about commits, notes and blobs (DESIGN section 4). Rows are added and never changed, but for
-- `refs` and `notes`, which say what the notes refs pointed at when they were read last.

-- `at` is the time of the commit, moved past those of its parents: children come after parents in its order.
-- `reach` holds the rows that the commit reaches, as runs, where they are few.
CREATE TABLE commits (
    row INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    tree BLOB NOT NULL,
    parents BLOB NOT NULL,
    n_parents INTEGER NOT NULL,
    time INTEGER NOT NULL,
    at INTEGER NOT NULL,
    reach BLOB,
    is_walked INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX unwalked ON commits (row) WHERE is_walked = 0;

CREATE TABLE paths (row INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, last BLOB NOT NULL);
CREATE INDEX last_names ON paths (last);

-- What a commit did to a path: what differs from all of its parents. `old` is the file in the first one.
CREATE TABLE touches (
    path INTEGER NOT NULL,
    commit_row INTEGER NOT NULL,
    old BLOB,
    new BLOB,
    renamed_from INTEGER,
    PRIMARY KEY (path, commit_row)
) WITHOUT ROWID;
CREATE INDEX renames ON touches (renamed_from) WHERE renamed_from IS NOT NULL;

-- The bytes of notes, and by which keys they are looked up: a letter for the kind, then the key itself.
CREATE TABLE texts (row INTEGER PRIMARY KEY, blob BLOB NOT NULL UNIQUE, bytes BLOB NOT NULL);
CREATE TABLE keys (key BLOB NOT NULL, text INTEGER NOT NULL, PRIMARY KEY (key, text)) WITHOUT ROWID;

CREATE TABLE refs (row INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, tip BLOB);
CREATE TABLE notes (
    object BLOB NOT NULL,
    ref INTEGER NOT NULL,
    text INTEGER NOT NULL,
    PRIMARY KEY (object, ref, text)
) WITHOUT ROWID;
CREATE INDEX notes_of_texts ON notes (text);

-- Notes whose bytes were not here when their refs were read: they may come.
CREATE TABLE unread (
    object BLOB NOT NULL,
    ref INTEGER NOT NULL,
    blob BLOB NOT NULL,
    PRIMARY KEY (object, ref, blob)
) WITHOUT ROWID;

-- Annotated objects that were no commits here when their notes were read: they may come.
CREATE TABLE away (object BLOB PRIMARY KEY) WITHOUT ROWID;

-- What was made of immutable inputs, under a hash of them; `day` is when it was made, in days since 1970.
CREATE TABLE made (key BLOB PRIMARY KEY, day INTEGER NOT NULL, value BLOB NOT NULL) WITHOUT ROWID;
