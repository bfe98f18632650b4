//! Diffs come from anyone: whatever they hold, reading them ends, and ranges are ranges.

#![no_main]

use chronicle_core::unified;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for file in unified::read(bytes).files {
        assert!(!file.old_paths.is_empty() || !file.new_paths.is_empty());
        for hunk in file.hunks {
            assert!(0 < hunk.old.start && 0 < hunk.new.start);
            assert!(hunk.old.range().is_none_or(|lines| hunk.touches(lines)));
        }
    }
});
