//! How a commit is looked at: in how many conversations, and how much of each thing goes into one.

use chronicle_core::tokens;
use chronicle_workplace::{Bounds, Error, error::ContextTooSmallSnafu};

use super::{
    chunks::{self, Chunk, Room, Sized, chunks},
    conversation,
    gather::Gathered,
    shown_hunks::{CONTEXT, Measure, Piece, pieces},
};

/// Changed lines and files beyond which a commit is taken in chunks.
pub(crate) const MOST_FILES: usize = 10;

/// Tokens of the words and marks between the parts of the first words.
const AROUND: u64 = 400;

/// Tokens below which no diff can be shown.
const LEAST_DIFF: u64 = 300;

/// Tokens for each part of the first words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budgets {
    pub(crate) about: u64,
    pub(crate) author: u64,
    pub(crate) session: u64,
    pub(crate) recent: u64,
    /// One answer of a tool.
    pub(crate) result: u64,
}

/// A file, and its changed lines in pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Planned {
    /// The file, among those that were gathered.
    pub(crate) file: usize,
    pub(crate) pieces: Vec<Piece>,
}

/// How a commit is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) bounds: Bounds,
    pub(crate) measure: Measure,
    pub(crate) budgets: Budgets,
    pub(crate) files: Vec<Planned>,
    pub(crate) chunks: Vec<Chunk>,
}

impl Plan {
    /// The plan for a commit.
    ///
    /// # Errors
    /// When a version of a file cannot be read, or the model's context leaves no room for a diff.
    pub(crate) fn of(gathered: &Gathered<'_>, bounds: Bounds) -> Result<Self, Error> {
        let fixed = AROUND + conversation::fixed_tokens(gathered, bounds.calls_tools);
        let free = bounds.request_tokens().saturating_sub(fixed);
        snafu::ensure!(LEAST_DIFF * 2 <= free, ContextTooSmallSnafu { tokens: bounds.context });
        let diff = if bounds.calls_tools { free / 2 } else { free / 5 * 3 };
        let budgets = Budgets {
            about: (free / 10).min(3_000),
            author: (free / 20).min(2_000),
            session: (free / 8).min(4_000),
            recent: (free / 10).min(2_000),
            result: (free / 6).min(12_000),
        };
        let line = usize::try_from(diff / 8).unwrap_or(usize::MAX).clamp(30, 400);
        let context = if diff < 1_500 { 0 } else { CONTEXT };
        let measure = Measure { tokens: diff / 3, line, context };
        let mut files = Vec::new();
        for (file, changed) in gathered.files.iter().enumerate() {
            let (old, new) = (gathered.texts.version(changed.old)?, gathered.texts.version(changed.new)?);
            files.push(Planned { file, pieces: pieces(&changed.hunks, &old, &new, measure) });
        }
        let is_large = bounds.max_diff_lines < gathered.n_changed() || MOST_FILES < files.len();
        let room = match is_large {
            true => Room { files: bounds.chunk_files, lines: chunks::MOST_LINES, tokens: diff },
            false => Room { files: MOST_FILES, lines: u32::MAX, tokens: diff },
        };
        let sized: Vec<Sized<'_>> = files
            .iter()
            .map(|planned| {
                let changed = &gathered.files[planned.file];
                let from = changed.renamed_from.as_deref().map_or(0, tokens::at_most);
                let header = tokens::at_most(&changed.path) + from + 30;
                Sized { pieces: &planned.pieces, header }
            })
            .collect();
        let chunks = chunks(&sized, room);
        Ok(Self { bounds, measure, budgets, files, chunks })
    }
}
