//! What is marked as private goes, within one text and across the blocks of a message.

#![no_main]

use std::borrow::Cow;

use chronicle_core::private;
use chronicle_fuzz::all_pieces;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (open, n_spans) = private::remove(text);
    assert_eq!(n_spans == 0, open == text);
    assert_eq!(private::remove(&open), (open.clone(), 0));
    let (lines, _) = private::remove_in_lines(text);
    assert_eq!(lines.matches('\n').count(), text.matches('\n').count());

    let blocks: Vec<Cow<'_, str>> = all_pieces(bytes).map(String::from_utf8_lossy).collect();
    if let Some(kept) = private::across(&blocks) {
        assert_eq!(kept.len(), blocks.len());
        // The first mark may be written shorter or longer than it was.
        assert!(kept.iter().zip(&blocks).all(|(kept, block)| kept.len() <= block.len() + "<private>".len()));
    }

    // Blocks between two marks say nothing, whatever is in them, but for other marks.
    if text.to_ascii_lowercase().contains("rivate") {
        return;
    }
    let ends = [Cow::Borrowed("a <private>"), Cow::Borrowed("</private> b")];
    let message: Vec<Cow<'_, str>> = ends[..1].iter().chain(&blocks).chain(&ends[1..]).cloned().collect();
    let kept = private::across(&message).expect("a span reaches over blocks");
    let kept: Vec<Cow<'_, str>> = kept.iter().map(|block| private::remove(block).0).collect();
    let (first, rest) = kept.split_first().expect("there are blocks");
    let (last, inner) = rest.split_last().expect("there are blocks");
    assert_eq!((&**first, &**last), ("a [private]", " b"));
    assert!(inner.iter().all(|block| block.is_empty()), "{inner:?}");
});
