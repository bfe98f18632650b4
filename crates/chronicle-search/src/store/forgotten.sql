-- Turns that were forgotten, by key: agents copy them into the transcripts of sessions that go on from a forgotten one.
CREATE TABLE forgotten_turn (
    key INTEGER PRIMARY KEY
) STRICT;
