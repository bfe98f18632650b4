//! What git would store of a file in the working tree.
//!
//! Line ends, `$Id$` and encodings are converted here as git converts them. A filter is a program that the repository
//! or the user names: none ever runs, so what it would make of a file is mostly unknown.

use std::io::Read;

use gix::{
    AttributeStack,
    attrs::StateRef,
    bstr::{BStr, ByteSlice},
    filter::{plumbing, plumbing::pipeline::CrlfRoundTripCheck},
    worktree::stack::state::attributes::Source,
};
use snafu::ResultExt;

use crate::{
    Repository,
    error::{ReadIndexSnafu, Result},
};

/// Converts files as the attributes of one index and its working tree say.
pub(crate) struct Conversions<'r> {
    repository: &'r Repository,
    index: &'r gix::index::State,
    pipeline: plumbing::Pipeline,
    attributes: AttributeStack<'r>,
}

/// A file as git would store it, as far as that is known.
pub(crate) struct Converted {
    /// Its bytes.
    pub(crate) content: Vec<u8>,
    /// Whether a filter would have made other bytes of it first.
    pub(crate) is_under_filter: bool,
}

impl<'r> Conversions<'r> {
    pub(crate) fn new(repository: &'r Repository, index: &'r gix::index::State) -> Result<Self> {
        let inner = &repository.inner;
        let options = gix::filter::Pipeline::options(inner).context(ReadIndexSnafu)?;
        let options = plumbing::pipeline::Options {
            drivers: Vec::new(),
            crlf_roundtrip_check: CrlfRoundTripCheck::Skip,
            encodings_with_roundtrip_check: Vec::new(),
            ..options
        };
        let pipeline = plumbing::Pipeline::new(Default::default(), inner.object_hash(), options);
        let attributes =
            inner.attributes_only(index, Source::WorktreeThenIdMapping).context(ReadIndexSnafu)?;
        Ok(Self { repository, index, pipeline, attributes })
    }

    /// The index that these are for.
    pub(crate) fn index(&self) -> &'r gix::index::State {
        self.index
    }

    /// The file at `path`, which holds `content`. What cannot be converted stays as it is.
    pub(crate) fn apply(&mut self, path: &BStr, content: Vec<u8>) -> Converted {
        let unchanged = |content| Converted { content, is_under_filter: false };
        let Ok(native) = path.to_path() else { return unchanged(content) };
        let Ok(platform) = self.attributes.at_entry(path, None) else { return unchanged(content) };
        let mut is_under_filter = false;
        let converted = self.pipeline.convert_to_git(
            content.as_slice(),
            native,
            &mut |_, outcome| {
                platform.matching_attributes(outcome);
                is_under_filter = outcome.iter_selected().any(|found| {
                    found.assignment.name.as_str() == "filter"
                        && matches!(found.assignment.state, StateRef::Value(_))
                });
            },
            &mut |stored| {
                let entry = self.index.entry_by_path(path);
                let blob = entry.and_then(|entry| self.repository.blob_if_here(entry.id).ok().flatten());
                Ok(blob.map(|blob| stored.extend_from_slice(&blob)))
            },
        );
        let mut bytes = Vec::new();
        let is_converted = converted.is_ok_and(|mut outcome| outcome.read_to_end(&mut bytes).is_ok());
        Converted { content: if is_converted { bytes } else { content }, is_under_filter }
    }
}

/// Whether `blob` is what Git LFS stores in place of a file with `content`.
pub(crate) fn is_pointer_to(blob: &[u8], content: &[u8]) -> bool {
    /// Pointers are short.
    const MOST_BYTES: usize = 1024;
    if MOST_BYTES < blob.len() || !blob.starts_with(b"version https://git-lfs.github.com/spec/") {
        return false;
    }
    let field = |name: &[u8]| blob.lines().find_map(|line| line.strip_prefix(name));
    let size = field(b"size ").and_then(|size| size.to_str().ok()?.parse::<usize>().ok());
    if size != Some(content.len()) {
        return false;
    }
    let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha256);
    hasher.update(content);
    let hash = hasher.try_finalize().map(|hash| hash.to_string());
    hash.is_ok_and(|hash| field(b"oid sha256:") == Some(hash.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_names_the_bytes_that_it_stands_for() {
        let pointer = |content: &str, hash: &str| {
            format!("version https://git-lfs.github.com/spec/v1\noid sha256:{hash}\nsize {}\n", content.len())
        };
        const OF_ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let pointed = pointer("abc", OF_ABC);
        assert!(is_pointer_to(pointed.as_bytes(), b"abc"));
        assert!(!is_pointer_to(pointed.as_bytes(), b"abd"));
        assert!(!is_pointer_to(pointed.as_bytes(), b"abcd"));
        assert!(!is_pointer_to(b"abc", b"abc"));
    }
}
