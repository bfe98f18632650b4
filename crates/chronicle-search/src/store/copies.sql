-- Sessions that began at the same moment: one may be a copy of the other.
CREATE INDEX session_by_first ON session(project, first);
