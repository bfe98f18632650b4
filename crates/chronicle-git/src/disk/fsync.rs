//! What is synced to the disk.

/// What is synced to the disk before it counts as written: `core.fsync` and its older form.
///
/// A method that only starts writing is not at hand here, so everything that git would sync in any way is
/// synced for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fsync {
    pub(crate) loose_objects: bool,
    pub(crate) references: bool,
}

impl Fsync {
    pub(crate) fn of(repository: &gix::Repository) -> Self {
        let snapshot = repository.config_snapshot();
        let components = snapshot.string("core.fsync").map(|value| value.to_string());
        let mut fsync = Self::parse(components.as_deref().unwrap_or_default());
        fsync.loose_objects |= snapshot.boolean("core.fsyncObjectFiles") == Some(true);
        fsync
    }

    /// Reads a list of components. Git syncs neither loose objects nor references without being asked, and a
    /// component with a minus takes nothing away from those that are named, so only the named ones matter.
    fn parse(components: &str) -> Self {
        let mut fsync = Self { loose_objects: false, references: false };
        for name in components.split(',').map(str::trim) {
            match name {
                "loose-object" | "objects" => fsync.loose_objects = true,
                "reference" => fsync.references = true,
                "committed" | "added" | "all" => fsync = Self { loose_objects: true, references: true },
                _ => {}
            }
        }
        fsync
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_syncs_is_synced() {
        // As git 2.47 does it, seen by tracing `git notes add`.
        let check = |components: &str, loose_objects: bool, references: bool| {
            assert_eq!(Fsync::parse(components), Fsync { loose_objects, references }, "{components}");
        };
        check("", false, false);
        check("all", true, true);
        check("-all", false, false);
        check("loose-object", true, false);
        check("reference", false, true);
        check("committed", true, true);
        check("committed,-reference", true, true);
        check("-loose-object, all", true, true);
        check("none,all", true, true);
        check("objects,reference,none", true, true);
        check("added", true, true);
        check("none", false, false);
        check("default", false, false);
        check("derived-metadata", false, false);
        check("LOOSE-OBJECT", false, false);
    }
}
