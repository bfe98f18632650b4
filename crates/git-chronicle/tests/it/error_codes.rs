//! The codes of errors: `docs/reference/errors.md` is made of their table.

use std::{collections::BTreeSet, env, fs, path::Path};

use chronicle_workplace::Code;

use crate::command_line::WRITE;

/// The reference, which this test writes where the variable [`WRITE`] is set.
const REFERENCE: &str = "docs/reference/errors.md";

const HEAD: &str = "# Errors\n\n\
    With `--format json`, errors are JSON on standard output:\n\n\
    ```json\n\
    {\"schema\":\"chronicle-error/v1\",\"error\":{\"code\":\"file_not_found\",\"message\":\"…\",\"hint\":\"…\"}}\n\
    ```\n\n\
    The hint is there when there is one. Codes keep their names.\n\n\
    | code | exit code | when | hint |\n\
    |---|---|---|---|\n";

#[test]
fn the_reference_lists_each_code() {
    let rows = Code::ALL.iter().map(|code| {
        let hint = code.hint().unwrap_or_default().replace('|', "\\|");
        format!("| `{code}` | {} | {} | {hint} |\n", code.exit_code(), code.when())
    });
    let wanted = HEAD.to_owned() + &rows.collect::<String>();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(REFERENCE);
    #[expect(clippy::disallowed_methods, reason = "whoever changes a code sets it")]
    if env::var_os(WRITE).is_some() {
        fs::write(&path, &wanted).expect("it can be written");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "{REFERENCE} is out of date; `{WRITE}=1 cargo test` writes it");
}

#[test]
fn names_are_used_once() {
    let names: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(names.len(), Code::ALL.len());
}
