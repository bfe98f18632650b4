//! Rows of the store, as checkpoints name them.

/// A session by its number.
pub(crate) mod session {
    use chronicle_search::SessionId;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(id: &SessionId, to: S) -> Result<S::Ok, S::Error> {
        id.0.serialize(to)
    }

    pub(crate) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<SessionId, D::Error> {
        i64::deserialize(from).map(SessionId)
    }
}

/// A project by its number, key and name.
pub(crate) mod project {
    use chronicle_search::{Project, ProjectId};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(project: &Project, to: S) -> Result<S::Ok, S::Error> {
        (project.id.0, &project.key, &project.name).serialize(to)
    }

    pub(crate) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Project, D::Error> {
        let (id, key, name) = Deserialize::deserialize(from)?;
        Ok(Project { id: ProjectId(id), key, name })
    }
}
