//! Patches in the form that `apply_patch` takes.

use crate::turn::{Edit, EditKind, Replaced};

/// The changes of `patch`, one for each file.
///
/// Lines of context belong to both sides; each section that `@@` begins is a
/// replacement of its own. What is no patch has no changes.
pub(crate) fn edits(patch: &str) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    for line in patch.lines() {
        if let Some((kind, path)) = header(line) {
            edits.push(Edit { path: path.trim().to_owned(), replaced: Vec::new(), kind });
            continue;
        }
        let Some(edit) = edits.last_mut() else { continue };
        if line.starts_with("@@") {
            edit.replaced.push(Replaced::default());
            continue;
        }
        if line.starts_with("*** End Patch") {
            break;
        }
        if line.starts_with("*** ") {
            continue;
        }
        if edit.replaced.is_empty() {
            edit.replaced.push(Replaced::default());
        }
        let Some(replaced) = edit.replaced.last_mut() else { continue };
        let (is_old, is_new, text) = match (line.strip_prefix('-'), line.strip_prefix('+')) {
            (Some(text), _) => (true, false, text),
            (_, Some(text)) => (false, true, text),
            _ => (true, true, line.strip_prefix(' ').unwrap_or(line)),
        };
        for (side, is_on) in [(&mut replaced.old, is_old), (&mut replaced.new, is_new)] {
            if is_on {
                side.push_str(text);
                side.push('\n');
            }
        }
    }
    for edit in &mut edits {
        edit.replaced.retain(|replaced| *replaced != Replaced::default());
    }
    edits
}

fn header(line: &str) -> Option<(EditKind, &str)> {
    [
        ("*** Add File: ", EditKind::Written),
        ("*** Update File: ", EditKind::Edited),
        ("*** Delete File: ", EditKind::Deleted),
    ]
    .into_iter()
    .find_map(|(mark, kind)| Some((kind, line.strip_prefix(mark)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_one_change_for_each_file() {
        let patch = "*** Begin Patch\n*** Update File: a.rs\n@@ fn a\n one\n-two\n+three\n*** Add File: b.rs\n+new\n*** Delete File: c.rs\n*** End Patch\nEOF\n";
        let replaced = |old: &str, new: &str| Replaced { old: old.into(), new: new.into() };
        assert_eq!(
            edits(patch),
            [
                Edit {
                    path: "a.rs".into(),
                    replaced: vec![replaced("one\ntwo\n", "one\nthree\n")],
                    kind: EditKind::Edited
                },
                Edit { path: "b.rs".into(), replaced: vec![replaced("", "new\n")], kind: EditKind::Written },
                Edit { path: "c.rs".into(), replaced: vec![], kind: EditKind::Deleted },
            ]
        );
        assert_eq!(edits("no patch"), []);
    }
}
