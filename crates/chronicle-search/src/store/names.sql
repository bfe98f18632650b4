-- What holds in one project only is stored with the name of that project: no other one may have the name.
UPDATE project SET name = name || '@' || id
WHERE EXISTS (SELECT 1 FROM project AS other WHERE other.name = project.name AND other.id < project.id);
CREATE UNIQUE INDEX project_by_name ON project(name);
