//! Made secrets in many surroundings; the bench `redaction` draws more of them.

use std::collections::BTreeMap;

use chronicle_core::redaction::redact;

#[path = "../../../benches/synthetic.rs"]
mod synthetic;

#[test]
fn nearly_every_secret_goes_wherever_it_stands() {
    let mut by_kind = BTreeMap::<_, (usize, usize)>::new();
    for sample in synthetic::samples(5, 2) {
        let (n_gone, n) = by_kind.entry(sample.kind).or_default();
        *n_gone += usize::from(sample.is_gone(&redact(&sample.text).text));
        *n += 1;
    }
    assert!(60 < by_kind.len());
    let (n_gone, n) = by_kind.values().fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
    assert!(n * 995 <= n_gone * 1000, "{n_gone} of {n}");
    for (kind, (n_gone, n)) in by_kind {
        assert!(n * 95 <= n_gone * 100, "{kind}: {n_gone} of {n}");
    }
}

#[test]
fn what_is_drawn_and_opens_nothing_stays_wherever_it_stands() {
    for sample in synthetic::controls(5, 3) {
        let redacted = redact(&sample.text);
        assert_eq!(redacted.text, sample.text, "{} in {}", sample.kind, sample.context);
    }
}

#[test]
fn a_text_is_redacted_once_and_for_all() {
    for sample in synthetic::samples(11, 1) {
        let once = redact(&sample.text).text.into_owned();
        assert_eq!(redact(&once).found, [], "{once}");
    }
}

#[test]
fn without_redaction_every_sample_holds_its_secret() {
    for sample in synthetic::samples(5, 1) {
        assert!(!sample.is_gone(&sample.text), "{} in {}: {}", sample.kind, sample.context, sample.text);
    }
}
