-- Vectors of turns, where somebody chose a model that makes them.

CREATE TABLE embedder (
    id INTEGER PRIMARY KEY,
    -- The model: vectors of different ones do not compare.
    name TEXT NOT NULL,
    n_dimensions INTEGER NOT NULL,
    UNIQUE (name, n_dimensions)
) STRICT;

CREATE TABLE vector (
    turn INTEGER PRIMARY KEY REFERENCES turn ON DELETE CASCADE,
    embedder INTEGER NOT NULL REFERENCES embedder,
    -- A number of 8 bits with a sign for each dimension.
    numbers BLOB NOT NULL
) STRICT;
