//! Whether the `PATH` leads to this program first: git, hooks and agents run what comes first there.
//!
//! An older program has the same name, so that one installed long ago may answer in our place. It is recognised by its
//! place alone: running it to ask for its version would run what a stranger may have put there.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use chronicle_workplace::Finding;

use super::{Ground, ours::PROGRAM};

impl Ground {
    /// Another program of our name that the `PATH` leads to before this one.
    pub(super) fn another_comes_first(&self) -> Option<Finding> {
        let found = self.programs(PROGRAM);
        let first = Path::new(found.first()?);
        let own = Path::new(&self.program);
        is_another(first, own).then(|| {
            let shown = |path: &Path| chronicle::plain(&path.to_string_lossy()).into_owned();
            let seen = format!(
                "another `git-chronicle` comes first on the PATH, so git and agents run `{}` instead of `{}`",
                shown(first),
                shown(own)
            );
            let mend = "remove it (`cargo uninstall git-chronicle` if cargo installed it), or put the folder of this one first";
            Finding::note("program", seen, mend)
        })
    }
}

/// Whether `first` is another program than `own`. A script may well start this one, as that of npm does.
fn is_another(first: &Path, own: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| PathBuf::from(path));
    real(first) != real(own) && !is_script(first)
}

fn is_script(path: &Path) -> bool {
    let mut start = [0; 2];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok_and(|()| start == *b"#!")
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn another_program_is_told_from_ways_to_this_one() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for (name, content) in [("own", "\x7fELF"), ("older", "\x7fELF"), ("script", "#!/bin/sh\n")] {
            fs::write(at(name), content).unwrap();
        }
        symlink(at("own"), at("link")).unwrap();
        for (first, expected) in [("own", false), ("link", false), ("script", false), ("older", true)] {
            assert_eq!(is_another(&at(first), &at("own")), expected, "{first}");
        }
    }
}
