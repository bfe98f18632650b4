//! From the bytes of a file to its outline.

use std::{
    ops::ControlFlow,
    time::{Duration, Instant},
};

use chronicle_core::outline::Item;
use snafu::Snafu;
use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

use crate::{
    MAX_BYTES, MAX_MEMORY, MAX_PARSE_TIME, apart,
    decode::decode,
    indentation,
    language::{Language, guessed_name, language_of},
    walk,
};

/// The named items of one file version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// The language it was read in.
    pub language: Language,
    /// The items in file order: an owner before what is in it.
    pub items: Vec<Item>,
    /// Whether items may be missing: the code is broken, or too much of it.
    pub is_partial: bool,
}

/// Why a file has no outline.
#[derive(Debug, Clone, PartialEq, Eq, Snafu)]
#[snafu(visibility(pub(crate)))]
pub enum NoOutline {
    /// The language has no grammar here.
    #[snafu(display("No tree-sitter grammar for {language}. Anchor resolution unavailable."))]
    NoGrammar {
        /// The language, or the file's extension.
        language: String,
    },
    /// More than [`MAX_BYTES`].
    #[snafu(display("the file has {n_bytes} bytes; only files up to {MAX_BYTES} bytes are outlined"))]
    TooLarge {
        /// How many bytes the file has.
        n_bytes: usize,
    },
    /// More columns open at once than the language's scanner has room for.
    #[snafu(display("the file nests too deeply to be parsed as {language}"))]
    TooDeep {
        /// The language.
        language: &'static str,
    },
    /// More memory than [`MAX_MEMORY`], or a fault of the grammar.
    #[snafu(display("the file cannot be parsed as {language} within {} MB of memory", MAX_MEMORY >> 20))]
    TooCostly {
        /// The language.
        language: &'static str,
    },
    /// The process that parses cannot be started.
    #[snafu(display("the process that parses files cannot be started: {reason}"))]
    NotStarted {
        /// What the system says.
        reason: String,
    },
    /// Longer than [`MAX_PARSE_TIME`].
    #[snafu(display("parsing the file as {language} took more than {} ms", MAX_PARSE_TIME.as_millis()))]
    TimedOut {
        /// The language.
        language: &'static str,
    },
}

/// The outline of `bytes`, the file at `path`.
///
/// Broken code gives the items that can be made out. Line numbers are those of the file.
///
/// # Errors
/// When the language is not known, or the file is too large or takes too long.
pub fn outline(path: &str, bytes: &[u8]) -> Result<Outline, NoOutline> {
    let language = language_for(path, bytes)?;
    match apart::start_for(bytes) {
        Some(start) => apart::outline_in(start, language, path, bytes),
        None => outline_as(language, bytes, MAX_PARSE_TIME),
    }
}

/// [`outline`], by this very process and within `limit`.
pub(crate) fn outline_here(path: &str, bytes: &[u8], limit: Duration) -> Result<Outline, NoOutline> {
    outline_as(language_for(path, bytes)?, bytes, limit)
}

fn language_for(path: &str, bytes: &[u8]) -> Result<Language, NoOutline> {
    let first_line = &bytes[..bytes.len().min(256)];
    let Some(language) = language_of(path, first_line) else {
        return NoGrammarSnafu { language: guessed_name(path) }.fail();
    };
    if MAX_BYTES < bytes.len() {
        return TooLargeSnafu { n_bytes: bytes.len() }.fail();
    }
    Ok(language)
}

fn outline_as(language: Language, bytes: &[u8], limit: Duration) -> Result<Outline, NoOutline> {
    let deadline = Instant::now() + limit;
    let text = decode(bytes);
    if indentation::is_too_deep(language, &text) {
        return TooDeepSnafu { language: language.name() }.fail();
    }
    let tree = parse(language, &text, deadline);
    let walked = tree.as_ref().and_then(|tree| walk::walk(tree, &text, language.rules(), deadline));
    let (Some(tree), Some(walked)) = (&tree, walked) else {
        return TimedOutSnafu { language: language.name() }.fail();
    };
    let is_partial = walked.is_cut || tree.root_node().has_error();
    Ok(Outline { language, items: walked.items, is_partial })
}

/// The syntax tree of `text`; none when time runs out.
fn parse(language: Language, text: &[u8], deadline: Instant) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&language.grammar()).expect("a test loads every grammar");
    let mut check_time = |_: &ParseState| {
        if Instant::now() < deadline { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut check_time);
    let mut rest = |at: usize, _| text.get(at..).unwrap_or_default();
    parser.parse_with_options(&mut rest, None, Some(options))
}
