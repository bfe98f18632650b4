//! Lines of corrections and purges: each is read or counted, uniting them loses none, and what is purged is gone.

#![no_main]

use std::collections::BTreeSet;

use chronicle_core::{
    correction::{Tier, read_corrections},
    purge::{Left, Purged, Texts, clean, read_tombstones},
    unite_lines,
};
use chronicle_fuzz::pieces;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let [lines, others, tombstones, text] = pieces(input);
    let n_lines = lines_of(lines).count();
    let (corrections, n_unread) = read_corrections(lines);
    assert_eq!(corrections.len() + n_unread, n_lines);
    for correction in corrections {
        assert_eq!(correction.clone().under_its_own_name(), correction);
        let shown = correction.clone().by(Tier::Unknown, None, Tier::Own);
        assert_eq!(shown.kind, chronicle_core::correction::CorrectionKind::Flag);
        let line = serde_json::to_vec(&correction).expect("it is plain data");
        assert_eq!(read_corrections(&line), (vec![correction], 0));
    }

    let united = unite_lines(&[lines, others]);
    assert_eq!(unite_lines(&[others, lines]), united);
    assert_eq!(unite_lines(&[&united[..], others]), unite_lines(&[&united[..], lines]));
    let all: BTreeSet<&[u8]> = lines_of(lines).chain(lines_of(others)).collect();
    assert_eq!(lines_of(&united).collect::<BTreeSet<_>>(), all);

    let mut purged = Purged::default();
    purged.read(tombstones);
    for tombstone in read_tombstones(tombstones) {
        assert!(tombstone.purged.iter().all(|id| purged.has(id)));
    }
    let mut texts = Texts::default();
    texts.add(&String::from_utf8_lossy(text));
    if let Left::Some(left) = clean(lines, &purged, &texts) {
        assert_eq!(clean(&left, &purged, &texts), Left::All, "{}", String::from_utf8_lossy(&left));
        assert!(!texts.are_in(&left), "{}", String::from_utf8_lossy(&left));
    }
});

fn lines_of(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty())
}
