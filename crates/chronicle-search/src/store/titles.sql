-- Sessions of a project are told apart by their titles.
CREATE INDEX session_by_title ON session(project, title) WHERE NOT is_sub_agent;
