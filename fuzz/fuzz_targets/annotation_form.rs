//! Whatever an editor leaves of the form of an annotation is understood or refused with a reason.

#![no_main]

use chronicle_commits::form::read_form;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| for only_file in [None, Some("src/lock.rs")] {
    match read_form(text, only_file) {
        // Nothing of the form is left around the reason.
        Ok(Some(said)) => {
            let summary = said.summary.expect("a form without a reason is refused");
            assert_eq!(summary.trim(), summary);
        }
        Ok(None) => {}
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
