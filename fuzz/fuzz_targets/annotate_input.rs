//! Any bytes given to `annotate` are understood or refused with a reason.

#![no_main]

use chronicle_commits::input::read_input;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| match read_input(bytes) {
    Ok(read) => {
        let _regions = read.input.read_regions();
        let _concerns = read.input.read_cross_cutting();
    }
    Err(error) => assert!(!error.to_string().is_empty()),
});
