-- What is known of the beginning of large transcripts, so that the rest can be read alone. Can be made again.
CREATE TABLE checkpoint (
    path TEXT PRIMARY KEY,
    -- The build that made it: another one can't read it.
    build TEXT NOT NULL,
    -- How many bytes it is about, a number that stands for them, and one that stands for the file.
    end INTEGER NOT NULL,
    print INTEGER NOT NULL,
    file INTEGER NOT NULL,
    state BLOB NOT NULL
) STRICT;
