-- Version 2: which edit wrote a line.

CREATE TABLE edit (
    turn INTEGER PRIMARY KEY REFERENCES turn ON DELETE CASCADE,
    -- A hash of the name of the file, without its folder.
    file INTEGER NOT NULL,
    -- What it wrote, as hashes of lines: `edited.rs` of chronicle-sessions.
    lines BLOB NOT NULL
) STRICT;
CREATE INDEX edit_of_file ON edit(file);

-- What was read before tells nothing of it: it is read again, which changes nothing else.
UPDATE source SET modified = -1;
