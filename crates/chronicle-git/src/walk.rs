//! History: commits, what they changed, and who wrote a line.

pub(crate) mod blame;
pub(crate) mod changes;
pub(crate) mod commit;
pub(crate) mod directory;
pub(crate) mod history;
pub(crate) mod ignore_revs;
pub(crate) mod rewrite;
pub(crate) mod similarity;
pub(crate) mod since;
pub(crate) mod steps;
pub(crate) mod tips;
