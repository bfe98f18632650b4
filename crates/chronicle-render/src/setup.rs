//! What was done to a repository, as text.

use std::fmt::Write;

use super::words;
use chronicle::Setup;

pub(super) fn markdown(setup: &Setup) -> String {
    let mut out = String::new();
    for change in &setup.changes {
        let (does, did, more) = match change.action {
            "create" => ("create", "created", ""),
            "remove" => ("remove", "removed", ""),
            "set_aside" => ("replace", "replaced", ", which runs the original next to it"),
            "put_back" => ("put back", "put back", ""),
            _ => ("change", "changed", ""),
        };
        let verb = if setup.dry_run { does } else { did };
        let _ = writeln!(out, "- {verb} {}{more}", words::path(&change.path));
    }
    if setup.dry_run {
        out.extend(setup.changes.iter().map(|change| format!("\n{}", change.diff)));
    }
    out
}

#[cfg(test)]
mod tests {
    use chronicle::SetupChange;

    use super::*;

    #[test]
    fn a_dry_run_begins_with_a_list_of_the_files() {
        let change = |path: &str, action, diff: &str| SetupChange {
            path: path.to_owned(),
            action,
            diff: diff.to_owned(),
        };
        let mut setup = Setup {
            schema: "chronicle-setup/v1",
            dry_run: true,
            changes: vec![
                change("a.json", "create", "--- /dev/null\n+++ a.json\n"),
                change("b.json", "edit", "--- b.json\n+++ b.json\n"),
                change("hooks/c", "set_aside", "--- hooks/c\n+++ hooks/c\n"),
            ],
            warnings: Vec::new(),
        };
        let diffs: Vec<String> = setup.changes.iter().map(|change| format!("\n{}", change.diff)).collect();
        let list =
            "- create a.json\n- change b.json\n- replace hooks/c, which runs the original next to it\n";
        assert_eq!(markdown(&setup), format!("{list}{}", diffs.concat()));
        setup.dry_run = false;
        assert_eq!(
            markdown(&setup),
            "- created a.json\n- changed b.json\n- replaced hooks/c, which runs the original next to it\n"
        );
    }
}
