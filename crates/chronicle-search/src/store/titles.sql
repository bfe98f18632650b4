-- Sessions of a project are told apart by their titles.
CREATE INDEX IF NOT EXISTS session_by_title ON session(project, title) WHERE NOT is_sub_agent;
