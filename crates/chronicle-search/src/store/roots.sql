-- The commit that the repository of a project began with: what is found at its place later may be another repository.
CREATE TABLE root (project INTEGER PRIMARY KEY, first_commit TEXT NOT NULL);
